//! The members of files that refer to a project.

use super::dirs::{ProjectDirs, Slug};
use super::file_rule::{FileEncoding, FileRule};
use crate::home::home_program::HomeProgram;
use crate::home::slot::{claude_slug, pi_slug};
use std::path::Path;

/// The references to projects in the home of a program.
pub struct HomeRules {
    pub files: &'static [FileRule],
    pub dirs: ProjectDirs,
    /// Databases that refer to projects.
    pub databases: &'static [&'static str],
    /// The reason if the files of the program are not changed; otherwise empty.
    pub left: &'static str,
}

const fn lines(
    files: &'static str,
    types: &'static [&'static str],
    members: &'static [&'static str],
) -> FileRule {
    FileRule {
        files,
        shape: FileEncoding::Lines,
        types,
        members,
    }
}

const fn document(files: &'static str, members: &'static [&'static str]) -> FileRule {
    FileRule {
        shape: FileEncoding::Document,
        ..lines(files, &[], members)
    }
}

const fn text(files: &'static str) -> FileRule {
    FileRule {
        shape: FileEncoding::Text,
        ..lines(files, &[], &["path"])
    }
}

const NONE: HomeRules = HomeRules {
    files: &[],
    dirs: ProjectDirs::None,
    databases: &[],
    left: "",
};

const fn slug(parent: &'static str, below: &'static str, name: fn(&str) -> String) -> ProjectDirs {
    ProjectDirs::Slug(Slug { parent, below, name })
}

/// Rules with these members; the others are those of `NONE`.
macro_rules! rules {
    ($($member:ident: $value:expr,)*) => { const { HomeRules { $($member: $value,)* ..NONE } } };
}

const CLAUDE: &[&str] = &["cwd", "toolUseResult.persistedOutputPath"];
const CODEX: &[&str] = &["session_meta", "turn_context"];

impl HomeProgram {
    /// Returns the project of a session file with this working directory, in which its program finds the session.
    pub fn project_of<'d>(&self, path: &Path, directory: &'d str) -> &'d str {
        let project = match of(self.name).dirs {
            ProjectDirs::Slug(slug) => slug.dir_of(path).and_then(|dir| slug.project(dir, directory)),
            _ => None,
        };
        project.unwrap_or(directory)
    }
}

pub fn of(program: &str) -> HomeRules {
    match program {
        "claude-code" => rules! {
            files: &[
                lines("projects/*/*.jsonl", &[], CLAUDE),
                lines("projects/*/*/subagents/*.jsonl", &[], CLAUDE),
                document(
                    "projects/*/sessions-index.json",
                    &["originalPath", "entries.*.projectPath", "entries.*.fullPath"],
                ),
                lines("history.jsonl", &[], &["project"]),
                document(".claude.json", &["projects.{}"]),
                document("../.claude.json", &["projects.{}"]),
            ],
            dirs: slug("projects", "", claude_slug),
        },
        "codex" => rules! {
            files: &[
                lines("sessions/*/*/*/rollout-*.jsonl", CODEX, &["payload.cwd"]),
                lines("sessions/*/*/*/rollout-*.jsonl.zst", CODEX, &["payload.cwd"]),
                lines("archived_sessions/rollout-*.jsonl", CODEX, &["payload.cwd"]),
                lines("archived_sessions/rollout-*.jsonl.zst", CODEX, &["payload.cwd"]),
            ],
            databases: &["state_*.sqlite"],
        },
        "gemini-cli" => rules! {
            files: &[
                document("projects.json", &["projects.{}"]),
                text("tmp/*/.project_root"),
                text("history/*/.project_root"),
                lines("tmp/*/chats/*.jsonl", &[], &["projectHash"]),
                lines("tmp/*/chats/*/*.jsonl", &[], &["projectHash"]),
                document("tmp/*/chats/*.json", &["projectHash"]),
            ],
            dirs: ProjectDirs::Hash(&["tmp", "history"]),
        },
        "opencode" => rules! {
            files: &[
                document("storage/session/*/*.json", &["directory"]),
                document("storage/project/*.json", &["worktree"]),
            ],
            databases: &["opencode*.db"],
        },
        "goose" => rules! {
            files: &[lines("*.jsonl", &[], &["working_dir"])],
            databases: &["sessions.db"],
        },
        "pi" => rules! {
            files: &[
                lines("*/*_*.jsonl", &["session"], &["cwd"]),
                lines("*_*.jsonl", &["session"], &["cwd"]),
            ],
            dirs: slug("", "", pi_slug),
        },
        "droid" => rules! {
            files: &[lines("*/*.jsonl", &["session_start"], &["cwd"])],
            dirs: slug("", "", claude_slug),
        },
        "qwen-code" => rules! {
            files: &[
                lines("projects/*/chats/*.jsonl", &[], &["cwd"]),
                lines("projects/*/subagents/*.jsonl", &[], &["cwd"]),
                lines("projects/*/subagents/*/*.jsonl", &[], &["cwd"]),
            ],
            dirs: slug("projects", "chats", claude_slug),
        },
        "cline" => rules! {
            files: &[
                document("state/taskHistory.json", &["*.cwdOnTaskInitialization"]),
                document("state/*.json", &[]),
                document("settings/*.json", &[]),
                // The manifest of a session of the newer store, next to its messages.
                document("*/*.messages.json", &[]),
                document("*/*.compaction.json", &[]),
                document("*/*.json", &["cwd", "workspace_root"]),
            ],
        },
        "roo-code" => rules! {
            files: &[
                document("tasks/*/history_item.json", &["workspace"]),
                document("tasks/_index.json", &["entries.*.workspace"]),
            ],
        },
        "continue" => rules! {
            files: &[
                document("*-*.json", &["workspaceDirectory"]),
                document("sessions.json", &["*.workspaceDirectory"]),
            ],
        },
        // Their sessions do not refer to a directory, or are stored in it.
        "aider" | "aichat" | "llm" => NONE,
        _ => rules! {
            left: "not supported",
        },
    }
}
