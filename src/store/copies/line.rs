//! Lines of a manifest: each describes and commits a copied file.

use crate::error::{Error, Result};
use crate::model::key::hex;
use crate::model::named_enum::named_enum;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

named_enum! {
    /// The state of a file compared with its copy.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CopyOutcome {
        /// The copy is complete.
        Same = "same",
        /// The file was removed from the home; the copy is kept.
        Gone = "gone",
        /// The file has grown at its end, or in its list of messages.
        Grown = "grown",
        /// The file was not in the archive.
        New = "new",
        /// The file was rewritten, so the archive has another version next to the old one.
        Diverged = "diverged",
        /// The copy was missing or damaged; the file still had its bytes and was copied again.
        Repaired = "repaired",
    }
}

/// The start of the last member of a line, the CRC-32C of everything before it.
const CHECKSUM: &str = ",\"_crc\":\"";

/// The other members.
const MEMBERS: [&str; 16] = [
    "at", "bytes", "home", "home_hex", "kind", "mtime", "outcome", "path", "path_hex", "replaces", "row",
    "session", "sha256", "slimmed", "unread", "version",
];

/// A copy as described in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestLine {
    /// Time of the copy, RFC 3339.
    pub at: String,
    /// The session; none for files shared by sessions.
    pub session: Option<String>,
    /// The name of the directory that the path is relative to.
    pub home: PathBuf,
    /// The path below it.
    pub path: PathBuf,
    /// The number of the version directory.
    pub version: u64,
    /// The version that it replaced.
    pub replaces: Option<u64>,
    /// `transcript`, `sidecar` or `shared`.
    pub kind: String,
    /// Length of the copy in bytes.
    pub bytes: u64,
    /// SHA-256 of the copy.
    pub sha256: String,
    /// Modification time of the file; none if it could change again with the same time.
    pub modified: Option<(i64, i64)>,
    /// The state of the file.
    pub outcome: CopyOutcome,
    /// SHA-256 of the smaller file that replaced the original in the home, if the copy was made for that.
    pub slimmed: Option<String>,
    /// Time and size of the session in a database, of whose records this is a copy.
    pub row: Option<String>,
    /// The version of convo that could not read these records; the copy is an earlier one, or empty.
    pub unread: Option<String>,
}

impl ManifestLine {
    /// Whether there is a copy: not if the records could never be read.
    pub fn has_copy(&self) -> bool {
        self.unread.is_none() || self.bytes > 0
    }

    /// The line with its newline.
    pub fn written(&self) -> String {
        let mut object = json!({
            "at": self.at, "session": self.session, "version": self.version, "kind": self.kind, "bytes": self.bytes,
            "sha256": self.sha256, "outcome": self.outcome.name(), "replaces": self.replaces,
            "mtime": self.modified.map(|(seconds, nanoseconds)| format!("{seconds}.{nanoseconds:09}")),
        });
        if let Some(slimmed) = &self.slimmed {
            object["slimmed"] = Value::String(slimmed.clone());
        }
        for (name, text) in [("row", &self.row), ("unread", &self.unread)] {
            if let Some(text) = text {
                object[name] = Value::String(text.clone());
            }
        }
        for (name, path) in [("home", &self.home), ("path", &self.path)] {
            // A path that is not UTF-8 is written in hexadecimal.
            let (name, value) = match path.to_str() {
                Some(text) => (name.to_string(), text.to_string()),
                None => (format!("{name}_hex"), hex(path.as_os_str().as_bytes())),
            };
            object[name] = Value::String(value);
        }
        let mut text = object.to_string();
        text.pop(); // the brace
        let sum = crc32c::crc32c(text.as_bytes());
        format!("{text}{CHECKSUM}{sum:08x}\"}}\n")
    }

    /// Parses a line with or without its newline; none if it is damaged.
    fn read(line: &[u8]) -> Option<ManifestLine> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let object: Value = serde_json::from_slice(line).ok()?;
        let (body, sum) =
            line.split_at(memchr::memmem::rfind(line, CHECKSUM.as_bytes()).unwrap_or(line.len()));
        // Lines of earlier versions have no checksum. The members are known, so a damaged `_crc` is not such a line.
        let is_intact = match sum.is_empty() {
            true => object
                .as_object()?
                .keys()
                .all(|name| MEMBERS.contains(&name.as_str())),
            false => sum == format!("{CHECKSUM}{:08x}\"}}", crc32c::crc32c(body)).as_bytes(),
        };
        if !is_intact {
            return None;
        }
        let text = |name: &str| object[name].as_str().map(str::to_string);
        let path = |name: &str| match text(name) {
            Some(text) => Some(PathBuf::from(text)),
            None => {
                let digits = text(&format!("{name}_hex"))?;
                let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
                let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
                Some(OsString::from_vec(bytes?).into())
            }
        };
        let modified = match text("mtime") {
            None => None,
            Some(time) => {
                let (seconds, nanoseconds) = time.split_once('.')?;
                Some((seconds.parse().ok()?, nanoseconds.parse().ok()?))
            }
        };
        Some(ManifestLine {
            at: text("at")?,
            session: text("session"),
            home: path("home")?,
            path: path("path")?,
            version: object["version"].as_u64()?,
            replaces: object["replaces"].as_u64(),
            kind: text("kind")?,
            bytes: object["bytes"].as_u64()?,
            sha256: text("sha256")?,
            modified,
            outcome: CopyOutcome::from_name(&text("outcome")?)?,
            slimmed: text("slimmed"),
            row: text("row"),
            unread: text("unread"),
        })
    }

    /// Whether the line describes this file.
    pub fn is_of(&self, home: &Path, path: &Path) -> bool {
        self.path == path && self.home == home
    }
}

/// Parses a manifest; returns its lines and their total length. A partial last line was never acknowledged.
pub(super) fn lines(bytes: &[u8], shown: &str) -> Result<(Vec<ManifestLine>, u64)> {
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
    let mut lines = Vec::new();
    for (nth, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let damaged = || Error::data(format!("{shown}:{}: damaged line", nth + 1));
        lines.push(ManifestLine::read(line).ok_or_else(damaged)?);
    }
    // A whole line whose newline is another byte was acknowledged.
    if let Some((_, line)) = bytes[whole..].split_last()
        && ManifestLine::read(line).is_some()
    {
        return Err(Error::data(format!("{shown}:{}: damaged line", lines.len() + 1)));
    }
    Ok((lines, whole as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::ffi::OsStr;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let line = ManifestLine {
            at: "2026-11-20T18:02:03Z".to_string(),
            session: Some("s #1".to_string()),
            home: "~/a b".into(),
            path: OsStr::from_bytes(b"-src\xff/x.jsonl").into(),
            version: 2,
            replaces: Some(1),
            kind: "transcript".to_string(),
            bytes: 7,
            sha256: "00".to_string(),
            modified: Some((-3, 120)),
            outcome: CopyOutcome::Grown,
            slimmed: Some("11".to_string()),
            row: Some("2026-11-20T10:00:00Z 5".to_string()),
            unread: Some("0.1.0".to_string()),
        };
        let written = line.written() + "{\"at\":";
        let (read, length) = lines(written.as_bytes(), "m").unwrap();
        assert_eq!((read, length), (vec![line.clone()], line.written().len() as u64));
        // Every flipped bit is found; a line of an earlier version has no checksum.
        let whole = line.written().into_bytes();
        for nth in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[nth / 8] ^= 1 << (nth % 8);
            assert!(lines(&damaged, "m").is_err(), "{nth}: {}", damaged.escape_ascii());
        }
        let text = line.written();
        let old = format!("{}}}\n", &text[..text.find(CHECKSUM).unwrap()]);
        assert_eq!(lines(old.as_bytes(), "m").unwrap().0, [line]);
        let error = lines(b"{}\n", "m").unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Data, "m:1: damaged line")
        );
    }
}
