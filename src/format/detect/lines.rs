//! A header line settles it; otherwise the lines vote.

use super::{Detection, Format, Hints, Members, excerpt, get, has, is_text};
use crate::model::json::{self, Dialect};

/// A first line that settles it, whatever the lines below look like.
pub(super) fn header_line(line: &[u8]) -> Option<Detection> {
    let members = json::members(line, Dialect::Strict)?;
    let kind = get(&members, "type").and_then(json::text).unwrap_or_default();
    if kind == "session" && has(&members, "version") && !has(&members, "cwd") && !has(&members, "role") {
        return Some(Detection::known(Format::Native, "a session line begins it"));
    }
    let foreign = match kind.as_ref() {
        "session" if has(&members, "cwd") => "a pi session",
        "session_meta" if has(&members, "payload") => "a Codex log",
        _ if has(&members, "sessionId") && has(&members, "projectHash") => "a Gemini CLI log",
        _ if has(&members, "working_dir") && has(&members, "message_count") => "a goose session",
        _ => return None,
    };
    Some(unread(foreign))
}

pub(super) fn unread(what: &str) -> Detection {
    Detection::unknown(format!("{what}, a format that this version does not read"))
}

/// What one line says it is.
fn ballot(members: &Members<'_>, hints: Hints<'_>) -> Option<&'static str> {
    if is_text(members, "role") {
        let foreign = has(members, "parts") || has(members, "data") || has(members, "created");
        let times = is_text(members, "created_at") && !has(members, "timestamp") && !has(members, "id");
        return match () {
            () if foreign => None,
            () if hints.sidecar || times => Some("picoclaw"),
            () => Some("jsonl"),
        };
    }
    if get(members, "messages").is_some_and(|value| value.starts_with(b"[")) && !has(members, "key") {
        return Some("openai-chat");
    }
    let kind = get(members, "type").and_then(json::text)?;
    match kind.as_ref() {
        "session" if has(members, "version") => Some("native"),
        "meta" | "truncate" | "compact" | "summary" | "restore" if has(members, "at") => Some("native"),
        "foreign" if has(members, "format") => Some("native"),
        _ => None,
    }
}

pub(super) fn vote(lines: &[&[u8]], hints: Hints<'_>) -> Detection {
    let mut votes = [("native", 0), ("jsonl", 0), ("openai-chat", 0), ("picoclaw", 0)];
    let mut silent: Option<&[u8]> = None;
    let mut objects = 0;
    for line in lines {
        let Some(members) = json::members(line, Dialect::Python) else {
            continue;
        };
        objects += 1;
        match ballot(&members, hints) {
            Some(name) => votes
                .iter_mut()
                .filter(|(known, _)| *known == name)
                .for_each(|(_, count)| *count += 1),
            None => silent = silent.or(Some(line)),
        }
    }
    // Messages may stand among native events, and in PicoClaw's log some lines lack a time.
    if votes[0].1 > 0 {
        votes[0].1 += votes[1].1;
    } else if votes[3].1 > 0 {
        votes[3].1 += votes[1].1;
    }
    // The first of equals wins: formats are listed by rank.
    let (name, most) = votes
        .iter()
        .rev()
        .max_by_key(|(_, count)| *count)
        .copied()
        .unwrap_or_default();
    if most * 2 < objects || most == 0 {
        let seen = silent.map_or_else(String::new, |line| format!(": {}", excerpt(line)));
        return match silent.and_then(foreign_line) {
            Some(what) => unread(what),
            None => Detection::unknown(format!(
                "{objects} JSON lines, of which {most} look like a session's{seen}"
            )),
        };
    }
    let evidence = format!("{most} of {} lines are of that form", lines.len());
    match Format::from_name(name) {
        Some(format) => Detection::known(format, evidence),
        None => Detection::unknown(evidence),
    }
}

/// Names the system that a line is of, when it is one that people are likely to bring.
pub(super) fn foreign_line(line: &[u8]) -> Option<&'static str> {
    let members = json::members(line, Dialect::Python)?;
    let claude_code = ["uuid", "leafUuid", "messageId", "parentUuid"]
        .iter()
        .any(|name| has(&members, name));
    match () {
        () if claude_code => Some("a Claude Code log"),
        () if has(&members, "payload") => Some("a Codex log"),
        () if has(&members, "conversations") => Some("ShareGPT records"),
        () if has(&members, "data") && has(&members, "type") => Some("LangChain messages"),
        () if has(&members, "parts") => Some("messages with parts (Gemini or Vercel)"),
        () => None,
    }
}
