//! Counts the data of a session that pages for human readers omit.

use super::WritePurpose;
use super::kit::losses;
use super::report::{Loss, LossSet, Report};
use super::request::media::{Bytes, RequestMedia};
use super::request::request_part::extra_members;
use crate::model::display_role;
use crate::model::json;
use crate::model::message::{Message, MessagePart};
use crate::model::note::is_note;
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;

/// The losses of a page, for the table of formats.
pub const LOSSES: LossSet =
    LossSet::USUAL.without(&[Loss::Timestamp, Loss::Arguments, Loss::Part, Loss::Name]);

/// Counts the data that the page of a view omits.
pub fn count(session: &Session, view: &View, purpose: WritePurpose, report: &mut Report) {
    for item in &view.items {
        let Some(message) = item.message(session) else {
            continue;
        };
        let is_shown =
            |text: &Option<Cow<'_, str>>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        let reasoning_parts = display_role::reasoning_texts(&message);
        let encrypted = reasoning_parts.iter().filter(|text| !is_shown(text)).count();
        report.count_loss(Loss::Reasoning, encrypted as u64);
        report.count_loss(Loss::Signature, signatures(&message));
        let stored = |part: &MessagePart<'_>| {
            let MessagePart::Other(_, raw) = part else {
                return false;
            };
            matches!(
                RequestMedia::of(raw),
                Some(RequestMedia {
                    bytes: Bytes::Kept(_),
                    ..
                })
            )
        };
        report.count_loss(
            Loss::Attachment,
            message.parts().iter().filter(|part| stored(part)).count() as u64,
        );
        if purpose == WritePurpose::Export {
            let lost = [Loss::Id, Loss::Category, Loss::Usage];
            let known = ["is_error", "denied", "invalid"];
            losses::members(&message, item.body(session), &lost, &known, report);
        }
    }
    if purpose == WritePurpose::Export {
        let shown = [&losses::HEADER[..], &["key", "continued_from"]].concat();
        let keeps = |body: &[u8]| extra_members(body, &shown).next().is_none();
        let is_shown = |index: usize| session.record(index).event().is_some_and(is_note);
        losses::records(session, keeps, is_shown, report);
    }
}

fn signatures(message: &Message<'_>) -> u64 {
    let parts = json::items(message.reasoning);
    let names = ["signature", "encrypted_content", "thoughtSignature", "data"];
    let signed = |part: &&&[u8]| names.iter().any(|name| json::member(part, name).is_some());
    parts.iter().filter(signed).count() as u64
}
