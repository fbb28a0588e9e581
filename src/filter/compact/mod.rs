//! Fits a session into a budget.

pub mod digest;
pub mod event;
