//! One compaction of a random session, and its result.

use super::super::event::Size;
use super::super::{CompactOptions, CompactionOutcome, plan};
use super::choices::Choices;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::tests::histories::{materialized, reread};
use crate::filter::{Plan, Stamp};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use crate::tokens::{Counter, Tokenizer};
use proptest::prelude::*;

/// A session and the options of its compaction.
pub struct Case {
    pub before: Session,
    pub view: View,
    pub options: CompactOptions,
    pub tokenizer: Tokenizer,
    /// The size of the view, counted here.
    pub was: Size,
}

/// The result of a compaction, with the event appended.
pub struct Done {
    pub after: Session,
    pub view: View,
    pub event: Vec<u8>,
    pub outcome: CompactionOutcome,
}

impl Done {
    /// The summary in the view.
    pub fn summary(&self) -> String {
        let mut items = self.view.items.iter();
        let summary = items.find_map(|item| item.summary(&self.after));
        summary.unwrap().into_owned()
    }

    /// The lines of the view as text.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.view.shown(&self.after).concat()).into_owned()
    }
}

pub const EVENT: &str = "evt_new";

impl Case {
    /// A compaction that succeeds.
    pub fn compacted(session: Session, choices: &Choices) -> (Case, Done) {
        let case = Case::new(session, choices);
        let outcome = case.plan(&case.before, &case.options).unwrap();
        let done = case.done(outcome).unwrap();
        (case, done)
    }

    pub fn new(before: Session, choices: &Choices) -> Case {
        let view = View::replay(&before);
        let tokenizer = Tokenizer::named(choices.tokenizer).unwrap();
        let mut case = Case {
            view,
            before,
            options: choices.options.clone(),
            tokenizer,
            was: Size::default(),
        };
        case.was = case.size(&case.before, &case.view);
        case.options.window = Some(case.was.tokens + 1);
        case.options.when = choices.when(case.was.tokens, case.view.items.len());
        case.options.budget = choices
            .budget
            .map(|share| (case.was.tokens * share / 10_000).max(1));
        if case.options.budget.is_none() {
            case.options.shares.clear();
        }
        let pinned = choices.pins.iter().filter_map(|share| {
            let at = share * case.view.items.len() / 1000;
            Some(case.view.items.get(at)?.message(&case.before)?.id()?.into_owned())
        });
        case.options.pins = pinned.collect();
        case
    }

    pub fn counter(&self, session: &Session) -> Counter {
        Counter::new(self.tokenizer, session.header_text("tokenizer").as_deref())
    }

    /// Counts a view message by message.
    pub fn size(&self, session: &Session, view: &View) -> Size {
        let counter = self.counter(session);
        let tokens = view.items.iter().map(|item| match item.summary(session) {
            Some(text) => {
                let shown = crate::model::summary::message(&text, None);
                super::super::state::read(&shown).map_or(0, |message| counter.message(&message))
            }
            None => item
                .message(session)
                .map_or(0, |message| counter.message(&message)),
        });
        Size {
            messages: view.items.len() as u64,
            tokens: tokens.sum(),
        }
    }

    pub fn plan(&self, session: &Session, options: &CompactOptions) -> Result<CompactionOutcome> {
        let stamp = |_: &str| {
            Ok(Stamp {
                id: EVENT.into(),
                at: "2026-01-02T00:00:00Z".into(),
            })
        };
        plan(session, self.counter(session), options, stamp)
    }

    /// Plans with another budget and no trigger.
    pub fn with_budget(&self, budget: u64, best_effort: bool) -> Result<CompactionOutcome> {
        let options = CompactOptions {
            budget: Some(budget),
            when: None,
            best_effort,
            ..self.options.clone()
        };
        self.plan(&self.before, &options)
    }

    pub fn done(&self, outcome: CompactionOutcome) -> Option<Done> {
        let Plan::Lines(lines, _) = &outcome.plan else {
            return None;
        };
        let mut after = self.before.clone();
        lines.iter().for_each(|line| after.push_new(line));
        Some(Done {
            view: View::replay(&after),
            event: lines[0].clone(),
            after,
            outcome,
        })
    }

    /// Whether the options have a budget and no trigger.
    pub fn has_budget_alone(&self) -> bool {
        self.options.budget.is_some() && self.options.when.is_none()
    }
}

impl Done {
    /// The session as a stream encodes it.
    pub fn stream(&self) -> (Vec<u8>, Session) {
        let bytes = materialized(&self.after);
        let session = reread(&bytes);
        (bytes, session)
    }

    /// A size in the event.
    pub fn reported(&self, name: &str) -> Size {
        let size = json::member(&self.event, name).unwrap();
        let number = |name| {
            std::str::from_utf8(json::member(size, name).unwrap())
                .unwrap()
                .parse()
                .unwrap()
        };
        Size {
            messages: number("messages"),
            tokens: number("tokens"),
        }
    }
}

/// The smallest size that an error names.
pub fn smallest(error: &Error) -> Option<u64> {
    let rest = error.message.split_once("the minimum is ")?.1;
    rest.split(' ').next()?.parse().ok()
}

/// The beginning of the error of `Overflow::Error`.
pub const OVERFLOW: &str = "summary and newest exchanges exceed";

/// Checks that random options may cause this error: the budget is unreachable, or a policy forbids reaching it.
pub fn is_expected(error: &Error) -> std::result::Result<(), TestCaseError> {
    let overflow = error.message.starts_with(OVERFLOW);
    let target = error
        .message
        .contains("too small for a summary of the dropped messages: expected at least ");
    prop_assert!(
        error.kind == ErrorKind::No && (overflow || target || smallest(error).is_some()),
        "{:?}",
        error
    );
    Ok(())
}
