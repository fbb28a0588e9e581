//! Applies the events of a session, so that the remaining lines need none of them. Remaining lines keep their bytes.

use crate::error::{Error, Result};
use crate::model::health::Health;
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::record::without_mark;
use crate::model::session::{Class, DerivedLine, Session};
use crate::model::view::{Item, View};
use std::cell::LazyCell;
use std::collections::HashSet;
use std::io::Write;

/// Writes the session with its cuts, compactions and restores applied.
pub fn materialize(session: &Session, view: &View, out: &mut dyn Write) -> Result<()> {
    let mut lines = LineWriter { out, open: false };
    let live: LazyCell<HashSet<usize>, _> = LazyCell::new(|| session.live_events().into_iter().collect());
    let idle: HashSet<usize> = view.idle.iter().copied().collect();
    let health = LazyCell::new(|| Health::of(session));
    // Drop lines that no view needs, but keep events without effect.
    let stays = |index: usize| match session.class(index) {
        Class::Message(_) => false,
        Class::Header | Class::Unreadable | Class::Blank => true,
        Class::Event => {
            let record = session.record(index);
            let name = record.event().map(|event| event.name()).unwrap_or_default();
            match name.as_ref() {
                "restore" => false,
                "truncate" | "compact" => idle.contains(&index),
                "summary" => false,
                // An older attempt could move after a later summary and count again.
                "attempt" => health.line == Some(index),
                _ => live.contains(&index),
            }
        }
    };
    for piece in remaining_lines(session, view, stays) {
        match piece {
            DerivedLine::Line(index) => lines.write(session.full(index))?,
            DerivedLine::Edited(_, body) | DerivedLine::Generated(body) => {
                lines.write(&body)?;
                lines.write_ending()?;
            }
        }
    }
    Ok(())
}

/// The lines of a session: the items of the view, and other lines that are kept.
pub(super) fn remaining_lines(
    session: &Session,
    view: &View,
    stays: impl Fn(usize) -> bool,
) -> Vec<DerivedLine> {
    let mut pieces = Vec::new();
    // The header always comes first.
    let mut next = (0..session.len())
        .find(|index| session.class(*index) == Class::Header)
        .map_or(0, |at| at + 1);
    pieces.extend((0..next).filter(|other| stays(*other)).map(DerivedLine::Line));
    for item in &view.items {
        if let Item::Line(index) | Item::Edited(index, _) = item {
            pieces.extend(
                (next..*index)
                    .filter(|other| stays(*other))
                    .map(DerivedLine::Line),
            );
            next = index + 1;
        }
        pieces.push(match item {
            Item::Line(index) => DerivedLine::Line(*index),
            Item::Summary(index) => {
                summary_line(session, *index).map_or(DerivedLine::Line(*index), DerivedLine::Generated)
            }
            Item::Edited(index, body) => DerivedLine::Edited(*index, body.clone()),
            Item::Inserted(body) => DerivedLine::Generated(body.clone()),
        });
    }
    pieces.extend(
        (next..session.len())
            .filter(|other| stays(*other))
            .map(DerivedLine::Line),
    );
    pieces
}

/// The summary without references to messages that are gone; none when it refers to none.
pub fn summary_line(session: &Session, index: usize) -> Option<Vec<u8>> {
    let record = session.record(index);
    let event = record.event()?;
    if event.name() != "compact" {
        json::member(event.raw, "covers")?;
        let changes = [("covers", None), ("nth", None), ("here", Some(&b"true"[..]))];
        return json::with_members(event.raw, &changes).ok();
    }
    // A compaction stores its summary in a member; it becomes an event of its own.
    let mut line = ObjectBuilder::default();
    line.text("type", "summary");
    for name in ["id", "at"] {
        json::member(event.raw, name).map(|value| line.raw(name, value));
    }
    let summary = json::members(json::member(event.raw, "summary")?, Dialect::Strict)?;
    for (name, value) in summary {
        match name.as_ref() {
            "before" | "nth" | "covers" | "sha256" | "type" | "id" | "at" => {}
            // A line with a `role` is a message.
            "role" => drop(line.raw("as", value)),
            name => drop(line.raw(name, value)),
        }
    }
    line.raw("here", "true");
    Some(line.finish())
}

/// An output that starts a new line after each [`separate`](LineJoiner::separate), so that inputs without a final newline
/// are not joined.
pub struct LineJoiner<'w> {
    out: &'w mut dyn Write,
    open: bool,
    separate: bool,
    has_begun: bool,
}

impl<'w> LineJoiner<'w> {
    /// Wraps an output.
    pub fn new(out: &'w mut dyn Write) -> Self {
        LineJoiner {
            out,
            open: false,
            separate: false,
            has_begun: false,
        }
    }

    /// Marks the beginning of another input.
    pub fn separate(&mut self) {
        self.separate = true;
    }
}

impl Write for LineJoiner<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.separate && self.has_begun && !bytes.is_empty() {
            self.separate = false;
            if std::mem::take(&mut self.open) {
                self.out.write_all(b"\n")?;
            }
            // A byte order mark is only valid at the start of an input.
            let body = without_mark(bytes);
            self.out.write_all(body)?;
            self.open = !body.is_empty() && !body.ends_with(b"\n");
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes)?;
        if written > 0 {
            self.has_begun = true;
            self.separate = false;
            self.open = bytes[written - 1] != b'\n';
        }
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Writes lines so that one without an ending is not joined with the next.
pub struct LineWriter<'w> {
    out: &'w mut dyn Write,
    open: bool,
}

impl<'w> LineWriter<'w> {
    /// Wraps an output.
    pub fn new(out: &'w mut dyn Write) -> Self {
        LineWriter { out, open: false }
    }

    /// Writes a line unchanged.
    pub fn write(&mut self, full: &[u8]) -> Result<()> {
        if self.open {
            self.write_ending()?;
        }
        self.open = !full.ends_with(b"\n");
        self.out
            .write_all(full)
            .map_err(|error| Error::io("cannot write", error))
    }

    /// Ends the line.
    pub fn write_ending(&mut self) -> Result<()> {
        self.open = false;
        self.out
            .write_all(b"\n")
            .map_err(|error| Error::io("cannot write", error))
    }
}
