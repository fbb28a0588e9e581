//! The names of the tables, which an application may choose.

use super::super::database::{self, Database, quoted, utc};
use convo::error::Result;

/// The tables of a store of sessions.
pub struct Tables {
    /// Of the sessions.
    pub sessions: String,
    /// Of their items.
    pub messages: String,
    /// What says when a session was made, in a query; nothing where no column does.
    pub created: &'static str,
    /// The same of the time of an item.
    pub written: &'static str,
}

impl Tables {
    /// What a session is called here, where there are so many stores.
    pub fn named(&self, id: &str, stores: usize) -> String {
        match stores {
            1 => id.to_string(),
            _ => format!("{}/{id}", self.messages),
        }
    }

    /// The id in these tables of a session that is called so; none when it is in other ones.
    pub fn id<'n>(&self, name: &'n str, stores: usize) -> Option<&'n str> {
        match stores {
            1 => Some(name),
            _ => name.strip_prefix(&self.messages)?.strip_prefix('/'),
        }
    }
}

/// Every store of a database: a table whose rows are items of sessions, and the one that it refers to.
pub fn all(database: &Database) -> Result<Vec<Tables>> {
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
            found.push(Tables {
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

/// When a session was changed last.
pub fn changed(database: &Database, tables: &Tables, id: &str) -> Result<Option<String>> {
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
