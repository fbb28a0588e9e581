//! Tests the event that a plan produces.
use super::super::goaitools::{CompactorLimit, Design};
use super::super::langchain::{ClearToolUses, KeepLimit};
use super::super::picoclaw::PicoclawCut;
use super::super::{CompatStrategy, Precedence, penguiflow, plan};
use super::letters;
use super::properties::strategies;
use crate::error::{ErrorKind, Result};
use crate::filter::compact::state::AtomLevel;
use crate::filter::compact::trigger::TriggerExpression;
use crate::filter::compact::{CompactOptions, CompactionOutcome, NO_GAIN};
use crate::filter::{Plan, Stamp};
use crate::model::json;
use crate::model::retention::Overflow;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use proptest::prelude::*;
use serde_json::Value;

/// Builds a history of these letters whose messages have text to summarize.
fn session_of(all: &str) -> Session {
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

fn run_with(
    session: &Session,
    strategy: &CompatStrategy,
    options: &CompactOptions,
) -> Result<CompactionOutcome> {
    let stamp = |_: &str| {
        Ok(Stamp {
            id: "evt_1".into(),
            at: "2026-01-01T00:00:00Z".into(),
        })
    };
    let counter = Counter::of(Tokenizer::DEFAULT, session);
    plan(session, strategy, Precedence::Convo, counter, options, stamp)
}

fn run(session: &Session, strategy: &CompatStrategy) -> CompactionOutcome {
    run_with(session, strategy, &CompactOptions::default()).unwrap()
}

/// Returns the session with the event appended.
fn after(session: &Session, outcome: &CompactionOutcome) -> Session {
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
    let id = |line: &[u8]| json::member_text(line, "id").unwrap_or_default().into_owned();
    let one = |item: &crate::model::view::Item| match item.summary(session) {
        Some(_) => "S".to_string(),
        None => id(item.body(session)),
    };
    view.items.iter().map(one).collect()
}

#[test]
fn the_event_names_the_system_and_the_summarized_messages() {
    let session = session_of("SUCTAUCTAUA");
    let strategy = CompatStrategy::Summarization(KeepLimit::Messages(2));
    let outcome = run(&session, &strategy);
    let Plan::Lines(lines, reported) = &outcome.plan else {
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
    assert!(reported.ends_with("(11 to 4 messages)"), "{reported}");
    assert_eq!(outcome.report.summarized.len(), 8);
    assert_eq!(shown(&after(&session, &outcome)), ["m0", "S", "m9", "m10"]);
    // Without a summarizer the messages are dropped anyway, and the note says so.
    let mut options = CompactOptions::default();
    options.steps.summary = false;
    let outcome = run_with(&session, &strategy, &options).unwrap();
    assert_eq!(
        (outcome.report.summarized.len(), outcome.report.dropped.len()),
        (0, 8)
    );
    assert_eq!(shown(&after(&session, &outcome)), ["m0", "m9", "m10"]);
}

#[test]
fn the_previous_summary_is_included() {
    let mut session = session_of("UAUAUAUA");
    let strategy = CompatStrategy::Summarization(KeepLimit::Messages(2));
    session = after(&session, &run(&session, &strategy));
    for line in letters("UA") {
        session.push_new(line.to_string().as_bytes());
    }
    let outcome = run(&session, &strategy);
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
fn a_strategy_never_grows_the_view() {
    let session = super::session(&letters("UCTA"));
    let strategy = CompatStrategy::ClearToolUses(ClearToolUses {
        trigger: 0,
        keep: 0,
        placeholder: "a long text in the place of a short one".into(),
        ..ClearToolUses::default()
    });
    assert_eq!(run(&session, &strategy).plan, Plan::Nothing(NO_GAIN.into()));
    // No summary is shorter than almost nothing.
    let session = super::session(&letters("UAUA"));
    let outcome = run(&session, &CompatStrategy::Summarization(KeepLimit::Messages(2)));
    assert_eq!(outcome.plan, Plan::Nothing(NO_GAIN.into()));
    assert_eq!(outcome.report.now, outcome.report.was);
    assert!(outcome.report.dropped.is_empty());
}

#[test]
fn an_unreachable_limit_is_refused_except_with_best_effort() {
    let session = session_of("SUAUA");
    let strategy = CompatStrategy::Picoclaw(PicoclawCut::Window(3));
    let error = run_with(&session, &strategy, &CompactOptions::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::No);
    let options = CompactOptions {
        best_effort: true,
        ..CompactOptions::default()
    };
    let outcome = run_with(&session, &strategy, &options).unwrap();
    assert_eq!(outcome.smallest, Some(outcome.report.now.tokens));
    assert!(
        error
            .message
            .contains(&format!("the minimum is {} tokens", outcome.report.now.tokens))
    );
    assert_eq!(shown(&after(&session, &outcome)), ["m0", "m3", "m4"]);
    // PenguiFlow's policy `error` changes nothing.
    let strategy = CompatStrategy::Penguiflow(penguiflow::PenguiflowOptions {
        total: 5,
        summary: 1,
        overflow: Overflow::Error,
        ..penguiflow::PenguiflowOptions::default()
    });
    assert_eq!(
        run_with(&session, &strategy, &CompactOptions::default())
            .unwrap_err()
            .kind,
        ErrorKind::No
    );
    assert!(matches!(
        run_with(&session, &strategy, &options).unwrap().plan,
        Plan::Nothing(_)
    ));
}

#[test]
fn a_share_is_dropped_once_until_a_new_message() {
    let session = session_of("UAUAUAUA");
    let strategy = CompatStrategy::Picoclaw(PicoclawCut::Force);
    let half = after(&session, &run(&session, &strategy));
    assert_eq!(shown(&half), ["m4", "m5", "m6", "m7"]);
    assert!(matches!(run(&half, &strategy).plan, Plan::Nothing(_)));
    let again = CompactOptions {
        retry: true,
        ..CompactOptions::default()
    };
    assert!(matches!(
        run_with(&half, &strategy, &again).unwrap().plan,
        Plan::Lines(..)
    ));
    // A compaction by another system, or newer messages, allow another application.
    let other = CompatStrategy::Limits {
        limits: vec![CompactorLimit::Tokens {
            max: 1,
            target: 1,
            prompt: Some(9),
        }],
        forced: false,
    };
    assert!(matches!(run(&half, &other).plan, Plan::Lines(..)));
    let mut more = half.clone();
    more.push_new(br#"{"role":"user","content":"more"}"#);
    assert!(matches!(run(&more, &strategy).plan, Plan::Lines(..)));
}

#[test]
fn a_strategy_waits_for_its_trigger() {
    let session = session_of("UAUAUA");
    let outcome = run(&session, &CompatStrategy::Candidates);
    assert_eq!(
        outcome.plan,
        Plan::Nothing("3 items; compacts from 10 items".into())
    );
    let when = |text| CompactOptions {
        when: Some(TriggerExpression::read(text).unwrap()),
        ..CompactOptions::default()
    };
    let outcome = run_with(&session, &CompatStrategy::Candidates, &when("messages>=6")).unwrap();
    assert_eq!(shown(&after(&session, &outcome)), ["S", "m0", "m2", "m4"]);
    let outcome = run_with(&session, &CompatStrategy::Candidates, &when("messages>=7")).unwrap();
    assert_eq!(outcome.plan, Plan::Nothing("below trigger".into()));
    assert_eq!(outcome.report.reason.as_deref(), Some("below trigger"));
}

#[test]
fn the_report_states_the_level_of_each_atom() {
    let levels = |session: &Session, strategy: &CompatStrategy| {
        let rows = run(session, strategy).report.atoms.into_iter();
        rows.map(|row| format!("{} {} {}", row.ids.join("+"), row.level.name(), row.reason))
            .collect::<Vec<_>>()
    };
    let session = session_of("SUCTAUAUA");
    let strategy = CompatStrategy::Design {
        design: Design::KeepLast(2),
        digests: true,
    };
    assert_eq!(
        levels(&session, &strategy),
        [
            "m1 digest goaitools", "m2+m3 digest goaitools", "m4 digest goaitools", "m5 full kept",
            "m6 full kept", "m7 full kept", "m8 full kept"
        ]
    );
    // The front of the view is dropped with the oldest messages, and the note names the rule too.
    let strategy = CompatStrategy::Limits {
        limits: vec![CompactorLimit::Messages(2)],
        forced: false,
    };
    let outcome = run(&session, &strategy);
    assert_eq!(outcome.report.atoms[0].ids, ["m0"]);
    assert_eq!(outcome.report.atoms[0].level, AtomLevel::Dropped);
    assert_eq!(outcome.report.dropped.len(), 7);
    let Plan::Lines(_, reported) = outcome.plan else {
        panic!()
    };
    assert!(reported.ends_with("; dropped system messages: 1"), "{reported}");
    assert_eq!(outcome.report.prefix.bytes, 0);
    let strategy = CompatStrategy::ClearToolUses(ClearToolUses {
        trigger: 0,
        keep: 0,
        ..ClearToolUses::default()
    });
    let outcome = run(&session, &strategy);
    assert_eq!(levels(&session, &strategy)[1], "m2+m3 masked langchain");
    let front: usize = [0, 1, 2].iter().map(|line| session.full(*line).len()).sum();
    assert_eq!(outcome.report.prefix.bytes, front as u64);
}

proptest! {
    #[test]
    fn reports_match_the_result_and_strategies_are_idempotent(
        all in "[SUACT]{0,20}", number in 0u64..120
    ) {
        let session = session_of(&all);
        let options = CompactOptions { best_effort: true, ..CompactOptions::default() };
        for (what, strategy) in strategies(number) {
            let Ok(first) = run_with(&session, &strategy, &options) else {
                return Err(TestCaseError::fail(format!("{what} of {all}")));
            };
            if let Plan::Nothing(_) = first.plan {
                prop_assert_eq!(&first.report.now, &first.report.was);
                continue;
            }
            prop_assert!(first.report.now.tokens < first.report.was.tokens);
            let left = after(&session, &first);
            let second = run_with(&left, &strategy, &options).unwrap();
            prop_assert_eq!(&second.report.was, &first.report.now, "{} of {}", what, all);
            // `end_on` yields where a message group was dropped whole, but not on the next run.
            if !(number.is_multiple_of(5) && what.starts_with("trim")) {
                prop_assert!(matches!(second.plan, Plan::Nothing(_)), "{} of {}: {:?}", what, all, second.plan);
            }
        }
    }
}
