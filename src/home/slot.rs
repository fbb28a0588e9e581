//! The path of a new session of a program, the change of its index, and the command that resumes the session.

use super::home_program::HomeProgram;
use super::listing::is_absent;
use super::places::Environment;
use crate::error::{Error, ErrorKind, Result};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// How a program accepts a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptMode {
    /// As a file at this path.
    File(SessionSlot),
    /// With its own import command, whose argument is a file.
    Import(&'static [&'static str]),
    /// Not supported, and the reason.
    Nothing(&'static str),
}

/// The location of a new session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSlot {
    /// The file.
    pub path: PathBuf,
    /// Files next to it that the program needs; written if they are missing.
    pub extra_files: Vec<(PathBuf, Vec<u8>)>,
    /// The change of the index that lists it.
    pub index: Option<IndexChange>,
}

/// A change of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexChange {
    /// The file.
    pub path: PathBuf,
    /// Current content; `None` if the file is missing.
    pub old: Option<Vec<u8>>,
    /// New content.
    pub new: Vec<u8>,
    /// The lock directory of the program.
    pub lock: Option<PathBuf>,
}

/// Metadata of a new session.
#[derive(Clone, Copy, Debug)]
pub struct NewSessionInfo<'n> {
    /// Its id.
    pub id: &'n str,
    /// Its project.
    pub project: &'n str,
    /// Its title.
    pub title: &'n str,
    /// The current time in UTC as RFC 3339, and in the local time zone.
    pub now: (&'n str, &'n str),
}

impl Environment<'_> {
    /// Returns the existing or default home of a program.
    pub fn root(&self, program: &HomeProgram) -> Option<PathBuf> {
        let roots = self.roots(program);
        let there = roots.iter().find(|root| root.exists());
        there.or(roots.first()).cloned()
    }

    /// Returns how a program accepts a new session.
    ///
    /// # Errors
    /// [`ErrorKind::Unsafe`] if a name in a setting or an index of the program leads out of its home;
    /// [`ErrorKind::InputOutput`] or [`ErrorKind::Data`] if an index cannot be read.
    pub fn accept_mode(&self, program: &HomeProgram, new: NewSessionInfo<'_>) -> Result<AcceptMode> {
        let mode = self.mode(program, new)?;
        if let (AcceptMode::File(slot), Some(root)) = (&mode, self.root(program)) {
            let below = slot.path.strip_prefix(&root);
            let is_plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
            if !below.is_ok_and(is_plain) {
                let path = slot.path.display();
                return Err(Error::new(
                    ErrorKind::Unsafe,
                    format!("{path}: outside of the home of {}", program.name),
                ));
            }
        }
        Ok(mode)
    }

    fn mode(&self, program: &HomeProgram, new: NewSessionInfo<'_>) -> Result<AcceptMode> {
        match program.name {
            "opencode" => return Ok(AcceptMode::Import(&["opencode", "import"])),
            "goose" => return Ok(AcceptMode::Import(&["goose", "session", "import"])),
            "aider" => return Ok(AcceptMode::Nothing("it reads all sessions of its history file")),
            "claude-code" | "codex" | "gemini-cli" | "pi" | "qwen-code" | "aichat" | "continue" => {}
            _ => return Ok(AcceptMode::Nothing("its index is written by the program alone")),
        }
        let Some(root) = self.root(program) else {
            return Ok(AcceptMode::Nothing("no home directory"));
        };
        let plain = |path: PathBuf| SessionSlot {
            path,
            extra_files: Vec::new(),
            index: None,
        };
        let (utc, local) = new.now;
        let id = new.id;
        Ok(AcceptMode::File(match program.name {
            "claude-code" => {
                let named = (self.variable)("CLAUDE_CODE_PROJECT_DIR_NAME");
                let dir = match named.and_then(|name| name.into_string().ok()) {
                    Some(name) if !name.is_empty() && !name.contains('/') => name,
                    _ => claude_slug(new.project),
                };
                if dir.len() > LONGEST {
                    return Ok(AcceptMode::Nothing(
                        "the name of the directory of such a long project is not known",
                    ));
                }
                plain(root.join(dir).join(format!("{id}.jsonl")))
            }
            "codex" => {
                let day = local.get(..10).unwrap_or_default().replace('-', "/");
                let name = format!("rollout-{}-{id}.jsonl", stamp(local));
                plain(root.join("sessions").join(day).join(name))
            }
            "gemini-cli" => gemini(&root, new)?,
            "pi" => {
                let name = format!("{}_{id}.jsonl", stamp(utc) + "-000Z");
                plain(root.join(pi_slug(new.project)).join(name))
            }
            "qwen-code" => {
                let dir = claude_slug(new.project);
                plain(root.join(dir).join("chats").join(format!("{id}.jsonl")))
            }
            "aichat" => plain(root.join(format!("{id}.yaml"))),
            _ => continue_ide(&root, new)?,
        }))
    }
}

/// Claude Code shortens longer names.
const LONGEST: usize = 200;

/// Formats an RFC 3339 time as `2026-06-01T11-49-57`.
fn stamp(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace(':', "-")
}

/// Returns the directory name of a project in Claude Code.
pub fn claude_slug(project: &str) -> String {
    let dashes = |c: char| "-".repeat(c.len_utf16());
    let one = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_string(),
        false => dashes(c),
    };
    project.chars().map(one).collect()
}

/// Returns the directory name of a project in pi.
pub fn pi_slug(project: &str) -> String {
    let below = project.strip_prefix(['/', '\\']).unwrap_or(project);
    format!("--{}--", below.replace(['/', '\\', ':'], "-"))
}

/// The content of an index; `None` if it does not exist. Any other error must not make it a new one.
fn index(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(error) if is_absent(&error) => Ok(None),
        read => read
            .map(Some)
            .map_err(|error| Error::io(path.display(), error).kind(ErrorKind::InputOutput)),
    }
}

/// The error of an index whose content must not be replaced.
fn unknown_index(path: &Path, what: &str) -> Error {
    let error = Error::data(format!("{}: {what}", path.display()));
    error.hint("nothing was changed")
}

fn gemini(root: &Path, new: NewSessionInfo<'_>) -> Result<SessionSlot> {
    let registry = root.parent().unwrap_or(root).join("projects.json");
    let old = index(&registry)?;
    let is_registry = |value: &Value| {
        let projects = value.get("projects");
        value.is_object() && projects.is_none_or(Value::is_object)
    };
    let mut value = match old.as_deref().map(<[u8]>::trim_ascii) {
        None | Some(b"") => json!({"projects": {}}),
        Some(text) => {
            let read = serde_json::from_slice(text).ok().filter(is_registry);
            read.ok_or_else(|| unknown_index(&registry, "not a list of projects"))?
        }
    };
    let known = value["projects"][new.project].as_str().map(str::to_string);
    let slug = known.clone().unwrap_or_else(|| {
        let last = new.project.rsplit('/').next().unwrap_or_default();
        let safe = |c: char| match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => c,
            _ => '-',
        };
        let name: String = last.chars().map(safe).collect();
        let name = match name.trim_matches('-') {
            "" => "project".to_string(),
            name => name.to_string(),
        };
        let is_free = |name: &String| {
            let owner = std::fs::read_to_string(root.join(name).join(".project_root"));
            match owner {
                Ok(owner) => owner.trim_end() == new.project,
                Err(_) => !root.join(name).exists(),
            }
        };
        let numbered = (1..).map(|nth| format!("{name}-{nth}"));
        std::iter::once(name.clone())
            .chain(numbered)
            .find(is_free)
            .unwrap_or(name)
    });
    let dir = root.join(&slug);
    let index = known.is_none().then(|| {
        value["projects"][new.project] = Value::String(slug);
        let mut text = serde_json::to_vec_pretty(&value).unwrap_or_default();
        text.push(b'\n');
        IndexChange {
            lock: Some(registry.with_extension("json.lock")),
            path: registry,
            old,
            new: text,
        }
    });
    let (utc, _) = new.now;
    let minute = stamp(utc).get(..16).unwrap_or_default().to_string();
    let first = new.id.get(..8).unwrap_or(new.id);
    Ok(SessionSlot {
        path: dir.join(format!("chats/session-{minute}-{first}.jsonl")),
        extra_files: vec![(dir.join(".project_root"), new.project.as_bytes().to_vec())],
        index,
    })
}

fn continue_ide(root: &Path, new: NewSessionInfo<'_>) -> Result<SessionSlot> {
    let path = root.join("sessions.json");
    let old = index(&path)?;
    let milliseconds = crate::model::time::milliseconds(new.now.0).unwrap_or_default();
    let entry = json!({
        "sessionId": new.id, "title": new.title, "dateCreated": milliseconds.to_string(),
        "workspaceDirectory": new.project,
    });
    let before = match old.as_deref().map(<[u8]>::trim_ascii_end) {
        None | Some(b"") => b"[]",
        Some(before) => before,
    };
    let list = serde_json::from_slice::<Vec<Value>>(before);
    let list = list.map_err(|_| unknown_index(&path, "not a list of sessions"))?;
    let is_new = !list.iter().any(|known| known["sessionId"] == new.id);
    let index = is_new.then(|| {
        // Other entries are not changed.
        let head = before[..before.len() - 1].trim_ascii_end();
        let comma = if list.is_empty() { "" } else { "," };
        let text = [head, format!("{comma}\n  {entry}\n]\n").as_bytes()].concat();
        IndexChange {
            path,
            old: old.clone(),
            new: text,
            lock: None,
        }
    });
    Ok(SessionSlot {
        path: root.join(format!("{}.json", new.id)),
        extra_files: Vec::new(),
        index,
    })
}

impl HomeProgram {
    /// Returns the shell command that resumes a session; `None` if it needs a project and there is none, or if the id
    /// contains characters that are special to a shell.
    pub fn resume_line(&self, id: &str, project: Option<&str>) -> Option<String> {
        if self.resume.is_empty() || !is_plain_id(id) {
            return None;
        }
        let line = self.resume.replace("{id}", id);
        match line.contains("{dir}") {
            false => Some(line),
            true => Some(line.replace("{dir}", &quoted(project?))),
        }
    }
}

/// Whether an id is neither special to a shell nor to a path.
pub fn is_plain_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    (1..=LONGEST_ID).contains(&id.len()) && !id.starts_with(['-', '.']) && id.chars().all(is_plain)
}

/// Longer ids could exceed the length of a file name.
const LONGEST_ID: usize = 128;

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:".contains(c);
    match path.chars().all(is_plain) && !path.is_empty() {
        true => path.to_string(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;

    fn slot(home: &Path, name: &str, project: &str) -> SessionSlot {
        let environment = Environment {
            variable: &|name| (name == "HOME").then(|| home.into()),
            directory: None,
        };
        let new = NewSessionInfo {
            id: "5d1f0a4e-0000-4000-8000-000000000001",
            project,
            title: "Trip",
            now: ("2026-11-20T18:02:03Z", "2026-11-20T19:02:03+01:00"),
        };
        match environment.accept_mode(program(name).unwrap(), new).unwrap() {
            AcceptMode::File(slot) => slot,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_program_has_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| {
            let slot = slot(dir.path(), name, "/src/a b#ü");
            slot.path.strip_prefix(dir.path()).unwrap().display().to_string()
        };
        let id = "5d1f0a4e-0000-4000-8000-000000000001";
        for (name, expected) in [
            ("claude", format!(".claude/projects/-src-a-b--/{id}.jsonl")),
            (
                "codex",
                format!(".codex/sessions/2026/11/20/rollout-2026-11-20T19-02-03-{id}.jsonl"),
            ),
            (
                "gemini",
                ".gemini/tmp/a-b/chats/session-2026-11-20T18-02-5d1f0a4e.jsonl".to_string(),
            ),
            (
                "pi",
                format!(".pi/agent/sessions/--src-a b#ü--/2026-11-20T18-02-03-000Z_{id}.jsonl"),
            ),
            ("qwen", format!(".qwen/projects/-src-a-b--/chats/{id}.jsonl")),
            ("continue", format!(".continue/sessions/{id}.json")),
        ] {
            assert_eq!(path(name), expected);
        }
    }

    #[test]
    fn indexes_keep_their_entries() {
        let dir = tempfile::tempdir().unwrap();
        let gemini = dir.path().join(".gemini");
        std::fs::create_dir_all(gemini.join("tmp/api")).unwrap();
        std::fs::write(gemini.join("projects.json"), r#"{"projects":{"/src/api":"api"}}"#).unwrap();
        let known = slot(dir.path(), "gemini", "/src/api");
        assert!(known.index.is_none() && known.path.starts_with(gemini.join("tmp/api")));
        let other = slot(dir.path(), "gemini", "/other/api");
        assert!(
            other.path.starts_with(gemini.join("tmp/api-1")),
            "{:?}",
            other.path
        );
        let value: Value = serde_json::from_slice(&other.index.unwrap().new).unwrap();
        assert_eq!(
            value["projects"],
            json!({"/src/api": "api", "/other/api": "api-1"})
        );
        let list = dir.path().join(".continue/sessions/sessions.json");
        std::fs::create_dir_all(list.parent().unwrap()).unwrap();
        std::fs::write(&list, "[\n  {\"b\":1, \"a\":2}\n]").unwrap();
        let index = slot(dir.path(), "continue", "/src/api").index.unwrap();
        let text = String::from_utf8(index.new.clone()).unwrap();
        assert!(text.starts_with("[\n  {\"b\":1, \"a\":2},\n"), "{text}");
        let value: Value = serde_json::from_slice(&index.new).unwrap();
        assert_eq!(value[1]["title"], "Trip");
    }

    #[test]
    fn a_resume_line_is_safe_for_a_shell() {
        let line =
            |name: &str, id: &str, project: Option<&str>| program(name).unwrap().resume_line(id, project);
        assert_eq!(
            line("claude", "5d1f", Some("/src/it's")).unwrap(),
            r"cd '/src/it'\''s' && claude --resume 5d1f"
        );
        assert_eq!(line("codex", "5d1f", None).unwrap(), "codex resume 5d1f");
        assert_eq!(line("claude", "5d1f", None), None);
        for id in ["", "-x", "a b", "$(x)"] {
            assert_eq!(line("codex", id, None), None, "{id}");
        }
    }
}
