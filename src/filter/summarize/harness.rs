//! Recognizes user messages that a program generated; they are neither requests nor standing instructions.

/// Tag names of harnesses, as they follow `<`.
const TAGS: [&str; 18] = [
    "user_instructions", "environment_", "attached_files", "hook", "user-prompt", "permissions",
    "system-reminder", "command-", "local-command", "bash-", "turn_aborted", "ide_", "user_shell",
    "session_context", "skill", "instructions", "task-notification", "subagent",
];

/// Beginnings of other generated texts.
const BEGINNINGS: [&str; 9] = [
    "[summary of",
    "caveat:",
    "[request interrupted",
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

/// Whether a text begins like a generated one.
pub fn is_harness(text: &str) -> bool {
    let text = after_placeholders(text.trim_start());
    match text.strip_prefix('<') {
        Some(tag) => TAGS.iter().any(|name| begins(tag, name)),
        None => BEGINNINGS.iter().any(|name| begins(text, name)),
    }
}

/// Whether a line is one that a program writes around a summary.
pub fn is_around_summary(line: &str) -> bool {
    AROUND_SUMMARY.iter().any(|beginning| begins(line, beginning))
}

fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len())
        .is_some_and(|beginning| beginning.eq_ignore_ascii_case(with))
}
