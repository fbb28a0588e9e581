//! Follows a growing input: a file, a stored session, or standard input.

use crate::args::{Following, InputLocation};
use crate::context::Context;
use crate::errors::named;
use crate::input::open::refuse_terminal;
use crate::input::{InputSessions, InputSettings};
use crate::output::is_pipe_closed;
use crate::programs::database;
use crate::programs::interrupt::Interrupt;
use convo::error::{Error, ErrorKind};
use convo::format::Format;
use convo::model::json::{self, Dialect};
use convo::model::message::Role;
use convo::model::session::{Class, Session};
use signal_hook::consts::SIGINT;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Poll interval.
const INTERVAL: Duration = Duration::from_millis(200);

/// How long a log must be unchanged before an answer written in several lines counts as complete.
const QUIET: Duration = Duration::from_millis(1500);

/// How long a file may be missing while it is replaced in two steps.
const MISSING: Duration = Duration::from_millis(1000);

/// Prints records: the number of their session in the input, the session, and the range of records.
pub type Print<'p> = &'p mut dyn FnMut(usize, &Session, Range<usize>) -> anyhow::Result<()>;

/// Follows the only input until it ends, the reader closes the output, or no change occurs for long enough.
pub fn follow(
    context: &Context,
    inputs: &[InputLocation],
    reading: InputSettings<'_>,
    following: Following,
    print: Print<'_>,
) -> anyhow::Result<()> {
    let [input] = inputs else {
        let error = Error::usage("--follow requires exactly one input");
        return Err(error.hint("run one command for each input").into());
    };
    let interrupt = Interrupt::new().map_err(|error| Error::io("cannot wait for signals", error))?;
    interrupt.hold();
    let mut source = ByteSource::open(context, input)?;
    let mut printed = Printed::default();
    let mut changed = Instant::now();
    let mut pause = INTERVAL;
    let mut is_first = true;
    loop {
        let news = match is_first {
            true => source.first(context, input)?,
            false => source.next(context, input, pause)?,
        };
        if let Some(signal) = interrupt.received() {
            if signal.0 != SIGINT {
                signal.end_program();
            }
            return Ok(());
        }
        if is_pipe_closed() {
            return Ok(());
        }
        if news == PollResult::Some || is_first {
            changed = Instant::now();
        }
        let quiet = news == PollResult::End || changed.elapsed() >= QUIET;
        if news != PollResult::None || (quiet && printed.waits) {
            let start = Instant::now();
            // Report findings only once.
            context.output.set_muted(!is_first);
            let bytes = source.bytes(input, news == PollResult::End)?;
            let done = printed.update(context, input, reading, bytes, quiet, print);
            context.output.set_muted(false);
            done?;
            // Limits the CPU time for a large document that changes often.
            pause = (start.elapsed() * 4).clamp(INTERVAL, 25 * INTERVAL);
            is_first = false;
        }
        let is_idle = following
            .until_idle
            .is_some_and(|limit| changed.elapsed() >= limit);
        if news == PollResult::End || (is_idle && !printed.waits) {
            return Ok(());
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PollResult {
    None,
    Some,
    End,
}

/// The origin of the bytes.
enum ByteSource {
    /// Standard input: the bytes so far, and a reader thread.
    Stdin(Vec<u8>, Receiver<io::Result<Vec<u8>>>),
    /// A file: its last state, and since when it is missing.
    File(Option<FileState>, Option<Instant>),
    /// A stored session, and the length of its log.
    Stored(String, u64),
}

/// Device, file, size and time of the last change.
type FileState = (u64, u64, u64, i64, i64);

impl ByteSource {
    fn open(context: &Context, input: &InputLocation) -> anyhow::Result<ByteSource> {
        Ok(match input {
            InputLocation::Name(name) => ByteSource::Stored(context.store()?.resolve(name)?, 0),
            InputLocation::Path(_) | InputLocation::Row(..) => ByteSource::File(None, None),
            InputLocation::Stdin => {
                refuse_terminal().map_err(|error| named(error, &input.label()))?;
                let (sender, receiver) = sync_channel(16);
                std::thread::spawn(move || {
                    let mut buffer = vec![0; 64 * 1024];
                    loop {
                        let read = match io::stdin().read(&mut buffer) {
                            Ok(0) => break,
                            Ok(length) => Ok(buffer[..length].to_vec()),
                            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                            Err(error) => Err(error),
                        };
                        let is_over = read.is_err();
                        if sender.send(read).is_err() || is_over {
                            break;
                        }
                    }
                });
                ByteSource::Stdin(Vec::new(), receiver)
            }
        })
    }

    /// The first poll, without waiting.
    fn first(&mut self, context: &Context, input: &InputLocation) -> anyhow::Result<PollResult> {
        self.next(context, input, Duration::ZERO)
    }

    /// Waits, then polls.
    fn next(
        &mut self,
        context: &Context,
        input: &InputLocation,
        pause: Duration,
    ) -> anyhow::Result<PollResult> {
        match self {
            ByteSource::Stdin(bytes, receiver) => {
                let mut news = PollResult::None;
                let mut wait = pause.max(Duration::from_millis(20));
                loop {
                    match receiver.recv_timeout(wait) {
                        Ok(read) => bytes.extend(read.map_err(|error| Error::io("cannot read", error))?),
                        Err(RecvTimeoutError::Timeout) => return Ok(news),
                        Err(RecvTimeoutError::Disconnected) => return Ok(PollResult::End),
                    }
                    news = PollResult::Some;
                    wait = Duration::ZERO;
                }
            }
            ByteSource::File(last, missing) => {
                std::thread::sleep(pause);
                let (InputLocation::Path(path) | InputLocation::Row(_, path, _)) = input else {
                    return Ok(PollResult::None);
                };
                match state(path, input) {
                    Ok(state) => {
                        *missing = None;
                        let is_new = last.replace(state) != Some(state);
                        Ok(if is_new {
                            PollResult::Some
                        } else {
                            PollResult::None
                        })
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound && last.is_some() => {
                        match missing.get_or_insert_with(Instant::now).elapsed() > MISSING {
                            true => Err(missing_input(input)),
                            false => Ok(PollResult::None),
                        }
                    }
                    Err(error) => Err(named(Error::open(error), &input.label()).into()),
                }
            }
            ByteSource::Stored(id, length) => {
                std::thread::sleep(pause);
                let reader = match context.store()?.reader(id) {
                    Err(error) if error.kind == ErrorKind::NotFound && *length > 0 => {
                        return Err(missing_input(input));
                    }
                    reader => reader?,
                };
                let is_new = std::mem::replace(length, reader.length()) != reader.length();
                Ok(if is_new {
                    PollResult::Some
                } else {
                    PollResult::None
                })
            }
        }
    }

    /// The complete lines, or the document; none for a stored session, or while a document is being written.
    fn bytes(&self, input: &InputLocation, is_over: bool) -> anyhow::Result<Option<Vec<u8>>> {
        let mut bytes = match (self, input) {
            (ByteSource::Stdin(bytes, _), _) => bytes.clone(),
            (_, InputLocation::Row(label, path, id)) => {
                return database::records(path, id)
                    .map(Some)
                    .map_err(|error| named(error, label).into());
            }
            (_, InputLocation::Path(path)) => match std::fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(named(Error::io("cannot read", error), &input.label()).into()),
            },
            _ => return Ok(None),
        };
        match complete(&bytes).filter(|_| !is_over) {
            Some(length) => bytes.truncate(length),
            None if is_over => {}
            None => return Ok(None),
        }
        Ok(Some(bytes))
    }
}

fn missing_input(input: &InputLocation) -> anyhow::Error {
    named(Error::new(ErrorKind::InputOutput, "was removed"), &input.label()).into()
}

/// The state of a file; of a database that of the log in which its newest messages are.
fn state(path: &Path, input: &InputLocation) -> io::Result<FileState> {
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    let log = matches!(input, InputLocation::Row(..)).then(|| std::fs::metadata(log).ok());
    let about = match log.flatten().filter(|about| about.len() > 0) {
        Some(about) => about,
        None => std::fs::metadata(path)?,
    };
    Ok((
        about.dev(),
        about.ino(),
        about.size(),
        about.mtime(),
        about.mtime_nsec(),
    ))
}

/// How many bytes are complete: all lines of a log except an unfinished one, or a whole document. None if nothing is
/// complete.
fn complete(bytes: &[u8]) -> Option<usize> {
    let is_value = |bytes: &[u8]| {
        let bytes = bytes.trim_ascii();
        json::value_end(bytes, 0, Dialect::Python) == Ok(bytes.len())
    };
    if !bytes.trim_ascii_start().starts_with(b"{") && !bytes.trim_ascii_start().starts_with(b"[") {
        return (!bytes.trim_ascii().is_empty()).then_some(bytes.len());
    }
    let last_line = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
    let first_line = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end);
    let is_log = is_value(&bytes[..first_line]);
    match is_log {
        true if is_value(&bytes[last_line..]) => Some(bytes.len()),
        true => Some(last_line).filter(|length| *length > 0),
        false => is_value(bytes).then_some(bytes.len()),
    }
}

/// The records printed so far.
#[derive(Default)]
struct Printed {
    /// Fingerprints of the printed records, per session of the input.
    sessions: Vec<Vec<u64>>,
    /// Whether a possibly incomplete message was held back.
    waits: bool,
}

impl Printed {
    /// Prints new records.
    fn update(
        &mut self,
        context: &Context,
        input: &InputLocation,
        reading: InputSettings<'_>,
        bytes: Option<Vec<u8>>,
        quiet: bool,
        print: Print<'_>,
    ) -> anyhow::Result<()> {
        let label = input.label();
        let opened = match (bytes, input) {
            (Some(bytes), _) => context.open_bytes(input, bytes, reading)?,
            (None, InputLocation::Name(_)) => context.open(input, reading)?,
            (None, _) => return Ok(()),
        };
        // These formats write every message as one record.
        let is_whole = quiet || matches!(opened.format, Format::Native | Format::Jsonl);
        self.waits = false;
        let mut nth = 0;
        let mut sessions = InputSessions::selected(context, opened, reading);
        while let Some(session) = sessions.next()? {
            if self.sessions.len() == nth {
                self.sessions.push(Vec::new());
            }
            let mut end = session.len();
            if let (false, Some(last)) = (is_whole, end.checked_sub(1))
                && matches!(session.class(last), Class::Message(traits) if traits.role == Role::Assistant)
            {
                end = last;
                self.waits = true;
            }
            let prints: Vec<u64> = (0..end).map(|index| fingerprint(&session, index)).collect();
            let before = &mut self.sessions[nth];
            let common = before
                .iter()
                .zip(&prints)
                .take_while(|(one, other)| one == other)
                .count();
            // A shorter file is being rewritten.
            if common < prints.len() {
                if common + 1 < before.len() {
                    let messages = session.messages().filter(|(index, _)| *index < common).count();
                    let what = format!("rewritten; continuing after the first {messages} messages");
                    context.output.set_muted(false);
                    context.output.notice(&label, &what);
                    context.output.set_muted(true);
                }
                *before = prints;
                sessions.accept_result(print(nth, &session, common..end))?;
            }
            nth += 1;
        }
        Ok(())
    }
}

/// Identifies a record. A header is identified by its session.
fn fingerprint(session: &Session, index: usize) -> u64 {
    if session.class(index) == Class::Header {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    session.full(index).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_lines_and_documents_are_read() {
        for (text, length) in [
            ("", None),
            ("{\"a\":1", None),
            ("{\"a\":1}", Some(7)),
            ("{\"a\":1}\n{\"b\"", Some(8)),
            ("{\"a\":1}\n{\"b\":2}", Some(15)),
            ("{\n\"a\":\n", None),
            ("{\n\"a\":\n1}\n", Some(10)),
            ("# aider\n> te", Some(12)),
        ] {
            assert_eq!(complete(text.as_bytes()), length, "{text:?}");
        }
    }
}
