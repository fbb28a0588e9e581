//! Repeated reads: replaces the older of byte-identical results of the same call with placeholders.

use super::super::placeholders;
use super::super::state::{AtomLevel, CompactionState};
use super::{EnoughFn, computed};
use crate::model::json::{self, Dialect};
use crate::model::message::ToolCall;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// The identity of a result: the fingerprint of tool, arguments and text.
type CallKeyHash = [u8; 32];

/// Replaces results that a newer one repeats, unless a tool of `writers` wrote to the same place in between.
pub fn run(work: &mut CompactionState<'_>, writers: &[String], enough: EnoughFn<'_>) {
    for (older, newer) in repeats(work, writers).into_iter().rev() {
        if enough(work) {
            return;
        }
        let id = work.id(newer);
        if let Some(shorter) = work.elided(older, &id, placeholders::repeated) {
            work.reduce(older, shorter, AtomLevel::Masked, "dedupe");
        }
    }
}

/// Pairs of a result and the newest one that repeats it, newest first.
fn repeats(work: &CompactionState<'_>, writers: &[String]) -> Vec<(usize, usize)> {
    let mut newest: HashMap<CallKeyHash, usize> = HashMap::new();
    // Results by each text among the arguments of their calls.
    let mut about: HashMap<String, HashSet<CallKeyHash>> = HashMap::new();
    let mut found = Vec::new();
    let results = work.results();
    let keys = computed(work, &results, key);
    for (at, key) in results.into_iter().zip(keys).rev() {
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
        let Some(key) = key else { continue };
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

fn key(work: &CompactionState<'_>, at: usize) -> Option<CallKeyHash> {
    let call = work.call(at)?;
    let mut sha = Sha256::new();
    let shown = work.unmarked(at)?;
    let mut add = |text: &str| {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text.as_bytes());
    };
    [&call.name, &call.arguments, &shown]
        .into_iter()
        .for_each(|text| add(text));
    // An edited result must also match in its original text, which the placeholder's fingerprint describes.
    if work.is_edited(at) {
        let original = placeholders::content(&work.original(at)?)?;
        if original != shown {
            add(&original);
        }
    }
    Some(sha.finalize().into())
}

fn texts(call: &ToolCall<'_>) -> Vec<String> {
    let members = json::members(call.arguments.as_bytes(), Dialect::Strict).unwrap_or_default();
    let texts = members.into_iter().filter_map(|(_, value)| json::text(value));
    texts.map(|text| text.into_owned()).collect()
}
