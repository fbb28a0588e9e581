//! Builds a part as a session: header, copied messages, original lines, one event that reproduces its view, and the
//! link to the next part.

use super::plan::{PlannedPart, PlannedSplit};
use super::{copies, header};
use crate::error::Result;
use crate::filter::Stamp;
use crate::filter::compact::event::{CompactionInfo, ItemChange, ViewEdit};
use crate::filter::materialize::summary_line;
use crate::model::event::EPOCH;
use crate::model::key;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};

/// A piece of a session.
#[derive(Clone, Debug)]
pub struct SplitPart {
    /// Its id.
    pub id: String,
    /// Its lines.
    pub session: Session,
}

/// Builds part number `nth`, from 0.
pub(super) fn make(split: &PlannedSplit<'_>, nth: usize) -> Result<SplitPart> {
    let id = split.id(nth);
    let mut session = lines(split, &split.parts[nth], &id, &header::header(split, nth))?;
    if nth + 1 < split.parts.len() {
        let child = split.id(nth + 1);
        let stamp = stamp(&id, &child, &session);
        let mut link = stamp.event("link");
        link.text("continued_to", &child);
        session.push_new(&link.finish());
    }
    Ok(SplitPart { id, session })
}

/// The lines of a part after the header, for a session with this id.
pub(super) fn lines(
    split: &PlannedSplit<'_>,
    part: &PlannedPart,
    id: &str,
    header: &[u8],
) -> Result<Session> {
    let source = split.session;
    let mut session = Session::default();
    session.push_new(header);
    let mut reshaping = ViewEdit::default();
    for (place, preserved) in split.copied[..part.copied].iter().enumerate() {
        let item = &split.view.items[preserved.item];
        let copy = copies::copy(item.body(source), &split.name_of(item), id, place);
        session.push_new(&copy);
        reshaping.changes.push(ItemChange::Keep);
    }
    let mut items = split.view.items[part.items.clone()].iter().peekable();
    for index in part.lines.clone() {
        let mut between = Vec::new();
        while let Some(item) = items.next_if(|item| item.line().is_none()) {
            between.push(item);
        }
        put_in(source, &between, &mut session, &mut reshaping);
        if !is_copied(source, index) {
            continue;
        }
        session.push_from(source, index);
        if !matches!(source.class(index), Class::Message(_)) {
            continue;
        }
        reshaping
            .changes
            .push(match items.next_if(|item| item.line() == Some(index)) {
                Some(Item::Edited(_, body)) => ItemChange::Replace(body.clone()),
                Some(_) => ItemChange::Keep,
                None => ItemChange::Drop,
            });
    }
    put_in(source, &items.collect::<Vec<_>>(), &mut session, &mut reshaping);
    if !reshaping.is_empty() {
        let about = CompactionInfo {
            strategy: "split".to_string(),
            sizes: None,
        };
        let view = View::replay(&session);
        let event = reshaping.event(&session, &view, &about, &stamp(id, "view", &session))?;
        session.push_new(&event);
    }
    Ok(session)
}

/// Inserts items between two lines: a summary as a line, a message inserted by a compaction through the part's event;
/// before a summary, whose place no event can name, as a line too.
fn put_in(source: &Session, items: &[&Item], session: &mut Session, reshaping: &mut ViewEdit) {
    let summary = items.iter().rposition(|item| matches!(item, Item::Summary(_)));
    for (place, item) in items.iter().enumerate() {
        match item {
            Item::Inserted(body) if summary.is_none_or(|summary| place > summary) => {
                reshaping.inserts.push((reshaping.changes.len(), body.clone()));
                continue;
            }
            Item::Summary(index) => match summary_line(source, *index) {
                Some(line) => session.push_new(&line),
                None => session.push_from(source, *index),
            },
            Item::Inserted(body) => session.push_new(body),
            Item::Line(_) | Item::Edited(..) => continue,
        }
        reshaping.changes.push(ItemChange::Keep);
    }
}

/// Whether to copy a line into a part. The part's own event replaces changes of the view, and facts about the whole
/// session are in the header or do not apply to a part.
fn is_copied(source: &Session, index: usize) -> bool {
    match source.class(index) {
        Class::Header => false,
        Class::Message(_) | Class::Unreadable | Class::Blank => true,
        Class::Event => {
            let record = source.record(index);
            let name = record.event().map(|event| event.name()).unwrap_or_default();
            !matches!(
                name.as_ref(),
                "truncate"
                    | "compact"
                    | "summary"
                    | "restore"
                    | "meta"
                    | "link"
                    | "split"
                    | "gc"
                    | "repair"
                    | "redact"
            )
        }
    }
}

/// Derives id and time of an event from the part alone, so that equal splits give equal bytes.
fn stamp(id: &str, what: &str, session: &Session) -> Stamp {
    Stamp {
        id: key::id_from("evt_", format!("{id}\n{what}")),
        at: session.newest_time().unwrap_or_else(|| EPOCH.to_string()),
    }
}

impl PlannedSplit<'_> {
    /// The id of a message of the view.
    fn name_of(&self, item: &Item) -> String {
        let own = item
            .message(self.session)
            .and_then(|message| Some(message.id()?.into_owned()));
        let derived = || {
            let derived = self.derived.get_or_init(|| self.session.derived_ids().collect());
            derived.get(&item.line()?).cloned()
        };
        own.or_else(derived).unwrap_or_default()
    }
}
