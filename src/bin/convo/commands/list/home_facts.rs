//! A session in the home of another program.

use crate::homes::{HomeSession, rfc3339};
use crate::output::path_name;
use crate::terminal::time_format::machine;
use convo::home::{FileKind, WEEK};

/// A session in a home, as described by its indexes and its file.
pub struct HomeFacts {
    /// The name that commands accept.
    pub name: String,
    pub program: &'static str,
    pub session: HomeSession,
}

impl HomeFacts {
    /// Returns `*` for a running session, and `!` for one that is about to be deleted.
    pub fn mark(&self, now: Option<i64>) -> &'static str {
        let is_due = |due: i64| now.is_some_and(|now| due <= now.saturating_add(WEEK));
        match (self.session.running, self.session.due) {
            (Some(_), Some(due)) if is_due(due) => "*!",
            (Some(_), _) => "*",
            (None, Some(due)) if is_due(due) => "!",
            _ => "",
        }
    }

    /// Returns the shell command that resumes the session in its program; `None` for a subagent.
    pub fn resume(&self) -> Option<String> {
        let session = &self.session;
        let program = convo::home::program(self.program).filter(|_| !session.is_subagent())?;
        let project = session.project.as_deref();
        let project = project.map(|project| program.project_of(session.path(), project));
        program.resume_line(&session.id, project)
    }

    /// Returns the session as a JSON object.
    pub fn object(&self) -> String {
        let session = &self.session;
        let overview = &session.overview;
        serde_json::json!({
            "schema": "convo.home-session/1", "program": self.program, "id": session.id, "name": self.name,
            "title": session.title, "project": session.project, "branch": overview.branch,
            "messages": overview.messages, "model": overview.model, "tokens": overview.tokens.as_ref().map(|(tokens, _)| tokens),
            "bytes": session.transcript.bytes, "sidecar_files": session.sidecars.files,
            "sidecar_bytes": session.sidecars.bytes, "subagents": session.subagents, "branches": session.branches,
            "created": overview.created.as_deref().map(machine), "updated": rfc3339(session.updated()),
            "running": session.running.is_some(), "archived": session.transcript.kind == FileKind::Archived,
            "due": session.due.and_then(rfc3339), "resume": self.resume(), "path": path_name(session.path()),
        })
        .to_string()
    }
}
