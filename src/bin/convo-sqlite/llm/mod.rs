//! llm's `logs.db`: threads of messages identified by their hash, and the conversations and responses of older
//! versions. A database that is only partly migrated has both: threads come first, then the conversations that are not
//! threads.
//!
//! | source | destination |
//! |---|---|
//! | hash of a message | its id; results that share it get a number as suffix |
//! | time, model and usage of a turn | the message that ended the turn |
//! | other metadata of the turn or response | `metadata.llm.turn` of that message |
//! | other members of a part | the part; for calls `metadata.llm.calls`, for results `metadata.llm` |
//! | an unusual order of parts | `metadata.llm.order` |
//! | provider metadata of a message | `metadata.llm.provider_metadata` |

mod attachment;
mod message;
mod part;
mod responses;
mod threads;
mod turn;

use super::database::Database;
use super::system::{DatabaseSystem, SystemRow};
use convo::error::Result;
use convo::format::report::Report;
use convo::model::session::Session;
use message::NAME;

/// The definition of this system.
pub const LOGS: DatabaseSystem = DatabaseSystem {
    name: NAME,
    what: "a log of llm",
    tables: threads::TABLES,
    otherwise: responses::have_tables,
    rows,
    bytes,
    sessions,
};

fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    let mut rows = Vec::new();
    if threads::have_tables(database)? {
        rows.extend(threads::rows(database)?);
    }
    if responses::have_tables(database)? {
        rows.extend(responses::rows(database)?);
    }
    Ok(rows)
}

fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    match threads::is_one(database, &row.id)? {
        true => threads::bytes(database, row),
        false => responses::bytes(database, row),
    }
}

fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    match threads::is_one(database, &row.id)? {
        true => threads::sessions(database, row, report),
        false => responses::session(database, row, report).map(|session| vec![session]),
    }
}
