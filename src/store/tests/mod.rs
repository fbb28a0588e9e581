//! Tests the guarantees of a store on real files.

mod chains;
mod files;
mod fsck;
mod gc;
mod logs;
mod names;
mod readers;
mod sessions;
mod views;

use super::*;
use crate::error::ErrorKind;
use crate::model::event::Stamp;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

const NOW: &str = "2026-11-20T18:02:03Z";

/// The stamp of an event with this id, now.
fn stamp(id: &str) -> Stamp {
    let at = NOW.to_string();
    Stamp {
        id: id.to_string(),
        at,
    }
}

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(&dir.path().join("a/store")).unwrap();
    store.lock_timeout = Duration::ZERO;
    (dir, store)
}

fn log_path(store: &Store, id: &str) -> PathBuf {
    store.path().join("sessions").join(log_name(id))
}

fn message(text: &str) -> Vec<u8> {
    format!("{{\"role\":\"user\",\"content\":\"{text}\"}}").into_bytes()
}

fn header(id: &str) -> Vec<u8> {
    format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\"}}").into_bytes()
}

fn begin(store: &Store, id: &str, messages: &[&str]) {
    let lines: Vec<_> = std::iter::once(header(id))
        .chain(messages.iter().map(|text| message(text)))
        .collect();
    store.create_session(id, &lines).unwrap();
}

/// The lines read, and the report.
fn read(store: &Store, id: &str) -> (Vec<String>, Report) {
    let mut report = Report::default();
    let session = store.load(id, &mut report).unwrap();
    let line = |index| String::from_utf8_lossy(session.full(index)).into_owned();
    ((0..session.len()).map(line).collect(), report)
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind
}
