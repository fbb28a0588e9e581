//! Builds a session from a log: messages and rejected lines in order, then events that reproduce PicoClaw's view.

use super::line::MessageLine;
use super::{facts, go};
use crate::error::Position;
use crate::format::kit::records::passthrough;
use crate::format::report::Report;
use crate::model::event;
use crate::model::json::{JsonError, array, quoted};
use crate::model::key::{self, Derive};
use crate::model::record::{Record, RecordKind};
use crate::model::session::Session;

/// The id of an event that the reader adds; `source` is the digest of the input.
pub(super) fn event_id(kind: &str, source: &str) -> String {
    key::id_from("evt_", format!("picoclaw\n{kind}\n{source}"))
}

/// A session under construction.
pub(super) struct PicoclawLog<'r> {
    session: Session,
    ids: Derive,
    /// Receives findings.
    pub report: &'r mut Report,
    /// First and last skipped message, ignoring those with reasoning only.
    covered: Option<[String; 2]>,
    /// The first message that is not skipped.
    first_kept: Option<String>,
    /// Messages that PicoClaw does not show, and that no truncation hides.
    hidden: Vec<String>,
    /// Position of the first skipped rejected line, and the number of such lines.
    skipped_rejects: Option<(Position, u64)>,
}

impl<'r> PicoclawLog<'r> {
    /// Starts with the header.
    pub fn new(header: &[u8], report: &'r mut Report) -> Self {
        let mut session = Session::default();
        session.push_new(header);
        PicoclawLog {
            session,
            ids: Derive::default(),
            report,
            covered: None,
            first_kept: None,
            hidden: Vec::new(),
            skipped_rejects: None,
        }
    }

    fn push(&mut self, mut body: Vec<u8>, place: Position) {
        body.push(b'\n');
        self.session.push(&Record::parse(&body, place));
    }

    /// Appends a message, whose source is `raw`.
    pub fn message(&mut self, line: &MessageLine<'_>, raw: &[u8], place: Position, skipped: bool) {
        if let Err(error) = std::str::from_utf8(raw) {
            let place = Position {
                offset: place.offset + error.valid_up_to() as u64,
                ..place
            };
            self.report
                .damage(place, "not UTF-8; invalid bytes replaced by U+FFFD");
        }
        for oddity in &line.oddities {
            let place = Position {
                offset: place.offset + oddity.offset as u64,
                ..place
            };
            if oddity.damage {
                self.report.damage(place, oddity.what);
            } else {
                self.report.note(place, oddity.what);
            }
        }
        let id = self.ids.id(raw);
        self.push(line.native(&id), place);
        if line.is_reasoning_only() {
            self.hidden.push(id);
        } else if skipped {
            match &mut self.covered {
                Some([_, last]) => *last = id,
                None => self.covered = Some([id.clone(), id]),
            }
        } else if self.first_kept.is_none() {
            self.first_kept = Some(id);
        }
    }

    /// Reports that the line at `place` is not a message.
    pub fn report_fault(&mut self, place: Position, fault: JsonError) {
        let place = Position {
            offset: place.offset + fault.offset as u64,
            ..place
        };
        self.report
            .damage(place, format!("not a message: {}", fault.what));
    }

    /// Appends a line that is not a message, unchanged; `full` includes its ending. Skipped lines are only counted,
    /// because PicoClaw ignores them, too.
    pub fn reject(&mut self, full: &[u8], raw: &[u8], place: Position, skipped: bool) {
        if skipped {
            self.skipped_rejects.get_or_insert((place, 0)).1 += 1;
        }
        if matches!(Record::parse(full, place).kind, RecordKind::Unreadable(_)) {
            self.session.push_ended(full, place);
        } else {
            // It would be read as a native message or event.
            self.foreign(raw, place);
        }
    }

    /// Appends a value that is not a message as text.
    pub fn foreign(&mut self, raw: &[u8], place: Position) {
        let raw = go::repaired(raw.to_vec());
        self.push(
            passthrough("picoclaw", &quoted(&String::from_utf8_lossy(&raw))),
            place,
        );
    }

    /// Appends the events for the summary, the truncation and hidden messages. `at` is the time of the last change;
    /// event ids are derived from `source`, the digest of the input.
    pub fn finish(mut self, summary: Option<&[u8]>, cut: bool, at: Option<&str>, source: &str) -> Session {
        if let Some((place, count)) = self.skipped_rejects {
            let what =
                format!("{count} of the lines that the sidecar skips are not messages; kept unchanged");
            self.report.note(place, what);
        }
        let at = at
            .map(str::to_string)
            .or_else(|| self.session.newest_time())
            .unwrap_or_else(|| event::EPOCH.to_string());
        let event = |kind: &str| {
            let mut built = event::begin(kind, &event_id(kind, source));
            built.text("at", &at);
            built
        };
        if let Some(summary) = summary {
            let mut built = event("summary");
            built.raw("content", facts::encode_summary(summary));
            if let Some(covered) = &self.covered {
                built.raw("covers", array(covered.iter().map(|id| quoted(id))));
            }
            built.text("by", "picoclaw");
            self.session.push_new(&built.finish());
        }
        if cut {
            let mut built = event("truncate");
            built.raw(
                "before",
                self.first_kept
                    .as_ref()
                    .map_or_else(|| b"null".to_vec(), |id| quoted(id)),
            );
            built.raw("keep_system", "false"); // PicoClaw's skip counts every line
            self.session.push_new(&built.finish());
        }
        if !self.hidden.is_empty() {
            let mut built = event("compact");
            built
                .text("strategy", "picoclaw")
                .raw("drop", array(self.hidden.iter().map(|id| quoted(id))));
            self.session.push_new(&built.finish());
        }
        self.session
    }
}
