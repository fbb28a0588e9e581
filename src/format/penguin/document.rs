//! Splits a Penguin session file into messages and other members. In a damaged file, superfluous commas and raw control
//! characters are corrected; otherwise the members before the first fault and all complete messages are used.

use super::fix_syntax::{GROWTH, fix_syntax};
use super::salvage::{self, Salvage};
use crate::error::Position;
use crate::model::json::{self, Dialect, JsonError, Members};
use crate::model::record::without_mark;
use std::borrow::Cow;
use std::ops::Range;

/// A session file split into its parts.
pub(super) struct PenguinDocument<'a> {
    /// The file.
    source: &'a [u8],
    /// Length of its byte order mark.
    mark: usize,
    /// The file without its byte order mark, corrected if necessary.
    bytes: Cow<'a, [u8]>,
    /// Offsets in `bytes` of escaped control characters, ascending.
    escaped: Vec<usize>,
    parts: ByteRanges,
    /// Problems in a file that could still be read to its end.
    pub damage: Vec<(Position, &'static str)>,
}

#[derive(Default)]
struct ByteRanges {
    form: DocumentForm,
    /// Members of the object except its messages, in order.
    members: Vec<Range<usize>>,
    /// Whether a member identifies the document as a session.
    is_session: bool,
    /// Whether it has members of a session other than its id.
    says_more: bool,
    /// The value of `messages`.
    messages: Option<Range<usize>>,
    /// Whether that member has another name.
    renamed: bool,
    elements: Vec<Range<usize>>,
    /// Offsets of incomplete elements.
    cut: Vec<usize>,
    /// The first fault that could not be corrected.
    truncated: Option<JsonError>,
    /// Omitted ranges of the messages.
    gaps: Vec<Range<usize>>,
    /// Offset of bytes after the end.
    trailing: Option<usize>,
}

#[derive(Default, PartialEq, Eq)]
enum DocumentForm {
    Object,
    List,
    #[default]
    Neither,
}

impl<'a> PenguinDocument<'a> {
    /// Splits a file; a list is only valid in the older format. The error is the reason why the file is not a session
    /// and cannot be used.
    pub fn read(source: &'a [u8], list_allowed: bool) -> Result<PenguinDocument<'a>, &'static str> {
        let text = without_mark(source);
        let mut document = PenguinDocument {
            source,
            mark: source.len() - text.len(),
            bytes: Cow::Borrowed(text),
            escaped: Vec::new(),
            parts: split_document(text),
            damage: Vec::new(),
        };
        let mut repaired_at = None;
        if let Some(fault) = document.parts.truncated
            && let Some((repaired, escaped)) = fix_syntax(text)
        {
            // After a missing quote, strings and syntax are confused, and corrections would do harm.
            let parts = split_document(&repaired);
            let (repaired_has, has) = (parts.elements.len(), document.parts.elements.len());
            if repaired_has > has || (repaired_has == has && parts.truncated.is_none()) {
                document.parts = parts;
                document.bytes = Cow::Owned(repaired);
                document.escaped = escaped;
                repaired_at = Some(fault.offset);
            }
        }
        document.verdict(list_allowed)?;
        document.damage = document.flaws(repaired_at);
        Ok(document)
    }

    fn verdict(&self, list_allowed: bool) -> Result<(), &'static str> {
        let parts = &self.parts;
        match (&parts.truncated, &parts.form) {
            _ if json::skip_space(&self.bytes, 0) == self.bytes.len() => Err("empty"),
            (Some(_), DocumentForm::List) if !list_allowed => Err("a list of values"),
            (Some(_), _) if self.messages() == 0 && !parts.says_more => Err("no complete message"),
            (None, DocumentForm::Neither) => Err("a single value"),
            (None, DocumentForm::List) if !list_allowed => Err("a list of values"),
            (None, DocumentForm::Object) if !parts.is_session => {
                Err("an object with neither messages nor the members of a session")
            }
            _ => Ok(()),
        }
    }

    fn flaws(&self, repaired_at: Option<usize>) -> Vec<(Position, &'static str)> {
        let mut flaws = Vec::new();
        let mut lines = self.lines();
        if self.mark > 0 {
            flaws.push((lines.source_place(0), "byte order mark"));
        }
        if let Some(at) = repaired_at {
            // Before the first fault nothing was corrected, so its offset is that in the source.
            let place = lines.source_place(self.mark + at);
            flaws.push((
                place,
                "superfluous commas, or raw control characters in strings; corrected",
            ));
        }
        if let Some(at) = self.parts.trailing {
            flaws.push((lines.place(at), "unexpected text after the session"));
        }
        match &self.parts.messages {
            Some(range) if self.bytes[range.start] != b'[' => {
                flaws.push((lines.place(range.start), "messages is not a list"));
            }
            Some(range) if self.parts.renamed => {
                let what = "a list of messages under another name; read as messages";
                flaws.push((lines.place(range.start), what));
            }
            _ => {}
        }
        flaws
    }

    /// Whether the file could be read to its end.
    pub fn is_complete(&self) -> bool {
        self.parts.truncated.is_none()
    }

    /// Whether this is a bare list.
    pub fn is_list(&self) -> bool {
        self.parts.form == DocumentForm::List
    }

    /// The first fault that could not be corrected, and its position.
    pub fn first_fault(&self) -> Option<(Position, &'static str)> {
        let fault = self.parts.truncated?;
        Some((self.lines().place(fault.offset), fault.what))
    }

    /// The omitted ranges within and after the messages: start and end positions.
    pub fn gaps(&self) -> Vec<(Position, Position)> {
        let last = self.parts.elements.last().map_or(0, |range| range.start);
        let gaps = &self.parts.gaps;
        if gaps.first().is_none_or(|gap| gap.start > last) {
            return Vec::new();
        }
        let mut lines = self.lines();
        let gaps = gaps.iter();
        gaps.map(|gap| (lines.place(gap.start), lines.place(gap.end)))
            .collect()
    }

    /// Number of messages.
    pub fn messages(&self) -> usize {
        self.parts
            .elements
            .iter()
            .filter(|range| self.bytes[range.start] == b'{')
            .count()
    }

    /// Whether this element is incomplete.
    pub fn is_cut(&self, nth: usize) -> bool {
        let element = self.parts.elements.get(nth);
        element.is_some_and(|element| self.parts.cut.binary_search(&element.start).is_ok())
    }

    /// The elements of `messages` with their positions in the file.
    pub fn elements(&self) -> impl Iterator<Item = (Position, &[u8])> {
        let mut lines = self.lines();
        self.parts
            .elements
            .iter()
            .map(move |range| (lines.place(range.start), &self.bytes[range.clone()]))
    }

    /// All other members: names with their values.
    pub fn members(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.members.iter().map(|range| &self.bytes[range.clone()])
    }

    pub fn start(&self) -> Position {
        self.lines().place(0)
    }

    fn lines(&self) -> LineCounter<'_> {
        LineCounter {
            source: self.source,
            mark: self.mark,
            escaped: &self.escaped,
            line: 1,
            offset: 0,
        }
    }
}

/// Computes positions of offsets; fast for ascending ones.
struct LineCounter<'d> {
    source: &'d [u8],
    mark: usize,
    escaped: &'d [usize],
    line: u64,
    offset: usize,
}

impl LineCounter<'_> {
    /// The position in the file of an offset in the corrected bytes.
    fn place(&mut self, offset: usize) -> Position {
        let growth = self.escaped.partition_point(|escaped| *escaped < offset) * GROWTH;
        self.source_place(self.mark + offset.saturating_sub(growth))
    }

    fn source_place(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.source.len());
        if offset < self.offset {
            (self.line, self.offset) = (1, 0);
        }
        self.line += memchr::memchr_iter(b'\n', &self.source[self.offset..offset]).count() as u64;
        self.offset = offset;
        Position {
            line: self.line,
            offset: offset as u64,
        }
    }
}

fn split_document(bytes: &[u8]) -> ByteRanges {
    let start = json::skip_space(bytes, 0);
    match bytes.get(start) {
        Some(b'{') => object(bytes),
        Some(b'[') => list(bytes),
        _ => {
            let mut parts = ByteRanges::default();
            match json::value_end(bytes, start, Dialect::Python) {
                Ok(end) if json::skip_space(bytes, end) == bytes.len() => {}
                Ok(end) => truncated(
                    bytes,
                    0,
                    JsonError {
                        offset: end,
                        what: "not a session",
                    },
                    &mut parts,
                ),
                Err(fault) => truncated(bytes, 0, fault, &mut parts),
            }
            parts
        }
    }
}

fn object(bytes: &[u8]) -> ByteRanges {
    let mut parts = ByteRanges {
        form: DocumentForm::Object,
        ..ByteRanges::default()
    };
    // The caller has checked the bracket.
    let Ok(mut members) = Members::new(bytes, Dialect::Python) else {
        return parts;
    };
    let mut end = json::skip_space(bytes, 0) + 1;
    let mut fault = None;
    // A list of messages under another name, which may be damaged, and the index of that member.
    let mut other = None;
    loop {
        match members.next() {
            Ok(Some(member)) => {
                end = member.end;
                let value = member.end - member.value.len()..member.end;
                match member.name().as_ref() {
                    "messages" => {
                        if !matches!(member.value[0], b'[' | b'n') {
                            // Any other value is preserved like other members.
                            parts.members.push(member.start..member.end);
                        }
                        parts.messages = Some(value);
                        parts.is_session = true;
                    }
                    name => {
                        let more = matches!(name, "created_at" | "last_active" | "metadata");
                        parts.is_session |= more || name == "id";
                        parts.says_more |= more && !matches!(member.value, b"{}" | b"null");
                        if other.is_none() && salvage::is_message_list(member.value) {
                            other = Some((parts.members.len(), value));
                        }
                        parts.members.push(member.start..member.end);
                    }
                }
            }
            Ok(None) => break,
            Err(met) => {
                fault = Some(met);
                break;
            }
        }
    }
    if let (None, Some((index, value))) = (&parts.messages, other) {
        parts.members.remove(index);
        parts.messages = Some(value);
        (parts.renamed, parts.is_session) = (true, true);
    }
    if let Some(range) = parts.messages.clone().filter(|range| bytes[range.start] == b'[') {
        parts.elements = salvage::elements(bytes, range.start, range.end).0;
    }
    if let Some(fault) = fault {
        truncated(bytes, end, fault, &mut parts);
    }
    parts
}

impl ByteRanges {
    /// Uses the salvaged messages; `fault` is the first damage in the file.
    fn keep(&mut self, found: Salvage, fault: JsonError) {
        self.elements = found.elements;
        self.cut = found.cut;
        self.gaps = found.gaps;
        self.truncated = Some(found.fault.unwrap_or(fault));
    }
}

fn list(bytes: &[u8]) -> ByteRanges {
    let mut parts = ByteRanges {
        form: DocumentForm::List,
        ..ByteRanges::default()
    };
    let start = json::skip_space(bytes, 0);
    let (found, fault) = salvage::elements(bytes, start, bytes.len());
    let end = found.last().map_or(start + 1, |range| range.end);
    parts.elements = found;
    let Some(fault) = fault else { return parts };
    if salvage::begins_member(bytes, json::skip_space(bytes, start + 1)) {
        // The opening bracket is damaged.
        parts = ByteRanges::default();
        truncated(bytes, 0, fault, &mut parts);
        return parts;
    }
    let found = salvage::list(bytes, start, true);
    if found.fault.is_some() {
        parts.keep(found, fault);
    } else {
        let close = json::skip_space(bytes, end);
        parts.trailing = Some(json::skip_space(bytes, close + 1));
    }
    parts
}

/// Salvages messages after the last valid member, which ended at `end`.
fn truncated(bytes: &[u8], end: usize, fault: JsonError, parts: &mut ByteRanges) {
    let value = parts.messages.clone();
    let bare = parts.form == DocumentForm::List;
    if let Some(range) = value.clone().filter(|range| bytes[range.start] == b'[') {
        // A wrong bracket may have closed the list too early.
        let found = salvage::list(bytes, range.start, bare);
        if found.fault.is_some() {
            parts.keep(found, fault);
            return;
        }
    }
    let next = json::skip_space(bytes, end);
    let found = match &value {
        Some(range) if bytes[range.start] == b'[' => None,
        Some(range) => Some(salvage::anywhere(bytes, range.start, bare)),
        None => Some(salvage::salvage_after(bytes, end, bare)),
    };
    let mut found = found.filter(|found| !found.elements.is_empty());
    if let (None, None, Some(last)) = (&found, &value, parts.members.last().cloned())
        && fault.offset == bytes.len()
        && let Some(open) = salvage::nested_messages(bytes, last)
    {
        found = Some(salvage::list(bytes, open, bare));
        parts.members.pop();
    }
    if found.is_none() && parts.form == DocumentForm::Object && bytes.get(next) == Some(&b'}') {
        parts.trailing = Some(json::skip_space(bytes, next + 1));
        return;
    }
    parts.truncated = Some(fault);
    if let Some(found) = found {
        if let Some(range) = parts.messages.take() {
            // The value was not that of the member, but the first message.
            parts.members.retain(|member| member.end != range.end);
        }
        parts.keep(found, fault);
    }
}
