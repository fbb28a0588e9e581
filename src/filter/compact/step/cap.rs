//! Limits the tokens of a message: shortens long texts, and long texts in the arguments of answered calls, to head and
//! tail. The message keeps its parts, the syntax of its arguments, and its id, by which the original is found.

use super::super::head_tail::{TextLimit, shorten};
use super::super::options::CompactOptions;
use super::super::placeholders;
use super::super::sources::content_tokens;
use super::super::state::CompactionState;
use super::{head_tail, mask};
use crate::model::json::{self, Dialect, quoted};
use crate::model::message::{Message, Role};
use std::borrow::Cow;
use std::collections::HashSet;

/// The token limits of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cap {
    /// Tokens of a result; other texts may have twice as many.
    tokens: u64,
    /// Tokens of the arguments of each call.
    arguments: u64,
}

const fn cap(tokens: u64, arguments: u64) -> Cap {
    Cap { tokens, arguments }
}

impl Cap {
    /// A cap of this many tokens for each text, result and call.
    pub fn even(tokens: u64) -> Cap {
        cap(tokens, tokens)
    }
}

/// The caps, widest first.
pub const CAPS: [Cap; 4] = [cap(2560, 120), cap(400, 120), cap(80, 60), cap(24, 24)];

/// The narrowest cap.
pub const LOWEST: Cap = CAPS[CAPS.len() - 1];

/// Tokens that a text may have beyond its cap: those of the placeholder, and as many as a cut would not save.
const SLACK: u64 = 24;

/// Most bytes of a text in arguments that is kept unchanged: paths and names.
const SHORT: usize = 120;

/// The answered calls: the calling item, and the index among its calls.
pub type AnsweredCalls = HashSet<(usize, usize)>;

/// The line of an item under a cap, and its tokens; none if it is not smaller.
pub fn capped(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    answered: &AnsweredCalls,
    at: usize,
    cap: Cap,
) -> Option<(Vec<u8>, u64)> {
    if !work.may_shorten(at) {
        return None;
    }
    let now = work.message(at)?;
    let is_tool = now.role() == Role::Tool;
    let most = if is_tool { cap.tokens } else { cap.tokens * 2 };
    let kept = is_tool && mask::excludes(work, &options.mask, at);
    // Start again from the original view, so that earlier attempts make no difference.
    let was = work.view.items[at].message(work.session)?;
    let whole = is_tool && was.content.is_some_and(is_text);
    let shorter = whole
        .then(|| head_tail::content(&was, options.tool_output))
        .flatten();
    let text = match (&shorter, whole) {
        (Some(content), _) => Message {
            content: Some(content),
            ..was
        },
        (None, true) => was,
        (None, false) => now,
    };
    // The text may have been counted, unless it is another one now.
    let is_counted = shorter.is_none() && (whole || !work.is_changed(at));
    let known = is_counted.then(|| content_tokens(work, at, &text)).flatten();
    let content = if kept {
        None
    } else {
        content(work, &text, most, known).or(shorter.clone())
    };
    // Head, placeholder and tail together may exceed the line limit of a result.
    let again = content.as_ref().filter(|_| whole).and_then(|content| {
        let content = Some(content.as_slice());
        head_tail::content(&Message { content, ..was }, options.tool_output)
    });
    let content = again.or(content);
    let calls = arguments(
        work,
        options,
        &now,
        |nth| answered.contains(&(at, nth)),
        (at, cap),
    );
    let mut changes: Vec<(&str, Option<&[u8]>)> = Vec::new();
    changes.extend(content.as_ref().map(|raw| ("content", Some(raw.as_slice()))));
    changes.extend(calls.as_ref().map(|raw| ("tool_calls", Some(raw.as_slice()))));
    if changes.is_empty() {
        return None;
    }
    work.tried(at, &changes)
}

/// Whether content consists of text only.
fn is_text(raw: &[u8]) -> bool {
    let is_one = |part: &&[u8]| json::member(part, "type") == Some(b"\"text\"");
    json::text(raw).is_some()
        || json::elements(raw, Dialect::Strict).is_some_and(|parts| parts.iter().all(is_one))
}

fn content(
    work: &CompactionState<'_>,
    message: &Message<'_>,
    most: u64,
    known: Option<u64>,
) -> Option<Vec<u8>> {
    let raw = message.content?;
    if let Some(text) = json::text(raw) {
        return Some(quoted(&within(work, &text, most, known)?));
    }
    let parts = json::elements(raw, Dialect::Strict)?;
    let texts = parts.iter().filter(|part| part_text(part).is_some()).count() as u64;
    let mut changed = false;
    let mut out = vec![b'['];
    for part in parts {
        if out.len() > 1 {
            out.push(b',');
        }
        // Each text has the same share.
        let short = part_text(part).and_then(|text| {
            let short = quoted(&within(work, &text, most / texts.max(1), None)?);
            json::with_members(part, &[("text", Some(&short))]).ok()
        });
        changed |= short.is_some();
        out.extend_from_slice(short.as_deref().unwrap_or(part));
    }
    out.push(b']');
    changed.then_some(out)
}

fn part_text(part: &[u8]) -> Option<Cow<'_, str>> {
    json::member_text(part, "text")
}

/// Head and tail of a text with more tokens than this; none if it has no more, or would not become shorter. The tokens
/// of the text may be known.
fn within(work: &CompactionState<'_>, text: &str, most: u64, known: Option<u64>) -> Option<String> {
    let most = most + SLACK;
    if text.len() as u64 <= most || placeholders::is_mark(text) {
        return None;
    }
    let count = |text: &str| work.counter.tokenizer().count(text);
    debug_assert!(known.is_none_or(|known| known == count(text)));
    // Do not count a text that is far too long: four bytes per token is close enough to start.
    let tokens = match text.len() as u64 > most.saturating_mul(16) {
        true => text.len() as u64 / 4,
        false => known.unwrap_or_else(|| count(text)),
    };
    if tokens <= most {
        return None;
    }
    let share = u128::from(most - SLACK) * text.len() as u128 / u128::from(tokens.max(1));
    let mut bytes = usize::try_from(share).unwrap_or(usize::MAX);
    loop {
        let lines = usize::MAX;
        let short = shorten(text, TextLimit { bytes, lines })?;
        if bytes < 8 || count(&short) <= most {
            return Some(short);
        }
        bytes = bytes * 3 / 4;
    }
}

/// The calls, with the arguments of answered ones shortened; none if nothing changes.
fn arguments(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    message: &Message<'_>,
    is_answered: impl Fn(usize) -> bool,
    (at, cap): (usize, Cap),
) -> Option<Vec<u8>> {
    let calls = json::elements(message.tool_calls?, Dialect::Strict)?;
    let mut changed = false;
    let mut out = vec![b'['];
    for (nth, call) in calls.into_iter().enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        let short = is_answered(nth)
            .then(|| one_call(work, options, call, (at, cap)))
            .flatten();
        changed |= short.is_some();
        out.extend_from_slice(short.as_deref().unwrap_or(call));
    }
    out.push(b']');
    changed.then_some(out)
}

/// A call with its arguments shortened; under the narrowest cap, replaced by a placeholder if that is allowed and
/// smaller.
fn one_call(
    work: &CompactionState<'_>,
    options: &CompactOptions,
    call: &[u8],
    (at, cap): (usize, Cap),
) -> Option<Vec<u8>> {
    let function = json::member(call, "function")?;
    let text = json::member_text(function, "arguments")?;
    let count = |text: &str| work.counter.tokenizer().count(text);
    let tool = json::member_text(function, "name");
    let marks = cap == LOWEST && options.mask.marks_arguments(&tool.unwrap_or_default());
    let mark = marks
        .then(|| mask::arguments_mark(work, &text, &work.id(at)))
        .flatten();
    let short = match (cut(work, &text, cap.arguments, at), mark) {
        (Some(cut), Some(mark)) if count(&mark) < count(&cut) => mark,
        (cut, mark) => cut.or(mark)?,
    };
    let function = json::with_members(function, &[("arguments", Some(&quoted(&short)))]).ok()?;
    json::with_members(call, &[("function", Some(&function))]).ok()
}

/// Shortens arguments to this many tokens; none if they have no more, or are a placeholder.
fn cut(work: &CompactionState<'_>, text: &str, most: u64, at: usize) -> Option<String> {
    if text.len() as u64 <= most || placeholders::is_arguments(text) {
        return None;
    }
    // If most of the arguments are syntax and short texts, a placeholder is as informative.
    let count = |text: &str| work.counter.tokenizer().count(text);
    let tokens = match text.len() as u64 > most.saturating_mul(64) {
        true => text.len() as u64 / 4,
        false => count(text),
    };
    if tokens <= most + SLACK {
        return None;
    }
    let cut = values_cut(work, text, most);
    match cut {
        Some(cut) if count(&cut) <= most * 2 + 4 * SLACK => Some(cut),
        // The fingerprint of text that was shortened before is not that of the original.
        cut if placeholders::has_middle(text) => cut,
        cut => {
            let mark = placeholders::arguments(text, &work.id(at));
            match cut {
                Some(cut) if count(&cut) <= count(&mark) => Some(cut),
                None if tokens <= count(&mark) => None,
                _ => Some(mark),
            }
        }
    }
}

/// A JSON text whose long strings keep their head and tail, each the same share of `most` tokens; names of members are
/// unchanged. None if the text is not JSON, or all its strings are short.
fn values_cut(work: &CompactionState<'_>, text: &str, most: u64) -> Option<String> {
    let bytes = text.as_bytes();
    let end = json::value_end(bytes, json::skip_space(bytes, 0), Dialect::Strict).ok()?;
    if json::skip_space(bytes, end) != bytes.len() {
        return None;
    }
    let mut values: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == b'"') {
        let start = at + next;
        let end = json::value_end(bytes, start, Dialect::Strict).ok()?;
        at = end;
        let is_name = bytes.get(json::skip_space(bytes, end)) == Some(&b':');
        if !is_name && end - start > SHORT {
            values.push((start, end));
        }
    }
    let share = most / values.len().max(1) as u64;
    let mut out: Vec<u8> = Vec::new();
    let mut done = 0;
    for (start, end) in values {
        let Some(short) = within(work, &json::text(&bytes[start..end])?, share, None) else {
            continue;
        };
        out.extend_from_slice(&bytes[done..start]);
        json::push_text(&mut out, &short);
        done = end;
    }
    if done == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[done..]);
    String::from_utf8(out).ok()
}
