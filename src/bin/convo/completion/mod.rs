//! Completes a command line: the shell runs convo, which looks up candidates in the store. It never reports an error
//! and never creates a file, because the user is still typing.

pub mod events;
pub mod synonyms;

use crate::args::{ALL, Global, InputLocation};
use crate::commands;
use crate::context::Context;
use crate::output::{Color, Output};
use crate::programs::{bundled_plugins, plugin, plugin_command};
use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCandidates as Candidates, ArgValueCompleter, CompletionCandidate as Candidate, PathCompleter,
    SubcommandCandidates, ValueCompleter,
};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};
use convo::check::{Api, RepairMode};
use convo::error::Error;
use convo::format::Format;
use convo::home::written_program_names;
use convo::model::message::{Category, Role};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The environment variable that requests completion; its value is the name of the shell.
pub const VARIABLE: &str = "COMPLETE";

/// Maximum number of sessions offered, newest first.
const OFFERED: usize = 500;

/// The supported shells.
pub const SHELLS: [&dyn EnvCompleter; 3] = [&Bash, &Zsh, &Fish];

/// Finds a supported shell; the variable may have another value for another purpose.
pub fn shell(name: OsString) -> Option<&'static dyn EnvCompleter> {
    let name = name.to_str()?;
    SHELLS.into_iter().find(|shell| shell.is(name))
}

/// The script for bash. The one of clap_complete inserts file names unquoted, so that a name with `$(...)` would run a
/// command.
const BASH: &str = include_str!("complete.bash");

/// Returns the script that makes a shell run `program` for completion.
pub fn script(shell: &dyn EnvCompleter, program: &str) -> convo::Result<String> {
    if shell.name() == "bash" {
        return Ok(BASH.replace("PROGRAM", &quoted(program)));
    }
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "convo", "convo", program, &mut script)
        .map_err(|error| Error::io("cannot write the script", error))?;
    let mut script = String::from_utf8_lossy(&script).trim().to_string();
    if shell.name() == "zsh" {
        // zsh loads a file in $fpath as the function itself, on its first call.
        script.push_str("\n\n[[ ${funcstack[1]} == _convo ]] && _clap_dynamic_completer_convo \"$@\"");
    }
    script.push('\n');
    Ok(script)
}

/// Prints the candidates; without a line to complete, the script of the shell.
pub fn answer(shell: &dyn EnvCompleter, arguments: &[OsString]) -> anyhow::Result<u8> {
    let mut line = arguments.iter().skip_while(|argument| *argument != "--");
    let words: Vec<OsString> = match line.next() {
        Some(_) => line.cloned().collect(),
        None => Vec::new(),
    };
    let mut answer = Vec::new();
    if words.is_empty() {
        answer.extend_from_slice(script(shell, &program(arguments))?.as_bytes());
    } else if !is_plugins(&words) {
        let here = std::env::current_dir().ok();
        // On an error there are no candidates.
        let _ = shell.write_complete(&mut command(&words), words, here.as_deref(), &mut answer);
    }
    Output::new(true, false, Color::Never).stdout(|out| {
        Ok(out
            .write_all(&answer)
            .map_err(|error| Error::io("cannot write", error))?)
    })?;
    Ok(0)
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    match word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
    {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Returns the name by which this program was called, absolute if it is a path.
fn program(arguments: &[OsString]) -> String {
    let called = arguments.first().map(Path::new).unwrap_or(Path::new("convo"));
    let path = match called.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => std::path::absolute(called).ok(),
        _ => None,
    };
    path.as_deref().unwrap_or(called).to_string_lossy().into_owned()
}

/// Index of the word to complete; shells that send the complete line pass the index.
fn current(words: &[OsString]) -> usize {
    let reported = std::env::var("_CLAP_COMPLETE_INDEX").ok();
    reported
        .and_then(|index| index.parse().ok())
        .unwrap_or(words.len().saturating_sub(1))
}

/// The bundled plugins that are installed.
fn installed_bundles() -> impl Iterator<Item = (&'static str, Command)> {
    let all = bundled_plugins::all().into_iter();
    all.filter(|(name, _)| plugin::find(name).is_some())
}

/// Whether the line calls a plugin whose arguments are unknown.
fn is_plugins(words: &[OsString]) -> bool {
    let command = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let known = commands::find(command).is_some() || installed_bundles().any(|(name, _)| name == command);
    current(words) > 1 && !command.starts_with('-') && command != commands::HELP && !known
}

/// Builds the command line with candidates for its values.
fn command(words: &[OsString]) -> Command {
    // Offer options only after a dash, so that they do not obscure the sessions.
    let options = words
        .get(current(words))
        .is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let whole = installed_bundles().fold(commands::command_line(), |whole, (_, command)| {
        whole.subcommand(command)
    });
    let whole = whole.add(SubcommandCandidates::new(plugins));
    with_candidates(whole, &global(words), words, options)
}

/// Reads the options of the line that select the store.
fn global(words: &[OsString]) -> Global {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let value = |option: &str| {
        words.iter().enumerate().find_map(|(nth, word)| {
            let rest = word.strip_prefix(option)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value.into()),
                None if rest.is_empty() => words.get(nth + 1).map(|value| (*value).into()),
                None => None,
            }
        })
    };
    Global {
        store: value("--store"),
        config: value("--config"),
        no_config: words.contains(&"--no-config"),
        ..Global::default()
    }
}

fn with_candidates(command: Command, global: &Global, words: &[OsString], options: bool) -> Command {
    let name = command.get_name().to_string();
    command
        .disable_help_flag(!options)
        .disable_version_flag(!options)
        .mut_args(|arg| {
            let positional = arg.is_positional();
            let arg = with_values(arg, &name, global, words);
            let hidden = arg.is_hide_set() || (!positional && !options);
            arg.hide(hidden)
        })
        .mut_subcommands(|inner| with_candidates(inner, global, words, options))
}

/// Adds candidates by the value name of an argument.
fn with_values(arg: Arg, command: &str, global: &Global, words: &[OsString]) -> Arg {
    let positional = arg.is_positional();
    let writes = arg.get_id() == "to";
    let value = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string);
    let is_new = command == "add"; // the alias does not exist yet
    let is_compact = command == "compact";
    let at = current(words);
    let has_session = session_before(&words[..at.min(words.len())]);
    let (global, words) = (global.clone(), words.to_vec());
    match value.as_deref().unwrap_or_default() {
        // After a session, `expand` takes one of its ids.
        "INPUT" if positional && command == "expand" && has_session => {
            arg.add(Candidates::new(move || events::elided(&global, &words, at)))
        }
        "INPUT" if positional => arg.add(ArgValueCompleter::new(move |word: &OsStr| {
            let mut found = beginning(word, names(&global));
            // Offer sessions of other programs once the word is not empty.
            if let Some(word) = word.to_str().filter(|word| !word.is_empty()) {
                let homes = crate::homes::names::offered(word, OFFERED).into_iter();
                found.extend(beginning(OsStr::new(word), homes.map(Candidate::new).collect()));
            }
            found.extend(files(word));
            in_order(found)
        })),
        "NAME" if positional => arg.add(Candidates::new(move || in_order(names(&global)))),
        "ALIAS" if positional && !is_new => arg.add(Candidates::new(move || aliases(&global))),
        "EVENT" if positional => arg.add(Candidates::new(move || {
            in_order(events::undoable(&global, &words, at))
        })),
        "API" if arg.get_long() != Some("api") => {
            arg.add(Candidates::new(|| named(&Api::ALL.map(Api::name))))
        }
        "MODE" => arg.add(Candidates::new(|| named(&RepairMode::ALL.map(RepairMode::name)))),
        "SUMMARIZER" if is_compact => arg.add(Candidates::new(|| programs(&["extract", "none", "cmd:"]))),
        "SUMMARIZER" => arg.add(Candidates::new(|| programs(&["extract", "cmd:"]))),
        "PROGRAM" if command == "handoff" => arg.add(Candidates::new(|| named(&written_program_names()))),
        "PROGRAM" => arg.add(Candidates::new(|| programs(&["cmd:"]))),
        "COMMAND" => arg.add(Candidates::new(all_commands)),
        "FORMAT" => arg.add(Candidates::new(move || formats(writes))),
        "ROLE" => arg.add(Candidates::new(roles)),
        "CATEGORY" => arg.add(Candidates::new(categories)),
        _ => arg,
    }
}

/// Whether an earlier operand may name a session.
fn session_before(words: &[OsString]) -> bool {
    let mut operands = words.iter().skip(2);
    operands.any(|word| !word.as_encoded_bytes().starts_with(b"-"))
}

fn beginning(word: &OsStr, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let word = word.as_encoded_bytes();
    candidates.retain(|candidate| candidate.get_value().as_encoded_bytes().starts_with(word));
    candidates
}

/// Files whose names are read as paths, and the directories that lead to them.
fn files(word: &OsStr) -> Vec<Candidate> {
    let mut found = PathCompleter::any().stdio().complete(word);
    found.retain(|candidate| match candidate.get_value().to_str() {
        Some(text) => !matches!(InputLocation::of(text), InputLocation::Name(_)),
        None => false,
    });
    found
}

/// Aliases, ids and other names of stored sessions, newest first.
fn names(global: &Global) -> Vec<Candidate> {
    let mut found = aliases(global);
    let Some(mut sessions) = Context::new(global)
        .ok()
        .and_then(|context| context.store().ok()?.ids().ok())
    else {
        return found;
    };
    sessions.sort_by(|one, other| (other.modified, &other.id).cmp(&(one.modified, &one.id)));
    if !sessions.is_empty() {
        found.push(Candidate::new("@last").help(Some("the newest session".into())));
        found.push(Candidate::new(ALL).help(Some("every session".into())));
    }
    let newest = sessions.into_iter().take(OFFERED);
    found.extend(newest.map(|session| Candidate::new(session.id)));
    found
}

fn aliases(global: &Global) -> Vec<Candidate> {
    let aliases = Context::new(global)
        .ok()
        .and_then(|context| context.store().ok()?.aliases().ok());
    let one = |(alias, ids): (String, Vec<String>)| Candidate::new(alias).help(Some(ids.join(", ").into()));
    aliases.into_iter().flatten().map(one).collect()
}

fn named(names: &[&'static str]) -> Vec<Candidate> {
    names.iter().map(Candidate::new).collect()
}

/// These words and all plugins.
fn programs(words: &[&'static str]) -> Vec<Candidate> {
    let plugins = plugin_command::installed().into_keys().map(Candidate::new);
    named(words).into_iter().chain(plugins).collect()
}

fn plugins() -> Vec<Candidate> {
    let about = |path: std::path::PathBuf| Some(format!("plugin {}", path.display()).into());
    let known: Vec<&str> = installed_bundles().map(|(name, _)| name).collect();
    plugin_command::installed()
        .into_iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, path)| Candidate::new(name).help(about(path)))
        .collect()
}

fn all_commands() -> Vec<Candidate> {
    let built_in = commands::ALL.iter().filter(|spec| !spec.hidden);
    let mut found: Vec<Candidate> = built_in
        .map(|spec| Candidate::new(spec.name).help(spec.command().get_about().cloned()))
        .collect();
    found.extend(
        installed_bundles().map(|(name, command)| Candidate::new(name).help(command.get_about().cloned())),
    );
    found.extend(plugins());
    found
}

fn formats(written: bool) -> Vec<Candidate> {
    Format::ALL
        .into_iter()
        .filter(|format| !written || format.is_written())
        .map(|format| Candidate::new(format.name()).help(Some(format.about().into())))
        .collect()
}

fn roles() -> Vec<Candidate> {
    let roles = [
        Role::User,
        Role::Assistant,
        Role::System,
        Role::Developer,
        Role::Tool,
    ];
    roles.map(|role| Candidate::new(role.name())).into()
}

fn categories() -> Vec<Candidate> {
    Category::ALL
        .map(|category| Candidate::new(category.name()))
        .into()
}

/// Keeps the candidates in this order; the engine sorts by number.
fn in_order(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let numbered = candidates.into_iter().enumerate();
    numbered
        .map(|(nth, candidate)| candidate.display_order(Some(nth)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    fn offered(line: &[&str]) -> Vec<String> {
        let words = words(line);
        let mut command = command(&words);
        let found = clap_complete::engine::complete(&mut command, words, line.len() - 1, None);
        found
            .unwrap()
            .iter()
            .map(|candidate| candidate.get_value().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn commands_options_and_formats_are_completed() {
        assert_eq!(offered(&["convo", "trunc"]), ["truncate"]);
        assert_eq!(
            offered(&["convo", "cat", "--to", "o"]),
            ["openai-chat", "openai-responses", "opencode", "openai-finetune"]
        );
        assert!(offered(&["convo", "truncate", "--keep"]).contains(&"--keep-last".to_string()));
        assert!(offered(&["convo", "help", "app"]).contains(&"append".to_string()));
        assert!(!offered(&["convo", ""]).contains(&"generate".to_string()));
    }

    #[test]
    fn sessions_and_aliases_of_the_given_store_are_completed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        let place = path.to_str().unwrap();
        assert!(offered(&["convo", "--no-config", "show", "--store", place, "tr"]).is_empty());
        assert!(!path.exists());
        let store = convo::store::Store::create(&path).unwrap();
        let header = br#"{"type":"session","version":1,"id":"trip"}"#.to_vec();
        store.create_session("trip", &[header]).unwrap();
        store.alias_add("travel", "trip").unwrap();
        assert_eq!(
            offered(&["convo", "--no-config", "show", "--store", place, "tr"]),
            ["travel", "trip"]
        );
        let store = format!("--store={place}");
        assert_eq!(
            offered(&["convo", "--no-config", &store, "alias", "resolve", ""]),
            ["travel"]
        );
    }

    #[test]
    fn values_of_check_compact_and_ask_are_completed() {
        let apis = ["anthropic", "gemini", "openai-chat", "openai-responses"];
        let mut found = offered(&["convo", "check", "--for", ""]);
        found.sort();
        assert_eq!(found, apis);
        assert_eq!(offered(&["convo", "check", "--fix=d"]), ["--fix=drop"]);
        assert_eq!(offered(&["convo", "compact", "--with", "ex"]), ["extract"]);
        assert_eq!(offered(&["convo", "compact", "--with", "no"]), ["none"]);
        assert_eq!(offered(&["convo", "summarize", "--with", "no"]), [""; 0]);
        assert_eq!(offered(&["convo", "ask", "--with", "cm"]), ["cmd:"]);
        assert_eq!(offered(&["convo", "completions", "z"]), ["zsh"]);
    }

    #[test]
    fn ids_of_the_given_session_are_completed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("store");
        let store = convo::store::Store::create(&place).unwrap();
        let lines = [
            r#"{"type":"session","version":1,"id":"trip"}"#,
            r#"{"role":"user","content":"long","id":"m1"}"#,
            r#"{"type":"compact","id":"evt_1","at":"2026-11-20T18:02:03Z","edit":[{"id":"m1","content":"[convo: 4 bytes elided]"}]}"#,
        ];
        store
            .create_session("trip", &lines.map(|line| line.as_bytes().to_vec()))
            .unwrap();
        let place = format!("--store={}", place.display());
        let line = |name: &str, at: usize, typed: [&str; 2]| {
            let line = words(&["convo", name, typed[0], typed[1], "--no-config", &place]);
            let mut command = command(&line);
            let found = clap_complete::engine::complete(&mut command, line, at, None).unwrap();
            let mut found: Vec<String> = found
                .iter()
                .map(|one| one.get_value().to_string_lossy().into_owned())
                .collect();
            // The options of the command follow these.
            found.retain(|found| !found.starts_with('-'));
            found.sort();
            found
        };
        assert_eq!(line("expand", 3, ["trip", ""]), ["evt_1", "m1"]);
        assert_eq!(line("restore", 3, ["trip", ""]), ["evt_1"]);
    }

    #[test]
    fn the_line_of_a_plugin_uses_shell_completion() {
        assert!(is_plugins(&words(&["convo", "nonesuch", ""])));
        assert!(!is_plugins(&words(&["convo", "nones"])));
        assert!(!is_plugins(&words(&["convo", "help", ""])));
        assert!(!is_plugins(&words(&["convo", "-q", ""])));
    }
}
