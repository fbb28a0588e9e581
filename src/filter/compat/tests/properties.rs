//! Properties of every strategy on every history.
use super::super::goaitools::{CompactorLimit, Design};
use super::super::langchain::{ClearToolUses, KeepLimit, LangchainTrim, MessageKind, TrimStrategy as End};
use super::super::openai_agents::TrimOutputs;
use super::super::picoclaw::PicoclawCut;
use super::super::{
    CompatHistory, CompatStrategy, CompatSystem, Precedence, ViewChanges, penguiflow, penguin,
};
use super::{kept, letters, lines, session};
use crate::model::session::Session;
use crate::model::view::View;
use proptest::prelude::*;

fn count(message: &crate::model::message::Message<'_>) -> u64 {
    message.text().len() as u64 + 5
}

/// Returns every strategy, with options derived from a number.
pub fn strategies(number: u64) -> Vec<(&'static str, CompatStrategy)> {
    let few = (number % 7) as usize;
    let tokens = number * 3;
    let trim = |strategy, include_system| LangchainTrim {
        max: tokens,
        strategy,
        start_on: if number.is_multiple_of(3) && strategy == End::Last {
            vec![MessageKind::Human]
        } else {
            Vec::new()
        },
        end_on: if number.is_multiple_of(5) {
            vec![MessageKind::Ai, MessageKind::Tool]
        } else {
            Vec::new()
        },
        include_system,
        allow_partial: true,
    };
    let clear = ClearToolUses {
        trigger: 0,
        keep: few,
        inputs: number.is_multiple_of(2),
        ..ClearToolUses::default()
    };
    let zone = penguiflow::PenguiflowOptions {
        zone: few,
        total: tokens,
        summary: 0,
        ..penguiflow::PenguiflowOptions::default()
    };
    let rolling = penguiflow::PenguiflowOptions {
        strategy: penguiflow::PenguiflowStrategy::RollingSummary,
        summary: 1,
        total: tokens + 1,
        ..zone
    };
    let limits = |limit, forced| CompatStrategy::Limits {
        limits: vec![limit],
        forced,
    };
    let token_limit = CompactorLimit::Tokens {
        max: 1,
        target: 1,
        prompt: Some(9),
    };
    let design = |design, digests| CompatStrategy::Design { design, digests };
    vec![
        ("trim last", CompatStrategy::Trim(trim(End::Last, true))),
        ("trim first", CompatStrategy::Trim(trim(End::First, false))),
        ("clear", CompatStrategy::ClearToolUses(clear)),
        (
            "summarization",
            CompatStrategy::Summarization(KeepLimit::Messages(few + 1)),
        ),
        ("items", CompatStrategy::LastItems(Some(few as i64))),
        ("candidates", CompatStrategy::Candidates),
        (
            "outputs",
            CompatStrategy::TrimOutputs(TrimOutputs {
                recent_turns: 1,
                most: 1,
                preview: few,
                tools: None,
            }),
        ),
        ("force", CompatStrategy::Picoclaw(PicoclawCut::Force)),
        ("summarise", CompatStrategy::Picoclaw(PicoclawCut::Summarise)),
        ("window", CompatStrategy::Picoclaw(PicoclawCut::Window(tokens))),
        ("sanitise", CompatStrategy::Sanitise),
        (
            "shares",
            CompatStrategy::Penguin(penguin::PenguinTrim::of(tokens)),
        ),
        ("zone", CompatStrategy::Penguiflow(zone)),
        ("rolling", CompatStrategy::Penguiflow(rolling)),
        (
            "message limit",
            limits(CompactorLimit::Messages(few as i64), false),
        ),
        ("token limit", limits(token_limit, true)),
        ("keep last", design(Design::KeepLast(few), true)),
        ("budget", design(Design::Budget(tokens), false)),
        ("span", design(Design::Summary(few), false)),
    ]
}

/// Applies every strategy.
fn choices(history: &CompatHistory<'_>, number: u64) -> Vec<(&'static str, ViewChanges)> {
    let choose = |strategy: CompatStrategy| {
        strategy
            .choose(history, Precedence::Convo, &count, &|_, _| String::new())
            .unwrap()
    };
    let strategies = strategies(number).into_iter();
    strategies
        .map(|(name, strategy)| (name, choose(strategy)))
        .collect()
}

/// Builds a history of these letters; `late` delays a result, `thinks` adds reasoning to an answer.
fn history_of(all: &str, late: bool, thinks: bool) -> Session {
    let mut messages = letters(all);
    if late && let Some(at) = messages.iter().position(|message| message["role"] == "tool") {
        let result = messages.remove(at);
        messages.insert((at + 2).min(messages.len()), result);
    }
    if thinks {
        for message in messages
            .iter_mut()
            .filter(|message| message["role"] == "assistant")
        {
            message["reasoning"] = serde_json::json!([{"type": "text", "text": "t"}]);
        }
    }
    session(&messages)
}

#[test]
fn every_system_has_a_strategy_and_a_name() {
    for system in CompatSystem::ALL {
        assert!(
            strategies(1)
                .iter()
                .any(|(_, strategy)| strategy.system() == system)
        );
        assert_eq!(CompatSystem::from_name(system.name()), Some(system));
    }
    assert_eq!(CompatSystem::from_name("convo"), None);
}

proptest! {
    #[test]
    fn groups_stay_complete_and_kept_messages_unchanged(
        all in "[SUACTO]{0,24}", number in 0u64..120, late: bool, thinks: bool
    ) {
        let session = history_of(&all, late, thinks);
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        for (what, choice) in choices(&history, number) {
            // PicoClaw defines which histories are sound, and repairs broken ones.
            if what == "sanitise" {
                continue;
            }
            let stays = kept(&history, &choice);
            let mut atoms = std::collections::HashMap::<usize, bool>::new();
            for at in 0..history.len() {
                let Some(atom) = history.atom(at) else { continue };
                let is = stays.contains(&at);
                // A summary's messages and openai-agents' user messages are not pairs.
                prop_assert_eq!(*atoms.entry(atom).or_insert(is), is, "{} of {}: {:?}", what, all, stays);
            }
            lines(&session, &view, &choice);
        }
    }

    #[test]
    fn the_designed_strategies_and_convos_rules_keep_the_newest_exchange(all in "[SUACT]{1,24}", number in 0u64..60) {
        let session = session(&letters(&all));
        let view = View::replay(&session);
        let history = CompatHistory::of(&session, &view);
        let newest = history.exchanges().last().copied().unwrap_or(history.len());
        let user = history.newest_user();
        for (what, choice) in choices(&history, number) {
            let stays = kept(&history, &choice);
            let losses = choice.losses(&history);
            if ["keep last", "budget", "span", "message limit", "token limit", "window", "summarise"].contains(&what) {
                // Consecutive user messages may be cut, but the last one and all that follows are kept.
                let from = user.map_or(newest, |user| user.max(newest));
                prop_assert!((from..history.len()).all(|at| stays.contains(&at)), "{} of {}: {:?}", what, all, stays);
            }
            if !["trim last", "trim first", "message limit", "token limit"].contains(&what) {
                prop_assert_eq!(losses.rules, 0, "{} of {}", what, all);
            }
        }
    }

    #[test]
    fn strategies_are_idempotent(all in "[SUACT]{0,24}", number in 0u64..60) {
        let messages = letters(&all);
        let first = session(&messages);
        let view = View::replay(&first);
        let history = CompatHistory::of(&first, &view);
        for (index, (what, choice)) in choices(&history, number).into_iter().enumerate() {
            // Not idempotent: strategies that drop a share each time, or that still need a summary. Besides, `end_on`
            // yields to a message group dropped whole or to a separate system message, but not on the next run.
            let ends = number.is_multiple_of(5) && what.starts_with("trim");
            if ["token limit", "force", "keep last", "budget"].contains(&what) || ends || !choice.summarised.is_empty() {
                continue;
            }
            let left = lines(&first, &view, &choice);
            let again = session(&left);
            let view = View::replay(&again);
            let history = CompatHistory::of(&again, &view);
            let (_, second) = choices(&history, number).swap_remove(index);
            prop_assert!(!second.changes(), "{} of {}: {:?} then {:?}", what, all, left, kept(&history, &second));
        }
    }
}
