//! The table of systems and their strategies for shortening a history.

use super::choice::{Precedence, ViewChanges};
use super::history::{CompatHistory, MeasureFn};
use super::{goaitools, langchain, openai_agents, penguiflow, penguin, picoclaw};
use crate::error::Result;
use crate::model::named_enum::named_enum;
use crate::tokens::Tokenizer;

named_enum! {
    /// A system whose trimming convo imitates.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum CompatSystem {
        /// langchain and its middleware.
        Langchain = "langchain",
        /// openai-agents.
        OpenaiAgents = "openai-agents",
        /// PicoClaw.
        Picoclaw = "picoclaw",
        /// Penguin.
        Penguin = "penguin",
        /// PenguiFlow.
        Penguiflow = "penguiflow",
        /// goaitools.
        Goaitools = "goaitools",
    }
}

impl CompatSystem {
    /// The system's own token estimate, if convo has it as a tokenizer.
    pub fn tokenizer(self) -> Option<Tokenizer> {
        let own = (self == CompatSystem::Picoclaw).then(|| Tokenizer::named("picoclaw"));
        own.and_then(Result::ok)
    }
}

/// A strategy of a system, with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum CompatStrategy {
    /// langchain's `trim_messages`.
    Trim(langchain::LangchainTrim),
    /// langchain's `ClearToolUsesEdit`.
    ClearToolUses(langchain::ClearToolUses),
    /// langchain's `SummarizationMiddleware`.
    Summarization(langchain::KeepLimit),
    /// openai-agents' `get_items(limit)`.
    LastItems(Option<i64>),
    /// openai-agents' compaction.
    Candidates,
    /// openai-agents' `ToolOutputTrimmer`.
    TrimOutputs(openai_agents::TrimOutputs),
    /// PicoClaw's cuts.
    Picoclaw(picoclaw::PicoclawCut),
    /// PicoClaw's history sanitizer.
    Sanitise,
    /// Penguin's trimming by category.
    Penguin(penguin::PenguinTrim),
    /// PenguiFlow's zone and total.
    Penguiflow(penguiflow::PenguiflowOptions),
    /// goaitools' compactors, applied in turn.
    Limits {
        /// The compactors.
        limits: Vec<goaitools::CompactorLimit>,
        /// Whether an external trigger fired.
        forced: bool,
    },
    /// goaitools' designed strategies.
    Design {
        /// The strategy.
        design: goaitools::Design,
        /// Whether to insert a digest line for each dropped exchange with tool calls.
        digests: bool,
    },
}

impl CompatStrategy {
    /// The system that this strategy belongs to.
    pub fn system(&self) -> CompatSystem {
        match self {
            CompatStrategy::Trim(_) | CompatStrategy::ClearToolUses(_) | CompatStrategy::Summarization(_) => {
                CompatSystem::Langchain
            }
            CompatStrategy::LastItems(_) | CompatStrategy::Candidates | CompatStrategy::TrimOutputs(_) => {
                CompatSystem::OpenaiAgents
            }
            CompatStrategy::Picoclaw(_) | CompatStrategy::Sanitise => CompatSystem::Picoclaw,
            CompatStrategy::Penguin(_) => CompatSystem::Penguin,
            CompatStrategy::Penguiflow(_) => CompatSystem::Penguiflow,
            CompatStrategy::Limits { .. } | CompatStrategy::Design { .. } => CompatSystem::Goaitools,
        }
    }

    /// Whether every application drops another share, however short the history is.
    pub(super) fn drops_repeatedly(&self) -> bool {
        let takes_a_third =
            |limit: &goaitools::CompactorLimit| matches!(limit, goaitools::CompactorLimit::Tokens { .. });
        match self {
            CompatStrategy::Picoclaw(cut) => !matches!(cut, picoclaw::PicoclawCut::Window(_)),
            CompatStrategy::Limits { limits, .. } => limits.iter().any(takes_a_third),
            CompatStrategy::Design { design, .. } => matches!(design, goaitools::Design::Summary(_)),
            _ => false,
        }
    }

    /// The budget that the system compares with its own estimate, whichever tokenizer is chosen.
    pub(super) fn estimated_budget(&self) -> Option<u64> {
        match self {
            CompatStrategy::Penguiflow(options) => Some(options.total).filter(|total| *total > 0),
            _ => None,
        }
    }

    /// Whether the strategy drops a part of a text without a placeholder.
    pub(super) fn shortens(&self) -> bool {
        matches!(
            self,
            CompatStrategy::Trim(_) | CompatStrategy::LastItems(_) | CompatStrategy::TrimOutputs(_)
        )
    }

    /// Applies the strategy. `measure` returns the size of a message; PenguiFlow uses its own estimate, and `shorten`
    /// limits its summary to a number of its tokens.
    ///
    /// # Errors
    ///
    /// Options that the system rejects.
    pub fn choose(
        &self,
        history: &CompatHistory<'_>,
        rules: Precedence,
        measure: MeasureFn<'_>,
        shorten: &dyn Fn(&str, u64) -> String,
    ) -> Result<ViewChanges> {
        Ok(match self {
            CompatStrategy::Trim(options) => langchain::trim(history, options, rules, measure)?,
            CompatStrategy::ClearToolUses(options) => langchain::clear_tool_uses(history, options, measure),
            CompatStrategy::Summarization(keep) => langchain::summarization(history, *keep, rules, measure)?,
            CompatStrategy::LastItems(limit) => openai_agents::last_items(history, *limit, rules)?,
            CompatStrategy::Candidates => openai_agents::candidates(history, rules).0,
            CompatStrategy::TrimOutputs(options) => openai_agents::trim_outputs(history, options)?,
            CompatStrategy::Picoclaw(cut) => picoclaw::cut(history, *cut, rules, measure),
            CompatStrategy::Sanitise => picoclaw::sanitise(history, rules),
            CompatStrategy::Penguin(options) => penguin::trim(history, options, rules, measure).0,
            CompatStrategy::Penguiflow(options) => penguiflow::trim(history, options, rules, shorten)?,
            CompatStrategy::Limits { limits, forced } => {
                goaitools::limit(history, limits, history.seen(), *forced, rules)
            }
            CompatStrategy::Design { design, digests } => {
                goaitools::design(history, *design, *digests, history.seen(), measure)
            }
        })
    }
}
