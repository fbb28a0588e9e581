//! Sessions of the OpenAI Agents SDK: one row per Responses item, in tables whose names the application chooses. If the
//! database stores the structure of a session, its branches become separate sessions.
//!
//! | source | destination |
//! |---|---|
//! | row number | `item_NUMBER`, the id of the message that begins with this row |
//! | items | same as `openai-responses`; written back unchanged to that format |
//! | usage of a turn | the last assistant message of the turn |
//! | encrypted rows and rows that are not items | `foreign` events |
//! | table, and time of the last change | `metadata.openai-agents` of the header |

mod branches;
mod items;
mod tables;

use super::database::{self, Database, number, quoted, utc};
use super::session_lines::{self, LineageMember};
use super::system::{DatabaseSystem, SystemRow};
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::Report;
use convo::format::workspace::Workspace;
use convo::model::json::ObjectBuilder;
use convo::model::session::Session;
use items::NAME;
use tables::AgentTables;

/// The definition of this system.
pub const SESSIONS: DatabaseSystem = DatabaseSystem {
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

/// The format of the items.
const FORMAT: &str = "openai-responses";

fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    let mut rows = Vec::new();
    let all = tables::all(database)?;
    for tables in &all {
        database.by(&tables.messages, "session_id")?;
        branches::ready(database)?;
        // Includes sessions that have items but no row in the table of sessions.
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
            Ok(SystemRow {
                id: tables.named(&id, all.len()),
                time: time.and_then(|time| utc(&time)),
                title: None,
                ..SystemRow::default()
            })
        })?);
    }
    Ok(rows)
}

/// Returns the tables of a row, and the id of its session in them.
fn row_location(database: &Database, row: &SystemRow) -> Result<(AgentTables, String)> {
    let all = tables::all(database)?;
    let several = all.len();
    let mut found = all.into_iter().filter_map(|tables| {
        let id = tables.id(&row.id, several)?.to_string();
        Some((tables, id))
    });
    found
        .next()
        .ok_or_else(|| Error::new(ErrorKind::Locked, "the session was deleted by another program"))
}

fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let (tables, id) = row_location(database, row)?;
    let (from, key) = database.by(&tables.messages, "session_id")?;
    let query = format!("SELECT sum(octet_length(t.message_data)) FROM {from} WHERE {key} = ?1");
    let bytes = database.first(&query, &[&id], |row| number(row, 0))?;
    Ok(bytes.flatten().map_or(0, i64::unsigned_abs))
}

fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    let (tables, id) = row_location(database, row)?;
    let stored = items::stored(database, &tables, &id)?;
    let all = branches::all(database, &id, stored)?;
    let ids: Vec<Vec<String>> = match all.len() {
        1 => Vec::new(),
        _ => all.iter().map(|branch| items::ids(&branch.items)).collect(),
    };
    let mut sessions = Vec::new();
    for (nth, branch) in all.iter().enumerate() {
        let parent = session_lines::name(&row.id, branch.parent);
        let at = branch.joint.map(|joint| ids[branch.parent][joint].as_str());
        let lineage = (nth > 0).then(|| LineageMember {
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
        let header = session_lines::header(
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
            // Rows that are in no branch; the SDK skips them too.
            let left = branch.left.iter().filter_map(|item| item.as_foreign());
            left.for_each(|record| session.push_new(&record));
        }
        sessions.push(session);
    }
    Ok(sessions)
}
