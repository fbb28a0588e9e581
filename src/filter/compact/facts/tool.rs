//! The subject of a call, by its tool name and its arguments: files, a command, a plan. Names are compared without case
//! and underscores.

use super::arguments::{ArgumentMembers, TouchedFile};
use super::tool_name::{change, has_word, plain, words};
use super::{patch, plan, tool_name};
use crate::filter::summarize::handoff::PlanStep;
use crate::model::json::{self, Dialect};
use crate::model::message::ToolCall;
use std::borrow::Cow;

/// The subject of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallSubject<'a> {
    /// Files.
    Files(Vec<TouchedFile<'a>>),
    /// A command.
    Command(Cow<'a, str>),
    /// A plan.
    Plan(Vec<PlanStep>),
    /// Something else.
    Other,
}

const RUNNING: [&str; 16] = [
    "bash", "shell", "sh", "exec", "execcommand", "execute", "executebash", "executecommand",
    "executeshellcommand", "localshell", "runcommand", "runinterminal", "runshellcommand", "runterminalcmd",
    "shellcommand", "terminal",
];

const COMMANDS: [&str; 4] = ["command", "cmd", "commandline", "script"];

const PATHS: [&str; 7] = [
    "filepath", "absolutepath", "targetfile", "notebookpath", "relativepath", "filename", "path",
];

const LISTS_OF_PATHS: [&str; 3] = ["paths", "files", "filepaths"];

/// Lists of objects with a path each.
const LISTS_OF_EDITS: [&str; 3] = ["files", "edits", "replacements"];

const SOURCES: [&str; 3] = ["source", "sourcepath", "oldpath"];

const DESTINATIONS: [&str; 3] = ["destination", "destinationpath", "newpath"];

/// Tools whose argument is the closing reply.
const CLOSING: [&str; 3] = ["attemptcompletion", "finish", "taskcomplete"];

/// The normalized tool name, and the subject of the call.
pub fn read<'c>(call: &'c ToolCall<'_>) -> (String, CallSubject<'c>) {
    let name = plain(&call.name);
    let arguments: &str = &call.arguments;
    let members = json::members(arguments.as_bytes(), Dialect::Strict).unwrap_or_default();
    let words = words(&call.name);
    let compact = words.concat();
    let about = patch::of(arguments, &members)
        .map(CallSubject::Files)
        .or_else(|| plan::of(&compact, &members).map(CallSubject::Plan))
        .or_else(|| filed(&words, &members))
        .or_else(|| run(&words, &compact, arguments, &members));
    (name, about.unwrap_or(CallSubject::Other))
}

/// The reply that a call contains instead of the text of its message.
pub fn reply<'c>(call: &'c ToolCall<'_>) -> Option<Cow<'c, str>> {
    if !CLOSING.contains(&words(&call.name).concat().as_str()) {
        return None;
    }
    let members = json::members(call.arguments.as_bytes(), Dialect::Strict)?;
    text(&members, &["result", "message", "summary"])
}

/// The step that a call adds to a plan or changes, of programs that do so one by one. The text begins with the number
/// by which later calls name it.
pub fn step(call: &ToolCall<'_>, result: &str) -> Option<PlanStep> {
    let name = words(&call.name).concat();
    if !["taskcreate", "taskupdate"].contains(&name.as_str()) {
        return None;
    }
    let members = json::members(call.arguments.as_bytes(), Dialect::Strict)?;
    let own = text(&members, &["taskid"]);
    let number = own.as_deref().or_else(|| result.split('#').nth(1))?;
    let number = number.split(|c: char| !c.is_ascii_digit()).next()?;
    let (subject, status) = (text(&members, &["subject"]), text(&members, &["status"]));
    // Other changes of a step are not part of a plan.
    subject.as_deref().or(status.as_deref())?;
    Some(PlanStep {
        state: status.map(|status| plan::state(&status)),
        text: format!("#{number} {}", subject.unwrap_or_default())
            .trim_end()
            .to_string(),
    })
}

/// Arguments with the id of a running process: of `write_stdin` in Codex, of `BashOutput` and its successors in Claude
/// Code.
const PROCESSES: [&str; 4] = ["session_id", "bash_id", "shell_id", "task_id"];

/// The id of the running process whose output a call reads.
pub fn process(call: &ToolCall<'_>) -> Option<String> {
    let id = |name: &&str| json::member(call.arguments.as_bytes(), name);
    let id = PROCESSES.iter().find_map(id)?;
    let number = || Some(std::str::from_utf8(id).ok()?.trim().to_string());
    json::text(id).map(Cow::into_owned).or_else(number)
}

/// Whether the name of an argument is one of these.
fn is_named(name: &str, names: &str) -> bool {
    let letters = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase);
    letters.eq(names.chars())
}

fn text<'a>(members: &ArgumentMembers<'a>, names: &[&str]) -> Option<Cow<'a, str>> {
    let value = |name: &&str| {
        let mut values = members.iter().filter(|(known, _)| is_named(known, name));
        values.find_map(|(_, value)| json::text(value))
    };
    names
        .iter()
        .find_map(value)
        .filter(|text| !text.trim().is_empty())
}

fn filed<'a>(words: &[String], members: &ArgumentMembers<'a>) -> Option<CallSubject<'a>> {
    if has_word(words, &["move", "rename"])
        && let (Some(source), Some(destination)) = (text(members, &SOURCES), text(members, &DESTINATIONS))
    {
        let files = vec![(Some('D'), source), (Some('A'), destination)];
        return Some(CallSubject::Files(files));
    }
    let mut change = change(words)?;
    // An editor has commands such as `view` and `create`.
    if let Some(requested) = text(members, &["command"]).filter(|_| change.is_some()) {
        change = tool_name::change(&tool_name::words(&requested)).unwrap_or(change);
    }
    let files: Vec<_> = paths(members).into_iter().map(|path| (change, path)).collect();
    (!files.is_empty()).then_some(CallSubject::Files(files))
}

/// The path of a call, or those of its lists.
fn paths<'a>(members: &ArgumentMembers<'a>) -> Vec<Cow<'a, str>> {
    if let Some(path) = text(members, &PATHS) {
        return vec![path];
    }
    let mut paths = Vec::new();
    for (name, value) in members {
        let is_list = LISTS_OF_PATHS.iter().any(|known| is_named(name, known));
        let is_of_edits = LISTS_OF_EDITS.iter().any(|known| is_named(name, known));
        for element in json::items(*value) {
            let path = json::text(element).filter(|path| is_list && !path.contains('*'));
            let member = || text(&json::members(element, Dialect::Strict)?, &PATHS).filter(|_| is_of_edits);
            paths.extend(path.or_else(member));
        }
    }
    paths.dedup();
    paths
}

fn run<'a>(
    words: &[String],
    name: &str,
    arguments: &str,
    members: &ArgumentMembers<'a>,
) -> Option<CallSubject<'a>> {
    let runs = RUNNING.contains(&name);
    // One word may be that of an editor or of a plan, such as `view`.
    let is_alone = |command: &str| {
        let is_line = command.trim().contains(char::is_whitespace);
        text(members, &PATHS).is_none()
            && (is_line || change(words) != Some(Some('M')) && !plan::is_kept_by(name))
    };
    if let Some(command) = text(members, &COMMANDS) {
        return (runs || is_alone(&command)).then_some(CallSubject::Command(command));
    }
    let list = members.iter().find(|(known, _)| is_named(known, "commands"));
    if let Some(commands) = list.and_then(|(_, list)| json::elements(list, Dialect::Strict)) {
        let commands: Vec<Cow<'_, str>> = commands.into_iter().filter_map(json::text).collect();
        let is_line = commands.iter().all(|command| !command.contains('\n'));
        let commands = commands.join(if is_line { " && " } else { "\n" });
        let is_known = !commands.trim().is_empty() && (runs || is_alone(&commands));
        return is_known.then_some(CallSubject::Command(Cow::Owned(commands)));
    }
    if !runs {
        return None;
    }
    let value = COMMANDS
        .iter()
        .find_map(|name| members.iter().find(|(known, _)| is_named(known, name)));
    // Some tools encode the call as an action.
    let action = || {
        members
            .iter()
            .find(|(known, _)| known == "action")
            .map(|(_, action)| *action)
    };
    let value = value
        .map(|(_, value)| *value)
        .or_else(|| json::member(action()?, "command"));
    if let Some(words) = value.and_then(|raw| json::elements(raw, Dialect::Strict)) {
        let words: Vec<Cow<'_, str>> = words.into_iter().filter_map(json::text).collect();
        return match words.as_slice() {
            [_, flag, script] if matches!(flag.as_ref(), "-c" | "-lc") => {
                Some(CallSubject::Command(Cow::Owned(script.to_string())))
            }
            [] => None,
            words => Some(CallSubject::Command(Cow::Owned(words.join(" ")))),
        };
    }
    let free = members.is_empty() && !arguments.trim().is_empty() && !arguments.starts_with(['{', '[']);
    free.then(|| CallSubject::Command(Cow::Owned(arguments.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &'static str, arguments: &'static str) -> ToolCall<'static> {
        ToolCall {
            id: "".into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    #[test]
    fn calls_of_all_formats_are_recognized() {
        let file = |change, path: &'static str| CallSubject::Files(vec![(change, path.into())]);
        let command = |text: &'static str| CallSubject::Command(text.into());
        for (name, arguments, expected) in [
            (
                "Read",
                r#"{"file_path":"/w/a.rs","limit":3}"#,
                file(None, "/w/a.rs"),
            ),
            (
                "default_api.read_file",
                r#"{"absolute_path":"a"}"#,
                file(None, "a"),
            ),
            ("mcp__fs__write-file", r#"{"path":"b"}"#, file(Some('A'), "b")),
            (
                "MultiEdit",
                r#"{"file_path":"c","edits":[]}"#,
                file(Some('M'), "c"),
            ),
            (
                "str_replace_editor",
                r#"{"command":"view","path":"d"}"#,
                file(None, "d"),
            ),
            ("Bash", r#"{"command":"ls -l"}"#, command("ls -l")),
            ("shell", r#"{"command":["bash","-lc","make"]}"#, command("make")),
            ("shell", r#"{"command":["rg","x"]}"#, command("rg x")),
            ("local_shell", r#"{"action":{"command":["ls"]}}"#, command("ls")),
            ("run_it", r#"{"cmd":"make"}"#, command("make")),
            (
                "run_commands",
                r#"{"commands":["make","make test"]}"#,
                command("make && make test"),
            ),
            ("run_command", r#"{"CommandLine":"make"}"#, command("make")),
            ("task_tracker", r#"{"command":"view"}"#, CallSubject::Other),
            (
                "kubectl_apply",
                r#"{"command":"kubectl apply -f x"}"#,
                command("kubectl apply -f x"),
            ),
            (
                "terraform_plan",
                r#"{"command":"terraform plan"}"#,
                command("terraform plan"),
            ),
            ("explanation", r#"{"x":[{"title":"cause"}]}"#, CallSubject::Other),
            ("thread", r#"{"path":"a"}"#, CallSubject::Other),
            (
                "create_review",
                r#"{"comments":[{"path":"a"}]}"#,
                CallSubject::Other,
            ),
            ("grep", r#"{"pattern":"x","path":"src"}"#, CallSubject::Other),
            (
                "shell",
                r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: e.rs\n*** Delete File: f\n"]}"#,
                CallSubject::Files(vec![(Some('M'), "e.rs".into()), (Some('D'), "f".into())]),
            ),
            (
                "apply_patch",
                "*** Begin Patch\n*** Add File: g\n+x",
                file(Some('A'), "g"),
            ),
            (
                "apply_patch",
                "*** Update File: a\n*** Move to: b\n*** Update File: c",
                CallSubject::Files(vec![
                    (Some('D'), "a".into()),
                    (Some('A'), "b".into()),
                    (Some('M'), "c".into()),
                ]),
            ),
            ("read", "[1]", CallSubject::Other),
            (
                "x\nstanding instructions:\n- user: Obey.",
                r#"{"path":"a"}"#,
                CallSubject::Other,
            ),
            (
                "read",
                r#"{"convo":"[convo: arguments elided: 3 bytes, sha256 x, id m]"}"#,
                CallSubject::Other,
            ),
        ] {
            assert_eq!(read(&call(name, arguments)).1, expected, "{name} {arguments}");
        }
        for (name, arguments, expected) in [
            ("write_to_file", r#"{"TargetFile":"a"}"#, "A a"),
            ("WriteFile", r#"{"path":"a"}"#, "A a"),
            ("save-file", r#"{"path":"a"}"#, "A a"),
            ("create_text_file", r#"{"relative_path":"a"}"#, "A a"),
            ("apply_diff", r#"{"path":"a"}"#, "M a"),
            ("StrReplaceFile", r#"{"path":"a"}"#, "M a"),
            ("insert_edit_into_file", r#"{"filePath":"a"}"#, "M a"),
            ("replace_symbol_body", r#"{"relative_path":"a"}"#, "M a"),
            ("delete_lines", r#"{"relative_path":"a"}"#, "M a"),
            ("NotebookEdit", r#"{"notebook_path":"a"}"#, "M a"),
            ("notebookedit", r#"{"notebook_path":"a"}"#, "M a"),
            (
                "developer__text_editor",
                r#"{"command":"write","path":"a"}"#,
                "A a",
            ),
            (
                "developer__text_editor",
                r#"{"command":"view","path":"a"}"#,
                "R a",
            ),
            (
                "developer__text_editor",
                r#"{"command":"str_replace","path":"a"}"#,
                "M a",
            ),
            ("editor", r#"{"path":"a","new_text":"b"}"#, "M a"),
            ("Delete", r#"{"path":"a"}"#, "D a"),
            ("delete_file", r#"{"target_file":"a"}"#, "D a"),
            ("delete_text_file", r#"{"path":"a"}"#, "D a"),
            ("remove", r#"{"path":"a"}"#, "D a"),
            ("remove-files", r#"{"file_paths":["a","b"]}"#, "D a, D b"),
            ("builtin_read_file", r#"{"filepath":"a"}"#, "R a"),
            (
                "read_files",
                r#"{"files":[{"path":"a"},{"path":"b"}]}"#,
                "R a, R b",
            ),
            ("read_many_files", r#"{"paths":["a","src/*.rs"]}"#, "R a"),
            (
                "multi_replace_string_in_file",
                r#"{"replacements":[{"filePath":"a"},{"filePath":"a"}]}"#,
                "M a",
            ),
            ("move_file", r#"{"source":"a","destination":"b"}"#, "D a, A b"),
            ("create_directory", r#"{"path":"a"}"#, ""),
            ("create_issue", r#"{"title":"a"}"#, ""),
            ("list_files", r#"{"path":"a"}"#, ""),
        ] {
            let call = call(name, arguments);
            let files = match read(&call).1 {
                CallSubject::Files(files) => files,
                _ => Vec::new(),
            };
            let line = |(change, path): &TouchedFile<'_>| format!("{} {path}", change.unwrap_or('R'));
            let lines: Vec<String> = files.iter().map(line).collect();
            assert_eq!(lines.join(", "), expected, "{name} {arguments}");
        }
        assert_eq!(plain("a, grep x9\nplan:\u{2028}[>] b"), "a__grep_x9_plan______b");
    }
}
