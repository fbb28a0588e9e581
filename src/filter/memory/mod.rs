//! The retention policy of a session: how many turns are kept in full, which wait for a summary, the token limits,
//! and the handling of summarizer failures.
//!
//! [`Machine`] implements the policy without a session or a clock; [`plan`] applies it to new lines of a session,
//! [`due`] lists what to summarize.

mod configure;
mod estimate;
mod machine;
mod queue;
mod session;
#[cfg(test)]
mod tests;

pub use configure::configure;
pub use estimate::{Estimate, shorten, turn_size};
pub use machine::{Cost, Enforced, Machine, Part, Request, Shown};
pub use queue::List;
pub use session::{Items, Remembered, Standing, due, memory_of, plan, standing, waiting};
