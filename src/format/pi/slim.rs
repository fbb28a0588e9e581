//! Removes data that pi does not need to resume a session.

use super::entry::PiEntry;
use crate::error::Position;
use crate::format::slim::part::{PartNames, SlimPart, Slimmed, Slimmer, Slimming};
use crate::model::json;
use std::borrow::Cow;

const DETAILS: &str = "details";

/// Details up to this size in bytes are kept.
const FEW: usize = 4096;

pub const SLIMMING: Slimming = Slimming {
    parts: &[SlimPart::usual(
        DETAILS,
        "details over 4 KiB of results on the screen",
    )],
    open: |chosen| Box::new(PiSlimmer(chosen)),
};

struct PiSlimmer(PartNames);

impl Slimmer for PiSlimmer {
    fn inspect(&mut self, _number: u64, _line: &[u8]) {}

    fn slim<'l>(&mut self, number: u64, line: &'l [u8]) -> Slimmed<'l> {
        let place = Position {
            line: number,
            offset: 1,
        };
        let entry = PiEntry::parse(line, place, number == 1);
        let named = |object, name| json::member_text(object, name).map(Cow::into_owned);
        let Some(message) = entry.message() else {
            return Slimmed::same(named(line, "type").unwrap_or_else(|| "unreadable".to_string()));
        };
        let role = named(message, "role").unwrap_or_else(|| "message".to_string());
        let is_large = json::member(message, DETAILS).is_some_and(|details| details.len() > FEW);
        match self.0.part(DETAILS) {
            Some(part) if is_large && role == "toolResult" => {
                let message = json::with_members(message, &[(DETAILS, None)]);
                let line =
                    message.and_then(|message| json::with_members(line, &[("message", Some(&message))]));
                Slimmed::changed(role, Some(part), line)
            }
            _ => Slimmed::same(role),
        }
    }
}
