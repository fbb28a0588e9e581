//! The table of programs: the locations and files of their sessions.

use crate::format::Format;

/// A program that stores sessions.
#[derive(Debug)]
pub struct HomeProgram {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// A short form of the name.
    pub short: Option<&'static str>,
    /// The format of its sessions; `None` if it cannot be read.
    pub format: Option<Format>,
    /// Formats of files with other name suffixes.
    pub(super) others: &'static [(&'static str, Format)],
    /// A member by which the first record of an older file is recognized, and the format of such files.
    pub(super) older: Option<(&'static str, Format)>,
    /// Possible locations of its home, in order of precedence.
    pub(super) places: &'static [HomePath],
    /// A pattern of the homes of profiles, relative to the parent of the home.
    pub(super) profiles: &'static str,
    /// The variable that names its database: a path, or a name in the home.
    pub(super) database: Option<&'static str>,
    /// Patterns of session files, relative to the home.
    pub(super) layout: &'static [(FileKind, &'static str)],
    /// The source of a session's id.
    pub(super) id: Id,
    /// The sidecars of a session.
    pub(super) sidecars: &'static [CompanionFiles],
    /// Whether some session files are next to the home.
    pub(super) is_wide: bool,
    /// Histories, indexes and settings, relative to the base of the home.
    pub(super) shared: &'static [&'static str],
    /// The command that resumes a session, with `{id}`, and `{dir}` for its project.
    pub(super) resume: &'static str,
}

/// A path relative to a base directory.
#[derive(Debug)]
pub(super) struct HomePath(pub Base, pub &'static str);

/// A base directory, from the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The value of a variable. If it is set, later places do not apply.
    Variable(&'static str),
    /// The home directory of the user.
    Home,
    /// `XDG_DATA_HOME`.
    Data,
    /// `XDG_CONFIG_HOME`.
    Config,
    /// The storage directories of all editors based on Visual Studio Code.
    Editors,
    /// The storage directory of one of these editors.
    Editor(&'static str),
    /// The current directory.
    Here,
}

/// The kind of a file in a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A session.
    Session,
    /// A session that the program has archived.
    Archived,
    /// A session of a subagent.
    Subagent,
    /// A database with sessions.
    Database,
}

/// The source of a session's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    /// The name of the file without its extension.
    Stem,
    /// The part of the stem after the last underscore.
    AfterUnderscore,
    /// The last 36 characters of the stem.
    Uuid,
    /// The name of the directory.
    Directory,
    /// The name of the nth directory above the file, from 1; for a subagent, of the nearest one.
    Folder(usize),
    /// A member of the record.
    Record,
    /// The time at which the session begins, because a file contains many sessions.
    Time,
}

/// Files that belong to a session. `{id}` is its id.
#[derive(Debug)]
pub(super) enum CompanionFiles {
    /// A path relative to the directory of the session.
    Session(&'static str),
    /// A path relative to the parent of the home.
    Parent(&'static str),
}

use Base::{Config, Data, Editor, Editors, Here, Home, Variable};
use FileKind::{Archived, Database, Session, Subagent};

/// A program without locations, as a base for struct update syntax.
const BLANK: HomeProgram = HomeProgram {
    name: "",
    short: None,
    format: None,
    others: &[],
    older: None,
    places: &[],
    profiles: "",
    database: None,
    layout: &[],
    id: Id::Stem,
    sidecars: &[],
    is_wide: false,
    shared: &[],
    resume: "",
};

/// Every program, in the order of the manual.
pub const PROGRAMS: &[HomeProgram] = &[
    HomeProgram {
        name: "claude-code",
        short: Some("claude"),
        format: Some(Format::ClaudeCode),
        places: &[
            HomePath(Variable("CLAUDE_CONFIG_DIR"), "projects"),
            HomePath(Home, ".claude/projects"),
        ],
        profiles: "profiles/*/projects",
        layout: &[
            (Subagent, "*/agent-*.jsonl"),
            (Session, "*/*.jsonl"),
            (Subagent, "*/*/subagents/agent-*.jsonl"),
        ],
        sidecars: &[
            CompanionFiles::Session("{id}"),
            CompanionFiles::Parent("file-history/{id}"),
            CompanionFiles::Parent("todos/{id}-*.json"),
            CompanionFiles::Parent("tasks/{id}"),
            CompanionFiles::Parent("session-env/{id}"),
            CompanionFiles::Parent("debug/{id}.txt"),
        ],
        is_wide: true,
        shared: &[
            "history.jsonl",
            "settings.json",
            "settings.local.json",
            "plans/*",
            "projects/*/sessions-index.json",
            "projects/*/memory/*",
        ],
        resume: "cd {dir} && claude --resume {id}",
        ..BLANK
    },
    HomeProgram {
        name: "codex",
        format: Some(Format::Codex),
        places: &[HomePath(Variable("CODEX_HOME"), ""), HomePath(Home, ".codex")],
        layout: &[
            (Session, "sessions/*/*/*/rollout-*.jsonl"),
            (Session, "sessions/*/*/*/rollout-*.jsonl.zst"),
            (Archived, "archived_sessions/rollout-*.jsonl"),
            (Archived, "archived_sessions/rollout-*.jsonl.zst"),
        ],
        id: Id::Uuid,
        shared: &["session_index.jsonl", "history.jsonl", "config.toml"],
        resume: "codex resume {id}",
        ..BLANK
    },
    HomeProgram {
        name: "gemini-cli",
        short: Some("gemini"),
        format: Some(Format::GeminiCli),
        places: &[
            HomePath(Variable("GEMINI_CLI_HOME"), ".gemini/tmp"),
            HomePath(Home, ".gemini/tmp"),
        ],
        layout: &[
            (Session, "*/chats/session-*.jsonl"),
            (Session, "*/chats/session-*.json"),
            (Subagent, "*/chats/*/*.jsonl"),
        ],
        id: Id::Record,
        sidecars: &[CompanionFiles::Session("{id}")],
        is_wide: true,
        shared: &[
            "projects.json",
            "settings.json",
            "tmp/*/.project_root",
            "tmp/*/logs.json",
        ],
        resume: "cd {dir} && gemini --resume {id}",
        ..BLANK
    },
    HomeProgram {
        name: "opencode",
        format: Some(Format::Opencode),
        places: &[HomePath(Data, "opencode")],
        database: Some("OPENCODE_DB"),
        layout: &[(Database, "opencode*.db"), (Session, "storage/session/*/*.json")],
        id: Id::Record,
        shared: &["storage/project/*.json"],
        resume: "cd {dir} && opencode -s {id}",
        ..BLANK
    },
    HomeProgram {
        name: "goose",
        format: Some(Format::Goose),
        places: &[
            HomePath(Variable("GOOSE_PATH_ROOT"), "data/sessions"),
            HomePath(Data, "goose/sessions"),
        ],
        layout: &[(Database, "sessions.db"), (Session, "*.jsonl")],
        resume: "goose session --resume --session-id {id}",
        ..BLANK
    },
    HomeProgram {
        name: "pi",
        format: Some(Format::Pi),
        places: &[
            HomePath(Variable("PI_CODING_AGENT_SESSION_DIR"), ""),
            HomePath(Variable("PI_CODING_AGENT_DIR"), "sessions"),
            HomePath(Home, ".pi/agent/sessions"),
        ],
        layout: &[(Session, "*/*_*.jsonl"), (Session, "*_*.jsonl")],
        id: Id::AfterUnderscore,
        resume: "cd {dir} && pi --session {id}",
        ..BLANK
    },
    HomeProgram {
        name: "cline",
        format: Some(Format::ClineRoo),
        others: &[(".messages.json", Format::Cline)],
        places: &[
            HomePath(Editors, "saoudrizwan.claude-dev"),
            HomePath(Variable("CLINE_SESSION_DATA_DIR"), ""),
            HomePath(Variable("CLINE_DATA_DIR"), "sessions"),
            HomePath(Variable("CLINE_DIR"), "data/sessions"),
            HomePath(Home, ".cline/data/sessions"),
        ],
        layout: &[
            (Session, "tasks/*/api_conversation_history.json"),
            (Subagent, "*/*__*.messages.json"),
            (Session, "*/*.messages.json"),
        ],
        id: Id::Directory,
        sidecars: &[CompanionFiles::Session("")],
        shared: &["state/taskHistory.json"],
        resume: "cline --id {id}",
        ..BLANK
    },
    HomeProgram {
        name: "roo-code",
        short: Some("roo"),
        format: Some(Format::ClineRoo),
        places: &[HomePath(Editors, "rooveterinaryinc.roo-cline")],
        layout: &[(Session, "tasks/*/api_conversation_history.json")],
        id: Id::Directory,
        sidecars: &[CompanionFiles::Session("")],
        ..BLANK
    },
    HomeProgram {
        name: "continue",
        format: Some(Format::Continue),
        places: &[
            HomePath(Variable("CONTINUE_GLOBAL_DIR"), "sessions"),
            HomePath(Home, ".continue/sessions"),
        ],
        layout: &[(Session, "*-*.json")],
        shared: &["sessions.json"],
        resume: "cn --fork {id}",
        ..BLANK
    },
    HomeProgram {
        name: "aider",
        format: Some(Format::Aider),
        places: &[
            HomePath(Variable("AIDER_CHAT_HISTORY_FILE"), ""),
            HomePath(Here, ".aider.chat.history.md"),
            HomePath(Home, ".aider.chat.history.md"),
        ],
        layout: &[(Session, "")],
        id: Id::Time,
        resume: "cd {dir} && aider --restore-chat-history",
        ..BLANK
    },
    HomeProgram {
        name: "aichat",
        format: Some(Format::Aichat),
        places: &[
            HomePath(Variable("AICHAT_SESSIONS_DIR"), ""),
            HomePath(Variable("AICHAT_CONFIG_DIR"), "sessions"),
            HomePath(Config, "aichat/sessions"),
        ],
        layout: &[(Session, "*.yaml"), (Session, "_/*.yaml")],
        resume: "aichat -s {id}",
        ..BLANK
    },
    HomeProgram {
        name: "llm",
        places: &[
            HomePath(Variable("LLM_USER_PATH"), "logs.db"),
            HomePath(Config, "io.datasette.llm/logs.db"),
        ],
        layout: &[(Database, "")],
        resume: "llm -c --cid {id}",
        ..BLANK
    },
    HomeProgram {
        name: "copilot-cli",
        short: Some("copilot"),
        format: Some(Format::CopilotCli),
        places: &[
            HomePath(Variable("COPILOT_HOME"), "session-state"),
            HomePath(Home, ".copilot/session-state"),
        ],
        layout: &[(Session, "*/events.jsonl")],
        id: Id::Directory,
        sidecars: &[CompanionFiles::Session("")],
        resume: "copilot --resume={id}",
        ..BLANK
    },
    HomeProgram {
        name: "cursor",
        format: Some(Format::Cursor),
        places: &[
            HomePath(Editor("Cursor"), ""),
            HomePath(Variable("CURSOR_CONFIG_DIR"), "projects"),
            HomePath(Home, ".cursor/projects"),
        ],
        layout: &[
            (Database, "state.vscdb"),
            (Session, "*/agent-transcripts/*/*.jsonl"),
        ],
        resume: "cursor-agent --resume {id}",
        ..BLANK
    },
    HomeProgram {
        name: "qwen-code",
        short: Some("qwen"),
        format: Some(Format::QwenCode),
        places: &[
            HomePath(Variable("QWEN_RUNTIME_DIR"), "projects"),
            HomePath(Variable("QWEN_HOME"), "projects"),
            HomePath(Home, ".qwen/projects"),
        ],
        layout: &[
            (Session, "*/chats/*.jsonl"),
            (Subagent, "*/subagents/*.jsonl"),
            (Subagent, "*/subagents/*/*.jsonl"),
        ],
        is_wide: true,
        shared: &["settings.json"],
        resume: "cd {dir} && qwen -r {id}",
        ..BLANK
    },
    HomeProgram {
        name: "grok",
        format: Some(Format::Grok),
        // Version 0: messages of the Chat API, one per line.
        older: Some(("role", Format::Native)),
        places: &[
            HomePath(Variable("GROK_HOME"), "sessions"),
            HomePath(Home, ".grok/sessions"),
        ],
        layout: &[(Session, "*/*/chat_history.jsonl")],
        id: Id::Directory,
        sidecars: &[CompanionFiles::Session("")],
        resume: "cd {dir} && grok --resume {id}",
        ..BLANK
    },
    HomeProgram {
        name: "kimi",
        format: Some(Format::Kimi),
        places: &[
            HomePath(Variable("KIMI_SHARE_DIR"), "sessions"),
            HomePath(Home, ".kimi/sessions"),
        ],
        layout: &[(Session, "*/*/context.jsonl")],
        id: Id::Directory,
        sidecars: &[CompanionFiles::Session("")],
        is_wide: true,
        shared: &["kimi.json"],
        resume: "cd {dir} && kimi --session {id}",
        ..BLANK
    },
    HomeProgram {
        name: "kimi-code",
        format: Some(Format::Kimi),
        places: &[
            HomePath(Variable("KIMI_CODE_HOME"), "sessions"),
            HomePath(Home, ".kimi-code/sessions"),
        ],
        layout: &[
            (Session, "*/*/agents/main/wire.jsonl"),
            (Subagent, "*/*/agents/*/wire.jsonl"),
        ],
        id: Id::Folder(3),
        is_wide: true,
        shared: &["session_index.jsonl", "sessions/*/*/state.json"],
        resume: "cd {dir} && kimi --session {id}",
        ..BLANK
    },
    HomeProgram {
        name: "droid",
        format: Some(Format::Droid),
        places: &[
            HomePath(Variable("FACTORY_DIR"), "sessions"),
            HomePath(Home, ".factory/sessions"),
        ],
        layout: &[(Session, "*/*.jsonl")],
        sidecars: &[CompanionFiles::Session("{id}.settings.json")],
        resume: "cd {dir} && droid --resume {id}",
        ..BLANK
    },
    HomeProgram {
        name: "openclaw",
        places: &[
            HomePath(Variable("OPENCLAW_STATE_DIR"), "agents"),
            HomePath(Home, ".openclaw/agents"),
        ],
        layout: &[(Session, "*/sessions/*.jsonl")],
        sidecars: &[CompanionFiles::Session("{id}.*")],
        shared: &["*/sessions/sessions.json"],
        resume: "openclaw chat --session {id}",
        ..BLANK
    },
];

/// Returns the program with this name or short form.
pub fn program(name: &str) -> Option<&'static HomeProgram> {
    PROGRAMS
        .iter()
        .find(|program| program.name == name || program.short == Some(name))
}

#[cfg(test)]
mod tests;
