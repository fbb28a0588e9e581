//! Edits the sidecar of a log, leaving all other members unchanged.

use super::encode::ZERO_TIME;
use super::facts::{MemberNames, RawMembers};
use super::go;
use crate::format::go_json;
use crate::format::indent::indented;
use crate::model::json::{self, array};
use crate::model::record::without_mark;
use std::borrow::Cow;

/// The members known to PicoClaw, in its order.
const NAMES: [&str; 8] = [
    "key", "summary", "skip", "count", "created_at", "updated_at", "scope", "aliases",
];

const KEY: usize = 0;
const SUMMARY: usize = 1;
const SKIP: usize = 2;
const COUNT: usize = 3;
const CREATED: usize = 4;
const UPDATED: usize = 5;
const SCOPE: usize = 6;
const ALIASES: usize = 7;

/// A sidecar with its raw values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PicoclawSidecar {
    values: [Option<Vec<u8>>; NAMES.len()],
    /// Members unknown to PicoClaw, name and value.
    unknown: Vec<Vec<u8>>,
}

impl PicoclawSidecar {
    /// A new sidecar for a session with this key.
    pub fn new(key: &str) -> PicoclawSidecar {
        let mut sidecar = PicoclawSidecar::default();
        sidecar.values[KEY] = Some(go_json::quoted(key));
        sidecar
    }

    /// Parses a sidecar by the rules of PicoClaw, which rejects a session for one wrong type; the error describes the
    /// problem.
    pub fn read(bytes: &[u8]) -> Result<PicoclawSidecar, String> {
        let object = without_mark(bytes);
        let facts = RawMembers::read(object, MemberNames::Sidecar).map_err(|fault| fault.what.to_string())?;
        if let Some((name, ..)) = facts.misfits.first() {
            return Err(format!("{name} has a wrong type"));
        }
        let mut sidecar = PicoclawSidecar::default();
        let read = go::fields(object, 0, |field| {
            match NAMES
                .iter()
                .position(|name| name.as_bytes() == field.name.as_ref())
            {
                // For a list or pointer, null is a value; for other types, it changes nothing.
                Some(known) if known >= SCOPE && field.is_null() => sidecar.values[known] = None,
                Some(_) if field.is_null() => {}
                Some(known) => sidecar.values[known] = Some(field.value.to_vec()),
                None => sidecar.unknown.push(field.raw.to_vec()),
            }
            Ok(())
        });
        match read {
            Ok(()) => Ok(sidecar),
            Err(fault) => Err(fault.what.to_string()),
        }
    }

    fn text(&self, member: usize) -> String {
        let raw = self.values[member]
            .as_deref()
            .map(|raw| go::repaired(raw.to_vec()));
        let text = raw.as_deref().and_then(json::text).map(Cow::into_owned);
        text.unwrap_or_default()
    }

    /// The session's key.
    pub fn key(&self) -> String {
        self.text(KEY)
    }

    /// The summary of hidden messages.
    pub fn summary(&self) -> String {
        self.text(SUMMARY)
    }

    /// Sets the summary.
    pub fn set_summary(&mut self, text: &str) {
        if self.summary() != text {
            self.values[SUMMARY] = Some(go_json::quoted(text));
        }
    }

    /// Sets the summary, if there is a new one.
    pub fn set_summary_if(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.set_summary(text);
        }
    }

    /// The aliases of the session.
    pub fn aliases(&self) -> Vec<String> {
        let raw = self.values[ALIASES].as_deref().unwrap_or(b"[]");
        let texts = json::items(raw).into_iter().filter_map(json::text);
        texts.map(Cow::into_owned).collect()
    }

    /// Sets the aliases.
    pub fn set_aliases(&mut self, aliases: &[String]) {
        if self.aliases() != aliases {
            let list = array(aliases.iter().map(|alias| go_json::quoted(alias)));
            self.values[ALIASES] = (!aliases.is_empty()).then(|| indented(&list, 1));
        }
    }

    /// The agent in the scope.
    pub fn agent(&self) -> Option<String> {
        let agent = json::member(self.values[SCOPE].as_deref()?, "agent_id");
        agent.and_then(json::text).map(Cow::into_owned)
    }

    /// Sets the scope, which is already formatted.
    pub(super) fn set_scope(&mut self, scope: Vec<u8>) {
        self.values[SCOPE] = Some(scope);
    }

    /// Adds a member unknown to PicoClaw; ignores known names.
    pub(super) fn add_unknown(&mut self, name: &str, raw: Vec<u8>) {
        let is_known = NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is_known || !name.is_ascii() {
            return;
        }
        self.unknown.push(raw);
    }

    fn number(&self, member: usize) -> u64 {
        let number = self.values[member].as_deref().and_then(go::integer).unwrap_or(0);
        u64::try_from(number).unwrap_or(0)
    }

    fn set_number(&mut self, member: usize, number: u64) {
        if self.number(member) != number {
            self.values[member] = Some(number.to_string().into_bytes());
        }
    }

    /// Number of hidden raw lines at the start of the log.
    pub fn skip(&self) -> u64 {
        self.number(SKIP)
    }

    /// Sets the number of hidden lines.
    pub fn set_skip(&mut self, lines: u64) {
        self.set_number(SKIP, lines);
    }

    /// Number of raw lines according to the last writer.
    pub fn count(&self) -> u64 {
        self.number(COUNT)
    }

    /// Sets the number of raw lines.
    pub fn set_count(&mut self, lines: u64) {
        self.set_number(COUNT, lines);
    }

    /// Whether the creation time is unknown.
    pub fn has_no_time(&self) -> bool {
        self.values[CREATED]
            .as_ref()
            .is_none_or(|value| value == ZERO_TIME)
    }

    /// Sets the creation time.
    pub fn set_created(&mut self, time: &str) {
        self.values[CREATED] = Some(go_json::quoted(&super::encode::time(time)));
    }

    /// Sets the time of the last change.
    pub fn set_updated(&mut self, time: &str) {
        self.values[UPDATED] = Some(go_json::quoted(&super::encode::time(time)));
    }

    /// Encodes the file: indented by two spaces, without a final newline.
    pub fn bytes(&self) -> Vec<u8> {
        let mut members: Vec<Vec<u8>> = Vec::new();
        for (known, name) in NAMES.iter().enumerate() {
            let value = match (&self.values[known], known) {
                (Some(value), _) => value.as_slice(),
                (None, SKIP | COUNT) => b"0",
                (None, CREATED | UPDATED) => ZERO_TIME,
                (None, SCOPE..) => continue,
                (None, _) => b"\"\"",
            };
            if known > SCOPE && json::compact(value).0 == b"[]" {
                continue;
            }
            members.push([format!("\"{name}\": ").as_bytes(), value].concat());
        }
        members.extend(self.unknown.iter().cloned());
        let mut out = b"{\n  ".to_vec();
        out.extend(members.join(&b",\n  "[..]));
        out.extend_from_slice(b"\n}");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{
  "key": "agent:main:\u003cx\u003e",
  "summary": "caf\u00e9",
  "skip": 3,
  "count": 5,
  "created_at": "2026-03-01T09:00:00.5Z",
  "updated_at": "2026-03-01T09:03:00Z",
  "scope": {
    "version": 1,
    "values": null
  },
  "aliases": [
    "a"
  ],
  "x-own": {
    "n": 1e400
  },
  "y":[1,  2]
}"#;

    fn text(sidecar: &PicoclawSidecar) -> String {
        String::from_utf8(sidecar.bytes()).unwrap()
    }

    #[test]
    fn unchanged_members_keep_their_bytes() {
        let mut sidecar = PicoclawSidecar::read(WHOLE.as_bytes()).unwrap();
        assert_eq!(text(&sidecar), WHOLE);
        assert_eq!((sidecar.skip(), sidecar.has_no_time()), (3, false));
        sidecar.set_skip(4);
        sidecar.set_count(5);
        sidecar.set_updated("2026-11-20T18:02:03Z");
        let changed = WHOLE
            .replace("\"skip\": 3", "\"skip\": 4")
            .replace("2026-03-01T09:03:00Z", "2026-11-20T18:02:03Z");
        assert_eq!(text(&sidecar), changed);
    }

    #[test]
    fn a_new_sidecar_has_every_member_that_picoclaw_writes() {
        assert_eq!(
            text(&PicoclawSidecar::new("a&b")),
            concat!(
                "{\n  \"key\": \"a\\u0026b\",\n  \"summary\": \"\",\n  \"skip\": 0,\n  \"count\": 0,\n",
                "  \"created_at\": \"0001-01-01T00:00:00Z\",\n  \"updated_at\": \"0001-01-01T00:00:00Z\"\n}"
            )
        );
        assert!(PicoclawSidecar::new("k").has_no_time());
    }

    #[test]
    fn unusual_encodings_are_read_as_in_go() {
        let sidecar = PicoclawSidecar::read(
            b"\xef\xbb\xbf{\"SKIP\":1,\"skip\":2,\"skip\":null,\"aliases\":[],\"scope\":null}",
        )
        .unwrap();
        assert_eq!(sidecar.skip(), 2);
        assert!(text(&sidecar).contains("\"skip\": 2,\n") && !text(&sidecar).contains("aliases"));
        for bad in [
            "", "[]", "{", "{\"skip\":\"1\"}", "{\"created_at\":\"soon\"}", "{} {}", "null",
        ] {
            assert!(PicoclawSidecar::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(PicoclawSidecar::read(b"{\"skip\":-3}").unwrap().skip(), 0);
    }
}
