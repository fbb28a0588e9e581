//! The value of a function that writes, without making its caller depend on its type.

use crate::terminal::terminal_filter::TerminalFilter;
use anyhow::Context as _;
use convo::error::Error;
use std::io::Write;

/// Output to be written.
pub type WriteOut<'w> = dyn FnMut(&mut dyn Write) -> anyhow::Result<()> + 'w;

/// The value of `write`, which `call` calls. It does not depend on the types, so that the compiler translates it once.
pub fn returned<T>(
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    call: impl FnOnce(&mut WriteOut<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<T> {
    let (mut write, mut value) = (Some(write), None);
    call(&mut |out| {
        value = write.take().map(|write| write(out)).transpose()?;
        Ok(())
    })?;
    value.context("standard output")
}

/// Writes output for a terminal, without control and direction characters.
pub fn filtered(out: &mut dyn Write, write: &mut WriteOut<'_>) -> anyhow::Result<()> {
    let mut filter = TerminalFilter::new(out);
    let done = write(&mut filter);
    filter.flush().map_err(|error| Error::io("cannot write", error))?;
    done
}
