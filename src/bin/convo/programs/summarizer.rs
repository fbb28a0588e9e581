//! Selects the author of summaries: the built-in summarizer, or a program that reads a request and prints a text.

use crate::context::Context;
use crate::programs::external_program::{Named, Program};

/// The summarizer given on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum With {
    /// The built-in summarizer.
    #[default]
    Extract,
    /// An external program.
    Program(Named),
}

/// Maximum size of a summary in bytes.
pub const MOST: usize = 4 << 20;

impl With {
    /// Parses `extract`, `cmd:PROGRAM ARGS` or the name of a plugin.
    pub fn read(text: &str) -> Result<With, String> {
        match text {
            "extract" => Ok(With::Extract),
            text => Named::read(text, "extract, ").map(With::Program),
        }
    }

    /// The program to run; none for the built-in summarizer.
    pub fn program(&self, context: &Context) -> convo::Result<Option<Program>> {
        match self {
            With::Extract => Ok(None),
            With::Program(named) => named.program(context, "summarizer", &[]).map(Some),
        }
    }
}
