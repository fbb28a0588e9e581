//! Properties of a session with a retention policy under any sequence of actions.

use super::super::{due, memory_state, plan, waiting_turns};
use crate::filter::{Plan, Stamp};
use crate::model::event::Action;
use crate::model::health::Health;
use crate::model::json;
use crate::model::retention::{Overflow, RetentionPolicy, RetentionStrategy};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::{Counter, Tokenizer};
use proptest::prelude::*;
use serde_json::json as value;
use std::collections::BTreeSet;

const NOW: &str = "2026-01-01T00:00:00Z";

fn counter() -> Counter {
    Counter::new(Tokenizer::named("chars4").unwrap(), None)
}

#[derive(Clone, Debug)]
enum Operation {
    User(usize),
    Answer(usize),
    /// A tool call and its result.
    Tool(usize),
    Failure,
    Summary(String),
    /// Undoes the newest event that dropped something.
    Restore,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1_usize..200).prop_map(Operation::User),
        4 => (1_usize..200).prop_map(Operation::Answer),
        1 => (1_usize..200).prop_map(Operation::Tool),
        1 => Just(Operation::Failure),
        2 => "[a-z]{3,9}( [a-z]{3,9}){0,30}".prop_map(Operation::Summary),
        1 => Just(Operation::Restore),
    ]
}

fn memory() -> impl Strategy<Value = RetentionPolicy> {
    let strategy = prop::sample::select(vec![
        RetentionStrategy::Truncation,
        RetentionStrategy::RollingSummary,
        RetentionStrategy::RollingSummary,
    ]);
    let overflow = prop::sample::select(Overflow::ALL.to_vec());
    (strategy, overflow, 0_u64..4, 5_u64..60, 0_u64..300).prop_map(
        |(strategy, overflow, keep_last, summary, more)| RetentionPolicy {
            strategy,
            overflow,
            keep_last,
            summary,
            total: if more < 20 { 0 } else { summary + more },
            retry_attempts: 1,
            ..RetentionPolicy::default()
        },
    )
}

struct Grown {
    session: Session,
    next: usize,
}

impl Grown {
    fn stamp(&self, what: &str) -> Stamp {
        Stamp {
            id: format!("evt_{what}_{}", self.session.len()),
            at: NOW.to_string(),
        }
    }

    fn id(&mut self) -> String {
        self.next += 1;
        format!("m{}", self.next)
    }

    /// Appends lines as `append` and `summarize` do; false when they are refused.
    fn add(&mut self, lines: Vec<Vec<u8>>) -> bool {
        let planned = plan(&self.session, lines, "added".to_string(), counter(), |what| {
            Ok(self.stamp(what))
        });
        let Ok(remembered) = planned else { return false };
        let Plan::Lines(lines, _) = &remembered.plan else {
            panic!("what is added is a line");
        };
        lines.iter().for_each(|line| self.session.push_new(line));
        if let (Some((tokens, most)), Ok(Some(standing))) =
            (remembered.over, memory_state(&self.session, counter()))
        {
            assert!(tokens > most);
            assert_eq!(standing.tokens, tokens);
        }
        true
    }

    fn say(&mut self, role: &str, words: usize) -> bool {
        let id = self.id();
        let line = value!({"role": role, "content": "word ".repeat(words), "id": id});
        self.add(vec![line.to_string().into_bytes()])
    }

    fn view(&self) -> View {
        View::replay(&self.session)
    }

    fn happen(&mut self, what: Operation, memory: &RetentionPolicy) {
        match what {
            Operation::User(words) => drop(self.say("user", words)),
            Operation::Answer(words) => {
                let before = self.session.len();
                let appended = self.say("assistant", words);
                assert!(appended || memory.overflow == Overflow::Error && self.session.len() == before);
                if appended {
                    let newest = self.session.messages().map(|(line, _)| line).last();
                    let shown: Vec<_> = self.view().items.iter().filter_map(Item::line).collect();
                    // If no turn is kept, an addition to a restored turn may be kept with it.
                    let stays = memory.strategy != RetentionStrategy::Truncation || memory.keep_last > 0;
                    assert!(
                        !stays || shown.last().copied() == newest,
                        "the newest turn stays in view"
                    );
                }
            }
            Operation::Tool(words) => {
                let (call, result) = (self.id(), self.id());
                let function = value!({"name": "f", "arguments": "{}"});
                let calls = value!([{"id": call, "type": "function", "function": function}]);
                let asks = value!({"role": "assistant", "content": null, "tool_calls": calls, "id": call});
                let gives = value!({"role": "tool", "tool_call_id": call, "content": "word ".repeat(words), "id": result});
                self.add([asks, gives].map(|line| line.to_string().into_bytes()).to_vec());
            }
            Operation::Failure => {
                let health = memory.policy().failed(&Health::of(&self.session), NOW, "broken");
                let line = health.event(&self.stamp("attempt").id, NOW, "cmd:x");
                let before = self.view().shown(&self.session);
                self.session.push_new(&line);
                assert_eq!(
                    self.view().shown(&self.session),
                    before,
                    "a failure takes nothing"
                );
            }
            Operation::Summary(text) => {
                let Some(items) = due(&self.session).unwrap() else {
                    return;
                };
                let view = self.view();
                let ends = [items[0], items[items.len() - 1]];
                let ids = ends.map(|item| self.session.id(view.items[item].line().unwrap()).unwrap());
                let event = value!({
                    "type": "summary", "id": self.stamp("summary").id, "at": NOW, "content": text, "covers": ids,
                });
                let before = waiting_turns(&self.session).unwrap().unwrap();
                if self.add(vec![event.to_string().into_bytes()]) {
                    let after = waiting_turns(&self.session).unwrap().unwrap();
                    assert!(after.0 + after.1 < before.0 + before.1, "{before:?} {after:?}");
                    assert_eq!(Health::of(&self.session).failures, 0);
                }
            }
            Operation::Restore => {
                let live = self.session.live_events().into_iter().rev();
                let compact = live
                    .map(|line| self.session.record(line).body.to_vec())
                    .find(|body| json::member(body, "strategy") == Some(b"\"memory\""));
                if let Some(id) =
                    compact.and_then(|body| Some(json::text(json::member(&body, "id")?)?.into_owned()))
                {
                    let event =
                        value!({"type": "restore", "id": self.stamp("restore").id, "at": NOW, "of": id});
                    self.session.push_new(event.to_string().as_bytes());
                }
            }
        }
    }

    /// Checks that a summary or an event of the policy accounts for every hidden message.
    fn check(&self) {
        let view = self.view();
        assert!(view.dangling.is_empty(), "{:?}", view.dangling);
        let shown: BTreeSet<usize> = view.items.iter().filter_map(Item::line).collect();
        let mut accounted: BTreeSet<usize> = BTreeSet::new();
        for line in self.session.live_events() {
            let record = self.session.record(line);
            let event = record.event().unwrap();
            let ranges: Vec<Vec<String>> = match event.action() {
                Action::Summary(summary) => {
                    vec![summary.covers.iter().flatten().map(ToString::to_string).collect()]
                }
                Action::Compact(_) => {
                    assert_eq!(json::member(event.raw, "strategy"), Some(&b"\"memory\""[..]));
                    let drop =
                        json::member(event.raw, "drop").map(serde_json::from_slice::<serde_json::Value>);
                    let spans = drop.and_then(Result::ok).unwrap_or_default();
                    let span = |span: &serde_json::Value| match span {
                        serde_json::Value::Array(ends) => ends
                            .iter()
                            .filter_map(|end| end.as_str())
                            .map(str::to_string)
                            .collect(),
                        one => vec![one.as_str().unwrap_or_default().to_string()],
                    };
                    spans
                        .as_array()
                        .map(|spans| spans.iter().map(span).collect())
                        .unwrap_or_default()
                }
                _ => continue,
            };
            for ends in ranges {
                let places: Vec<usize> = ends.iter().flat_map(|id| self.session.all_of(id)).collect();
                if let (Some(first), Some(last)) = (places.first(), places.last()) {
                    accounted.extend(*first..=*last);
                }
            }
        }
        for (line, _) in self.session.messages() {
            assert!(
                shown.contains(&line) || accounted.contains(&line),
                "line {line} left without a word"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn messages_are_hidden_only_by_a_summary_or_the_policy(
        memory in memory(),
        what in prop::collection::vec(operation(), 0..30),
    ) {
        let mut grown = Grown { session: Session::default(), next: 0 };
        let memory_member: serde_json::Value = serde_json::from_slice(&memory.write()).unwrap();
        let header = value!({"type": "session", "version": 1, "id": "s", "memory": memory_member});
        grown.session.push_new(header.to_string().as_bytes());
        for operation in what {
            grown.happen(operation, &memory);
            grown.check();
        }
    }
}
