//! `plugins`: which programs are verbs too.

use super::Run;
use crate::context::Context;
use clap::Args;
use convo::error::Error;

/// List the plugins, without running them
///
/// A program `convo-NAME` on PATH, or in the folder of this program, is the verb `convo NAME`: it reads and writes streams
/// and ends with the same statuses. CONVO and CONVO_STORE in its environment name this program and the store. Verbs that are
/// built in win over plugins; empty, relative and world-writable entries of PATH are not searched.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo plugins
  convo help NAME                  asks the plugin for its help")]
pub struct Plugins {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Run for Plugins {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.stdout(|out| {
            for (name, path) in crate::plugin::installed() {
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
