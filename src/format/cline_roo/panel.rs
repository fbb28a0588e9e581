//! Parses `ui_messages.json`, the messages of the user interface, for omitted messages and usage.

use super::element::{stamp, text};
use crate::model::json::{self, Dialect};
use crate::model::record::without_mark;
use std::ops::RangeInclusive;

/// Name of the file.
pub const NAME: &str = "ui_messages.json";

/// The content of the file.
#[derive(Debug, Default, PartialEq)]
pub struct Panel {
    /// Indexes of the elements that Cline omits.
    pub left_out: Option<RangeInclusive<usize>>,
    /// Usage of requests, with their start times.
    pub used: Vec<(f64, Vec<u8>)>,
}

impl Panel {
    /// From the file's bytes; `None` if it is not such a file.
    pub fn of(bytes: &[u8]) -> Option<Panel> {
        let bytes = without_mark(bytes);
        let mut panel = Panel::default();
        for entry in json::elements(bytes, Dialect::Strict)? {
            if let Some(range) = json::member(entry, "conversationHistoryDeletedRange") {
                panel.left_out = range_of(range);
            }
            if text(entry, "say").as_deref() == Some("api_req_started")
                && let (Some(begun), Some(reported)) = (stamp(entry), text(entry, "text"))
                && json::members(reported.as_bytes(), Dialect::Strict).is_some()
                && json::member(reported.as_bytes(), "tokensIn").is_some()
            {
                panel.used.push((begun, json::compact(reported.as_bytes()).0));
            }
        }
        Some(panel)
    }
}

fn range_of(raw: &[u8]) -> Option<RangeInclusive<usize>> {
    let ends = json::elements(raw, Dialect::Strict)?;
    match ends[..] {
        [first, last] => Some(json::number(first)?..=json::number(last)?),
        _ => None,
    }
}
