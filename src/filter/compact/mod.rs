//! Fits a session into a budget.

pub mod event;
