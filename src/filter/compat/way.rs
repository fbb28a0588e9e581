//! The table of systems and their strategies for shortening a history.

use super::choice::{Choice, Rules};
use super::history::{History, Measure};
use super::{goaitools, langchain, openai_agents, penguiflow, penguin, picoclaw};
use crate::error::Result;
use crate::tokens::Tokenizer;

/// A system whose trimming convo imitates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// langchain and its middleware.
    Langchain,
    /// openai-agents.
    OpenaiAgents,
    /// PicoClaw.
    Picoclaw,
    /// Penguin.
    Penguin,
    /// PenguiFlow.
    Penguiflow,
    /// goaitools.
    Goaitools,
}

impl System {
    /// Every system.
    pub const ALL: [System; 6] = [
        System::Langchain,
        System::OpenaiAgents,
        System::Picoclaw,
        System::Penguin,
        System::Penguiflow,
        System::Goaitools,
    ];

    /// The system's name as written in an event's `strategy`.
    pub const fn name(self) -> &'static str {
        match self {
            System::Langchain => "langchain",
            System::OpenaiAgents => "openai-agents",
            System::Picoclaw => "picoclaw",
            System::Penguin => "penguin",
            System::Penguiflow => "penguiflow",
            System::Goaitools => "goaitools",
        }
    }

    /// The system's own token estimate, if convo has it as a tokenizer.
    pub fn tokenizer(self) -> Option<Tokenizer> {
        let own = (self == System::Picoclaw).then(|| Tokenizer::named("picoclaw"));
        own.and_then(Result::ok)
    }

    /// Parses a system name.
    pub fn from_name(name: &str) -> Option<System> {
        System::ALL.into_iter().find(|system| system.name() == name)
    }
}

/// A strategy of a system, with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// langchain's `trim_messages`.
    Trim(langchain::Trim),
    /// langchain's `ClearToolUsesEdit`.
    ClearToolUses(langchain::ClearToolUses),
    /// langchain's `SummarizationMiddleware`.
    Summarization(langchain::Keep),
    /// openai-agents' `get_items(limit)`.
    LastItems(Option<i64>),
    /// openai-agents' compaction.
    Candidates,
    /// openai-agents' `ToolOutputTrimmer`.
    TrimOutputs(openai_agents::TrimOutputs),
    /// PicoClaw's cuts.
    Picoclaw(picoclaw::Cut),
    /// PicoClaw's history sanitizer.
    Sanitise,
    /// Penguin's trimming by category.
    Penguin(penguin::Trim),
    /// PenguiFlow's zone and total.
    Penguiflow(penguiflow::Options),
    /// goaitools' compactors, applied in turn.
    Limits {
        /// The compactors.
        limits: Vec<goaitools::Limit>,
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

impl Way {
    /// The system that this strategy belongs to.
    pub fn system(&self) -> System {
        match self {
            Way::Trim(_) | Way::ClearToolUses(_) | Way::Summarization(_) => System::Langchain,
            Way::LastItems(_) | Way::Candidates | Way::TrimOutputs(_) => System::OpenaiAgents,
            Way::Picoclaw(_) | Way::Sanitise => System::Picoclaw,
            Way::Penguin(_) => System::Penguin,
            Way::Penguiflow(_) => System::Penguiflow,
            Way::Limits { .. } | Way::Design { .. } => System::Goaitools,
        }
    }

    /// Whether every application drops another share, however short the history is.
    pub(super) fn goes_on(&self) -> bool {
        let takes_a_third = |limit: &goaitools::Limit| matches!(limit, goaitools::Limit::Tokens { .. });
        match self {
            Way::Picoclaw(cut) => !matches!(cut, picoclaw::Cut::Window(_)),
            Way::Limits { limits, .. } => limits.iter().any(takes_a_third),
            Way::Design { design, .. } => matches!(design, goaitools::Design::Summary(_)),
            _ => false,
        }
    }

    /// Whether the strategy drops a part of a text without a placeholder.
    pub(super) fn shortens(&self) -> bool {
        matches!(self, Way::Trim(_) | Way::LastItems(_) | Way::TrimOutputs(_))
    }

    /// Applies the strategy. `measure` returns the size of a message; PenguiFlow uses its own estimate, and `shorten`
    /// limits its summary to a number of its tokens.
    ///
    /// # Errors
    ///
    /// Options that the system rejects.
    pub fn choose(
        &self,
        history: &History<'_>,
        rules: Rules,
        measure: Measure<'_>,
        shorten: &dyn Fn(&str, u64) -> String,
    ) -> Result<Choice> {
        Ok(match self {
            Way::Trim(options) => langchain::trim(history, options, rules, measure)?,
            Way::ClearToolUses(options) => langchain::clear_tool_uses(history, options, measure),
            Way::Summarization(keep) => langchain::summarization(history, *keep, rules, measure)?,
            Way::LastItems(limit) => openai_agents::last_items(history, *limit, rules)?,
            Way::Candidates => openai_agents::candidates(history, rules).0,
            Way::TrimOutputs(options) => openai_agents::trim_outputs(history, options)?,
            Way::Picoclaw(cut) => picoclaw::cut(history, *cut, rules, measure),
            Way::Sanitise => picoclaw::sanitise(history, rules),
            Way::Penguin(options) => penguin::trim(history, options, rules, measure).0,
            Way::Penguiflow(options) => penguiflow::trim(history, options, rules, shorten)?,
            Way::Limits { limits, forced } => {
                goaitools::limit(history, limits, history.seen(), *forced, rules)
            }
            Way::Design { design, digests } => {
                goaitools::design(history, *design, *digests, history.seen(), measure)
            }
        })
    }
}
