//! Sessions of the OpenAI Agents SDK: a row for each item of Responses, in tables that an application may name as it
//! likes. Where the structure of a session is kept beside it, its branches are sessions of their own.
//!
//! | what | where it is kept |
//! |---|---|
//! | the number of a row | `item_NUMBER`, the id of the message that begins with it |
//! | items | as those of `openai-responses`, to which the session is written back as what it was |
//! | what was used in a turn | on its last message of the assistant |
//! | what is encrypted, and what is no item | `foreign` events |
//! | the table, and when it was changed last | `metadata.openai-agents` of the header |

mod branches;
mod items;
mod tables;

use super::database::{self, Database, number, quoted, utc};
use super::made::{self, Lineage};
use super::system::{Row, System};
use convo::error::{Error, Kind, Result};
use convo::format::report::Report;
use convo::format::workspace::Workspace;
use convo::model::json::ObjectBuilder;
use convo::model::session::Session;
use tables::Tables;

/// The system, as the program asks for it.
pub const SESSIONS: System = System {
    name: NAME,
    what: "sessions of the OpenAI Agents SDK",
    tables: &[
        ("agent_sessions", &["session_id"]),
        ("agent_messages", &["session_id", "message_data"]),
    ],
    otherwise: |database| Ok(!tables::all(database)?.is_empty()),
    rows,
    bytes,
    sessions,
};

const NAME: &str = "openai-agents";

/// Whose items they are.
const FORMAT: &str = "openai-responses";

fn rows(database: &Database) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let all = tables::all(database)?;
    for tables in &all {
        database.by(&tables.messages, "session_id")?;
        branches::ready(database)?;
        // A session without a row of its own is one as well.
        let messages = quoted(&tables.messages);
        let query = format!(
            "SELECT id, max(time) FROM (SELECT session_id AS id, {0} AS time FROM {1}
             UNION ALL SELECT DISTINCT session_id, NULL FROM {messages}) GROUP BY id ORDER BY id",
            tables.created,
            quoted(&tables.sessions),
        );
        rows.extend(database.all(&query, &[], |row| {
            let id = database::text(row, 0)?.unwrap_or_default();
            let time = database::text(row, 1)?;
            Ok(Row {
                id: tables.named(&id, all.len()),
                time: time.and_then(|time| utc(&time)),
                title: None,
                ..Row::default()
            })
        })?);
    }
    Ok(rows)
}

/// The tables of a row, and its id in them.
fn place(database: &Database, row: &Row) -> Result<(Tables, String)> {
    let all = tables::all(database)?;
    let several = all.len();
    let mut found = all.into_iter().filter_map(|tables| {
        let id = tables.id(&row.id, several)?.to_string();
        Some((tables, id))
    });
    found
        .next()
        .ok_or_else(|| Error::new(Kind::Locked, "the session was deleted by another program"))
}

fn bytes(database: &Database, row: &Row) -> Result<u64> {
    let (tables, id) = place(database, row)?;
    let (from, key) = database.by(&tables.messages, "session_id")?;
    let query = format!("SELECT sum(octet_length(t.message_data)) FROM {from} WHERE {key} = ?1");
    let bytes = database.first(&query, &[&id], |row| number(row, 0))?;
    Ok(bytes.flatten().map_or(0, i64::unsigned_abs))
}

fn sessions(database: &Database, row: &Row, report: &mut Report) -> Result<Vec<Session>> {
    let (tables, id) = place(database, row)?;
    let stored = items::stored(database, &tables, &id)?;
    let all = branches::all(database, &id, stored)?;
    let ids: Vec<Vec<String>> = match all.len() {
        1 => Vec::new(),
        _ => all.iter().map(|branch| items::ids(&branch.items)).collect(),
    };
    let mut sessions = Vec::new();
    for (nth, branch) in all.iter().enumerate() {
        let parent = made::name(&row.id, branch.parent);
        let at = branch.joint.map(|joint| ids[branch.parent][joint].as_str());
        let lineage = (nth > 0).then(|| Lineage {
            kind: "branch",
            parent: &parent,
            at,
        });
        let mut own = ObjectBuilder::default();
        if let Some(name) = &branch.name {
            own.text("branch", name);
        }
        if nth == 0 {
            own.text("table", &tables.messages);
            if let Some(changed) = tables::changed(database, &tables, &id)? {
                own.text("updated_at", &changed);
            }
        }
        let nowhere = Workspace::default();
        let header = made::header(
            database,
            (NAME, FORMAT),
            row,
            nth,
            lineage.as_ref(),
            own,
            &nowhere,
        );
        let mut session = Session::default();
        session.push_new(&header);
        let records = items::records(&branch.items, &branch.usage, report);
        records.iter().for_each(|record| session.push_new(record));
        if nth == 0 {
            // Rows that are in no branch: the program itself passes over them.
            let left = branch.left.iter().filter_map(|item| item.as_foreign());
            left.for_each(|record| session.push_new(&record));
        }
        sessions.push(session);
    }
    Ok(sessions)
}
