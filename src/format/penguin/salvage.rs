//! Salvages all complete messages from a damaged list, before and after the damage. After a damaged message, it
//! searches for the start of the next one.

use crate::model::json::{self, ArrayElements, Dialect, JsonError, Members};
use std::ops::Range;

const ROLE: &[u8] = b"\"role\"";
const MESSAGES: &[u8] = b"\"messages\"";

/// Maximum number of searches for the start of the messages. Without a limit, a file with many such starts would be
/// read once for each.
const SEARCHES: usize = 16;

/// Maximum number of bytes read in vain, as a multiple of the file length. Without a limit, a file of message starts
/// would be read once for each.
const EFFORT: usize = 4;

/// The salvaged messages.
#[derive(Default)]
pub(super) struct Salvage {
    /// Ranges of the elements, ascending.
    pub elements: Vec<Range<usize>>,
    /// Starts of elements that were probably closed too early and are incomplete.
    pub cut: Vec<usize>,
    /// Omitted ranges between and after the elements.
    pub gaps: Vec<Range<usize>>,
    /// The first fault.
    pub fault: Option<JsonError>,
}

/// The elements of the list that starts at `start`, up to the first that is not JSON.
pub(super) fn elements(bytes: &[u8], start: usize, end: usize) -> (Vec<Range<usize>>, Option<JsonError>) {
    let mut found = Vec::new();
    let here = |fault: JsonError| {
        Some(JsonError {
            offset: start + fault.offset,
            ..fault
        })
    };
    let mut scan = match ArrayElements::new(&bytes[start..end], Dialect::Python) {
        Ok(scan) => scan,
        Err(fault) => return (found, here(fault)),
    };
    loop {
        match scan.next() {
            Ok(Some((at, element))) => found.push(start + at..start + at + element.len()),
            Ok(None) => return (found, None),
            Err(fault) => return (found, here(fault)),
        }
    }
}

/// The messages after `end`, if no list of them was read yet.
pub(super) fn salvage_after(bytes: &[u8], end: usize, bare: bool) -> Salvage {
    let next = json::skip_space(bytes, end);
    let key = if bytes.get(next) == Some(&b',') {
        json::skip_space(bytes, next + 1)
    } else {
        next
    };
    if let Some(open) = messages_open(bytes, key) {
        // The usual case is a truncated file; do not search inside of a message for other messages.
        return list(bytes, open, bare);
    }
    let mut tried = end;
    let mut best: Option<(usize, usize)> = None;
    for at in memchr::memmem::find_iter(&bytes[end..], MESSAGES)
        .map(|at| end + at)
        .take(SEARCHES)
    {
        let Some(open) = messages_open(bytes, at).filter(|open| *open >= tried) else {
            continue;
        };
        let (found, _) = elements(bytes, open, bytes.len());
        tried = found.last().map_or(open, |range| range.end);
        let like_messages = found.iter().any(|range| {
            let element = &bytes[range.clone()];
            json::member(element, "role")
                .or_else(|| json::member(element, "content"))
                .is_some()
        });
        if like_messages && best.is_none_or(|(most, _)| found.len() > most) {
            best = Some((found.len(), open));
        }
    }
    match best {
        Some((_, open)) => list(bytes, open, bare),
        None => anywhere(bytes, end, bare),
    }
}

/// The offset of the messages inside the last member of a truncated document, if that member has lost its end and
/// includes what follows.
pub(super) fn nested_messages(bytes: &[u8], member: Range<usize>) -> Option<usize> {
    let name_end = json::value_end(bytes, member.start, Dialect::Python).ok()?;
    let value = json::skip_space(bytes, json::skip_space(bytes, name_end) + 1);
    let mut members = Members::new(&bytes[value..member.end], Dialect::Python).ok()?;
    while let Some(inner) = members.next().ok()? {
        if inner.name() == "messages" && is_message_list(inner.value) {
            return Some(value + inner.end - inner.value.len());
        }
    }
    None
}

/// Offset of the opening bracket, if `"messages": [` is here.
fn messages_open(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.starts_with(MESSAGES).then_some(())?;
    let colon = json::skip_space(bytes, at + MESSAGES.len());
    let open = json::skip_space(bytes, colon + 1);
    (bytes.get(colon) == Some(&b':') && bytes.get(open) == Some(&b'[')).then_some(open)
}
/// The elements of the list whose bracket is at `open`, including those after faults. `bare` allows messages without a
/// category, as in the older format.
pub(super) fn list(bytes: &[u8], open: usize, bare: bool) -> Salvage {
    let mut search = SalvageSearch::new(bytes, bare);
    let first = json::skip_space(bytes, open + 1);
    search.indent = indentation(bytes, first);
    if bytes.get(first) != Some(&b']') || !is_end(bytes, first) {
        search.run(first);
    }
    search.found
}

/// Messages from here on, if no list of them is recognizable.
pub(super) fn anywhere(bytes: &[u8], from: usize, bare: bool) -> Salvage {
    let mut search = SalvageSearch::new(bytes, bare);
    if let Some(first) = search.resume(from, &[]) {
        search.run(first);
    }
    search.found
}

/// Whether this is certainly a message; an element of the list needs less evidence.
pub(super) fn is_message(raw: &[u8], bare: bool) -> bool {
    let has = |name| json::member(raw, name).is_some();
    raw.first() == Some(&b'{') && has("role") && has("content") && (bare || has("category"))
}

/// Whether this may be a message, at a position where one is expected.
fn may_be_message(raw: &[u8]) -> bool {
    let has = |name| json::member(raw, name).is_some();
    has("role") && (has("content") || has("category"))
}

/// Whether this is a list that starts with a message.
pub(super) fn is_message_list(value: &[u8]) -> bool {
    let first = json::skip_space(value, 1);
    value.first() == Some(&b'[')
        && json::value_end(value, first, Dialect::Python)
            .is_ok_and(|end| is_message(&value[first..end], false))
}

struct SalvageSearch<'b> {
    bytes: &'b [u8],
    bare: bool,
    /// The line break and indentation before each element; `None` if elements do not start lines.
    indent: Option<&'b [u8]>,
    /// Whether no further element has this indentation.
    indent_ended: bool,
    /// Remaining number of bytes that may be read in vain.
    effort: usize,
    found: Salvage,
}

impl<'b> SalvageSearch<'b> {
    fn new(bytes: &'b [u8], bare: bool) -> Self {
        SalvageSearch {
            bytes,
            bare,
            indent: None,
            indent_ended: false,
            effort: bytes.len().saturating_mul(EFFORT),
            found: Salvage::default(),
        }
    }

    /// Reads elements, of which the first is at `at`, to the end of the list or file.
    fn run(&mut self, mut at: usize) {
        let bytes = self.bytes;
        loop {
            let (fault, after, near) = match self.value(at) {
                Ok(end) if !self.nests_following(at) => {
                    let next = json::skip_space(bytes, end);
                    match bytes.get(next) {
                        Some(b',') => {
                            self.take(at..end);
                            at = json::skip_space(bytes, next + 1);
                            continue;
                        }
                        Some(b']') if is_end(bytes, next) => return self.take(at..end),
                        _ => {}
                    }
                    let what = match bytes.get(next) {
                        Some(_) => "missing comma or closing bracket",
                        None => "unterminated object or array",
                    };
                    let fault = JsonError { offset: next, what };
                    // A single value may be a fragment of a message, as may an object without an id.
                    let cut = is_cut_short(bytes, next);
                    if bytes[at] == b'{' && (!cut || json::member(&bytes[at..end], "id").is_some()) {
                        self.found.cut.extend(cut.then_some(at));
                        self.take(at..end);
                        (fault, end, [next, next + 1])
                    } else {
                        self.effort = self.effort.saturating_sub(end - at);
                        (fault, at, [at + 1; 2])
                    }
                }
                Ok(end) => {
                    self.effort = self.effort.saturating_sub(end - at);
                    let what = "a list in place of a message";
                    (JsonError { offset: at, what }, at, [at + 1; 2])
                }
                Err(fault) => (fault, at, [at + 1; 2]),
            };
            self.found.fault.get_or_insert(fault);
            // A message at this offset was already tried.
            let next = self.resume(after + usize::from(after == at), &near);
            let gap = after..next.unwrap_or(bytes.len());
            if !bytes[gap.clone()].trim_ascii().is_empty() {
                self.found.gaps.push(gap);
            }
            match next {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    fn take(&mut self, element: Range<usize>) {
        if self.bytes[element.start] == b'{' {
            self.indent = indentation(self.bytes, element.start).or(self.indent);
        }
        self.found.elements.push(element);
    }

    /// Whether a damaged byte has turned the following messages into a list.
    fn nests_following(&mut self, at: usize) -> bool {
        let inside = json::skip_space(self.bytes, at + 1);
        self.bytes[at] == b'[' && self.begins(inside, is_message)
    }

    /// The start of the next message after `from`: at one of the near offsets if only white space precedes it, else at
    /// the indentation of elements, else at any object that is certainly a message.
    fn resume(&mut self, from: usize, near: &[usize]) -> Option<usize> {
        let bytes = self.bytes;
        let from = from.min(bytes.len());
        let is_message = |raw: &[u8], _| may_be_message(raw);
        for place in near {
            let at = json::skip_space(bytes, *place);
            if self.begins(at, is_message) {
                return Some(at);
            }
        }
        if let Some(indent) = self.indent.filter(|_| !self.indent_ended) {
            let marker = [indent, b"{"].concat();
            for found in memchr::memmem::find_iter(&bytes[from..], &marker) {
                let at = from + found + indent.len();
                if self.begins(at, is_message) {
                    return Some(at);
                }
            }
            // There is none further on either, so do not search the rest again.
            self.indent_ended = true;
        }
        for found in memchr::memmem::find_iter(&bytes[from..], ROLE) {
            let Some(at) = last_token(bytes, from + found) else {
                continue;
            };
            let is_value = last_token(bytes, at).is_some_and(|before| bytes[before] == b':');
            if at >= from && !is_value && self.begins(at, is_message) {
                return Some(at);
            }
        }
        None
    }

    /// Whether an object that satisfies `such` starts here.
    fn begins(&mut self, at: usize, such: impl Fn(&[u8], bool) -> bool) -> bool {
        if self.bytes.get(at) != Some(&b'{') {
            return false;
        }
        let Ok(end) = self.value(at) else { return false };
        let found = such(&self.bytes[at..end], self.bare);
        if !found {
            self.effort = self.effort.saturating_sub(end - at);
        }
        found
    }

    /// The end of the value that starts here; counts bytes read in vain.
    fn value(&mut self, at: usize) -> Result<usize, JsonError> {
        if self.effort == 0 {
            let what = "too much damage; stopped reading";
            return Err(JsonError { offset: at, what });
        }
        let end = json::value_end(self.bytes, at, Dialect::Python);
        if let Err(fault) = &end {
            let reached = match fault.what {
                what if what.starts_with("unterminated") => self.bytes.len(),
                "malformed number" => {
                    let is_number = |byte: &&u8| {
                        byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
                    };
                    let rest = self.bytes[fault.offset..].iter();
                    fault.offset + rest.take_while(is_number).count()
                }
                _ => fault.offset,
            };
            self.effort = self.effort.saturating_sub(reached.saturating_sub(at) + 1);
        }
        end
    }
}

/// The line break and indentation before an offset.
fn indentation(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let at = at.min(bytes.len());
    let space = last_token(bytes, at).map_or(0, |last| last + 1);
    let start = memchr::memrchr(b'\n', &bytes[space..at])?;
    Some(&bytes[space + start..at])
}

/// Offset of the last byte before this one that is not white space.
fn last_token(bytes: &[u8], at: usize) -> Option<usize> {
    bytes[..at]
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Whether this bracket ends the list: no further object may follow.
fn is_end(bytes: &[u8], bracket: usize) -> bool {
    let mut next = json::skip_space(bytes, bracket + 1);
    if bytes.get(next) == Some(&b',') {
        next = json::skip_space(bytes, next + 1);
    }
    bytes.get(next) != Some(&b'{')
}

/// Whether a damaged byte closed an object too early. It ended before `next` without a comma, and text follows. If only
/// the separator is damaged, the next object, the end, or bytes that are not text follow.
fn is_cut_short(bytes: &[u8], next: usize) -> bool {
    let begins = |at| matches!(bytes.get(json::skip_space(bytes, at)), None | Some(b'{' | b']'));
    let text = bytes.get(next).is_some_and(u8::is_ascii_graphic);
    text && !begins(next) && !begins(next + 1)
}

/// Whether a name and a colon start here.
pub(super) fn begins_member(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'"')
        && json::value_end(bytes, at, Dialect::Python)
            .is_ok_and(|end| bytes.get(json::skip_space(bytes, end)) == Some(&b':'))
}
