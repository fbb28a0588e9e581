//! `plugins`: lists the installed plugins.

use super::Run;
use crate::context::Context;
use clap::Args;
use convo::error::Error;

/// List installed plugins
///
/// Lists executables named convo-NAME on PATH or next to convo without running them. `convo NAME` runs a plugin, which
/// reads and writes streams, uses the same exit statuses, and receives CONVO (path of convo) and CONVO_STORE. Built-in
/// commands take precedence. Empty, relative and world-writable PATH entries are ignored.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo plugins
  convo help NAME                  show the help of a plugin")]
pub struct PluginsCommand {
    /// Print one object per plugin
    #[arg(long)]
    json: bool,
}

impl Run for PluginsCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.stdout(|out| {
            for (name, path) in crate::programs::plugin_command::installed() {
                let path = crate::output::path_name(&path);
                let line = if self.json {
                    serde_json::json!({"schema": "convo.plugin/1", "name": name, "path": path}).to_string()
                } else {
                    format!("{name}\t{path}")
                };
                writeln!(out, "{line}").map_err(|error| Error::io("cannot write", error))?;
            }
            Ok(())
        })
    }
}
