//! Searches a text for secrets, in the encodings that it may have.

use super::edit::{LocatedEdit, Secret, TextEdit, apply};
use super::hit::{Hit, remove_overlaps};
use super::kind::{self, Certainty, SecretKind};
use super::mapped::Mapped;
use super::mark::{self, SecretNumbers};
use super::options::RedactorOptions;
use super::{forms, personal, place, prefilter, shapes};
use crate::format::base64;
use crate::model::json::{Dialect, skip_space, value_end};
use crate::model::key::sha256;
use std::ops::Range;

/// Maximum nesting of decoded encodings.
const LAYERS: usize = 6;

/// Longer runs of Base64 are decoded only if they begin with text.
const LONG_RUN: usize = 4096;

/// The state of an input so far.
#[derive(Debug, Default)]
pub struct RedactionState {
    pub numbers: SecretNumbers,
    /// Number of encrypted parts, which cannot be decoded.
    pub opaque: u64,
    /// Number of signed parts whose text would change.
    pub signed: u64,
}

/// Whether a text is one complete JSON object or array.
pub fn is_json(text: &str) -> bool {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, 0);
    matches!(bytes.get(start), Some(b'{' | b'['))
        && value_end(bytes, start, Dialect::Strict).is_ok_and(|end| skip_space(bytes, end) == bytes.len())
}

/// A single search and its state.
pub struct SecretScan<'s> {
    pub options: &'s RedactorOptions,
    pub state: &'s mut RedactionState,
    pub depth: usize,
    /// Visits the strings of a JSON text with this search.
    pub walk: fn(&str, &mut SecretScan<'_>) -> Vec<LocatedEdit>,
}

impl SecretScan<'_> {
    /// Whether the prefilter covers all requested kinds.
    pub fn is_fast(&self) -> bool {
        self.options.personal.is_empty() && self.options.names.is_empty()
    }

    /// Whether a raw JSON string may contain a finding; cheaper than decoding it.
    pub fn may_contain_finding(&self, raw: &str, name: Option<&str>) -> bool {
        !self.is_fast() || name.is_some_and(prefilter::may_name) || prefilter::may_contain_secret(raw)
    }

    /// The edits of a text, sorted and without overlap.
    pub fn text(&mut self, text: &str) -> Vec<TextEdit> {
        if self.depth < LAYERS && is_json(text) {
            self.depth += 1;
            let placed = (self.walk)(text, self);
            self.depth -= 1;
            return placed
                .into_iter()
                .map(|placed| placed.edit.within("json"))
                .collect();
        }
        let escaped = text.contains('\u{1b}').then(|| Mapped::without_escapes(text));
        let Some(mapped) = escaped else {
            return self.plain(text);
        };
        let mut edits = self.plain(&mapped.text);
        for edit in &mut edits {
            edit.range = mapped.source(&edit.range);
        }
        edits
    }

    fn plain(&mut self, text: &str) -> Vec<TextEdit> {
        let mut hits = Vec::new();
        shapes::find(text, &mut hits);
        forms::find(text, &mut hits);
        let mut edits: Vec<TextEdit> = Vec::new();
        self.add(text, hits, &mut edits);
        if self.depth < LAYERS {
            self.depth += 1;
            self.percent(text, &mut edits);
            self.base64(text, &mut edits);
            self.depth -= 1;
        }
        let mut hits = Vec::new();
        place::find(text, &mut hits);
        let wanted = |kind: SecretKind| self.options.personal.contains(&kind);
        personal::find(text, &wanted, &mut hits);
        self.names(text, &mut hits);
        self.add(text, hits, &mut edits);
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    /// Adds the requested hits that do not overlap earlier ones.
    fn add(&mut self, text: &str, hits: Vec<Hit>, edits: &mut Vec<TextEdit>) {
        for hit in remove_overlaps(hits) {
            if is_free(edits, &hit.range) {
                edits.extend(self.edit(text, hit));
            }
        }
    }

    /// Converts a hit to an edit; none if the hit is not wanted.
    pub fn edit(&mut self, text: &str, hit: Hit) -> Option<TextEdit> {
        let options = self.options;
        let value = &text[hit.range.clone()];
        let wanted = (hit.level <= options.level || hit.level == Certainty::Personal)
            && (options.only.is_empty() || options.only.contains(&hit.kind))
            && !options.except.contains(&hit.kind);
        if !wanted || options.mark.is_mark(value) {
            return None;
        }
        let hash = sha256(value.as_bytes());
        let keyed = options
            .key
            .as_deref()
            .map(|key| mark::keyed(key, hit.kind, value));
        let is_allowed = [Some(&hash), keyed.as_ref()]
            .into_iter()
            .flatten()
            .any(|hash| options.allowed.contains(hash))
            || options
                .allowed_patterns
                .iter()
                .any(|pattern| pattern.is_match(value));
        if is_allowed {
            return None;
        }
        Some(TextEdit {
            text: self.mark(hit.kind, value),
            secrets: vec![Secret {
                kind: hit.kind,
                level: hit.level,
                length: value.len(),
                sha256: if kind::is_guessable(hit.kind) {
                    keyed
                } else {
                    Some(hash)
                },
                layers: Vec::new(),
            }],
            range: hit.range,
        })
    }

    /// Returns the placeholder of a value.
    pub fn mark(&mut self, kind: SecretKind, value: &str) -> String {
        let options = self.options;
        let numbers = &mut self.state.numbers;
        mark::mark(&options.mark, options.key.as_deref(), kind, value, numbers)
    }

    fn names(&self, text: &str, hits: &mut Vec<Hit>) {
        if self.options.names.is_empty() {
            return;
        }
        // Lower-case text may have another length, so positions are tracked per character.
        let lower: Vec<(usize, char)> = text
            .char_indices()
            .flat_map(|(at, c)| c.to_lowercase().map(move |c| (at, c)))
            .collect();
        let folded: String = lower.iter().map(|(_, c)| c).collect();
        let starts: Vec<usize> = folded.char_indices().map(|(at, _)| at).collect();
        let place = |at: usize| {
            let nth = starts.partition_point(|start| *start < at);
            lower.get(nth).map_or(text.len(), |(place, _)| *place)
        };
        for name in &self.options.names {
            let name = name.to_lowercase();
            for (at, _) in folded.match_indices(name.as_str()).filter(|_| !name.is_empty()) {
                let is_word = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                let end = at + name.len();
                if is_word(folded[..at].chars().next_back()) && is_word(folded[end..].chars().next()) {
                    hits.push(Hit::new(place(at)..place(end), kind::NAME, Certainty::Personal));
                }
            }
        }
    }

    /// Searches percent-encoded runs.
    fn percent(&mut self, text: &str, edits: &mut Vec<TextEdit>) {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>&?=;|()".contains(byte);
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'%', &bytes[at..]) {
            let found = at + found;
            let start = found - bytes[..found].iter().rev().take_while(|byte| !ends(byte)).count();
            let end = found + bytes[found..].iter().take_while(|byte| !ends(byte)).count();
            at = end;
            let mapped = Mapped::percent(&text[start..end]);
            for edit in mapped.iter().flat_map(|mapped| self.text(&mapped.text)) {
                let Some(source) = mapped.as_ref().map(|mapped| mapped.source(&edit.range)) else {
                    continue;
                };
                let range = start + source.start..start + source.end;
                if is_free(edits, &range) {
                    edits.push(TextEdit { range, ..edit }.within("percent"));
                }
            }
        }
    }

    /// Searches Base64 runs that decode to text. A run of which at least half is secret is replaced; otherwise the
    /// redacted text is encoded again.
    fn base64(&mut self, text: &str, edits: &mut Vec<TextEdit>) {
        let digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let digits = bytes[at..].iter().take_while(|byte| digit(byte)).count();
            let start = at;
            at += digits.max(1);
            if digits < 16 {
                continue;
            }
            let padding = bytes[at..]
                .iter()
                .take(2)
                .take_while(|byte| **byte == b'=')
                .count();
            at += padding;
            if !is_free(edits, &(start..at)) {
                continue;
            }
            let begins = |run: &str| decoded(run.as_bytes()).is_some();
            if at - start > LONG_RUN && !begins(&text[start..start + 48]) {
                continue;
            }
            let Some((style, inner)) = decoded(&bytes[start..at]) else {
                continue;
            };
            let found = self.text(&inner);
            if found.is_empty() {
                continue;
            }
            let secret: usize = found.iter().map(|edit| edit.range.len()).sum();
            let secrets = found.iter().flat_map(|edit| edit.secrets.clone()).collect();
            let text = match secret * 2 >= inner.len() {
                true => found[0].text.clone(),
                false => {
                    let changed = apply(inner.as_bytes(), &found);
                    String::from_utf8_lossy(&base64::encode(&changed, &style)).into_owned()
                }
            };
            let range = start..at;
            edits.push(TextEdit { range, text, secrets }.within("base64"));
        }
    }
}

/// Decodes Base64 that contains text.
fn decoded(run: &[u8]) -> Option<(base64::Base64Style, String)> {
    let (style, bytes) = base64::decode(run)?;
    let text = String::from_utf8(bytes).ok()?;
    let is_text = !text.chars().any(|c| c.is_control() && !"\n\r\t".contains(c));
    is_text.then_some((style, text))
}

fn is_free(edits: &[TextEdit], range: &Range<usize>) -> bool {
    let is_disjoint = |edit: &TextEdit| edit.range.end <= range.start || range.end <= edit.range.start;
    edits.iter().all(is_disjoint)
}
