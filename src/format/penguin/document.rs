//! One file of a Penguin session taken apart: its messages, and everything beside them. Of a damaged file,
//! needless commas and raw control characters are mended; else it counts up to its first fault.

use crate::error::Place;
use crate::model::json::{self, Dialect, Elements, Fault, Members};
use std::borrow::Cow;
use std::ops::Range;

const BOM: &[u8] = b"\xef\xbb\xbf";
const MESSAGES: &[u8] = b"\"messages\"";

/// How often a damaged file is searched for the beginning of its messages. Without a bound, a file that is
/// nothing but beginnings would be read once for each of them.
const SEARCHES: usize = 16;

/// What an escaped control character is longer than the raw one.
const GROWTH: usize = 5;

/// A file taken apart.
pub(super) struct Document<'a> {
    /// The file.
    source: &'a [u8],
    /// Length of its byte order mark.
    mark: usize,
    /// The file without its byte order mark, mended where that was needed.
    bytes: Cow<'a, [u8]>,
    /// Where in `bytes` a control character was escaped, ascending.
    escaped: Vec<usize>,
    parts: Parts,
    /// What is wrong with the file, although it could be read to its end.
    pub damage: Vec<(Place, &'static str)>,
}

/// Pieces of the bytes.
#[derive(Default)]
struct Parts {
    form: Form,
    /// Members of the object but its messages, in order.
    members: Vec<Range<usize>>,
    /// Whether a member tells that this is a session.
    is_session: bool,
    /// The value of `messages`.
    messages: Option<Range<usize>>,
    elements: Vec<Range<usize>>,
    /// Where reading had to end.
    torn: Option<Fault>,
    /// Offset of something behind the end.
    trailing: Option<usize>,
}

#[derive(Default, PartialEq, Eq)]
enum Form {
    Object,
    List,
    #[default]
    Neither,
}

impl<'a> Document<'a> {
    /// Takes a file apart. A list is a session only in the older format. Else says why the file is none; then
    /// nothing of it is usable.
    pub fn read(source: &'a [u8], list_allowed: bool) -> Result<Document<'a>, &'static str> {
        let text = source.strip_prefix(BOM).unwrap_or(source);
        let mut document = Document {
            source,
            mark: source.len() - text.len(),
            bytes: Cow::Borrowed(text),
            escaped: Vec::new(),
            parts: take_apart(text),
            damage: Vec::new(),
        };
        let mut mended_at = None;
        if let Some(fault) = document.parts.torn
            && let Some((mended, escaped)) = mend(text)
        {
            document.parts = take_apart(&mended);
            document.bytes = Cow::Owned(mended);
            document.escaped = escaped;
            mended_at = Some(fault.offset);
        }
        document.verdict(list_allowed)?;
        document.damage = document.flaws(mended_at);
        Ok(document)
    }

    fn verdict(&self, list_allowed: bool) -> Result<(), &'static str> {
        let parts = &self.parts;
        match (&parts.torn, &parts.form) {
            _ if json::skip_space(&self.bytes, 0) == self.bytes.len() => Err("it holds nothing"),
            (Some(_), Form::List) if !list_allowed => Err("a list of values"),
            (Some(_), _) if self.messages() == 0 => Err("no message in it is whole"),
            (None, Form::Neither) => Err("a single value"),
            (None, Form::List) if !list_allowed => Err("a list of values"),
            (None, Form::Object) if !parts.is_session => {
                Err("an object with neither messages nor the members of a session")
            }
            _ => Ok(()),
        }
    }

    fn flaws(&self, mended_at: Option<usize>) -> Vec<(Place, &'static str)> {
        let mut flaws = Vec::new();
        let mut lines = self.lines();
        if self.mark > 0 {
            flaws.push((lines.source_place(0), "a byte order mark"));
        }
        if let Some(at) = mended_at {
            // Where the first fault was, nothing had been mended yet, so its offset needs no way back.
            let place = lines.source_place(self.mark + at);
            flaws.push((
                place,
                "needless commas, or raw control characters in strings: mended",
            ));
        }
        if let Some(at) = self.parts.trailing {
            flaws.push((lines.place(at), "something follows the session"));
        }
        if let Some(range) = self
            .parts
            .messages
            .as_ref()
            .filter(|range| self.bytes[range.start] != b'[')
        {
            flaws.push((lines.place(range.start), "messages is no list"));
        }
        flaws
    }

    /// Whether the file could be read to its end.
    pub fn is_whole(&self) -> bool {
        self.parts.torn.is_none()
    }

    /// Whether this is a bare list.
    pub fn is_list(&self) -> bool {
        self.parts.form == Form::List
    }

    /// Where and why reading had to end.
    pub fn torn(&self) -> Option<(Place, &'static str)> {
        let fault = self.parts.torn?;
        Some((self.lines().place(fault.offset), fault.what))
    }

    /// Number of messages.
    pub fn messages(&self) -> usize {
        self.parts
            .elements
            .iter()
            .filter(|range| self.bytes[range.start] == b'{')
            .count()
    }

    /// The elements of `messages`, each with its place in the file.
    pub fn elements(&self) -> impl Iterator<Item = (Place, &[u8])> {
        let mut lines = self.lines();
        self.parts
            .elements
            .iter()
            .map(move |range| (lines.place(range.start), &self.bytes[range.clone()]))
    }

    /// An object of everything but the messages.
    pub fn head(&self) -> Vec<u8> {
        let members: Vec<&[u8]> = self
            .parts
            .members
            .iter()
            .map(|range| &self.bytes[range.clone()])
            .collect();
        [b"{", members.join(&b","[..]).as_slice(), b"}"].concat()
    }

    /// Where the document begins.
    pub fn start(&self) -> Place {
        self.lines().place(0)
    }

    fn lines(&self) -> Lines<'_> {
        Lines {
            source: self.source,
            mark: self.mark,
            escaped: &self.escaped,
            line: 1,
            offset: 0,
        }
    }
}

/// Finds the places of offsets; ascending ones are found without a second look at the file.
struct Lines<'d> {
    source: &'d [u8],
    mark: usize,
    escaped: &'d [usize],
    line: u64,
    offset: usize,
}

impl Lines<'_> {
    /// The place in the file of an offset in the mended bytes.
    fn place(&mut self, offset: usize) -> Place {
        let growth = self.escaped.partition_point(|escaped| *escaped < offset) * GROWTH;
        self.source_place(self.mark + offset.saturating_sub(growth))
    }

    fn source_place(&mut self, offset: usize) -> Place {
        let offset = offset.min(self.source.len());
        if offset < self.offset {
            (self.line, self.offset) = (1, 0);
        }
        self.line += memchr::memchr_iter(b'\n', &self.source[self.offset..offset]).count() as u64;
        self.offset = offset;
        Place {
            line: self.line,
            offset: offset as u64,
        }
    }
}

fn take_apart(bytes: &[u8]) -> Parts {
    let start = json::skip_space(bytes, 0);
    match bytes.get(start) {
        Some(b'{') => object(bytes),
        Some(b'[') => list(bytes),
        _ => {
            let mut parts = Parts::default();
            match json::value_end(bytes, start, Dialect::Python) {
                Ok(end) if json::skip_space(bytes, end) == bytes.len() => {}
                Ok(end) => torn(
                    bytes,
                    0,
                    Fault {
                        offset: end,
                        what: "no session",
                    },
                    &mut parts,
                ),
                Err(fault) => torn(bytes, 0, fault, &mut parts),
            }
            parts
        }
    }
}

fn object(bytes: &[u8]) -> Parts {
    let mut parts = Parts {
        form: Form::Object,
        ..Parts::default()
    };
    // The bracket is there: the caller has seen it.
    let Ok(mut members) = Members::new(bytes, Dialect::Python) else {
        return parts;
    };
    let mut end = json::skip_space(bytes, 0) + 1;
    loop {
        match members.next() {
            Ok(Some(member)) => {
                end = member.end;
                let value = member.end - member.value.len()..member.end;
                match member.name().as_ref() {
                    "messages" => {
                        if !matches!(member.value[0], b'[' | b'n') {
                            // What it is instead is carried along like any other member.
                            parts.members.push(member.start..member.end);
                        }
                        parts.messages = Some(value);
                        parts.is_session = true;
                    }
                    name => {
                        parts.is_session |= matches!(name, "id" | "created_at" | "last_active" | "metadata");
                        parts.members.push(member.start..member.end);
                    }
                }
            }
            Ok(None) => break,
            Err(fault) => {
                torn(bytes, end, fault, &mut parts);
                break;
            }
        }
    }
    if let Some(range) = parts.messages.clone().filter(|range| bytes[range.start] == b'[') {
        parts.elements = elements(bytes, range.start, range.end).0;
    }
    parts
}

fn list(bytes: &[u8]) -> Parts {
    let mut parts = Parts {
        form: Form::List,
        ..Parts::default()
    };
    let start = json::skip_space(bytes, 0);
    let (found, fault) = elements(bytes, start, bytes.len());
    let end = found.last().map_or(start + 1, |range| range.end);
    parts.elements = found;
    if let Some(fault) = fault {
        let close = json::skip_space(bytes, end);
        if bytes.get(close) == Some(&b']') {
            parts.trailing = Some(json::skip_space(bytes, close + 1));
        } else {
            parts.torn = Some(fault);
        }
    }
    parts
}

/// The elements of the list that begins at `start`, up to the first that is no JSON.
fn elements(bytes: &[u8], start: usize, end: usize) -> (Vec<Range<usize>>, Option<Fault>) {
    let mut found = Vec::new();
    let here = |fault: Fault| {
        Some(Fault {
            offset: start + fault.offset,
            ..fault
        })
    };
    let mut scan = match Elements::new(&bytes[start..end], Dialect::Python) {
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

/// What can be had behind the last good member, which ended at `end`.
fn torn(bytes: &[u8], end: usize, fault: Fault, parts: &mut Parts) {
    let next = json::skip_space(bytes, end);
    if parts.form == Form::Object && bytes.get(next) == Some(&b'}') {
        parts.trailing = Some(json::skip_space(bytes, next + 1));
        return;
    }
    parts.torn = Some(fault);
    if parts.messages.is_some() {
        return;
    }
    let key = if bytes.get(next) == Some(&b',') {
        json::skip_space(bytes, next + 1)
    } else {
        next
    };
    if let Some(open) = messages_open(bytes, key) {
        // The usual case, a file cut short: what a message holds is not looked into for other messages.
        let (found, fault) = elements(bytes, open, bytes.len());
        parts.elements = found;
        parts.torn = fault.or(parts.torn);
        return;
    }
    let mut tried = end;
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
        if like_messages && found.len() > parts.elements.len() {
            parts.elements = found;
        }
    }
}

/// Offset of the bracket, when `"messages": [` is here.
fn messages_open(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.starts_with(MESSAGES).then_some(())?;
    let colon = json::skip_space(bytes, at + MESSAGES.len());
    let open = json::skip_space(bytes, colon + 1);
    (bytes.get(colon) == Some(&b':') && bytes.get(open) == Some(&b'[')).then_some(open)
}

/// The bytes with raw control characters in strings escaped and commas that separate nothing made blank, so
/// that nothing moves but by the escapes, whose offsets come along. Both would be a fault, so whatever is
/// ahead of the first fault stays as it is. None when there is nothing to mend.
fn mend(bytes: &[u8]) -> Option<(Vec<u8>, Vec<usize>)> {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut escaped = Vec::new();
    let mut blanked = false;
    let mut in_string = false;
    // The last byte outside of strings that is no white space, and where it stands in `out`.
    let (mut last, mut last_at) = (0, 0);
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        i += 1;
        match byte {
            b'\\' if in_string => {
                out.push(byte);
                if let Some(&next) = bytes.get(i) {
                    out.push(next);
                    i += 1;
                }
                continue;
            }
            0..0x20 if in_string => {
                escaped.push(out.len());
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                continue;
            }
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.push(byte);
                continue;
            }
            b',' if matches!(last, b',' | b'[' | b'{') => {
                out.push(b' ');
                blanked = true;
                continue;
            }
            b']' | b'}' if last == b',' => {
                out[last_at] = b' ';
                blanked = true;
            }
            _ => {}
        }
        (last, last_at) = if in_string {
            (b'"', out.len())
        } else {
            (byte, out.len())
        };
        out.push(byte);
    }
    (blanked || !escaped.is_empty()).then_some((out, escaped))
}
