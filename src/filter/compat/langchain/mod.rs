//! Imitates langchain: `trim_messages`, `ClearToolUsesEdit`, and the cut of `SummarizationMiddleware`.
//!
//! Deliberate differences under [`Rules::Convo`](super::Precedence):
//!
//! - a cut between a call and its result moves inward because the limit forbids keeping more: the message group is
//!   dropped whole;
//! - a shortened message is counted in its final form, so it never exceeds the limit;
//! - if the instructions alone exceed the limit, the result counts as not fitting;
//! - `clear_at_least` is a minimum saving below which nothing changes, not a point to stop at;
//! - system messages are never summarized, wherever they are.
//!
//! As in langchain, `trim_messages` keeps a system message only with `include_system` and only at the front, and
//! `end_on` may drop the newest user message.

mod clear;
mod partial;
mod summarization;
mod trim;

pub use clear::{ClearToolUses, clear_tool_uses};
pub use partial::TrimStrategy;
pub use summarization::{KeepLimit, summarization};
pub use trim::{LangchainTrim, MessageKind, trim};
