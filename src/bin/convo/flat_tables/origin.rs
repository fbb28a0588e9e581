//! The session of a row: its input, names, program and times.

use super::{RowMember, RowPart, members};
use crate::args::{program_of, project_of};
use crate::terminal::time_format::machine;
use convo::filter::overview::Overview;
use convo::format::{Format, native};
use convo::model::session::Session;
use convo::model::stats;

/// The session of a row.
pub struct SessionOrigin {
    input: String,
    format: String,
    program: String,
    unreadable: u64,
    about: Overview,
}

impl SessionOrigin {
    /// Describes a session that was read from this format.
    pub fn of(label: &str, format: Format, session: &Session) -> SessionOrigin {
        let unreadable = stats::unreadable(session);
        SessionOrigin {
            input: label.to_string(),
            format: native::source_format(session).unwrap_or_else(|| format.name().to_string()),
            program: program_of(session, format),
            unreadable,
            about: Overview::of(session, unreadable > 0, None),
        }
    }
}

impl RowPart for SessionOrigin {
    const MEMBERS: &'static [RowMember<Self>] = members! {
        "input": Text(|origin| Some(origin.input.clone())), "the input: a file or a name, `-` for standard input";
        "id": Text(|origin| origin.about.id.clone()), "id of the session";
        "format": Text(|origin| Some(origin.format.clone())), "format of the source of the session";
        "program": Text(|origin| Some(origin.program.clone())), "program that wrote the session";
        "model": Text(|origin| origin.about.model.clone()), "model of the session, else of the newest reply";
        "title": Text(title), "title";
        "cwd": Text(|origin| origin.about.cwd.clone()), "working directory";
        "project": Text(project), "last part of the working directory";
        "lineage": Text(|origin| origin.about.lineage.clone()), "`branch`, `sidechain`, `fork`, `child` or `split`";
        "parent": Text(|origin| origin.about.parent.clone()),
            "the session of which this one is a branch, a copy or a part";
        "continued_from": Text(|origin| origin.about.continued_from.clone()), "the session that this one continues";
        "created_at": Text(|origin| origin.about.created.as_deref().map(machine)),
            "time of creation, RFC 3339 in UTC";
        "updated_at": Text(|origin| origin.about.updated.as_deref().map(machine)),
            "time of the newest record that has one, RFC 3339 in UTC";
        "unreadable": Integer(|origin| Some(origin.unreadable)), "damaged lines";
    };
}

fn title(origin: &SessionOrigin) -> Option<String> {
    origin.about.title.as_ref().map(|title| title.text.clone())
}

fn project(origin: &SessionOrigin) -> Option<String> {
    project_of(origin.about.cwd.as_deref()).map(str::to_string)
}
