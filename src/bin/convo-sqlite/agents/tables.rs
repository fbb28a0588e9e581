//! Finds the tables, whose names the application chooses.

use super::super::database::{self, Database, quoted, utc};
use convo::error::Result;

/// The tables of a session store.
pub struct AgentTables {
    pub sessions: String,
    /// Table of items.
    pub messages: String,
    /// SQL expression for the creation time of a session; `NULL` without such a column.
    pub created: &'static str,
    /// SQL expression for the creation time of an item.
    pub written: &'static str,
}

impl AgentTables {
    /// Returns the name of a session in a database with this number of session stores.
    pub fn named(&self, id: &str, stores: usize) -> String {
        match stores {
            1 => id.to_string(),
            _ => format!("{}/{id}", self.messages),
        }
    }

    /// Returns the id of a session with this name in these tables; `None` if it is in other tables.
    pub fn id<'n>(&self, name: &'n str, stores: usize) -> Option<&'n str> {
        match stores {
            1 => Some(name),
            _ => name.strip_prefix(&self.messages)?.strip_prefix('/'),
        }
    }
}

/// Returns every session store of a database: a table whose rows are items, and the table of sessions it refers to.
pub fn all(database: &Database) -> Result<Vec<AgentTables>> {
    let mut found = Vec::new();
    for messages in database.tables()? {
        let columns = database.columns(&messages)?;
        let has = |name: &str| columns.iter().any(|column| column == name);
        if !has("session_id") || !has("message_data") {
            continue;
        }
        let query = "SELECT \"table\" FROM pragma_foreign_key_list(?1) WHERE \"from\" = 'session_id'";
        let referred = database.first(query, &[&messages], |row| database::text(row, 0))?;
        let sessions = referred.flatten().unwrap_or_else(|| "agent_sessions".to_string());
        let own = database.columns(&sessions)?;
        if own.iter().any(|column| column == "session_id") {
            found.push(AgentTables {
                sessions,
                created: column(&own),
                written: column(&columns),
                messages,
            });
        }
    }
    Ok(found)
}

fn column(columns: &[String]) -> &'static str {
    match columns.iter().any(|column| column == "created_at") {
        true => "created_at",
        false => "NULL",
    }
}

/// Returns the time of the last change of a session.
pub fn changed(database: &Database, tables: &AgentTables, id: &str) -> Result<Option<String>> {
    if !database
        .columns(&tables.sessions)?
        .iter()
        .any(|column| column == "updated_at")
    {
        return Ok(None);
    }
    let query = format!(
        "SELECT updated_at FROM {} WHERE session_id = ?1",
        quoted(&tables.sessions)
    );
    let found = database.first(&query, &[id], |row| database::text(row, 0))?;
    Ok(found.flatten().and_then(|text| utc(&text)))
}
