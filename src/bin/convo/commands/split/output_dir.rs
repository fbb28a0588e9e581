//! Writes parts as files of a directory: all parts of a session, or none if a name is taken.

use super::command::{SplitCommand, with_name_hint};
use super::report::SplitReport;
use crate::args::InputLocation;
use crate::context::Context;
use crate::errors::named;
use crate::input::each_session;
use crate::input::regular::{FileTarget, read_target};
use crate::output::path_name;
use crate::writing::{Export, OutputFormat, packing};
use convo::error::{Error, ErrorKind, Result};
use convo::model::key::checked_id;
use convo::model::session::Session;
use convo::store::{Batch, Staged, make_dirs};
use std::collections::HashSet;
use std::path::Path;

/// Files that are synced and renamed together.
const GROUP: usize = 4096;

/// Writes the parts of every session of the inputs, and prints the paths.
pub fn write(
    split: &SplitCommand,
    context: &Context,
    inputs: &[InputLocation],
    dir: &Path,
    writing: OutputFormat<'_>,
) -> anyhow::Result<()> {
    make_dirs(dir, 0o777).map_err(|error| Error {
        message: format!("cannot create {}", error.message),
        ..error
    })?;
    let batch = Batch::in_dir(dir)?;
    let mut files = StagedFiles {
        split,
        context,
        writing,
        dir,
        batch: &batch,
        staged: Vec::new(),
        names: HashSet::new(),
        paths: Vec::new(),
    };
    let read = each_session(context, inputs, &split.reading, |label, session| {
        files.add(label, &session)
    });
    files.commit()?;
    read
}

/// Files that are staged for the directory.
struct StagedFiles<'b> {
    split: &'b SplitCommand,
    context: &'b Context,
    writing: OutputFormat<'b>,
    dir: &'b Path,
    batch: &'b Batch,
    staged: Vec<Staged<'b>>,
    names: HashSet<String>,
    /// Paths of all files since the last commit, including files that already existed.
    paths: Vec<String>,
}

impl StagedFiles<'_> {
    /// Writes the parts of a session under temporary names.
    fn add(&mut self, label: &str, session: &Session) -> anyhow::Result<()> {
        let (split, context) = (self.split, self.context);
        let planned = split.plan(context, label, session)?;
        let export = Export::new(context, label, self.writing, split.reading.strict);
        let format = export.to;
        let ending = format.spec().ending;
        let names: Vec<String> = (0..planned.parts.len())
            .map(|nth| format!("{}{ending}", planned.name(nth)))
            .collect();
        // An earlier session uses one of these names: commit it first, so that the comparison below finds its file.
        if names.iter().any(|name| self.names.contains(name)) {
            self.commit()?;
        }
        let mut staged = Vec::new();
        for (nth, name) in names.iter().enumerate() {
            let mut bytes = Vec::new();
            // A file has one session: it is packed only on request.
            let packs = self.writing.args.packing.pack;
            packing(context, packs.into(), &mut bytes, |out| {
                split.write(&export, &planned, session, nth, 1, out)
            })?;
            if format.is_lines() && !bytes.is_empty() && !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            let path = self.dir.join(name);
            if !has_content(&path, &bytes).map_err(|error| named(with_name_hint(error), &path_name(&path)))? {
                let id = planned.name(nth);
                staged.push(match format.is_lines() {
                    true => self
                        .batch
                        .stage(&id, bytes.split_inclusive(|byte| *byte == b'\n'))?,
                    false => self
                        .batch
                        .stage_files(checked_id(&id)?, [(name.as_str(), bytes.as_slice())])?,
                });
            }
        }
        self.staged.append(&mut staged);
        let paths = names.iter().map(|name| path_name(&self.dir.join(name)));
        self.paths.extend(paths);
        self.names.extend(names);
        SplitReport::of(&planned, label, split.counts()).streamed(context, &planned);
        if self.staged.len() >= GROUP {
            self.commit()?;
        }
        Ok(())
    }

    /// Makes the files durable, gives them their names and prints them.
    fn commit(&mut self) -> anyhow::Result<()> {
        for (id, result) in self.batch.commit(std::mem::take(&mut self.staged)) {
            result.map_err(|error| named(with_name_hint(error), &path_name(&self.dir.join(id))))?;
        }
        self.names.clear();
        match std::mem::take(&mut self.paths) {
            paths if paths.is_empty() => Ok(()),
            paths => self.context.output.print_done(&paths.join("\n")),
        }
    }
}

/// Whether the file exists with this content; [`ErrorKind::Exists`] if its content differs.
fn has_content(path: &Path, bytes: &[u8]) -> Result<bool> {
    match read_target(path, bytes.len())? {
        FileTarget::None => Ok(false),
        FileTarget::SameSize(there) if there == bytes => Ok(true),
        _ => Err(Error::new(
            ErrorKind::Exists,
            "the file exists with different content",
        )),
    }
}
