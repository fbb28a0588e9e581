//! Pieces as files of a directory: all of them, or none where a name is taken.

use super::report::Told;
use super::{Split, taken};
use crate::args::Input;
use crate::context::{Context, named};
use crate::inputs::each_session;
use crate::output::path_name;
use convo::error::{Error, Kind};
use convo::format::Format;
use convo::store::{Batch, Rewrite, Staged, make_folders, write_atomically};
use std::path::Path;

/// Writes the pieces of every session of the inputs, and prints the paths.
pub fn write(split: &Split, context: &Context, inputs: &[Input], folder: &Path) -> anyhow::Result<()> {
    make_folders(folder, 0o777).map_err(|error| Error {
        message: format!("cannot make {}", error.message),
        ..error
    })?;
    each_session(context, inputs, &split.reading, |label, session| {
        let planned = split.plan(context, label, &session)?;
        let bytes = |nth: usize| {
            let mut bytes = Vec::new();
            split.write(context, label, &planned, &session, nth, 1, &mut bytes)?;
            anyhow::Ok(bytes)
        };
        let format = split.writing.to.unwrap_or(Format::Native);
        let (ending, lines) = (format.form().ending, format.is_lines());
        let batch = Batch::in_folder(folder)?;
        let mut staged: Vec<Staged<'_>> = Vec::new();
        let mut paths = Vec::new();
        let mut documents = Vec::new();
        for nth in 0..planned.parts.len() {
            let id = planned.name(nth);
            let path = folder.join(format!("{id}{ending}"));
            paths.push(path_name(&path));
            let bytes = bytes(nth)?;
            // A link that leads nowhere is in the way too, and is told before anything is written.
            let is_link = std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink());
            match std::fs::read(&path) {
                Err(error) if is_link && error.kind() == std::io::ErrorKind::NotFound => {
                    let error = Error::new(Kind::Exists, "it is there already: a link that leads nowhere");
                    return Err(named(taken(error), &path_name(&path)).into());
                }
                Ok(there) if there == bytes || lines && there.strip_suffix(b"\n") == Some(&bytes) => continue,
                Ok(_) => {
                    let error = Error::new(Kind::Exists, "it is there already, and is another");
                    return Err(named(taken(error), &path_name(&path)).into());
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    let error = Error::io("cannot read", error).kind(Kind::InputOutput);
                    return Err(named(error, &path_name(&path)).into());
                }
            }
            if lines {
                staged.push(batch.stage(&id, bytes.split_inclusive(|byte| *byte == b'\n'))?);
            } else {
                documents.push((path, bytes));
            }
        }
        for (id, result) in batch.commit(staged) {
            result.map_err(|error| named(taken(error), &path_name(&folder.join(id))))?;
        }
        for (path, bytes) in documents {
            let options = Rewrite {
                lock_timeout: context.lock_timeout(),
                ..Rewrite::default()
            };
            let write = |out: &mut dyn std::io::Write| {
                out.write_all(&bytes)
                    .map_err(|error| Error::io("cannot write", error))
            };
            write_atomically(&path, write, &options).map_err(|error| named(error, &path_name(&path)))?;
        }
        Told::of(&planned, label, split.counts()).streamed(context, &planned);
        context.output.print_done(&paths.join("\n"))
    })
}
