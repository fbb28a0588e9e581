//! Selects the author of summaries: the built-in summarizer, or a program that reads a request and prints a text.

use crate::context::Context;
use crate::programs::external_program::{ExternalProgram, ProgramName};

/// The summarizer given on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SummarizerSpec {
    /// The built-in summarizer.
    #[default]
    Extract,
    /// An external program.
    Program(ProgramName),
}

/// Maximum size of a summary in bytes.
pub const MAXIMUM: usize = 4 << 20;

impl SummarizerSpec {
    /// Parses `extract`, `cmd:PROGRAM ARGS` or the name of a plugin.
    pub fn read(text: &str) -> Result<SummarizerSpec, String> {
        match text {
            "extract" => Ok(SummarizerSpec::Extract),
            text => ProgramName::read(text, "extract, ").map(SummarizerSpec::Program),
        }
    }

    /// The program to run; none for the built-in summarizer.
    pub fn program(&self, context: &Context) -> convo::Result<Option<ExternalProgram>> {
        match self {
            SummarizerSpec::Extract => Ok(None),
            SummarizerSpec::Program(named) => named
                .program(context.store_path().ok(), "summarizer", &[])
                .map(Some),
        }
    }
}
