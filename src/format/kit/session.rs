//! Converts elements to a session.

use super::any_codec::{AnyCodec, ElementDecoder};
use super::codec::{Decoded, DocumentLayout, Draft, LineageInfo, SummaryDraft, Visible, lines_of};
use super::part::{ElementState, Parsed};
use super::records::{self, Ids, annotated_messages};
use super::residue;
use super::sidecar::Sidecar;
use super::source::SourceElements;
use crate::error::Position;
use crate::format::native::{self, HeaderBuilder, HeaderSource};
use crate::format::report::Report;
use crate::format::workspace::WorkspaceMember;
use crate::model::event::{self, EPOCH};
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted, wrapped};
use crate::model::key;
use crate::model::record::{self, Record};
use crate::model::session::Session;
use crate::model::summary;
use std::collections::HashSet;

/// The place of a session in its input.
#[derive(Clone, Copy, Default)]
pub struct InputPart {
    /// Number of sessions before it.
    pub nth: usize,
    /// Whether the input may have several sessions.
    pub is_many: bool,
    /// Whether its sessions are only displayed: their messages get no annotations, which restore the elements.
    pub is_displayed: bool,
}

/// Converts elements to a session.
pub fn session(
    codec: &dyn AnyCodec,
    (input, sidecar): (InputPart, &Sidecar),
    origin: &HeaderSource,
    parsed: Parsed,
    report: &mut Report,
) -> (Session, SourceElements) {
    let mut parsed = parsed;
    let (layout, is_reported) = (parsed.layout, parsed.is_reported);
    let parts = std::mem::take(&mut parsed.parts);
    let mut raws = Vec::with_capacity(parts.len());
    let mut states = Vec::with_capacity(parts.len());
    let mut source = SourceElements::default();
    for part in parts {
        raws.push(part.raw);
        source.rows.extend(part.row);
        source.sizes.push(part.size);
        source.at.push(part.at);
        source.further.push(part.further);
        states.push((part.place, part.state));
    }
    source.is_side_session = parsed.side.is_some();
    let decoder = codec.decoder(input.nth + 1, &raws);
    for what in decoder.remarks(parsed.about.as_deref().unwrap_or(b"{}"), &raws) {
        report.note(Position::default(), what);
    }
    let mut session = Session::default();
    session.push_new(&header(codec, &*decoder, (input, sidecar), origin, &parsed));
    let mut building = SessionBuilder {
        codec,
        is_displayed: input.is_displayed,
        session,
        source,
        ids: Ids::default(),
        first: Vec::new(),
        drop: Vec::new(),
        edit: Vec::new(),
        inserted: Vec::new(),
        rules: HashSet::new(),
        time: None,
    };
    // Reserve the elements' ids, so that they are not assigned to others.
    raws.iter()
        .filter_map(|raw| codec.id(raw))
        .for_each(|id| building.ids.keep(&id));
    if let Some(mut message) = parsed
        .about
        .as_deref()
        .and_then(|about| codec.instructions(about))
    {
        if codec.constants().ids {
            message.raw("id", quoted(&building.ids.next("instructions", false)));
        }
        message.note("about", Some(b"true".to_vec()));
        let line = building.push(message.body_of(codec.constants().name), Position::default());
        building.source.instructions = Some(line);
    }
    let mut unrecognized = Vec::new();
    for (nth, (place, state)) in states.into_iter().enumerate() {
        match state {
            ElementState::Skipped => continue,
            ElementState::Damaged(full) => {
                if let record::RecordKind::Unreadable(fault) = Record::parse(&full, place).kind {
                    report.damage_in_line(place, fault);
                }
                building.session.push_ended(&full, place);
                continue;
            }
            ElementState::Unrecognized(raw) => {
                building.push(records::passthrough(codec.constants().name, &raw), place);
                unrecognized.push(place);
                continue;
            }
            ElementState::Element => {}
        }
        let raw = &raws[nth];
        if let Some(fault) = codec.fault(raw) {
            report.damage(place, fault);
        }
        building.time = codec.time(raw).or(building.time.take());
        let number = if layout == DocumentLayout::Lines {
            place.line as usize
        } else {
            nth + 1
        };
        let mut decoded = decoder.decode(nth, raw);
        if let Decoded::Messages(drafts) = &mut decoded {
            codec.complete(sidecar, raw, drafts);
            if codec.constants().quotes_summaries
                && let Some(summary) = quoted_summary(drafts)
            {
                decoded = Decoded::Summary(summary);
            }
        }
        if let Decoded::Passthrough | Decoded::Unrecognized = decoded {
            let lines = match building.source.further[nth].is_empty() {
                true => group_elements(codec, raw),
                false => lines_of(raw),
            };
            for raw in lines {
                building.push(records::passthrough(codec.constants().name, raw), place);
            }
        }
        match decoded {
            Decoded::Messages(drafts) => building.messages(nth, number, raw, drafts, place),
            Decoded::Summarized(drafts, summary) => {
                building.messages(nth, number, raw, drafts, place);
                building.summary(nth, None, summary, place);
            }
            Decoded::Summary(summary) => building.summary(nth, Some(raw), summary, place),
            Decoded::Passthrough => {}
            Decoded::Unrecognized => unrecognized.push(place),
        }
    }
    match layout {
        DocumentLayout::Lines => {
            report.report_unrecognized(unrecognized.into_iter(), codec.constants().phrase)
        }
        _ if is_reported => {}
        _ => unrecognized
            .into_iter()
            .for_each(|place| report.damage(place, "not a message; kept unchanged")),
    }
    building.hidden();
    building.source.elements.count = raws.len();
    building.source.raws = raws;
    (building.session, building.source)
}

/// The summary that a message consists of. A reply or a tool result that imitates one is not a summary.
fn quoted_summary(drafts: &[Draft]) -> Option<SummaryDraft> {
    let is_alone = |draft: &&Draft| drafts.len() == 1 && draft.visible == Visible::Whole;
    let message = &drafts.first().filter(is_alone)?.message;
    let role = message.role();
    let content = message
        .get("content")
        .filter(|content| summary::may_be_in(content))?;
    let (text, is_whole) = summary::at_the_start(content)?;
    let members = [("as", quoted(role)), ("here", b"true".to_vec())];
    let is_default = role == "system";
    (is_whole && (is_default || role == "user")).then(|| SummaryDraft {
        text,
        members: members[usize::from(is_default)..].to_vec(),
        ..SummaryDraft::default()
    })
}

/// The elements of a group; if damaged, the bytes between its brackets.
fn group_elements<'r>(codec: &dyn AnyCodec, raw: &'r [u8]) -> Vec<&'r [u8]> {
    match json::elements(raw, Dialect::Strict) {
        _ if !codec.constants().groups_elements => vec![raw],
        Some(elements) => elements,
        None => vec![&raw[1..raw.len() - 1]],
    }
}

fn header(
    codec: &dyn AnyCodec,
    decoder: &dyn ElementDecoder,
    (input, sidecar): (InputPart, &Sidecar),
    origin: &HeaderSource,
    parsed: &Parsed,
) -> Vec<u8> {
    let mut info = codec.info(parsed.about.as_deref().unwrap_or(b"{}"));
    decoder.add_info(&mut info);
    sidecar.complete(&mut info, parsed.side.is_some());
    let mut metadata = ObjectBuilder::default();
    let numbered = || format!("{}#{}", origin.name, input.nth + 1);
    let mut id = parsed.row.clone().or(info.id.take());
    id = id.or_else(|| input.is_many.then(numbered));
    if let Some((nth, side)) = &parsed.side {
        let parent = id.unwrap_or_else(|| match input.nth {
            0 => origin.name.clone(),
            _ => numbered(),
        });
        id = Some(side.id.clone().unwrap_or_else(|| format!("{parent}.{nth}")));
        info.created = None;
        info.lineage = Some(LineageInfo {
            kind: side.kind,
            parent,
            at: side.at.clone(),
        });
    }
    info.workspace.add_to(&mut metadata);
    let about = parsed
        .about
        .as_deref()
        .filter(|_| codec.constants().represented.contains(&WorkspaceMember::Tools));
    metadata.optional("tools", about.and_then(|about| json::member(about, "tools")));
    if let Some(LineageInfo { kind, parent, at }) = info.lineage {
        metadata.raw(
            "lineage",
            native::lineage(kind, &key::id_for_key(&parent), at.as_deref()),
        );
    }
    let mut own = ObjectBuilder::default();
    own.text("form", parsed.layout.name());
    if codec
        .variants()
        .first()
        .is_some_and(|usual| usual.variant() != codec.variant())
    {
        own.text("variant", codec.variant());
    }
    own.optional("session", parsed.about.as_ref());
    for (name, value) in &sidecar.notes {
        own.raw(name, value);
    }
    metadata.raw(codec.constants().name, own.finish());
    let mut header = HeaderBuilder::default();
    header
        .text("created_at", info.created.as_deref())
        .text("title", info.title.as_deref());
    let id = header.named(origin, id.as_deref(), input.nth);
    header.raw("metadata", metadata.finish());
    header.finish(&id)
}

struct SessionBuilder<'c> {
    codec: &'c dyn AnyCodec,
    is_displayed: bool,
    session: Session,
    source: SourceElements,
    ids: Ids,
    /// Element index and id of each message so far.
    first: Vec<(usize, String)>,
    /// Ids of messages that the model does not receive.
    drop: Vec<Vec<u8>>,
    /// Edits of messages whose content the model receives in another form.
    edit: Vec<Vec<u8>>,
    /// Ids of messages that the last summary inserts.
    inserted: Vec<Vec<u8>>,
    /// Ids of system messages.
    rules: HashSet<String>,
    /// The time of the last element that has one.
    time: Option<String>,
}

impl SessionBuilder<'_> {
    fn push(&mut self, body: Vec<u8>, place: Position) -> usize {
        self.session.push_generated(body, place);
        self.session.len() - 1
    }

    /// Appends the messages of an element; `number` forms the id of an element without one.
    fn messages(&mut self, nth: usize, number: usize, raw: &[u8], drafts: Vec<Draft>, place: Position) {
        let codec = self.codec;
        let own = codec.id(raw);
        let is_named = codec.constants().ids || drafts.len() > 1;
        let id = match &own {
            Some(id) => Some(self.ids.next(id, true)),
            None => is_named.then(|| self.ids.next(&format!("msg_{number}"), false)),
        };
        let mut bodies = bodies(codec, &drafts, id.as_deref(), None);
        if !self.is_displayed {
            let messages = annotated_messages(&bodies, codec.constants().name);
            let note = residue::note(raw, codec.encode(&messages, &mut Report::default()));
            bodies = self::bodies(codec, &drafts, id.as_deref(), Some(&note));
        }
        for (at, (draft, body)) in drafts.into_iter().zip(bodies).enumerate() {
            let line = self.push(body, place);
            self.source.elements.of.insert(line, nth);
            let Some(id) = id.as_deref().map(|id| message_id(codec, id, at)) else {
                continue;
            };
            if draft.message.role() == "system" {
                self.rules.insert(id.clone());
            }
            match draft.visible {
                Visible::Whole => {}
                Visible::Hidden => self.drop.push(quoted(&id)),
                Visible::Content(content) => {
                    let mut change = ObjectBuilder::default();
                    change.text("id", &id).raw("content", content);
                    self.edit.push(change.finish());
                }
            }
            self.first.push((nth, id));
        }
    }

    /// Appends a summary event for an element, or after the messages of an element.
    fn summary(&mut self, nth: usize, raw: Option<&[u8]>, summary: SummaryDraft, place: Position) {
        let codec = self.codec;
        let text = raw.map_or(summary.text.as_str().into(), String::from_utf8_lossy);
        let name = format!("{nth}\n{text}");
        let at = raw.and_then(|raw| codec.time(raw));
        let id = key::id_from("evt_", &name);
        let kept = summary.kept.unwrap_or(0);
        let covered = &self.first[..self.first.partition_point(|(at, _)| *at < kept)];
        let is_spared = |at: &usize| summary.spared.as_ref().is_some_and(|spared| spared.contains(at));
        let ends = covered.first().zip(covered.last());
        let covers = ends.map(|((_, first), (_, last))| array([quoted(first), quoted(last)]));
        let begin = |kind: &str| {
            let mut event = event::begin(kind, &id);
            event.text("at", at.as_deref().unwrap_or(EPOCH));
            event
        };
        let mut event;
        let is_plain = summary.inserted.is_empty() && summary.spared.is_none();
        if is_plain && self.inserted.is_empty() && !summary.text.is_empty() {
            event = begin("summary");
            event.text("content", &summary.text);
            event.optional("covers", covers);
        } else {
            let mut content = ObjectBuilder::default();
            content.text("content", &summary.text);
            let has_rules = covered.iter().any(|(_, id)| self.rules.contains(id));
            let covers: Vec<Vec<u8>> = match has_rules || summary.spared.is_some() {
                false => covers.into_iter().collect(),
                // System messages and spared messages are not covered.
                true => {
                    let others =
                        { covered.iter() }.filter(|(at, id)| !self.rules.contains(id) && !is_spared(at));
                    others.map(|(_, id)| quoted(id)).collect()
                }
            };
            let dropped = covers.into_iter().chain(std::mem::take(&mut self.inserted));
            let dropped: Vec<Vec<u8>> = dropped.collect();
            let mut inserts = Vec::new();
            for (nth, mut message) in summary.inserted.into_iter().enumerate() {
                let id = quoted(&format!("{id}_{}", nth + 1));
                message.raw("id", id.clone());
                inserts.push(wrapped("message", message.body_of(codec.constants().name)));
                self.inserted.push(id);
            }
            event = begin("compact");
            event
                .text("strategy", codec.constants().name)
                .raw("drop", array(dropped))
                .raw("insert", array(inserts));
            match summary.text.is_empty() {
                true if self.source.summaries.is_empty() => {}
                true => drop(event.raw("summary", "null")),
                false => drop(event.raw("summary", content.finish())),
            }
        }
        for (name, value) in summary.members {
            event.raw(name, value);
        }
        let mut own = ObjectBuilder::default();
        let first = self.first.iter().find(|(at, _)| *at == nth);
        match (raw, first) {
            (Some(raw), _) => drop(own.raw("raw", group_elements(codec, raw).concat())),
            (None, Some((_, id))) => drop(own.text("of", id)),
            (None, None) => {}
        }
        event.raw("metadata", wrapped(codec.constants().name, own.finish()));
        let line = self.push(event.finish(), place);
        self.source.summaries.push((nth, line));
    }

    /// Appends one event that hides or edits the messages that the model does not receive unchanged.
    fn hidden(&mut self) {
        if self.drop.is_empty() && self.edit.is_empty() {
            return;
        }
        let (drop, edit) = (array(&self.drop), array(&self.edit));
        let name = [b"compact\n", drop.as_slice(), &edit].concat();
        let mut event = event::begin("compact", &key::id_from("evt_", &name));
        event
            .text("at", self.time.as_deref().unwrap_or(EPOCH))
            .text("strategy", self.codec.constants().name);
        for (name, list) in [("drop", drop), ("edit", edit)] {
            if list != b"[]" {
                event.raw(name, list);
            }
        }
        self.session.push_new(&event.finish());
    }
}

/// The id of the nth message of an element.
fn message_id(codec: &dyn AnyCodec, id: &str, nth: usize) -> String {
    match nth {
        0 => id.to_string(),
        nth => codec.further_id(id, nth),
    }
}

/// The records of an element's messages, with an annotation on the first.
fn bodies(
    codec: &dyn AnyCodec,
    drafts: &[Draft],
    id: Option<&str>,
    note: Option<&(&'static str, Vec<u8>)>,
) -> Vec<Vec<u8>> {
    let body = |(nth, draft): (usize, &Draft)| {
        let mut message = draft.message.clone();
        if let Some(id) = id {
            message.raw("id", quoted(&message_id(codec, id, nth)));
        }
        match (nth, note, id) {
            (0, Some((name, value)), _) => drop(message.note(name, Some(value.clone()))),
            (0, None, _) | (_, _, None) => {}
            (_, _, Some(id)) => drop(message.note("of", Some(quoted(id)))),
        }
        message.body_of(codec.constants().name)
    };
    drafts.iter().enumerate().map(body).collect()
}

/// Encodes the messages of an element again; the first one has this id.
pub fn encoded(codec: &dyn AnyCodec, decoded: Decoded, raw: &[u8], id: &str) -> Option<Vec<u8>> {
    let (Decoded::Messages(drafts) | Decoded::Summarized(drafts, _)) = decoded else {
        return None;
    };
    let id = Some(id).filter(|_| codec.constants().ids || drafts.len() > 1 || codec.id(raw).is_some());
    codec.encode(
        &annotated_messages(&bodies(codec, &drafts, id, None), codec.constants().name),
        &mut Report::default(),
    )
}
