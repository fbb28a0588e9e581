//! The title of a session: from the header, or derived from the user's first question.

use crate::model::message::{Category, Role};
use crate::model::named_enum::named_enum;
use crate::model::session::{Class, Session};
use crate::model::view::View;
use serde::{Deserialize, Serialize};

/// A title, and its origin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Title {
    /// The title, complete.
    pub text: String,
    /// Its origin.
    pub from: TitleSource,
}

named_enum! {
    /// The origin of a title.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
    pub enum TitleSource {
        /// The title in the header.
        Title = "title",
        /// The first line of the first question.
        Question = "question",
        /// The first line of the summary in the view.
        Summary = "summary",
    }
}

/// Prefixes of texts that programs write in the user's name.
const WRAPPERS: [&str; 12] = [
    "Caveat: The messages below",
    "# AGENTS.md",
    "# CLAUDE.md",
    "# GEMINI.md",
    "Contents of /",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "This is the Gemini CLI. We are setting up the context",
    "My setup is complete. I will provide my first command",
    "API Error: ",
    "Unknown slash command: ",
];

/// Elements that programs wrap around commands, their output and the context of a question.
const ELEMENTS: [&str; 25] = [
    "session_context", "hook_context", "state_snapshot", "command-name", "command-message", "command-args",
    "command-contents", "local-command-stdout", "local-command-stderr", "local-command-caveat", "bash-input",
    "bash-stdout", "bash-stderr", "system-reminder", "environment_context", "environment_details",
    "user_instructions", "INSTRUCTIONS", "permissions instructions", "turn_aborted", "user_shell_command",
    "ide_opened_file", "ide_selection", "ide_diagnostics", "task-notification",
];

/// The heading before the question in a message that starts with the context of an editor.
const REQUEST: &str = "## My request for Codex:";

impl Title {
    /// The title of a session: from the header, else its first question, else its summary.
    pub fn of(session: &Session, set: Option<String>, view: &View) -> Option<Title> {
        let set = set.filter(|title| !title.trim().is_empty());
        if let Some(text) = set {
            return Some(Title {
                text,
                from: TitleSource::Title,
            });
        }
        let found = |text: String, from| Some(Title { text, from });
        let mut command = None;
        for text in texts(session) {
            if let Some(line) = question(&text).and_then(first_line) {
                return found(line.to_string(), TitleSource::Question);
            }
            command = command.or_else(|| typed_command(&text));
        }
        if let Some(text) = view.items.iter().find_map(|item| item.summary(session)) {
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            if let Some(line) = line {
                return found(line.to_string(), TitleSource::Summary);
            }
        }
        found(command?, TitleSource::Question)
    }

    /// The first question of the user, complete.
    pub fn question(session: &Session) -> Option<String> {
        texts(session).find_map(|text| question(&text).map(str::to_string))
    }
}

/// The texts of the user's messages.
fn texts(session: &Session) -> impl Iterator<Item = String> + '_ {
    session.messages().filter_map(|(index, traits)| {
        if traits.role != Role::User || traits.category == Category::Context {
            return None;
        }
        debug_assert!(matches!(session.class(index), Class::Message(_)));
        let record = session.record(index);
        Some(record.message()?.text().into_owned())
    })
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// The text that the user wrote in a message, without additions by programs.
pub fn question(text: &str) -> Option<&str> {
    let mut rest = text.trim();
    if let Some(at) = rest.find(REQUEST) {
        rest = rest[at + REQUEST.len()..].trim_start();
    }
    while let Some(after) = after_element(rest) {
        rest = after.trim_start();
    }
    let is_wrapper = WRAPPERS.iter().any(|wrapper| rest.starts_with(wrapper));
    if is_wrapper || rest == "Warmup" || is_command(rest) {
        return None;
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

/// The text after a program's element at the start of a text. An unclosed element extends to the end.
fn after_element(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let name = ELEMENTS.iter().find(|name| {
        let after = inner.strip_prefix(**name);
        after.is_some_and(|after| after.starts_with(['>', ' ', '\n']))
    })?;
    let end = format!("</{name}>");
    Some(text.find(&end).map_or("", |at| &text[at + end.len()..]))
}

/// Whether a text is only a program command, such as `/clear`.
fn is_command(text: &str) -> bool {
    let name = text.strip_prefix('/');
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
    })
}

/// The program command that a message records, with its arguments.
fn typed_command(text: &str) -> Option<String> {
    let text = text.trim();
    if is_command(text) {
        return Some(text.to_string());
    }
    let element = |name: &str| {
        let (_, after) = text.split_once(&format!("<{name}>"))?;
        let (inner, _) = after.split_once(&format!("</{name}>"))?;
        Some(inner.trim())
    };
    let name = element("command-name").filter(|name| !name.is_empty())?;
    let arguments = element("command-args").unwrap_or_default();
    let line = format!("{name} {arguments}");
    line.lines().next().map(|line| line.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(messages: &[(&str, &str)]) -> Option<(String, TitleSource)> {
        let mut session = Session::default();
        session.push_new(br#"{"type":"session","version":1,"id":"s"}"#);
        for (role, text) in messages {
            let line = match *role {
                "context" => serde_json::json!({"role": "user", "category": "context", "content": text}),
                "summary" => serde_json::json!({"type": "summary", "id": "evt_1", "content": text}),
                role => serde_json::json!({"role": role, "content": text}),
            };
            session.push_new(line.to_string().as_bytes());
        }
        let title = Title::of(&session, None, &View::replay(&session))?;
        Some((title.text, title.from))
    }

    #[test]
    fn a_title_is_the_first_user_message() {
        let question = |text: &str| Some((text.to_string(), TitleSource::Question));
        for wrapper in [
            "Caveat: The messages below were generated by the user while running local commands.",
            "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
            "<local-command-stdout></local-command-stdout>",
            "# AGENTS.md instructions for /home/ann/shop\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
            "<environment_context>\n  <cwd>/home/ann</cwd>\n</environment_context>",
            "<user_instructions>\nBe brief.\n</user_instructions>",
            "<session_context>\nThis is the Gemini CLI.\n</session_context>",
            "<hook_context>Be brief.</hook_context>",
            "Warmup",
            "/clear",
            "[Request interrupted by user for tool use]",
            " \n",
        ] {
            let found = title(&[
                ("user", wrapper),
                ("assistant", "Hello"),
                ("user", "\n Why?\nBecause"),
            ]);
            assert_eq!(found, question("Why?"), "{wrapper}");
        }
        assert_eq!(title(&[("context", "Notes"), ("user", "Why?")]), question("Why?"));
        for (text, line) in [
            ("<system-reminder>Be brief.</system-reminder>\nWhy?", "Why?"),
            (
                "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nWhy?\n",
                "Why?",
            ),
            ("<div> is not centered", "<div> is not centered"),
            ("Warmup exercises for today", "Warmup exercises for today"),
            ("/tmp/a.txt is empty", "/tmp/a.txt is empty"),
        ] {
            assert_eq!(title(&[("user", text)]), question(line));
        }
        let long = "x".repeat(10_000);
        assert_eq!(title(&[("user", &long)]), question(&long));
    }

    #[test]
    fn without_a_question_the_summary_or_the_command_is_the_title() {
        let command = "<command-message>review is running</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>";
        assert_eq!(
            title(&[("user", command)]),
            Some(("/review 12".to_string(), TitleSource::Question))
        );
        assert_eq!(
            title(&[("user", "Warmup"), ("summary", "\nThe user likes tea.")]),
            Some(("The user likes tea.".to_string(), TitleSource::Summary))
        );
        assert_eq!(title(&[("assistant", "Hello")]), None);
    }
}
