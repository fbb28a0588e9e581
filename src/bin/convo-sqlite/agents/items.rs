//! Converts items to messages. Several items may form one message.

use super::super::NOWHERE;
use super::super::database::{self, Database, number, utc};
use super::super::made::{self, object, quoted};
use super::NAME;
use super::tables::Tables;
use convo::error::Result;
use convo::format::report::{Loss, Report};
use convo::format::request::{self, Api};
use convo::model::json::{self, ObjectBuilder};
use std::collections::BTreeMap;

/// A row that contains an item.
pub struct Item {
    /// Its row number.
    pub row: i64,
    /// Its content.
    pub data: Vec<u8>,
    /// The time when it was written.
    pub time: Option<String>,
    /// The turn that it belongs to, if known.
    pub turn: Option<i64>,
}

impl Item {
    /// Returns the item; `None` if it is encrypted or not an object.
    fn item(&self) -> Option<Vec<u8>> {
        object(&self.data).filter(|raw| json::member(raw, "__enc__").is_none())
    }

    /// Returns the row as a passthrough record.
    pub fn as_foreign(&self) -> Option<Vec<u8>> {
        let text = || quoted(&String::from_utf8_lossy(&self.data));
        let raw = made::value(&self.data).unwrap_or_else(text);
        Some(made::foreign(NAME, &raw))
    }
}

/// Usage per turn: an object, and the number of requests.
pub type Usage = BTreeMap<i64, (Vec<u8>, i64)>;

/// Reads the items of a session.
pub fn stored(database: &Database, tables: &Tables, id: &str) -> Result<Vec<Item>> {
    let (from, key) = database.by(&tables.messages, "session_id")?;
    let time = match tables.written {
        "NULL" => "NULL".to_string(),
        column => format!("t.{column}"),
    };
    let query =
        format!("SELECT t.rowid, t.message_data, {time} FROM {from} WHERE {key} = ?1 ORDER BY t.rowid");
    database.all(&query, &[id], |row| {
        Ok(Item {
            row: number(row, 0)?.unwrap_or_default(),
            data: database::bytes(row, 1)?.unwrap_or_default(),
            time: database::text(row, 2)?.and_then(|text| utc(&text)),
            turn: None,
        })
    })
}

/// Items that form one record: the index of the first one, their number, and the record.
struct Made {
    first: usize,
    items: usize,
    body: Vec<u8>,
    kind: What,
}

/// The type of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Message,
    /// Replaces everything before it.
    Compaction,
    Foreign,
}

/// Converts items to records without metadata.
fn made(items: &[Item]) -> Vec<Made> {
    let read: Vec<Option<Vec<u8>>> = items.iter().map(Item::item).collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let run: Vec<&[u8]> = read[at..].iter().map_while(|item| item.as_deref()).collect();
        if run.is_empty() {
            all.extend(items[at].as_foreign().map(|body| Made {
                first: at,
                items: 1,
                body,
                kind: What::Foreign,
            }));
            at += 1;
            continue;
        }
        for unit in request::read(Api::OpenaiResponses, &run) {
            let (first, items) = (at + unit.elements.start, unit.elements.len());
            let compaction = json::member(run[unit.elements.start], "type") == Some(b"\"compaction\"");
            let kind = if compaction {
                What::Compaction
            } else {
                What::Message
            };
            if unit.records.is_empty() {
                let bodies = run[unit.elements].iter().map(|raw| made::foreign(NAME, raw));
                all.extend(bodies.enumerate().map(|(nth, body)| Made {
                    first: first + nth,
                    items: 1,
                    body,
                    kind: What::Foreign,
                }));
                continue;
            }
            let records = unit.records.into_iter();
            all.extend(records.map(|body| Made {
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
pub fn ids(items: &[Item]) -> Vec<String> {
    let own = |made: Made| std::iter::repeat_n(id(&items[made.first]), made.items);
    let mut last = None;
    let all = made(items).into_iter();
    // The same items may form several records.
    all.filter(|made| last.replace(made.first) != Some(made.first))
        .flat_map(own)
        .collect()
}

fn id(item: &Item) -> String {
    format!("item_{}", item.row)
}

/// Returns the records of a session or a branch.
pub fn records(items: &[Item], usage: &Usage, report: &mut Report) -> Vec<Vec<u8>> {
    let all = made(items);
    // The last assistant message of each turn.
    let mut last: BTreeMap<i64, usize> = BTreeMap::new();
    for (nth, made) in all.iter().enumerate() {
        let said = json::member(&made.body, "role") == Some(b"\"assistant\"");
        if let Some(turn) = items[made.first]
            .turn
            .filter(|_| said && made.kind != What::Foreign)
        {
            last.insert(turn, nth);
        }
    }
    let told: BTreeMap<usize, &Vec<u8>> = last
        .iter()
        .filter_map(|(turn, nth)| Some((*nth, &usage.get(turn)?.0)))
        .collect();
    // Usage of several requests is only known as a sum, and a turn without an assistant message has no place for it.
    let summed = usage
        .iter()
        .filter(|(turn, (_, requests))| *requests > 1 || !last.contains_key(turn));
    report.lose(Loss::Usage, summed.count() as u64);
    tell_encrypted(items, report);
    let mut records = Vec::new();
    for (nth, made) in all.into_iter().enumerate() {
        let item = &items[made.first];
        if made.kind == What::Foreign {
            records.push(made.body);
            continue;
        }
        let (id, time) = (id(item), item.time.as_deref().map(quoted));
        let quoted_id = quoted(&id);
        let mut changes: Vec<(&str, Option<&[u8]>)> = vec![("id", Some(&quoted_id))];
        if let Some(time) = &time {
            changes.push(("timestamp", Some(time)));
        }
        if let Some(usage) = told.get(&nth) {
            changes.push(("usage", Some(usage)));
        }
        records.push(json::with_members(&made.body, &changes).unwrap_or(made.body));
        if made.kind == What::Compaction {
            records.push(cut(&id, item.time.as_deref()));
        }
    }
    records
}

/// Builds the event that hides everything before a compaction.
fn cut(message: &str, time: Option<&str>) -> Vec<u8> {
    let mut event = ObjectBuilder::default();
    event
        .text("type", "truncate")
        .text("id", &format!("evt_{message}"))
        .text("at", time.unwrap_or("1970-01-01T00:00:00Z"))
        .text("before", message);
    event.finish()
}

fn tell_encrypted(items: &[Item], report: &mut Report) {
    let locked = |item: &&Item| object(&item.data).is_some_and(|raw| json::member(&raw, "__enc__").is_some());
    let (locked, broken) = (
        items.iter().filter(locked).count(),
        items.iter().filter(|item| object(&item.data).is_none()).count(),
    );
    if locked > 0 {
        report.lose(Loss::Header, 1);
        report.note(NOWHERE, "the items are encrypted; kept unchanged");
    }
    if broken > 0 {
        report.damage(
            NOWHERE,
            format!("items that are not JSON objects, kept unchanged: {broken}"),
        );
    }
}
