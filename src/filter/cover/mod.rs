//! Covers old turns by a summary: which messages it stands for, what a summariser is asked, and the event that puts its
//! answer in their place. Nothing here runs a summariser, so that no lock is held while one thinks:
//!
//! ```text
//! session -> ask -> Request -> (anybody) -> Answer -> apply -> session
//! ```
//!
//! An answer is held against the fingerprint of what it was made from: what changed underneath refuses it, what was said
//! meanwhile stays. [`extract()`] is both steps at once with the built-in summariser.
//!
//! A compaction may ask for its summary in the same way: [`draft()`] chooses what leaves and keeps room, [`finish()`] puts the
//! answer there.
//!
//! A new summary takes the one before as its input and replaces it; no summary is ever part of what another covers.

mod apply;
mod compaction;
mod event;
mod extract;
mod ground;
mod pieces;
mod pins;
mod reply;
mod request;
mod span;
#[cfg(test)]
mod tests;

pub use apply::{Answer, accept, apply};
pub use compaction::{Draft, Drafted, draft, finish};
pub use extract::extract;
pub use reply::{Reply, read as read_reply};
pub use request::{PROMPT, Request};

use super::compact::when::When;
use super::summarize::{Instructions, Rule, Style};
use crate::error::Result;
use crate::model::session::Session;
use crate::tokens::Counter;
use ground::Ground;
use request::Wanted;

/// Tokens of a summary when nothing else is said (PenguiFlow's `summary_max_tokens`).
pub const BUDGET: u64 = 1000;

/// Exchanges that stay when nothing else is said.
pub const KEEP_LAST: usize = 2;

/// Why nothing changes before it is time.
const BELOW: &str = "below trigger";

/// Why nothing changes when it would gain too little.
const NO_GAIN: &str = "no gain";

/// What is to be covered, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most tokens of the view afterwards; none: everything is covered that may be.
    pub budget: Option<u64>,
    /// The model's window, for `fraction` in triggers.
    pub window: Option<u64>,
    /// When to act; none: whenever there is something to cover.
    pub when: Option<When>,
    /// Exchanges that stay: the newest, and at least one.
    pub keep_last: usize,
    /// Tells the line with which begins what the model has not seen: the exchange that reaches it stays, and all behind it.
    pub unseen: fn(&Session) -> Option<usize>,
    /// Most of the messages that are covered, per mille, but one exchange at least; none: no such limit.
    pub share: Option<u64>,
    /// First and last message to cover, either of them open; none: the oldest exchanges.
    pub cover: Option<[Option<String>; 2]>,
    /// Whether the summary before is input. Otherwise what it stands for is summed up anew, as far as the log has it.
    pub rolling: bool,
    /// Most tokens of the summary's text; none: [`BUDGET`], and from the built-in summariser a share of what it covers.
    pub summary_budget: Option<u64>,
    /// Least gain, per mille of the view, where no budget asks for more.
    pub min_gain: u64,
    /// Whether the messages are covered whatever that gains, the newest exchange included: a retention policy counts turns.
    pub whatever_gain: bool,
    /// Most tokens that a summariser takes at once; none: as many as there are.
    pub chunk: Option<u64>,
    /// Most bytes of a tool's result in a request; none: all that it has.
    pub tool_max: Option<usize>,
    /// What a summariser is told to do.
    pub prompt: String,
    /// What the summary is like; to a summariser that is no part of convo, dates say nothing.
    pub style: Style,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            budget: None,
            window: None,
            when: None,
            keep_last: KEEP_LAST,
            share: None,
            unseen: |_| None,
            cover: None,
            rolling: true,
            summary_budget: None,
            min_gain: 100,
            whatever_gain: false,
            chunk: None,
            tool_max: None,
            prompt: PROMPT.to_string(),
            style: Style::default(),
        }
    }
}

impl Options {
    /// Whether a plan looks at the view and at standing instructions alone, so that an excerpt of the log is enough for it.
    pub fn sees_view(&self) -> bool {
        let names = match &self.style.instructions {
            Instructions::Given(rules) => rules.iter().any(|rule| matches!(rule, Rule::Message(_))),
            Instructions::Auto | Instructions::Off => false,
        };
        self.rolling && !names
    }

    /// Exchanges that are never covered.
    fn kept_exchanges(&self) -> usize {
        match self.whatever_gain {
            true => self.keep_last,
            false => self.keep_last.max(1),
        }
    }

    /// Most tokens of the summary's text.
    pub fn most(&self) -> u64 {
        self.summary_budget.unwrap_or(BUDGET)
    }
}

/// What there is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing, and why.
    Nothing(String),
    /// A summary is to be made.
    Request(Box<Request>),
}

/// What a summariser is to be asked.
///
/// # Errors
/// [`Kind::No`](crate::error::Kind::No) when the budget cannot be reached, or when what is named is not there or must
/// stay; [`Kind::Usage`](crate::error::Kind::Usage) when a piece leaves no room for messages.
pub fn ask(session: &Session, counter: Counter, options: &Options) -> Result<Asked> {
    let ground = Ground::of(session, options.rolling);
    let work = ground.work(session, counter);
    Ok(match span::choose(session, &ground, &work, options)? {
        Ok(span) => {
            let wanted = Wanted {
                items: &span.items,
                stays: &span.stays(),
                sha256: ground.fingerprint(session, &span.items),
                budget: span.budget,
            };
            Asked::Request(Box::new(Request::new(session, &work, wanted, options)?))
        }
        Err(why) => Asked::Nothing(why),
    })
}
