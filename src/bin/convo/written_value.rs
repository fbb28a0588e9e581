//! Functions that write to standard output: how to call one without depending on the type of its value, and a filter for terminals.

use crate::terminal::terminal_filter::TerminalFilter;
use anyhow::Context as _;
use convo::error::Error;
use std::io::Write;

/// A function that writes output.
pub type WriteOut<'w> = dyn FnMut(&mut dyn Write) -> anyhow::Result<()> + 'w;

/// The value of `write`, which `call` gets as a function without a value. So `call` does not depend on the type of the value, and
/// the compiler translates it once.
pub fn returned<T>(
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    call: impl FnOnce(&mut WriteOut<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<T> {
    let (mut write, mut value) = (Some(write), None);
    call(&mut |out| {
        value = write.take().map(|write| write(out)).transpose()?;
        Ok(())
    })?;
    value.context("nothing was written")
}

/// Writes for a terminal, without control and direction characters.
pub fn write_filtered(out: &mut dyn Write, write: &mut WriteOut<'_>) -> anyhow::Result<()> {
    let mut filter = TerminalFilter::new(out);
    let done = write(&mut filter);
    filter.flush().map_err(|error| Error::io("cannot write", error))?;
    done
}
