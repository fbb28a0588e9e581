//! The retention policy of a session: how many turns are kept in full, which wait for a summary, the token limits,
//! and the handling of summarizer failures.
//!
//! [`RetentionState`] implements the policy without a session or a clock; [`plan`] applies it to new lines of a session,
//! [`due`] lists what to summarize.

mod estimate;
mod policy;
mod queue;
mod session;
mod set_policy;
#[cfg(test)]
mod tests;

pub use estimate::{TurnEstimate, shorten, turn_size};
pub use policy::{Cost, Enforced, RetentionRequest, RetentionState, ShownMemory};
pub use queue::{LinkedTurns, RetentionPart};
pub use session::{MemoryState, RetainedLines, TurnItems, due, memory_of, memory_state, plan, waiting_turns};
pub use set_policy::configure;
