//! The sidecar of a log as a thing to change: what is not changed stays as it is spelled.

use super::encode::{ZERO_TIME, quoted};
use super::facts::{Facts, Shape};
use super::go;
use super::member::array;
use super::raw::without_bom;
use crate::format::indent::indented;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// The members that PicoClaw knows, in the order in which it writes them.
const NAMES: [&str; 8] = [
    "key",
    "summary",
    "skip",
    "count",
    "created_at",
    "updated_at",
    "scope",
    "aliases",
];

const KEY: usize = 0;
const SUMMARY: usize = 1;
const SKIP: usize = 2;
const COUNT: usize = 3;
const CREATED: usize = 4;
const UPDATED: usize = 5;
const SCOPE: usize = 6;
const ALIASES: usize = 7;

/// What a sidecar says, each value as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sidecar {
    values: [Option<Vec<u8>>; NAMES.len()],
    /// Members that PicoClaw does not know, name and value.
    unknown: Vec<Vec<u8>>,
}

impl Sidecar {
    /// For a session of this key that has none yet.
    pub fn new(key: &str) -> Sidecar {
        let mut sidecar = Sidecar::default();
        sidecar.values[KEY] = Some(quoted(key));
        sidecar
    }

    /// Reads one by the rules of PicoClaw, which gives a session up for one wrong type; the error says what is
    /// wrong.
    pub fn read(bytes: &[u8]) -> Result<Sidecar, String> {
        let object = without_bom(bytes).1;
        let facts = Facts::read(object, Shape::Sidecar).map_err(|fault| fault.what.to_string())?;
        if let Some((name, ..)) = facts.misfits.first() {
            return Err(format!("{name} has a wrong type"));
        }
        let mut sidecar = Sidecar::default();
        let read = go::fields(object, 0, |field| {
            match NAMES
                .iter()
                .position(|name| name.as_bytes() == field.name.as_ref())
            {
                // For a list or a pointer null is a value, for everything else no change.
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

    /// What stands for what is out of view.
    pub fn summary(&self) -> String {
        self.text(SUMMARY)
    }

    /// Changes the summary.
    pub fn set_summary(&mut self, text: &str) {
        if self.summary() != text {
            self.values[SUMMARY] = Some(quoted(text));
        }
    }

    /// Changes the summary to a new one, where there is one.
    pub fn set_summary_if(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.set_summary(text);
        }
    }

    /// The other names of the session.
    pub fn aliases(&self) -> Vec<String> {
        let raw = self.values[ALIASES].as_deref().unwrap_or(b"[]");
        let all = json::elements(raw, Dialect::Strict).unwrap_or_default();
        let texts = all.into_iter().filter_map(json::text);
        texts.map(Cow::into_owned).collect()
    }

    /// Changes the other names.
    pub fn set_aliases(&mut self, aliases: &[String]) {
        if self.aliases() != aliases {
            let list = array(aliases.iter().map(|alias| quoted(alias)));
            self.values[ALIASES] = (!aliases.is_empty()).then(|| indented(&list, 1));
        }
    }

    /// The agent that the scope names.
    pub fn agent(&self) -> Option<String> {
        let agent = json::member(self.values[SCOPE].as_deref()?, "agent_id");
        agent.and_then(json::text).map(Cow::into_owned)
    }

    /// Changes the scope; the value is laid out already.
    pub(super) fn set_scope(&mut self, scope: Vec<u8>) {
        self.values[SCOPE] = Some(scope);
    }

    /// Adds a member that PicoClaw does not know, unless it would be one that it knows.
    pub(super) fn add_unknown(&mut self, name: &str, raw: Vec<u8>) {
        let is_known = NAMES.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is_known || !name.is_ascii() {
            return;
        }
        self.unknown.push(raw);
    }

    /// How many raw lines at the head of the log are out of view.
    pub fn skip(&self) -> u64 {
        let number = self.values[SKIP].as_deref().and_then(go::integer).unwrap_or(0);
        u64::try_from(number).unwrap_or(0)
    }

    /// Changes what is out of view.
    pub fn set_skip(&mut self, lines: u64) {
        if self.skip() != lines {
            self.values[SKIP] = Some(lines.to_string().into_bytes());
        }
    }

    /// How many raw lines there were, by the account of whoever wrote it last.
    pub fn count(&self) -> u64 {
        let number = self.values[COUNT].as_deref().and_then(go::integer).unwrap_or(0);
        u64::try_from(number).unwrap_or(0)
    }

    /// Changes the number of raw lines.
    pub fn set_count(&mut self, lines: u64) {
        if self.count() != lines {
            self.values[COUNT] = Some(lines.to_string().into_bytes());
        }
    }

    /// Whether it is not known when the session began.
    pub fn has_no_time(&self) -> bool {
        self.values[CREATED]
            .as_ref()
            .is_none_or(|value| value == ZERO_TIME)
    }

    /// Says when the session began.
    pub fn set_created(&mut self, time: &str) {
        self.values[CREATED] = Some(quoted(&super::encode::time(time)));
    }

    /// Says when the session was written last.
    pub fn set_updated(&mut self, time: &str) {
        self.values[UPDATED] = Some(quoted(&super::encode::time(time)));
    }

    /// The file's bytes: two spaces a level, no newline at the end.
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

    fn text(sidecar: &Sidecar) -> String {
        String::from_utf8(sidecar.bytes()).unwrap()
    }

    #[test]
    fn what_is_not_changed_stays_as_it_is_spelled() {
        let mut sidecar = Sidecar::read(WHOLE.as_bytes()).unwrap();
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
    fn a_new_one_has_every_member_that_picoclaw_writes() {
        assert_eq!(
            text(&Sidecar::new("a&b")),
            concat!(
                "{\n  \"key\": \"a\\u0026b\",\n  \"summary\": \"\",\n  \"skip\": 0,\n  \"count\": 0,\n",
                "  \"created_at\": \"0001-01-01T00:00:00Z\",\n  \"updated_at\": \"0001-01-01T00:00:00Z\"\n}"
            )
        );
        assert!(Sidecar::new("k").has_no_time());
    }

    #[test]
    fn odd_spellings_are_read_as_in_go() {
        let sidecar =
            Sidecar::read(b"\xef\xbb\xbf{\"SKIP\":1,\"skip\":2,\"skip\":null,\"aliases\":[],\"scope\":null}")
                .unwrap();
        assert_eq!(sidecar.skip(), 2);
        assert!(text(&sidecar).contains("\"skip\": 2,\n") && !text(&sidecar).contains("aliases"));
        for bad in [
            "",
            "[]",
            "{",
            "{\"skip\":\"1\"}",
            "{\"created_at\":\"soon\"}",
            "{} {}",
            "null",
        ] {
            assert!(Sidecar::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(Sidecar::read(b"{\"skip\":-3}").unwrap().skip(), 0);
    }
}
