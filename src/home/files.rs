//! Finds the session files in a home.

use super::home_program::{FileKind, HomeProgram, ProgramId};
use super::listing::{is_absent, is_match, matching};
use super::places::Home;
use crate::error::reason;
use crate::format::Format;
use crate::model::json;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The path of the file.
    pub path: PathBuf,
    /// Its kind.
    pub kind: FileKind,
    /// The id of its session; `None` if it is only in a record, or if the file has many sessions.
    pub id: Option<String>,
    /// The session that started a subagent.
    pub parent: Option<String>,
    /// Size of the file.
    pub bytes: u64,
    /// When it was last changed.
    pub modified: SystemTime,
    /// Whether the session is in a database, which is the file.
    pub is_in_database: bool,
}

/// The reason why pipes and devices are not read.
pub(super) const IRREGULAR: &str = "not a regular file";

/// The contents of a home.
#[derive(Debug, Default)]
pub struct HomeFiles {
    /// Files of sessions, sorted by path.
    pub transcripts: Vec<Transcript>,
    /// Paths that cannot be read, and the reasons.
    pub problems: Vec<(PathBuf, String)>,
}

impl Home {
    /// Returns the session files.
    pub fn files(&self) -> HomeFiles {
        let mut problems = Vec::new();
        let mut found = BTreeMap::new();
        for (kind, pattern) in self.program.layout {
            let paths = match &self.database {
                Some(database) if *kind == FileKind::Database => vec![database.clone()],
                _ => matching(&self.root, pattern, &mut problems),
            };
            for path in paths {
                // The first matching pattern determines the kind.
                found.entry(path).or_insert(*kind);
            }
        }
        let mut transcripts = Vec::new();
        for (path, kind) in found {
            match std::fs::metadata(&path) {
                Ok(about) if about.is_file() => transcripts.push(Transcript {
                    id: self.program.id(&path, kind),
                    parent: parent(&path, kind),
                    kind,
                    bytes: about.len(),
                    modified: about.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    is_in_database: false,
                    path,
                }),
                Ok(about) if about.is_dir() => {}
                Ok(_) => problems.push((path, IRREGULAR.to_string())),
                // Removed since its directory was read, or its parent is not a directory.
                Err(error) if is_absent(&error) && !path.is_symlink() => {}
                Err(error) => problems.push((path, reason(&error))),
            }
        }
        problems.sort();
        // Errors below an unreadable path are redundant.
        problems.dedup_by(|(path, _), (above, _)| path.starts_with(above));
        HomeFiles {
            transcripts,
            problems,
        }
    }
}

impl HomeProgram {
    /// Returns the id and the parent of a subagent by the path of its file, relative to the base of a home.
    pub fn subagent(&self, path: &Path) -> Option<(String, String)> {
        let mut below = path.components();
        if self.is_wide {
            below.next(); // the root is in the base
        }
        // The first matching pattern determines the kind.
        let mut layout = self.layout.iter();
        let (kind, _) = layout.find(|(_, pattern)| is_match(below.as_path(), pattern))?;
        Some((self.id(path, *kind)?, parent(path, *kind)?))
    }

    fn id(&self, path: &Path, kind: FileKind) -> Option<String> {
        let stem = stem(path);
        match (self.id, kind) {
            (_, FileKind::Database) | (ProgramId::Time, _) => None,
            (ProgramId::Ancestor(nth), kind) => {
                let nth = if kind == FileKind::Subagent { 1 } else { nth };
                let dir = path.ancestors().nth(nth)?.file_name()?;
                Some(dir.to_string_lossy().into_owned())
            }
            (ProgramId::Stem, _) | (_, FileKind::Subagent) => Some(stem),
            (ProgramId::AfterUnderscore, _) => Some(stem.rsplit('_').next().unwrap_or_default().to_string()),
            (ProgramId::Uuid, _) => Some(
                stem.get(stem.len().saturating_sub(36)..)
                    .unwrap_or(&stem)
                    .to_string(),
            ),
            (ProgramId::Directory, _) => {
                let dir = path.parent()?.file_name()?;
                Some(dir.to_string_lossy().into_owned())
            }
            (ProgramId::Record, _) => record_id(path),
        }
    }

    /// Returns the format of one of its session files; `None` if it cannot be read.
    pub fn format_of(&self, path: &Path) -> Option<Format> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let other = self.others.iter().find(|(ending, _)| name.ends_with(ending));
        let older = || {
            let (member, format) = self.older?;
            first_record_has(path, member).then_some(format)
        };
        other.map(|(_, format)| *format).or_else(older).or(self.format)
    }
}

/// Returns the name of a file without `.zst` and its extension.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    name.to_string()
}

/// Returns the session of a subagent, whose directory is named after it.
fn parent(path: &Path, kind: FileKind) -> Option<String> {
    if kind != FileKind::Subagent {
        return None;
    }
    let dir = path.parent()?;
    let dir = match dir.file_name()? {
        name if name == "subagents" => dir.parent()?,
        _ => dir,
    };
    let name = dir.file_name()?.to_string_lossy().into_owned();
    // Older subagents are next to their sessions, in the directory of the project.
    (!stem(path).starts_with("agent-") || path.parent()? != dir).then_some(name)
}

/// Number of bytes of a file that are searched for its id or its version.
const HEAD: u64 = 16 * 1024;

fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Whether the first record of a file has a member, before anything longer than the searched bytes.
fn first_record_has(path: &Path, member: &str) -> bool {
    let head = head(path).unwrap_or_default();
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty());
    first.is_some_and(|line| json::member(line, member).is_some())
}

/// Returns the id in the first object of a file.
fn record_id(path: &Path) -> Option<String> {
    let head = head(path)?;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = |object: &[u8]| {
        let found = ["sessionId", "id"]
            .into_iter()
            .find_map(|name| json::member(object, name));
        Some(json::text(found?)?.into_owned())
    };
    text(line).or_else(|| text(&head))
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn ids_are_in_paths() {
        let id = |name: &str, path: &str| {
            let program = program(name).unwrap();
            program.id(Path::new(path), FileKind::Session)
        };
        let uuid = "019e8304-dff2-79e4-8df0-a7a2fd64797d";
        let rollout = format!("/h/rollout-2026-06-01T11-49-57-{uuid}.jsonl.zst");
        assert_eq!(id("codex", &rollout).as_deref(), Some(uuid));
        assert_eq!(id("pi", "/h/x/2026-06-10T15_62fe.jsonl").as_deref(), Some("62fe"));
        assert_eq!(
            id("cline", "/h/tasks/17/api_conversation_history.json").as_deref(),
            Some("17")
        );
        assert_eq!(id("aichat", "/h/my talk.yaml").as_deref(), Some("my talk"));
        assert_eq!(id("aider", "/h/.aider.chat.history.md"), None);
    }

    #[test]
    fn subagents_are_recognized_by_their_path() {
        let subagent = |name: &str, path: &str| {
            let found = program(name).unwrap().subagent(Path::new(path));
            found.map(|(id, parent)| format!("{parent} {id}"))
        };
        for (name, path, expected) in [
            ("claude", "projects/-a/s1.jsonl", None),
            ("claude", "projects/-a/agent-7.jsonl", None),
            (
                "claude",
                "projects/-a/s1/subagents/agent-9.jsonl",
                Some("s1 agent-9"),
            ),
            ("gemini", "tmp/a/chats/s1/x.jsonl", Some("s1 x")),
            ("gemini", "tmp/a/chats/session-1.jsonl", None),
            ("cline", "s1/s1__2.messages.json", Some("s1 s1__2.messages")),
            ("codex", "sessions/2026/11/20/rollout-x.jsonl", None),
        ] {
            assert_eq!(subagent(name, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn files_are_listed_once_and_unreadable_ones_reported() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("projects");
        let project = root.join(OsStr::from_bytes(b"-src-a b#\xff"));
        std::fs::create_dir_all(project.join("s1/subagents")).unwrap();
        for name in [
            "s1.jsonl", "agent-7.jsonl", "s1/subagents/agent-9.jsonl", "notes.txt", ".x.jsonl",
        ] {
            std::fs::write(project.join(name), "{}\n").unwrap();
        }
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        std::os::unix::fs::symlink("nowhere", project.join("s2.jsonl")).unwrap();
        let home = Home {
            program: program("claude").unwrap(),
            root,
            database: None,
            problem: None,
        };
        let files = home.files();
        let found: Vec<_> = files
            .transcripts
            .iter()
            .map(|file| (file.kind, file.id.as_deref().unwrap(), file.parent.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                (FileKind::Subagent, "agent-7", None),
                (FileKind::Subagent, "agent-9", Some("s1")),
                (FileKind::Session, "s1", None),
            ]
        );
        let problems: Vec<&str> = files.problems.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}
