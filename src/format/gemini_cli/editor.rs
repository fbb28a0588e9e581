//! Writes recordings with the kit: changes documents, and appends lines to logs.

use super::codec::{GeminiCli, is_hidden};
use super::encode::{self, NAME, NewMembers, answers};
use super::repeats::repeats;
use crate::error::Position;
use crate::format::kit::{
    Codec, DocumentLayout, Editor, ElementEdit, ElementEdits, NewIds, SourceElements, Writer, losses,
};
use crate::format::object::timestamp;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::Workspace;
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder, array, quoted, wrapped};
use crate::model::key;
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::HashSet;

/// State for creating new records.
#[derive(Default)]
pub struct GeminiRecordFactory {
    /// The time of the last message with one.
    clock: Vec<u8>,
    ids: NewIds,
}

impl GeminiRecordFactory {
    fn record(&mut self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        let body = messages.first()?.body;
        let id = self.ids.id(body);
        let new = NewMembers {
            id: &id,
            time: &self.clock,
        };
        let record = encode::record(messages, Some(new), report)?;
        report.count_loss(Loss::Message, u64::from(is_hidden(&record)));
        Some(record)
    }
}

impl Editor for GeminiCli {
    type EditContext = GeminiRecordFactory;

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> GeminiRecordFactory {
        let clock = source.raws.iter().rev().find_map(|raw| timestamp(raw));
        GeminiRecordFactory {
            clock: clock.unwrap_or(EPOCH_MILLIS).to_vec(),
            ids: source.raws.iter().filter_map(|raw| self.id(raw)).collect(),
        }
    }

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let mut list = edits.rewritten_or_plain(writer);
        let kept = |edit: &ElementEdit| match edit {
            ElementEdit::Keep(nth) => Some(*nth),
            _ => None,
        };
        let unchanged: HashSet<usize> = list.iter().filter_map(kept).collect();
        // Drop repetitions of results that have changed or are removed.
        let repeats = repeats(&edits.source.raws);
        let is_left =
            |nth: usize| { repeats.get(&nth) }.is_none_or(|of| of.iter().all(|of| unchanged.contains(of)));
        list.retain(|edit| kept(edit).is_none_or(is_left));
        list
    }

    fn appended(&self, source: &SourceElements, edits: &[ElementEdit]) -> Option<Vec<Vec<u8>>> {
        let raws = &source.raws;
        // Lines that are not operations have no position among the messages.
        let live: Vec<usize> = (0..raws.len()).filter(|nth| !raws[*nth].is_empty()).collect();
        let is_live = |edit: &&ElementEdit| !matches!(edit, ElementEdit::Keep(nth) if raws[*nth].is_empty());
        let edits: Vec<&ElementEdit> = edits.iter().filter(is_live).collect();
        let is_new = |edit: &&ElementEdit| matches!(edit, ElementEdit::Insert(_));
        let new = |edits: &[&ElementEdit]| -> Vec<Vec<u8>> {
            let raws = edits.iter().filter_map(|edit| match edit {
                ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => Some(raw.clone()),
                ElementEdit::Keep(_) => None,
            });
            raws.collect()
        };
        // A record with the same id replaces the existing one.
        let in_place = edits.iter().zip(&live).take_while(|(edit, nth)| match edit {
            ElementEdit::Keep(own) => own == *nth,
            ElementEdit::Replace(own, raw) => own == *nth && self.id(raw) == self.id(&raws[**nth]),
            ElementEdit::Insert(_) => false,
        });
        let in_place = in_place.count();
        if in_place == live.len() && edits[in_place..].iter().all(is_new) {
            return Some(new(&edits));
        }
        let kept = edits
            .iter()
            .zip(&live)
            .take_while(|(edit, nth)| **edit == &ElementEdit::Keep(**nth));
        let kept = kept.count();
        if let Some(first) = live.get(kept).filter(|_| edits[kept..].iter().all(is_new))
            && let Some(id) = self.id(&raws[*first])
        {
            return Some([vec![wrapped("$rewindTo", quoted(&id))], new(&edits[kept..])].concat());
        }
        let all = edits.iter().map(|edit| match edit {
            ElementEdit::Keep(nth) => &raws[*nth],
            ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => raw,
        });
        Some(vec![wrapped("$set", wrapped("messages", array(all)))])
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        matches!(before, Role::Assistant | Role::Tool) && role == Role::Tool
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        let Some(first) = messages.first() else {
            return Vec::new();
        };
        if let Some(time) = timestamp(first.body) {
            out.context.clock = time.to_vec();
        }
        // Results without their calls are written as user messages.
        let is_model = first.message.role() == Role::Assistant;
        let others: Vec<&AnnotatedMessage<'_>> = match is_model {
            true => answers(first, &messages[1..]).1,
            false => messages.iter().collect(),
        };
        let record = is_model
            .then(|| out.context.record(messages, out.report))
            .flatten();
        let mut records = Vec::from_iter(record);
        for annotated in others {
            records.extend(out.context.record(&[*annotated], out.report));
        }
        records
    }

    fn new_about(
        &self,
        session: &Session,
        _: &View,
        _: &GeminiRecordFactory,
        _: DocumentLayout,
    ) -> ObjectBuilder {
        let header = session.header();
        let find = |name: &str| {
            let mut members = header.iter();
            members
                .find(|(known, _)| known == name)
                .map(|(_, raw)| raw.clone())
        };
        let mut times = (0..session.len()).filter_map(|index| timestamp(session.record(index).body));
        let begun = find("created_at").or_else(|| times.clone().next().map(<[u8]>::to_vec));
        let begun = begun.unwrap_or_else(|| EPOCH_MILLIS.to_vec());
        let newest = times.next_back().map_or_else(|| begun.clone(), <[u8]>::to_vec);
        let workspace = Workspace::of(session);
        let project = json::text(workspace.directory()).unwrap_or_default();
        let id = session.header_text("id").unwrap_or_else(|| "session".to_string());
        let mut about = ObjectBuilder::default();
        about
            .text("sessionId", &id)
            // Gemini CLI identifies a project by the hash of its directory.
            .text("projectHash", &key::sha256(project.as_bytes()))
            .raw("startTime", begun)
            .raw("lastUpdated", newest)
            .text("kind", "main");
        about.optional("summary", find("title"));
        about
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let is_tool = annotated.message.role() == Role::Tool;
        let lost = if is_tool { [Loss::Id] } else { [Loss::Name] };
        let known = [NAME, "is_error", Api::Gemini.name()];
        losses::of(annotated, &lost, &known, report);
        let is_turn = is_tool || matches!(annotated.message.role(), Role::User | Role::Assistant);
        report.count_loss(
            Loss::Category,
            u64::from(!is_turn || annotated.message.category.is_some()),
        );
    }

    fn check_lines(&self, lines: &[Vec<u8>], report: &mut Report) {
        let hash = lines.first().and_then(|first| json::member(first, "projectHash"));
        if hash
            .and_then(json::text)
            .is_some_and(|hash| hash == key::sha256(b"/"))
        {
            let what = "no project (metadata.cwd): Gemini CLI does not list the session";
            report.note(Position::default(), what);
        }
    }
}
