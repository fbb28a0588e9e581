//! Gives a rewritten document the bytes of its source wherever both have the same value.

use super::{Api, records};
use crate::format::kit::frame::Frame;
use crate::format::kit::{ElementEdit, replaced, with_member};
use crate::model::json;
use std::collections::{HashMap, VecDeque};

/// The document `now` with the bytes of its source; `None` if one is a list and the other is not. The history is the
/// document or its member of this API.
pub fn with_source_layout(api: Api, source: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let text = source
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(source)
        .trim_ascii();
    let now = match memchr::memchr(b'\n', text) {
        Some(_) => now.trim_ascii(),
        None => &json::compact(now).0,
    };
    let frame = |document| Frame::parse(document, 0..document.len(), api.interface().shape().list);
    let (own, built) = (frame(text), frame(now));
    if !own.faults.is_empty() || !built.faults.is_empty() || text.first() != now.first() {
        return None;
    }
    let elements = |frame: &Frame<'_>| -> Vec<Vec<u8>> {
        let elements = (0..frame.elements.len()).map(|nth| frame.element(nth));
        elements.map(cleaned).collect()
    };
    let mut document = match own.has_list() && built.has_list() {
        true => own.splice_laid_out(&aligned(api, &elements(&own), elements(&built))),
        false => text.to_vec(),
    };
    for (name, _) in own.members.iter().chain(&built.members) {
        let (before, after) = (json::member(text, name), json::member(now, name));
        let is_same = match (before, after) {
            (Some(before), Some(after)) => json::same(&cleaned(before), after),
            (before, after) => before == after,
        };
        if !is_same {
            document = with_member(&document, name, after);
        }
    }
    Some(replaced(source, text, &document))
}

/// As [`with_source_layout`], for a source with one element per line.
pub fn with_source_lines(api: Api, source: &[u8], now: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = source.split_inclusive(|byte| *byte == b'\n').collect();
    let elements: Vec<Vec<u8>> = lines.iter().map(|line| cleaned(line)).collect();
    let built = now.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut document = Vec::with_capacity(source.len());
    for edit in aligned(api, &elements, built.map(<[u8]>::to_vec).collect()) {
        if document.last().is_some_and(|last| *last != b'\n') {
            document.push(b'\n');
        }
        match edit {
            ElementEdit::Keep(nth) => document.extend_from_slice(lines[nth]),
            ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => {
                document.extend_from_slice(&[&raw[..], b"\n"].concat());
            }
        }
    }
    document
}

/// An element as it is read: without white space, damaged text and numbers.
fn cleaned(element: &[u8]) -> Vec<u8> {
    let compact = json::compact(element).0;
    String::from_utf8_lossy(&compact).into_owned().into_bytes()
}

/// The edits that turn the elements of a source into others: each is kept, in order, if it has the same value or is not
/// a message.
fn aligned(api: Api, source: &[Vec<u8>], now: Vec<Vec<u8>>) -> Vec<ElementEdit> {
    // Equal for the same members in another order.
    let print = |raw: &[u8]| (raw.len(), raw.iter().map(|byte| u64::from(*byte)).sum::<u64>());
    let mut places: HashMap<_, VecDeque<usize>> = HashMap::new();
    for (nth, raw) in source.iter().enumerate() {
        places.entry(print(raw)).or_default().push_back(nth);
    }
    let mut next = 0;
    let kept = now.iter().map(|raw| {
        let places = places.get_mut(&print(raw))?;
        while places.front().is_some_and(|nth| *nth < next) {
            places.pop_front();
        }
        let nth = *places.iter().find(|nth| json::same(&source[**nth], raw))?;
        next = nth + 1;
        Some(nth)
    });
    let kept: Vec<Option<usize>> = kept.collect();
    // Other elements replace those of the source that are between the kept ones.
    let mut ends = vec![source.len(); kept.len() + 1];
    for (nth, kept) in kept.iter().enumerate().rev() {
        ends[nth] = kept.unwrap_or(ends[nth + 1]);
    }
    let is_message = |nth: &usize| json::is_value(&source[*nth]) && !records(api, &source[*nth]).is_empty();
    let mut edits = Vec::with_capacity(now.len());
    let mut next = 0;
    for ((raw, kept), end) in now.into_iter().zip(kept).zip(&ends) {
        let replaced = (next..*end).find(|nth| kept.is_none() && is_message(nth));
        let at = replaced.unwrap_or(*end);
        let passed = (next..at).filter(|nth| !is_message(nth));
        edits.extend(passed.map(ElementEdit::Keep));
        edits.push(match (kept, replaced) {
            (Some(nth), _) => ElementEdit::Keep(nth),
            (None, Some(nth)) => ElementEdit::Replace(nth, raw),
            (None, None) => ElementEdit::Insert(raw),
        });
        next = at + usize::from(kept.or(replaced).is_some());
    }
    let passed = (next..source.len()).filter(|nth| !is_message(nth));
    edits.extend(passed.map(ElementEdit::Keep));
    edits
}
