//! I8: every new placeholder names a message of the log, and has the size and fingerprint of the elided content.

use super::super::placeholders;
use super::case::{Case, Done};
use crate::model::json::{self, Dialect};
use crate::model::key;
use crate::model::message::Message;
use crate::model::view::Item;
use proptest::prelude::*;

pub fn hold(case: &Case, done: &Done) -> Result<(), TestCaseError> {
    for item in &done.view.items {
        let Item::Edited(..) = item else { continue };
        let message = item.message(&done.after).unwrap();
        let mut marks = Vec::new();
        match message.content.and_then(json::text) {
            Some(text) => marks.push(text.into_owned()),
            None => {
                let parts = message
                    .content
                    .and_then(|raw| json::elements(raw, Dialect::Strict));
                let text = |part| json::member_text(part, "text");
                marks.extend(
                    parts
                        .unwrap_or_default()
                        .into_iter()
                        .filter_map(text)
                        .map(|text| text.into_owned()),
                );
            }
        }
        for call in message.tool_calls() {
            if let Some(text) = json::member_text(call.arguments.as_bytes(), "convo") {
                marks.push(text.into_owned());
            }
        }
        // Random text may begin like a placeholder.
        let tells = |text: &String| text.contains(" elided: ") || text.contains(" repeated later: ");
        for text in marks
            .into_iter()
            .filter(|text| placeholders::is_mark(text) && tells(text))
        {
            for tool in &case.options.mask.exclude {
                let of_it = [",", " =>"].map(|end| format!("tool output elided: {tool}{end}"));
                let elides = of_it.iter().any(|of_it| text.contains(of_it));
                prop_assert!(!elides, "a result that was to stay: {}", text);
            }
            fits(case, done, &text)?;
        }
    }
    Ok(())
}

fn fits(case: &Case, done: &Done, text: &str) -> Result<(), TestCaseError> {
    let inner = text.strip_suffix(']').unwrap();
    let (rest, id) = inner.rsplit_once(", id ").unwrap();
    let (rest, sha) = rest.rsplit_once(", sha256 ").unwrap();
    let size = rest.split([' ', ',']).collect::<Vec<_>>();
    let bytes = size.iter().rposition(|word| *word == "bytes").unwrap();
    let length: usize = size[bytes - 1].parse().unwrap();
    let is = |bytes: &[u8]| bytes.len() == length && key::sha256(bytes)[..8] == *sha;
    let has = |message: &Message<'_>| {
        let parts = message
            .content
            .and_then(|raw| json::elements(raw, Dialect::Strict))
            .unwrap_or_default();
        placeholders::content(message).is_some_and(|content| is(content.as_bytes()))
            || parts.into_iter().any(is)
            || message
                .tool_calls()
                .iter()
                .any(|call| is(call.arguments.as_bytes()))
    };
    let in_log = done
        .after
        .all_of(id)
        .into_iter()
        .any(|line| done.after.record(line).message().is_some_and(has));
    let put_in = case.view.items.iter().any(|item| {
        let message = item.message(&case.before);
        matches!(item, Item::Inserted(_))
            && message.is_some_and(|message| message.id().is_some_and(|own| own == id) && has(&message))
    });
    prop_assert!(in_log || put_in, "I8: nothing fits {}", text);
    if let Some(tokens) = size.iter().rposition(|word| *word == "tokens") {
        prop_assert!(size[tokens - 1].parse::<u64>().is_ok());
    }
    Ok(())
}
