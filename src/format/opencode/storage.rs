//! The directory in which older versions of opencode stored sessions, with a file per session, message and part:
//! `session/PROJECT/SESSION.json`, `message/SESSION/MESSAGE.json` and `part/MESSAGE/PART.json`. The files are combined
//! to the document that an export would produce. Read-only.

use super::element::milliseconds;
use crate::error::{Error, ErrorKind, Result};
use crate::format::request::request_part::add_extra_members;
use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};

/// Lists the files of a directory, given by its path in the storage: names without extension, and contents. Empty if
/// the directory does not exist.
pub type ListFiles<'f> = dyn Fn(&str) -> Result<Vec<(String, Vec<u8>)>> + 'f;

/// Whether a record describes a session.
pub fn is_session(record: &[u8]) -> bool {
    let begins = |name, byte: u8| json::member(record, name).is_some_and(|raw| raw.first() == Some(&byte));
    let named = begins("directory", b'"') || begins("projectID", b'"');
    let other = ["role", "info", "sessionID"]
        .iter()
        .any(|name| json::member(record, name).is_some());
    begins("id", b'"') && begins("time", b'{') && named && !other
}

/// The document that an export of this session would produce: messages sorted by time and id, parts by id.
pub fn document(record: &[u8], files: &ListFiles<'_>) -> Result<Vec<u8>> {
    let id = json::member_text(record, "id").unwrap_or_default();
    let mut messages = Vec::new();
    for (stem, info) in files(&dir("message", &id)?)? {
        let own = name(&info, stem);
        let time = json::member(&info, "time").and_then(|times| milliseconds(times, "created"));
        messages.push((time, own, info));
    }
    messages.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let mut elements = Vec::with_capacity(messages.len());
    for (_, own, info) in &messages {
        let mut parts = files(&dir("part", own)?)?;
        for (stem, part) in &mut parts {
            *stem = name(part, std::mem::take(stem));
        }
        parts.sort();
        let ids = [("sessionID", id.as_ref()), ("messageID", own)];
        let parts = parts.iter().map(|(stem, part)| with_ids(part, stem, &ids));
        let mut element = ObjectBuilder::default();
        element
            .raw("info", with_ids(info, own, &ids[..1]))
            .raw("parts", array(parts));
        elements.push(element.finish());
    }
    let mut document = ObjectBuilder::default();
    document
        .raw("info", json::compact(record).0)
        .raw("messages", array(&elements));
    Ok(document.finish())
}

/// A directory of the storage; rejects an id that is not a plain file name.
fn dir(kind: &str, id: &str) -> Result<String> {
    match id.contains(['/', '\\', '\0']) || matches!(id, "" | "." | "..") {
        true => Err(Error::new(
            ErrorKind::Unsafe,
            format!("invalid directory name '{id}'"),
        )),
        false => Ok(format!("{kind}/{id}")),
    }
}

/// The id of a record, else its file name.
fn name(record: &[u8], stem: String) -> String {
    let id = json::member_text(record, "id");
    id.map_or(stem, |id| id.into_owned())
}

/// A record with missing ids added from its path; a value that is not an object becomes its text.
fn with_ids(record: &[u8], own: &str, ids: &[(&str, &str)]) -> Vec<u8> {
    let mut built = ObjectBuilder::default();
    if std::str::from_utf8(record).is_err() || json::members(record.trim_ascii(), Dialect::Strict).is_none() {
        built
            .text("id", own)
            .text("damaged", &String::from_utf8_lossy(record));
        return built.finish();
    }
    let compact = json::compact(record.trim_ascii()).0;
    for (name, id) in [("id", own)].iter().chain(ids) {
        if json::member(&compact, name).is_none() {
            built.raw(name, quoted(id));
        }
    }
    add_extra_members(&mut built, &compact, &[]);
    built.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_assembled_from_its_files() {
        let record = br#"{"id":"s","projectID":"p","time":{"created":1}}"#;
        assert!(is_session(record) && !is_session(br#"{"id":"s","sessionID":"x","role":"user","time":{}}"#));
        let files = |dir: &str| -> Result<Vec<(String, Vec<u8>)>> {
            let file = |name: &str, text: &str| (name.to_string(), text.as_bytes().to_vec());
            Ok(match dir {
                "message/s" => vec![
                    file("b", r#"{"id":"m2","role":"user","time":{"created":2}}"#),
                    file("m3", "{"),
                    file(
                        "a",
                        "{\n \"id\": \"m1\", \"role\": \"user\", \"time\": {\"created\": 2}}\n",
                    ),
                ],
                "part/m1" => vec![
                    file("2", r#"{"type":"text","text":"b"}"#),
                    file("1", r#"{"id":"1","type":"text","text":"a"}"#),
                ],
                _ => Vec::new(),
            })
        };
        let text = String::from_utf8(document(record, &files).unwrap()).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"info":{"id":"s","projectID":"p","time":{"created":1}},"messages":["#,
                r#"{"info":{"id":"m3","damaged":"{"},"parts":[]},"#,
                r#"{"info":{"sessionID":"s","id":"m1","role":"user","time":{"created":2}},"parts":["#,
                r#"{"sessionID":"s","messageID":"m1","id":"1","type":"text","text":"a"},"#,
                r#"{"id":"2","sessionID":"s","messageID":"m1","type":"text","text":"b"}]},"#,
                r#"{"info":{"sessionID":"s","id":"m2","role":"user","time":{"created":2}},"parts":[]}]}"#
            )
        );
        assert!(document(br#"{"id":"../s","projectID":"p","time":{}}"#, &files).is_err());
    }
}
