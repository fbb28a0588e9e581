//! Checks the layers of the architecture, based on the `crate::` and `super::` paths in `src/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum length of a file in lines.
const LONGEST: usize = 450;

/// Files besides `store/atomic.rs` that may lock, rename or sync.
const SYNCING: [&str; 3] = ["store/lock.rs", "store/rename_sync.rs", "store/replace_file.rs"];

/// The files that may print: one per program.
const PRINTING: [&str; 4] = [
    "bin/convo-llm/output.rs", "bin/convo-mcp/output.rs", "bin/convo-sqlite/output.rs", "bin/convo/output.rs",
];

/// The files that need `unsafe`: no library provides leases and range locks.
const UNSAFE: [&str; 2] = ["store/mark.rs", "store/open_writers.rs"];

/// The table of commands: naming each command as a row is not a use, because commands that describe the whole program
/// (`generate`, `plugins`) read the table.
const COMMAND_TABLE: &str = "bin/convo/commands/mod.rs";

/// Crates that only one plugin may use, because every start of the program would pay for them.
const PLUGINS: [(&str, &str); 2] = [("rusqlite", "bin/convo-sqlite/"), ("ureq", "bin/convo-llm/")];

pub struct File {
    /// Path below `src`, with slashes.
    pub name: String,
    /// The text without comments and tests.
    pub code: String,
    lines: usize,
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

pub fn files() -> Vec<File> {
    let root = source();
    let mut found = Vec::new();
    let mut dirs = vec![root.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
            if path.is_dir() {
                if !name.ends_with("tests") {
                    dirs.push(path);
                }
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push(File {
                    code: code(&text),
                    lines: text.lines().count(),
                    name,
                });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(found.len() > 40, "{} files", found.len());
    found
}

/// Removes comments and test-only code.
fn code(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let next = lines.next().unwrap_or_default();
            if next.ends_with('{') {
                let end = format!("{}}}", &next[..next.len() - next.trim_start().len()]);
                lines.by_ref().find(|line| *line == end);
            }
            continue;
        }
        out.push_str(line.split("//").next().unwrap_or_default());
        out.push('\n');
    }
    out
}

/// Every path that begins with this word, with `use` trees expanded: the segments after the word.
fn paths(code: &str, word: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(&format!("{word}::")) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        unfold(&code[at + word.len() + 2..], &mut Vec::new(), &mut found);
    }
    found
}

/// Parses a path or a tree of paths in braces; returns the remaining text.
fn unfold<'t>(mut text: &'t str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'t str {
    let depth = before.len();
    loop {
        text = text.trim_start();
        if let Some(mut inner) = text.strip_prefix('{') {
            loop {
                inner = unfold(inner, before, found).trim_start();
                match inner.strip_prefix(',') {
                    Some(rest) => inner = rest,
                    None => break,
                }
            }
            before.truncate(depth);
            return inner.strip_prefix('}').unwrap_or(inner);
        }
        let end = text
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len());
        if end > 0 {
            before.push(text[..end].to_string());
        }
        text = &text[end..];
        match text.strip_prefix("::") {
            Some(rest) => text = rest,
            None => break,
        }
    }
    found.push(before.clone());
    before.truncate(depth);
    text.trim_start()
}

/// The roots of crates: the library's and a program's.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// The deepest file of a crate that an absolute path leads to, and the number of segments that name it; the root, if
/// the path names no module.
fn file_of(segments: &[String], names: &BTreeSet<&str>) -> Option<(String, usize)> {
    let root = ROOTS.into_iter().find(|root| names.contains(root));
    let module = (1..=segments.len()).rev().find_map(|length| {
        let stem = segments[..length].join("/");
        [format!("{stem}.rs"), format!("{stem}/mod.rs")]
            .into_iter()
            .find(|name| names.contains(name.as_str()))
            .map(|name| (name, length))
    });
    module.or_else(|| root.map(|root| (root.to_string(), 0)))
}

/// The module path of a file: `store/mod.rs` is `store`, the root of a crate is empty.
fn module(name: &str) -> Vec<String> {
    if ROOTS.contains(&name) {
        return Vec::new();
    }
    let stem = name.strip_suffix(".rs").unwrap();
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    stem.split('/').map(str::to_string).collect()
}

pub fn is_library(name: &str) -> bool {
    !name.starts_with("bin/")
}

/// The directories of the crates below `src`: the library's, then one for each program.
pub fn crates(files: &[File]) -> BTreeSet<&str> {
    let programs = files.iter().filter_map(|file| {
        let length = file.name.strip_prefix("bin/")?.find('/')?;
        Some(&file.name[..length + "bin//".len()])
    });
    programs.chain([""]).collect()
}

/// Resolves a path in a module to an absolute path.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let mut from = module.to_vec();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => return path[1..].to_vec(),
        Some("self") => rest = &path[1..],
        _ => {}
    }
    while let [first, tail @ ..] = rest
        && first == "super"
    {
        from.pop();
        rest = tail;
    }
    [&from, rest].concat()
}

/// The code without re-exports, and the re-exports: their name in the module and their absolute path.
fn handed_on(file: &File) -> (String, BTreeMap<String, Vec<String>>) {
    let (mut rest, mut handed) = (String::new(), BTreeMap::new());
    for statement in file.code.split_inclusive(';') {
        let start = statement.trim_start();
        let public = start.starts_with("pub use ") || start.starts_with("pub(super) use ");
        let Some((_, tree)) = start.split_once(" use ").filter(|_| public) else {
            rest.push_str(statement);
            continue;
        };
        let mut found = Vec::new();
        unfold(tree, &mut Vec::new(), &mut found);
        for path in found {
            let path = absolute(&module(&file.name), &path);
            handed.insert(path.last().unwrap().clone(), path);
        }
    }
    (rest, handed)
}

/// The files of the crate in a directory, named as below this directory.
fn crate_files(files: &[File], dir: &str) -> Vec<File> {
    let inside = files
        .iter()
        .filter(|file| !dir.is_empty() || is_library(&file.name))
        .filter(|file| !file.name.ends_with("tests.rs"));
    let named = inside.filter_map(|file| {
        Some(File {
            name: file.name.strip_prefix(dir)?.to_string(),
            code: file.code.clone(),
            lines: file.lines,
        })
    });
    named.collect()
}

/// Which file of a crate uses which; a re-export is attributed to its original file.
fn graph(files: &[File]) -> BTreeMap<String, BTreeSet<String>> {
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let parts: BTreeMap<&str, _> = files
        .iter()
        .map(|file| (file.name.as_str(), handed_on(file)))
        .collect();
    let borrowed = borrowed_modules(files);
    let resolve = |path: Vec<String>| {
        let mut path = path;
        if path.first().is_some_and(|module| borrowed.contains(module)) {
            return None;
        }
        for _ in 0..5 {
            let (name, depth) = file_of(&path, &names)?;
            let handed = path.get(depth).and_then(|item| parts[name.as_str()].1.get(item));
            match handed.filter(|to| **to != path) {
                Some(to) => path = to.clone(),
                None => return Some(name),
            }
        }
        None
    };
    let mut graph = BTreeMap::new();
    for file in files {
        let code = parts[file.name.as_str()].0.replace("pub(in crate::", "(");
        let own = module(&file.name);
        let mut uses = paths(&code, "crate");
        let above = paths(&code, "super");
        uses.extend(above.iter().map(|path| absolute(&own[..own.len() - 1], path)));
        let children = code.match_indices("mod ").filter_map(|(at, _)| {
            let name = code[at + 4..].split(';').next()?;
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_name.then(|| name.to_string())
        });
        for child in children {
            let inside = paths(&code, &child).into_iter();
            uses.extend(inside.map(|path| [&own[..], std::slice::from_ref(&child), &path].concat()));
        }
        let used = uses
            .into_iter()
            .filter_map(resolve)
            .filter(|used| *used != file.name);
        graph.insert(file.name.clone(), used.collect::<BTreeSet<_>>());
    }
    graph
}

/// The modules that the root of a crate takes from another crate by their path.
fn borrowed_modules(files: &[File]) -> BTreeSet<String> {
    let roots = files.iter().filter(|file| ROOTS.contains(&&*file.name));
    let declared = roots.flat_map(|root| root.code.split("#[path").skip(1));
    let named = declared.filter_map(|rest| rest.split_once("mod ")?.1.split(';').next());
    named.map(str::to_string).collect()
}

fn layer(name: &str) -> &str {
    name.split(['/', '.']).next().unwrap()
}

#[test]
fn layers_use_only_lower_ones() {
    let all = [
        "error", "model", "format", "tokens", "check", "filter", "search", "home", "store",
    ];
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("lib", &all[..]),
        ("error", &[]),
        ("model", &["error"]),
        ("format", &["model", "error"]),
        ("tokens", &["model", "error"]),
        ("check", &["format", "model", "error"]),
        ("filter", &["check", "format", "tokens", "model", "error"]),
        ("search", &["filter", "model", "error"]),
        ("home", &["format", "model", "error"]),
        ("store", &["format", "model", "error"]),
    ]);
    let mut wrong = Vec::new();
    let graph = graph(&crate_files(&files(), ""));
    assert!(
        graph.values().map(BTreeSet::len).sum::<usize>() > 50,
        "the paths are not read"
    );
    for (name, uses) in &graph {
        let Some(may) = allowed.get(layer(name)) else {
            wrong.push(format!("{name} is in no layer"));
            continue;
        };
        for used in uses {
            if layer(used) != layer(name) && !may.contains(&layer(used)) {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// In the library and in each program, no file uses another one that uses it, directly or through others; a `mod.rs` and
/// the root of a crate are files like others. The use of the commands by their table does not count.
#[test]
fn there_is_no_import_cycle_between_files() {
    let files = files();
    let found: Vec<String> = crates(&files)
        .into_iter()
        .flat_map(|dir| cycles(&crate_files(&files, dir), dir))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The files of a crate that use each other, directly or through others.
fn cycles(files: &[File], dir: &str) -> BTreeSet<String> {
    let mut graph = graph(files);
    for (name, used) in &mut graph {
        if format!("{dir}{name}") == COMMAND_TABLE {
            used.retain(|used| !used.starts_with("commands/"));
        }
    }
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from.to_string()];
        while let Some(name) = next.pop() {
            for used in graph.get(&name).into_iter().flatten() {
                if seen.insert(used.clone()) {
                    next.push(used.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<String>> = graph.keys().map(|name| (&**name, reach(name))).collect();
    let circular = graph.keys().filter(|name| reached[&***name].contains(*name));
    let circle = |name: &String| {
        let others = reached[&**name]
            .iter()
            .filter(|other| reached[&***other].contains(name));
        let named: Vec<String> = others.map(|other| format!("{dir}{other}")).collect();
        named.join(" ")
    };
    circular.map(circle).collect()
}

#[test]
fn the_library_and_commands_use_no_other_command() {
    for file in files() {
        if is_library(&file.name) {
            assert!(!file.code.contains("bin::"), "{}", file.name);
            assert!(
                !file.code.contains("clap") && !file.code.contains("anyhow"),
                "{}",
                file.name
            );
            continue;
        }
        let Some(inside) = file.name.strip_prefix("bin/convo/commands/") else {
            continue;
        };
        if inside == "mod.rs" {
            continue;
        }
        let own = module(inside)[0].clone();
        for path in paths(&file.code, "crate") {
            if let [first, command, ..] = &path[..]
                && first == "commands"
                && is_command(command)
            {
                assert_eq!(*command, own, "{} uses the command {command}", file.name);
            }
        }
        let top = inside.matches('/').count() == 0 || inside.ends_with("/mod.rs");
        for path in paths(&file.code, "super") {
            let first = path[0].as_str();
            let known = !top || first == "Run" || source().join("bin/convo/commands").join(&own).is_dir();
            assert!(known, "{} uses super::{first}", file.name);
        }
    }
}

/// Whether a name is a command's rather than shared by all commands.
fn is_command(name: &str) -> bool {
    let dir = source().join("bin/convo/commands");
    dir.join(name).is_dir() || dir.join(format!("{name}.rs")).is_file()
}

fn with_any<'f>(files: &'f [File], words: &[&str]) -> Vec<&'f str> {
    let found = files
        .iter()
        .filter(|file| words.iter().any(|word| file.code.contains(word)));
    found.map(|file| file.name.as_str()).collect()
}

#[test]
fn only_one_file_of_a_program_prints() {
    let files = files();
    let printing = [
        "print!(", "println!(", "eprint!(", "eprintln!(", "dbg!(", "stderr()",
    ];
    assert_eq!(with_any(&files, &printing), PRINTING);
    // Other files may query whether the output is a terminal and how wide it is.
    for file in files.iter().filter(|file| !PRINTING.contains(&&*file.name)) {
        for (at, word) in file.code.match_indices("stdout()") {
            let rest = &file.code[at + word.len()..];
            let asks = rest.starts_with(".is_terminal()")
                || file.code[..at].ends_with("tcgetwinsize(rustix::stdio::");
            assert!(asks, "{} writes to standard output", file.name);
        }
    }
}

#[test]
fn heavy_dependencies_are_in_plugins_only() {
    let files = files();
    for (name, dir) in PLUGINS {
        let found = with_any(&files, &[&format!("{name}::")]);
        assert!(!found.is_empty(), "nobody uses {name}");
        let others: Vec<&&str> = found.iter().filter(|file| !file.starts_with(dir)).collect();
        assert!(others.is_empty(), "{others:?} use {name}");
    }
}

#[test]
fn only_one_file_locks_renames_and_syncs() {
    let calls = [
        ".lock()", ".try_lock()", "fs::rename(", "renameat", "sync_all(", "sync_data(", "fdatasync(",
        "fsync(", "syncfs(",
    ];
    let files = files();
    let found: Vec<&str> = with_any(&files, &calls)
        .into_iter()
        .filter(|name| {
            // Locking standard input or the results of threads is unrelated to file locks.
            let file = files.iter().find(|file| file.name == *name).unwrap();
            let unrelated = ["stdin().lock()", "results[nth].lock()"];
            let rest = unrelated
                .iter()
                .fold(file.code.clone(), |rest, call| rest.replace(call, ""));
            calls.iter().any(|call| rest.contains(call))
        })
        .collect();
    let mut expected = [&["store/atomic.rs"][..], &SYNCING].concat();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn no_file_is_too_long() {
    let long: Vec<String> = files()
        .into_iter()
        .filter(|file| file.lines > LONGEST)
        .map(|file| file.name)
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn every_command_has_a_test_file_of_its_name() {
    for file in files() {
        let Some(inside) = file.name.strip_prefix("bin/convo/commands/") else {
            continue;
        };
        let command = module(inside)[0].clone();
        if command != "mod" && command != "generate" {
            let test = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/{command}.rs"));
            assert!(test.is_file(), "there is no {}", test.display());
        }
    }
}

#[test]
fn unsafe_is_in_two_files_only() {
    let is_unsafe = |file: &&File| {
        let words = [
            "unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code", "expect(\n    unsafe_code",
        ];
        words.iter().any(|word| file.code.contains(word))
    };
    let files = files();
    let found: Vec<&str> = files
        .iter()
        .filter(is_unsafe)
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(found, UNSAFE);
}
