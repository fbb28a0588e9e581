//! A wider budget keeps as many standing instructions as a narrower one. Sentences that the summary quotes outside of
//! the block of instructions may give way to others, hence one less is allowed.

use super::super::CompactOptions;
use super::case::Case;
use super::choices::Choices;
use super::many::cases;
use crate::model::session::Session;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const RULES: [&str; 12] = [
    "Never touch the generated files in the build folder.",
    "Always write commit messages in the imperative mood.",
    "Every new endpoint needs an integration test of its own.",
    "Do not add any new dependency without asking me first.",
    "All dates must be written in ISO format everywhere.",
    "Reply in short bullet points only, please.",
    "Never promise a refund to a customer in writing.",
    "Keep your answers below one hundred and fifty words.",
    "Never use emojis in the minutes.",
    "Only suggest trains, never flights.",
    "You must not mention the surprise party to Anna.",
    "Please always give the sources of your figures.",
];

const REQUEST: &str = "I looked at the part from last week for a while.";

const REPLY: &str = "I looked into it; the part is in place and the next one follows. The numbers agree with those from last week, and the difference comes from two entries that were added late by the clerk.";

/// A session of `exchanges`; `places` are the exchanges whose requests are rules.
pub fn session(exchanges: usize, places: &[usize], reply: usize) -> Session {
    let reply: Vec<&str> = REPLY.split(' ').take(reply).collect();
    let mut session = Session::default();
    for nth in 0..exchanges {
        let rule = places.iter().position(|place| *place == nth);
        let request = rule.map_or(REQUEST, |rule| RULES[rule]);
        session.push_new(format!(r#"{{"role":"user","content":"{request}"}}"#).as_bytes());
        let reply = reply.join(" ");
        session.push_new(format!(r#"{{"role":"assistant","content":"{reply}"}}"#).as_bytes());
    }
    session
}

fn kept_rules(case: &Case, budget: u64) -> usize {
    let Some(done) = case
        .with_budget(budget, true)
        .ok()
        .and_then(|made| case.done(made))
    else {
        return 0;
    };
    let shown = done.view.shown(&done.after).concat();
    let shown = String::from_utf8_lossy(&shown);
    RULES.iter().filter(|rule| shown.contains(**rule)).count()
}

pub fn with_default_options(session: Session) -> Case {
    let choices = Choices {
        options: CompactOptions::default(),
        budget: None,
        trigger: None,
        pins: Vec::new(),
        tokenizer: "o200k_base",
    };
    Case::new(session, &choices)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(cases(8)) })]
    #[test]
    fn a_wider_budget_keeps_the_rules_of_a_narrower_one(
        (exchanges, places) in (1usize..16).prop_flat_map(|others| {
            let exchanges = 3 + others;
            let places = Just((0..exchanges - 1).collect::<Vec<usize>>()).prop_shuffle();
            (Just(exchanges), places)
        }),
        rules in 2usize..=RULES.len(),
        reply in 4usize..=36,
    ) {
        let rules = rules.min(exchanges - 1);
        let case = with_default_options(session(exchanges, &places[..rules], reply));
        let mut most = 0;
        for share in (60..900).step_by(30) {
            let budget = case.was.tokens * share / 1000;
            let kept = kept_rules(&case, budget);
            prop_assert!(kept + 1 >= most, "{kept} of {most} rules at {budget} tokens");
            most = most.max(kept);
        }
    }
}

#[test]
fn an_older_exchange_does_not_displace_rules() {
    let places: Vec<usize> = (0..8).map(|nth| 2 * nth).collect();
    let case = with_default_options(session(20, &places, 36));
    let kept: Vec<usize> = (200..=300)
        .step_by(20)
        .map(|budget| kept_rules(&case, budget))
        .collect();
    assert!(kept.is_sorted() && kept.last() == Some(&8), "{kept:?}");
}

#[test]
fn rules_displace_only_as_many_exchanges_as_they_need() {
    let mut session = session(14, &[0, 2, 4, 6, 8, 10, 12], 36);
    for nth in 0..4 {
        session.push_new(format!(r#"{{"role":"user","content":"And step {nth}?"}}"#).as_bytes());
        session.push_new(br#"{"role":"assistant","content":"yes"}"#);
    }
    session.push_new(br#"{"role":"user","content":"thanks"}"#);
    let case = with_default_options(session);
    let done = case.with_budget(300, true).ok().and_then(|made| case.done(made));
    let done = done.unwrap();
    let shown = String::from_utf8(done.view.shown(&done.after).concat()).unwrap();
    let steps = (0..4)
        .filter(|nth| shown.contains(&format!("And step {nth}?")))
        .count();
    assert_eq!((steps, kept_rules(&case, 300)), (4, 7), "{shown}");
}

#[test]
fn a_short_request_is_kept_with_the_exchange_before() {
    let shown = |newest: &[&str]| {
        let mut session = session(20, &[], 36);
        session.push_new(br#"{"role":"user","content":"Shall we move the deadline?"}"#);
        session.push_new(br#"{"role":"assistant","content":"I would, by a week."}"#);
        for (text, role) in newest.iter().zip(["user", "assistant"]) {
            session.push_new(format!(r#"{{"role":"{role}","content":"{text}"}}"#).as_bytes());
        }
        let case = with_default_options(session);
        let done = case.with_budget(300, true).ok().and_then(|made| case.done(made));
        let done = done.unwrap();
        let messages = done.view.messages(&done.after);
        messages
            .map(|message| message.text().into_owned())
            .collect::<Vec<_>>()
    };
    let before = ["Shall we move the deadline?", "I would, by a week."];
    let yes = ["Yes, do that.", REPLY];
    assert_eq!(shown(&yes), [before, yes].concat());
    let long = REPLY.replace("the", "THE");
    assert_eq!(shown(&[&long]), [long]);
}

#[test]
fn a_view_without_exchanges_has_a_smallest_size() {
    let mut session = Session::default();
    session.push_new(br#"{"role":"system","content":"Answer in a few short words, and never in German."}"#);
    let case = with_default_options(session);
    let error = case.with_budget(5, false).err().unwrap();
    assert!(error.to_string().contains("the minimum is"), "{error}");
}
