//! `generate`: manual pages, completions and the schema, made from the program itself.

use super::Run;
use crate::context::Context;
use clap::Args;

/// Make manual pages, completions or the JSON schema
#[derive(Args, Debug)]
pub struct Generate {}

impl Run for Generate {
    fn run(self, _: &Context) -> anyhow::Result<()> {
        Ok(())
    }
}
