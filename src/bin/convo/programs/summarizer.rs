//! Who writes summaries: the built-in summarizer, or a program that takes a request on its standard input and gives a
//! text on its standard output.

use crate::context::Context;
use crate::programs::external_program::{Named, Program};

/// Who writes the summary, as the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum With {
    /// The built-in summarizer.
    #[default]
    Extract,
    /// A program.
    Program(Named),
}

/// Most bytes of a summary: none is as long.
pub const MOST: usize = 4 << 20;

impl With {
    /// Reads `extract`, `cmd:PROGRAM ARGS` or the name of a plugin.
    pub fn read(text: &str) -> Result<With, String> {
        match text {
            "extract" => Ok(With::Extract),
            text => Named::read(text, "extract, ").map(With::Program),
        }
    }

    /// The program to ask; none for the built-in summarizer.
    pub fn program(&self, context: &Context) -> convo::Result<Option<Program>> {
        match self {
            With::Extract => Ok(None),
            With::Program(named) => named.program(context, "summarizer", &[]).map(Some),
        }
    }
}
