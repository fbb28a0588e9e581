//! Imitates the trimming of other systems: computes their cut and applies convo's rules where they conflict.
//!
//! Each system is a module of pure functions over a [`CompatHistory`]; its header lists the deliberate differences. The
//! result is a [`ViewChanges`]: a reshaping of the view, the items to summarize, and whether the system's limit is met.
//! [`CompatStrategy`] lists all strategies, here with the options of `convo compact` that each accepts in addition to
//! `--compat SYSTEM`:
//!
//! | system | strategy | options and keys |
//! |---|---|---|
//! | langchain | [`CompatStrategy::Trim`] | `--budget N`, `keep-end=last\|first`, `start-on=ROLE,...`, `end-on=ROLE,...`, `include-system`, `allow-partial` |
//! | langchain | [`CompatStrategy::ClearToolUses`] | `--mask-tools`, `--keep-tools N`, `--exclude-tool NAME`, `--mask-inputs`, `--tune mask.min-gain=N`, `placeholder=TEXT`; the trigger is `--when` |
//! | langchain | [`CompatStrategy::Summarization`] | `--with PROGRAM` and `keep-messages=N` or `keep-tokens=N`; the trigger is `--when` |
//! | openai-agents | [`CompatStrategy::LastItems`] | `keep-items=N` |
//! | openai-agents | [`CompatStrategy::Candidates`] | `--with PROGRAM`; due from 10 items on |
//! | openai-agents | [`CompatStrategy::TrimOutputs`] | `--tool-output-max N`, `preview=N`, `--keep-last N`, `only-tool=NAME` |
//! | picoclaw | [`CompatStrategy::Picoclaw`] | `--budget N`: window; `--with PROGRAM`: summary; `half`: half |
//! | picoclaw | [`CompatStrategy::Sanitise`] | `sanitize` |
//! | penguin | [`CompatStrategy::Penguin`] | `--budget N` or `--window N` (of which it uses 85 %), `max-images=N`, `always` |
//! | penguiflow | [`CompatStrategy::Penguiflow`] | `--keep-last ZONE`, `--budget TOTAL`, `--summary-budget N`, `--overflow POLICY`, `--with PROGRAM`: rolling summary; counts by its own estimate |
//! | goaitools | [`CompatStrategy::Limits`] | `message-limit=N`, `token-limit=MAX[:TARGET]` with `prompt-tokens=P`, in the order given; `--when`: forced |
//! | goaitools | [`CompatStrategy::Design`] | `--keep-last N`, or `--budget N`, or `--with PROGRAM` with `--keep-last N`; `--digest-tools` |
//!
//! The key `exact` selects [`Precedence::Theirs`]: the system's own result, even if no provider would accept it.

mod choice;
pub mod goaitools;
mod history;
mod images;
pub mod langchain;
pub mod openai_agents;
pub mod penguiflow;
pub mod penguin;
pub mod picoclaw;
mod plan;
mod report;
mod strategy;
#[cfg(test)]
mod tests;

pub use choice::{Losses, Precedence, ViewChanges};
pub use history::{CompatHistory, MeasureFn};
pub use plan::plan;
pub use strategy::{CompatStrategy, CompatSystem};
