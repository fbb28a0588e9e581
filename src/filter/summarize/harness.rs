//! What a program put into the mouth of the user: no request, and no standing instruction.

/// How a tag of a harness begins, behind its `<`.
const TAGS: [&str; 15] = [
    "user_instructions",
    "environment_context",
    "permissions",
    "system-reminder",
    "command-",
    "local-command",
    "bash-",
    "turn_aborted",
    "ide_",
    "user_shell",
    "session_context",
    "skill",
    "instructions",
    "task-notification",
    "subagent",
];

/// How other texts of a harness begin.
const BEGINNINGS: [&str; 4] = [
    "caveat:",
    "[request interrupted",
    "# agents.md instructions",
    "this session is being continued",
];

/// Whether a text is of a harness, by its beginning.
pub fn is_harness(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |text: &str, with: &str| {
        text.get(..with.len())
            .is_some_and(|beginning| beginning.eq_ignore_ascii_case(with))
    };
    match text.strip_prefix('<') {
        Some(tag) => TAGS.iter().any(|name| begins(tag, name)),
        None => BEGINNINGS.iter().any(|name| begins(text, name)),
    }
}
