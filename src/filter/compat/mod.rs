//! Imitates the trimming of other systems: computes their cut and applies convo's rules where they conflict.
//!
//! Each system is a module of pure functions over a [`History`]; its header lists the deliberate differences. The
//! result is a [`Choice`]: a reshaping of the view, the items to summarize, and whether the system's limit is met.
//! [`Way`] lists all strategies, here with the options of `convo compact` that each accepts in addition to
//! `--compat SYSTEM`:
//!
//! | system | way | options and keys |
//! |---|---|---|
//! | langchain | [`Way::Trim`] | `--budget N`, `keep-end=last\|first`, `start-on=ROLE,...`, `end-on=ROLE,...`, `include-system`, `allow-partial` |
//! | langchain | [`Way::ClearToolUses`] | `--mask-tools`, `--keep-tools N`, `--exclude-tool NAME`, `--mask-inputs`, `--tune mask.min-gain=N`, `placeholder=TEXT`; the trigger is `--when` |
//! | langchain | [`Way::Summarization`] | `--with PROGRAM` and `keep-messages=N` or `keep-tokens=N`; the trigger is `--when` |
//! | openai-agents | [`Way::LastItems`] | `keep-items=N` |
//! | openai-agents | [`Way::Candidates`] | `--with PROGRAM`; due from 10 items on |
//! | openai-agents | [`Way::TrimOutputs`] | `--tool-output-max N`, `preview=N`, `--keep-last N`, `only-tool=NAME` |
//! | picoclaw | [`Way::Picoclaw`] | `--budget N`: window; `--with PROGRAM`: summary; `half`: half |
//! | picoclaw | [`Way::Sanitise`] | `sanitize` |
//! | penguin | [`Way::Penguin`] | `--budget N` or `--window N` (of which it uses 85 %), `max-images=N`, `always` |
//! | penguiflow | [`Way::Penguiflow`] | `--keep-last ZONE`, `--budget TOTAL`, `--summary-budget N`, `--overflow POLICY`, `--with PROGRAM`: rolling summary; counts by its own estimate |
//! | goaitools | [`Way::Limits`] | `message-limit=N`, `token-limit=MAX[:TARGET]` with `prompt-tokens=P`, in the order given; `--when`: forced |
//! | goaitools | [`Way::Design`] | `--keep-last N`, or `--budget N`, or `--with PROGRAM` with `--keep-last N`; `--digest-tools` |
//!
//! The key `exact` selects [`Rules::Theirs`]: the system's own result, even if no provider would accept it.

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
#[cfg(test)]
mod tests;
mod way;

pub use choice::{Choice, Losses, Rules};
pub use history::{History, Measure};
pub use plan::plan;
pub use way::{System, Way};
