//! Rewrites files in place and restores their originals.

use super::report::{SlimReport, SlimRow};
use super::source::SlimSource;
use super::{SlimCommand, named};
use crate::args::InputLocation;
use crate::context::Context;
use crate::homes::{self, HomeFile};
use crate::input::regular;
use convo::error::{Error, ErrorKind, Result};
use convo::model::key::HashWriter;
use convo::store::{FileStat, Rewrite, refuse_writers, sync_file, write_atomically};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// A file that may be rewritten because no program has it open.
struct SlimTarget<'p> {
    path: &'p Path,
    label: String,
    file: File,
    facts: FileStat,
    own: Option<HomeFile>,
}

impl SlimTarget<'_> {
    /// Refuses a session that a program is writing.
    fn refuse_running(&self, context: &Context, force: bool) -> Result<()> {
        let own = self.own.as_ref();
        own.map_or(Ok(()), |own| own.refuse_running(context, force))
    }
}

impl SlimCommand {
    fn target<'p>(&self, context: &Context, input: &'p InputLocation) -> anyhow::Result<SlimTarget<'p>> {
        if !self.dry_run {
            homes::complete_changes(context)?;
        }
        let option = if self.undo { "--undo" } else { "-i" };
        let label = input.label();
        let at = |error| named(error, &label);
        let needs_file = || Error::usage(format!("{option} requires a file"));
        let path = match input {
            InputLocation::Path(path) => path,
            InputLocation::Stdin => return Err(needs_file().into()),
            InputLocation::Name(_) | InputLocation::Row(..) => {
                return Err(at(self.opened(input).err().unwrap_or_else(needs_file)).into());
            }
        };
        context.refuse_running(path, self.force)?;
        let missing = || at(Error::new(ErrorKind::NotFound, "no such file"));
        let file = regular::open_target(path).map_err(at)?.ok_or_else(missing)?;
        let target = SlimTarget {
            path,
            facts: FileStat::of(&file).map_err(|error| at(Error::io("cannot read", error)))?,
            own: HomeFile::of(path)?,
            file,
            label,
        };
        target.refuse_running(context, self.force)?;
        refuse_writers(&target.file, &target.label).map_err(|error| error.hint("close it"))?;
        Ok(target)
    }

    fn rewrite(&self, context: &Context, facts: FileStat) -> Rewrite {
        Rewrite {
            read: Some(facts),
            keep_time: true,
            force: self.force,
            lock_timeout: context.lock_timeout(),
            ..Rewrite::default()
        }
    }

    /// Rewrites a file unless that saves almost nothing.
    pub fn replace(
        &self,
        context: &Context,
        input: &InputLocation,
        suffix: &str,
        report: &mut SlimReport,
    ) -> anyhow::Result<()> {
        let target = self.target(context, input)?;
        let label = &target.label;
        let at = |error| named(error, label);
        let again = target.file.try_clone();
        let again = again.map_err(|error| at(Error::io("cannot read", error)))?;
        let mut opened = SlimSource::of(again)
            .and_then(|source| self.open(source, Some(target.path)))
            .map_err(at)?;
        // Write the images durably before the session is rewritten.
        let (shares, sum) = opened.shares(&self.images(true)).map_err(at)?;
        let mut row = SlimRow::new(label.clone(), opened.format, shares);
        if row.is_small() {
            // A killed run may have rewritten the file without syncing it.
            sync_file(target.path).map_err(at)?;
            context
                .output
                .notice(label, &format!("unchanged: would save {}", row.saved()));
            report.add(row);
            return Ok(());
        }
        let archived = match (&target.own, suffix) {
            (Some(own), "") => Some(homes::keep(context, own, &sum).map_err(at)?),
            _ => None,
        };
        let options = Rewrite {
            backup: Some(suffix.into()).filter(|_| !suffix.is_empty()),
            ..self.rewrite(context, target.facts)
        };
        let write = |out: &mut dyn Write| {
            opened.write(&self.images(false), out)?;
            target.refuse_running(context, self.force)
        };
        write_atomically(target.path, write, &options).map_err(at)?;
        let kept = archived.map_or(String::new(), |name| {
            format!("; the original is in the archive: {name}")
        });
        context
            .output
            .notice(label, &format!("saved {}{kept}", row.saved()));
        row.is_written = true;
        report.add(row);
        Ok(())
    }

    /// Restores the archived original if the file has not changed since it was rewritten.
    pub fn restore_original(&self, context: &Context, input: &InputLocation) -> anyhow::Result<()> {
        let target = self.target(context, input)?;
        let label = &target.label;
        let at = |error| named(error, label);
        let Some(own) = &target.own else {
            let error = Error::new(ErrorKind::NotFound, "not a session in the home of a program");
            return Err(at(error.hint("a suffix keeps the original: move FILE+SUFFIX back")).into());
        };
        let mut sum = HashWriter::default();
        let read = std::io::copy(&mut &target.file, &mut sum);
        read.map_err(|error| at(Error::io("cannot read", error)))?;
        let original = homes::original(context, own, &sum.hex()).map_err(at)?;
        let word = match original {
            None => {
                // A killed run may have restored the file without syncing it.
                sync_file(target.path).map_err(at)?;
                "unchanged: this is the original"
            }
            Some(_) if self.dry_run => "would put the original back",
            Some(bytes) => {
                let write = |out: &mut dyn Write| {
                    let written = out.write_all(&bytes);
                    written.map_err(|error| Error::io("cannot write", error))?;
                    target.refuse_running(context, self.force)
                };
                write_atomically(target.path, write, &self.rewrite(context, target.facts)).map_err(at)?;
                "put the original back"
            }
        };
        context.output.notice(label, word);
        Ok(())
    }
}
