//! What is said of a session as a whole: by the sidecar of a log, or by the members of a legacy document.

use super::go::{self, Accepted};
use super::member::push_members;
use crate::format::native::HeaderBuilder;
use crate::model::json::{self, Fault, ObjectBuilder};
use std::borrow::Cow;

/// Who says it; the names of the members differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// `<name>.meta.json`
    #[default]
    Sidecar,
    /// `<name>.json`
    Document,
}

/// The members as they were written; absent ones, null and unset times are none.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    shape: Shape,
    /// The session's key, empty or not.
    pub key: Option<Cow<'a, str>>,
    /// The summary's raw string, blank or not.
    pub summary: Option<&'a [u8]>,
    /// How many raw lines at the head of the log are out of view.
    pub skip: u64,
    /// How many lines PicoClaw wrote, by its own account, which nobody believes.
    pub count: i64,
    /// The messages of a document, each with its offset.
    pub messages: Vec<(usize, &'a [u8])>,
    created: Option<&'a [u8]>,
    updated: Option<&'a [u8]>,
    scope: Option<&'a [u8]>,
    aliases: Option<&'a [u8]>,
    /// Members of a type that PicoClaw rejects: name, value, offset of the value.
    pub misfits: Vec<(&'static str, &'a [u8], usize)>,
    /// Members that PicoClaw does not know, name and value.
    members: Vec<&'a [u8]>,
    /// Whether a member that PicoClaw knows is there, whatever its value.
    pub is_known: bool,
}

/// A time that was set; Go's zero time means that it was not.
fn set_time(value: &[u8]) -> Option<&[u8]> {
    (value != br#""0001-01-01T00:00:00Z""#).then_some(value)
}

impl<'a> Facts<'a> {
    /// Reads an object. Of members with a wrong type, for which PicoClaw gives up the whole session, the rest is
    /// read nevertheless; only messages that are no list leave nothing to read.
    pub fn read(object: &'a [u8], shape: Shape) -> Accepted<Facts<'a>> {
        use Shape::{Document, Sidecar};
        let mut facts = Facts {
            shape,
            ..Facts::default()
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
                // Of a name that is repeated the last value counts.
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

    /// When the session was written last.
    pub fn updated(&self) -> Option<Cow<'a, str>> {
        self.updated.and_then(json::text)
    }

    /// The header of the session, which may hold bytes that are no UTF-8.
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
        let updated = if self.shape == Shape::Sidecar {
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
            let mut metadata = ObjectBuilder::default();
            metadata.raw("picoclaw", own.finish());
            built.raw("metadata", metadata.finish());
        }
        built.finish(id)
    }
}

/// Takes a time; false when it is none.
fn time<'a>(slot: &mut Option<&'a [u8]>, value: &'a [u8]) -> bool {
    let fits = go::is_time(value);
    if fits {
        *slot = set_time(value);
    }
    fits
}

/// What a whole input is.
#[derive(Debug)]
pub(super) enum Whole<'a> {
    /// A legacy session.
    Document(Facts<'a>),
    /// A sidecar under another name, as on a pipe.
    Sidecar,
    /// One object that is neither.
    Other,
    /// Not one object.
    Pieces(Fault),
}

/// Tells what one object is that makes up the whole input.
pub(super) fn whole(bytes: &[u8]) -> Whole<'_> {
    let (mut session, mut message, mut counts) = (false, false, false);
    let scan = go::fields(bytes, 0, |field| {
        match field.name.as_ref() {
            b"messages" => (session, counts) = (true, false),
            b"summary" => session = true,
            b"role" => message = true,
            // What only a sidecar has; it is never read as a session of its own.
            b"skip" | b"count" => counts = true,
            _ => {}
        }
        Ok(())
    });
    match scan {
        Err(fault) => Whole::Pieces(fault),
        Ok(()) if message || !session => Whole::Other,
        Ok(()) if counts => Whole::Sidecar,
        Ok(()) => Facts::read(bytes, Shape::Document).map_or_else(Whole::Pieces, Whole::Document),
    }
}

/// The summary as an event carries it: as it was spelled, unless that is a spelling (half of a surrogate pair)
/// that not every reader takes.
pub(super) fn spelled(summary: &[u8]) -> Vec<u8> {
    let raw = go::repaired(summary.to_vec());
    if serde_json::from_slice::<Cow<'_, str>>(&raw).is_ok() {
        return raw;
    }
    let mut out = Vec::with_capacity(raw.len());
    json::push_text(&mut out, &json::text(&raw).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_member_does_not_take_the_others_along() {
        let raw = br#"{"KEY":"a:b","skip":1.5,"created_at":"soon","updated_at":"2026-01-01T00:00:00Z","x":{"y":1e400},
            "aliases":["c", " "],"scope":{"version": 1},"count":null}"#;
        let facts = Facts::read(raw, Shape::Sidecar).unwrap();
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
    fn unset_times_and_empty_lists_leave_no_trace() {
        let zero = "0001-01-01T00:00:00Z";
        let raw =
            format!(r#"{{"key":"k","created_at":"{zero}","updated_at":"{zero}","aliases":[],"scope":null}}"#);
        let facts = Facts::read(raw.as_bytes(), Shape::Sidecar).unwrap();
        let header = facts.header(Some("k"), "k", b"{}".to_vec());
        assert_eq!(
            header,
            br#"{"type":"session","version":1,"id":"k","key":"k","source":{}}"#
        );
        assert!(facts.misfits.is_empty() && facts.updated().is_none());
    }

    #[test]
    fn what_an_object_is_shows_in_its_members() {
        let is = |raw: &str| {
            format!("{:?}", whole(raw.as_bytes()))
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
        assert_eq!(is(r#"{"messages":{}}"#), "Pieces");
        assert_eq!(is(r#"{"summary":""} {}"#), "Pieces");
        assert_eq!(is("null"), "Pieces");
    }

    #[test]
    fn half_a_pair_in_a_summary_is_readable() {
        assert_eq!(spelled(br#""\u003ca\u003e""#), br#""\u003ca\u003e""#);
        assert_eq!(spelled(br#""a\ud800""#), "\"a\u{fffd}\"".as_bytes());
        assert_eq!(spelled(b"\"\xff\""), "\"\u{fffd}\"".as_bytes());
    }
}
