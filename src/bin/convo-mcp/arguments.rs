//! The command line of `convo mcp`. The plugin and `convo generate`, which writes its manual page, both compile this file;
//! so it depends on clap alone.

use clap::Parser;

/// Offer sessions to a model, as an MCP server on standard input and output
///
/// Speaks the Model Context Protocol (JSON-RPC, one message per line). The tools `list`, `search`, `show` and `count` run the commands
/// of these names; none of them changes anything. They read the sessions of the store and those of other programs on this machine, by name.
///
/// Register it with a client as the command `convo mcp`. With `convo --store DIR mcp`, it serves the store in DIR.
#[derive(Parser, Debug)]
#[command(
    name = "convo mcp",
    bin_name = "convo mcp",
    version,
    max_term_width = 110,
    before_long_help = "Examples:
  claude mcp add convo -- convo mcp
  convo mcp --max-bytes 20000
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | convo mcp"
)]
pub struct McpArguments {
    /// Cut the result of a call after N bytes
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub max_bytes: u64,
    /// Also read files by path
    ///
    /// Otherwise a call that names a file is refused.
    #[arg(long)]
    pub files: bool,
}
