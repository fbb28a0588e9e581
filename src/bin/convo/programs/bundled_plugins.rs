//! Plugins that ship with this program: their command lines, for manual pages and completions.

use clap::{Command, CommandFactory};

// Compiled here only for its command line.
#[allow(dead_code, missing_docs)]
#[path = "../../convo-llm/arguments.rs"]
mod llm;
#[allow(dead_code, missing_docs)]
#[path = "../../convo-mcp/arguments.rs"]
mod mcp;

/// Name and command line of each.
pub fn all() -> [(&'static str, Command); 2] {
    [
        ("llm", llm::LlmArguments::command().name("llm")),
        ("mcp", mcp::McpArguments::command().name("mcp")),
    ]
}
