//! The table of systems and of the ways in which they make a history smaller.

use super::choice::{Choice, Rules};
use super::history::{History, Measure};
use super::{goaitools, langchain, openai_agents, penguiflow, penguin, picoclaw};
use crate::error::Result;
use crate::tokens::Tokenizer;

/// A system whose trimming is known.
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

    /// Its name, as an event's `strategy` has it.
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

    /// Its own estimate of tokens, where it is among the tokenizers.
    pub fn tokenizer(self) -> Option<Tokenizer> {
        let own = (self == System::Picoclaw).then(|| Tokenizer::named("picoclaw"));
        own.and_then(Result::ok)
    }

    /// The system of this name.
    pub fn from_name(name: &str) -> Option<System> {
        System::ALL.into_iter().find(|system| system.name() == name)
    }
}

/// A way in which a system makes a history smaller, with its options.
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
    /// What PicoClaw takes for sound.
    Sanitise,
    /// Penguin's trimming by category.
    Penguin(penguin::Trim),
    /// PenguiFlow's zone and total.
    Penguiflow(penguiflow::Options),
    /// goaitools' compactors, one after the other.
    Limits {
        /// The compactors.
        limits: Vec<goaitools::Limit>,
        /// Whether a trigger has said that it is time.
        forced: bool,
    },
    /// goaitools' designed strategies.
    Design {
        /// The strategy.
        design: goaitools::Design,
        /// Whether a line stands for an exchange with tool calls that goes.
        digests: bool,
    },
}

impl Way {
    /// Whose way it is.
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

    /// Whether it takes another share each time, however small the history is already.
    pub(super) fn goes_on(&self) -> bool {
        let takes_a_third = |limit: &goaitools::Limit| matches!(limit, goaitools::Limit::Tokens { .. });
        match self {
            Way::Picoclaw(cut) => !matches!(cut, picoclaw::Cut::Window(_)),
            Way::Limits { limits, .. } => limits.iter().any(takes_a_third),
            Way::Design { design, .. } => matches!(design, goaitools::Design::Summary(_)),
            _ => false,
        }
    }

    /// Whether what it changes loses a part of its text, and does not become a mark.
    pub(super) fn shortens(&self) -> bool {
        matches!(self, Way::Trim(_) | Way::LastItems(_) | Way::TrimOutputs(_))
    }

    /// What it keeps. `measure` says what a message takes; PenguiFlow has an estimate of its own, and `shorten`
    /// makes its summary fit so many of its tokens.
    ///
    /// # Errors
    ///
    /// Options that the system refuses.
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
