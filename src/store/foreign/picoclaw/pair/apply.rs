//! Applies a planned change of the view to the two files. Hiding the beginning, or replacing it with a summary, only
//! replaces the sidecar; any other change first removes hidden lines and then replaces the log.

use super::Pair;
use super::compact::{CompactionStep, archive, interrupted, push_line};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::format::picoclaw::{self, RawRange};
use crate::format::report::Report;
use crate::model::event::Action;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::{HashMap, HashSet};

/// The result of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Lines moved from the log to the archive.
    pub archived: u64,
}

/// The new content of the log.
struct Replacement {
    /// The new bytes.
    bytes: Vec<u8>,
    /// Lines that were removed or changed.
    removed: Vec<u8>,
    /// Their number.
    count: u64,
}

impl Pair {
    /// Applies events planned with `session`, which was read from these files. `dry` only checks whether that is
    /// possible. Events that do not change the view are rejected. Data that a line cannot represent is reported.
    pub fn apply(
        &mut self,
        session: &Session,
        events: &[Vec<u8>],
        now: &str,
        dry: bool,
        report: &mut Report,
    ) -> Result<Applied> {
        self.apply_in_steps(session, events, (now, dry), report, &mut |_| Ok(()))
    }

    /// The same with a callback after each step; an error of the callback stops there.
    pub(super) fn apply_in_steps(
        &mut self,
        session: &Session,
        events: &[Vec<u8>],
        (now, dry): (&str, bool),
        report: &mut Report,
        done: &mut dyn FnMut(CompactionStep) -> Result<()>,
    ) -> Result<Applied> {
        let mut changed = session.clone();
        for event in events {
            refuse(&Record::parse(event, Position { line: 0, offset: 1 }))?;
            changed.push_new(event);
        }
        let (old, new) = (View::replay(session), View::replay(&changed));
        if let Some((_, what)) = new.dangling.iter().find(|(index, _)| *index >= session.len()) {
            return Err(Error::new(ErrorKind::No, what.clone()));
        }
        let texts: Vec<_> = new
            .items
            .iter()
            .filter_map(|item| item.summary(&changed))
            .collect();
        let summary = (!texts.is_empty()).then(|| texts.join("\n\n"));
        let kept = lines(&new);
        let before = lines(&old);
        let unchanged = new
            .items
            .iter()
            .all(|item| matches!(item, Item::Line(_) | Item::Summary(_)));
        if unchanged && before.ends_with(&kept) {
            let count = self.raw_lines();
            let skip = match kept.first() {
                _ if kept.len() == before.len() => self.sidecar.skip(),
                Some(first) => self.preceding_lines(session.record(*first).place.line),
                None => count,
            };
            if !dry {
                self.sidecar.set_summary_if(summary.as_deref());
                self.sidecar.set_skip(skip);
                self.sidecar.set_count(count);
                self.write_sidecar(now)?;
            }
            return Ok(Applied::default());
        }
        let replacement = self.replacement(&changed, &new, &before, now, report)?;
        self.refuse_shared()?;
        if dry {
            return Ok(Applied::default());
        }
        self.replace(replacement, summary.as_deref(), now, done)
    }

    /// How many lines that PicoClaw counts precede a line of the file.
    fn preceding_lines(&self, line: u64) -> u64 {
        picoclaw::raw_lines(&self.bytes)
            .take_while(|raw| raw.line < line)
            .count() as u64
    }

    /// The new lines after the skip: kept lines of the view unchanged, changed ones encoded, and lines that are not
    /// messages in place.
    fn replacement(
        &self,
        session: &Session,
        view: &View,
        before: &[usize],
        now: &str,
        report: &mut Report,
    ) -> Result<Replacement> {
        let skip = usize::try_from(self.sidecar.skip()).unwrap_or(usize::MAX);
        let pieces: Vec<RawRange> = picoclaw::raw_lines(&self.bytes).skip(skip).collect();
        let place: HashMap<u64, usize> = pieces
            .iter()
            .enumerate()
            .map(|(at, raw)| (raw.line, at))
            .collect();
        let at = |index: usize| place.get(&session.record(index).place.line).copied();
        let shown: HashSet<usize> = before.iter().filter_map(|index| at(*index)).collect();
        let full = |at: usize| &self.bytes[pieces[at].start..pieces[at].end];
        let mut bytes = Vec::new();
        let mut kept_lines = HashSet::new();
        let mut preserved = 0;
        for item in &view.items {
            let own = item.line().and_then(at);
            if let Some(own) = own {
                for other in (preserved..own).filter(|other| !shown.contains(other)) {
                    push_line(&mut bytes, full(other));
                }
                preserved = preserved.max(own);
            }
            match (item, own, item.message(session)) {
                (Item::Line(_), Some(own), _) => {
                    kept_lines.insert(own);
                    push_line(&mut bytes, full(own));
                }
                (_, own, Some(message)) => {
                    // An edited message keeps its time.
                    let now = own.is_none().then_some(now);
                    let line = picoclaw::log_line_of(&message, item.body(session), now, report)?;
                    push_line(&mut bytes, &line);
                }
                _ => {}
            }
        }
        for other in (preserved..pieces.len()).filter(|other| !shown.contains(other)) {
            push_line(&mut bytes, full(other));
        }
        let mut removed = Vec::new();
        let cut_lines: Vec<usize> = (0..pieces.len())
            .filter(|at| shown.contains(at) && !kept_lines.contains(at))
            .collect();
        for at in &cut_lines {
            push_line(&mut removed, full(*at));
        }
        Ok(Replacement {
            bytes,
            removed,
            count: cut_lines.len() as u64,
        })
    }

    /// Replaces the log. The summary is written before its messages are removed, and no line is removed before it is
    /// archived.
    fn replace(
        &mut self,
        new: Replacement,
        summary: Option<&str>,
        now: &str,
        done: &mut dyn FnMut(CompactionStep) -> Result<()>,
    ) -> Result<Applied> {
        if summary.is_some_and(|text| text != self.sidecar.summary()) {
            self.sidecar.set_summary_if(summary);
            self.write_sidecar(now)?;
            done(CompactionStep::Summarized)?;
        }
        let skip = usize::try_from(self.sidecar.skip()).unwrap_or(usize::MAX);
        let head = picoclaw::raw_lines(&self.bytes).take(skip).last();
        let seen = self.bytes.len() - head.map_or(0, |head| head.end);
        let archived = self.compact(now, done)?.archived;
        if !new.removed.is_empty() {
            archive(&self.directory, &self.stem, &new.removed, self.timeout).map_err(interrupted)?;
            done(CompactionStep::Archived)?;
        }
        // Keep lines that a program without locks appended meanwhile.
        let mut bytes = new.bytes;
        bytes.extend_from_slice(self.bytes.get(seen..).unwrap_or_default());
        self.check_sidecar().map_err(interrupted)?;
        self.replace_log(bytes).map_err(interrupted)?;
        done(CompactionStep::Replaced)?;
        self.sidecar.set_count(self.raw_lines());
        // The view is already correct; only counts in the sidecar may be outdated.
        self.write_sidecar(now).map_err(|error| {
            let hint = "the log is complete, but the sidecar may be outdated; repair it with: convo fsck --repair DIR";
            error.kind(ErrorKind::Unsure).hint(hint)
        })?;
        Ok(Applied {
            archived: archived + new.count,
        })
    }
}

fn lines(view: &View) -> Vec<usize> {
    view.items.iter().filter_map(Item::line).collect()
}

/// Rejects an event that the files cannot represent.
fn refuse(event: &Record<'_>) -> Result<()> {
    match event.event().map(crate::model::event::Event::action) {
        Some(Action::Truncate(_) | Action::Compact(_) | Action::Summary(_)) => Ok(()),
        Some(Action::Restore(_)) => {
            let what = "PicoClaw files keep no events to undo";
            Err(Error::new(ErrorKind::No, what)
                .hint("undo a cut in the .meta.json: skip is the number of hidden lines"))
        }
        _ => {
            let what = "PicoClaw files cannot represent this change";
            Err(Error::usage(what).hint("omit -i and redirect the output"))
        }
    }
}
