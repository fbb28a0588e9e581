//! What a program answered when it was asked to go on with a session: the records in it, and whether they can stand there.

use crate::error::Place;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Category, Message, Part, Role};
use crate::model::record::{Kind as Line, Record};
use crate::model::session::Session;
use crate::model::view::View;
use std::collections::HashSet;

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
}

/// A reply that is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its messages, one a line, as they came.
    pub lines: Vec<Vec<u8>>,
    /// What the assistant says in them.
    pub text: String,
    /// The calls of its last message, when nobody has answered them.
    pub open: Vec<Open>,
}

/// The type of the lines that show a reply as it comes, and are no part of it.
const PARTIAL: &str = "partial";

/// Where a line is that is a record by itself.
const ALONE: Place = Place { line: 1, offset: 1 };

/// The text of a line that shows a part of a reply as it comes; none of any other line.
pub fn partial(line: &[u8]) -> Option<String> {
    let is_partial = json::member(line, "type").and_then(json::text)? == PARTIAL;
    let text = is_partial.then(|| json::member(line, "text").and_then(json::text));
    text.map(|text| text.unwrap_or_default().into_owned())
}

/// Whether an answer is a text and no records, by its first byte that is no space.
pub fn is_text(answer: &[u8]) -> Option<bool> {
    let first = answer.iter().find(|byte| !byte.is_ascii_whitespace());
    first.map(|first| *first != b'{')
}

/// Reads an answer: messages one a line, or else a text, which it is in any case when it is `plain`. What is wrong with it
/// is told in a few words.
pub fn read(answer: &[u8], plain: bool) -> Result<Reply, String> {
    if plain || is_text(answer) != Some(false) {
        return text(answer);
    }
    let mut lines = Vec::new();
    for (nth, line) in answer.split(|byte| *byte == b'\n').enumerate() {
        let place = Place {
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
    whole(lines)
}

/// A plain text as a message.
fn text(answer: &[u8]) -> Result<Reply, String> {
    let text = std::str::from_utf8(answer)
        .map_err(|error| format!("the output is not UTF-8 (byte {})", error.valid_up_to()))?;
    let text = text.trim_end();
    if text.trim().is_empty() {
        return Err("the output is blank".to_string());
    }
    let mut message = ObjectBuilder::default();
    message.text("role", "assistant").text("content", text);
    Ok(Reply {
        lines: vec![message.finish()],
        text: text.to_string(),
        open: Vec::new(),
    })
}

/// Holds the messages against what a reply is: an assistant's, with the results of its calls behind them.
fn whole(lines: Vec<Vec<u8>>) -> Result<Reply, String> {
    let mut calls = Calls::default();
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
                calls.made(message);
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
    Ok(Reply {
        lines,
        text: texts.join("\n"),
        open: calls.open,
    })
}

/// Whether an assistant's message says nothing at all, not even that it refuses.
fn is_blank(message: &Message<'_>, line: &[u8]) -> bool {
    let says = |part: &Part<'_>| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Other(..) => true,
    };
    let refusal = json::member(line, "refusal").and_then(json::text);
    let refuses = refusal.is_some_and(|text| !text.trim().is_empty());
    !message.calls_tools() && !refuses && !message.parts().iter().any(says)
}

/// The calls that wait for their results.
#[derive(Default)]
struct Calls {
    open: Vec<Open>,
}

impl Calls {
    /// A message of the assistant: its calls, and no others, are open.
    fn made(&mut self, message: &Message<'_>) {
        let calls = message.tool_calls();
        let open = |call: &crate::model::message::ToolCall<'_>| Open {
            id: call.id.to_string(),
            name: call.name.to_string(),
        };
        self.open = calls.iter().map(open).collect();
    }

    /// A result: whether it is one of an open call, which it ends. A call without an id is answered by the result in its
    /// place.
    fn answered(&mut self, message: &Message<'_>) -> bool {
        let id = message.tool_call_id().unwrap_or_default();
        let Some(at) = self.open.iter().position(|open| open.id == id) else {
            return false;
        };
        self.open.remove(at);
        true
    }
}

/// The calls at the end of a view that wait for their results: nothing but these may be said there.
pub fn open(session: &Session, view: &View) -> Vec<Open> {
    let mut calls = Calls::default();
    for message in view.messages(session) {
        match message.role() {
            Role::Tool => {
                calls.answered(&message);
            }
            Role::Assistant => calls.made(&message),
            // What happened meanwhile ends no call.
            _ if message.category() == Category::Context => {}
            _ => calls.open.clear(),
        }
    }
    calls.open
}

/// Whether the newest message of a view is one that a model would answer.
pub fn is_awaited(session: &Session, view: &View) -> bool {
    let roles = view.messages(session).map(|message| message.role());
    let said = roles.filter(|role| !matches!(role, Role::System | Role::Developer));
    said.last().is_some_and(|role| role != Role::Assistant)
}

/// Why lines cannot stand at the end of a session: a call waits for its result there, or it has one of these messages.
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

    const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"22 C"}"#;
    const SAYS: &str = r#"{"role":"assistant","content":"22 C."}"#;

    fn of(lines: &[&str]) -> Result<Reply, String> {
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
    fn what_is_no_reply_is_refused() {
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

    fn session(lines: &[&str]) -> Session {
        let mut session = Session::default();
        lines.iter().for_each(|line| session.push_new(line.as_bytes()));
        session
    }

    #[test]
    fn nothing_stands_behind_an_open_call() {
        let user = r#"{"role":"user","content":"Weather?","id":"m1"}"#;
        let event = r#"{"role":"user","content":"It rains.","category":"context"}"#;
        let why = |lines: &[&str]| refusal(&session(lines), &[]);
        assert!(why(&[user, CALL]).unwrap().contains("weather"));
        assert!(why(&[user, CALL, event]).unwrap().contains("weather"));
        assert_eq!(why(&[user, CALL, RESULT]), None);
        // What somebody has gone on from is no longer waited for.
        assert_eq!(why(&[user, CALL, user]), None);
        assert_eq!(why(&[]), None);
        let again = refusal(&session(&[user]), &[user.as_bytes().to_vec()]);
        assert!(again.unwrap().contains("'m1'"));
    }
}
