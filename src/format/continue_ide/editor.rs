//! Writes Continue's items with the kit. Hidden messages are removed, except those covered by a summary, which is on
//! the last item that it covers. Continue sends the results in call states, so results are written there.

use super::codec::ContinueCodec;
use super::decode::text;
use super::encode;
use crate::format::kit::records::annotated_messages;
use crate::format::kit::{
    Codec, DocumentLayout, Editor, ElementChange, ElementEdit, ElementEdits, NextElement, Writer, losses,
};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::Workspace;
use crate::model::json::{self, ObjectBuilder, array, quoted};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::collections::HashSet;

/// An item that only has a summary.
const EMPTY: &[u8] = br#"[{"message":{"role":"assistant","content":""},"contextItems":[]}]"#;

impl Editor for ContinueCodec {
    type EditContext = ();

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let mut plan = ContinuePlan {
            edits,
            live: edits.session.live_events().into_iter().collect(),
            out: Vec::new(),
        };
        let order = edits.order();
        let (first, text) = match edits.summary(&order) {
            Some((first, item)) => (first, item.summary(edits.session)),
            None => (0, None),
        };
        let is_empty = first == order.len();
        for (at, next) in order.into_iter().enumerate() {
            if at == first {
                plan.summarize(text.as_deref());
            }
            plan.next(next, at < first, writer);
        }
        if is_empty {
            plan.summarize(text.as_deref());
        }
        plan.out
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        matches!(before, Role::Assistant | Role::Tool) && role == Role::Tool
    }

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        encode::group(messages, true, out.report)
    }

    fn new_summary(&self, text: &str, _: &[u8], _: &[Vec<u8>], (): &mut ()) -> Option<Vec<Vec<u8>>> {
        Some(vec![with_summary(EMPTY, Some(text))])
    }

    fn new_about(&self, session: &Session, view: &View, (): &(), _: DocumentLayout) -> ObjectBuilder {
        let header = |name: &str, usual: &str| session.header_text(name).unwrap_or_else(|| usual.to_string());
        let workspace = Workspace::of(session);
        let mut about = ObjectBuilder::default();
        about
            .text("sessionId", &header("id", "session"))
            .text("title", &header("title", "New Session"))
            .raw("workspaceDirectory", workspace.directory());
        about.optional("chatModelTitle", workspace.last_model(session, view));
        about
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let message = &annotated.message;
        // Usage is represented.
        let lost = [Loss::Id, Loss::Timestamp, Loss::Model];
        losses::of(annotated, &lost, &["is_error", Self::NAME], report);
        report.count_loss(Loss::Name, u64::from(message.name.is_some()));
        let is_known = matches!(
            message.role(),
            Role::User | Role::Assistant | Role::Tool | Role::System
        );
        report.count_loss(Loss::Category, u64::from(!is_known || message.category.is_some()));
    }
}

struct ContinuePlan<'e, 'c> {
    edits: &'e ElementEdits<'c, ContinueCodec>,
    /// The active events.
    live: HashSet<usize>,
    out: Vec<ElementEdit>,
}

impl ContinuePlan<'_, '_> {
    /// Adds the next groups; those covered by a summary are kept.
    fn next(&mut self, next: NextElement, is_covered: bool, writer: &mut Writer<'_, ContinueCodec>) {
        let edits = self.edits;
        match next {
            NextElement::Element(nth) if edits.changes[nth] == ElementChange::Removed && !is_covered => {}
            NextElement::Element(nth) => self.out.push(match self.is_undone(nth) && !is_covered {
                true => ElementEdit::Replace(nth, with_summary(&edits.source.raws[nth], None)),
                false => ElementEdit::Keep(nth),
            }),
            NextElement::Edited(nth, items) => {
                if let Some(group) = edits.edited(nth, &items, writer) {
                    let group = match self.is_undone(nth) {
                        true => with_summary(&group, None),
                        false => group,
                    };
                    self.out.push(ElementEdit::Replace(nth, group));
                }
                for item in items {
                    if matches!(edits.view.items[item], Item::Edited(..)) {
                        self.answer(item, writer.report);
                    }
                }
            }
            NextElement::Items(items) => {
                let items = items.into_iter().filter(|nth| {
                    let item = &edits.view.items[*nth];
                    item.summary(edits.session).is_none() && !self.answer(*nth, writer.report)
                });
                let items: Vec<usize> = items.collect();
                self.out.extend(edits.insertions(&items, writer));
            }
        }
    }

    /// Whether the summary of a group was undone.
    fn is_undone(&self, nth: usize) -> bool {
        let mut summaries = self.edits.source.summaries.iter().filter(|(at, _)| *at == nth);
        summaries.any(|(_, line)| !self.live.contains(line))
    }

    /// Stores a result in the state of its call; `false` if there is no such call.
    fn answer(&mut self, item: usize, report: &mut Report) -> bool {
        let edits = self.edits;
        let bodies = [edits.view.items[item].body(edits.session)];
        let results = annotated_messages(&bodies, ContinueCodec::NAME);
        let Some(result) = results
            .first()
            .filter(|annotated| annotated.message.role() == Role::Tool)
        else {
            return false;
        };
        let raws = &edits.source.raws;
        for edit in self.out.iter_mut().rev() {
            let raw = match edit {
                ElementEdit::Keep(nth) => &raws[*nth],
                ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => raw,
            };
            let Some(changed) = encode::with_result(raw, result, report) else {
                continue;
            };
            if changed != *raw {
                *edit = match edit {
                    ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => {
                        ElementEdit::Replace(*nth, changed)
                    }
                    ElementEdit::Insert(_) => ElementEdit::Insert(changed),
                };
            }
            return true;
        }
        false
    }

    /// Adds a new summary to the last group so far.
    fn summarize(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        let raws = &self.edits.source.raws;
        let last = self.out.pop();
        self.out.push(match last {
            Some(ElementEdit::Keep(nth)) => ElementEdit::Replace(nth, with_summary(&raws[nth], Some(text))),
            Some(ElementEdit::Replace(nth, raw)) => ElementEdit::Replace(nth, with_summary(&raw, Some(text))),
            Some(ElementEdit::Insert(raw)) => ElementEdit::Insert(with_summary(&raw, Some(text))),
            None => ElementEdit::Insert(with_summary(EMPTY, Some(text))),
        });
    }
}

/// A group with this summary, or none, on its last item.
fn with_summary(group: &[u8], summary: Option<&str>) -> Vec<u8> {
    let mut items: Vec<Vec<u8>> = json::items(group).into_iter().map(<[u8]>::to_vec).collect();
    let quoted = summary.map(quoted);
    let is_last = items.len().saturating_sub(1);
    for (nth, item) in items.iter_mut().enumerate() {
        let value = quoted.as_deref().filter(|_| nth == is_last);
        if (value.is_some() || text(item, "conversationSummary").is_some())
            && let Ok(changed) = json::with_members(item, &[("conversationSummary", value)])
        {
            *item = changed;
        }
    }
    array(items)
}
