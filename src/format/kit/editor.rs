//! Edits of elements: the interface of formats that the kit can write, and the computation of edits.

use super::any_codec::MemberChange;
use super::changes::{ElementChange, NextElement, source_view};
use super::codec::{Codec, DocumentLayout};
use super::frame::ElementEdit;
use super::records::{self, annotated_messages};
use super::residue::{residue, restore_changed};
use super::source::SourceElements;
use super::{losses, session};
use crate::error::{Error, Result};
use crate::format::WritePurpose;
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A format that the kit can write.
pub trait Editor: Codec {
    /// Whether joined messages become several elements.
    const SPLITS_JOINED_MESSAGES: bool = false;
    /// State for creating new elements, such as a clock.
    type EditContext: Default;
    /// Members of new messages that no element can represent.
    const LOST: &'static [Loss] = &losses::MEMBERS;
    /// Metadata of new messages that elements can represent.
    const REPRESENTED_METADATA: &'static [&'static str] = &[Self::NAME, "is_error"];

    /// The context for elements after those of a source.
    fn context(&self, _about: Option<&[u8]>, _source: &SourceElements) -> Self::EditContext {
        Self::EditContext::default()
    }
    /// The context of a new session; by default, that after an empty source.
    fn new_context(&self, _session: &Session, _view: &View) -> Self::EditContext {
        self.context(None, &SourceElements::default())
    }
    /// The edits that give the session this view; by default, elements of hidden messages are removed.
    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        edits.rewritten_or_plain(writer)
    }
    /// Returns an error if the program of the format would not accept these edits in place.
    fn check(&self, _edits: &ElementEdits<'_, Self>, _list: &[ElementEdit]) -> Result<()> {
        Ok(())
    }
    /// Lines to append in place of these edits, for a program whose logs are append-only.
    fn appended(&self, _source: &SourceElements, _edits: &[ElementEdit]) -> Option<Vec<Vec<u8>>> {
        None
    }
    /// Whether the format has messages of this role.
    fn has_role(&self, _role: Role) -> bool {
        true
    }
    /// Whether a message is part of the previous message's element.
    fn joins(&self, _before: Role, _role: Role) -> bool {
        false
    }
    /// Creates an element from messages; `None` if they do not form one.
    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        self.encode(messages, out.report)
    }
    /// Creates elements from joined messages, usually one.
    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        Vec::from_iter(self.new_element(messages, out))
    }
    /// The elements of a summary after these new elements; `None` if it is written as a message. `body` is the summary
    /// event.
    fn new_summary(
        &self,
        _text: &str,
        _body: &[u8],
        _before: &[Vec<u8>],
        _context: &mut Self::EditContext,
    ) -> Option<Vec<Vec<u8>>> {
        None
    }
    /// The members next to the list of a new session.
    fn new_about(
        &self,
        _session: &Session,
        _view: &View,
        _context: &Self::EditContext,
        _layout: DocumentLayout,
    ) -> ObjectBuilder {
        ObjectBuilder::default()
    }
    /// The change of the member that [`Codec::instructions`] reads, for its changed message or, if that is hidden, none;
    /// `None` if the program cannot have such a change.
    fn new_instructions(
        &self,
        _message: Option<&AnnotatedMessage<'_>>,
        _report: &mut Report,
    ) -> Option<MemberChange> {
        None
    }
    /// Counts the losses of writing a message as a new element; `joined` if it is not the first one of the element.
    fn losses(&self, message: &AnnotatedMessage<'_>, _joined: bool, report: &mut Report) {
        losses::of(message, Self::LOST, Self::REPRESENTED_METADATA, report);
    }
    /// Checks the lines of a session before they are written.
    fn check_lines(&self, _lines: &[Vec<u8>], _report: &mut Report) {}
}

/// What the new elements of a session share.
pub struct Writer<'w, C: Editor> {
    pub purpose: WritePurpose,
    pub context: &'w mut C::EditContext,
    pub report: &'w mut Report,
}

/// Computes the changes to the elements of a source.
pub struct ElementEdits<'c, C: Codec> {
    /// The format.
    pub codec: &'c C,
    pub session: &'c Session,
    pub view: &'c View,
    /// The elements.
    pub source: &'c SourceElements,
    /// The view of the source before later events.
    pub own: View,
    pub changes: Vec<ElementChange>,
    outline: C::ElementOutline,
    /// The first line of each element.
    first: HashMap<usize, usize>,
}

impl<'c, C: Editor> ElementEdits<'c, C> {
    /// For the current view of a session.
    pub fn new(codec: &'c C, session: &'c Session, view: &'c View, source: &'c SourceElements) -> Self {
        let own = source_view(session, |index| records::is_own(session, index, C::NAME));
        ElementEdits {
            codec,
            session,
            view,
            source,
            changes: source.elements.changes(&own, view),
            own,
            outline: codec.outline(&source.raws),
            first: source.elements.first_lines(),
        }
    }

    /// The elements in order, with new items at their positions in the view.
    pub fn order(&self) -> Vec<NextElement> {
        let is_apart = |item: &_| self.source.is_outside_messages(item) || self.is_inserted(item);
        self.source.elements.order(self.view, &self.changes, &is_apart)
    }

    /// Whether an element has messages.
    pub fn has_messages(&self, nth: usize) -> bool {
        self.first.contains_key(&nth)
    }

    /// The elements with messages in the view.
    pub fn shown(&self) -> HashSet<usize> {
        self.shown_in(self.view)
    }

    /// The elements with messages in a view.
    pub fn shown_in(&self, view: &View) -> HashSet<usize> {
        let items = view.items.iter();
        let elements = items.filter_map(|item| self.source.elements.place(item));
        elements.collect()
    }

    /// The new summary, if any, and its position: before all messages in the view.
    pub fn summary(&self, order: &[NextElement]) -> Option<(usize, &Item)> {
        let summary = |item: &&Item| item.summary(self.session).is_some();
        let is_new = |item: &&Item| !self.source.is_summary(item) && summary(item);
        let item = self.view.items.iter().find(is_new)?;
        let shown = self.shown();
        let is_shown = |next: &NextElement| match next {
            NextElement::Element(nth) => shown.contains(nth),
            NextElement::Edited(..) => true,
            NextElement::Items(items) => !items.iter().all(|nth| summary(&&self.view.items[*nth])),
        };
        Some((order.iter().position(is_shown).unwrap_or(order.len()), item))
    }

    /// Whether a summary of the source inserts this item.
    pub fn is_inserted(&self, item: &Item) -> bool {
        let is_same =
            |own: &Item| matches!((own, item), (Item::Inserted(own), Item::Inserted(body)) if own == body);
        self.own.items.iter().any(is_same)
    }

    /// Whether the last summary of the source is in the view.
    pub fn keeps_summary(&self) -> bool {
        self.view.items.iter().any(|item| self.source.is_summary(item))
    }

    /// The change of a message that is a member next to the list, if it is hidden or has changed; an error if the
    /// format cannot represent the change.
    pub fn instructions(&self, report: &mut Report) -> Result<Option<MemberChange>> {
        let line = self.source.instructions;
        let item = self.view.items.iter().find(|item| item.line() == line);
        if line.is_none() || matches!(item, Some(Item::Line(_))) {
            return Ok(None);
        }
        let bodies: Vec<&[u8]> = item.iter().map(|item| item.body(self.session)).collect();
        let change = self
            .codec
            .new_instructions(annotated_messages(&bodies, C::NAME).first(), report);
        if change.is_some() {
            return Ok(change);
        }
        Err(Error::not_in_place(
            "the instructions next to the messages cannot be changed in place",
        ))
    }

    /// Edits that keep, replace, remove and insert elements; if the view lacks a summary of the source, those of a view
    /// as plain elements, because the summary would remain or show the messages that it hides.
    pub fn rewritten_or_plain(&self, writer: &mut Writer<'_, C>) -> Vec<ElementEdit> {
        match self.keeps_summaries() {
            true => self.rewritten(writer),
            false => self.plain(writer),
        }
    }

    /// Edits that keep, replace, remove and insert elements, and keep all summaries.
    pub fn rewritten(&self, writer: &mut Writer<'_, C>) -> Vec<ElementEdit> {
        self.edits_of(self.with_results(self.order()), writer)
    }

    fn edits_of(
        &self,
        order: impl IntoIterator<Item = NextElement>,
        writer: &mut Writer<'_, C>,
    ) -> Vec<ElementEdit> {
        let mut edits = Vec::new();
        for next in order {
            match next {
                NextElement::Element(nth) if self.changes[nth] == ElementChange::Removed => {}
                NextElement::Element(nth) => edits.push(ElementEdit::Keep(nth)),
                NextElement::Edited(nth, items) => {
                    match self.edited(nth, &items, writer) {
                        Some(raw) => edits.push(ElementEdit::Replace(nth, raw)),
                        // The changed messages do not form an element.
                        None => edits.extend(self.insertions(&items, writer)),
                    }
                }
                NextElement::Items(items) => edits.extend(self.insertions(&items, writer)),
            }
        }
        edits
    }

    /// Whether the view has everything that the summaries of the source show.
    fn keeps_summaries(&self) -> bool {
        let is_of_summary = |item: &&Item| self.source.is_summary(item) || matches!(item, Item::Inserted(_));
        let is_same = |own: &Item, item: &Item| match (own, item) {
            (Item::Summary(own), Item::Summary(line)) => own == line,
            (Item::Inserted(own), Item::Inserted(body)) => own == body,
            _ => false,
        };
        let mut own = self.own.items.iter().filter(is_of_summary);
        own.all(|own| self.view.items.iter().any(|item| is_same(own, item)))
    }

    /// Edits that write the view as plain elements: removes hidden elements, and inserts the messages of summaries.
    fn plain(&self, writer: &mut Writer<'_, C>) -> Vec<ElementEdit> {
        let shown = self.shown();
        let is_left = |nth: usize| match self.has_messages(nth) {
            true => shown.contains(&nth),
            false => !self.source.summaries.iter().any(|(own, _)| *own == nth),
        };
        let is_apart = |item: &_| self.source.is_instructions(item);
        let order = self.source.elements.order(self.view, &self.changes, &is_apart);
        let order = order
            .into_iter()
            .filter(|next| !matches!(next, NextElement::Element(nth) if !is_left(*nth)));
        self.edits_of(order, writer)
    }

    /// The order with new tool results merged into the element of the preceding messages, if the format's elements
    /// include results.
    fn with_results(&self, order: Vec<NextElement>) -> Vec<NextElement> {
        if C::SPLITS_JOINED_MESSAGES || !self.codec.joins(Role::Assistant, Role::Tool) {
            return order;
        }
        let is_result = |item: &&usize| {
            let traits = self.view.items[**item].traits(self.session);
            traits.is_some_and(|traits| traits.role == Role::Tool)
        };
        let mut out: Vec<NextElement> = Vec::new();
        for next in order {
            let NextElement::Items(items) = next else {
                out.push(next);
                continue;
            };
            let results = items.iter().take_while(is_result).count();
            if results == 0 {
                out.push(NextElement::Items(items));
                continue;
            }
            let (results, others) = items.split_at(results);
            let shown = |next: &mut NextElement| match next {
                NextElement::Element(nth) => Some((*nth, self.source.elements.items(self.view, *nth))),
                NextElement::Edited(nth, items) => Some((*nth, std::mem::take(items))),
                NextElement::Items(_) => None,
            };
            let last = out.iter_mut().rev().find_map(|next| {
                let found = shown(next).filter(|(_, items)| !items.is_empty());
                found.map(|(nth, items)| (next, nth, items))
            });
            let is_joined = last.is_some();
            if let Some((next, nth, mut items)) = last {
                items.extend(results);
                *next = NextElement::Edited(nth, items);
            }
            let others = if is_joined { others.to_vec() } else { items };
            if !others.is_empty() {
                out.push(NextElement::Items(others));
            }
        }
        out
    }

    /// An element reduced to these items of the view, including new ones.
    pub fn edited(&self, nth: usize, items: &[usize], writer: &mut Writer<'_, C>) -> Option<Vec<u8>> {
        let raw = &self.source.raws[nth];
        let id = self.session.id(*self.first.get(&nth)?)?;
        if writer.purpose == WritePurpose::Export {
            let items = items.iter().map(|item| &self.view.items[*item]);
            for item in items.filter(|item| self.source.elements.place(item) != Some(nth)) {
                if let Some(message) = item.message(self.session) {
                    let body = item.body(self.session);
                    let message = AnnotatedMessage::of(0, body, message, C::NAME);
                    self.codec.losses(&message, true, writer.report);
                }
            }
        }
        let bodies: Vec<&[u8]> = items
            .iter()
            .map(|item| self.view.items[*item].body(self.session))
            .collect();
        let messages = annotated_messages(&bodies, C::NAME);
        let now = self.codec.encode(&messages, writer.report)?;
        let then = self.codec.decode(&self.outline, nth, raw);
        let then = session::encoded(self.codec, then, raw, &id);
        Some(match then.as_ref().and_then(|then| residue(raw, then)) {
            Some(residue) => restore_changed(then.as_deref(), &now, &residue),
            None => now,
        })
    }

    /// Inserts new elements for these items.
    pub fn insertions(&self, items: &[usize], writer: &mut Writer<'_, C>) -> Vec<ElementEdit> {
        let elements = new_elements(self.codec, (self.session, self.view), items, writer);
        elements.into_iter().map(ElementEdit::Insert).collect()
    }
}

/// New elements for these items of a view.
pub fn new_elements<C: Editor>(
    codec: &C,
    (session, view): (&Session, &View),
    items: &[usize],
    writer: &mut Writer<'_, C>,
) -> Vec<Vec<u8>> {
    let mut elements = Vec::new();
    let mut group: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut before = None;
    let close = |group: &mut Vec<Cow<'_, [u8]>>, elements: &mut Vec<_>, writer: &mut _| {
        let bodies = std::mem::take(group);
        if !bodies.is_empty() {
            elements.extend(codec.new_elements(&annotated_messages(&bodies, C::NAME), writer));
        }
    };
    for item in items.iter().map(|nth| &view.items[*nth]) {
        let mut body = Cow::Borrowed(item.body(session));
        if let Some(text) = item.summary(session) {
            close(&mut group, &mut elements, writer);
            if let Some(summary) = codec.new_summary(&text, &body, &elements, writer.context) {
                elements.extend(summary);
                continue;
            }
            let is_read_back = C::QUOTES_SUMMARIES && json::member(&body, "here").is_some();
            let is_lost = writer.purpose == WritePurpose::Export && !is_read_back;
            writer.report.count_loss(Loss::Summary, u64::from(is_lost));
            body = Cow::Owned(item.summary_message(session).unwrap_or_default());
        }
        let bodies = [body];
        let messages = annotated_messages(&bodies, C::NAME);
        let Some(message) = messages.first() else {
            continue;
        };
        let role = message.message.role();
        if !codec.has_role(role) {
            writer.report.count_missing(Loss::Message, 1);
            continue;
        }
        let joins = before.is_some_and(|before| codec.joins(before, role)) && !group.is_empty();
        if !joins {
            close(&mut group, &mut elements, writer);
        }
        before = Some(role);
        if writer.purpose == WritePurpose::Export {
            codec.losses(message, joins, writer.report);
            // Data that another variant could not represent.
            let residue = message.noted("residue").is_some_and(|residue| residue != b"null");
            writer.report.count_loss(Loss::Metadata, u64::from(residue));
        }
        let [body] = bodies;
        group.push(body);
    }
    close(&mut group, &mut elements, writer);
    elements
}
