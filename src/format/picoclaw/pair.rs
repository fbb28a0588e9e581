//! Writes a session as PicoClaw's pair of files: a log and its sidecar.

use super::layout::{LogLayout, SESSION, count_event_losses, is_own, layout};
use super::sidecar::PicoclawSidecar;
use super::write::LogEncoder;
use super::{LOG, SIDECAR, aliases_among, go};
use crate::error::{Error, ErrorKind, Result};
use crate::format::indent::indented;
use crate::format::output_names::DirFile;
use crate::format::report::{Loss, Report};
use crate::format::{WritePurpose, go_json};
use crate::model::json::{self, Dialect};
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{key, time};

/// Maximum length of a file name in bytes.
const LONGEST_NAME: usize = 255;

/// PicoClaw's file name for any key, without extension.
pub fn file_stem(key: &str) -> String {
    key.replace([':', '/', '\\'], "_")
}

/// The file name of a session without extension. [`ErrorKind::Unsafe`] for a key that PicoClaw could confuse with a
/// directory, or that is not a valid file name.
pub fn stem(key: &str) -> Result<String> {
    let stem = file_stem(key);
    let why = if key.is_empty() {
        "empty"
    } else if matches!(key, "." | "..") {
        "names a directory"
    } else if key.chars().any(char::is_control) {
        "contains a control character"
    } else if stem.len() + SIDECAR.len() > LONGEST_NAME {
        "the file name would be too long"
    } else {
        return Ok(stem);
    };
    let shown: String = key.chars().take(40).collect();
    Err(Error::new(
        ErrorKind::Unsafe,
        format!("key '{shown}' cannot be a PicoClaw file: {why}"),
    )
    .hint("give the session another key"))
}

/// The log and the sidecar of a session. The log is empty if there are no messages, and omitted if the source had none.
/// Hidden messages are at the start of the log, covered by the skip count. For `aliases`, see
/// [`crate::format::output_names::files`].
pub fn pair(session: &Session, aliases: Option<&[String]>, report: &mut Report) -> Result<Vec<DirFile>> {
    let view = View::replay(session);
    let header = SidecarHeader::of(session, aliases, report);
    let stem = stem(&header.key)?;
    let mut writing = LogEncoder::new(None, WritePurpose::Export);
    let laid = layout(session, &view, true, &mut writing, report)?;
    count_event_losses(session, &view, true, report);
    let count = laid.head.len() + laid.lines.len();
    let sidecar = header.sidecar(session, &laid, count);
    let mut files = Vec::new();
    let mut bytes = Vec::new();
    for line in laid.head.iter().chain(&laid.lines) {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    if count > 0 || !was_read_from_sidecar(session) {
        files.push(DirFile {
            name: format!("{stem}{LOG}"),
            bytes,
        });
    }
    files.push(DirFile {
        name: format!("{stem}{SIDECAR}"),
        bytes: sidecar.bytes(),
    });
    Ok(files)
}

/// Whether the session was read from a sidecar without a log; then no log is created.
fn was_read_from_sidecar(session: &Session) -> bool {
    let source = session.header_member("source");
    let name = source.and_then(|source| json::member_text(source, "name"));
    name.is_some_and(|name| name.ends_with(SIDECAR))
}

/// Whether an existing file is identical to this one, or PicoClaw has appended to it.
pub fn is_continued(file: &DirFile, there: &[u8]) -> bool {
    if file.name.ends_with(LOG) {
        return there.starts_with(&file.bytes);
    }
    let key = |bytes: &[u8]| PicoclawSidecar::read(bytes).ok().map(|sidecar| sidecar.key());
    key(there).is_some() && key(there) == key(&file.bytes)
}

/// Indexes of the files that exist in an earlier, shorter version. The log is written first, so a sidecar with a lower
/// line count next to a complete log is the result of an interrupted write.
pub fn grown_files(files: &[DirFile], there: &[Option<Vec<u8>>]) -> Vec<usize> {
    let mut grown = Vec::new();
    let mut is_complete = false;
    for (nth, (file, there)) in files.iter().zip(there).enumerate() {
        let Some(there) = there else { continue };
        if file.name.ends_with(LOG) {
            is_complete = file.bytes == *there;
            let is_shorter = there.is_empty() || there.ends_with(b"\n");
            if !is_complete && is_shorter && file.bytes.starts_with(there) {
                grown.push(nth);
            }
            continue;
        }
        let (Ok(old), Ok(new)) = (PicoclawSidecar::read(there), PicoclawSidecar::read(&file.bytes)) else {
            continue;
        };
        let is_older = old.count() < new.count() && old.skip() <= new.skip();
        let is_same = old.key() == new.key() && (old.summary().is_empty() || old.summary() == new.summary());
        if (is_complete || !grown.is_empty()) && is_older && is_same {
            grown.push(nth);
        } else if !grown.is_empty() && file.bytes != *there {
            return Vec::new(); // PicoClaw has changed it since
        }
    }
    grown
}

/// The header's data, as far as a sidecar or legacy document can represent it.
pub(super) struct SidecarHeader {
    pub key: String,
    pub created: Option<String>,
    updated: Option<String>,
    pub scope: Option<Vec<u8>>,
    pub aliases: Vec<String>,
    /// Members unknown to PicoClaw, as one object.
    members: Option<Vec<u8>>,
}

impl SidecarHeader {
    /// Parses the header, and counts what cannot be represented as lost.
    pub fn of(session: &Session, aliases: Option<&[String]>, report: &mut Report) -> SidecarHeader {
        let header = session.header();
        let raw = |name: &str| {
            let found = header.iter().find(|(known, _)| known == name);
            found
                .map(|(_, value)| value.as_slice())
                .filter(|value| *value != b"null")
        };
        let text = |name: &str| raw(name).and_then(json::text).map(|text| text.into_owned());
        let own = raw("metadata").and_then(|metadata| json::member(metadata, "picoclaw"));
        let own = own.unwrap_or(b"{}");
        let time = |raw: Option<&[u8]>| {
            let text = raw.and_then(json::text)?;
            let time = time::read(&text)?.time;
            time::is_rfc3339(&time).then_some(time)
        };
        let id = text("id").unwrap_or_default();
        let key = text("key").filter(|key| !key.is_empty());
        let key = key.unwrap_or_else(|| key::key_for_id(&id).unwrap_or_else(|| id.clone()));
        let scope = raw("scope").filter(|scope| is_scope(scope)).map(<[u8]>::to_vec);
        let updated = json::member(own, "updated_at").or_else(|| json::member(own, "updated"));
        let (created, updated) = (time(raw("created_at")), time(updated));
        let kept = |(name, value): &(String, Vec<u8>)| match name.as_str() {
            "type" | "version" | "key" | "source" => true,
            "id" => key::id_for_key(&key) == id,
            "created_at" => created.is_some(),
            "scope" => scope.is_some(),
            "metadata" => is_lossless(value),
            _ => false,
        };
        let is_filled =
            |(_, value): &&(String, Vec<u8>)| !matches!(value.as_slice(), b"null" | b"{}" | b"[]" | b"\"\"");
        let lost = header
            .iter()
            .filter(is_filled)
            .filter(|member| !kept(member))
            .count();
        report.count_loss(Loss::Header, lost as u64);
        SidecarHeader {
            aliases: match aliases {
                Some(given) => aliases_among(given.iter().cloned(), &key),
                None => super::aliases(&header_line(header)),
            },
            created,
            updated,
            scope,
            members: json::member(own, "members").map(<[u8]>::to_vec),
            key,
        }
    }

    /// Time of the last change: that of the source, or of the latest line.
    pub fn updated(&self, session: &Session) -> Option<String> {
        // Sessions without any time were read with the epoch.
        let newest = session.newest_time().filter(|time| time::seconds(time) > Some(0));
        let newest = newest.filter(|time| time::is_rfc3339(time));
        match (&self.updated, newest) {
            (Some(reported), Some(newest)) if time::seconds(&newest) > time::seconds(reported) => {
                Some(newest)
            }
            (Some(reported), _) => Some(reported.clone()),
            (None, newest) => newest,
        }
    }

    fn sidecar(&self, session: &Session, laid: &LogLayout, count: usize) -> PicoclawSidecar {
        let mut sidecar = PicoclawSidecar::new(&self.key);
        sidecar.set_summary(laid.summary.as_deref().unwrap_or_default());
        sidecar.set_skip(laid.head.len() as u64);
        sidecar.set_count(count as u64);
        // A PicoClaw session without a creation time is left without one.
        let first = || match is_own(session) {
            true => None,
            false => first_time(session),
        };
        if let Some(created) = self.created.clone().or_else(first) {
            sidecar.set_created(&created);
        }
        if let Some(updated) = self.updated(session) {
            sidecar.set_updated(&updated);
        }
        if let Some(scope) = &self.scope {
            sidecar.set_scope(indented(scope, 1));
        }
        sidecar.set_aliases(&self.aliases);
        for (name, value) in self
            .members
            .iter()
            .flat_map(|own| json::members(own, Dialect::Strict).unwrap_or_default())
        {
            let mut raw = go_json::quoted(&name);
            raw.extend_from_slice(b": ");
            raw.extend_from_slice(&indented(value, 1));
            sidecar.add_unknown(&name, raw);
        }
        sidecar
    }

    /// Names the data that a log alone cannot represent; `None` if there is none.
    pub fn sidecar_data(&self) -> Option<String> {
        let named = [
            ("scope", self.scope.is_some()),
            ("aliases", !self.aliases.is_empty()),
            ("times", self.created.is_some() || self.updated.is_some()),
        ];
        let words: Vec<&str> = named
            .iter()
            .filter(|(_, there)| *there)
            .map(|(name, _)| *name)
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Reports the data that a log alone cannot represent as lost.
    pub fn report_sidecar_losses(&self, summary: bool, report: &mut Report) {
        let words: Vec<String> = summary
            .then(|| "summary".to_string())
            .into_iter()
            .chain(self.sidecar_data())
            .collect();
        report.count_loss(Loss::Summary, u64::from(summary));
        report.count_loss(Loss::Header, u64::from(self.sidecar_data().is_some()));
        if !words.is_empty() {
            let what = format!(
                "the log cannot represent: {}; write the sidecar too with: convo migrate --to picoclaw --output-dir DIR",
                words.join(", ")
            );
            report.note(SESSION, what);
        }
    }
}

fn header_line(header: &[(String, Vec<u8>)]) -> Vec<u8> {
    json::object(header.iter().map(|(name, value)| (name, value)))
}

/// The time of the first message that has one.
fn first_time(session: &Session) -> Option<String> {
    session.messages().find_map(|(index, _)| {
        let record = session.record(index);
        let time = record.message()?.timestamp()?.into_owned();
        time::is_rfc3339(&time).then_some(time)
    })
}

/// Whether the files can represent all of a header's metadata.
fn is_lossless(metadata: &[u8]) -> bool {
    let members = json::members(metadata, Dialect::Python).unwrap_or_default();
    members.iter().all(|(name, value)| {
        let own = json::members(value, Dialect::Python).unwrap_or_default();
        let known = |name: &str| matches!(name, "aliases" | "updated_at" | "updated" | "members");
        name == "picoclaw" && own.iter().all(|(name, _)| known(name))
    })
}

/// Whether PicoClaw accepts this as a scope; it rejects a session whose scope has a wrong type.
fn is_scope(scope: &[u8]) -> bool {
    let text = |value: &[u8]| matches!(value.first(), Some(b'"')) || value == b"null";
    let mut fits = scope.first() == Some(&b'{');
    let read = go::fields(scope, 0, |field| {
        let value = field.value;
        fits &= match field.name.as_ref() {
            b"version" => go::integer(value).is_some() || field.is_null(),
            b"agent_id" | b"channel" | b"account" => text(value),
            b"dimensions" => {
                field.is_null()
                    || json::elements(value, Dialect::Strict).is_some_and(|all| all.into_iter().all(text))
            }
            b"values" => {
                field.is_null()
                    || json::members(value, Dialect::Strict)
                        .is_some_and(|all| all.into_iter().all(|(_, value)| text(value)))
            }
            _ => true,
        };
        Ok(())
    });
    read.is_ok() && fits
}
