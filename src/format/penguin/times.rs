//! Text forms of times, by which Penguin sorts messages.

use super::element::local_time;
use crate::model::message::Message;
use crate::model::{json, time};
use jiff::Timestamp;
use std::borrow::Cow;

/// The text by which Penguin sorts a message: the original time, else in this program's format.
pub fn time_text(message: &Message<'_>) -> Option<String> {
    let own = message.metadata.and_then(|raw| json::member(raw, "penguin"));
    let source = own
        .and_then(|own| json::member(own, "timestamp"))
        .and_then(json::text);
    let Some(now) = message.timestamp() else {
        return source.map(Cow::into_owned);
    };
    let is_same = |text: &str| time::read(text).is_some_and(|reading| reading.time == now);
    match source.filter(|text| is_same(text)) {
        Some(text) => Some(text.into_owned()),
        None => Some(time::local(&now).unwrap_or_else(|| now.into_owned())),
    }
}

/// The format of a time: digits replaced by 0, zone unchanged, without a fraction.
fn time_form(text: &str) -> String {
    let (time, rest) = text.split_at_checked(19).unwrap_or((text, ""));
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let form = time
        .chars()
        .map(|one| if one.is_ascii_digit() { '0' } else { one });
    form.chain(zone.chars()).collect()
}

/// Whether the times of these messages have several formats.
pub(super) fn has_mixed_times<'a>(mut messages: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut known: Option<String> = None;
    messages.any(|raw| {
        let Some(form) = json::member_text(raw, "timestamp") else {
            return false;
        };
        let form = time_form(&form);
        let other = known.as_ref().is_some_and(|known| *known != form);
        known = Some(form);
        other
    })
}

/// The text of a time in Penguin's format.
pub(super) fn local_text(raw: &[u8]) -> Option<String> {
    let (time, _) = local_time(raw)?;
    json::text(&time).map(Cow::into_owned)
}

/// The instant of a time in JSON.
pub(super) fn moment(raw: &[u8]) -> Option<Timestamp> {
    time::moment(&time::read(&json::text(raw)?)?.time)
}
