//! What is this? Looks at the first 64 KiB and never at the name alone; what answers first wins: magic bytes, a
//! header line, a vote of the lines, the document as a whole. Below the threshold there is no guess.

use super::Format;
use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// How much of an input decides.
pub const HEAD: usize = 64 * 1024;

/// Lines that vote.
const VOTERS: usize = 50;

/// What is known beside the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// Name of the file, without its folder.
    pub name: Option<&'a str>,
    /// Whether `<stem>.meta.json` lies beside it.
    pub sidecar: bool,
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The format to read it as; none when it is not known or not read.
    pub format: Option<Format>,
    /// Formats that the same bytes are valid in as well: the verdict is ambiguous when there are any.
    pub others: Vec<&'static str>,
    /// Whether it looks like JSON that is damaged.
    pub damaged: bool,
    /// What was seen, for people.
    pub evidence: String,
    /// What to do, where something can be done.
    pub hint: Option<&'static str>,
}

impl Detection {
    fn known(format: Format, evidence: impl Into<String>) -> Detection {
        Detection {
            format: Some(format),
            others: Vec::new(),
            damaged: false,
            evidence: evidence.into(),
            hint: None,
        }
    }

    fn unknown(evidence: impl Into<String>) -> Detection {
        Detection {
            format: None,
            others: Vec::new(),
            damaged: false,
            evidence: evidence.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: &'static str) -> Detection {
        self.hint = Some(hint);
        self
    }
}

/// Members of an object, as far as the head of an input shows them: name, and value or the beginning of it.
type Members<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

fn has(members: &Members<'_>, name: &str) -> bool {
    members.iter().any(|(known, _)| known == name)
}

fn get<'a>(members: &Members<'a>, name: &str) -> Option<&'a [u8]> {
    members
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| *value)
}

fn is_text(members: &Members<'_>, name: &str) -> bool {
    get(members, name).is_some_and(|value| value.starts_with(b"\""))
}

/// Looks at the head of an input; `whole` tells that there is no more of it.
pub fn detect(head: &[u8], whole: bool, hints: Hints<'_>) -> Detection {
    if head.is_empty() {
        return Detection::unknown("it is empty");
    }
    if let Some(verdict) = magic(head) {
        return verdict;
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let start = json::skip_space(text, 0);
    let text = &text[start..];
    if text.is_empty() {
        return Detection::unknown("it holds white space only");
    }
    let lines = whole_lines(text, whole);
    if let Some(first) = lines.first()
        && let Some(verdict) = header_line(first)
    {
        return verdict;
    }
    // A first line that is a value of its own makes it a file of lines; so do later ones when it is damaged.
    let objects = lines
        .iter()
        .filter(|line| json::members(line, Dialect::Python).is_some())
        .count();
    if objects > 0 && (objects > 1 || json::members(lines[0], Dialect::Python).is_some()) {
        let single = whole && lines.len() == 1 && json::member(lines[0], "role").is_none();
        return if single {
            document(text, hints)
        } else {
            vote(&lines, hints)
        };
    }
    if hints.sidecar && hints.name.is_some_and(|name| name.ends_with(".jsonl")) {
        return Detection::known(Format::Picoclaw, "a .meta.json lies beside it");
    }
    match text[0] {
        b'{' | b'[' => document(text, hints),
        _ if text.contains(&0) => Detection::unknown("binary data, beginning with bytes that are no text"),
        _ => Detection::unknown(format!("text that is no JSON: {}", excerpt(text))),
    }
}

fn magic(head: &[u8]) -> Option<Detection> {
    let (what, hint) = match head {
        [0x1f, 0x8b, ..] => ("gzip data", "unpack it: gunzip -c FILE | convo ..."),
        [b'P', b'K', 3, 4, ..] => (
            "a zip archive",
            "unpack it: unzip -p FILE conversations.json | convo ...",
        ),
        _ if head.starts_with(b"SQLite format 3\0") => (
            "an SQLite database",
            "databases are read by a plugin: convo plugins lists those that are installed",
        ),
        _ => return None,
    };
    Some(Detection::unknown(what).hint(hint))
}

/// The lines that are whole: one that the edge of the head cuts has no vote.
fn whole_lines(text: &[u8], whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if !whole || lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let mut lines: Vec<&[u8]> = lines
        .into_iter()
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    lines.retain(|line| !line.is_empty());
    lines.truncate(VOTERS);
    lines
}

/// A first line that settles it, whatever the lines below look like.
fn header_line(line: &[u8]) -> Option<Detection> {
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

fn unread(what: &str) -> Detection {
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

fn vote(lines: &[&[u8]], hints: Hints<'_>) -> Detection {
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
fn foreign_line(line: &[u8]) -> Option<&'static str> {
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

/// Judges one JSON value by its top-level members and first elements.
fn document(text: &[u8], hints: Hints<'_>) -> Detection {
    if text[0] == b'[' {
        return array(text, hints);
    }
    let (members, broken) = seen_members(text);
    let damaged = broken
        .map(|what| format!("; damaged: {what}"))
        .unwrap_or_default();
    let known = |format, what: &str| Detection::known(format, format!("{what}{damaged}"));
    let messages = get(&members, "messages");
    let first = messages
        .and_then(first_element)
        .map(|element| seen_members(element).0)
        .unwrap_or_default();
    if is_text(&members, "role") {
        return known(Format::OpenaiChat, "one message");
    }
    if has(&members, "skip") && has(&members, "key") && has(&members, "count") {
        return known(Format::Picoclaw, "a PicoClaw sidecar");
    }
    let times = ["created_at", "last_active"]
        .iter()
        .any(|name| has(&members, name));
    let records = ["llm_request_lifecycles", "tool_call_records"]
        .iter()
        .any(|name| has(&members, name));
    let penguin_id = get(&members, "id")
        .and_then(json::text)
        .is_some_and(|id| id.starts_with("session_") || id.starts_with("recovery_"));
    if has(&first, "category")
        || records
        || (times && (messages.is_some() || penguin_id))
        || (penguin_id && messages.is_some())
    {
        return known(
            Format::Penguin,
            "a document with id, times and messages of categories",
        );
    }
    if messages.is_some() || has(&members, "summary") {
        let legacy = ["key", "created", "updated", "summary"]
            .iter()
            .any(|name| has(&members, name));
        if legacy && !has(&members, "model") {
            return known(Format::Picoclaw, "a document with key, messages and summary");
        }
    }
    if messages.is_some() {
        return messages_of(&members, &first, &damaged);
    }
    if get(&members, "choices").is_some_and(|value| value.starts_with(b"[")) {
        return known(Format::OpenaiChat, "a response with choices");
    }
    let names: Vec<&str> = members.iter().take(6).map(|(name, _)| name.as_ref()).collect();
    match foreign_line(text) {
        Some(what) => unread(what),
        None if members.is_empty() && broken.is_none() => Detection::unknown("a JSON object with no members"),
        None => {
            let what = format!("a JSON object with the members {}{damaged}", names.join(", "));
            Detection {
                damaged: broken.is_some(),
                ..Detection::unknown(what)
            }
        }
    }
}

/// An object with `messages` that carries no system's own marks.
fn messages_of(members: &Members<'_>, first: &Members<'_>, damaged: &str) -> Detection {
    if has(first, "parts") || has(first, "info") || has(first, "value") || has(first, "data") {
        return unread("messages of another shape");
    }
    let content = get(first, "content").unwrap_or_default();
    if has(members, "system") || block(content) {
        return unread("Anthropic messages");
    }
    Detection::known(Format::OpenaiChat, format!("an object with messages{damaged}"))
}

fn array(text: &[u8], hints: Hints<'_>) -> Detection {
    let elements = first_elements(text, 20);
    if elements.is_empty() {
        let damaged = json::value_end(text, 0, Dialect::Python).is_err();
        let what = if damaged {
            "a damaged JSON array"
        } else {
            "an empty JSON array"
        };
        return Detection {
            damaged,
            ..Detection::unknown(what)
        };
    }
    let shapes: Vec<Members<'_>> = elements.iter().map(|element| seen_members(element).0).collect();
    let any = |name: &str| shapes.iter().any(|shape| has(shape, name));
    let is = |format, what: &str| Detection::known(format, what);
    if any("mapping") {
        return unread("a ChatGPT export");
    }
    if any("chat_messages") {
        return unread("a Claude.ai export");
    }
    if any("lc") || (any("data") && any("type")) {
        return unread("LangChain messages");
    }
    if any("parts") || any("toolInvocations") {
        return unread("messages with parts (Gemini or Vercel)");
    }
    if any("ts") || any("condenseId") || any("truncationId") {
        return unread("Cline or Roo messages");
    }
    if shapes
        .iter()
        .any(|s| get(s, "type").is_some_and(|t| t.starts_with(b"\"function_call") || t == b"\"reasoning\""))
    {
        return unread("OpenAI Responses items");
    }
    if any("messages") {
        return is(Format::OpenaiChat, "an array of objects with messages");
    }
    if !any("role") {
        return Detection::unknown(format!(
            "a JSON array whose elements have no role: {}",
            excerpt(elements[0])
        ));
    }
    if any("category") || hints.name.is_some_and(|name| name.starts_with("conversation_")) {
        return is(Format::Penguin, "a list of messages in Penguin's older form");
    }
    if shapes
        .iter()
        .any(|shape| get(shape, "content").is_some_and(block))
    {
        return unread("Anthropic messages");
    }
    let decisive = any("tool_calls")
        || any("tool_call_id")
        || any("function_call")
        || shapes.iter().any(|shape| {
            let role = get(shape, "role").unwrap_or_default();
            let content = get(shape, "content").unwrap_or_default();
            [&b"\"system\""[..], b"\"tool\"", b"\"function\"", b"\"developer\""].contains(&role)
                || memchr::memmem::find(content, b"\"image_url\"").is_some()
                || memchr::memmem::find(content, b"\"input_audio\"").is_some()
        });
    let mut verdict = is(Format::OpenaiChat, "an array of messages");
    if !decisive {
        verdict.others = vec!["anthropic"];
    }
    verdict
}

/// Whether content holds blocks that only Anthropic's interface has.
fn block(content: &[u8]) -> bool {
    content.first() == Some(&b'[')
        && [&b"\"tool_use\""[..], b"\"tool_result\"", b"\"thinking\""]
            .iter()
            .any(|kind| memchr::memmem::find(content, kind).is_some())
}

/// The members that can be seen before the head ends or damage begins; the last one's value may be cut.
fn seen_members(text: &[u8]) -> (Members<'_>, Option<&'static str>) {
    let mut found = Members::new();
    if text.first() != Some(&b'{') {
        return (found, Some("no object"));
    }
    let mut at = json::skip_space(text, 1);
    while text.get(at) == Some(&b'"') {
        let Ok(name_end) = json::value_end(text, at, Dialect::Strict) else {
            return (found, Some("a name is cut"));
        };
        let colon = json::skip_space(text, name_end);
        if text.get(colon) != Some(&b':') {
            return (found, Some("a colon is missing"));
        }
        let value = json::skip_space(text, colon + 1);
        let name = json::unescape(&text[at + 1..name_end - 1]);
        match json::value_end(text, value, Dialect::Python) {
            Ok(end) => {
                found.push((name, &text[value..end]));
                at = json::skip_space(text, end);
            }
            Err(fault) => {
                found.push((name, &text[value.min(text.len())..]));
                return (found, Some(fault.what));
            }
        }
        match text.get(at) {
            Some(b',') => at = json::skip_space(text, at + 1),
            Some(b'}') => return (found, None),
            _ => return (found, Some("it ends too early")),
        }
    }
    let whole = text.get(at) == Some(&b'}');
    (found, (!whole).then_some("a member name is missing"))
}

/// The first element of an array, or the beginning of it.
fn first_element(array: &[u8]) -> Option<&[u8]> {
    first_elements(array, 1).into_iter().next()
}

fn first_elements(array: &[u8], most: usize) -> Vec<&[u8]> {
    let mut found = Vec::new();
    if array.first() != Some(&b'[') {
        return found;
    }
    let mut at = json::skip_space(array, 1);
    while found.len() < most && at < array.len() && array[at] != b']' {
        match json::value_end(array, at, Dialect::Python) {
            Ok(end) => {
                found.push(&array[at..end]);
                at = json::skip_space(array, end);
                if array.get(at) != Some(&b',') {
                    break;
                }
                at = json::skip_space(array, at + 1);
            }
            Err(_) => {
                found.push(&array[at..]);
                break;
            }
        }
    }
    found
}

/// The beginning of a text, fit for a message.
fn excerpt(text: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(&text[..text.len().min(160)])
        .chars()
        .take(40)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn format(text: &str) -> Option<Format> {
        detect(text.as_bytes(), true, Hints::default()).format
    }

    #[test]
    fn tells_the_formats_apart() {
        let cases = [
            (
                "{\"type\":\"session\",\"version\":1,\"id\":\"a\"}\n",
                Some(Format::Native),
            ),
            (
                "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
                Some(Format::Jsonl),
            ),
            (
                "{\"role\":\"user\",\"content\":\"a\"}\n{\"type\":\"truncate\",\"id\":\"e\",\"at\":\"x\",\"before\":null}\n",
                Some(Format::Native),
            ),
            (
                "not json\n{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"a\"}\n",
                Some(Format::Jsonl),
            ),
            (
                "[{\"role\":\"user\",\"content\":\"a\"}]",
                Some(Format::OpenaiChat),
            ),
            (
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
                Some(Format::OpenaiChat),
            ),
            ("{\"messages\":[]}\n{\"messages\":[]}\n", Some(Format::OpenaiChat)),
            ("{\"key\":\"a:b\",\"messages\":[]}", Some(Format::Picoclaw)),
            (
                "{\n \"id\": \"session_1\",\n \"created_at\": \"x\", \"messages\": [{\"role\": \"us",
                Some(Format::Penguin),
            ),
            (
                "{\"role\":\"user\",\"content\":\"a\",\"created_at\":\"2026-03-01T09:00:00Z\"}\n",
                Some(Format::Picoclaw),
            ),
            ("{\"foo\":1}", None),
            ("{\"foo\":1}\n{\"bar\":1}\n", None),
            (
                "{\"type\":\"user\",\"uuid\":\"1\",\"message\":{}}\n{\"type\":\"user\",\"uuid\":\"2\"}\n",
                None,
            ),
            ("hello\n", None),
            ("[]", None),
            ("null", None),
            ("", None),
            ("PK\u{3}\u{4}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(format(text), expected, "{text}");
        }
    }

    #[test]
    fn says_when_it_is_ambiguous() {
        let plain = detect(b"[{\"role\":\"user\",\"content\":\"a\"}]", true, Hints::default());
        assert_eq!(plain.others, ["anthropic"]);
        let tools = detect(
            b"[{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"a\"}]",
            true,
            Hints::default(),
        );
        assert!(tools.others.is_empty());
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), whole: bool) {
            detect(&bytes, whole, Hints::default());
        }
        #[test]
        fn never_panics_on_near_json(text in r#"[\[\]{}",:a-c0-9\\ nNI-]{0,80}"#, whole: bool) {
            detect(text.as_bytes(), whole, Hints::default());
        }
    }
}
