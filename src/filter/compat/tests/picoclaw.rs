use super::super::picoclaw::{PicoclawCut, cut, sanitise};
use super::super::{CompatHistory, Precedence, ViewChanges};
use super::{Tally, indexes, json_lines, kept, letters, list, lost, session};
use crate::model::json;
use crate::model::message::Message;
use crate::model::view::View;
use crate::sample_data;
use serde_json::Value;

/// PicoClaw's documented estimate; the program uses the tokenizer of that name.
fn estimate(message: &Message<'_>) -> u64 {
    let mut size = message.text().chars().count();
    for part in json::items(message.reasoning) {
        size += json::member_text(part, "text").map_or(0, |text| text.chars().count());
    }
    for call in message.tool_calls() {
        size += call.id.len() + "function".len() + call.name.len() + call.arguments.len();
    }
    size += message.tool_call_id().map_or(0, |id| id.len()) + 12;
    size as u64 * 2 / 5
}

/// Converts a PicoClaw line to a message.
fn native(line: &Value) -> Value {
    let mut message = line.clone();
    let members = message.as_object_mut().unwrap();
    if let Some(reasoning) = members.remove("reasoning_content") {
        members.insert(
            "reasoning".into(),
            serde_json::json!([{"type": "text", "text": reasoning}]),
        );
    }
    message
}

/// Whether the kept messages lack something that convo's rules keep, or split a message group.
fn breaks(messages: &[Value], kept: &[usize]) -> bool {
    let after = lost(kept.iter().map(|at| &messages[*at]));
    let newest = messages.iter().rposition(|message| message["role"] == "user");
    !after.is_subset(&lost(messages.iter()))
        || (0..messages.len()).any(|at| messages[at]["role"] == "system" && !kept.contains(&at))
        || newest.is_some_and(|newest| !kept.contains(&newest))
        || (kept.is_empty() && !messages.is_empty())
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn cuts_agree_with_picoclaw() {
    let path = sample_data::path("picoclaw/compaction-cases.jsonl");
    let (mut theirs, mut agree, mut broken, mut other) = (0, 0, 0, Vec::new());
    for case in json_lines(&path) {
        let name = case["name"].as_str().unwrap();
        let messages: Vec<Value> = list(&case["history"]).iter().map(native).collect();
        let session = session(&messages);
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let counts: Vec<usize> = history
            .counts(&estimate)
            .iter()
            .map(|count| *count as usize)
            .collect();
        assert_eq!(counts, indexes(&case["token_estimates"]), "{name}");
        let from = |start: usize| (start..messages.len()).collect::<Vec<_>>();
        let summarise = from(case["summarize_cut"].as_u64().unwrap() as usize);
        let mut expected = vec![
            ("summarise".to_string(), PicoclawCut::Summarise, summarise, true),
            (
                "force".to_string(),
                PicoclawCut::Force,
                indexes(&case["force_compress"]["kept"]),
                true,
            ),
        ];
        for row in list(&case["trim_to_window"]) {
            let window = row["window"].as_u64().unwrap();
            let step = (
                format!("window-{window}"),
                PicoclawCut::Window(window),
                indexes(&row["kept"]),
                row["fit"] == true,
            );
            expected.push(step);
        }
        for (what, how, expected, fits) in expected {
            let choice = cut(&history, how, Precedence::Theirs, &estimate);
            assert_eq!(
                (kept(&history, &choice), choice.fits),
                (expected.clone(), fits),
                "{name} {what}"
            );
            theirs += 1;
            let choice = cut(&history, how, Precedence::Convo, &estimate);
            let ours = kept(&history, &choice);
            assert!(
                !breaks(&messages, &ours),
                "{name} {what}: {ours:?} of {messages:?}"
            );
            match () {
                () if ours == expected => agree += 1,
                () if breaks(&messages, &expected) => broken += 1,
                () => other.push(format!("{name}-{what}")),
            }
        }
        assert_eq!(
            kept(&history, &sanitise(&history, Precedence::Theirs)),
            indexes(&case["sanitize_kept"]),
            "{name}"
        );
        theirs += 1;
    }
    eprintln!(
        "picoclaw: {theirs} cuts as PicoClaw makes them; under convo's rules {agree} agree, {broken} differ since \
         PicoClaw's parts a call from its result or drops a system message or the newest turn, {} for other reasons, \
         0 failed",
        other.len()
    );
    assert!(agree > 100 && theirs > 400);
    // Reasons for the other differences.
    let known: Vec<String> = OTHER
        .iter()
        .flat_map(|(cases, _)| cases.split_whitespace().map(str::to_string))
        .collect();
    assert_eq!(other, known);
}

const OTHER: [(&str, &str); 1] = [(
    "random-07-summarise random-07-force random-08-summarise random-08-force random-08-window-100 \
     random-08-window-200 random-13-summarise random-31-summarise random-31-force random-31-window-60 \
     random-31-window-100 random-31-window-200 random-53-summarise random-53-force random-56-window-100 \
     random-59-force",
    "a second result of a call that was answered comes late: it is not parted from the call either",
)];

fn run(all: &str, how: PicoclawCut, rules: Precedence) -> String {
    let session = session(&letters(all));
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let choice: ViewChanges = cut(&history, how, rules, &|_| 10);
    super::result(all, &history, &choice)
}

#[test]
fn the_newest_exchange_is_kept() {
    assert_eq!(run("UAUCTA", PicoclawCut::Window(20), Precedence::Theirs), "");
    assert_eq!(run("UAUCTA", PicoclawCut::Window(20), Precedence::Convo), "UCTA");
    assert_eq!(run("SUAUA", PicoclawCut::Window(20), Precedence::Convo), "SUA");
    assert_eq!(run("AUCTUA", PicoclawCut::Window(30), Precedence::Convo), "UA");
    assert_eq!(run("ACTA", PicoclawCut::Force, Precedence::Theirs), "TA");
    assert_eq!(run("ACTA", PicoclawCut::Force, Precedence::Convo), "ACTA");
    assert_eq!(
        run("UAUAUAUA", PicoclawCut::Summarise, Precedence::Convo),
        "DUAUA"
    );
}

#[test]
fn system_messages_are_valid_by_convo_rules() {
    let session = session(&letters("SUCTA"));
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    assert_eq!(kept(&history, &sanitise(&history, Precedence::Convo)).len(), 5);
    assert_eq!(
        kept(&history, &sanitise(&history, Precedence::Theirs)),
        [1, 2, 3, 4]
    );
    let mut tally = Tally::of("picoclaw sanitise, own");
    tally.agree();
    tally.close(&[]);
}

#[test]
fn an_open_call_is_kept_with_the_question() {
    let mut messages = letters("UCTC");
    messages[3]["tool_calls"] = serde_json::json!([{
        "id": "open", "type": "function", "function": {"name": "f", "arguments": "{}"}
    }]);
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    let run = |rules| kept(&history, &cut(&history, PicoclawCut::Force, rules, &|_| 1));
    assert_eq!(run(Precedence::Theirs), [0]);
    assert_eq!(run(Precedence::Convo), [0, 3]);
}

#[test]
fn calls_without_an_id_are_invalid() {
    let mut messages = letters("UCTA");
    messages[1]["tool_calls"][0]["id"] = "".into();
    messages[2]["tool_call_id"] = "".into();
    let session = session(&messages);
    let view = View::replay(&session);
    let history = CompatHistory::of(&session, &view);
    assert_eq!(kept(&history, &sanitise(&history, Precedence::Theirs)), [0, 3]);
}
