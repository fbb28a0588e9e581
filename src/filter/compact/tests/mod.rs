//! The invariants of compaction, over random sessions, options and budgets. `CONVO_COMPACTIONS=100000` runs so many;
//! the invariants are numbered as they are named: I1 valid stays valid, I2 within the budget, I3 never more, I4 twice
//! is once, I5 order and verbatim text, I6 unknown members, I7 what must stay, I8 nothing is lost, I9 pending calls,
//! I10 same in, same out.

mod budgets;
mod case;
mod choices;
mod many;
mod marks;
mod needed;
mod newest;
mod pieces;
mod repeated;
pub(in crate::filter) mod sessions;
mod stays;
mod texts;
mod twice;
pub(in crate::filter) mod validity;
