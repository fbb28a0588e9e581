//! Compacts files: moves hidden lines from the log to an archive next to it.
//!
//! PicoClaw's own compaction clears the skip first, so an interruption restores hidden messages; the reverse order
//! would hide visible ones. Here placeholders, which no reader shows, replace removed lines until the skip is 0.

use super::Pair;
use crate::error::{Error, ErrorKind, Result};
use crate::format::picoclaw::{self, LOG, PLACEHOLDER};
use crate::store::atomic;
use crate::store::directory::{Directory, FileStat};
use crate::store::foreign::system::{Compaction, CompactionResult};
use crate::store::replace_file::{copy_metadata, hidden, refuse_writers};
use rustix::fs::OFlags;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// The archive directory next to the log; PicoClaw does not read subdirectories.
const DIRS: [&str; 2] = [".convo", "archive"];

/// The last completed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompactionStep {
    Archived,
    Placeholders,
    SkipCleared,
    Removed,
    Summarized,
    Replaced,
}

/// Moves hidden lines from the log to the archive; a skip of 0 means that there are none. Completes an interrupted
/// compaction. Every step preserves the view, so that an error does not change it and a repetition continues.
pub fn compact(path: &Path, options: &Compaction) -> Result<CompactionResult> {
    run(path, options, &mut |_| Ok(()))
}

/// The same with a callback after each step; an error of the callback stops there.
pub(super) fn run(
    path: &Path,
    options: &Compaction,
    done: &mut dyn FnMut(CompactionStep) -> Result<()>,
) -> Result<CompactionResult> {
    let mut pair = Pair::open(path, options.lock_timeout)?;
    pair.force = options.force;
    pair.compact(&options.now, done)
}

impl Pair {
    /// Moves the hidden lines of this session, see [`compact`].
    pub(super) fn compact(
        &mut self,
        now: &str,
        done: &mut dyn FnMut(CompactionStep) -> Result<()>,
    ) -> Result<CompactionResult> {
        let before = (self.bytes.len() as u64, self.raw_lines());
        let mut receipt = CompactionResult {
            bytes: (before.0, before.0),
            lines: (before.1, before.1),
            archived: 0,
        };
        let skip = self.sidecar.skip();
        let leading = picoclaw::raw_lines(&self.bytes)
            .take_while(|raw| raw.placeholder)
            .count();
        if skip == 0 && leading == 0 {
            if self.has_archive()? && self.sidecar.count() > before.1 {
                self.sidecar.set_count(before.1); // the last step of an interrupted compaction
                self.write_sidecar(now)?;
            }
            self.sync()?;
            return Ok(receipt);
        }
        self.refuse_shared()?;
        if skip > 0 {
            let cut = usize::try_from(skip).unwrap_or(usize::MAX);
            let cut_lines: Vec<_> = picoclaw::raw_lines(&self.bytes).take(cut).collect();
            let end = cut_lines.last().map_or(0, |last| last.end);
            // Placeholders represent lines that an interrupted compaction archived.
            let real: Vec<_> = cut_lines.iter().filter(|raw| !raw.placeholder).collect();
            if !real.is_empty() {
                let mut removed = Vec::new();
                for raw in &real {
                    push_line(&mut removed, &self.bytes[raw.start..raw.end]);
                }
                archive(&self.directory, &self.stem, &removed, self.timeout)?;
                receipt.archived = real.len() as u64;
                done(CompactionStep::Archived)?;
                let mut log: Vec<u8> = Vec::new();
                for _ in &cut_lines {
                    push_line(&mut log, PLACEHOLDER);
                }
                log.extend_from_slice(&self.bytes[end..]);
                self.replace_log(log)?;
                done(CompactionStep::Placeholders)?;
            }
            self.sidecar.set_skip(0);
            self.write_sidecar(now).map_err(interrupted)?;
            done(CompactionStep::SkipCleared)?;
        }
        // A program without locks may have restored the old skip, which would now hide messages.
        self.check_sidecar().map_err(interrupted)?;
        let placeholders = picoclaw::raw_lines(&self.bytes).take_while(|raw| raw.placeholder);
        let end = placeholders.last().map_or(0, |last| last.end);
        let rest = self.bytes[end..].to_vec();
        self.replace_log(rest).map_err(interrupted)?;
        done(CompactionStep::Removed)?;
        self.sidecar.set_count(self.raw_lines());
        self.write_sidecar(now).map_err(interrupted)?;
        receipt.bytes.1 = self.bytes.len() as u64;
        receipt.lines.1 = self.raw_lines();
        Ok(receipt)
    }

    /// Fails if the log has other hard links, or another program has it open for writing.
    pub(super) fn refuse_shared(&self) -> Result<()> {
        if self.force {
            return Ok(());
        }
        let shown = self.directory.shown(self.log_name());
        if self.facts.links > 1 {
            let message = format!("{shown}: has {} hard links", self.facts.links);
            return Err(Error::new(ErrorKind::Unsafe, message)
                .hint("the other links would keep the old content; proceed with --force"));
        }
        refuse_writers(&self.file, &shown)
    }
}

/// Appends a line, adding a missing newline.
pub(super) fn push_line(out: &mut Vec<u8>, full: &[u8]) {
    out.extend_from_slice(full);
    if !full.ends_with(b"\n") {
        out.push(b'\n');
    }
}

/// Reports an interruption; the view is unchanged, so the error may say that nothing changed.
pub(super) fn interrupted(error: Error) -> Error {
    error.hint("the view is unchanged; run the command again to finish")
}

impl Pair {
    /// Whether an archive of this log exists.
    pub(super) fn has_archive(&self) -> Result<bool> {
        let Some(own) = self.directory.inner(DIRS[0])? else {
            return Ok(false);
        };
        match own.inner(DIRS[1])? {
            Some(archive) => archive.has(&self.log_name()),
            None => Ok(false),
        }
    }

    /// Replaces the log with these bytes, plus lines that a program without locks appended meanwhile.
    pub(super) fn replace_log(&mut self, bytes: Vec<u8>) -> Result<()> {
        let name = self.log_name();
        let shown = self.directory.shown(&name);
        let path = self.directory.path().join(&name);
        let now = self.directory.facts(&name)?;
        if !now.is_some_and(|now| now.is_same_file(&self.facts)) {
            return Err(
                Error::new(ErrorKind::Locked, format!("{shown}: replaced by another program"))
                    .hint("run the command again"),
            );
        }
        let (old, force) = (self.facts, self.force);
        let file = atomic::replace_through(
            &self.directory,
            &name,
            hidden(name.as_ref()),
            &bytes,
            |file| copy_metadata(file, &old, &path, force),
            self.timeout,
        )?;
        let unsure = |error| Error::io(&shown, error).kind(ErrorKind::Unsure);
        let seen = self.bytes.len() as u64;
        let removed = std::mem::replace(&mut self.file, file); // holds the lock of the new file from here on
        self.facts = FileStat::of(&self.file).map_err(unsure)?;
        self.bytes = bytes;
        self.copy_appended(&removed, seen)
            .map_err(|error| match error.kind {
                ErrorKind::Unsure => error,
                _ => error.kind(ErrorKind::Unsure),
            })
    }

    /// Copies bytes appended to the old file since it was read.
    fn copy_appended(&mut self, old: &File, seen: u64) -> Result<()> {
        let name = self.log_name();
        let shown = self.directory.shown(&name);
        let failed = |error| Error::io(format!("{shown}: new lines"), error);
        let length = old.metadata().map_err(failed)?.len();
        if length <= seen {
            return Ok(());
        }
        let late = usize::try_from(length - seen).map_err(std::io::Error::other);
        let mut late = vec![0; late.map_err(failed)?];
        old.read_exact_at(&mut late, seen).map_err(failed)?;
        let file = self.directory.file(&name, OFlags::RDWR | OFlags::APPEND)?;
        let file = file.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
        let end = self.bytes.len() as u64;
        atomic::write_end(&file, &shown, end, &late)?;
        atomic::sync_end(&file, &shown, end, late.len())?;
        self.bytes.extend_from_slice(&late);
        Ok(())
    }
}

/// Appends lines to the archive, durably. Lines already at its end were written by an interrupted compaction and are
/// not repeated. Lines without a time cannot be distinguished from equal ones and are repeated rather than lost.
pub(super) fn archive(directory: &Directory, stem: &str, lines: &[u8], timeout: Duration) -> Result<()> {
    let mut dir = atomic::dir(directory, DIRS[0])?;
    dir = atomic::dir(&dir, DIRS[1])?;
    let name = format!("{stem}{LOG}");
    let shown = dir.shown(&name);
    let failed = |error| Error::io(&shown, error).kind(ErrorKind::InputOutput);
    let access = OFlags::RDWR | OFlags::APPEND;
    let Some((file, facts)) = atomic::open_locked(&dir, &name, None, access, timeout)? else {
        return if atomic::create(&dir, &name, lines)? {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::Locked,
                format!("{shown}: created by another program"),
            ))
        };
    };
    // Read one more byte, which must end the previous line.
    let tail = (lines.len() as u64 + 1).min(facts.size);
    let mut end = vec![0; usize::try_from(tail).map_err(|error| failed(std::io::Error::other(error)))?];
    file.read_exact_at(&mut end, facts.size - tail).map_err(failed)?;
    let ends_with = |part: &[u8]| {
        end.strip_suffix(part)
            .is_some_and(|before| before.last().is_none_or(|last| *last == b'\n'))
    };
    let timed = memchr::memmem::find(lines, br#""created_at""#).is_some();
    let mut rest = lines;
    let mut bytes = Vec::new();
    if end.last().is_some_and(|last| *last != b'\n') {
        // A partial write: keep a prefix of these lines; anything else is completed with a newline.
        match (1..lines.len()).rev().find(|length| ends_with(&lines[..*length])) {
            Some(length) => rest = &lines[length..],
            None => bytes.push(b'\n'),
        }
    } else if timed && ends_with(lines) {
        rest = &[];
    }
    bytes.extend_from_slice(rest);
    if !bytes.is_empty() {
        atomic::write_end(&file, &shown, facts.size, &bytes)?;
    }
    // Sync existing lines too, because their writer may have died before they, or the archive's name, were durable.
    atomic::sync_end(&file, &shown, facts.size, bytes.len())?;
    atomic::sync_directory(&dir)
}
