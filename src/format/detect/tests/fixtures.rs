//! Detects every sample file, if available: `CONVO_FIXTURES` names the directory; the default is `../shared/fixtures`,
//! next to this crate.

use super::super::{Detection, HEAD, Hints, detect};
use crate::format::Format;
use crate::format::tests::truth::ALIKE;
use crate::model::json::{self, Dialect};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

fn verdict(path: &Path) -> Detection {
    let mut head = Vec::new();
    File::open(path)
        .unwrap()
        .take(HEAD as u64)
        .read_to_end(&mut head)
        .unwrap();
    let name = path.file_name().and_then(|name| name.to_str());
    let sidecar = name
        .and_then(|name| name.strip_suffix(".jsonl"))
        .is_some_and(|stem| path.with_file_name(format!("{stem}.meta.json")).exists());
    detect(&head, head.len() < HEAD, Hints { name, sidecar })
}

/// Expected names in the evidence by directory; the first match counts.
const NAMES: [(&str, &str); 15] = [
    ("wild/aichat/", "aichat"),
    ("wild/aider/", "aider"),
    ("wild/chatgpt-export/", "ChatGPT"),
    ("wild/claude-ai-export/", "Claude.ai"),
    ("wild/claude-code/", "Claude Code"),
    ("wild/cline-roo/", "Cline or Roo"),
    ("wild/continue/", "Continue"),
    ("wild/gemini-cli/", "Gemini CLI"),
    ("wild/goose/", "goose"),
    ("wild/langchain/", "LangChain"),
    ("wild/llm/", "SQLite"),
    ("wild/openai-agents/", "OpenAI Agents"),
    ("wild/opencode/", "opencode"),
    ("wild/sharegpt/", "ShareGPT"),
    ("wild/vercel-ui/", "Vercel"),
];

/// A file in the directory of one format that has the encoding of another, and is detected as such.
const SIMILAR: &str = "wild/grok/legacy-v0/chat_history.jsonl";

/// The programs of the sessions in home directories.
const HOMES: [(&str, &str); 15] = [
    (".aider", "aider"),
    (".claude/projects/", "claude-code"),
    (".codex/", "codex"),
    (".config/aichat/", "aichat"),
    (".config/Code/", "cline-roo"),
    (".config/io.datasette.llm/", "llm"),
    (".continue/", "continue"),
    (".copilot/", "copilot-cli"),
    (".factory/", "droid"),
    (".gemini/", "gemini-cli"),
    (".grok/", "grok"),
    (".local/share/goose/", "goose"),
    (".local/share/opencode/", "opencode"),
    (".pi/", "pi"),
    (".qwen/", "qwen-code"),
];

/// Sample files without any sign of their program: a number, and parts without the ids of their kind.
const NAMELESS: [&str; 3] = [
    "wild/opencode/storage_v2/migration",
    "wild/opencode/storage_v2/part/m_assistant_small/002.json",
    "wild/opencode/storage_v2/part/m_user_small/001.json",
];

/// Files next to sessions that are not sessions.
const EXTRA_FILES: [&str; 7] = [
    "/state.json", "/summary.json", "_rruoq.json", "logs.json", "sessions.json", "settings.json",
    "ui_messages.json",
];

/// Describes a wrong detection of the file at this path.
fn fault(path: &str, verdict: &Detection) -> Option<String> {
    let about = ["truth.json", "SOURCES.md", "README.md", "LICENSES.md"];
    let format = verdict.format;
    let is = format.map_or("unknown", Format::name);
    let read = path
        .strip_prefix("wild/")
        .and_then(|path| path.split_once('/'))
        .filter(|(_, name)| !about.contains(name) && !EXTRA_FILES.iter().any(|extra| name.ends_with(extra)))
        .filter(|_| path != SIMILAR)
        // Directories of records, and databases, are not read directly.
        .filter(|(_, name)| {
            !name.starts_with("storage") && !name.ends_with(".db") && !name.ends_with(".vscdb")
        })
        .and_then(|(dir, name)| Some((Format::from_name(dir)?, name)));
    let expected = if path == ALIKE.0 {
        (is != ALIKE.1).then(|| ALIKE.1.to_string())
    } else if let Some((read, name)) = read {
        let lines = name == "syn-messages.jsonl";
        let expected = if lines { Format::Jsonl } else { read };
        (format != Some(expected)).then(|| expected.name().to_string())
    } else if path.starts_with("goaitools/states/") {
        (format != Some(Format::Goaitools)).then(|| "goaitools".to_string())
    } else if path.starts_with("penguiflow/states/") {
        (format != Some(Format::Penguiflow)).then(|| Format::Penguiflow.name().to_string())
    } else if path.starts_with("picoclaw/") || path.starts_with("penguin/") {
        // Their own tests cover detection; here, none may be detected as unsupported.
        let foreign = verdict.evidence.contains("unsupported format");
        foreign.then(|| "no other system's".to_string())
    } else if let Some(home) = path.strip_prefix("homes/home/") {
        let expected = HOMES.iter().find(|(dir, _)| home.starts_with(dir));
        let name = verdict.name.unwrap_or("unknown");
        // Files next to sessions are rejected, or detected as what they are.
        let read = verdict.format.is_some();
        let expected = expected.map_or("unknown", |(_, name)| name);
        (read && name != expected).then(|| expected.to_string())
    } else if ["foreign/", "compaction/", "validate/", "redact/", "usage/"]
        .iter()
        .any(|dir| path.starts_with(dir))
    {
        // Covered by their own tests.
        None
    } else if path == SIMILAR {
        format.is_none().then(|| "another format's".to_string())
    } else if format.is_some() {
        Some("unknown".to_string())
    } else {
        let name = NAMES.iter().find(|(dir, _)| path.starts_with(dir));
        let about = about.iter().any(|name| path.ends_with(name)) || NAMELESS.contains(&path);
        name.filter(|(_, name)| !about && !verdict.evidence.contains(name))
            .map(|(_, name)| (*name).to_string())
    };
    expected.map(|expected| format!("{path}: {is} ({}), expected: {expected}", verdict.evidence))
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_fixture_is_detected() {
    let root = crate::sample_data::path("");
    let mut found = Vec::new();
    files(&root, &mut found);
    let faults: Vec<String> = found
        .iter()
        .filter_map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy();
            fault(&name, &verdict(path))
        })
        .collect();
    eprintln!("detection looked at {} files", found.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The format and file names in `truth.json` of a directory; a name that ends with `/` is a directory.
fn truth(dir: &Path) -> Option<(String, Vec<String>)> {
    let text = fs::read(dir.join("truth.json")).ok()?;
    let format = json::text(json::member(&text, "format")?)?.into_owned();
    let files = json::members(json::member(&text, "files")?, Dialect::Strict)?;
    Some((
        format,
        files.into_iter().map(|(name, _)| name.into_owned()).collect(),
    ))
}

/// Every file with an expectation is detected correctly or reported as ambiguous.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn detection_agrees_with_the_truth() {
    let dirs = fs::read_dir(crate::sample_data::path("wild")).unwrap();
    let (mut right, mut ambiguous, mut extra, mut wrong) = (0, 0, 0, Vec::new());
    for dir in dirs.map(|entry| entry.unwrap().path()) {
        let Some((format, names)) = truth(&dir) else {
            continue;
        };
        for name in names.iter().filter(|name| !name.ends_with('/')) {
            let found = verdict(&dir.join(name));
            // One message per line fits both formats.
            let lines = format == "openai-chat" && found.name == Some("jsonl");
            let path = format!("wild/{format}/{name}");
            let plain = path == ALIKE.0 || path == SIMILAR;
            match found.name {
                Some(name) if name == format && found.others.is_empty() || lines => right += 1,
                Some(_) if plain => right += 1,
                Some(name) if name == format || found.others.contains(&&*format) => ambiguous += 1,
                None if found.evidence.ends_with(", not a session") => extra += 1,
                _ => wrong.push(format!("{}/{name}: {found:?}", dir.display())),
            }
        }
    }
    eprintln!(
        "detection: {right} right, {ambiguous} ambiguous, {extra} no sessions, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
