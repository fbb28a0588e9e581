//! Repeated reads: replaces the older of byte-identical results of the same call with placeholders.

use super::super::mark;
use super::super::work::{Level, Work};
use super::Enough;
use crate::model::json::{self, Dialect};
use crate::model::message::ToolCall;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The identity of a result: the fingerprint of tool, arguments and text.
type Key = [u8; 32];

/// Replaces results that a newer one repeats, unless a tool of `writers` wrote to the same place in between.
pub fn run(work: &mut Work<'_>, writers: &[String], enough: Enough<'_>) {
    for (older, newer) in repeats(work, writers).into_iter().rev() {
        if enough(work) {
            return;
        }
        let id = work.id(newer);
        if let Some(content) = work.elided(older, id, mark::repeated) {
            work.edit(older, &[("content", Some(&content))], Level::Masked, "dedupe");
        }
    }
}

/// Pairs of a result and the newest one that repeats it, newest first.
fn repeats(work: &Work<'_>, writers: &[String]) -> Vec<(usize, usize)> {
    let mut newest: HashMap<Key, usize> = HashMap::new();
    // Results by each text among the arguments of their calls.
    let mut about: HashMap<String, HashSet<Key>> = HashMap::new();
    let mut found = Vec::new();
    for at in work.results().into_iter().rev() {
        let Some(call) = work.call(at) else { continue };
        if writers.iter().any(|writer| *writer == call.name) {
            for key in texts(&call)
                .iter()
                .filter_map(|text| about.remove(text))
                .flatten()
            {
                newest.remove(&key);
            }
            continue;
        }
        let Some(key) = key(work, at, &call) else { continue };
        match newest.get(&key) {
            Some(newer) => found.push((at, *newer)),
            None => {
                for text in texts(&call) {
                    about.entry(text).or_default().insert(key);
                }
                newest.insert(key, at);
            }
        }
    }
    found
}

fn key(work: &Work<'_>, at: usize, call: &ToolCall<'_>) -> Option<Key> {
    let mut sha = Sha256::new();
    let shown = work.unmarked(at)?;
    // An edited result must also match in its original text, which the placeholder's fingerprint describes.
    let original = work.original(at).and_then(|message| mark::content(&message))?;
    for text in [&call.name, &call.arguments, &shown, &original] {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text.as_bytes());
    }
    Some(sha.finalize().into())
}

fn texts(call: &ToolCall<'_>) -> Vec<String> {
    let members = json::members(call.arguments.as_bytes(), Dialect::Strict).unwrap_or_default();
    let texts = members.into_iter().filter_map(|(_, value)| json::text(value));
    texts.map(|text| text.into_owned()).collect()
}
