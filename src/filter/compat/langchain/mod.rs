//! langchain: `trim_messages`, `ClearToolUsesEdit`, and where `SummarizationMiddleware` cuts.
//!
//! Deliberate differences under [`Rules::Convo`](super::Rules):
//!
//! - a cut that would part a call from its result moves inward, since the limit forbids more: the atom goes whole;
//! - a message cut short in the middle is counted as it will stand, so that it is never over the limit;
//! - rules that alone are over the limit are told as not fitting;
//! - `clear_at_least` is a least gain, below which nothing is done, and no place to stop at;
//! - a system message, wherever it stands, is not summarised.
//!
//! As langchain has it, `trim_messages` keeps a system message only with `include_system` and only at the front,
//! and `end_on` may take the newest message of the user.

mod clear;
mod partial;
mod summarization;
mod trim;

pub use clear::{ClearToolUses, clear_tool_uses};
pub use partial::Strategy;
pub use summarization::{Keep, summarization};
pub use trim::{Kind, Trim, trim};
