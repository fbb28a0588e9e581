//! Creates entries: their ids and lines.

use crate::error::Result;
use crate::format::request::request_part::add_extra_members;
use crate::format::written;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use std::collections::HashSet;
use std::io::Write;

/// Entries in order; each is the parent of the next.
pub struct EntryChain {
    /// Whether entries have ids; files of the first version have none.
    pub ids: bool,
    taken: HashSet<String>,
    /// Id of the last entry.
    pub last: Option<String>,
    /// The lines, without endings.
    pub lines: Vec<Vec<u8>>,
}

impl EntryChain {
    /// Entries for a file; `taken` are the ids in use.
    pub fn new(ids: bool, taken: HashSet<String>) -> EntryChain {
        EntryChain {
            ids,
            taken,
            last: None,
            lines: Vec::new(),
        }
    }

    /// Starts a file with its first line.
    pub fn after(first: Vec<u8>) -> EntryChain {
        let ids = json::member(&first, "version").is_some();
        EntryChain {
            lines: vec![first],
            ..EntryChain::new(ids, HashSet::new())
        }
    }

    /// The id of the next entry: eight hex digits that no other entry has.
    pub fn next_id(&self, content: &[u8]) -> String {
        let last = self.last.as_deref().unwrap_or_default();
        let mut nth = 0;
        loop {
            let name = [format!("{last}\n{nth}\n").as_bytes(), content].concat();
            let id = key::sha256(&name)[..8].to_string();
            if !self.taken.contains(&id) {
                return id;
            }
            nth += 1;
        }
    }

    /// Appends an entry of this type with these members, with this id or a new one.
    pub fn add(&mut self, kind: &str, timestamp: &[u8], members: &[u8], id: Option<String>) {
        let mut entry = ObjectBuilder::default();
        entry.text("type", kind);
        if self.ids {
            let id = id.unwrap_or_else(|| self.next_id(members));
            entry.text("id", &id);
            match &self.last {
                Some(parent) => entry.text("parentId", parent),
                None => entry.raw("parentId", "null"),
            };
            self.taken.insert(id.clone());
            self.last = Some(id);
        }
        entry.raw("timestamp", timestamp);
        add_extra_members(&mut entry, members, &["type", "id", "parentId", "timestamp"]);
        self.lines.push(entry.finish());
    }

    /// Appends an entry that no model receives, because pi resumes at the last entry of a file.
    pub fn add_leaf(&mut self, timestamp: &[u8]) {
        self.add("custom", timestamp, br#"{"customType":"convo","data":{}}"#, None);
    }

    /// Writes the lines.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut lines = self.lines.iter().map(|line| [line.as_slice(), b"\n"].concat());
        lines.try_for_each(|line| written(out.write_all(&line)))
    }
}
