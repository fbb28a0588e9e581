//! Tests the event that a plan produces.
use super::super::goaitools::{Design, Limit};
use super::super::langchain::{ClearToolUses, Keep};
use super::super::picoclaw::Cut;
use super::super::{Rules, Way, penguiflow, plan};
use super::letters;
use super::properties::ways;
use crate::error::{Kind, Result};
use crate::filter::compact::when::When;
use crate::filter::compact::work::Level;
use crate::filter::compact::{NO_GAIN, Options, Outcome};
use crate::filter::{Plan, Stamp};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use proptest::prelude::*;
use serde_json::Value;

/// Builds a history of these letters whose messages have text to summarize.
fn spoken(all: &str) -> Session {
    let mut session = Session::default();
    for (at, mut message) in letters(all).into_iter().enumerate() {
        if message["content"].is_string() {
            let text = format!("Row {at} of the garden costs {at} euros, and Anna waters it. ");
            message["content"] = text.repeat(1 + at % 3).into();
        }
        message["id"] = format!("m{at}").into();
        session.push_new(message.to_string().as_bytes());
    }
    session
}

fn run_with(session: &Session, way: &Way, options: &Options) -> Result<Outcome> {
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_1".into(),
            at: "2026-01-01T00:00:00Z".into(),
        })
    };
    let counter = Counter::of(Tokenizer::DEFAULT, session);
    plan(session, way, Rules::Convo, counter, options, stamp)
}

fn run(session: &Session, way: &Way) -> Outcome {
    run_with(session, way, &Options::default()).unwrap()
}

/// Returns the session with the event appended.
fn after(session: &Session, outcome: &Outcome) -> Session {
    let mut after = session.clone();
    let Plan::Lines(lines, _) = &outcome.plan else {
        panic!("{:?}", outcome.plan);
    };
    lines.iter().for_each(|line| after.push_new(line));
    after
}

/// The ids in the view; S for a summary.
fn shown(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    let id = |line: &[u8]| {
        json::member(line, "id")
            .and_then(json::text)
            .unwrap_or_default()
            .into_owned()
    };
    let one = |item: &crate::model::view::Item| match item.summary(session) {
        Some(_) => "S".to_string(),
        None => id(item.body(session)),
    };
    view.items.iter().map(one).collect()
}

#[test]
fn the_event_names_the_system_and_what_was_summed_up() {
    let session = spoken("SUCTAUCTAUA");
    let way = Way::Summarization(Keep::Messages(2));
    let outcome = run(&session, &way);
    let Plan::Lines(lines, told) = &outcome.plan else {
        panic!()
    };
    let event: Value = serde_json::from_slice(&lines[0]).unwrap();
    assert_eq!(
        (&event["type"], &event["strategy"]),
        (&"compact".into(), &"langchain".into())
    );
    assert_eq!(event["summary"]["covers"], serde_json::json!(["m1", "m8"]));
    assert_eq!(event["summary"]["by"], "extract");
    assert_eq!(event["now"]["tokens"], outcome.report.now.tokens);
    assert!(told.ends_with("(11 to 4 messages)"), "{told}");
    assert_eq!(outcome.report.summarized.len(), 8);
    assert_eq!(shown(&after(&session, &outcome)), ["m0", "S", "m9", "m10"]);
    // Without a summarizer the messages are dropped anyway, and the note says so.
    let mut options = Options::default();
    options.steps.summary = false;
    let outcome = run_with(&session, &way, &options).unwrap();
    assert_eq!(
        (outcome.report.summarized.len(), outcome.report.dropped.len()),
        (0, 8)
    );
    assert_eq!(shown(&after(&session, &outcome)), ["m0", "m9", "m10"]);
}

#[test]
fn the_summary_before_is_taken_in() {
    let mut session = spoken("UAUAUAUA");
    let way = Way::Summarization(Keep::Messages(2));
    session = after(&session, &run(&session, &way));
    for line in letters("UA") {
        session.push_new(line.to_string().as_bytes());
    }
    let outcome = run(&session, &way);
    let last = after(&session, &outcome);
    let view = View::replay(&last);
    let summaries: Vec<_> = view.items.iter().filter_map(|item| item.summary(&last)).collect();
    assert_eq!(summaries.len(), 1);
    assert!(
        summaries[0].contains("Row 0 of the garden") && summaries[0].contains("Row 6"),
        "{summaries:?}"
    );
    assert_eq!(view.items.len(), 3);
}

#[test]
fn nothing_grows() {
    let session = super::session(&letters("UCTA"));
    let way = Way::ClearToolUses(ClearToolUses {
        trigger: 0,
        keep: 0,
        placeholder: "a long text in the place of a short one".into(),
        ..ClearToolUses::default()
    });
    assert_eq!(run(&session, &way).plan, Plan::Nothing(NO_GAIN.into()));
    // No summary is shorter than almost nothing.
    let session = super::session(&letters("UAUA"));
    let outcome = run(&session, &Way::Summarization(Keep::Messages(2)));
    assert_eq!(outcome.plan, Plan::Nothing(NO_GAIN.into()));
    assert_eq!(outcome.report.now, outcome.report.was);
    assert!(outcome.report.dropped.is_empty());
}

#[test]
fn a_limit_that_cannot_be_met_changes_nothing_unless_the_smallest_will_do() {
    let session = spoken("SUAUA");
    let way = Way::Picoclaw(Cut::Window(3));
    let error = run_with(&session, &way, &Options::default()).unwrap_err();
    assert_eq!(error.kind, Kind::No);
    let options = Options {
        best_effort: true,
        ..Options::default()
    };
    let outcome = run_with(&session, &way, &options).unwrap();
    assert_eq!(outcome.smallest, Some(outcome.report.now.tokens));
    assert!(
        error
            .message
            .contains(&format!("the minimum is {} tokens", outcome.report.now.tokens))
    );
    assert_eq!(shown(&after(&session, &outcome)), ["m0", "m3", "m4"]);
    // PenguiFlow's policy `error` changes nothing.
    let way = Way::Penguiflow(penguiflow::Options {
        total: 5,
        summary: 1,
        overflow: penguiflow::Overflow::Error,
        ..penguiflow::Options::default()
    });
    assert_eq!(
        run_with(&session, &way, &Options::default()).unwrap_err().kind,
        Kind::No
    );
    assert!(matches!(
        run_with(&session, &way, &options).unwrap().plan,
        Plan::Nothing(_)
    ));
}

#[test]
fn a_share_is_taken_once_until_something_is_said() {
    let session = spoken("UAUAUAUA");
    let way = Way::Picoclaw(Cut::Force);
    let half = after(&session, &run(&session, &way));
    assert_eq!(shown(&half), ["m4", "m5", "m6", "m7"]);
    assert!(matches!(run(&half, &way).plan, Plan::Nothing(_)));
    let again = Options {
        retry: true,
        ..Options::default()
    };
    assert!(matches!(
        run_with(&half, &way, &again).unwrap().plan,
        Plan::Lines(..)
    ));
    // A compaction by another system, or newer messages, allow another application.
    let other = Way::Limits {
        limits: vec![Limit::Tokens {
            max: 1,
            target: 1,
            prompt: Some(9),
        }],
        forced: false,
    };
    assert!(matches!(run(&half, &other).plan, Plan::Lines(..)));
    let mut more = half.clone();
    more.push_new(br#"{"role":"user","content":"more"}"#);
    assert!(matches!(run(&more, &way).plan, Plan::Lines(..)));
}

#[test]
fn it_waits_until_it_is_time() {
    let session = spoken("UAUAUA");
    let outcome = run(&session, &Way::Candidates);
    assert_eq!(
        outcome.plan,
        Plan::Nothing("3 items; compacts from 10 items".into())
    );
    let when = |text| Options {
        when: Some(When::read(text).unwrap()),
        ..Options::default()
    };
    let outcome = run_with(&session, &Way::Candidates, &when("messages>=6")).unwrap();
    assert_eq!(shown(&after(&session, &outcome)), ["S", "m0", "m2", "m4"]);
    let outcome = run_with(&session, &Way::Candidates, &when("messages>=7")).unwrap();
    assert_eq!(outcome.plan, Plan::Nothing("below trigger".into()));
    assert_eq!(outcome.report.reason.as_deref(), Some("below trigger"));
}

#[test]
fn the_report_says_what_became_of_each_piece() {
    let levels = |session: &Session, way: &Way| {
        let rows = run(session, way).report.atoms.into_iter();
        rows.map(|row| format!("{} {} {}", row.ids.join("+"), row.level.name(), row.reason))
            .collect::<Vec<_>>()
    };
    let session = spoken("SUCTAUAUA");
    let way = Way::Design {
        design: Design::KeepLast(2),
        digests: true,
    };
    assert_eq!(
        levels(&session, &way),
        [
            "m1 digest goaitools",
            "m2+m3 digest goaitools",
            "m4 digest goaitools",
            "m5 full kept",
            "m6 full kept",
            "m7 full kept",
            "m8 full kept"
        ]
    );
    // The front of the view is dropped with the oldest messages, and the note names the rule too.
    let way = Way::Limits {
        limits: vec![Limit::Messages(2)],
        forced: false,
    };
    let outcome = run(&session, &way);
    assert_eq!(outcome.report.atoms[0].ids, ["m0"]);
    assert_eq!(outcome.report.atoms[0].level, Level::Dropped);
    assert_eq!(outcome.report.dropped.len(), 7);
    let Plan::Lines(_, told) = outcome.plan else {
        panic!()
    };
    assert!(told.ends_with("; dropped system messages: 1"), "{told}");
    assert_eq!(outcome.report.prefix.bytes, 0);
    let way = Way::ClearToolUses(ClearToolUses {
        trigger: 0,
        keep: 0,
        ..ClearToolUses::default()
    });
    let outcome = run(&session, &way);
    assert_eq!(levels(&session, &way)[1], "m2+m3 masked langchain");
    let front: usize = [0, 1, 2].iter().map(|line| session.full(*line).len()).sum();
    assert_eq!(outcome.report.prefix.bytes, front as u64);
}

proptest! {
    #[test]
    fn what_is_told_is_what_is_there_and_a_second_time_changes_nothing(
        all in "[SUACT]{0,20}", number in 0u64..120
    ) {
        let session = spoken(&all);
        let options = Options { best_effort: true, ..Options::default() };
        for (what, way) in ways(number) {
            let Ok(first) = run_with(&session, &way, &options) else {
                return Err(TestCaseError::fail(format!("{what} of {all}")));
            };
            if let Plan::Nothing(_) = first.plan {
                prop_assert_eq!(&first.report.now, &first.report.was);
                continue;
            }
            prop_assert!(first.report.now.tokens < first.report.was.tokens);
            let left = after(&session, &first);
            let second = run_with(&left, &way, &options).unwrap();
            prop_assert_eq!(&second.report.was, &first.report.now, "{} of {}", what, all);
            // `end_on` yields where a message group was dropped whole, but not on the next run.
            if !(number.is_multiple_of(5) && what.starts_with("trim")) {
                prop_assert!(matches!(second.plan, Plan::Nothing(_)), "{} of {}: {:?}", what, all, second.plan);
            }
        }
    }
}
