//! Messages and summaries that compactions insert into a view.

use super::changes::MemberChanges;
use crate::error::Position;
use crate::model::event::MessageEdit;
use crate::model::json::ObjectBuilder;
use crate::model::record::Record;
use crate::model::session::Traits;
use crate::model::view::Item;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::{Bound, RangeBounds};

pub enum InsertedContent<'s> {
    /// A message, and the edits by later compactions.
    Message(&'s [u8], MemberChanges<'s>),
    /// The summary of the event at this line.
    Summary(usize),
}

struct ActiveInsert<'s> {
    /// Index of the line that it is placed before.
    before: usize,
    content: InsertedContent<'s>,
    class: RemovalClass,
    is_removed: bool,
    /// The neighbors in the order of the list, removed ones included.
    previous: Option<usize>,
    next: Option<usize>,
}

/// What removes an insert. Whatever removes a class also removes the classes before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RemovalClass {
    /// Any truncation and any summary.
    Plain,
    /// Any summary, and truncations that drop instructions.
    Context,
    /// Truncations that drop instructions.
    System,
    /// Neither.
    Summary,
}

impl RemovalClass {
    fn of(content: &InsertedContent<'_>) -> RemovalClass {
        let InsertedContent::Message(body, changes) = content else {
            return RemovalClass::Summary;
        };
        let mut short = ObjectBuilder::default();
        for name in ["role", "category"] {
            changes.member(body, name).map(|raw| short.raw(name, raw));
        }
        let short = short.finish();
        let record = Record::parse(&short, Position { line: 0, offset: 1 });
        match record.message().map(Traits::of) {
            Some(traits) if traits.is_system() => RemovalClass::System,
            Some(traits) if traits.survives_truncate() => RemovalClass::Context,
            Some(_) => RemovalClass::Plain,
            None => RemovalClass::System,
        }
    }
}

/// All inserted content, in order.
#[derive(Default)]
pub struct Inserts<'s> {
    /// In chronological order.
    all: Vec<ActiveInsert<'s>>,
    first: Option<usize>,
    last: Option<usize>,
    by_id: HashMap<String, VecDeque<usize>>,
    /// Messages of the classes that a range of lines may remove, by the line that they precede.
    by_line: [BTreeMap<usize, Vec<usize>>; 3],
    summary: Option<usize>,
    /// Inserts that the current compaction drops; until it ends, they still serve as positions.
    dropped: Vec<usize>,
    count: usize,
}

impl<'s> Inserts<'s> {
    /// Number of inserts that were not removed.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The inserted summary: its event, and the line that it precedes.
    pub fn summary(&self) -> Option<(usize, usize)> {
        let insert = &self.all[self.summary?];
        match insert.content {
            InsertedContent::Summary(event) => Some((event, insert.before)),
            InsertedContent::Message(..) => None,
        }
    }

    /// Inserts content before a line, after earlier inserts at that position.
    pub fn push(&mut self, before: usize, id: Option<String>, content: InsertedContent<'s>) {
        let new = self.add(before, id, content);
        self.all[new].previous = self.last;
        match self.last.replace(new) {
            Some(last) => self.all[last].next = Some(new),
            None => self.first = Some(new),
        }
    }

    /// Inserts content directly before another insert.
    pub fn push_before(&mut self, other: usize, id: Option<String>, content: InsertedContent<'s>) {
        let new = self.add(self.all[other].before, id, content);
        let previous = self.all[other].previous.replace(new);
        (self.all[new].previous, self.all[new].next) = (previous, Some(other));
        match previous {
            Some(previous) => self.all[previous].next = Some(new),
            None => self.first = Some(new),
        }
    }

    fn add(&mut self, before: usize, id: Option<String>, content: InsertedContent<'s>) -> usize {
        let new = self.all.len();
        if let Some(id) = id {
            self.by_id.entry(id).or_default().push_back(new);
        }
        let class = RemovalClass::of(&content);
        if class == RemovalClass::Summary {
            self.summary = Some(new);
        }
        self.all.push(ActiveInsert {
            before,
            content,
            class,
            is_removed: false,
            previous: None,
            next: None,
        });
        self.count += 1;
        self.file(new);
        new
    }

    /// Indexes an insert by its line and class.
    fn file(&mut self, nth: usize) {
        let insert = &self.all[nth];
        if let Some(lines) = self.by_line.get_mut(insert.class as usize) {
            lines.entry(insert.before).or_default().push(nth);
        }
    }

    pub fn oldest(&mut self, id: &str) -> Option<usize> {
        let named = self.by_id.get_mut(id)?;
        while named.front().is_some_and(|nth| self.all[*nth].is_removed) {
            named.pop_front();
        }
        named.front().copied()
    }

    /// Drops the newest insert with this id at the end of this compaction; `false` if there is none.
    pub fn drop_newest(&mut self, id: &str) -> bool {
        let Some(named) = self.by_id.get_mut(id) else {
            return false;
        };
        while named.back().is_some_and(|nth| self.all[*nth].is_removed) {
            named.pop_back();
        }
        self.dropped.extend(named.back());
        named.back().is_some()
    }

    /// Removes the inserts that the current compaction dropped.
    pub fn end_compaction(&mut self) {
        for nth in std::mem::take(&mut self.dropped) {
            self.remove(nth);
        }
    }

    fn remove(&mut self, nth: usize) {
        if !std::mem::replace(&mut self.all[nth].is_removed, true) {
            self.count -= 1;
        }
    }

    pub fn is_message(&self, nth: usize) -> bool {
        matches!(self.all[nth].content, InsertedContent::Message(..))
    }

    pub fn edit(&mut self, nth: usize, edit: MessageEdit<'s>) {
        let insert = &mut self.all[nth];
        let InsertedContent::Message(body, changes) = &mut insert.content else {
            return;
        };
        changes.add(edit, body);
        let class = RemovalClass::of(&insert.content);
        if class != std::mem::replace(&mut insert.class, class) {
            self.file(nth);
        }
    }

    /// Removes the messages before a line; with `keep_system`, keeps those that survive a truncation.
    pub fn truncate(&mut self, limit: usize, keep_system: bool) {
        self.remove_from(RemovalClass::Plain, ..limit);
        if !keep_system {
            self.remove_from(RemovalClass::Context, ..limit);
            self.remove_from(RemovalClass::System, ..limit);
        }
    }

    /// Removes the messages that a summary of these lines covers.
    pub fn cover(&mut self, lines: impl RangeBounds<usize> + Clone) {
        self.remove_from(RemovalClass::Plain, lines.clone());
        self.remove_from(RemovalClass::Context, lines);
    }

    fn remove_from(&mut self, class: RemovalClass, lines: impl RangeBounds<usize>) {
        loop {
            let filed = &mut self.by_line[class as usize];
            let bounds: (Bound<usize>, Bound<usize>) =
                (lines.start_bound().cloned(), lines.end_bound().cloned());
            let Some(line) = filed.range(bounds).next().map(|(line, _)| *line) else {
                return;
            };
            for nth in filed.remove(&line).unwrap_or_default() {
                // An edit may have changed the class.
                if self.all[nth].class == class {
                    self.remove(nth);
                }
            }
        }
    }

    /// Removes the inserted summary.
    pub fn forget_summary(&mut self) {
        if let Some(nth) = self.summary.take() {
            self.remove(nth);
        }
    }

    /// The remaining inserts, in the order of the lines that they precede.
    pub fn into_items(self) -> Vec<(usize, Item)> {
        let mut items = Vec::with_capacity(self.count);
        let mut next = self.first;
        while let Some(nth) = next {
            let insert = &self.all[nth];
            next = insert.next;
            if insert.is_removed {
                continue;
            }
            let item = match &insert.content {
                InsertedContent::Message(body, changes) => {
                    Item::Inserted(changes.apply(body).unwrap_or_else(|| body.to_vec()))
                }
                InsertedContent::Summary(event) => Item::Summary(*event),
            };
            items.push((insert.before, item));
        }
        items.sort_by_key(|(before, _)| *before);
        items
    }
}
