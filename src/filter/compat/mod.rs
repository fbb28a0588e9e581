//! What other systems' trimming would keep of a view: their choice of cut, and where convo's rules win over it.
//!
//! Each system is a file of pure functions over a [`History`]; its head says what differs on purpose. What they
//! choose is a [`Choice`]: a reshaping of the view, the items that a summary is still to be made for, and whether
//! the system's limit is met. [`Way`] is the table of all of them, here with the options of `convo compact` that
//! each takes beside `--compat SYSTEM`:
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
//! The key `exact` takes [`Rules::Theirs`]: the system's own result, even where no provider would take it.

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
