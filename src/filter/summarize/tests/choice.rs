//! Compares the selection with a naive implementation, and its weights with floating point.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The naive algorithm: recomputes every gain in every round.
fn naive(units: &[UnitCandidate<'_>], budget: u64) -> Vec<usize> {
    let own: Vec<BTreeSet<String>> = units
        .iter()
        .map(|unit| terms(unit.text).into_iter().collect())
        .collect();
    let mut having: BTreeMap<&str, u64> = BTreeMap::new();
    for term in own.iter().flatten() {
        *having.entry(term).or_default() += 1;
    }
    let mut repeats: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut untried, mut chosen): (Vec<usize>, Vec<usize>) = ((0..units.len()).collect(), Vec::new());
    let mut rest = budget;
    loop {
        let gain = |unit: usize| -> u128 {
            let worth = own[unit].iter().map(|term| {
                let weight = weight(units.len() as u64, having[term.as_str()]);
                u128::from(weight >> repeats.get(term.as_str()).copied().unwrap_or(0))
            });
            u128::from(units[unit].prior) * worth.sum::<u128>()
        };
        let mut best: Option<(usize, u128)> = None;
        for unit in &untried {
            let gain = gain(*unit);
            let better = best.is_none_or(|(other, others)| {
                gain * u128::from(units[other].tokens) > others * u128::from(units[*unit].tokens)
            });
            if gain > 0 && better {
                best = Some((*unit, gain));
            }
        }
        let Some((unit, _)) = best else { return chosen };
        untried.retain(|other| *other != unit);
        if units[unit].tokens <= rest {
            rest -= units[unit].tokens;
            chosen.push(unit);
            for term in &own[unit] {
                *repeats.entry(term).or_default() += 1;
            }
        }
    }
}

const WORDS: [&str; 16] = [
    "garden", "soil", "seeds", "yesterday", "i", "the", "Mia", "42", "beans", "walking", "we", "may", "pH",
    "日本語", "cost", "plan?",
];

fn units() -> impl Strategy<Value = Vec<(Vec<&'static str>, u64, usize)>> {
    let unit = (
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..9),
        1u64..12,
        0usize..3,
    );
    prop::collection::vec(unit, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_heap_selects_as_the_rule_defines(units in units(), budget in 0u64..120) {
        let texts: Vec<String> = units.iter().map(|(words, ..)| words.join(" ")).collect();
        let roles = [Role::User, Role::Assistant, Role::Tool];
        let candidates: Vec<UnitCandidate<'_>> = units
            .iter()
            .zip(&texts)
            .enumerate()
            .map(|(index, ((_, tokens, role), text))| UnitCandidate {
                text,
                prior: Prior::of(text).role(Some(roles[*role])).recency(index, texts.len()).product(),
                tokens: *tokens,
            })
            .collect();
        let chosen = choose(&candidates, budget);
        prop_assert_eq!(&chosen, &naive(&candidates, budget));
        prop_assert!(chosen.iter().map(|unit| candidates[*unit].tokens).sum::<u64>() <= budget);
    }

    #[test]
    fn terms_of_any_text_are_found_without_a_panic(text in any::<String>()) {
        for term in terms(&text) {
            prop_assert!(!term.is_empty());
        }
        strength(&text);
    }
}

#[test]
fn weights_are_those_of_floating_point() {
    let float = |units: u64, having: u64| {
        let (units, having) = (units as f64, having as f64);
        (((units - having + 0.5) / (having + 0.5) + 1.0).ln() * f64::from(1 << 20) + 0.5).floor() as u64
    };
    for units in 1..400 {
        for having in 1..=units {
            assert_eq!(weight(units, having), float(units, having), "{having} of {units}");
        }
    }
    for units in [1_000, 5_882, 100_000, 123_456_789] {
        for having in [1, 2, 3, 7, 99, 1_000] {
            assert_eq!(weight(units, having), float(units, having), "{having} of {units}");
        }
    }
    assert_eq!(weight(0, 0), 726_817);
    assert_eq!(weight(3, 9), 0);
    assert!(weight(u64::MAX, 1) > weight(u64::MAX / 2, 1));
}

#[test]
fn a_hundred_thousand_units_with_one_word_are_chosen_from_in_their_order() {
    let texts: Vec<String> = (0..100_000).map(|unit| format!("word number{unit}")).collect();
    let candidates: Vec<UnitCandidate<'_>> = texts
        .iter()
        .map(|text| UnitCandidate {
            text,
            prior: Prior::of("word").product(),
            tokens: 2,
        })
        .collect();
    let chosen = choose(&candidates, 100_000);
    assert_eq!(chosen.len(), 50_000);
    assert_eq!(chosen, (0..50_000).collect::<Vec<_>>());
}

#[test]
fn the_product_of_a_prior_keeps_the_order_of_the_factors() {
    let plain = Prior::of("nothing special");
    assert_eq!(plain.0, [1000; 7]);
    let question = Prior::of("was it so?");
    let fact = Prior::of("we met on monday");
    assert!(question.product() * 2 == plain.product());
    assert_eq!(fact.0, [1350, 1350, 1000, 1000, 1000, 1000, 1000]);
    assert_eq!(Prior::of("so we saw, Anna").0[2], 1200);
    assert_eq!(fact.role(Some(Role::Tool)).recency(4, 5).0[5..], [800, 1100]);
    assert_eq!(fact.recency(0, 1).0[6], 1000);
    assert!(fact.product() > plain.product());
}

#[test]
fn each_mark_of_a_fact_counts() {
    let cases: [(&str, [u16; 5]); 13] = [
        ("I'm here", [1350, 1000, 1000, 1000, 1000]),
        ("that is MY dog", [1350, 1000, 1000, 1000, 1000]),
        ("mine, image, weekly", [1000; 5]),
        ("it cost 23.50", [1000, 1350, 1000, 1000, 1000]),
        ("pod 7f9c", [1000; 5]),
        ("some years ago", [1000, 1350, 1000, 1000, 1000]),
        ("DECEMBER snow", [1000, 1350, 1000, 1000, 1000]),
        ("so said Anna", [1000, 1000, 1200, 1000, 1000]),
        ("SO SAID ANNA", [1000; 5]),
        ("look [image: a cat]", [1000, 1000, 1000, 1200, 1000]),
        ("look [image]", [1000, 1000, 1000, 1200, 1000]),
        ("why not? ", [1000, 1000, 1000, 1000, 500]),
        ("it broke. why?", [1000; 5]),
    ];
    for (text, factors) in cases {
        assert_eq!(Prior::of(text).0[..5], factors, "{text}");
    }
}

#[test]
fn facts_of_a_dialogue_come_before_questions_and_plans() {
    let weight = |(text, answers): (&str, bool)| {
        let marks = prior_weight::WordMarks::of(text);
        Prior::marked(text, marks)
            .dialogue(text, marks, answers)
            .product()
    };
    for (more, less) in [
        (("A trumpet.", true), ("A trumpet.", false)),
        (("The trumpet was sold.", false), ("The trumpet is old.", false)),
        (
            ("The trumpet costs 40.", false),
            ("The trumpet costs May.", false),
        ),
        (("The trumpet is loud.", false), ("Your trumpet is loud.", false)),
        (("He plays it.", false), ("He'll play it.", false)),
        (("It is loud. It is.", false), ("It is loud. Is it?", false)),
    ] {
        assert!(weight(more) > weight(less), "{more:?} {less:?}");
    }
    // The product of all factors that reduce the weight is not rounded to nothing.
    assert!(weight(("You should let me. Will you?", false)) > 0);
}

#[test]
fn a_long_summary_is_full_although_only_parts_of_its_first_draft_are_counted() {
    const WORDS: [&str; 8] = [
        "seed", "roof", "garden", "door", "lamp", "river", "stone", "harbor",
    ];
    let text = |nth: usize, length: usize| {
        let word = |at: usize| format!("{}{}", WORDS[(nth + at * at) % 8], (nth * 7 + at * 13) % 400);
        (0..length).map(word).collect::<Vec<_>>().join(" ")
    };
    let lengths: [fn(usize) -> usize; 3] = [
        |nth| 4 + nth * nth % 23,
        // The beginning has other lengths than the end.
        |nth| if nth < 450 { 3 } else { 24 },
        |nth| if nth % 29 == 0 { 40 } else { 6 },
    ];
    for length in lengths {
        let texts: Vec<String> = (0..900).map(|nth| text(nth, length(nth))).collect();
        let sources: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(nth, text)| {
                source(
                    "m",
                    [Role::User, Role::Assistant][nth % 2],
                    "2026-03-01T08:00:00Z",
                    text,
                )
            })
            .collect();
        let all: u64 = texts.iter().map(|text| words(text) + 1).sum();
        for budget in [all / 2, all * 3 / 4] {
            let summary = extract(&sources, &[], None, &ExtractOptions::new(budget), &words).unwrap();
            let tokens = words(&summary.text);
            assert!(summary.text.lines().count() > 256);
            assert!(
                tokens <= budget && tokens * 50 >= budget * 49,
                "{tokens} of {budget}"
            );
        }
    }
}
