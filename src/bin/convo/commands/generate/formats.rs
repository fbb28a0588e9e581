//! The table of formats, from what each says of itself.

use convo::format::{Format, Holds, detect};
use std::fmt::Write;

const HEAD: &str = "# Formats

What `convo` reads and writes; `--from` and `--to` take these names, and `convo detect` prints them. Made by
`convo generate formats`.

- *read*: `many` sessions in one input, or `one`; `--session` picks one of many.
- *written*: `many` may follow one another in one output; of `one`, each needs a file of its own (`--output-dir DIR`).
- *in place*: whether `-i` changes a file of it; what a change does not touch stays the bytes it was.
- *lost*: what does not come along into it from a session that has it. Each loss is told on standard error, with its
  count; with `--strict` nothing is written then.

";

const DATABASES: &str = "
Databases (SQLite) are read by the plugin `convo-sqlite`: `convo sqlite FILE` prints their sessions as a stream, `--list` tells
which there are.

| database | what | lost |
|---|---|---|
| `llm` | `logs.db` of llm: threads, and the conversations and responses of older versions | attachment, metadata |
| `openai-agents` | sessions of the OpenAI Agents SDK, whatever its tables are called | usage, header |
| `opencode` | `opencode.db` of opencode: its sessions, those of its agents too | - |
| `goose` | `sessions.db` of goose: its sessions, with who sees what of them | - |
| `penguin-snapshots` | `snapshots/snapshots.db` of Penguin | - |
";

/// The document.
pub fn text() -> String {
    let mut text = HEAD.to_string();
    text.push_str("| format | what | read | written | in place | lost |\n|---|---|---|---|---|---|\n");
    for format in Format::ALL {
        let form = format.form();
        let read = match (format.is_read(), form.holds) {
            (false, _) => "-",
            (true, Holds::Many) => "many",
            (true, Holds::One) => "one",
        };
        let written = match (form.is_written(), form.joins) {
            (false, _) => "-",
            (true, true) => "many",
            (true, false) => "one",
        };
        let in_place = if form.is_changed_in_place() { "yes" } else { "-" };
        let lost: Vec<&str> = form.loses.iter().map(|loss| loss.name()).collect();
        let lost = if lost.is_empty() {
            "-".to_string()
        } else {
            lost.join(", ")
        };
        let _ = writeln!(
            text,
            "| `{}` | {} | {read} | {written} | {in_place} | {lost} |",
            form.name, form.about
        );
    }
    text.push('\n');
    for form in Format::ALL
        .map(Format::form)
        .iter()
        .filter(|form| !form.note.is_empty())
    {
        let _ = writeln!(text, "- `{}`: {}", form.name, form.note);
    }
    text.push_str(DATABASES);
    let unread = detect::unread();
    if !unread.is_empty() {
        text.push_str("\nKnown and not read: what is one of these is refused by its name.\n\n| format | what |\n|---|---|\n");
        for (name, what) in unread {
            let _ = writeln!(text, "| `{name}` | {what} |");
        }
    }
    text
}
