//! Parses the output of a summarizer: plain text, or an object with the text.

use crate::model::json::{self, Dialect};
use crate::model::summary;

/// A parsed answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedAnswer {
    /// The text, trimmed.
    pub text: String,
    /// The fingerprint in the answer.
    pub sha256: Option<String>,
    /// Ids of the first and the last message that the answer covers.
    pub covers: Option<[String; 2]>,
    /// The token limit in the answer.
    pub budget: Option<u64>,
    /// The author of the text.
    pub by: Option<String>,
}

/// Parses plain text, or an object of `convo.summary/1`, which may be in a fenced code block. The request with an added
/// member `summary` is accepted, too.
pub fn read(bytes: &[u8]) -> Result<ParsedAnswer, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("the output is not UTF-8 (byte {})", error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    match object(unfenced(text)) {
        Some(members) => of_object(&members),
        None => Ok(ParsedAnswer {
            text: bare(text),
            ..ParsedAnswer::default()
        }),
    }
}

type AnswerMembers<'t> = Vec<(std::borrow::Cow<'t, str>, &'t [u8])>;

/// The members of an answer object; none for text that happens to be JSON.
fn object(text: &str) -> Option<AnswerMembers<'_>> {
    if !text.starts_with('{') {
        return None;
    }
    let members = json::members(text.as_bytes(), Dialect::Strict)?;
    let value = |name: &str| {
        members
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    };
    match value("schema").and_then(json::text) {
        Some(schema) => schema.starts_with("convo.summary").then_some(members),
        None => value("summary").is_some().then_some(members),
    }
}

fn of_object(members: &AnswerMembers<'_>) -> Result<ParsedAnswer, String> {
    let value = |name: &str| {
        members
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    };
    let text = |name: &str| value(name).and_then(json::text).map(|text| text.into_owned());
    let Some(summary) = text("summary") else {
        return Err("the output has no text in the member `summary`".to_string());
    };
    let ends = value("covers").and_then(|raw| json::elements(raw, Dialect::Strict));
    let covers = match ends.as_deref() {
        Some([first, last]) => json::text(first).zip(json::text(last)),
        _ => None,
    };
    Ok(ParsedAnswer {
        text: bare(&summary),
        sha256: text("sha256"),
        covers: covers.map(|(first, last)| [first.into_owned(), last.into_owned()]),
        budget: value("budget").and_then(json::number),
        by: text("by").filter(|by| !by.trim().is_empty()),
    })
}

/// Returns the contents of a fenced code block if the text is nothing else.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let body = inside
        .and_then(|inside| inside.split_once('\n'))
        .map(|(_, body)| body.trim());
    body.filter(|body| !body.contains("```")).unwrap_or(text)
}

/// Removes the frame of a summary, which a model may have copied from its input.
fn bare(text: &str) -> String {
    let text = text.trim();
    summary::unquoted(text).unwrap_or_else(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_answer() {
        assert_eq!(
            read(b"\xef\xbb\xbf All is well.\n\n").unwrap().text,
            "All is well."
        );
        assert_eq!(read(b"{\"a\":1}").unwrap().text, "{\"a\":1}");
        assert_eq!(read(b"```\ncode\n```").unwrap().text, "```\ncode\n```");
        assert_eq!(read(b"").unwrap().text, "");
        assert!(read(b"a\xff").unwrap_err().contains("byte 1"));
        assert_eq!(read(summary::quoted("x").as_bytes()).unwrap().text, "x");
    }

    #[test]
    fn an_object_is_read() {
        let reply = read(br#"{"schema":"convo.summary/1","sha256":"ab","summary":" s ","by":"m","budget":7,"covers":["a","b"]}"#);
        let expected = ParsedAnswer {
            text: "s".into(),
            sha256: Some("ab".into()),
            covers: Some(["a".into(), "b".into()]),
            budget: Some(7),
            by: Some("m".into()),
        };
        assert_eq!(reply.unwrap(), expected);
        assert_eq!(read(b"```json\n{\"summary\":\"s\"}\n```").unwrap().text, "s");
        assert!(read(b"{\"schema\":\"convo.summary/1\",\"summary\":5}").is_err());
        assert!(read(b"{\"schema\":\"convo.summary-request/1\"}").is_err());
    }
}
