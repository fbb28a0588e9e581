//! Removes secrets of a session permanently, from its log and all other data of the store. The log is replaced last,
//! together with the event that reports the change, so that after a crash the next run completes it.

use super::directory::Directory;
use super::gc::ARCHIVE;
use super::locked_log::LockedLog;
use super::log::{self, LogChain, Verdict, digits_of, seal};
use super::network::CACHE;
use super::trash::DATA_DIRECTORIES;
use super::{Store, atomic, replace_file, run_file};
use crate::error::{Error, ErrorKind, Result};
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::View;
use std::io::Cursor;
use std::ops::Range;

/// Replaces the lines of a session.
pub trait Redaction {
    /// Inspects all bytes before the first line is replaced.
    fn prepare(&mut self, bytes: &[u8]);

    /// The new bytes of a line of this file; none if it is unchanged. Lines have neither newline nor checksum.
    ///
    /// # Errors
    /// Fails for a line that must not change; then nothing is changed.
    fn line(&mut self, file: &str, number: u64, line: &[u8]) -> Result<Option<Vec<u8>>>;

    /// The event that reports the changes of these files.
    fn event(&mut self, files: &[Redacted]) -> Vec<u8>;
}

/// A file of the store with changed lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// Its path in the store.
    pub file: String,
    /// Number of changed lines.
    pub lines: u64,
}

/// A file of lines after the change.
struct RedactedLines {
    bytes: Vec<u8>,
    chain: LogChain,
    lines: u64,
}

type Change<'c> = &'c mut dyn FnMut(u64, &[u8]) -> Result<Option<Vec<u8>>>;

/// Replaces lines of a log: a line with a valid checksum gets a new valid one, a line with a wrong checksum another
/// wrong one.
fn relined_log(log: &[u8], change: Change<'_>) -> Result<RedactedLines> {
    let (mut old, mut new) = (LogChain::default(), LogChain::default());
    let mut out = Vec::with_capacity(log.len());
    let mut lines = 0;
    for (number, line) in (1..).zip(log.split_inclusive(|byte| *byte == b'\n')) {
        let verdict = old.verify(line);
        let ended = line.strip_suffix(b"\n").unwrap_or(line);
        let bare = log::strip(ended);
        let changed = change(number, &bare)?;
        lines += u64::from(changed.is_some());
        if lines == 0 {
            out.extend_from_slice(line);
            new = old;
            continue;
        }
        let body = changed.as_deref().unwrap_or(&bare);
        let covered = body.strip_suffix(b"}").filter(|_| digits_of(ended).is_some());
        let Some(covered) = covered else {
            let start = out.len();
            out.extend_from_slice(body);
            out.extend_from_slice(&line[ended.len()..]);
            new.pass(&out[start..]);
            continue;
        };
        let mut digits = new.close(covered);
        if verdict == Verdict::Broken {
            digits = digits.map(|digit| if digit == b'0' { b'f' } else { b'0' });
            new = LogChain::behind(covered, digits);
        }
        out.extend_from_slice(covered);
        out.extend_from_slice(&seal(digits));
        out.extend_from_slice(&line[ended.len()..]);
    }
    Ok(RedactedLines {
        bytes: out,
        chain: new,
        lines,
    })
}

/// Replaces lines in the runs of a file; returns the number of changed lines. Runs with the first mark get the
/// second.
fn relined_runs(file: &[u8], marks: (&str, &str), change: Change<'_>) -> Result<(Vec<u8>, u64)> {
    let (mut out, mut lines, mut from) = (Vec::with_capacity(file.len()), 0, 0);
    let mut relined = |range: Range<usize>| -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(range.len());
        let first = 1 + memchr::memchr_iter(b'\n', &file[..range.start]).count() as u64;
        for (number, line) in (first..).zip(file[range].split_inclusive(|byte| *byte == b'\n')) {
            let ended = line.strip_suffix(b"\n").unwrap_or(line);
            let changed = change(number, &log::strip(ended))?;
            lines += u64::from(changed.is_some());
            match changed {
                Some(new) => out.extend([&new[..], &line[ended.len()..]].concat()),
                None => out.extend_from_slice(line),
            }
        }
        Ok(out)
    };
    let runs = run_file::runs(&mut Cursor::new(file)).map_err(|error| Error::io("cannot read", error))?;
    // Offsets in memory.
    let own = |range: Range<u64>| range.start as usize..range.end as usize;
    for run in runs {
        let whole = own(run.start..run.end);
        out.extend(relined(from..whole.start)?);
        let bytes = relined(own(run.bytes.clone()))?;
        match run_file::rewritten_run(&run, marks, &bytes) {
            Some(again) => out.extend(again),
            None => out.extend_from_slice(&file[whole.clone()]),
        }
        from = whole.end;
    }
    out.extend(relined(from..file.len())?);
    Ok((out, lines))
}

/// A file next to the log.
struct AdjacentFile {
    dir: Directory,
    name: String,
    bytes: Vec<u8>,
    shown: String,
}

/// Parses the session in a log.
fn session_of(log: &[u8]) -> Session {
    let mut session = Session::default();
    for line in log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        session.push_new(&log::strip(line));
    }
    session
}

/// The ids of the messages in the view, which a change of texts must not affect.
fn view(session: &Session) -> Vec<Option<String>> {
    let view = View::replay(session);
    let id = |message: crate::model::message::Message<'_>| message.id().map(|id| id.into_owned());
    view.messages(session).map(id).collect()
}

impl Store {
    /// Replaces lines of a session in its log, the archive, the quarantine and the trash, and appends an event that
    /// reports it; returns the changed files. A log that another program has open is [`ErrorKind::Locked`].
    pub fn redact(&self, id: &str, redaction: &mut dyn Redaction, dry_run: bool) -> Result<Vec<Redacted>> {
        let locked = LockedLog::open(self, key::checked_id(id)?)?;
        let session = locked.lines(Session::default())?.session;
        let bytes = locked.read()?;
        let shown = locked.sessions.shown(&locked.name);
        replace_file::refuse_writers(&locked.file, &shown)
            .map_err(|error| error.hint("nothing was changed; close it first"))?;
        let archive = self.directory().inner(ARCHIVE)?;
        if !dry_run {
            locked.sweep(archive.as_ref());
            if let Some(archive) = &archive {
                self.trim_archive(&locked, &session, archive)?;
            }
        }
        let others = self.other_files(id, &locked, dry_run)?;
        redaction.prepare(&bytes);
        others.iter().for_each(|file| redaction.prepare(&file.bytes));

        // The log first, so that placeholders are numbered in the order of the conversation.
        let own = format!("sessions/{}", locked.name);
        let mut log = relined_log(&bytes, &mut |number, line| redaction.line(&own, number, line))?;
        let back = session_of(&log.bytes);
        if view(&back) != view(&session) {
            let what = "redaction would change which messages are visible; nothing was changed";
            return Err(Error::data(what).hint("leave out ids: --not KIND, or another --name"));
        }
        let marks = (super::gc::known_by(&session), super::gc::known_by(&back));
        let mut changed = Vec::new();
        let mut planned = Vec::new();
        if log.lines > 0 {
            changed.push(Redacted {
                file: own,
                lines: log.lines,
            });
        }
        for file in &others {
            let mut change = |number: u64, line: &[u8]| redaction.line(&file.shown, number, line);
            let (bytes, lines) = if file.name == locked.name {
                relined_runs(&file.bytes, (&marks.0, &marks.1), &mut change)?
            } else {
                let log = relined_log(&file.bytes, &mut change)?;
                (log.bytes, log.lines)
            };
            if bytes != file.bytes {
                planned.push((file, bytes));
            }
            if lines > 0 {
                changed.push(Redacted {
                    file: file.shown.clone(),
                    lines,
                });
            }
        }
        if dry_run {
            return Ok(changed);
        }
        // A killed run may have changed files without syncing.
        others
            .iter()
            .try_for_each(|file| atomic::sync_directory(&file.dir))?;
        if changed.is_empty() {
            atomic::sync_directory(locked.sessions)?;
            self.forget_texts(id)?;
            return Ok(changed);
        }
        // Report only changes of the log, which are the same after an interrupted run.
        let reported = if log.lines > 0 { &changed[..1] } else { &changed };
        let mut event = redaction.event(reported);
        event.pop();
        let digits = log.chain.close(&event);
        log.bytes.extend(event);
        log.bytes.extend(seal(digits));
        log.bytes.push(b'\n');
        let begun = !planned.is_empty();
        let write = || {
            for (file, bytes) in &planned {
                atomic::replace(&file.dir, &file.name, bytes, self.lock_timeout)?;
            }
            locked.replace(self, &mut |out| atomic::put_bytes(out, &shown, &log.bytes))
        };
        let unsure = |error: Error| match begun {
            true => error
                .kind(ErrorKind::Unsure)
                .hint("some files may be redacted already; run the command again"),
            false => error,
        };
        write().map_err(unsure)?;
        self.forget_texts(id)
            .map_err(|error| error.kind(ErrorKind::Unsure))?;
        Ok(changed)
    }

    /// All other data that the store keeps of a session.
    fn other_files(&self, id: &str, locked: &LockedLog<'_>, dry_run: bool) -> Result<Vec<AdjacentFile>> {
        let temporary = atomic::temporary_name(&locked.name);
        let mut found = Vec::new();
        for (dir, names) in self.files_besides_log(id, &DATA_DIRECTORIES)? {
            let place = dir.path().file_name().unwrap_or_default().display().to_string();
            for name in names {
                if name == temporary {
                    // Left by a process that died.
                    if !dry_run {
                        atomic::remove_dead_file(&dir, &name);
                    }
                    continue;
                }
                found.push(AdjacentFile {
                    bytes: run_file::read(&dir, &name)?,
                    shown: format!("{place}/{name}"),
                    dir: dir.duplicate()?,
                    name,
                });
            }
        }
        Ok(found)
    }

    /// Removes cached texts of the session, durably.
    fn forget_texts(&self, id: &str) -> Result<()> {
        self.forget_view(id);
        self.forget_overviews();
        match self.directory().inner(CACHE)? {
            Some(cache) => atomic::sync_directory(&cache),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::tests::{stored, verdicts};

    #[test]
    fn lines_change_and_damage_remains_damage() {
        let line = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let lines = [
            line("a"),
            line("secret"),
            "secret by hand".to_string(),
            line("b"),
            line("c"),
            line("d"),
        ];
        let sound = stored(&lines.each_ref().map(String::as_str));
        let mut damaged = sound.clone();
        let at = memchr::memmem::find(&damaged, b"\"b\"").unwrap();
        damaged[at + 1] ^= 1;
        for log in [sound, damaged] {
            let mut numbers = Vec::new();
            let new = relined_log(&log, &mut |number, line| {
                let text = std::str::from_utf8(line).unwrap();
                numbers.push(number);
                Ok(text
                    .contains("secret")
                    .then(|| text.replace("secret", "gone").into_bytes()))
            });
            let new = new.unwrap();
            assert_eq!((new.lines, numbers.len()), (2, 6));
            assert_eq!(verdicts(&new.bytes), verdicts(&log));
            let first = memchr::memchr(b'\n', &log).unwrap();
            assert_eq!(new.bytes[..first], log[..first]);
            let text = String::from_utf8_lossy(&new.bytes).into_owned();
            assert!(
                text.contains("\"gone\"") && text.contains("\ngone by hand\n") && !text.contains("secret")
            );
        }
    }
}
