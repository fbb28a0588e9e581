//! Converts a view to the messages, items or turns of a provider's API, and back. Writers print the result and checks
//! inspect it, so that both see the same.
//!
//! Data that the native format encodes differently is annotated in `metadata.<API>` of a message: `members`, `part` and
//! `calls` hold data without a native member, `blocks` an unusual order, and `apart` marks a message that is not joined
//! with the previous message of the same role. An element that cannot be restored from its annotations is kept as `raw`
//! on the first of its messages, and is used as long as it still decodes to the current messages.

pub mod api;
pub(super) mod call;
pub(super) mod contents;
pub(super) mod draft;
pub mod element;
pub(super) mod interface;
pub(super) mod mcp;
pub(super) mod media;
mod order;
pub(super) mod part_losses;
mod print;
pub(super) mod request_part;
mod source_layout;
mod summaries;
mod system;
pub mod token_figures;
pub(super) mod turns;
mod write_back;

pub use api::Api;
pub use element::{ProviderRequest, RequestElement};
pub use media::{attached, linked};
pub use print::write;
pub use summaries::summary_records;
pub use system::system_record;
pub use write_back::write_back;

use super::report::Report;
use super::spec::WritePurpose;
use super::{Format, native, opaque, refusal};
use crate::error::{Position, Result};
use crate::model::json::{self, Dialect};
use crate::model::key::Derive;
use crate::model::message::{Message, Role};
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use draft::AnnotatedDraft;
use interface::Decoder;
pub(super) use order::order;
use request_part::{AnnotatedMessage, RequestPart, WriteSettings};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Converts the view to elements of an API. Losses go to the report.
pub fn elements(api: Api, session: &Session, view: &View, report: &mut Report) -> Result<ProviderRequest> {
    let format = Format::from_name(api.name());
    let with_refusals = format.and_then(|format| refusal::in_content(format, session, view));
    let view = with_refusals.as_ref().unwrap_or(view);
    Ok(built(api, session, view, WritePurpose::Context, report))
}

/// As [`elements`], for a purpose that decides what counts as a loss.
pub(super) fn built(
    api: Api,
    session: &Session,
    view: &View,
    purpose: WritePurpose,
    report: &mut Report,
) -> ProviderRequest {
    built_of(api, was_read_from(api, session), session, view, purpose, report)
}

/// As [`built`], with `own` order: whether the session keeps its original order.
pub(super) fn built_of(
    api: Api,
    own: bool,
    session: &Session,
    view: &View,
    purpose: WritePurpose,
    report: &mut Report,
) -> ProviderRequest {
    let interface = api.interface();
    let covered = (interface.has_compactions() && own && purpose == WritePurpose::Return)
        .then(|| opaque::with_covered(session, view))
        .flatten();
    let view = covered.as_ref().unwrap_or(view);
    let mut request = if let Some(request) = interface.request(session, view, purpose, report) {
        request
    } else {
        let order = order(session, view, own, report);
        let mut pieces = Vec::with_capacity(order.items.len());
        for &item in &order.items {
            match view.items[item].summary(session) {
                Some(text) => {
                    let own = opaque::of_event(view.items[item].body(session));
                    if let Some(own) = own.filter(|_| interface.has_compactions()) {
                        pieces.push(RequestPart::Kept(vec![item], vec![own]));
                        continue;
                    }
                    let role = view.items[item].summary_role(session);
                    pieces.push(RequestPart::Summary(item, text, role));
                }
                None => pieces.push(RequestPart::Message(item, view.items[item].body(session))),
            }
        }
        let mut writing = WriteSettings {
            api,
            purpose,
            own,
            keeps_thoughts: false,
            calls: &order.calls,
            report,
        };
        let (system, pieces) = preserved_elements(api, pieces);
        let mut request = interface.write(&pieces, &mut writing);
        // A model loses nothing by a message without content.
        if purpose != WritePurpose::Context {
            writing.report_dropped(&pieces, &request);
        }
        if let Some((item, raw)) = system {
            request.system = Some(raw.to_vec());
            request.system_items.insert(0, item);
        }
        request
    };
    let members = members(session);
    request.tools = members.map(|members| {
        json::member(&members, "tools").is_some_and(|tools| !matches!(tools, b"null" | b"[]"))
    });
    request
}

/// Replaces messages by their preserved elements if these still decode to the same messages; returns preserved
/// instructions separately.
fn preserved_elements(
    api: Api,
    mut pieces: Vec<RequestPart<'_>>,
) -> (Option<(usize, &[u8])>, Vec<RequestPart<'_>>) {
    let mut system = None;
    // Move pieces within the list; a second list would double the memory.
    let (mut next, mut done) = (0, 0);
    while let Some(piece) = pieces.get(next) {
        let (lead, at) = (next == 0, next);
        next += 1;
        if let Some(annotated) = piece.annotated(api) {
            if let (true, Some(raw)) = (lead, annotated.noted("system"))
                && agrees(api, &api.interface().instructions(raw).body(api), &annotated)
                && !pieces
                    .get(next)
                    .and_then(|next| next.annotated(api))
                    .is_some_and(|next| is_system(&next))
            {
                system = Some((annotated.item, raw));
                continue;
            }
            let raws = annotated
                .noted("raw")
                .and_then(|raw| json::elements(raw, Dialect::Strict));
            if let Some(raws) = raws.filter(|raws| !raws.is_empty()) {
                let drafts = api.interface().decoder().drafts(&raws);
                let group = pieces
                    .get(at..at + drafts.len())
                    .filter(|group| !group.is_empty());
                let items = group.and_then(|group| {
                    let item = |(draft, piece): (&AnnotatedDraft, &RequestPart<'_>)| {
                        let annotated = piece.annotated(api)?;
                        agrees(api, &draft.body(api), &annotated).then_some(annotated.item)
                    };
                    drafts.iter().zip(group).map(item).collect::<Option<Vec<_>>>()
                });
                if let Some(items) = items {
                    next = at + items.len();
                    pieces[at] = RequestPart::Kept(items, raws);
                }
            }
        }
        pieces.swap(done, at);
        done += 1;
    }
    pieces.truncate(done);
    (system, pieces)
}

fn is_system(annotated: &AnnotatedMessage<'_>) -> bool {
    matches!(annotated.message.role(), Role::System | Role::Developer)
}

/// Whether a message still equals the decoded element, ignoring generated call ids.
fn agrees(api: Api, built: &[u8], now: &AnnotatedMessage<'_>) -> bool {
    let place = Position { line: 0, offset: 1 };
    let record = Record::parse(built, place);
    let Some(built) = record.message() else {
        return false;
    };
    let message = &now.message;
    let calls = match api.interface().generates_call_ids(now) {
        true => functions(built) == functions(message),
        false => built.tool_calls == message.tool_calls && built.tool_call_id == message.tool_call_id,
    };
    calls
        && built.role == message.role
        && built.content == message.content
        && built.reasoning == message.reasoning
        && built.name == message.name
}

/// The calls of a message without their ids.
fn functions<'m>(message: &Message<'m>) -> Vec<(Cow<'m, str>, Cow<'m, str>)> {
    let calls = message.tool_calls().into_iter();
    calls.map(|call| (call.name, call.arguments)).collect()
}

/// Elements that are decoded together, and their native messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestUnit {
    /// Range of the elements.
    pub elements: Range<usize>,
    /// The messages; empty if the elements are not messages of the API.
    pub records: Vec<Vec<u8>>,
}

/// Decodes an element alone to native messages.
pub fn records(api: Api, element: &[u8]) -> Vec<Vec<u8>> {
    read(api, &[element])
        .into_iter()
        .flat_map(|unit| unit.records)
        .collect()
}

/// Decodes the elements of a history. Each is a JSON object on one line.
pub fn read(api: Api, elements: &[&[u8]]) -> Vec<RequestUnit> {
    let mut units = Vec::new();
    let interface = api.interface();
    let mut decoder = interface.decoder();
    let mut at = 0;
    // The role that the next message would be joined to.
    let mut before = None;
    // Ids of earlier messages.
    let mut ids: Vec<String> = Vec::new();
    let mut derive = Derive::default();
    while at < elements.len() {
        let length = interface.group(&elements[at..]);
        if let Some(records) = decoder.records(elements[at]) {
            units.push(RequestUnit {
                elements: at..at + 1,
                records,
            });
            at += 1;
            continue;
        }
        if interface.has_compactions() && opaque::is_compaction(elements[at]) {
            let covered = ids.first().zip(ids.last());
            units.push(RequestUnit {
                elements: at..at + length,
                records: vec![opaque::event(elements[at], covered)],
            });
            before = None;
            at += length;
            continue;
        }
        let (mut drafts, exact) = unit(api, &elements[at..at + length], &mut *decoder);
        let role =
            |draft: Option<&AnnotatedDraft>| draft.and_then(|draft| interface.joined_role(draft.role()));
        if let Some(first) = drafts.first_mut().filter(|_| exact)
            && before.is_some()
            && before == role(Some(first))
        {
            first.note("apart", Some(b"true".to_vec()));
        }
        // A preserved element is never joined with another; one that is not a message separates no others.
        if !drafts.is_empty() {
            before = role(drafts.last()).filter(|_| exact);
        }
        let records: Vec<Vec<u8>> = drafts.iter().map(|draft| draft.body(api)).collect();
        if interface.has_compactions() {
            ids.extend(records.iter().map(|record| derive.id(record)));
        }
        units.push(RequestUnit {
            elements: at..at + length,
            records,
        });
        at += length;
    }
    units
}

/// The native messages of elements that belong together, and whether encoding restores the elements; if not, they are
/// preserved on the first message.
pub(super) fn unit(api: Api, elements: &[&[u8]], decoder: &mut dyn Decoder) -> (Vec<AnnotatedDraft>, bool) {
    let mut drafts = decoder.drafts(elements);
    let exact = encodes_to_source(api, &drafts, elements);
    if let Some(first) = drafts.first_mut().filter(|_| !exact) {
        first.note("raw", Some(json::array(elements)));
    }
    (drafts, exact)
}

/// Whether the messages encode to the elements that they were decoded from.
fn encodes_to_source(api: Api, drafts: &[AnnotatedDraft], elements: &[&[u8]]) -> bool {
    let request = encode_request(api, drafts);
    request.system.is_none()
        && request.elements.len() == elements.len()
        && request
            .elements
            .iter()
            .zip(elements)
            .all(|(element, raw)| json::same(&element.raw, raw))
}

fn encode_request(api: Api, drafts: &[AnnotatedDraft]) -> ProviderRequest {
    let bodies: Vec<_> = drafts.iter().map(|draft| draft.body(api)).collect();
    let pieces = bodies.iter().enumerate();
    let pieces = pieces.map(|(item, body)| RequestPart::Message(item, body));
    let mut writing = WriteSettings {
        api,
        purpose: WritePurpose::Return,
        own: false,
        keeps_thoughts: false,
        calls: &HashMap::new(),
        report: &mut Report::default(),
    };
    api.interface().write(&pieces.collect::<Vec<_>>(), &mut writing)
}

/// The members next to the history of the session's original request.
pub(in crate::format) fn members(session: &Session) -> Option<Vec<u8>> {
    session.metadata("request")
}

/// Whether a session was read from a request of this API, so that its order is kept.
pub(super) fn was_read_from(api: Api, session: &Session) -> bool {
    native::source_format(session).is_some_and(|format| format == api.name())
}

#[cfg(test)]
mod tests;
