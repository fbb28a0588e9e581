//! The branches of a session whose structure is stored: the items of each branch and the usage of its turns. A branch
//! continues its parent; items that both contain are returned once, in the parent.

use super::super::database::{self, Database, number};
use super::super::session_lines::object;
use super::items::{ItemRow, TurnUsage};
use convo::error::Result;
use convo::model::json::ObjectBuilder;
use std::collections::{BTreeMap, HashMap, HashSet};

const STRUCTURE: &str = "message_structure";
const TURNS: &str = "turn_usage";

/// A branch without the items of its parent.
#[derive(Default)]
pub struct Branch {
    /// Its name, if the database has branches.
    pub name: Option<String>,
    pub items: Vec<ItemRow>,
    /// Tokens that its turns used.
    pub usage: TurnUsage,
    /// Index of its parent branch.
    pub parent: usize,
    /// Index in the parent of the last item that both contain.
    pub joint: Option<usize>,
    /// Items that are in no branch; only set in the first branch.
    pub left: Vec<ItemRow>,
}

fn has(database: &Database, table: &str, columns: &[&str]) -> Result<bool> {
    let there = database.columns(table)?;
    Ok(columns
        .iter()
        .all(|name| there.iter().any(|column| column == name)))
}

/// Prepares the lookups by session.
pub fn ready(database: &Database) -> Result<()> {
    if has_branches(database)? {
        database.by(STRUCTURE, "session_id")?;
    }
    if has(database, TURNS, &["session_id"])? {
        database.by(TURNS, "session_id")?;
    }
    Ok(())
}

fn has_branches(database: &Database) -> Result<bool> {
    let columns = [
        "session_id", "message_id", "branch_id", "sequence_number", "user_turn_number",
    ];
    has(database, STRUCTURE, &columns)
}

/// Returns the branches of a session, the main branch first.
pub fn all(database: &Database, id: &str, items: Vec<ItemRow>) -> Result<Vec<Branch>> {
    let whole = |items| {
        vec![Branch {
            items,
            ..Branch::default()
        }]
    };
    if !has_branches(database)? {
        return Ok(whole(items));
    }
    let (from, key) = database.by(STRUCTURE, "session_id")?;
    let query = format!(
        "SELECT t.branch_id, t.message_id, t.user_turn_number FROM {from} WHERE {key} = ?1
         ORDER BY t.sequence_number, t.rowid"
    );
    let rows = database.all(&query, &[id], |row| {
        let name = database::text(row, 0)?.unwrap_or_default();
        Ok((name, number(row, 1)?.unwrap_or_default(), number(row, 2)?))
    })?;
    if rows.is_empty() {
        return Ok(whole(items));
    }
    // Sorted by their first item, except that the branch named `main` comes first.
    let mut names: Vec<String> = Vec::new();
    let mut listed: HashMap<String, Vec<(i64, Option<i64>)>> = HashMap::new();
    for (name, message, turn) in rows {
        if !listed.contains_key(&name) {
            names.push(name.clone());
        }
        listed.entry(name).or_default().push((message, turn));
    }
    if let Some(main) = names.iter().position(|name| name == "main") {
        names[..=main].rotate_right(1);
    }
    let mut rest: BTreeMap<i64, ItemRow> = items.into_iter().map(|item| (item.row, item)).collect();
    // Maps an item to its branch and its position in the branch.
    let mut home: HashMap<i64, (usize, usize)> = HashMap::new();
    let mut branches = Vec::new();
    for (nth, name) in names.into_iter().enumerate() {
        let mut branch = Branch {
            usage: usage(database, id, &name)?,
            ..Branch::default()
        };
        let mut turns = HashSet::new();
        for (message, turn) in listed.remove(&name).unwrap_or_default() {
            match rest.remove(&message) {
                Some(item) => {
                    home.insert(message, (nth, branch.items.len()));
                    turns.extend(turn);
                    branch.items.push(ItemRow { turn, ..item });
                }
                None if branch.items.is_empty() => {
                    if let Some((parent, at)) = home.get(&message) {
                        (branch.parent, branch.joint) = (*parent, Some(*at));
                    }
                }
                None => {}
            }
        }
        branch.usage.retain(|turn, _| turns.contains(turn) || nth == 0);
        branch.name = Some(name);
        branches.push(branch);
    }
    branches[0].left = rest.into_values().collect();
    Ok(branches)
}

fn usage(database: &Database, id: &str, branch: &str) -> Result<TurnUsage> {
    const NUMBERS: [&str; 4] = ["input_tokens", "output_tokens", "total_tokens", "requests"];
    const DETAILS: [&str; 2] = ["input_tokens_details", "output_tokens_details"];
    let needed = ["session_id", "branch_id", "user_turn_number"];
    if !has(database, TURNS, &[&needed, &NUMBERS[..], &DETAILS].concat())? {
        return Ok(TurnUsage::new());
    }
    let (from, key) = database.by(TURNS, "session_id")?;
    let columns = [&NUMBERS[..], &DETAILS].concat().join(", t.");
    let query =
        format!("SELECT t.user_turn_number, t.{columns} FROM {from} WHERE {key} = ?1 AND t.branch_id = ?2");
    let rows = database.all(&query, &[id, branch], |row| {
        let mut usage = ObjectBuilder::default();
        for (nth, name) in NUMBERS.iter().enumerate() {
            if let Some(tokens) = number(row, nth + 1)? {
                usage.raw(name, tokens.to_string());
            }
        }
        for (nth, name) in DETAILS.iter().enumerate() {
            let details = database::bytes(row, NUMBERS.len() + nth + 1)?;
            if let Some(details) = details.as_deref().and_then(object) {
                usage.raw(name, details);
            }
        }
        let requests = number(row, NUMBERS.len())?.unwrap_or(1);
        Ok((number(row, 0)?.unwrap_or_default(), (usage.finish(), requests)))
    })?;
    Ok(rows.into_iter().collect())
}
