//! Parses and validates the document that contains the messages.

use crate::error::{Error, Position, Result};
use crate::format::go_json::folded;
use crate::format::report::Report;
use crate::model::json::{self, ArrayElements, Dialect, JsonError, Members};
use crate::model::record::mark_length;

/// The only version.
const VERSION: &[u8] = b"1";

/// A state with raw members.
#[derive(Debug, Default)]
pub struct GoaitoolsState<'a> {
    /// The provider of the messages, a string, if present.
    pub provider: Option<&'a [u8]>,
    /// How many messages the model has seen, an integer, if present.
    pub processed: Option<&'a [u8]>,
    /// The messages and their offsets.
    pub messages: Vec<(usize, &'a [u8])>,
    /// Members unknown to goaitools: name, colon and value.
    pub others: Vec<&'a [u8]>,
}

/// Computes positions by counting lines, in ascending order.
#[derive(Default)]
pub struct StatePositions<'a> {
    bytes: &'a [u8],
    place: Position,
}

impl<'a> StatePositions<'a> {
    /// For these bytes.
    pub fn of(bytes: &'a [u8]) -> Self {
        StatePositions {
            bytes,
            place: Position::default(),
        }
    }

    /// The position of an offset, which must not precede the previous one.
    pub fn at(&mut self, offset: usize) -> Position {
        let from = usize::try_from(self.place.offset).unwrap_or(offset);
        let between = &self.bytes[from.min(offset)..offset];
        self.place.line = self.place.line.max(1) + memchr::memchr_iter(b'\n', between).count() as u64;
        self.place.offset = offset as u64;
        self.place
    }
}

/// The value of `processed_length`: 0 if negative, the maximum if out of range.
pub fn number(raw: &[u8]) -> usize {
    let text = std::str::from_utf8(raw).unwrap_or_default();
    match text.strip_prefix('-') {
        Some(_) => 0,
        None => text.parse().unwrap_or(usize::MAX),
    }
}

/// Parses a state. An empty input is a new one; a state that goaitools would discard is rejected.
pub fn read<'a>(bytes: &'a [u8], report: &mut Report) -> Result<GoaitoolsState<'a>> {
    if bytes.is_empty() {
        return Ok(GoaitoolsState::default());
    }
    let refused = |offset: usize, what: String| Error {
        at: Some((
            String::new(),
            StatePositions::of(bytes).at(offset.min(bytes.len())),
        )),
        ..Error::data(what)
    };
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(refused(error.valid_up_to(), "not UTF-8".to_string()));
    }
    let start = mark_length(bytes);
    let text = &bytes[start..];
    let broken = |fault: JsonError| {
        let what = match json::value_end(text, json::skip_space(text, 0), Dialect::Strict) {
            Ok(_) if !text.trim_ascii_start().starts_with(b"{") => "not a JSON object".to_string(),
            _ => format!("not valid JSON: {}", fault.what),
        };
        refused(start + fault.offset, format!("not a goaitools state: {what}"))
    };
    let mut members = Members::new(text, Dialect::Strict).map_err(broken)?;
    let mut state = GoaitoolsState::default();
    let (mut version, mut list) = (None, None);
    let (mut odd, mut again) = (Vec::new(), Vec::new());
    let mut seen: Vec<Vec<u8>> = Vec::new();
    while let Some(member) = members.next().map_err(broken)? {
        let name = folded(member.key);
        let slot = match name.as_ref() {
            b"version" => &mut version,
            b"provider" => &mut state.provider,
            b"processed_length" => &mut state.processed,
            b"messages" => &mut list,
            _ => {
                state.others.push(&text[member.start..member.end]);
                continue;
            }
        };
        if member.key != name.as_ref() {
            odd.push(member.name().into_owned());
        }
        if seen.contains(&name.to_vec()) {
            again.push(member.name().into_owned());
        }
        seen.push(name.into_owned());
        // Null changes nothing in Go.
        if member.value != b"null" {
            *slot = Some(member.value);
        }
    }
    let at = |value: &[u8]| start + (value.as_ptr() as usize - text.as_ptr() as usize);
    match version {
        Some(VERSION) => {}
        None => return Err(refused(start, "goaitools state without version".to_string())),
        Some(other) => {
            let shown = String::from_utf8_lossy(&other[..other.len().min(40)]).into_owned();
            let what = format!("goaitools state of unsupported version {shown}; expected version 1");
            return Err(refused(at(other), what).hint("update convo"));
        }
    }
    if let Some(provider) = state.provider.filter(|raw| !raw.starts_with(b"\"")) {
        return Err(refused(at(provider), "\"provider\" is not a string".to_string()));
    }
    if let Some(processed) = state.processed.filter(|raw| !is_integer(raw)) {
        return Err(refused(
            at(processed),
            "\"processed_length\" is not an integer".to_string(),
        ));
    }
    if let Some(list) = list {
        let wrong = |_| refused(at(list), "\"messages\" is not a list".to_string());
        let mut elements = ArrayElements::new(list, Dialect::Strict).map_err(wrong)?;
        while let Some((offset, element)) = elements.next().map_err(wrong)? {
            state.messages.push((at(list) + offset, element));
        }
    }
    let mut note = |names: Vec<String>, what: &str| {
        if !names.is_empty() {
            report.note(Position::default(), format!("{what}: {}", names.join(", ")));
        }
    };
    note(odd, "members with other capitalization, read as goaitools does");
    note(again, "duplicate members, the last one is used");
    if state.provider.is_none() {
        report.note(Position::default(), "no provider; goaitools rejects the state");
    }
    if let Some(raw) = state.processed
        && (raw.starts_with(b"-") && number(&raw[1..]) > 0 || number(raw) > state.messages.len())
    {
        let (shown, length) = (String::from_utf8_lossy(raw), state.messages.len());
        let what = format!("processed_length is {shown}, but the state has {length} messages");
        report.damage(StatePositions::of(bytes).at(at(raw)), what);
    }
    Ok(state)
}

fn is_integer(raw: &[u8]) -> bool {
    let digits = raw.strip_prefix(b"-").unwrap_or(raw);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}
