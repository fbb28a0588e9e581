//! Checks that the commands, options and files named in `docs/` exist.

use assert_cmd::Command;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Commands of plugins, whose options the program does not know.
const PLUGINS: [&str; 1] = ["sqlite"];

fn help(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convo"));
    command
        .env_clear()
        .env("HOME", "/nonexistent")
        .args(arguments)
        .arg("--help");
    let printed = command.assert().success().get_output().stdout.clone();
    String::from_utf8(printed).unwrap()
}

/// The options that a help text lists.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words
        .filter(|word| word.starts_with('-') && word.len() > 1)
        .map(str::to_string)
        .collect()
}

/// The texts between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Options that are hidden in the help but documented here.
const HIDDEN: [&str; 1] = ["--expect-provider"];

#[test]
fn documented_commands_for_other_systems_exist() {
    let text = document("systems.md");
    let commands = help(&[]);
    let commands: BTreeSet<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()))
        .collect();
    let mut known = BTreeMap::new();
    for command in &commands {
        known.insert(*command, options(&help(&[command])));
    }
    let mut looked_at = 0;
    for words in quoted(&text).map(|span| span.split([' ', '\\', '|']).collect::<Vec<_>>()) {
        let words = match words.as_slice() {
            ["convo", rest @ ..] => rest,
            words => words,
        };
        let named = words
            .iter()
            .filter(|word| word.starts_with('-') && word.len() > 1)
            .map(|word| word.split('=').next().unwrap())
            .filter(|option| !HIDDEN.contains(option));
        for option in named {
            looked_at += 1;
            match known.get(words[0]) {
                Some(options) => assert!(options.contains(option), "{words:?}: {option}"),
                None if PLUGINS.contains(&words[0]) => {}
                None => assert!(
                    known.values().any(|options| options.contains(option)),
                    "{words:?}: {option} is an option of no command"
                ),
            }
        }
    }
    assert!(looked_at > 40, "{looked_at}");
}

#[test]
fn links_in_documents_lead_to_files() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for entry in std::fs::read_dir(&docs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(link, _)| link.split('#').next().unwrap());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            assert!(docs.join(link).exists(), "{}: {link}", path.display());
        }
    }
}
