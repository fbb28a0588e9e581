//! Writes the whole output: to standard output, or to a file that is replaced atomically.

use super::format::OutputFormat;
use super::packing::packing;
use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind};
use convo::filter::materialize::LineJoiner;
use convo::format::Format;
use convo::format::packed::PackedObjects;
use convo::store::{Rewrite, write_atomically};
use std::io::Write;
use std::path::Path;

/// Replaces a file atomically.
pub fn rewrite(
    path: &Path,
    options: &Rewrite,
    label: &str,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // An error of the producer, such as a missing input, is returned unchanged.
    let mut inner = None;
    let write = |out: &mut dyn Write| {
        write(out).map_err(|error| {
            let stand_in = Error::new(ErrorKind::InputOutput, error.to_string());
            inner = Some(error);
            stand_in
        })
    };
    let done = write_atomically(path, write, options);
    if let Some(error) = inner {
        return Err(error);
    }
    // A missing directory is a write error, not a missing session.
    let done = done.map_err(|error| match error.kind {
        ErrorKind::NotFound => error.kind(ErrorKind::InputOutput),
        _ => error,
    });
    Ok(done.map_err(|error| named(error, label))?)
}

/// Writes to standard output, or atomically to the file of `-o`.
pub fn write_to(
    context: &Context,
    writing: OutputFormat<'_>,
    write: impl FnOnce(&mut LineJoiner<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    writing.check()?;
    // Each input begins on a new line.
    let write = |out: &mut dyn Write| {
        packing(context, writing.packing(), out, |out| {
            write(&mut LineJoiner::new(out))
        })
    };
    match &writing.args.output {
        None if context.output.has_json_diagnostics() && writing.to.is_none_or(Format::is_lines) => {
            context.output.stdout(|out| objects(out, write))
        }
        output => write_output(context, output.as_deref(), write),
    }
}

/// Writes to standard output, or atomically to this file.
pub fn write_output(
    context: &Context,
    output: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = output else {
        return context.output.stdout(write);
    };
    let options = Rewrite {
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    rewrite(path, &options, &path_name(path), write)
}

/// Writes the record stream as JSON objects only, for `--json`.
pub fn objects(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut objects = PackedObjects::new(out);
    let done = write(&mut objects);
    let finished = objects.finish().map_err(|error| Error::io("cannot write", error));
    done.and(finished.map_err(Into::into))
}
