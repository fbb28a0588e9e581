//! The order of units that may answer a question, and their half of the budget.

use super::super::answering::answering;
use super::super::selection::{Fading, UnitCandidates};
use super::*;

/// The best unit for the question among these.
fn best(question: &str, reach: usize, units: &[&'static str]) -> Option<&'static str> {
    let order = answering(&[question.to_string()], units.len(), |at| units[at].into(), reach);
    order.first().map(|at| units[*at])
}

#[test]
fn the_unit_after_a_question_comes_before_the_question() {
    let units = [
        "We pruned the roses.",
        "What is the name of the manager there?",
        "Ingrid, and she knows every map.",
        "Lovely.",
    ];
    let question = "What is the name of the manager?";
    assert_eq!(best(question, 1, &units), Some(units[2]));
    // A statement with the words of the question is an answer.
    let told = [
        "The name of the manager is Ingrid.",
        "Lovely.",
        "We pruned the roses.",
    ];
    assert_eq!(best(question, 1, &told), Some(told[0]));
}

#[test]
fn neighbors_count_by_their_distance() {
    let units = [
        "Nothing.", "The camera broke.", "Oh.", "Really.", "A hare did it.", "Hm.",
    ];
    let order = |reach| {
        answering(
            &["the camera".to_string()],
            units.len(),
            |at| units[at].into(),
            reach,
        )
    };
    assert_eq!(order(1), [1, 0, 2]);
    assert_eq!(order(3), [1, 0, 2, 3, 4]);
}

#[test]
fn the_form_of_a_word_does_not_matter() {
    for (asked, reply) in [
        ("move", "moved"),
        ("apply", "applied"),
        ("planning", "plan"),
        ("Marcus's", "Marcus"),
        ("stories", "story"),
        ("DJs", "DJ"),
        ("Äpfel", "äpfel"),
    ] {
        let text = format!("it was {reply} then");
        let found = |asked: &str| answering(&[asked.to_string()], 1, |_| text.as_str().into(), 1).len();
        assert_eq!((found(asked), found("rest")), (1, 0), "{asked}, {reply}");
    }
    // Numbers have no forms.
    assert_eq!(best("2000", 0, &["200"]), None);
}

#[test]
fn the_newest_of_equal_answers_is_the_best() {
    let units = [
        "Spent so far: 8,952 euros.",
        "Thank you so much, how lovely.",
        "Spent so far: 9,498 euros.",
        "We met the band and both of them.",
    ];
    assert_eq!(best("How much is spent?", 0, &units), Some(units[2]));
    let order = answering(
        &["How much is spent?".to_string()],
        units.len(),
        |at| units[at].into(),
        0,
    );
    assert_eq!(order, [2, 0]);
}

#[test]
fn small_talk_is_quoted_only_if_there_is_nothing_else() {
    let options = ExtractOptions {
        covered: Some(10_000),
        ..ExtractOptions::new(100)
    };
    let summary = |texts: &[&str]| {
        let sources: Vec<_> = texts
            .iter()
            .map(|text| source("m", Role::User, "", text))
            .collect();
        extract(&sources, &[], None, &options, &words).unwrap().text
    };
    let facts = summary(&["Hello!", "The venue is a farm near Kassel.", "My pleasure!"]);
    assert_eq!(
        facts.lines().skip(1).collect::<Vec<_>>(),
        ["user: The venue is a farm near Kassel."]
    );
    assert!(summary(&["Hello!", "Thank you!"]).contains("Thank you!"));
}

#[test]
fn the_best_unit_may_take_more_than_half_of_the_budget() {
    let texts = [
        "a garden of beans",
        "soil",
        "beans grow in the garden, and hares eat them",
    ];
    let chosen = |budget| {
        let units = texts.iter().map(|text| UnitCandidate {
            text,
            prior: 1,
            tokens: words(text),
        });
        let mut among = UnitCandidates::among(units.collect());
        among
            .begin(&["What do hares eat?".to_string()], budget, Fading::Slow)
            .chosen
    };
    assert_eq!(chosen(9), [2]);
    assert_eq!(chosen(8), [1]);
    assert_eq!(chosen(20), [2, 1]);
}
