//! Gives a rewritten document the bytes of its source wherever both have the same value.

use super::{Api, records};
use crate::error::{Error, Result};
use crate::format::kit::ElementEdit;
use crate::format::kit::frame::Frame;
use crate::model::json::{self, Dialect};
use crate::model::record::without_mark;
use crate::model::summary;
use std::collections::{HashMap, VecDeque};

/// The rewritten document with the bytes of its source; `None` if one is a list and the other is not. The history is the
/// document or its member of this API.
pub fn with_source_layout(api: Api, source: &[u8], rewritten: &[u8]) -> Option<Vec<u8>> {
    let text = without_mark(source).trim_ascii();
    let rewritten = match memchr::memchr(b'\n', text) {
        Some(_) => rewritten.trim_ascii(),
        None => &json::compact(rewritten).0,
    };
    let frame = |document| Frame::parse(document, 0..document.len(), api.interface().shape().list);
    let (source_frame, new_frame) = (frame(text), frame(rewritten));
    let is_damaged = !source_frame.faults.is_empty() || !new_frame.faults.is_empty();
    if is_damaged || text.first() != rewritten.first() {
        return None;
    }
    let elements = |frame: &Frame<'_>| -> Vec<Vec<u8>> {
        let elements = (0..frame.elements.len()).map(|nth| frame.element(nth));
        elements.map(cleaned).collect()
    };
    let mut document = match source_frame.has_list() && new_frame.has_list() {
        true => {
            let edits = aligned(api, &elements(&source_frame), elements(&new_frame));
            source_frame.splice_laid_out(&edits)
        }
        false => text.to_vec(),
    };
    for (name, _) in source_frame.members.iter().chain(&new_frame.members) {
        let (before, after) = (json::member(text, name), json::member(rewritten, name));
        let is_same = match (before, after) {
            (Some(before), Some(after)) => json::same(&cleaned(before), after),
            (before, after) => before == after,
        };
        if !is_same {
            document = json::with_member(&document, name, after);
        }
    }
    Some(json::replaced(source, text, &document))
}

/// As [`with_source_layout`], for a source with one element per line. New lines end like the first one.
pub fn with_source_lines(api: Api, source: &[u8], rewritten: &[u8]) -> Vec<u8> {
    let text = without_mark(source);
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let line_end: &[u8] = match lines.first().is_some_and(|line| line.ends_with(b"\r\n")) {
        true => b"\r\n",
        false => b"\n",
    };
    let elements: Vec<Vec<u8>> = lines.iter().map(|line| cleaned(line)).collect();
    let new = rewritten
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let mut document = Vec::with_capacity(text.len());
    for edit in aligned(api, &elements, new.map(<[u8]>::to_vec).collect()) {
        if document.last().is_some_and(|last| *last != b'\n') {
            document.extend_from_slice(line_end);
        }
        match edit {
            ElementEdit::Keep(nth) => document.extend_from_slice(lines[nth]),
            ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => {
                document.extend_from_slice(&[&raw, line_end].concat());
            }
        }
    }
    json::replaced(source, text, &document)
}

/// The rewritten document, whose list replaces the lines of the source, with the values of lines that are not messages.
///
/// # Errors
/// A data error for a damaged line, which a document cannot have.
pub fn with_listed_lines(api: Api, source: &[u8], rewritten: &[u8]) -> Result<Vec<u8>> {
    let lines = without_mark(source).split(|byte| *byte == b'\n');
    let lines = lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let lines: Vec<&[u8]> = lines.collect();
    let values: Vec<Vec<u8>> = lines.iter().map(|line| cleaned(line)).collect();
    let is_damaged = |nth: usize| json::value_end(lines[nth], 0, Dialect::Python) != Ok(lines[nth].len());
    let list = api.interface().shape().list;
    let elements = json::list(rewritten, list).into_iter().map(cleaned).collect();
    let edits = aligned(api, &values, elements)
        .into_iter()
        .map(|edit| match edit {
            ElementEdit::Keep(nth) if is_damaged(nth) => {
                let error = Error::data("a damaged line cannot be part of a request body");
                Err(error.hint("remove the line first"))
            }
            ElementEdit::Keep(nth) => Ok(values[nth].clone()),
            ElementEdit::Replace(_, raw) | ElementEdit::Insert(raw) => Ok(raw),
        });
    let elements = edits.collect::<Result<Vec<_>>>()?.join(&b",\n"[..]);
    let elements = [b"[\n", &elements[..], b"\n]"].concat();
    Ok(json::with_member(rewritten, list, Some(&elements)))
}

/// An element as the reader sees it: compact, with invalid UTF-8 and NaN replaced.
fn cleaned(element: &[u8]) -> Vec<u8> {
    let compact = json::compact(element).0;
    String::from_utf8_lossy(&compact).into_owned().into_bytes()
}

/// The most summaries of a source to which one is compared. A request rarely has two.
const MOST_SUMMARIES: usize = 8;

/// The edits that turn the elements of a source into others: each is kept, in order, if it has the same value or is not
/// a message.
fn aligned(api: Api, source: &[Vec<u8>], rewritten: Vec<Vec<u8>>) -> Vec<ElementEdit> {
    // Equal for the same members in another order.
    let fingerprint = |raw: &[u8]| (raw.len(), raw.iter().map(|byte| u64::from(*byte)).sum::<u64>());
    let mut candidates: HashMap<_, VecDeque<usize>> = HashMap::new();
    for (nth, raw) in source.iter().enumerate() {
        candidates.entry(fingerprint(raw)).or_default().push_back(nth);
    }
    // A summary is read as a text, so that it is written without the escapes of its source.
    let summaries: Vec<usize> = (0..source.len())
        .filter(|nth| summary::may_be_in(&source[*nth]))
        .collect();
    let mut next = 0;
    let unchanged = rewritten.iter().map(|raw| {
        let alike = candidates.get_mut(&fingerprint(raw)).and_then(|alike| {
            while alike.front().is_some_and(|nth| *nth < next) {
                alike.pop_front();
            }
            alike.iter().find(|nth| json::same(&source[**nth], raw)).copied()
        });
        let summary = || {
            let mut later = summaries.iter().filter(|nth| **nth >= next).take(MOST_SUMMARIES);
            later.find(|nth| json::same_text(&source[**nth], raw)).copied()
        };
        let nth = match alike {
            None if summary::may_be_in(raw) => summary(),
            alike => alike,
        }?;
        next = nth + 1;
        Some(nth)
    });
    // The index in the source of each unchanged element.
    let unchanged: Vec<Option<usize>> = unchanged.collect();
    // Other elements replace those of the source that are between the unchanged ones.
    let mut ends = vec![source.len(); unchanged.len() + 1];
    for (nth, index) in unchanged.iter().enumerate().rev() {
        ends[nth] = index.unwrap_or(ends[nth + 1]);
    }
    let mut is_message = vec![false; source.len()];
    unchanged.iter().flatten().for_each(|nth| is_message[*nth] = true);
    for (raw, is_message) in source.iter().zip(&mut is_message) {
        *is_message = *is_message || json::is_value(raw) && !records(api, raw).is_empty();
    }
    let mut edits = Vec::with_capacity(rewritten.len());
    let mut next = 0;
    for ((raw, index), end) in rewritten.into_iter().zip(unchanged).zip(&ends) {
        let replaced = (next..*end).find(|nth| index.is_none() && is_message[*nth]);
        let at = replaced.unwrap_or(*end);
        let passed = (next..at).filter(|nth| !is_message[*nth]);
        edits.extend(passed.map(ElementEdit::Keep));
        edits.push(match (index, replaced) {
            (Some(nth), _) => ElementEdit::Keep(nth),
            (None, Some(nth)) => ElementEdit::Replace(nth, raw),
            (None, None) => ElementEdit::Insert(raw),
        });
        next = at + usize::from(index.or(replaced).is_some());
    }
    let passed = (next..source.len()).filter(|nth| !is_message[*nth]);
    edits.extend(passed.map(ElementEdit::Keep));
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(source: &[&str], rewritten: &[&str]) -> Vec<ElementEdit> {
        let bytes =
            |raws: &[&str]| -> Vec<Vec<u8>> { raws.iter().map(|raw| raw.as_bytes().to_vec()).collect() };
        aligned(Api::Anthropic, &bytes(source), bytes(rewritten))
    }

    #[test]
    fn elements_are_inserted_among_values_that_are_not_messages() {
        use ElementEdit::{Insert, Keep, Replace};
        let [a, b, c] = ["a", "b", "c"].map(|text| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"));
        let (a, b, c) = (a.as_str(), b.as_str(), c.as_str());
        let raw = |text: &str| text.as_bytes().to_vec();
        let source = ["5", a, "{}", b, "6"];
        assert_eq!(edits(&source, &[a, b]), (0..5).map(Keep).collect::<Vec<_>>());
        let inserted = [Keep(0), Keep(1), Keep(2), Insert(raw(c)), Keep(3), Keep(4)];
        assert_eq!(edits(&source, &[a, c, b]), inserted);
        let replaced = [Keep(0), Replace(1, raw(c)), Keep(2), Keep(3), Keep(4)];
        assert_eq!(edits(&source, &[c, b]), replaced);
        let last = [Keep(0), Keep(1), Keep(2), Keep(3), Keep(4), Insert(raw(c))];
        assert_eq!(edits(&source, &[a, b, c]), last);
        assert_eq!(edits(&source, &[]), [Keep(0), Keep(2), Keep(4)]);
        // An equal element that was moved before another is new.
        assert_eq!(edits(&[a, "5", b], &[b, a]), [Keep(1), Keep(2), Insert(raw(a))]);
    }
}
