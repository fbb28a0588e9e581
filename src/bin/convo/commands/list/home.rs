//! Sessions in the homes of other programs, as rows of the list.

use super::row::ListRow;
use crate::args::SessionScope;
use crate::context::Context;
use crate::homes::{self, HomeReadOptions, HomeSession, rfc3339};
use crate::output::path_name;
use crate::terminal::time_format::machine;
use convo::filter::overview::{Title, TitleSource};
use convo::home::{FileKind, WEEK};

/// A session in a home, as described by its indexes and its file.
pub struct HomeFacts {
    /// The name that commands accept.
    pub name: String,
    pub program: &'static str,
    pub session: HomeSession,
}

/// Selects the sessions to list.
pub struct HomeFilter<'w> {
    pub scope: &'w SessionScope,
    /// Includes sessions of subagents.
    pub subagents: bool,
    /// Includes sessions without messages.
    pub empty: bool,
    pub reading: HomeReadOptions<'w>,
}

/// Returns the sessions of every home; reports the homes and files that cannot be read.
pub fn rows(context: &Context, wanted: &HomeFilter<'_>) -> anyhow::Result<Vec<ListRow>> {
    let mut found = homes::all();
    found.retain(|home| wanted.scope.has_program(Some(home.program.name)));
    let mut rows = Vec::new();
    let mut unread = Vec::new();
    for listing in homes::listings_with(context, found, &wanted.reading)? {
        // What failed is reported as an error.
        let has_failed = listing.home.problem.is_some() || !listing.failed.is_empty();
        if let (false, Some(reason)) = (has_failed, listing.reason()) {
            unread.push((listing.home.program.name, reason));
        }
        listing.report(context);
        let program = listing.home.program.name;
        let format = listing.home.program.format.map_or("", |format| format.name());
        for session in listing.sessions {
            let is_wanted = (wanted.subagents || !session.is_subagent())
                && (wanted.empty || session.overview.messages > 0);
            if is_wanted {
                rows.push(row(program, format, session));
            }
        }
    }
    homes::report_unread(context, &unread, "not listed");
    Ok(rows)
}

fn row(program: &'static str, format: &'static str, session: HomeSession) -> ListRow {
    let mut overview = session.overview.clone();
    overview.title = session.title.clone().map(|text| Title {
        text,
        from: overview.title.map_or(TitleSource::Title, |title| title.from),
    });
    overview.cwd.clone_from(&session.project);
    overview.updated = rfc3339(session.updated());
    let name = session.name_in_program();
    ListRow {
        id: name.clone(),
        bytes: Some(session.transcript.bytes),
        home: Some(Box::new(HomeFacts {
            name: format!("{program}:{name}"),
            program,
            session,
        })),
        ..ListRow::new(Box::new(overview), &name, format)
    }
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

    /// Returns the session as a JSON object.
    pub fn object(&self) -> String {
        let session = &self.session;
        let overview = &session.overview;
        serde_json::json!({
            "schema": "convo.home-session/1", "program": self.program, "id": session.id, "name": self.name,
            "title": session.title, "project": session.project, "messages": overview.messages,
            "model": overview.model, "tokens": overview.tokens.as_ref().map(|(tokens, _)| tokens),
            "bytes": session.transcript.bytes, "sidecar_files": session.sidecars.files,
            "sidecar_bytes": session.sidecars.bytes, "subagents": session.subagents, "branches": session.branches,
            "created": overview.created.as_deref().map(machine), "updated": rfc3339(session.updated()),
            "running": session.running.is_some(), "archived": session.transcript.kind == FileKind::Archived,
            "due": session.due.and_then(rfc3339), "path": path_name(session.path()),
        })
        .to_string()
    }
}
