//! Inserts the records that only the second side has.

use super::hidden;
use super::merged::MergedLine;
use super::record::restore;
use super::side::{MergeSide, SearchScope};
use super::work::{IncomingRecord, Merging, branch_id, event_id, generated_line};
use crate::error::{Error, Result};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Role;
use crate::model::session::Class;
use crate::model::{event, time};

/// Where to insert records: a session of the second side, and a range of lines that only the first side has.
#[derive(Clone, Copy)]
struct Gap {
    from: usize,
    home: usize,
    start: usize,
    end: usize,
}

impl<'s> Merging<'s, '_> {
    /// Inserts consecutive records before the line `start` of the session `home`.
    pub fn place(
        &mut self,
        from: usize,
        (home, start): (usize, usize),
        lines: &[IncomingRecord],
    ) -> Result<()> {
        let (a, b) = (&self.sides.a.parts[home], &self.sides.b);
        let length = a.keys.len();
        let is_common = |line: &usize| b.has(SearchScope::Session(from), &a.keys[*line]);
        let end = match self.options.appends {
            true => length,
            false => (start..length).find(is_common).unwrap_or(length),
        };
        let is_old =
            |line: &usize| !self.options.appends && self.sides.base.find(a, &a.keys[*line]).is_some();
        let mut own = (start..end).filter(|line| !is_old(line));
        let gap = Gap {
            from,
            home,
            start,
            end,
        };
        let has_own = own.any(|line| self.is_message(&self.sides.a, home, line));
        let is_new_message =
            |incoming: &IncomingRecord| incoming.is_new && self.is_message(b, from, incoming.line);
        let first = lines.iter().position(is_new_message);
        if self.options.keyed.is_some() {
            return self.keyed(gap, lines, has_own && first.is_some());
        }
        match first {
            Some(_) if has_own && self.options.interleave && !self.options.appends => {
                self.interleave(gap, lines)
            }
            Some(first) if has_own => self.branch(gap, lines, first),
            Some(_) => self.put_all(gap, end, lines),
            None => self.put_all(gap, if self.options.appends { end } else { start }, lines),
        }
        Ok(())
    }

    fn is_message(&self, side: &MergeSide<'_>, nth: usize, line: usize) -> bool {
        match self.options.keyed {
            Some(keyed) => json::member(side.record((nth, line)).body, keyed.message).is_some(),
            None => matches!(side.parts[nth].session.class(line), Class::Message(_)),
        }
    }

    /// Inserts lines that refer to the line before them: those of the second side first, so that the last line, where
    /// the program continues, belongs to the first side.
    fn keyed(&mut self, gap: Gap, lines: &[IncomingRecord], both: bool) -> Result<()> {
        let Some(keyed) = self.options.keyed else {
            return Ok(());
        };
        let text = |body: &'s [u8], name| json::member_text(body, name);
        for incoming in lines {
            let body = self.sides.b.record((gap.from, incoming.line)).body;
            let has_id = text(body, keyed.id).is_some();
            if both && !has_id && self.is_message(&self.sides.b, gap.from, incoming.line) {
                let error = Error::data("both sides continue, and their lines have no ids");
                return Err(error.hint("convert both to native files with: convo cat"));
            }
            let kind = text(body, "type");
            let is_state = !has_id && kind.as_deref().is_some_and(|kind| keyed.states.contains(&kind));
            let is_newer = || {
                let own = (gap.start..gap.end)
                    .rev()
                    .map(|line| self.sides.a.record((gap.home, line)).body);
                let mut rivals = own.filter(|own| text(own, "type") == kind);
                let times = text(body, keyed.time).zip(rivals.find_map(|own| text(own, keyed.time)));
                times.is_some_and(|(time, own)| time::is_before(&own, &time) == Some(true))
            };
            let at = if is_state && is_newer() {
                gap.end
            } else {
                gap.start
            };
            self.put(gap, at, incoming.line);
        }
        Ok(())
    }

    fn put_all(&mut self, gap: Gap, at: usize, lines: &[IncomingRecord]) {
        lines.iter().for_each(|incoming| self.put(gap, at, incoming.line));
    }

    /// Inserts a line before a line of the first side. If an event of the first side takes precedence over an
    /// inserted event, appends a restore of the latter.
    fn put(&mut self, gap: Gap, mut at: usize, line: usize) {
        let record = self.sides.b.record((gap.from, line));
        let name = record
            .event()
            .map(|event| event.name())
            .filter(|_| self.options.keyed.is_none());
        let mut is_suspended = false;
        match name.as_deref() {
            Some("meta") => {
                let length = self.sides.a.parts[gap.home].keys.len();
                let own = (gap.start..length).filter(|own| self.is_new_event(gap, *own, "meta"));
                let (later, earlier): (Vec<usize>, Vec<usize>) =
                    own.partition(|own| self.is_later_meta(gap, *own, record.body));
                match self.options.appends {
                    true => is_suspended = !later.is_empty(),
                    false => {
                        at = later.first().map_or(at, |later| at.min(*later));
                        at = earlier.last().map_or(at, |earlier| at.max(earlier + 1));
                    }
                }
            }
            Some(name) if hidden::is_compaction(name) => {
                let (a, b) = (&self.sides.a.parts[gap.home], &self.sides.b.parts[gap.from]);
                let is_rival = |own: &usize| {
                    let key = &a.keys[*own];
                    !self.sides.b.has(SearchScope::Session(gap.from), key)
                        && self.sides.base.find(a, key).is_none()
                };
                let cuts_all = self.options.appends && json::member(record.body, "before") == Some(b"null");
                let is_message = |own: usize| self.is_message(&self.sides.a, gap.home, own);
                is_suspended = hidden::is_in_force(b, line)
                    && (cuts_all && (gap.start..gap.end).any(is_message)
                        || hidden::overlaps((a, is_rival), (b, line)));
            }
            _ => {}
        }
        let is_blank = self.sides.b.parts[gap.from].session.class(line) == Class::Blank;
        if is_blank && self.options.appends {
            return;
        }
        self.merged.totals.from_b += u64::from(!is_blank);
        let taken = self.line(gap.from, line);
        let placed = self.placed[gap.home].entry(at).or_default();
        placed.push(taken);
        if is_suspended {
            placed.push(generated_line(restore(&event_id(record.body), &self.at)));
            self.merged.totals.suspended += 1;
        }
    }

    /// Whether a line of the first side is an event with this name that the second side lacks.
    fn is_new_event(&self, gap: Gap, line: usize, name: &str) -> bool {
        if self.sides.a.parts[gap.home].session.class(line) != Class::Event {
            return false;
        }
        let event = self.sides.a.record((gap.home, line));
        let key = self.sides.a.key((gap.home, line));
        event.event().is_some_and(|event| event.name() == name)
            && !self.sides.b.has(SearchScope::Session(gap.from), &key)
    }

    /// Whether an event of the first side is at least as new as one of the second.
    fn is_later_meta(&self, gap: Gap, own: usize, other: &[u8]) -> bool {
        let at = |body| json::member_text(body, "at");
        let own = at(self.sides.a.record((gap.home, own)).body);
        let times = own.zip(at(other));
        times.is_none_or(|(own, other)| time::is_before(&own, &other) != Some(true))
    }

    /// Orders whole exchanges by time.
    fn interleave(&mut self, gap: Gap, lines: &[IncomingRecord]) {
        let starts = |side: &MergeSide<'_>, nth: usize, line: usize| {
            let class = side.parts[nth].session.class(line);
            matches!(class, Class::Message(traits) if traits.role == Role::User)
        };
        let time = |side: &MergeSide<'_>, nth: usize, line: usize| {
            let time = json::member_text(side.record((nth, line)).body, "timestamp");
            time.and_then(|time| time::moment(&time))
        };
        let mut own: Vec<(usize, _)> = Vec::new();
        for line in gap.start..gap.end {
            if own.is_empty() || starts(&self.sides.a, gap.home, line) {
                own.push((line, None));
            }
            if let Some((_, first)) = own.last_mut().filter(|(_, first)| first.is_none()) {
                *first = time(&self.sides.a, gap.home, line);
            }
        }
        let mut next = 0;
        let is_start = |incoming: &IncomingRecord| starts(&self.sides.b, gap.from, incoming.line);
        let mut places = Vec::new();
        for exchange in lines.chunk_by(|_, later| !is_start(later)) {
            let mut times = exchange
                .iter()
                .map(|incoming| time(&self.sides.b, gap.from, incoming.line));
            let first = times.find_map(|time| time);
            let is_before = |(_, own): &(usize, Option<_>)| *own <= first || own.is_none();
            next += match first {
                Some(_) => own[next..].iter().take_while(|own| is_before(own)).count(),
                None => own.len() - next,
            };
            let at = own.get(next).map_or(gap.end, |(line, _)| *line);
            places.extend(exchange.iter().map(|incoming| (at, incoming.line)));
        }
        places.into_iter().for_each(|(at, line)| self.put(gap, at, line));
    }

    /// Turns the lines of the second side from `first` on into a branch.
    fn branch(&mut self, gap: Gap, lines: &[IncomingRecord], first: usize) {
        let before = if self.options.appends { gap.end } else { gap.start };
        let (ahead, course) = lines.split_at(first);
        self.put_all(gap, before, ahead);
        let mut taken: Vec<MergedLine<'s>> = Vec::new();
        for incoming in course {
            let event = self.sides.b.record((gap.from, incoming.line));
            let name = event.event().map(|event| event.name());
            // These describe the session, not its messages.
            let is_of_all = matches!(name.as_deref(), Some("meta" | "conflict"));
            match is_of_all || !incoming.is_new {
                true => self.put(gap, before, incoming.line),
                false => {
                    taken.push(self.line(gap.from, incoming.line));
                    self.merged.totals.from_b += u64::from(name.is_some() || event.message().is_some());
                }
            }
        }
        let a = &self.sides.a.parts[gap.home];
        let is_common = |line: &usize| {
            let is_message = matches!(a.session.class(*line), Class::Message(_));
            is_message && self.sides.b.has(SearchScope::Session(gap.from), &a.keys[*line])
        };
        let shared = (0..gap.start).rev().find(is_common);
        let (parent, at) = match (shared, &a.lineage) {
            (None, Some(lineage)) if lineage.side_branch().is_some() => {
                (lineage.parent.clone(), lineage.at.clone())
            }
            (shared, _) => (a.name.clone(), shared.and_then(|line| a.session.id(line))),
        };
        let line = self.sides.b.record((gap.from, course[0].line));
        let id = branch_id(parent.as_deref(), at.as_deref(), line.body);
        let mut lineage = ObjectBuilder::default();
        lineage.text("kind", "branch");
        for (name, value) in [("parent", &parent), ("at", &at)] {
            if let Some(value) = value {
                lineage.text(name, value);
            }
        }
        let mut header = event::begin_session(&id);
        header.raw("metadata", json::wrapped("lineage", lineage.finish()));
        let mut whole = vec![generated_line(header.finish())];
        // A branch begins after a message, so events in between that shrank the view are repeated.
        let shrinks = |side: &MergeSide<'_>, nth: usize, line: usize| {
            let record = side.record((nth, line));
            let name = record.event().map(|event| event.name());
            name.is_some_and(|name| name == "restore" || hidden::is_compaction(&name))
        };
        let before = shared.map_or(0, |shared| shared + 1)..gap.start;
        let common = before.filter(|line| {
            shrinks(&self.sides.a, gap.home, *line)
                && self.sides.b.has(SearchScope::Session(gap.from), &a.keys[*line])
        });
        whole.extend(common.map(|line| self.unchanged_line(gap.home, line)));
        let own = ahead
            .iter()
            .filter(|incoming| shrinks(&self.sides.b, gap.from, incoming.line));
        whole.extend(own.map(|incoming| self.line(gap.from, incoming.line)));
        whole.append(&mut taken);
        self.branches[gap.home].push(whole);
        self.merged.totals.branches += 1;
    }
}
