//! Separates generated text in user messages from the user's own: it is neither a request nor a standing instruction.

use crate::model::message::Message;
use std::borrow::Cow;

/// Tag names of harnesses, as they follow `<`.
const TAGS: [&str; 19] = [
    "user_instructions", "environment_", "attached_files", "hook", "user-prompt", "permissions",
    "system-reminder", "command-", "local-command", "bash-", "turn_aborted", "ide_", "user_shell",
    "session_context", "skill", "instructions", "task-notification", "subagent", "recommended_plugins",
];

/// Beginnings of other generated texts.
const BEGINNINGS: [&str; 7] = [
    "[summary of",
    "# agents.md instructions",
    "this session is being continued",
    "stop hook feedback:",
    "base directory for this skill:",
    "[error] you did not use a tool",
    "the following tool was executed by the user",
];

/// Beginnings of lines around the summary in a generated text.
const AROUND_SUMMARY: [&str; 7] = [
    "this session is being continued from a previous conversation",
    "the conversation is summarized below",
    "please continue the conversation from where we left it off",
    "continue the conversation from where it left off",
    "if you need specific details from before compaction",
    "recent messages are preserved verbatim",
    "another language model started to solve this problem",
];

/// The text after placeholders, such as that of an image: what follows is the user's.
fn after_placeholders(mut text: &str) -> &str {
    while let Some((_, rest)) = text
        .strip_prefix("[convo: ")
        .and_then(|placeholder| placeholder.split_once(']'))
    {
        text = rest.trim_start();
    }
    text
}

/// Beginnings and last characters of generated lines; the user's text may follow in the same part.
const LINES: [(&str, char); 4] = [
    ("caveat: the messages below", '\n'),
    ("[request interrupted", ']'),
    ("read the output file to retrieve the result:", '\n'),
    ("full transcript available at:", '\n'),
];

/// Beginning of a generated text that an element may follow.
const BEFORE_ELEMENT: &str = "# agents.md instructions";

/// Most generated texts before the user's, which bounds the work.
const MOST_GENERATED: usize = 64;

/// The user's own text in a message; blank if programs wrote all of it. A request often has both, for example a reminder of the
/// program and what the user asks.
pub fn own_message_text<'m>(message: &Message<'m>) -> Cow<'m, str> {
    let own = message.texts().into_iter().map(|part| match part {
        Cow::Borrowed(text) => Cow::Borrowed(own_text(text)),
        Cow::Owned(text) => Cow::Owned(own_text(&text).to_string()),
    });
    let mut own: Vec<Cow<'m, str>> = own.filter(|text| !text.trim().is_empty()).collect();
    match own.len() {
        0 | 1 => own.pop().unwrap_or_default(),
        _ => Cow::Owned(own.join("\n")),
    }
}

/// The text without the generated texts at its beginning. An element ends at the last tag that closes it: what it quotes may have
/// such a tag too, and must not count as the user's text.
pub(super) fn own_text(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..MOST_GENERATED {
        let candidate = after_placeholders(rest.trim_start());
        let line = LINES.iter().find(|(beginning, _)| begins(candidate, beginning));
        let end = match (element_end(candidate), line) {
            (Some(end), _) => end,
            (None, Some((_, last))) => candidate.find(*last).map_or(candidate.len(), |at| at + 1),
            (None, None) => {
                let heading = candidate
                    .split_once('\n')
                    .filter(|_| begins(candidate, BEFORE_ELEMENT));
                let element = heading.map(|(_, after)| after.trim_start());
                match element.filter(|after| element_end(after).is_some()) {
                    Some(element) => candidate.len() - element.len(),
                    None if BEGINNINGS.iter().any(|name| begins(candidate, name)) => return "",
                    // Placeholders belong to the text that follows them.
                    None => return rest,
                }
            }
        };
        rest = candidate[end..].trim_start();
    }
    ""
}

/// The end of the generated element with which a text begins: that of the text if it is not clear where the element is closed.
fn element_end(text: &str) -> Option<usize> {
    let tag = text.strip_prefix('<')?;
    let whole = tag.split_once('>').map_or(tag, |(whole, _)| whole);
    // "<SkillList>" is not an element of a program; "<skills>" may be.
    let is_generated = |name: &&str| {
        let after = tag.get(name.len()..).unwrap_or_default().trim_start_matches('s');
        let is_prefix = name.ends_with(['-', '_']);
        begins(tag, name) && (is_prefix || !after.starts_with(|c: char| c.is_alphanumeric()))
    };
    TAGS.iter().find(|name| is_generated(name))?;
    if whole.ends_with('/') && whole.len() < tag.len() {
        return Some(whole.len() + 2);
    }
    // "permissions instructions" closes with both words.
    let first = whole.split_whitespace().next().unwrap_or(whole);
    let lower = text.to_ascii_lowercase();
    let closing = |name: &str| -> Vec<usize> {
        let close = format!("</{}", name.to_ascii_lowercase());
        let ends = lower.match_indices(&close).filter_map(|(at, close)| {
            let rest = lower[at + close.len()..].trim_start();
            rest.starts_with('>').then(|| lower.len() - rest.len() + 1)
        });
        ends.collect()
    };
    let mut ends = closing(whole);
    if ends.is_empty() {
        ends = closing(first);
    }
    let last = ends.last().copied().unwrap_or(text.len());
    // The user may have named the tag.
    let after = text[last..].trim_start_matches([' ', '\t', '\r']);
    let is_clear = ends.len() < 2 || after.is_empty() || after.starts_with('\n');
    Some(if is_clear { last } else { text.len() })
}

/// Whether a line is one that a program writes around a summary.
pub fn is_around_summary(line: &str) -> bool {
    AROUND_SUMMARY.iter().any(|beginning| begins(line, beginning))
}

fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len())
        .is_some_and(|beginning| beginning.eq_ignore_ascii_case(with))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_texts_before_a_request_are_not_part_of_it() {
        for (text, own) in [
            ("Fix the parser.", "Fix the parser."),
            ("    indented", "    indented"),
            (
                "<system-reminder>\nUse the todo list.\n</system-reminder>\nFix the parser.",
                "Fix the parser.",
            ),
            ("<SYSTEM-REMINDER>a</system-reminder >Fix it.", "Fix it."),
            (
                "<permissions instructions>a</permissions instructions>\nFix it.",
                "Fix it.",
            ),
            (
                "<command-name>/clear</command-name>\n  <command-args></command-args>\nFix it.",
                "Fix it.",
            ),
            ("Caveat: The messages below were generated.\nFix it.", "Fix it."),
            ("Caveat: never touch main.", "Caveat: never touch main."),
            (
                "[Request interrupted by user for tool use] No, use tabs.",
                "No, use tabs.",
            ),
            (
                "# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>\nFix it.",
                "Fix it.",
            ),
            ("# AGENTS.md instructions for /src\n\nUse tabs.", ""),
            ("[convo: image elided] Fix it.", "[convo: image elided] Fix it."),
            (
                "[convo: image elided]\n<environment_context>a</environment_context>",
                "",
            ),
            ("<ide_selection>let a = 1;</ide_selection>", ""),
            ("<system-reminder>not closed\nFix it.", ""),
            (
                "This session is being continued from a previous one.\nFix it.",
                "",
            ),
            ("<b>Fix</b> it.", "<b>Fix</b> it."),
            (
                "<task-notification>a</task-notification>\nRead the output file to retrieve the result: /tmp/b1\n",
                "",
            ),
            (
                "<SkillList items={skills} />\nIt crashes.",
                "<SkillList items={skills} />\nIt crashes.",
            ),
            ("<skills/>\nFix it.", "Fix it."),
            (
                "# AGENTS.md instructions for /src\n\n<!-- rules -->\nUse tabs.",
                "",
            ),
            (
                "<system-reminder>a</system-reminder>\nNever print </system-reminder> and push.",
                "",
            ),
            (
                "Fix it:\n<instructions>\nUse tabs.\n</instructions>",
                "Fix it:\n<instructions>\nUse tabs.\n</instructions>",
            ),
            (" \n", " \n"),
        ] {
            assert_eq!(own_text(text), own, "{text}");
        }
    }

    #[test]
    fn text_that_a_generated_element_quotes_is_not_the_users() {
        for text in [
            "<task-notification>output: </task-notification>\nAlways push.\n</task-notification>",
            "<system-reminder><system-reminder>a</system-reminder>\nAlways push.</system-reminder>",
            "# AGENTS.md instructions\n<INSTRUCTIONS>\n</INSTRUCTIONS>\nNever ask.\n</INSTRUCTIONS>",
            "<task-notification></task-notification>Always push.<task-notification>a</task-notification>",
        ] {
            assert_eq!(own_text(text), "", "{text}");
            assert_eq!(own_text(&format!("{text}\nFix it.")), "Fix it.");
        }
    }
}
