//! I5 and I6: the order is unchanged, kept text is part of the original, and unknown members survive to the byte.

use super::super::placeholders;
use super::case::{Case, Done};
use crate::model::json::{self, Dialect};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use proptest::prelude::*;
use std::collections::HashMap;

/// Members that a compaction may change.
const CHANGING: [&str; 4] = ["content", "tool_calls", "reasoning", "tokens"];

pub fn hold(case: &Case, done: &Done) -> Result<(), TestCaseError> {
    let lines = |view: &View| view.items.iter().filter_map(Item::line).collect::<Vec<_>>();
    let (old, new) = (lines(&case.view), lines(&done.view));
    prop_assert!(new.is_sorted(), "I5: the order");
    let bodies = |session: &Session, view: &View| -> HashMap<usize, Vec<u8>> {
        let line = |item: &Item| Some((item.line()?, item.body(session).to_vec()));
        view.items.iter().filter_map(line).collect()
    };
    let (before, after) = (bodies(&case.before, &case.view), bodies(&done.after, &done.view));
    for line in new {
        prop_assert!(old.contains(&line), "line {} came from nowhere", line);
        if before[&line] != after[&line] {
            changed(&before[&line], &after[&line])?;
        }
    }
    Ok(())
}

fn changed(before: &[u8], after: &[u8]) -> Result<(), TestCaseError> {
    let others = |body: &[u8]| -> Vec<(String, Vec<u8>)> {
        let members = json::members(body, Dialect::Strict).unwrap().into_iter();
        // A derived id that the event names becomes the line's own id.
        let named = json::member(before, "id").is_none();
        let stays = |name: &str| !(CHANGING.contains(&name) || named && name == "id");
        let others = members.filter(|(name, _)| stays(name));
        others
            .map(|(name, value)| (name.into_owned(), value.to_vec()))
            .collect()
    };
    prop_assert_eq!(others(before), others(after), "I6");
    prop_assert_eq!(json::member(after, "tokens"), None, "a count of what was");
    if let (Some(old), Some(new)) = (json::member(before, "content"), json::member(after, "content")) {
        content(old, new)?;
    }
    // Reasoning is unchanged or removed.
    let new = json::member(after, "reasoning");
    prop_assert!(
        new.is_none() || new == json::member(before, "reasoning"),
        "reasoning was edited"
    );
    let calls =
        |body| json::member(body, "tool_calls").map(|raw| json::elements(raw, Dialect::Strict).unwrap());
    let (old, new) = (
        calls(before).unwrap_or_default(),
        calls(after).unwrap_or_default(),
    );
    prop_assert_eq!(old.len(), new.len());
    for (old, new) in old.into_iter().zip(new) {
        for name in ["id", "type", "x_index"] {
            prop_assert_eq!(json::member(old, name), json::member(new, name), "I6");
        }
        let function = |call, name| json::member(json::member(call, "function").unwrap(), name).unwrap();
        prop_assert_eq!(function(old, "name"), function(new, "name"));
        let (old, new) = (function(old, "arguments"), function(new, "arguments"));
        let (was, is) = (json::text(old).unwrap(), json::text(new).unwrap());
        if was != is && !placeholders::is_arguments(&is) {
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            values(&value(&was), &value(&is))?;
        }
        prop_assert!(
            !placeholders::is_arguments(&json::text(old).unwrap()) || old == new,
            "a mark of a mark"
        );
    }
    Ok(())
}

/// Checks that JSON is the same except for the middle of long strings.
fn values(old: &serde_json::Value, new: &serde_json::Value) -> Result<(), TestCaseError> {
    use serde_json::Value;
    match (old, new) {
        (Value::String(old), Value::String(new)) if old != new => piece(old, new),
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).try_for_each(|(old, new)| values(old, new))
        }
        (Value::Object(old), Value::Object(new)) if old.len() == new.len() => {
            old.iter().try_for_each(|(name, old)| values(old, &new[name]))
        }
        (old, new) => {
            prop_assert_eq!(old, new);
            Ok(())
        }
    }
}

fn content(old: &[u8], new: &[u8]) -> Result<(), TestCaseError> {
    if old == new {
        return Ok(());
    }
    if let Some(new) = json::text(new) {
        let whole = json::text(old);
        prop_assert!(
            !whole.as_deref().is_some_and(placeholders::is_mark),
            "a mark of a mark"
        );
        return match whole {
            _ if placeholders::is_mark(&new) => Ok(()),
            Some(old) => piece(&old, &new),
            None => Err(TestCaseError::fail("parts became a text that is no mark")),
        };
    }
    let parts = |raw| json::elements(raw, Dialect::Strict).unwrap();
    let (old, new) = (parts(old), parts(new));
    prop_assert_eq!(old.len(), new.len());
    for (old, new) in old.into_iter().zip(new).filter(|(old, new)| old != new) {
        let text = |part| json::text(json::member(part, "text").unwrap()).unwrap();
        let new_text = text(new);
        if placeholders::is_mark(&new_text) && placeholders::read_middle(&new_text).is_none() {
            prop_assert!(
                json::member(old, "type") != Some(b"\"text\""),
                "text became a mark"
            );
            continue;
        }
        piece(&text(old), &new_text)?;
        prop_assert_eq!(json::member(old, "x_mark"), json::member(new, "x_mark"), "I6");
    }
    Ok(())
}

/// Checks for a head, one placeholder, and a tail: the longest whole lines, or parts of a line.
fn piece(old: &str, new: &str) -> Result<(), TestCaseError> {
    let mut at = 0;
    for line in new.split_inclusive('\n') {
        let (head, tail) = (&new[..at], &new[at + line.len()..]);
        at += line.len();
        if placeholders::read_middle(line.trim_end_matches('\n')).is_none() {
            continue;
        }
        let unended = head.strip_suffix('\n').unwrap_or(head);
        if old.starts_with(unended) && old.ends_with(tail) && unended.len() + tail.len() < old.len() {
            return Ok(());
        }
    }
    Err(TestCaseError::fail(format!("I5: {new:?} is no piece of {old:?}")))
}
