//! Session data in the sidecar of a log, or in a legacy document.

use super::go::{self, Accepted};
use super::member::push_members;
use crate::format::native::HeaderBuilder;
use crate::model::json::{self, JsonError, ObjectBuilder, quoted, wrapped};
use std::borrow::Cow;

/// The kind of file; their member names differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberNames {
    /// `<name>.meta.json`
    #[default]
    Sidecar,
    /// `<name>.json`
    Document,
}

/// The raw members; `None` if absent, null, or an unset time.
#[derive(Debug, Default)]
pub(super) struct RawMembers<'a> {
    shape: MemberNames,
    /// The session's key; may be empty.
    pub key: Option<Cow<'a, str>>,
    /// The summary's raw string; may be blank.
    pub summary: Option<&'a [u8]>,
    /// Number of hidden raw lines at the start of the log.
    pub skip: u64,
    /// Number of lines according to PicoClaw, which is unreliable.
    pub count: i64,
    /// The messages of a document with their offsets.
    pub messages: Vec<(usize, &'a [u8])>,
    created: Option<&'a [u8]>,
    updated: Option<&'a [u8]>,
    scope: Option<&'a [u8]>,
    aliases: Option<&'a [u8]>,
    /// Members whose type PicoClaw rejects: name, value, offset of the value.
    pub misfits: Vec<(&'static str, &'a [u8], usize)>,
    /// Members unknown to PicoClaw, name and value.
    members: Vec<&'a [u8]>,
    /// Whether any member known to PicoClaw is present.
    pub is_known: bool,
}

/// A time, unless it is Go's zero time.
fn set_time(value: &[u8]) -> Option<&[u8]> {
    (value != br#""0001-01-01T00:00:00Z""#).then_some(value)
}

impl<'a> RawMembers<'a> {
    /// Parses an object. Reads all other members if some have a wrong type, although PicoClaw rejects such a session;
    /// fails only if the messages are not a list.
    pub fn read(object: &'a [u8], shape: MemberNames) -> Accepted<RawMembers<'a>> {
        use MemberNames::{Document, Sidecar};
        let mut facts = RawMembers {
            shape,
            ..RawMembers::default()
        };
        go::fields(object, 0, |field| {
            let (value, null) = (field.value, field.is_null());
            let (name, fits) = match (field.name.as_ref(), shape) {
                (b"key", _) => {
                    let text = json::text(value);
                    let fits = text.is_some();
                    facts.key = text.or(facts.key.take());
                    ("key", fits)
                }
                (b"summary", _) => ("summary", go::string(&mut facts.summary, &field, "").is_ok()),
                (b"skip", Sidecar) => {
                    let number = go::integer(value);
                    facts.skip = number.map_or(facts.skip, |skip| u64::try_from(skip).unwrap_or(0));
                    ("skip", number.is_some())
                }
                (b"count", Sidecar) => {
                    let number = go::integer(value);
                    facts.count = number.unwrap_or(facts.count);
                    ("count", number.is_some())
                }
                (b"created_at", Sidecar) => ("created_at", time(&mut facts.created, value)),
                (b"created", Document) => ("created", time(&mut facts.created, value)),
                (b"updated_at", Sidecar) => ("updated_at", time(&mut facts.updated, value)),
                (b"updated", Document) => ("updated", time(&mut facts.updated, value)),
                (b"scope", Sidecar) => {
                    facts.scope = (value[0] == b'{').then_some(value);
                    ("scope", facts.scope.is_some())
                }
                (b"aliases", Sidecar) => {
                    let all = go::list(&field, "").ok();
                    let texts = all.filter(|all| all.iter().all(|(_, one)| matches!(one[0], b'"' | b'n')));
                    facts.aliases = texts.as_ref().is_some_and(|all| !all.is_empty()).then_some(value);
                    ("aliases", texts.is_some())
                }
                (b"messages", Document) => {
                    facts.messages = go::list(&field, "messages is not a list")?;
                    ("messages", true)
                }
                _ => {
                    facts.members.push(field.raw);
                    return Ok(());
                }
            };
            facts.is_known = true;
            if !fits && !null {
                // The last value of a repeated name is effective.
                facts.misfits.retain(|(known, ..)| *known != name);
                facts.misfits.push((name, value, field.at));
            }
            Ok(())
        })?;
        Ok(facts)
    }

    /// The summary, unless it is blank.
    pub fn summary(&self) -> Option<&'a [u8]> {
        self.summary.filter(|raw| !go::is_blank(Some(raw)))
    }

    /// Time of the last change.
    pub fn updated(&self) -> Option<Cow<'a, str>> {
        self.updated.and_then(json::text)
    }

    /// The header of the session, which may contain invalid UTF-8.
    pub fn header(&self, key: Option<&str>, id: &str, source: Vec<u8>) -> Vec<u8> {
        let mut built = HeaderBuilder::default();
        if let Some(created) = self.created {
            built.raw("created_at", created.to_vec());
        }
        built.text("key", key);
        if let Some(scope) = self.scope {
            built.raw("scope", json::compact(scope).0);
        }
        built.raw("source", source);
        let mut own = ObjectBuilder::default();
        let updated = if self.shape == MemberNames::Sidecar {
            "updated_at"
        } else {
            "updated"
        };
        for (name, value) in [("aliases", self.aliases), (updated, self.updated)] {
            if let Some(value) = value {
                own.raw(name, json::compact(value).0);
            }
        }
        for (name, value, _) in &self.misfits {
            own.raw(name, json::compact(value).0);
        }
        push_members(&mut own, "members", &self.members);
        if !own.is_empty() {
            built.raw("metadata", wrapped("picoclaw", own.finish()));
        }
        built.finish(id)
    }
}

/// Stores a time; `false` if it is invalid.
fn time<'a>(slot: &mut Option<&'a [u8]>, value: &'a [u8]) -> bool {
    let fits = go::is_time(value);
    if fits {
        *slot = set_time(value);
    }
    fits
}

/// The kind of a complete input.
#[derive(Debug)]
pub(super) enum InputKind<'a> {
    /// A legacy session.
    Document(RawMembers<'a>),
    /// A sidecar without its file name, such as from a pipe.
    Sidecar,
    /// One object that is neither.
    Other,
    /// Not a single object.
    NotOneObject(JsonError),
}

/// Determines the kind of an input.
pub(super) fn input_kind(bytes: &[u8]) -> InputKind<'_> {
    let (mut session, mut message, mut counts) = (false, false, false);
    let scan = go::fields(bytes, 0, |field| {
        match field.name.as_ref() {
            b"messages" => (session, counts) = (true, false),
            b"summary" => session = true,
            b"role" => message = true,
            // Only sidecars have these members; a sidecar is never read as a session document.
            b"skip" | b"count" => counts = true,
            _ => {}
        }
        Ok(())
    });
    match scan {
        Err(fault) => InputKind::NotOneObject(fault),
        Ok(()) if message || !session => InputKind::Other,
        Ok(()) if counts => InputKind::Sidecar,
        Ok(()) => RawMembers::read(bytes, MemberNames::Document)
            .map_or_else(InputKind::NotOneObject, InputKind::Document),
    }
}

/// The summary as a JSON string for an event: unchanged, except for lone surrogates, which some readers reject.
pub(super) fn encode_summary(summary: &[u8]) -> Vec<u8> {
    let raw = go::repaired(summary.to_vec());
    if serde_json::from_slice::<Cow<'_, str>>(&raw).is_ok() {
        return raw;
    }
    quoted(&json::text(&raw).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_member_does_not_affect_the_others() {
        let raw = br#"{"KEY":"a:b","skip":1.5,"created_at":"soon","updated_at":"2026-01-01T00:00:00Z","x":{"y":1e400},
            "aliases":["c", " "],"scope":{"version": 1},"count":null}"#;
        let facts = RawMembers::read(raw, MemberNames::Sidecar).unwrap();
        let header = facts.header(facts.key.as_deref(), "id", b"{}".to_vec());
        assert_eq!(
            String::from_utf8(header).unwrap(),
            concat!(
                r#"{"type":"session","version":1,"id":"id","key":"a:b","scope":{"version":1},"source":{},"#,
                r#""metadata":{"picoclaw":{"aliases":["c"," "],"updated_at":"2026-01-01T00:00:00Z","#,
                r#""skip":1.5,"created_at":"soon","members":{"x":{"y":1e400}}}}}"#
            )
        );
        assert_eq!(facts.misfits.len(), 2);
    }

    #[test]
    fn unset_times_and_empty_lists_are_omitted() {
        let zero = "0001-01-01T00:00:00Z";
        let raw =
            format!(r#"{{"key":"k","created_at":"{zero}","updated_at":"{zero}","aliases":[],"scope":null}}"#);
        let facts = RawMembers::read(raw.as_bytes(), MemberNames::Sidecar).unwrap();
        let header = facts.header(Some("k"), "k", b"{}".to_vec());
        assert_eq!(
            header,
            br#"{"type":"session","version":1,"id":"k","key":"k","source":{}}"#
        );
        assert!(facts.misfits.is_empty() && facts.updated().is_none());
    }

    #[test]
    fn objects_are_classified_by_their_members() {
        let is = |raw: &str| {
            format!("{:?}", input_kind(raw.as_bytes()))
                .split(['(', ' '])
                .next()
                .unwrap()
                .to_string()
        };
        assert_eq!(is(r#"{"messages":null}"#), "Document");
        assert_eq!(is(r#"{"Summary":""}"#), "Document");
        assert_eq!(is(r#"{"summary":"","skip":0}"#), "Sidecar");
        assert_eq!(is(r#"{"role":"user","summary":""}"#), "Other");
        assert_eq!(is(r#"{"foo":1}"#), "Other");
        assert_eq!(is(r#"{"messages":{}}"#), "NotOneObject");
        assert_eq!(is(r#"{"summary":""} {}"#), "NotOneObject");
        assert_eq!(is("null"), "NotOneObject");
    }

    #[test]
    fn a_lone_surrogate_in_a_summary_is_readable() {
        assert_eq!(encode_summary(br#""\u003ca\u003e""#), br#""\u003ca\u003e""#);
        assert_eq!(encode_summary(br#""a\ud800""#), "\"a\u{fffd}\"".as_bytes());
        assert_eq!(encode_summary(b"\"\xff\""), "\"\u{fffd}\"".as_bytes());
    }
}
