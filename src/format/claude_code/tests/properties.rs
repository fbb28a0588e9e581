//! Property tests: a changed log is read with the planned view, and any session can be written as a log.

use super::back::hold;
use super::*;
use crate::model::event;
use proptest::prelude::*;

/// A step in a generated log.
#[derive(Clone, Debug)]
enum Step {
    User(String),
    /// A message with or without reasoning and text, and with calls, whose results share a line or have one each.
    Turn(bool, Option<String>, usize, bool),
    /// A line that is not a message, and is the parent of the next.
    Note,
    /// An abandoned branch.
    Branch,
    /// Messages of an agent.
    Side,
}

fn step() -> impl Strategy<Value = Step> {
    let words = "[a-z \u{e9}\u{4e2d}]{0,12}";
    prop_oneof![
        3 => words.prop_map(|text| Step::User(format!("u{text}"))),
        4 => (any::<bool>(), proptest::option::of(words), 0..4_usize, any::<bool>())
            .prop_map(|(thinks, text, calls, one)| Step::Turn(thinks, text.map(|text| format!("a{text}")), calls, one)),
        1 => Just(Step::Note),
        1 => Just(Step::Branch),
        1 => Just(Step::Side),
    ]
}

/// Builds the log.
fn build(steps: &[Step]) -> Vec<u8> {
    let mut lines = vec![user("u0", "", "begin")];
    let mut last = "u0".to_string();
    for (nth, step) in steps.iter().enumerate() {
        match step {
            Step::User(text) => {
                lines.push(user(&format!("u{nth}x"), &last, text));
                last = format!("u{nth}x");
            }
            Step::Turn(thinks, reply, calls, one) => {
                let mut blocks = Vec::new();
                if *thinks {
                    blocks.push(r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#.to_string());
                }
                blocks.extend(reply.as_ref().map(|reply| text(reply)));
                blocks.extend((0..*calls).map(|call| super::call(&format!("c{nth}_{call}"))));
                if blocks.is_empty() {
                    continue;
                }
                let first_call = blocks.len() - calls;
                for (at, block) in blocks.iter().enumerate() {
                    lines.push(assistant(
                        &format!("a{nth}_{at}"),
                        &last,
                        &format!("m{nth}"),
                        block,
                    ));
                    last = format!("a{nth}_{at}");
                }
                let id = |call: usize| format!("c{nth}_{call}");
                if *one && *calls > 0 {
                    let ids: Vec<String> = (0..*calls).map(id).collect();
                    let outputs: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "out")).collect();
                    lines.push(results(&format!("r{nth}"), &last, &outputs));
                    last = format!("r{nth}");
                } else {
                    for call in 0..*calls {
                        let above = format!("a{nth}_{}", first_call + call);
                        lines.push(results(&format!("r{nth}_{call}"), &above, &[(&id(call), "out")]));
                    }
                    if *calls > 0 {
                        last = format!("r{nth}_{}", calls - 1);
                    }
                }
            }
            Step::Note => {
                lines.push(format!(
                    r#"{{"type":"attachment","uuid":"n{nth}","parentUuid":"{last}","sessionId":"s"}}"#
                ));
                last = format!("n{nth}");
            }
            Step::Branch => lines.push(user(&format!("b{nth}"), &last, "left")),
            Step::Side => {
                let side = user(&format!("s{nth}"), "", "do");
                lines.push(side.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a\""));
            }
        }
    }
    // So that the abandoned branch is not the end of the log.
    lines.push(user("end", &last, "go on"));
    log(&lines)
}

/// A compaction that drops, edits and inserts messages, as chosen for each in turn.
fn compaction(session: &Session, choices: &[u8]) -> Vec<u8> {
    let choice = |at: usize| choices.get(at % choices.len().max(1)).copied().unwrap_or(0);
    let (mut drop, mut edit, mut insert) = (Vec::new(), Vec::new(), Vec::new());
    let mut turn = (0, false);
    for (at, (index, traits)) in session.messages().enumerate() {
        let id = session.id(index).unwrap();
        if traits.role.name() != "tool" {
            turn = (at, choice(at) % 5 == 1 && id != "end");
        }
        if turn.1 {
            drop.push(format!("\"{id}\""));
            continue;
        }
        match choice(at) % 5 {
            2 if traits.role.name() != "assistant" => {
                edit.push(format!(r#"{{"id":"{id}","content":"short"}}"#))
            }
            2 if traits.reasoning && traits.calls => {
                edit.push(format!(r#"{{"id":"{id}","unset":["reasoning"]}}"#))
            }
            3 if traits.role.name() == "user" => insert.push(format!(
                r#"{{"before":"{id}","message":{{"role":"user","content":"put in","id":"i{at}"}}}}"#
            )),
            _ => {}
        }
    }
    let mut event = event::begin("compact", "evt_1");
    event.raw("drop", format!("[{}]", drop.join(",")));
    event.raw("edit", format!("[{}]", edit.join(",")));
    event.raw("insert", format!("[{}]", insert.join(",")));
    event.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_written_change_reads_back_equal(
        steps in proptest::collection::vec(step(), 0..14),
        choices in proptest::collection::vec(any::<u8>(), 1..9),
    ) {
        let log = build(&steps);
        hold(&log, |session| {
            let event = compaction(session, &choices);
            session.push_new(&event);
            true
        });
    }

    #[test]
    fn a_summary_hides_its_range(steps in proptest::collection::vec(step(), 0..14), at in any::<prop::sample::Index>()) {
        let log = build(&steps);
        hold(&log, |session| {
            let messages: Vec<usize> = session.messages().map(|(index, _)| index).collect();
            let last = session.id(messages[at.index(messages.len())]).unwrap();
            let event = format!(r#"{{"type":"summary","id":"e","content":"so far","covers":["u0","{last}"]}}"#);
            session.push_new(event.as_bytes());
            true
        });
    }

    #[test]
    fn an_exported_log_reads_back_equal(steps in proptest::collection::vec(step(), 0..14)) {
        let (sessions, _) = read(&build(&steps), false);
        for session in &sessions {
            let (out, _) = written(session, WritePurpose::Export);
            let (again, _) = read(&out, false);
            prop_assert_eq!(shown(&again[0]), shown(session));
        }
    }

    #[test]
    fn arbitrary_lines_are_read_and_written_back(lines in proptest::collection::vec("\\PC{0,60}", 0..6)) {
        let log = lines.join("\n").into_bytes();
        let (sessions, _) = read(&log, true);
        prop_assert!(!sessions.is_empty());
        prop_assert_eq!(changed(&log, |_, _| false).unwrap(), log);
    }
}
