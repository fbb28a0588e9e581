//! Tests events applied to the two files, interrupted after each step.

use super::super::apply::Applied;
use super::*;

fn apply(dir: &TestDir, events: &[&str], stop: Option<CompactionStep>) -> Result<Applied> {
    let mut pair = dir.pair();
    let session = pair.session(&mut Report::default()).unwrap();
    let events: Vec<Vec<u8>> = events.iter().map(|event| event.as_bytes().to_vec()).collect();
    pair.apply_in_steps(
        &session,
        &events,
        (NOW, false),
        &mut Report::default(),
        &mut |step| {
            if Some(step) == stop {
                Err(Error::new(ErrorKind::InputOutput, "the power went"))
            } else {
                Ok(())
            }
        },
    )
}

/// The id of the message with this text in the log.
fn id(dir: &TestDir, text: &str) -> String {
    let session = dir.pair().session(&mut Report::default()).unwrap();
    let found = (0..session.len()).find(|index| {
        let record = session.record(*index);
        record.message().is_some_and(|message| message.text() == text)
    });
    session.id(found.unwrap()).unwrap()
}

fn summary(text: &str, first: &str, last: &str) -> String {
    format!(
        r#"{{"type":"summary","id":"evt_1","at":"{NOW}","content":"{text}","covers":["{first}","{last}"],"by":"x"}}"#
    )
}

#[test]
fn a_summary_of_the_beginning_is_one_sidecar() {
    let dir = TestDir::new(LOG, &sidecar(0, 5, BEFORE));
    let event = summary("all that", &id(&dir, "old1"), &id(&dir, "old2"));
    assert_eq!(apply(&dir, &[&event], None).unwrap(), Applied::default());
    // The line that is not a message follows the covered ones and precedes the others.
    let expected = sidecar(3, 5, NOW).replace("what old1 and old2 said", "all that");
    assert_eq!(dir.state(), (LOG.to_string(), expected));
    assert_eq!(dir.view(), ["all that", "k1", "k2"]);
    assert!(!dir.path(".convo").exists());
}

/// Drops messages in the middle and shortens a text.
fn compaction(dir: &TestDir) -> String {
    format!(
        r#"{{"type":"compact","id":"evt_2","at":"{NOW}","strategy":"x","drop":["{}"],"edit":[{{"id":"{}","content":"k"}}]}}"#,
        id(dir, "old2"),
        id(dir, "k2"),
    )
}

#[test]
fn lines_removed_from_the_middle_are_archived() {
    let dir = TestDir::new(LOG, &sidecar(0, 5, BEFORE));
    let applied = apply(&dir, &[&compaction(&dir)], None).unwrap();
    assert_eq!(applied, Applied { archived: 2 });
    let lines: Vec<&str> = LOG.lines().collect();
    let shorter = lines[4].replace("\"k2\"", "\"k\"");
    let log = [lines[0], lines[2], lines[3], &shorter].join("\n") + "\n";
    assert_eq!(dir.state(), (log, sidecar(0, 4, NOW)));
    assert_eq!(dir.archive(), [lines[1], lines[4]].join("\n") + "\n");
    assert_eq!(dir.others(), Vec::<String>::new());
}

#[test]
fn every_step_shows_the_old_or_new_view_and_loses_nothing() {
    let both = |dir: &TestDir| [compaction(dir), summary("new", &id(dir, "k1"), &id(dir, "k1"))];
    let old = ["what old1 and old2 said", "old2", "k1", "k2"];
    let steps = [
        None,
        Some(CompactionStep::Summarized),
        Some(CompactionStep::Archived),
        Some(CompactionStep::Placeholders),
        Some(CompactionStep::SkipCleared),
        Some(CompactionStep::Removed),
        Some(CompactionStep::Replaced),
    ];
    for stop in steps {
        let dir = TestDir::new(LOG, &sidecar(1, 5, BEFORE));
        let events = both(&dir);
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        assert_eq!(apply(&dir, &events, stop).is_err(), stop.is_some());
        let view = dir.view();
        let new = matches!(stop, None | Some(CompactionStep::Replaced));
        let expected = if new {
            vec!["new", "k"]
        } else {
            [&["new"][..], &old[1..]].concat()
        };
        assert_eq!(view, expected, "{stop:?}");
        // Every line is in the log or in the archive.
        let there = dir.text("s.jsonl") + &dir.archive();
        for line in LOG.lines() {
            assert!(there.contains(line), "{stop:?}: {line}");
        }
        // An append and a compaction work afterwards.
        dir.pair().append(&[line("later")], NOW).unwrap();
        dir.compact(None).unwrap();
        assert_eq!(dir.view(), [&expected[..], &["later"]].concat(), "{stop:?}");
    }
}

#[test]
fn a_rule_is_kept_when_later_messages_are_cut() {
    let rule = "{\"role\":\"system\",\"content\":\"rule\"}\n";
    let dir = TestDir::new(&format!("{rule}{LOG}"), &sidecar(0, 6, BEFORE));
    let cut = format!(
        r#"{{"type":"truncate","id":"evt_3","at":"{NOW}","before":"{}"}}"#,
        id(&dir, "k1")
    );
    assert_eq!(apply(&dir, &[&cut], None).unwrap().archived, 2);
    assert_eq!(dir.view(), ["rule", "what old1 and old2 said", "k1", "k2"]);
    assert_eq!(dir.text("s.jsonl"), format!("{rule}broken\n{}", kept()));
}

#[test]
fn events_that_do_not_change_the_view_are_refused() {
    let dir = TestDir::new(LOG, &sidecar(0, 5, BEFORE));
    for (event, kind) in [
        (r#"{"type":"restore","id":"e","of":"x"}"#, ErrorKind::No),
        (
            r#"{"type":"meta","id":"e","set":{"title":"t"}}"#,
            ErrorKind::Usage,
        ),
        (
            r#"{"type":"truncate","id":"e","before":"msg_none"}"#,
            ErrorKind::No,
        ),
    ] {
        assert_eq!(apply(&dir, &[event], None).unwrap_err().kind, kind, "{event}");
        assert_eq!(dir.state(), (LOG.to_string(), sidecar(0, 5, BEFORE)));
    }
}
