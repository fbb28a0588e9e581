//! Visits every string of a JSON text, with its path.

use super::edit::{LocatedEdit, Secret, TextEdit};
use super::kind::{Certainty, MEDIA};
use super::mapped::Mapped;
use super::scan::SecretScan;
use super::{media, place};
use crate::model::json::{Dialect, skip_space, value_end};
use crate::model::key::sha256;
use std::ops::Range;

/// Maximum depth; deeper values are scanned as text.
const DEEPEST: usize = 200;

/// Members whose text must not change: pairs are matched by them, or a program verifies them.
const UNCHANGED: [&str; 22] = [
    "id", "type", "role", "tool_call_id", "call_id", "tool_use_id", "toolCallId", "uuid", "parentUuid",
    "leafUuid", "sessionId", "session_id", "parent_id", "parentId", "messageId", "requestId", "signature",
    "thoughtSignature", "thought_signature", "encrypted_content", "_crc", "timestamp",
];

/// Members that only the provider can decode.
const OPAQUE: [&str; 3] = ["encrypted_content", "reasoning_opaque", "redacted_thinking"];

/// Part types that only the provider can decode.
const OPAQUE_TYPES: [&str; 2] = ["redacted_thinking", "reasoning.encrypted"];

/// Members of a tool call, which its results refer to.
const CALL: [&str; 4] = ["functionCall", "function_call", "arguments", "input"];

/// Members that sign the text next to them.
const SIGNATURES: [&str; 3] = ["signature", "thoughtSignature", "thought_signature"];

/// Walks a complete and valid JSON value.
pub struct Walk<'t, 'w, 's> {
    text: &'t str,
    scan: &'w mut SecretScan<'s>,
    found: Vec<LocatedEdit>,
    pointer: String,
    /// Whether the current value is an array element.
    is_element: bool,
}

struct ValueResult {
    range: Range<usize>,
    /// Its text changes and it is signed, so it must be dropped.
    drop: bool,
}

/// Members of an object that affect how it is redacted.
#[derive(Default)]
struct ObjectInfo<'t> {
    kind: Option<&'t str>,
    signature: Option<Range<usize>>,
    has_id: bool,
    is_call: bool,
    is_inline: bool,
}

impl<'t> ObjectInfo<'t> {
    fn member(&mut self, name: &str, text: &'t str, value: &Range<usize>) {
        let string = text[value.clone()]
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        match name {
            "type" => self.kind = string,
            "id" => self.has_id = true,
            "inlineData" | "inline_data" => self.is_inline = true,
            _ if SIGNATURES.contains(&name) && string.is_some_and(|text| !text.is_empty()) => {
                self.signature = Some(value.clone());
            }
            _ => self.is_call |= CALL.contains(&name),
        }
    }
}

impl<'t, 'w, 's> Walk<'t, 'w, 's> {
    pub fn new(text: &'t str, scan: &'w mut SecretScan<'s>) -> Walk<'t, 'w, 's> {
        Walk {
            text,
            scan,
            found: Vec::new(),
            pointer: String::new(),
            is_element: false,
        }
    }

    /// Returns the edits of the whole value, in order.
    pub fn run(mut self) -> Vec<LocatedEdit> {
        let start = skip_space(self.text.as_bytes(), 0);
        self.value(start, None, 0);
        self.found.sort_by_key(|placed| placed.edit.range.start);
        self.found
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    /// Visits the value that begins here.
    fn value(&mut self, at: usize, name: Option<&str>, depth: usize) -> ValueResult {
        match self.byte(at) {
            b'"' => {
                let end = self.string_end(at);
                self.string(at, end, name);
                ValueResult {
                    range: at..end,
                    drop: false,
                }
            }
            b'{' if depth < DEEPEST => self.object(at, depth),
            b'[' if depth < DEEPEST => self.array(at, depth),
            b'{' | b'[' => {
                let end = value_end(self.text.as_bytes(), at, Dialect::Strict);
                let end = end.unwrap_or(self.text.len());
                let edits = self.scan.text(&self.text[at..end]);
                self.place(edits, |range| at + range.start..at + range.end);
                ValueResult {
                    range: at..end,
                    drop: false,
                }
            }
            _ => {
                let length = self.text.as_bytes()[at..]
                    .iter()
                    .take_while(|byte| !b",]} \t\r\n".contains(byte))
                    .count();
                ValueResult {
                    range: at..at + length.max(1),
                    drop: false,
                }
            }
        }
    }

    fn string_end(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = at + 1;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
            at += found;
            if bytes[at] == b'"' {
                return at + 1;
            }
            at = (at + 2).min(bytes.len());
        }
        bytes.len()
    }

    fn string(&mut self, start: usize, end: usize, name: Option<&str>) {
        let raw = &self.text[start + 1..end - 1];
        if name.is_some_and(|name| OPAQUE.contains(&name)) && !raw.is_empty() {
            self.scan.state.opaque += 1;
            if self.scan.options.drop_opaque {
                self.replace(start..end, "null".to_string(), Vec::new());
            }
            return;
        }
        if name.is_some_and(|name| UNCHANGED.contains(&name)) {
            return;
        }
        if self.scan.options.drop_media
            && let Some(kind) = media::kind(raw, name)
        {
            let mark = self.scan.mark(kind, raw);
            let secret = Secret {
                kind,
                level: Certainty::Personal,
                length: raw.len(),
                sha256: Some(sha256(raw.as_bytes())),
                layers: Vec::new(),
            };
            let text = serde_json::Value::from(mark).to_string();
            return self.replace(start..end, text, vec![secret]);
        }
        if !self.scan.may_contain_finding(raw, name) {
            return;
        }
        let mapped = Mapped::json(raw);
        let whole = name.and_then(|name| place::member(name, &mapped.text));
        let mut edits = self.scan.text(&mapped.text);
        if edits.is_empty() {
            edits.extend(whole.and_then(|hit| self.scan.edit(&mapped.text, hit)));
        }
        let outer = start + 1;
        for edit in edits {
            let source = mapped.source(&edit.range);
            let escaped = serde_json::Value::from(edit.text).to_string();
            self.found.push(LocatedEdit {
                pointer: self.pointer.clone(),
                start: edit.range.start,
                end: edit.range.end,
                edit: TextEdit {
                    range: outer + source.start..outer + source.end,
                    text: escaped[1..escaped.len() - 1].to_string(),
                    secrets: edit.secrets,
                },
            });
        }
    }

    /// Replaces a whole value.
    fn replace(&mut self, range: Range<usize>, text: String, secrets: Vec<Secret>) {
        self.found.push(LocatedEdit {
            pointer: self.pointer.clone(),
            start: 0,
            end: range.len().saturating_sub(2),
            edit: TextEdit { range, text, secrets },
        });
    }

    fn place(&mut self, edits: Vec<TextEdit>, source: impl Fn(&Range<usize>) -> Range<usize>) {
        let pointer = self.pointer.clone();
        self.found.extend(edits.into_iter().map(|edit| LocatedEdit {
            pointer: pointer.clone(),
            start: edit.range.start,
            end: edit.range.end,
            edit: TextEdit {
                range: source(&edit.range),
                ..edit
            },
        }));
    }

    fn object(&mut self, start: usize, depth: usize) -> ValueResult {
        let before = self.found.len();
        let is_element = std::mem::take(&mut self.is_element);
        let mut about = ObjectInfo::default();
        let mut at = skip_space(self.text.as_bytes(), start + 1);
        while self.byte(at) == b'"' {
            let end = self.string_end(at);
            // Member names are searched too: an object may map tokens to users.
            self.string(at, end, None);
            let name = Mapped::json(&self.text[at + 1..end - 1]).text;
            let value = skip_space(self.text.as_bytes(), skip_space(self.text.as_bytes(), end) + 1);
            let length = self.pointer.len();
            self.pointer.push('/');
            self.pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            let left = self.value(value, Some(&name), depth + 1);
            self.pointer.truncate(length);
            about.member(&name, self.text, &left.range);
            at = skip_space(self.text.as_bytes(), left.range.end);
            if self.byte(at) != b',' {
                break;
            }
            at = skip_space(self.text.as_bytes(), at + 1);
        }
        let range = start..at + 1;
        let drop = self.finish_object(&range, before, is_element, about);
        ValueResult { range, drop }
    }

    /// Finishes an object whose edits begin at `before`; returns whether it is dropped from its array.
    fn finish_object(
        &mut self,
        range: &Range<usize>,
        before: usize,
        is_element: bool,
        about: ObjectInfo<'_>,
    ) -> bool {
        if about.kind.is_some_and(|kind| OPAQUE_TYPES.contains(&kind)) {
            self.found.truncate(before);
            self.scan.state.opaque += 1;
            return is_element && self.scan.options.drop_opaque;
        }
        let secrets = |placed: &LocatedEdit| placed.edit.secrets.clone();
        let found: Vec<Secret> = self.found[before..].iter().flat_map(secrets).collect();
        if let Some(secret) = found
            .iter()
            .find(|secret| is_element && MEDIA.contains(&secret.kind))
        {
            let is_media =
                |placed: &&LocatedEdit| placed.edit.secrets.iter().any(|one| one.kind == secret.kind);
            let first = self.found[before..].iter().find(is_media);
            let mark = first.and_then(|placed| serde_json::from_str::<String>(&placed.edit.text).ok());
            let part = media::text_part(
                about.kind,
                about.has_id,
                about.is_inline,
                &mark.unwrap_or_default(),
            );
            if let (Some(part), None) = (part, &about.signature) {
                self.found.truncate(before);
                self.replace(range.clone(), part, found);
                return false;
            }
        }
        let Some(signature) = about.signature.filter(|_| !found.is_empty()) else {
            return false;
        };
        self.scan.state.signed += 1;
        if is_element && !about.is_call {
            return true;
        }
        // Outside an array the part cannot be dropped, and a call has results, so only the signature is cleared.
        self.replace(signature, "\"\"".to_string(), Vec::new());
        false
    }

    fn array(&mut self, start: usize, depth: usize) -> ValueResult {
        let mut elements: Vec<(ValueResult, usize)> = Vec::new();
        let mut at = skip_space(self.text.as_bytes(), start + 1);
        while !matches!(self.byte(at), b']' | 0) {
            let before = self.found.len();
            let length = self.pointer.len();
            self.pointer.push_str(&format!("/{}", elements.len()));
            self.is_element = true;
            let left = self.value(at, None, depth + 1);
            self.is_element = false;
            self.pointer.truncate(length);
            at = skip_space(self.text.as_bytes(), left.range.end);
            elements.push((left, before));
            if self.byte(at) != b',' {
                break;
            }
            at = skip_space(self.text.as_bytes(), at + 1);
        }
        if elements.iter().any(|(left, _)| left.drop) {
            self.drop_elements(start + 1, &elements);
        }
        ValueResult {
            range: start..at + 1,
            drop: false,
        }
    }

    /// Replaces the edits of dropped elements with one edit that removes each element and its comma.
    fn drop_elements(&mut self, inside: usize, elements: &[(ValueResult, usize)]) {
        let last_kept = elements.iter().rposition(|(left, _)| !left.drop);
        let mut at = elements.len();
        while let Some((left, before)) = at.checked_sub(1).map(|nth| &elements[nth]) {
            at -= 1;
            if !left.drop {
                continue;
            }
            let next = elements
                .get(at + 1)
                .map(|(_, before)| *before)
                .unwrap_or(self.found.len());
            let range = match (last_kept, elements.get(at + 1)) {
                (Some(kept), Some((next, _))) if at < kept => left.range.start..next.range.start,
                // After the last kept element: remove all following elements at once, with the comma before them.
                (Some(kept), _) if at == kept + 1 => {
                    elements[kept].0.range.end..elements[elements.len() - 1].0.range.end
                }
                (None, _) if at == 0 => inside..elements[elements.len() - 1].0.range.end,
                _ => 0..0,
            };
            let removed: Vec<LocatedEdit> = self.found.drain(*before..next.min(self.found.len())).collect();
            let secrets = removed
                .iter()
                .flat_map(|placed| placed.edit.secrets.clone())
                .collect();
            let first = removed.first();
            self.found.insert(
                *before,
                LocatedEdit {
                    pointer: first.map_or(String::new(), |placed| placed.pointer.clone()),
                    start: first.map_or(0, |placed| placed.start),
                    end: first.map_or(0, |placed| placed.end),
                    edit: TextEdit {
                        range,
                        text: String::new(),
                        secrets,
                    },
                },
            );
        }
    }
}
