//! What a session remembers by itself: how many turns stay whole, what waits for a summary, what there is room for,
//! and what happens when summaries fail.
//!
//! [`Machine`] is all of it, without a session and without a clock; [`plan`] adds to a session, [`due`] tells what is to
//! be summed up.

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
