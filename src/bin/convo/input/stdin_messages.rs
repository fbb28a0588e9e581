//! Reads a text or groups of messages from standard input. A group is what arrived while the previous one was stored,
//! so a slow pipe is answered at once and a fast one in large groups.

use crate::args::{InputArgs, InputLocation};
use crate::context::Context;
use crate::errors::{named, stopped};
use crate::input::input_source;
use crate::output::count_of;
use convo::error::{Error, Position};
use convo::format::detect::{self, Hints};
use convo::format::lines::each_line;
use convo::format::packed::{is_packed, unpack};
use convo::format::report::Report;
use convo::format::{Converted, Format, Reader, native};
use convo::model::event::{Action, Event};
use convo::model::json::{self, ObjectBuilder, quoted};
use convo::model::record::{Record, RecordKind as Line};
use convo::store::foreign::has_sidecar;
use convo::tokens::{Tokenizer, counter};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Read size in bytes.
const BLOCK: usize = 256 * 1024;

/// Maximum group size in bytes; large enough that syncs cost little.
const GROUP: usize = 4 << 20;

/// After so many bytes at once, more are expected within [`PAUSE`], which is less than a sync takes.
const FAST: usize = 64 * 1024;
const PAUSE: Duration = Duration::from_millis(1);

/// The text that was given as an operand, or else standard input without one last newline.
pub fn text(given: Option<&String>, session: &InputLocation, command: &str) -> anyhow::Result<String> {
    if let Some(text) = given {
        return Ok(text.clone());
    }
    if *session == InputLocation::Stdin {
        let error = Error::usage("no text given: standard input is the session");
        return Err(error
            .hint(format!("give the text: convo {command} - TEXT < SESSION"))
            .into());
    }
    if std::io::stdin().is_terminal() {
        let error = Error::usage("no text given: standard input is a terminal");
        return Err(error
            .hint(format!("give the text, or pipe it in: convo {command} NAME TEXT"))
            .into());
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io("cannot read standard input", error))?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::data(format!("standard input: not UTF-8 (byte {at})"))
    })?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// Standard input as groups of lines.
pub struct Incoming {
    source: StdinSource,
    place: Position,
    left_out: DroppedLines,
    strict: bool,
    /// Whether events are accepted too.
    events: bool,
}

enum StdinSource {
    /// Whole lines as they come, read by a thread of its own.
    Lines(InputBlocks),
    /// A document that was read as a whole.
    Document(Converted),
}

struct InputBlocks {
    receive: Receiver<std::io::Result<Vec<u8>>>,
    /// Memory of blocks that are done with.
    give_back: SyncSender<Vec<u8>>,
}

/// What is known of the lines that follow some lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLines {
    /// They belong to the same group.
    Same,
    /// The group is complete, and more lines are there.
    More,
    /// The group is complete, and no more lines are there yet, or ever.
    None,
}

impl Incoming {
    /// Opens standard input and inspects its beginning.
    pub fn open(
        context: &Context,
        reading: &InputArgs,
        events: bool,
        report: &mut Report,
    ) -> anyhow::Result<Incoming> {
        if std::io::stdin().is_terminal() {
            return Err(Error::usage("no messages given: standard input is a terminal").into());
        }
        let (head, whole) = first_line()?;
        let is_blank = head.trim_ascii().is_empty();
        let format = match reading.from {
            Some(_) if whole && is_blank => Format::Native,
            Some(format) => format,
            None if is_blank => Format::Native,
            None => detected(context, &head, whole, reading.strict)?,
        };
        let source = if format.is_lines() {
            let (send, receive) = sync_channel(GROUP / BLOCK);
            let (give_back, used) = sync_channel(GROUP / BLOCK);
            std::thread::spawn(move || read_lines(head, whole, &send, &used));
            StdinSource::Lines(InputBlocks { receive, give_back })
        } else {
            let mut bytes = head;
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| Error::io("cannot read", error))?;
            let sessions =
                input_source::convert(format, None, &bytes, report).map_err(|error| named(error, "-"))?;
            StdinSource::Document(Converted::from(sessions))
        };
        Ok(Incoming {
            source,
            place: Position::default(),
            left_out: DroppedLines::default(),
            strict: reading.strict,
            events,
        })
    }

    /// Hands out lines: messages, events and damaged lines. Session lines are left out, since there is a session already. Lines up to
    /// the end of a group are to be stored; unless more of them are there, before this reads on.
    pub fn each_group(
        &mut self,
        report: &mut Report,
        mut each: impl FnMut(&[Record<'_>], NextLines) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let blocks = match &mut self.source {
            StdinSource::Document(document) => {
                let mut lines: Vec<Vec<u8>> = Vec::new();
                while let Some(record) = document.next(report)? {
                    if self.left_out.admits(&record, self.events) {
                        lines.push(record.body.to_vec());
                    }
                }
                if self.strict && report.is_damaged() {
                    return Err(stopped().into());
                }
                let place = Position { line: 1, offset: 1 };
                let records = lines.iter().map(|line| Record::parse(line, place));
                return each(&records.collect::<Vec<_>>(), NextLines::None);
            }
            StdinSource::Lines(blocks) => blocks,
        };
        let mut size = 0;
        let mut next = blocks.receive.recv().ok();
        while let Some(block) = next {
            let block = block.map_err(|error| Error::io("cannot read", error))?;
            size += block.len();
            let mut lines = Vec::new();
            let mut stop = None;
            let all = split(&block, &mut self.place);
            for (full, place) in &all {
                let record = Record::parse(full, *place);
                if let Err(error) = native::check(&record, report) {
                    stop = Some(named(error, "-"));
                } else if self.strict && report.is_damaged() {
                    stop = Some(stopped());
                }
                if stop.is_some() {
                    break;
                }
                if self.left_out.admits(&record, self.events) {
                    lines.push(record);
                }
            }
            // What has come meanwhile goes along.
            next = blocks
                .receive
                .recv_timeout(if size < FAST { Duration::ZERO } else { PAUSE })
                .ok();
            let then = match &next {
                Some(Ok(_)) if stop.is_none() && size < GROUP => NextLines::Same,
                Some(Ok(_)) if stop.is_none() => NextLines::More,
                _ => NextLines::None,
            };
            each(&lines, then)?;
            if let Some(error) = stop {
                return Err(error.into());
            }
            if then != NextLines::Same {
                size = 0;
            }
            drop(lines);
            drop(all);
            let _ = blocks.give_back.try_send(block);
            if next.is_none() {
                next = blocks.receive.recv().ok();
            }
        }
        Ok(())
    }

    pub fn report_dropped_lines(&self, context: &Context) {
        if self.left_out.headers > 0 {
            let what = format!("left out {} headers", self.left_out.headers);
            context.output.detail("-", &what);
        }
        let events: u64 = self.left_out.events.values().sum();
        if events > 0 {
            let kinds = self.left_out.events.iter();
            let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {kind}")).collect();
            let what = format!(
                "left out {} of another session: {}",
                count_of(events, "event"),
                kinds.join(", ")
            );
            context.output.notice("-", &what);
        }
    }
}

/// Events that a session may adopt from another one on request; not links, events of a single log, or unknown ones.
const ADOPTED: [&str; 7] = [
    "meta", "truncate", "compact", "summary", "restore", "attempt", "note",
];

/// Other events named in reports.
const OF_ONE_LOG: [&str; 6] = ["link", "split", "gc", "repair", "redact", "archive"];

/// Counts of dropped lines.
#[derive(Default)]
struct DroppedLines {
    headers: u64,
    /// Events by type.
    events: BTreeMap<&'static str, u64>,
}

impl DroppedLines {
    /// Whether to accept a line: messages, passthrough records and damaged lines, and with `events` also events.
    fn admits(&mut self, record: &Record<'_>, events: bool) -> bool {
        let event = match &record.kind {
            Line::Blank => return false,
            Line::Event(event) => event,
            _ => return true,
        };
        if event.is_header() {
            self.headers += 1;
            return false;
        }
        let name = event.name();
        if name == "foreign" || events && ADOPTED.contains(&name.as_ref()) && !cuts_all(event) {
            return true;
        }
        let known = ADOPTED.into_iter().chain(OF_ONE_LOG).find(|known| *known == name);
        *self.events.entry(known.unwrap_or("other")).or_default() += 1;
        false
    }
}

/// Whether an event hides all earlier messages, which is not intended in another session.
fn cuts_all(event: &Event<'_>) -> bool {
    matches!(event.action(), Action::Truncate(cut) if cut.before.is_none())
}

/// Reads standard input to its end, and sends what came as blocks of whole lines; `ended` when `rest` is all of it.
fn read_lines(
    mut rest: Vec<u8>,
    mut ended: bool,
    send: &SyncSender<std::io::Result<Vec<u8>>>,
    used: &Receiver<Vec<u8>>,
) {
    // There is no newline before it: a long line is not looked through again with every block.
    let mut searched = 0;
    loop {
        let end = if ended {
            rest.len()
        } else {
            memchr::memrchr(b'\n', &rest[searched..]).map_or(0, |at| searched + at + 1)
        };
        if end > 0 {
            let mut after = used.try_recv().unwrap_or_default();
            after.clear();
            after.extend_from_slice(&rest[end..]);
            rest.truncate(end);
            if send.send(Ok(std::mem::replace(&mut rest, after))).is_err() {
                return;
            }
        }
        if ended {
            return;
        }
        searched = rest.len();
        match more(&mut rest) {
            Ok(read) => ended = read == 0,
            Err(error) => {
                let _ = send.send(Err(error));
                return;
            }
        }
    }
}

/// Reads standard input once; interrupted reads are repeated.
fn more(bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    bytes.reserve(BLOCK);
    loop {
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(bytes)) {
            Err(rustix::io::Errno::INTR) => {}
            read => return Ok(read?),
        }
    }
}

/// The lines of a group, those of packed sessions among them, and their positions.
fn split<'g>(group: &'g [u8], at: &mut Position) -> Vec<(Cow<'g, [u8]>, Position)> {
    let mut lines = Vec::new();
    for full in each_line(group) {
        at.line += 1;
        let place = *at;
        at.offset += full.len() as u64;
        let content = is_packed(full)
            .then(|| unpack(&Record::parse(full, place)))
            .flatten();
        match content {
            Some(content) => {
                let inside = Position {
                    offset: place.offset.max(1),
                    ..place
                };
                lines.extend(each_line(&content).map(|line| (line.to_vec().into(), inside)));
            }
            None => lines.push((full.into(), place)),
        }
    }
    lines
}

/// Reads until there is a whole line that is not blank, or enough to tell the format, or no more.
fn first_line() -> anyhow::Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    loop {
        let read = more(&mut head).map_err(|error| Error::io("cannot read", error))?;
        if read == 0 {
            return Ok((head, true));
        }
        if head.len() >= detect::HEAD || memchr::memchr(b'\n', head.trim_ascii_start()).is_some() {
            return Ok((head, false));
        }
    }
}

fn detected(context: &Context, head: &[u8], whole: bool, strict: bool) -> anyhow::Result<Format> {
    let verdict = detect::detect(head, whole, Hints::default());
    match verdict.format {
        Some(format) if has_sidecar(format) && json::member(first(head), "role").is_some() => {
            Ok(Format::Jsonl)
        }
        Some(format) => {
            if !verdict.others.is_empty() {
                let others = verdict.others.join(", ");
                if strict {
                    return Err(Error::data(format!("ambiguous format: {}, {others}", format.name())).into());
                }
                context.output.notice(
                    "-",
                    &format!(
                        "ambiguous format: reading {}, also matches {others}",
                        format.name()
                    ),
                );
            }
            Ok(format)
        }
        None => Err(
            named(Error::data(format!("unknown format: {}", verdict.evidence)), "-")
                .hint(verdict.hint.unwrap_or_else(input_source::from_hint))
                .into(),
        ),
    }
}

fn first(head: &[u8]) -> &[u8] {
    &head[..memchr::memchr(b'\n', head).unwrap_or(head.len())]
}

/// Bytes of the id and the time that a message gets.
const STAMP_BYTES: usize = 80;

/// The stored form of a message that needs an id, and a time if it has none. None for a message with an id and for
/// any other line: their bytes are kept. If the session stores token counts, a rewritten line or one with a count of
/// unknown origin is counted.
pub fn stamped<T: AsRef<str>>(
    record: &Record<'_>,
    tokenizer: Option<Tokenizer>,
    stamp: impl FnOnce() -> convo::Result<(String, Option<T>)>,
) -> convo::Result<Option<Vec<u8>>> {
    let Some(message) = record.message() else {
        return Ok(None);
    };
    if !matches!(message.id, None | Some(b"\"\"")) {
        let counted = tokenizer.filter(|_| message.tokens.is_some());
        return Ok(counted.map(|tokenizer| counter::with_tokens(record.body.to_vec(), tokenizer)));
    }
    let (id, time) = stamp()?;
    let time = time.filter(|_| message.timestamp().is_none());
    let time = time.as_ref().map(AsRef::as_ref);
    let has_none = message.id.is_none() && (time.is_none() || message.timestamp.is_none());
    let built = if has_none {
        ObjectBuilder::continued(record.body, STAMP_BYTES).map(|mut line| {
            line.text("id", &id);
            if let Some(time) = time {
                line.text("timestamp", time);
            }
            line.finish()
        })
    } else {
        let (id, time) = (quoted(&id), time.map(quoted));
        let changes = [("id", Some(&id[..])), ("timestamp", time.as_deref())];
        let changes = &changes[..1 + usize::from(time.is_some())];
        json::with_members(record.body, changes).ok()
    };
    Ok(match tokenizer {
        Some(tokenizer) => built.map(|line| counter::with_tokens(line, tokenizer)),
        None => built,
    })
}
