//! Draws a disk state from durable and pending data.

use super::super::chance::Chance;
use super::{Change, Disk, Files, Id, Node, apply, set};
use std::collections::{BTreeMap, BTreeSet};

/// Which pending changes are on the disk.
pub enum Luck<'c> {
    Nothing,
    Everything,
    Some(&'c mut Chance),
}

impl Disk {
    /// A possible current state of the disk.
    pub fn state(&self, luck: &mut Luck<'_>) -> Files {
        let mut names: Vec<BTreeMap<String, Id>> =
            self.nodes.iter().map(|node| node.durable_names.clone()).collect();
        let mut blocked: BTreeSet<(Id, &str)> = BTreeSet::new();
        for naming in &self.namings {
            let free = !naming
                .iter()
                .any(|(dir, name, _)| blocked.contains(&(*dir, name.as_str())));
            let crosses = naming.len() == 2 && naming[0].0 != naming[1].0;
            let applied = match luck {
                _ if !free => 0,
                Luck::Nothing => 0,
                Luck::Everything => naming.len(),
                Luck::Some(chance) if crosses => chance.below(3),
                Luck::Some(chance) => usize::from(chance.coin()) * naming.len(),
            };
            for (nth, (dir, name, to)) in naming.iter().enumerate() {
                if nth < applied {
                    set(&mut names[*dir], name, *to);
                } else {
                    blocked.insert((*dir, name));
                }
            }
        }
        // A file has the same content under all its names.
        let contents: Vec<Vec<u8>> = self.nodes.iter().map(|node| content(node, luck)).collect();
        let mut files = Files::new();
        self.collect(0, "", &names, &contents, &mut files);
        files
    }

    fn collect(
        &self,
        dir: Id,
        path: &str,
        names: &[BTreeMap<String, Id>],
        contents: &[Vec<u8>],
        files: &mut Files,
    ) {
        for (name, id) in &names[dir] {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}/{name}")
            };
            if self.nodes[*id].dir {
                self.collect(*id, &path, names, contents, files);
            } else {
                files.insert(path, contents[*id].clone());
            }
        }
    }
}

fn content(node: &Node, luck: &mut Luck<'_>) -> Vec<u8> {
    let mut bytes = node.durable.clone();
    for change in &node.pending {
        match (&mut *luck, change) {
            (Luck::Nothing, _) => {}
            (Luck::Everything, _) => apply(&mut bytes, change),
            (Luck::Some(chance), Change::Length(_)) => {
                if chance.coin() {
                    apply(&mut bytes, change);
                }
            }
            (Luck::Some(chance), Change::Write(offset, data)) => {
                let part = chance.below(data.len() + 1);
                let block = (offset + part) / 512 * 512;
                let (kept, zeros) = match chance.below(6) {
                    0 => continue,
                    1 => (data.len(), false),
                    2 => (part, false),
                    3 => (block.saturating_sub(*offset), false),
                    4 => (0, true),
                    _ => (block.saturating_sub(*offset), true),
                };
                let mut written = data[..kept].to_vec();
                if zeros {
                    written.resize(data.len(), 0);
                }
                apply(&mut bytes, &Change::Write(*offset, written));
            }
        }
    }
    bytes
}
