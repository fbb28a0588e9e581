//! The table of programs: the locations and files of their sessions.

use super::home_program::{BLANK, Base, CompanionFiles, FileKind, HomePath, HomeProgram, ProgramId};
use crate::format::Format;
use Base::{Config, Data, Editor, Editors, Here, Home, Variable};
use FileKind::{Archived, Database, Session, Subagent};

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
            CompanionFiles::Parent("jobs/{id}*"),
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
        id: ProgramId::Uuid,
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
        id: ProgramId::Record,
        sidecars: &[
            CompanionFiles::Session("{id}"),
            CompanionFiles::AboveSession("{id}"),
            CompanionFiles::AboveSession("tool-outputs/session-{id}"),
            CompanionFiles::AboveSession("logs/session-{id}.jsonl"),
        ],
        is_wide: true,
        shared: &[
            "projects.json", "settings.json", "tmp/*/.project_root", "tmp/*/logs.json",
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
        id: ProgramId::Record,
        sidecars: &[CompanionFiles::Home("storage/session_diff/{id}.json")],
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
        id: ProgramId::AfterUnderscore,
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
        id: ProgramId::Directory,
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
        id: ProgramId::Directory,
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
        id: ProgramId::Time,
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
        id: ProgramId::Directory,
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
        // Its chats are databases of which no schema is published.
        name: "cursor-cli",
        places: &[
            HomePath(Variable("CURSOR_CONFIG_DIR"), "chats"),
            HomePath(Home, ".cursor/chats"),
        ],
        layout: &[(Session, "*/*/store.db")],
        id: ProgramId::Directory,
        sidecars: &[CompanionFiles::Session("store.db-wal")],
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
        sidecars: &[CompanionFiles::Parent("file-history/{id}")],
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
        id: ProgramId::Directory,
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
        id: ProgramId::Directory,
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
        id: ProgramId::Ancestor(3),
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

/// The names of the programs, long and short.
pub fn program_names() -> impl Iterator<Item = &'static str> {
    names(PROGRAMS.iter())
}

/// The names of the programs whose sessions can be written.
pub fn written_program_names() -> Vec<&'static str> {
    let is_written = |program: &&HomeProgram| program.format.is_some_and(|format| format.spec().is_written());
    names(PROGRAMS.iter().filter(is_written)).collect()
}

fn names(programs: impl Iterator<Item = &'static HomeProgram>) -> impl Iterator<Item = &'static str> {
    programs
        .flat_map(|program| [Some(program.name), program.short])
        .flatten()
}

#[cfg(test)]
mod tests;
