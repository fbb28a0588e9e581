//! Placeholders for elided content. Their format is exact, so that snapshots, `expand` and other programs can rely on
//! it.

use crate::model::json;
use crate::model::key;
use crate::model::message::{Message, ToolCall};
use memchr::memmem;
use std::borrow::Cow;

/// The beginning of every placeholder.
pub const BEGINNING: &str = "[convo: ";

/// The facts in the placeholder of a tool result.
pub struct ResultPlaceholder<'a> {
    /// Name of the tool; empty if unknown.
    pub tool: &'a str,
    /// Exit status and error line of a failed call; empty if it succeeded.
    pub outcome: &'a str,
    /// The elided text.
    pub text: &'a str,
    /// Tokens of the text.
    pub tokens: u64,
    /// Id of the message that contained the text.
    pub id: &'a str,
}

/// The placeholder of an elided result.
pub fn result(elided: &ResultPlaceholder<'_>) -> String {
    format!("{BEGINNING}tool output elided: {}]", facts(elided))
}

/// The placeholder of a result that a newer one repeats: `id` is that of the newer.
pub fn repeated(elided: &ResultPlaceholder<'_>) -> String {
    format!("{BEGINNING}tool output repeated later: {}]", facts(elided))
}

fn facts(elided: &ResultPlaceholder<'_>) -> String {
    let ResultPlaceholder {
        tool,
        outcome,
        text,
        tokens,
        id,
    } = elided;
    let tool = if tool.is_empty() { "unknown tool" } else { tool };
    let arrow = if outcome.is_empty() { "" } else { OUTCOME };
    format!(
        "{tool}{arrow}{outcome}, {} bytes, {tokens} tokens, sha256 {}, id {id}",
        text.len(),
        print(text.as_bytes())
    )
}

/// Separates the tool from the outcome.
const OUTCOME: &str = " => ";

/// The outcome in the placeholder of a failed result, such as `101: error: mismatched types`.
pub fn outcome(text: &str) -> Option<&str> {
    let facts = text.strip_prefix(BEGINNING).filter(|_| is_mark(text))?;
    // An error line may contain commas; the facts after it do not.
    let (facts, _) = facts.strip_prefix("tool output ")?.rsplit_once(", sha256 ")?;
    let (facts, _) = facts.rsplit_once(", ")?.0.rsplit_once(", ")?;
    Some(facts.split_once(OUTCOME)?.1)
}

/// The placeholder between the head and the tail of a text.
pub fn middle(elided: usize, all: usize) -> String {
    format!("{BEGINNING}{} of {} bytes elided]", grouped(elided), grouped(all))
}

/// Parses the placeholder between a head and a tail: elided bytes and original bytes. None if the line is not such a
/// placeholder.
pub fn read_middle(line: &str) -> Option<(usize, usize)> {
    let reported = line.strip_prefix(BEGINNING)?.strip_suffix(" bytes elided]")?;
    let (elided, all) = reported.split_once(" of ")?;
    let number = |digits: &str| digits.replace(',', "").parse().ok();
    let (elided, all) = (number(elided)?, number(all)?);
    (middle(elided, all) == line).then_some((elided, all))
}

/// Whether a text was shortened before or is a placeholder, so that its fingerprint is not that of the original.
pub fn has_middle(text: &str) -> bool {
    text.contains(BEGINNING) && (text.contains(" bytes elided]") || is_arguments(text))
}

/// The placeholder of an image, a sound or a file.
pub fn media(kind: &str, bytes: &[u8], id: &str) -> String {
    format!(
        "{BEGINNING}{kind} elided: {} bytes, sha256 {}, id {id}]",
        bytes.len(),
        print(bytes)
    )
}

/// The placeholder of a call's arguments, as the JSON text that replaces them.
pub fn arguments(arguments: &str, id: &str) -> String {
    let mut mark = Vec::new();
    let what = format!(
        "{BEGINNING}arguments elided: {} bytes, sha256 {}, id {id}]",
        arguments.len(),
        print(arguments.as_bytes())
    );
    json::push_text(&mut mark, &what);
    format!("{ARGUMENTS}{}}}", String::from_utf8_lossy(&mark))
}

const ARGUMENTS: &str = "{\"convo\":";

/// Whether arguments are a placeholder.
pub fn is_arguments(arguments: &str) -> bool {
    let mark = arguments
        .strip_prefix(ARGUMENTS)
        .and_then(|rest| rest.strip_suffix('}'));
    mark.and_then(|raw| json::text(raw.as_bytes()))
        .is_some_and(|text| is_mark(&text))
}

/// The text that the placeholder of a message's content replaces: the text, or the JSON of any other content.
pub fn content<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    let raw = message.content.filter(|raw| *raw != b"null")?;
    json::text(raw).or_else(|| std::str::from_utf8(raw).ok().map(Cow::Borrowed))
}

/// Whether a text consists of one placeholder.
pub fn is_mark(text: &str) -> bool {
    text.starts_with(BEGINNING) && text.ends_with(']') && !text.contains('\n')
}

/// Whether a part of a message is elided.
pub fn has_marks(message: &Message<'_>) -> bool {
    let may = |raw: Option<&[u8]>| raw.is_some_and(|raw| memmem::find(raw, BEGINNING.as_bytes()).is_some());
    let elided = |call: &ToolCall<'_>| is_arguments(&call.arguments);
    may(message.content) && message.text().lines().any(is_mark)
        || may(message.tool_calls) && message.tool_calls().iter().any(elided)
}

fn print(bytes: &[u8]) -> String {
    key::sha256(bytes)[..8].to_string()
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_have_an_exact_text() {
        let elided = ResultPlaceholder {
            tool: "read",
            outcome: "",
            text: "abc",
            tokens: 1,
            id: "msg_1",
        };
        let sha = "ba7816bf";
        assert_eq!(
            result(&elided),
            format!("[convo: tool output elided: read, 3 bytes, 1 tokens, sha256 {sha}, id msg_1]")
        );
        assert_eq!(outcome(&result(&elided)), None);
        let failed = result(&ResultPlaceholder {
            outcome: "2: error: no file, no access, sha256 ff, id x]",
            ..elided
        });
        assert_eq!(
            failed,
            format!(
                "[convo: tool output elided: read => 2: error: no file, no access, sha256 ff, id x], 3 bytes, 1 tokens, sha256 {sha}, id msg_1]"
            )
        );
        assert!(is_mark(&failed));
        assert_eq!(
            outcome(&failed),
            Some("2: error: no file, no access, sha256 ff, id x]")
        );
        assert_eq!(middle(41203, 45299), "[convo: 41,203 of 45,299 bytes elided]");
        assert_eq!(middle(203, 1_000_000), "[convo: 203 of 1,000,000 bytes elided]");
        assert_eq!(
            arguments("abc", "m"),
            format!("{{\"convo\":\"[convo: arguments elided: 3 bytes, sha256 {sha}, id m]\"}}")
        );
        assert!(
            is_mark(&result(&elided))
                && !is_mark("a\n[convo: 1 of 2 bytes elided]\nb")
                && !is_mark("[convo: ")
        );
    }
}
