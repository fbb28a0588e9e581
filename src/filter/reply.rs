//! Parses and validates the reply of a program that was asked to continue a session.

use crate::error::Position;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Category, Message, MessagePart, Role};
use crate::model::record::{Record, RecordKind as Line};
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::HashSet;

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
}

/// A complete reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompleteReply {
    /// Its messages, one per line, unchanged.
    pub lines: Vec<Vec<u8>>,
    /// The text of its assistant messages.
    pub text: String,
    /// The unanswered calls of its last message.
    pub open: Vec<OpenCall>,
}

/// The type of lines that show a partial reply; they are not part of the reply.
const PARTIAL: &str = "partial";

/// The place of a single record.
const ALONE: Position = Position { line: 1, offset: 1 };

/// The text of a partial reply line; none for any other line.
pub fn partial(line: &[u8]) -> Option<String> {
    let is_partial = json::member_text(line, "type")? == PARTIAL;
    let text = is_partial.then(|| json::member_text(line, "text"));
    text.map(|text| text.unwrap_or_default().into_owned())
}

/// Whether an answer is plain text rather than records, decided by its first byte that is not white space.
pub fn is_text(answer: &[u8]) -> Option<bool> {
    let first = answer.iter().find(|byte| !byte.is_ascii_whitespace());
    first.map(|first| *first != b'{')
}

/// Parses an answer: one message per line, or else a text; always a text with `plain`. An error describes the
/// problem.
pub fn read(answer: &[u8], plain: bool) -> Result<CompleteReply, String> {
    if plain || is_text(answer) != Some(false) {
        return text(answer);
    }
    let mut lines = Vec::new();
    for (nth, line) in answer.split(|byte| *byte == b'\n').enumerate() {
        let place = Position {
            line: nth as u64 + 1,
            offset: 1,
        };
        let record = Record::parse(line, place);
        let what = match &record.kind {
            Line::Blank => continue,
            Line::Message(_) => {
                lines.push(record.body.to_vec());
                continue;
            }
            Line::Event(event) if event.name() == PARTIAL => continue,
            Line::Event(event) => format!("a record of type '{}', not a message", event.name()),
            Line::Unreadable(fault) => format!("not a record: {}", fault.what),
        };
        return Err(format!("line {} of the output is {what}", nth + 1));
    }
    check_reply(lines)
}

/// Converts a plain text to a message.
fn text(answer: &[u8]) -> Result<CompleteReply, String> {
    let text = std::str::from_utf8(answer)
        .map_err(|error| format!("the output is not UTF-8 (byte {})", error.valid_up_to()))?;
    let text = text.trim_end();
    if text.trim().is_empty() {
        return Err("the output is blank".to_string());
    }
    let mut message = ObjectBuilder::default();
    message.text("role", "assistant").text("content", text);
    Ok(CompleteReply {
        lines: vec![message.finish()],
        text: text.to_string(),
        open: Vec::new(),
    })
}

/// Checks that the messages form a reply: assistant messages, each followed by the results of its calls.
fn check_reply(lines: Vec<Vec<u8>>) -> Result<CompleteReply, String> {
    let mut calls = OpenCalls::default();
    let mut texts = Vec::new();
    let mut ids = HashSet::new();
    for line in &lines {
        let record = Record::parse(line, ALONE);
        let Some(message) = record.message() else {
            return Err("a line of the output is not a message".to_string());
        };
        if let Some(id) = message.id()
            && !ids.insert(id.to_string())
        {
            return Err(format!("two messages of the output have the id '{id}'"));
        }
        match message.role() {
            Role::Assistant => {
                if let [open, ..] = &calls.open[..] {
                    let what = "the output continues without a result of the call";
                    return Err(format!("{what} '{}' of {}", open.id, open.name));
                }
                if is_blank(message, line) {
                    return Err("a message of the output is blank".to_string());
                }
                calls.open_calls(message);
                let text = message.text();
                if !text.trim().is_empty() {
                    texts.push(text.into_owned());
                }
            }
            Role::Tool if calls.answered(message) => {}
            Role::Tool => {
                let id = message.tool_call_id().unwrap_or_default();
                return Err(format!(
                    "the output has a result of the call '{id}', which is not open"
                ));
            }
            _ => {
                let role = message.role_name();
                return Err(format!(
                    "the output has a message of the role '{role}', expected assistant or tool"
                ));
            }
        }
    }
    if lines.is_empty() {
        return Err("the output has no message".to_string());
    }
    Ok(CompleteReply {
        lines,
        text: texts.join("\n"),
        open: calls.open,
    })
}

/// Whether an assistant message has no content, not even a refusal.
fn is_blank(message: &Message<'_>, line: &[u8]) -> bool {
    let has_content = |part: &MessagePart<'_>| match part {
        MessagePart::Text(text) => !text.trim().is_empty(),
        MessagePart::Other(..) => true,
    };
    let refusal = json::member_text(line, "refusal");
    let refuses = refusal.is_some_and(|text| !text.trim().is_empty());
    !message.calls_tools() && !refuses && !message.parts().iter().any(has_content)
}

/// The calls that wait for results.
#[derive(Default)]
struct OpenCalls {
    open: Vec<OpenCall>,
}

impl OpenCalls {
    /// Opens the calls of an assistant message and closes all others.
    fn open_calls(&mut self, message: &Message<'_>) {
        let calls = message.tool_calls();
        let open = |call: &crate::model::message::ToolCall<'_>| OpenCall {
            id: call.id.to_string(),
            name: call.name.to_string(),
        };
        self.open = calls.iter().map(open).collect();
    }

    /// Whether a result answers an open call, which it closes. A call without an id is answered by position.
    fn answered(&mut self, message: &Message<'_>) -> bool {
        let id = message.tool_call_id().unwrap_or_default();
        let Some(at) = self.open.iter().position(|open| open.id == id) else {
            return false;
        };
        self.open.remove(at);
        true
    }
}

/// The unanswered calls at the end of a view; only their results may follow.
pub fn open(session: &Session, view: &View) -> Vec<OpenCall> {
    let mut calls = OpenCalls::default();
    for message in view.messages(session) {
        match message.role() {
            Role::Tool => {
                calls.answered(&message);
            }
            Role::Assistant => calls.open_calls(&message),
            // Context messages close no call.
            _ if message.category() == Category::Context => {}
            _ => calls.open.clear(),
        }
    }
    calls.open
}

/// Whether the newest message of a view expects a reply.
pub fn is_awaited(session: &Session, view: &View) -> bool {
    let roles = view.messages(session).map(|message| message.role());
    let dialog = roles.filter(|role| !matches!(role, Role::System | Role::Developer));
    dialog.last().is_some_and(|role| role != Role::Assistant)
}

/// Why lines cannot be appended to a session: a call waits for its result, or the session has one of these messages.
pub fn refusal(session: &Session, lines: &[Vec<u8>]) -> Option<String> {
    if let [open, ..] = &open(session, &View::replay(session))[..] {
        return Some(format!(
            "the last message calls {}; the result of call '{}' is missing",
            open.name, open.id
        ));
    }
    let ids = lines.iter().filter_map(|line| {
        let record = Record::parse(line, ALONE);
        record.message()?.id().map(|id| id.into_owned())
    });
    let places = session.places(ids.collect());
    let known = places.keys().min()?;
    Some(format!("a message of the session already has the id '{known}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::of_lines as session;

    const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"22 C"}"#;
    const SAYS: &str = r#"{"role":"assistant","content":"22 C."}"#;

    fn of(lines: &[&str]) -> Result<CompleteReply, String> {
        read(lines.join("\n").as_bytes(), false)
    }

    #[test]
    fn a_reply_is_text_or_messages() {
        let text = read(b"  Hello,\n  world.\n\n", false).unwrap();
        assert_eq!(text.text, "  Hello,\n  world.");
        assert_eq!(
            text.lines,
            [br#"{"role":"assistant","content":"  Hello,\n  world."}"#.to_vec()]
        );
        let whole = of(&[
            r#"{"type":"partial","text":"22"}"#,
            CALL,
            RESULT,
            "",
            SAYS,
            r#"{"type":"partial"}"#,
        ])
        .unwrap();
        assert_eq!(
            whole.lines,
            [CALL, RESULT, SAYS].map(|line| line.as_bytes().to_vec())
        );
        assert_eq!((whole.text.as_str(), whole.open.len()), ("22 C.", 0));
        assert_eq!(of(&[CALL]).unwrap().open[0].name, "weather");
        assert_eq!(read(b"{\"a\":1}\n", true).unwrap().text, "{\"a\":1}");
        let parts = r#"{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"x"}}]}"#;
        assert_eq!(of(&[parts]).unwrap().text, "");
    }

    #[test]
    fn invalid_replies_are_refused() {
        let twice = r#"{"role":"assistant","content":"a","id":"m1"}"#;
        for (lines, why) in [
            (&[""][..], "blank"),
            (&[" \n\t"], "blank"),
            (&[r#"{"type":"partial","text":"22"}"#], "no message"),
            (&[r#"{"role":"assistant","content":" \n"}"#], "is blank"),
            (
                &[r#"{"role":"assistant","content":null,"tool_calls":[]}"#],
                "is blank",
            ),
            (&[r#"{"role":"user","content":"hi"}"#], "role 'user'"),
            (&[SAYS, r#"{"role":"system","content":"hi"}"#], "role 'system'"),
            (&[RESULT], "'c1', which is not open"),
            (&[CALL, RESULT, RESULT], "which is not open"),
            (&[CALL, SAYS], "without a result of the call 'c1' of weather"),
            (&["{\"a\":1}"], "line 1"),
            (&[SAYS, "{\"role\":"], "line 2 of the output is not a record"),
            (&[r#"{"type":"session","version":1,"id":"x"}"#], "type 'session'"),
            (&[twice, twice], "two messages"),
        ] {
            let error = of(lines).unwrap_err();
            assert!(error.contains(why), "{lines:?}: {error}");
        }
        assert!(read(b"a\xff", false).unwrap_err().contains("(byte 1)"));
    }

    #[test]
    fn a_message_after_an_open_call_is_refused() {
        let user = r#"{"role":"user","content":"Weather?","id":"m1"}"#;
        let event = r#"{"role":"user","content":"It rains.","category":"context"}"#;
        let why = |lines: &[&str]| refusal(&session(lines), &[]);
        assert!(why(&[user, CALL]).unwrap().contains("weather"));
        assert!(why(&[user, CALL, event]).unwrap().contains("weather"));
        assert_eq!(why(&[user, CALL, RESULT]), None);
        // Once the session continues, a call is no longer waited for.
        assert_eq!(why(&[user, CALL, user]), None);
        assert_eq!(why(&[]), None);
        let again = refusal(&session(&[user]), &[user.as_bytes().to_vec()]);
        assert!(again.unwrap().contains("'m1'"));
    }
}
