//! Threads: names for the last message of a chain, in which each message refers to its predecessor. A turn whose
//! message is not on the chain of the thread belongs to an abandoned branch.

use super::super::database::{self, Database, number, time};
use super::super::session_lines::{self, LineageMember, NOWHERE, object};
use super::super::system::SystemRow;
use super::message::{self, NAME, OpenCallIds, StoredMessage};
use super::part;
use super::turn::{self, TurnMetadata};
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::Report;
use convo::format::workspace::Workspace;
use convo::model::json::ObjectBuilder;
use convo::model::session::Session;
use std::collections::{HashMap, HashSet};

/// The tables of threads, and the columns that they must have.
pub const TABLES: &[(&str, &[&str])] = &[
    ("messages", &["hash", "parent_hash", "role", "provider_metadata"]),
    (
        "parts",
        &["id", "message_hash", "position", "type", "text", "payload"],
    ),
    (
        "threads",
        &["id", "name", "tip_message_hash", "forked_from", "datetime_utc"],
    ),
    (
        "turns",
        &[
            "id", "thread_id", "tip_message_hash", "model", "input_tokens", "output_tokens", "datetime_utc",
        ],
    ),
];

/// Whether the tables of threads exist.
pub fn have_tables(database: &Database) -> Result<bool> {
    for (table, _) in TABLES {
        if database.columns(table)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a thread with this id exists.
pub fn is_one(database: &Database, id: &str) -> Result<bool> {
    if !have_tables(database)? {
        return Ok(false);
    }
    let query = "SELECT 1 FROM threads WHERE id = ?1";
    Ok(database.first(query, &[id], |_| Ok(()))?.is_some())
}

/// Returns all threads by id.
pub fn rows(database: &Database) -> Result<Vec<SystemRow>> {
    // Creates missing indexes once, before the lookups.
    database.by("parts", "message_hash")?;
    database.by("messages", "hash")?;
    database.by("turns", "thread_id")?;
    let query = "SELECT id, datetime_utc, name, newest FROM threads LEFT JOIN
        (SELECT thread_id, max(datetime_utc) AS newest FROM turns GROUP BY thread_id) ON thread_id = id ORDER BY id";
    database.all(query, &[], |row| {
        Ok(SystemRow {
            id: database::text(row, 0)?.unwrap_or_default(),
            time: time(row, 1)?,
            title: database::text(row, 2)?,
            updated: time(row, 3)?,
            ..SystemRow::default()
        })
    })
}

/// Returns the size of the texts of a thread in bytes.
pub fn bytes(database: &Database, row: &SystemRow) -> Result<u64> {
    let (from, key) = database.by("parts", "message_hash")?;
    let query = format!(
        "SELECT sum(octet_length(coalesce(t.text, '')) + octet_length(coalesce(t.payload, ''))) FROM {from} WHERE {key} = ?1"
    );
    let mut bytes = 0;
    let chain = chain(
        database,
        tip(database, &row.id)?.0,
        &HashSet::new(),
        &mut Report::default(),
    )?;
    for link in chain.links {
        let own = database.first(&query, &[&link.hash], |row| number(row, 0))?;
        bytes += own.flatten().map_or(0, i64::unsigned_abs);
    }
    Ok(bytes)
}

/// A message of a chain, without its parts.
struct MessageLink {
    hash: String,
    role: String,
    provider: Option<Vec<u8>>,
}

/// A chain, from its first message or from the message after the one that it shares with another chain.
struct MessageChain {
    links: Vec<MessageLink>,
    joint: Option<String>,
}

/// Returns the last message of a thread, and the thread that it was forked from.
fn tip(database: &Database, id: &str) -> Result<(Option<String>, Option<String>)> {
    let query = "SELECT tip_message_hash, forked_from FROM threads WHERE id = ?1";
    let found = database.first(query, &[id], |row| {
        Ok((database::text(row, 0)?, database::text(row, 1)?))
    })?;
    found.ok_or_else(|| Error::new(ErrorKind::Locked, "the session was deleted by another program"))
}

/// Returns the chain that ends with a message, back to the first known message.
fn chain(
    database: &Database,
    tip: Option<String>,
    known: &HashSet<String>,
    report: &mut Report,
) -> Result<MessageChain> {
    let (from, key) = database.by("messages", "hash")?;
    let query = format!("SELECT t.parent_hash, t.role, t.provider_metadata FROM {from} WHERE {key} = ?1");
    let mut links: Vec<MessageLink> = Vec::new();
    let mut seen = HashSet::new();
    let mut next = tip;
    let joint = loop {
        let Some(hash) = next else { break None };
        if known.contains(&hash) {
            break Some(hash);
        }
        if !seen.insert(hash.clone()) {
            let what = format!("message {hash} precedes itself; its beginning is lost");
            report.damage(NOWHERE, what);
            break None;
        }
        let found = database.first(&query, &[&hash], |row| {
            let role = database::text(row, 1)?.unwrap_or_default();
            Ok((database::text(row, 0)?, role, database::bytes(row, 2)?))
        })?;
        let Some((parent, role, provider)) = found else {
            let what = format!("missing message {hash}; earlier messages are lost");
            report.damage(NOWHERE, what);
            break None;
        };
        let provider = provider.as_deref().and_then(object);
        links.push(MessageLink { hash, role, provider });
        next = parent;
    };
    links.reverse();
    Ok(MessageChain { links, joint })
}

/// Returns the turns of a thread by their last messages, and these messages in order.
fn turns(database: &Database, id: &str) -> Result<(Vec<String>, HashMap<String, TurnMetadata>)> {
    let (from, key) = database.by("turns", "thread_id")?;
    let query = format!(
        "SELECT t.tip_message_hash, t.id, {} FROM {from} WHERE {key} = ?1 ORDER BY t.id",
        turn::columns(database, "turns")?
    );
    let mut tips = Vec::new();
    let mut turns = HashMap::new();
    let rows = database.all(&query, &[id], |row| {
        let tip = database::text(row, 0)?;
        let mut rest = ObjectBuilder::default();
        rest.text("id", &database::text(row, 1)?.unwrap_or_default());
        Ok((tip, TurnMetadata::read(row, 2, rest)?))
    })?;
    for (tip, turn) in rows {
        if let Some(tip) = tip.filter(|tip| !tip.is_empty()) {
            tips.push(tip.clone());
            turns.insert(tip, turn);
        }
    }
    Ok((tips, turns))
}

/// Converts the thread and its abandoned branches.
pub fn sessions(database: &Database, row: &SystemRow, report: &mut Report) -> Result<Vec<Session>> {
    let (tip, forked) = tip(database, &row.id)?;
    let (tips, mut turns) = turns(database, &row.id)?;
    let mut sessions = Vec::new();
    // Maps each message to its session.
    let mut home: HashMap<String, usize> = HashMap::new();
    let mut known = HashSet::new();
    let main = chain(database, tip, &known, report)?;
    let mut chains = vec![main];
    known.extend(chains[0].links.iter().map(|link| link.hash.clone()));
    // Longest first: a branch includes the messages that a later turn continues.
    for tip in tips.into_iter().rev() {
        if !known.contains(&tip) {
            let left = chain(database, Some(tip), &known, report)?;
            known.extend(left.links.iter().map(|link| link.hash.clone()));
            chains.push(left);
        }
    }
    // In the order in which they were abandoned.
    chains[1..].reverse();
    chains[1..].sort_by_key(|chain| usize::from(chain.joint.is_none()));
    for (nth, chain) in chains.iter().enumerate() {
        home.extend(chain.links.iter().map(|link| (link.hash.clone(), nth)));
    }
    for (nth, chain) in chains.into_iter().enumerate() {
        let parent = chain
            .joint
            .as_ref()
            .and_then(|joint| home.get(joint))
            .copied()
            .unwrap_or(0);
        let parent = session_lines::name(&row.id, parent);
        let lineage = match (nth, &forked) {
            (0, None) => None,
            (0, Some(forked)) => Some(LineageMember {
                kind: "fork",
                parent: forked,
                at: None,
            }),
            _ => Some(LineageMember {
                kind: "branch",
                parent: &parent,
                at: chain.joint.as_deref(),
            }),
        };
        let header = session_lines::header(
            database,
            (NAME, NAME),
            row,
            nth,
            lineage.as_ref(),
            ObjectBuilder::default(),
            &Workspace::default(),
        );
        let mut session = Session::default();
        session.push_new(&header);
        let mut open = OpenCallIds::default();
        for link in chain.links {
            let stored = StoredMessage {
                parts: part::parts(database, &link.hash, report)?,
                turn: turns.remove(&link.hash),
                hash: link.hash,
                role: link.role,
                provider: link.provider,
            };
            for record in message::records(&stored, &mut open) {
                session.push_new(&record);
            }
        }
        sessions.push(session);
    }
    Ok(sessions)
}
