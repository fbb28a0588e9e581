//! Properties of any sequence of turns, summaries and failures.

use super::super::{Cost, RetentionPart, RetentionState, TurnEstimate};
use crate::model::health::HealthState;
use crate::model::retention::{Overflow, RetentionPolicy, RetentionStrategy};
use crate::model::time;
use proptest::prelude::*;
use std::collections::BTreeSet;

const COST: TurnEstimate = TurnEstimate { shows_nothing: false };

#[derive(Clone, Debug)]
enum Operation {
    Turn(u64),
    Answer(String),
    Failure,
    /// Requests a summary, which arrives after this many turns.
    Late(String, Vec<u64>),
    Wait(i64),
    Flush(Vec<Option<String>>),
}

fn operation() -> impl Strategy<Value = Operation> {
    let size = prop_oneof![1_u64..40, 1_u64..2_000];
    let text = prop_oneof![
        "[a-z. ]{0,60}",
        "(<session_summary>)?[a-z. \n]{0,400}(</session_summary>)?",
        "[\u{4e00}-\u{4e40}]{1,200}"
    ];
    prop_oneof![
        4 => size.clone().prop_map(Operation::Turn),
        2 => text.clone().prop_map(Operation::Answer),
        2 => Just(Operation::Failure),
        1 => (text.clone(), prop::collection::vec(size, 0..4)).prop_map(|(text, turns)| Operation::Late(text, turns)),
        1 => (0_i64..100).prop_map(Operation::Wait),
        1 => prop::collection::vec(prop::option::of(text), 0..6).prop_map(Operation::Flush),
    ]
}

fn memory() -> impl Strategy<Value = RetentionPolicy> {
    let overflow = prop::sample::select(Overflow::ALL.to_vec());
    let strategy = prop::sample::select(vec![
        RetentionStrategy::Truncation,
        RetentionStrategy::RollingSummary,
        RetentionStrategy::RollingSummary,
    ]);
    (
        strategy,
        overflow,
        0_u64..4,
        1_u64..60,
        0_u64..200,
        0_u64..4,
        0_u64..3,
    )
        .prop_map(
            |(strategy, overflow, keep_last, summary, more, backlog, retry_attempts)| RetentionPolicy {
                strategy,
                overflow,
                keep_last,
                summary,
                total: if more == 0 { 0 } else { summary + more },
                backlog,
                retry_attempts,
                ..RetentionPolicy::default()
            },
        )
}

/// A memory and the expected state of each turn.
struct Watched {
    retention: RetentionState<u64>,
    now: i64,
    next: u64,
    /// Turns that a summary replaced or a policy dropped.
    summed: BTreeSet<u64>,
    dropped: BTreeSet<u64>,
}

impl Watched {
    fn time(&self) -> String {
        time::from_epoch(self.now as f64).unwrap()
    }

    fn kept_turns(&self) -> Vec<u64> {
        [
            RetentionPart::Backlog,
            RetentionPart::Pending,
            RetentionPart::Recent,
        ]
        .into_iter()
        .flat_map(|part| self.retention.turns(part).copied().collect::<Vec<_>>())
        .collect()
    }

    fn drop_all(&mut self, dropped: Vec<u64>) {
        for turn in dropped {
            assert!(self.dropped.insert(turn), "dropped twice");
        }
    }

    fn add(&mut self, size: u64) {
        let before = self.kept_turns();
        let turn = self.next;
        self.next += 1;
        match self.retention.add(turn, size, &COST) {
            Ok(enforced) => {
                let memory = *self.retention.memory();
                assert_eq!(
                    enforced.fits,
                    memory.total == 0 || self.retention.tokens(&COST) <= memory.total
                );
                assert_eq!(enforced.tokens, self.retention.tokens(&COST));
                self.drop_all(enforced.dropped);
                let none_stays = memory.keep_last == 0 && memory.strategy == RetentionStrategy::Truncation;
                assert_eq!(
                    self.kept_turns().last() == Some(&turn),
                    !none_stays,
                    "the newest stays"
                );
            }
            Err(_) => {
                assert_eq!(self.retention.memory().overflow, Overflow::Error);
                assert_eq!(self.kept_turns(), before);
                self.dropped.insert(turn);
            }
        }
    }

    fn check(&self) {
        let kept_turns = self.kept_turns();
        assert!(kept_turns.is_sorted(), "the order of age: {kept_turns:?}");
        let all: BTreeSet<u64> = kept_turns.iter().copied().collect();
        assert_eq!(all.len(), kept_turns.len(), "a turn is there once");
        for turn in 0..self.next {
            let places = [
                all.contains(&turn),
                self.summed.contains(&turn),
                self.dropped.contains(&turn),
            ];
            assert_eq!(
                places.iter().filter(|is| **is).count(),
                1,
                "turn {turn}: {places:?}"
            );
        }
        let part = |part| self.retention.turns(part).count();
        assert!(part(RetentionPart::Recent) as u64 <= self.retention.memory().keep_last);
        if self.retention.state() != HealthState::Recovering {
            assert!(part(RetentionPart::Backlog) == 0 || part(RetentionPart::Pending) == 0);
        }
        let summary = self.retention.summary();
        assert!(COST.summary(summary) <= self.retention.memory().summary || summary.is_empty());
    }

    fn happen(&mut self, what: Operation) {
        match what {
            Operation::Turn(size) => self.add(size),
            Operation::Wait(seconds) => self.now += seconds,
            Operation::Failure => {
                let now = self.time();
                if self.retention.request(&now).is_some() {
                    let before = self.kept_turns();
                    self.retention.fail(&now, "broken");
                    assert_eq!(self.kept_turns(), before);
                    assert!(self.retention.health().failures > 0);
                }
            }
            Operation::Answer(text) => self.answer(&text, &[]),
            Operation::Late(text, turns) => self.answer(&text, &turns),
            Operation::Flush(answers) => {
                let mut answers = answers.into_iter();
                let (mut requested, now) = (Vec::new(), self.time());
                let mut retention = self.retention.clone();
                let known = self.kept_turns();
                let mut count = 0;
                retention
                    .flush(
                        now,
                        &COST,
                        |request| {
                            count += 1;
                            requested.extend(request.turns.iter().copied());
                            answers.next().flatten().ok_or("broken".to_string())
                        },
                        |_| {},
                    )
                    .unwrap();
                assert!(count as u64 <= known.len() as u64 + retention.memory().retry_attempts + 2);
                let pending = retention.turns(RetentionPart::Pending).count();
                assert!(pending == 0 || retention.state() == HealthState::Degraded);
            }
        }
    }

    fn answer(&mut self, text: &str, turns: &[u64]) {
        let now = self.time();
        let Some(request) = self.retention.request(&now) else {
            return;
        };
        turns.iter().for_each(|size| self.add(*size));
        let before = self.kept_turns();
        let failures = self.retention.health().failures;
        match self.retention.apply(&request, text, &now, &COST) {
            Ok(enforced) => {
                assert_eq!(self.retention.state(), HealthState::Healthy);
                let dropped = enforced.dropped.clone();
                self.drop_all(enforced.dropped);
                for turn in &request.turns {
                    if before.contains(turn) {
                        assert!(!dropped.contains(turn));
                        self.summed.insert(*turn);
                    }
                }
            }
            Err(_) => {
                assert_eq!(self.kept_turns(), before, "a refused answer takes nothing");
                assert_eq!(self.retention.health().failures, failures + 1);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn turns_are_dropped_only_by_a_summary_or_a_policy(memory in memory(), what in prop::collection::vec(operation(), 0..40)) {
        let mut watched = Watched {
            retention: RetentionState::new(memory).unwrap(),
            now: 1_000,
            next: 0,
            summed: BTreeSet::new(),
            dropped: BTreeSet::new(),
        };
        for operation in what {
            watched.happen(operation);
            watched.check();
        }
    }
}

#[test]
fn a_pass_without_effect_terminates() {
    // P1: a short summary and one turn that alone exceeds the total.
    let memory = RetentionPolicy {
        keep_last: 3,
        summary: 20,
        total: 60,
        overflow: Overflow::TruncateSummary,
        ..RetentionPolicy::default()
    };
    let mut retention = RetentionState::new(memory).unwrap().with_summary("short");
    let enforced = retention.add((), 400 + 25, &COST).unwrap();
    assert_eq!(
        (
            enforced.fits,
            enforced.dropped.len(),
            retention.turns(RetentionPart::Recent).count()
        ),
        (false, 0, 1)
    );
    assert_eq!(retention.summary(), "short");
    assert!(enforced.tokens > 60);
}

#[test]
fn adding_a_hundred_thousand_turns_takes_linear_time() {
    let memory = RetentionPolicy {
        total: 0,
        ..RetentionPolicy::default()
    };
    let mut retention = RetentionState::new(memory).unwrap();
    for turn in 0..100_000_u32 {
        retention.add(turn, 10, &COST).unwrap();
    }
    assert_eq!(retention.turns(RetentionPart::Pending).count(), 99_995);
}
