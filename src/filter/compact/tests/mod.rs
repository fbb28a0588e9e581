//! The invariants of compaction, over random sessions, options and budgets. `CONVO_COMPACTIONS=100000` sets the number
//! of cases. I1: valid sessions remain valid. I2: within the budget. I3: never larger. I4: idempotent. I5: order and
//! verbatim text. I6: unknown members. I7: required messages. I8: nothing is lost. I9: pending calls. I10: same input,
//! same output.

mod asked;
mod budgets;
mod case;
mod choices;
mod files;
mod joined;
mod lines;
mod many;
mod marks;
mod needed;
mod newest;
mod outcomes;
mod pieces;
mod repeated;
mod rules;
pub(in crate::filter) mod sessions;
mod spare;
mod stays;
mod texts;
mod twice;
pub(in crate::filter) mod validity;
mod widened;
