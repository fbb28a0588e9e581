//! Converts items to messages. Several items may form one message.

use super::super::database::{self, Database, number, utc};
use super::super::session_lines::{self, NOWHERE, object};
use super::tables::AgentTables;
use convo::error::Result;
use convo::format::report::{Loss, Report};
use convo::format::request::{self, Api};
use convo::model::event;
use convo::model::json::{self, quoted};
use std::collections::BTreeMap;

/// The name of the system, and of its annotations.
pub const NAME: &str = "openai-agents";

/// A row that contains an item.
pub struct ItemRow {
    /// Its row number.
    pub row: i64,
    /// Its content.
    pub data: Vec<u8>,
    /// The time when it was written.
    pub time: Option<String>,
    /// The turn that it belongs to, if known.
    pub turn: Option<i64>,
}

impl ItemRow {
    /// Returns the item; `None` if it is encrypted or not an object.
    fn item(&self) -> Option<Vec<u8>> {
        object(&self.data).filter(|raw| json::member(raw, "__enc__").is_none())
    }

    /// Returns the row as a passthrough record.
    pub fn as_foreign(&self) -> Option<Vec<u8>> {
        let text = || quoted(&String::from_utf8_lossy(&self.data));
        let raw = session_lines::value(&self.data).unwrap_or_else(text);
        Some(session_lines::passthrough(NAME, &raw))
    }
}

/// Usage per turn: an object, and the number of requests.
pub type TurnUsage = BTreeMap<i64, (Vec<u8>, i64)>;

/// Reads the items of a session.
pub fn stored(database: &Database, tables: &AgentTables, id: &str) -> Result<Vec<ItemRow>> {
    let (from, key) = database.by(&tables.messages, "session_id")?;
    let time = match tables.written {
        "NULL" => "NULL".to_string(),
        column => format!("t.{column}"),
    };
    let query =
        format!("SELECT t.rowid, t.message_data, {time} FROM {from} WHERE {key} = ?1 ORDER BY t.rowid");
    database.all(&query, &[id], |row| {
        Ok(ItemRow {
            row: number(row, 0)?.unwrap_or_default(),
            data: database::bytes(row, 1)?.unwrap_or_default(),
            time: database::text(row, 2)?.and_then(|text| utc(&text)),
            turn: None,
        })
    })
}

/// Items that form one record: the index of the first one, their number, and the record.
struct ItemRecord {
    first: usize,
    items: usize,
    body: Vec<u8>,
    kind: RecordType,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordType {
    Message,
    /// Replaces everything before it.
    Compaction,
    Foreign,
}

/// Converts items to records without metadata.
fn item_records(items: &[ItemRow]) -> Vec<ItemRecord> {
    let read: Vec<Option<Vec<u8>>> = items.iter().map(ItemRow::item).collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let run: Vec<&[u8]> = read[at..].iter().map_while(|item| item.as_deref()).collect();
        if run.is_empty() {
            all.extend(items[at].as_foreign().map(|body| ItemRecord {
                first: at,
                items: 1,
                body,
                kind: RecordType::Foreign,
            }));
            at += 1;
            continue;
        }
        for unit in request::read(Api::OpenaiResponses, &run) {
            let (first, items) = (at + unit.elements.start, unit.elements.len());
            let compaction = json::member(run[unit.elements.start], "type") == Some(b"\"compaction\"");
            let kind = if compaction {
                RecordType::Compaction
            } else {
                RecordType::Message
            };
            if unit.records.is_empty() {
                let bodies = run[unit.elements]
                    .iter()
                    .map(|raw| session_lines::passthrough(NAME, raw));
                all.extend(bodies.enumerate().map(|(nth, body)| ItemRecord {
                    first: first + nth,
                    items: 1,
                    body,
                    kind: RecordType::Foreign,
                }));
                continue;
            }
            let records = unit.records.into_iter();
            all.extend(records.map(|body| ItemRecord {
                first,
                items,
                body,
                kind,
            }));
        }
        at += run.len();
    }
    all
}

/// Returns for each item the id of the message that contains it.
pub fn ids(items: &[ItemRow]) -> Vec<String> {
    let own = |built: ItemRecord| std::iter::repeat_n(id(&items[built.first]), built.items);
    let mut last = None;
    let all = item_records(items).into_iter();
    // The same items may form several records.
    all.filter(|built| last.replace(built.first) != Some(built.first))
        .flat_map(own)
        .collect()
}

fn id(item: &ItemRow) -> String {
    format!("item_{}", item.row)
}

/// Returns the records of a session or a branch.
pub fn records(items: &[ItemRow], usage: &TurnUsage, report: &mut Report) -> Vec<Vec<u8>> {
    let all = item_records(items);
    // The last assistant message of each turn.
    let mut last: BTreeMap<i64, usize> = BTreeMap::new();
    for (nth, built) in all.iter().enumerate() {
        let is_reply = json::member(&built.body, "role") == Some(b"\"assistant\"");
        if let Some(turn) = items[built.first]
            .turn
            .filter(|_| is_reply && built.kind != RecordType::Foreign)
        {
            last.insert(turn, nth);
        }
    }
    let reported: BTreeMap<usize, &Vec<u8>> = last
        .iter()
        .filter_map(|(turn, nth)| Some((*nth, &usage.get(turn)?.0)))
        .collect();
    // Usage of several requests is only known as a sum, and a turn without an assistant message has no place for it.
    let summed = usage
        .iter()
        .filter(|(turn, (_, requests))| *requests > 1 || !last.contains_key(turn));
    report.count_loss(Loss::Usage, summed.count() as u64);
    report_encrypted(items, report);
    let mut records = Vec::new();
    for (nth, built) in all.into_iter().enumerate() {
        let item = &items[built.first];
        if built.kind == RecordType::Foreign {
            records.push(built.body);
            continue;
        }
        let (id, time) = (id(item), item.time.as_deref().map(quoted));
        let quoted_id = quoted(&id);
        let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&quoted_id))];
        if let Some(time) = &time {
            changes.push(("timestamp", Some(time)));
        }
        if let Some(usage) = reported.get(&nth) {
            changes.push(("usage", Some(usage)));
        }
        records.push(json::with_members(&built.body, &changes).unwrap_or(built.body));
        if built.kind == RecordType::Compaction {
            records.push(cut(&id, item.time.as_deref()));
        }
    }
    records
}

/// Builds the event that hides everything before a compaction.
fn cut(message: &str, time: Option<&str>) -> Vec<u8> {
    let mut event = event::begin("truncate", &format!("evt_{message}"));
    event
        .text("at", time.unwrap_or(event::EPOCH))
        .text("before", message);
    event.finish()
}

fn report_encrypted(items: &[ItemRow], report: &mut Report) {
    let locked =
        |item: &&ItemRow| object(&item.data).is_some_and(|raw| json::member(&raw, "__enc__").is_some());
    let (locked, broken) = (
        items.iter().filter(locked).count(),
        items.iter().filter(|item| object(&item.data).is_none()).count(),
    );
    if locked > 0 {
        report.count_loss(Loss::Header, 1);
        report.note(NOWHERE, "the items are encrypted; kept unchanged");
    }
    if broken > 0 {
        report.damage(
            NOWHERE,
            format!("items that are not JSON objects, kept unchanged: {broken}"),
        );
    }
}
