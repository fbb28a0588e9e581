//! Writes opencode sessions with the kit. A truncation or summary becomes a compaction after the messages; any other
//! change edits the messages.

use super::codec::Opencode;
use super::element::{OpencodeMessage, kind, rfc3339};
use super::encode::{self, Results};
use super::new_messages::{self, MessageFactory, ModelInfo, compaction, step, times};
use crate::format::WritePurpose;
use crate::format::kit::{
    DocumentLayout, Editor, ElementChange, ElementEdit, ElementEdits, NextElement, SourceElements, Writer,
    losses,
};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::request::token_figures::Figures;
use crate::format::workspace::Workspace;
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::key;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::time::moment;
use crate::model::view::{Item, View};

/// The text of a compaction for a truncation, because a compaction requires a text.
const CUT: &str = "[Earlier messages were cut off.]";

impl Editor for Opencode {
    type EditContext = MessageFactory;

    fn context(&self, about: Option<&[u8]>, source: &SourceElements) -> MessageFactory {
        let info = about
            .and_then(|about| json::member(about, "info"))
            .unwrap_or(b"{}");
        let text = |name| json::member_text(info, name);
        let infos = || source.raws.iter().filter_map(|raw| json::member(raw, "info"));
        // For a list of messages without a session, use the id in the messages.
        let named = || {
            infos()
                .next()
                .and_then(|info| json::text(json::member(info, "sessionID")?))
        };
        let session = text("id").or_else(named);
        let mut making = MessageFactory::new(
            session.as_deref().unwrap_or("ses_unknown"),
            text("directory").as_deref().unwrap_or("/"),
        );
        for raw in &source.raws {
            OpencodeMessage::of(raw).inspect(|element| making.pass(element));
        }
        making
    }

    fn new_context(&self, session: &Session, view: &View) -> MessageFactory {
        let workspace = Workspace::of(session);
        let own = session.header_text("id").unwrap_or_default();
        let id = match own.starts_with("ses_") {
            true => own,
            false => format!("ses_{}", &key::sha256(own.as_bytes())[..26]),
        };
        let mut making = MessageFactory::new(&id, &json::text(workspace.directory()).unwrap_or_default());
        making.clock = start_time(session, view);
        let models = view
            .items
            .iter()
            .filter_map(|item| json::member(item.body(session), "model"));
        let models = workspace.model.as_deref().into_iter().chain(models);
        if let Some(model) = models.filter_map(json::text).next() {
            making.model = model.into_owned();
        }
        making
    }

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let plan = OpencodePlan { edits };
        match plan.compacted() {
            Some(added) => plan.grown(added, writer),
            None => plan.rewritten(writer),
        }
    }

    fn has_role(&self, role: Role) -> bool {
        matches!(role, Role::User | Role::Assistant | Role::Tool)
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        before != Role::User && role != Role::User
    }

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        // Results before the first call cannot be represented.
        let first = messages
            .iter()
            .position(|annotated| annotated.message.role() != Role::Tool);
        let (loose, messages) = messages.split_at(first.unwrap_or(messages.len()));
        out.report.count_missing(Loss::Orphan, loose.len() as u64);
        if messages.is_empty() {
            return None;
        }
        let info = new_info(messages, out);
        let mut results = Results::of(messages);
        let mut parts = Vec::new();
        for annotated in messages
            .iter()
            .filter(|annotated| annotated.message.role() != Role::Tool)
        {
            let built = encode::parts(annotated, &mut results, out.report);
            if annotated.message.role() == Role::User {
                parts.extend(built);
                continue;
            }
            let usage = json::member(annotated.body, "usage");
            let used = usage.and_then(Figures::of);
            out.report
                .count_loss(Loss::Usage, u64::from(usage.is_some() && used.is_none()));
            let reason = if annotated.message.calls_tools() {
                "tool-calls"
            } else {
                "stop"
            };
            parts.push(step("step-start", None));
            parts.extend(built);
            parts.push(step("step-finish", Some((reason, used.unwrap_or_default()))));
        }
        results.finish(out.report);
        let parts = parts
            .iter()
            .map(|part| out.context.part(part, &info, None))
            .collect::<Vec<_>>();
        Some(new_messages::message(&info, &parts))
    }

    fn new_summary(
        &self,
        text: &str,
        _: &[u8],
        before: &[Vec<u8>],
        making: &mut MessageFactory,
    ) -> Option<Vec<Vec<u8>>> {
        let first = before
            .first()
            .and_then(|first| OpencodeMessage::of(first)?.text("id").map(|id| id.into_owned()));
        Some(compaction(text, first.as_deref(), making).into())
    }

    fn new_about(
        &self,
        session: &Session,
        view: &View,
        making: &MessageFactory,
        _: DocumentLayout,
    ) -> ObjectBuilder {
        let title = session.header_text("title");
        let title = title.unwrap_or_else(|| "Imported session".to_string());
        let begun = start_time(session, view);
        let mut info = ObjectBuilder::default();
        info.text("id", &making.session)
            .text("slug", &new_messages::slug(&title))
            .text("version", "0.0.0")
            .text("projectID", "global")
            .text("directory", &making.directory)
            .text("title", &title)
            .raw("time", times(&[("created", begun), ("updated", making.clock)]));
        let mut about = ObjectBuilder::default();
        about.raw("info", info.finish());
        about
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let message = &annotated.message;
        losses::of(annotated, &[Loss::Name], &["is_error"], report);
        let has_place = match message.role() {
            Role::User => matches!(message.category(), Category::Dialog | Category::Context),
            role => message.category() == role.category(),
        };
        report.count_loss(Loss::Category, u64::from(!has_place));
        let is_result = message.role() == Role::Tool;
        report.count_loss(
            Loss::Timestamp,
            u64::from(is_result && message.timestamp.is_some()),
        );
    }
}

/// The start time of a session, in milliseconds.
fn start_time(session: &Session, view: &View) -> i64 {
    let created = new_messages::native_time(session.header_member("created_at"));
    let mut times = view
        .messages(session)
        .filter_map(|message| new_messages::native_time(message.timestamp));
    created.or_else(|| times.next()).unwrap_or(0)
}

/// The `info` of a new message.
fn new_info(messages: &[AnnotatedMessage<'_>], writer: &mut Writer<'_, Opencode>) -> Vec<u8> {
    let (first, others) = (&messages[0].message, &messages[1..]);
    let time = writer.context.time(new_messages::native_time(first.timestamp));
    let own = first.id();
    let (id, kept) = writer.context.message_id(own.as_deref());
    if writer.purpose == WritePurpose::Export {
        let ids = others
            .iter()
            .filter(|annotated| annotated.message.id.is_some())
            .count();
        writer
            .report
            .count_loss(Loss::Id, u64::from(own.is_some() && !kept) + ids as u64);
        // All steps of an answer have the time of the first.
        let steps = others
            .iter()
            .filter(|annotated| annotated.message.role() != Role::Tool);
        let steps = steps
            .filter(|annotated| annotated.message.timestamp.is_some())
            .count();
        let now = rfc3339(time).and_then(|text| moment(&text));
        let moved = first.timestamp().is_some_and(|text| moment(&text) != now);
        writer
            .report
            .count_loss(Loss::Timestamp, u64::from(moved) + steps as u64);
    }
    if first.role() == Role::User {
        return writer.context.user(&id, time);
    }
    let mut used = messages
        .iter()
        .filter_map(|annotated| Figures::of(json::member(annotated.body, "usage")?));
    let model = |annotated: &AnnotatedMessage<'_>| json::member_string(annotated.body, "model");
    let models: Vec<String> = messages.iter().filter_map(model).collect();
    let model = models.last();
    if writer.purpose == WritePurpose::Export {
        let others = models.iter().filter(|own| Some(*own) != model).count();
        writer.report.count_loss(Loss::Model, others as u64);
    }
    let last = messages
        .iter()
        .rev()
        .find(|annotated| annotated.message.role() != Role::Tool);
    let reported = ModelInfo {
        model: model.map(String::as_str),
        used: used.next_back().unwrap_or_default(),
        calls: last.is_some_and(|annotated| annotated.message.calls_tools()),
        is_summary: false,
    };
    writer.context.assistant(&id, time, &reported)
}

/// The elements to append after the messages.
enum Added {
    Nothing,
    /// A compaction with this text that keeps the elements from this one on.
    Compaction(Option<usize>, String),
}

struct OpencodePlan<'p> {
    edits: &'p ElementEdits<'p, Opencode>,
}

impl OpencodePlan<'_> {
    fn element(&self, nth: usize) -> Option<OpencodeMessage<'_>> {
        OpencodeMessage::of(&self.edits.source.raws[nth])
    }

    fn id(&self, nth: usize) -> Option<String> {
        self.element(nth)?.text("id").map(|id| id.into_owned())
    }

    fn place(&self, item: &Item) -> Option<usize> {
        self.edits.source.elements.of.get(&item.line()?).copied()
    }

    /// The compaction that produces this view, if one suffices.
    fn compacted(&self) -> Option<Added> {
        let ElementEdits {
            view, own, source, ..
        } = self.edits;
        let items = &view.items;
        let changes = &self.edits.changes;
        if changes
            .iter()
            .any(|change| matches!(change, ElementChange::Edited | ElementChange::Restored))
        {
            return None;
        }
        let kept: Vec<usize> = own.items.iter().filter_map(|item| self.place(item)).collect();
        let removed = |element: &usize| changes[*element] == ElementChange::Removed;
        let cut = kept.iter().take_while(|element| removed(element)).count();
        if kept[cut..].iter().any(removed) {
            return None;
        }
        let is_new = |item: &Item| self.place(item).is_none() && !source.is_summary(item);
        let first = items.iter().position(|item| !is_new(item)).unwrap_or(items.len());
        let last = items
            .iter()
            .rposition(|item| !is_new(item))
            .map_or(0, |last| last + 1);
        if items[first.min(last)..last].iter().any(is_new) {
            return None;
        }
        let had_summary = own.items.iter().any(|item| source.is_summary(item));
        // A new summary may come first; in a completely new session it is written with the other messages.
        let text = match &items[..first] {
            [] => None,
            [item, ..] if first == 1 || last == 0 => item.summary(self.edits.session),
            _ => return None,
        };
        let summary = text.map(|text| text.into_owned());
        if last == 0 && summary.is_none() && !items.is_empty() && cut == 0 && kept.is_empty() {
            return Some(Added::Nothing);
        }
        if cut == 0 && summary.is_none() && had_summary == self.edits.keeps_summary() {
            return Some(Added::Nothing);
        }
        let first = kept.get(cut).copied();
        // A compaction names the first kept message; without its id, nothing would be kept.
        if first.is_some_and(|first| self.id(first).is_none()) {
            return None;
        }
        let earlier = items.iter().find(|item| source.is_summary(item));
        let text = summary.or_else(|| Some(earlier?.summary(self.edits.session)?.into_owned()));
        let text = text.unwrap_or_else(|| CUT.to_string());
        Some(Added::Compaction(first, text))
    }

    /// All elements, followed by a compaction and new messages.
    fn grown(&self, added: Added, writer: &mut Writer<'_, Opencode>) -> Vec<ElementEdit> {
        let source = self.edits.source;
        let mut out: Vec<ElementEdit> = (0..source.raws.len()).map(ElementEdit::Keep).collect();
        let mut is_written = false;
        if let Added::Compaction(kept, text) = added {
            let kept = kept.and_then(|kept| self.id(kept));
            out.extend(compaction(&text, kept.as_deref(), writer.context).map(ElementEdit::Insert));
            is_written = true;
        }
        let items = &self.edits.view.items;
        let is_new = |nth: &usize| {
            let item = &items[*nth];
            let summary = matches!(item, Item::Summary(_)) && (is_written || source.is_summary(item));
            self.place(item).is_none() && !summary
        };
        let new: Vec<usize> = (0..items.len()).filter(is_new).collect();
        out.extend(self.edits.insertions(&new, writer));
        out
    }

    /// The elements as they are in the view, with new ones inserted. Elements that a visible compaction hides are kept.
    fn rewritten(&self, writer: &mut Writer<'_, Opencode>) -> Vec<ElementEdit> {
        let ElementEdits { view, source, .. } = self.edits;
        let keeps_summary = self.edits.keeps_summary();
        let mut shown = vec![false; source.raws.len()];
        for element in view.items.iter().filter_map(|item| self.place(item)) {
            shown[element] = true;
        }
        let order = self.edits.order();
        let mut out: Vec<ElementEdit> = Vec::new();
        for (at, next) in order.iter().enumerate() {
            match next {
                NextElement::Element(nth) => {
                    let is_kept =
                        self.edits.changes[*nth] != ElementChange::Removed && (keeps_summary || shown[*nth]);
                    out.extend(is_kept.then_some(ElementEdit::Keep(*nth)));
                }
                NextElement::Edited(nth, items) => out.extend(self.edited(*nth, items, writer)),
                NextElement::Items(items) => {
                    let following = order[at + 1..].iter().find_map(|next| self.next_kept(next));
                    let new = match following {
                        Some(following) => {
                            let before = out.last().map(|edit| edit.element(&source.raws).to_vec());
                            let before = before.as_deref().and_then(OpencodeMessage::of);
                            let mut between = writer.context.between(before.as_ref(), &following);
                            let mut inner = Writer {
                                purpose: writer.purpose,
                                context: &mut between,
                                report: writer.report,
                            };
                            let new = self.edits.insertions(items, &mut inner);
                            writer.context.pass_numbers(&between);
                            new
                        }
                        None => self.edits.insertions(items, writer),
                    };
                    out.extend(new);
                }
            }
        }
        if let (true, Some((answer, _))) = (keeps_summary, source.summaries.last()) {
            self.keep_tail(*answer, &shown, &mut out);
        }
        out
    }

    /// The next element, if it is not removed.
    fn next_kept(&self, next: &NextElement) -> Option<OpencodeMessage<'_>> {
        match next {
            NextElement::Element(nth) | NextElement::Edited(nth, _)
                if self.edits.changes[*nth] != ElementChange::Removed =>
            {
                self.element(*nth)
            }
            _ => None,
        }
    }

    /// An element reduced to these items of the view. New parts get ids.
    fn edited(&self, nth: usize, items: &[usize], writer: &mut Writer<'_, Opencode>) -> Option<ElementEdit> {
        let edited = self.edits.edited(nth, items, writer)?;
        let (source, edited) = (self.element(nth)?, OpencodeMessage::of(&edited)?);
        let parts = writer.context.parts(&edited.parts, source.info);
        Some(ElementEdit::Replace(
            nth,
            new_messages::message(source.info, &parts),
        ))
    }

    /// Updates the request of the effective compaction to name the first kept message.
    fn keep_tail(&self, answer: usize, shown: &[bool], out: &mut [ElementEdit]) {
        let parent = self
            .element(answer)
            .and_then(|answer| answer.text("parentID").map(|id| id.into_owned()));
        let Some(parent) = parent else { return };
        let Some(question) = (0..answer).find(|nth| self.id(*nth).as_deref() == Some(&*parent)) else {
            return;
        };
        let raw = &self.edits.source.raws[question];
        let Some(element) = OpencodeMessage::of(raw) else {
            return;
        };
        let mut asks = element.parts.iter().filter(|part| kind(part) == "compaction");
        let named = asks
            .next_back()
            .and_then(|part| json::member(part, "tail_start_id"));
        let first =
            (0..question).find(|nth| shown[*nth] && self.edits.changes[*nth] != ElementChange::Removed);
        let (Some(named), Some(id)) = (named, first.and_then(|first| self.id(first))) else {
            return;
        };
        let id = quoted(&id);
        if id == named {
            return;
        }
        let mut places = out.iter_mut();
        if let Some(place) = places.find(|edit| matches!(edit, ElementEdit::Keep(nth) if *nth == question)) {
            *place = ElementEdit::Replace(question, json::replaced(raw, named, &id));
        }
    }
}
