//! Sessions in the homes of other programs, as rows of the list.

use super::home_facts::HomeFacts;
use super::row::ListRow;
use crate::args::SessionScope;
use crate::context::Context;
use crate::homes::{self, HomeReadOptions, HomeSession, rfc3339};
use convo::filter::overview::{Title, TitleSource};

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
        let has_failed = listing.home.problem.is_some()
            || !listing.failed.is_empty()
            || !listing.files.problems.is_empty();
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
