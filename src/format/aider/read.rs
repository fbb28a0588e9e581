//! Reads a file as sessions, one at a time.

use super::line::{self, AiderLineKind, NAME, without_outer};
use crate::error::{Position, Result};
use crate::format::concatenated_logs::{LogSplitter, SessionLines};
use crate::format::kit::records::passthrough;
use crate::format::lines::placed_lines;
use crate::format::native::{HeaderBuilder, HeaderSource};
use crate::format::report::Report;
use crate::format::{DocumentSource, Format, SessionInput, SessionReader};
use crate::model::json::{ObjectBuilder, quoted};
use crate::model::record::body_of;
use crate::model::session::Session;
use crate::model::{event, key, time};

/// Opens a file.
pub fn open(input: SessionInput) -> Result<Box<dyn SessionReader>> {
    Ok(Box::new(Histories {
        name: input.name.clone(),
        pieces: LogSplitter::new(input),
        sessions: 0,
        dated: false,
    }))
}

/// The sessions of a file.
struct Histories {
    pieces: LogSplitter,
    name: Option<String>,
    sessions: usize,
    /// Whether a session with a start time was found.
    dated: bool,
}

/// A note that is reported once per file.
const LOCAL: &str = "timestamps without time zone read as local time";
const PEOPLE: &str =
    "a log without ids, timestamps and tool calls; quotes (> ) and headings (#### ) in replies are ambiguous";
const GUESSED: &str = "no start line of an aider session; read as chat history because of lines with ####";

impl SessionReader for Histories {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let begins = |line: &[u8]| line::start_time(without_ending(line)).is_some();
        while let Some(piece) = self.pieces.next(begins)? {
            if let Some(session) = self.session(&piece, report) {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }
}

fn without_ending(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

impl Histories {
    /// Converts a section of the file to a session; `None` if it has neither a start line nor content.
    fn session(&mut self, piece: &SessionLines, report: &mut Report) -> Option<Session> {
        let mut lines = piece.bytes.split(|byte| *byte == b'\n');
        let first = lines.clone().next().unwrap_or_default();
        let began = line::start_time(body_of(first, piece.start));
        let has_content = |line: &[u8]| !matches!(line::kind(line), AiderLineKind::Empty(_));
        if began.is_none() && !lines.any(has_content) {
            return None;
        }
        self.sessions += 1;
        if self.sessions == 1 {
            report.note(Position::default(), PEOPLE);
            if began.is_none() && self.pieces.is_last() {
                report.note(Position::default(), GUESSED);
            }
        }
        if began.is_some() && !std::mem::replace(&mut self.dated, true) {
            report.note(Position::default(), LOCAL);
        }
        let created = began.and_then(time::read).map(|read| read.time);
        let mut session = Session::default();
        session.push_new(&self.header(piece, created.as_deref()));
        let mut runs = Runs {
            session,
            at: created.unwrap_or_else(|| event::EPOCH.to_string()),
            open: None,
            asked: false,
            cleared: false,
        };
        for (full, place) in placed_lines(&piece.bytes, piece.start) {
            runs.line(full, place, report);
        }
        runs.close();
        Some(runs.session)
    }

    fn header(&self, piece: &SessionLines, created: Option<&str>) -> Vec<u8> {
        let source = DocumentSource {
            name: self.name.as_deref(),
            ..DocumentSource::alone(&piece.bytes)
        };
        let mut metadata = ObjectBuilder::default();
        metadata.text("imported", NAME);
        let mut header = HeaderBuilder::default();
        header.text("created_at", created);
        let source = HeaderSource::of(Format::Aider, &source);
        let name = format!("{}#{}", source.name, self.sessions);
        let id = header.named(&source, Some(&name), 0);
        header.raw("metadata", metadata.finish());
        header.finish(&id)
    }
}

/// Adjacent lines of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineRun {
    User,
    Reply,
    Console,
}

/// The runs of a session, the last of which is open.
struct Runs {
    session: Session,
    /// The time of the session.
    at: String,
    open: Option<OpenRun>,
    /// Whether the last user message asked to clear the history.
    asked: bool,
    /// Whether the history was cleared and no message followed yet.
    cleared: bool,
}

struct OpenRun {
    run: LineRun,
    text: String,
    place: Position,
}

/// User messages that clear the history, and the console output that confirms it.
const ASKS: [&str; 2] = ["/clear", "/reset"];
const CLEARED: &str = "chat history cleared";

impl Runs {
    fn line(&mut self, full: &[u8], place: Position, report: &mut Report) {
        let body = match place.offset {
            0 => body_of(full, place),
            _ => without_ending(full),
        };
        let (run, text) = match line::kind(body) {
            AiderLineKind::User(typed) => (LineRun::User, typed),
            AiderLineKind::Console(text) => (LineRun::Console, text),
            AiderLineKind::Reply(text) => (LineRun::Reply, text),
            AiderLineKind::Empty(text) => {
                return match &mut self.open {
                    Some(open) if open.run != LineRun::User => open.add(text),
                    _ => self.close(),
                };
            }
            AiderLineKind::Begins => return self.close(),
            AiderLineKind::Unreadable(valid) => {
                self.close();
                let mut at = place;
                at.offset += valid as u64;
                report.damage(at, "not UTF-8");
                return self.session.push_ended(full, place);
            }
        };
        match &mut self.open {
            Some(open) if open.run == run => open.add(text),
            _ => {
                self.close();
                self.open = Some(OpenRun {
                    run,
                    text: text.to_string(),
                    place,
                });
            }
        }
    }

    /// Closes the open run.
    fn close(&mut self) {
        let Some(OpenRun { run, text, place }) = self.open.take() else {
            return;
        };
        let record = match run {
            LineRun::Console => {
                self.cleared |= self.asked && text.contains(CLEARED);
                passthrough(NAME, &quoted(without_outer(&text)))
            }
            LineRun::User | LineRun::Reply => {
                if std::mem::take(&mut self.cleared) {
                    self.cut(place);
                }
                let (role, text) = match run {
                    LineRun::User => ("user", text.as_str()),
                    _ => ("assistant", without_outer(&text)),
                };
                self.asked = run == LineRun::User && ASKS.iter().any(|asks| text.trim() == *asks);
                let mut message = ObjectBuilder::default();
                message.text("role", role).text("content", text);
                message.finish()
            }
        };
        self.push(record, place);
    }

    /// Hides all messages so far.
    fn cut(&mut self, place: Position) {
        let id = key::id_from("evt_", format!("{}\n{}", self.at, place.offset));
        let mut event = event::begin("truncate", &id);
        event.text("at", &self.at).raw("before", "null");
        self.push(event.finish(), place);
    }

    fn push(&mut self, line: Vec<u8>, place: Position) {
        // The position is after a byte order mark.
        let place = Position {
            offset: place.offset.max(1),
            ..place
        };
        self.session.push_generated(line, place);
    }
}

impl OpenRun {
    fn add(&mut self, line: &str) {
        self.text.push('\n');
        self.text.push_str(line);
    }
}
