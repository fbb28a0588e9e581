//! A model of the possible disk contents after a power failure: a recorded run is replayed, and unsynced data may be
//! present, missing, partial, or zeros.
//!
//! The model assumes only what POSIX and every journaling file system guarantee: syncing a file makes its bytes and
//! length durable, but not its name; syncing a directory makes its names durable; a rename is atomic, but one between
//! directories may leave both names; operations on one name keep their order, those on different names do not.

pub mod luck;

use super::trace::Call;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

type Id = usize;

/// Possible files of a disk, by path.
pub type Files = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Clone, Debug, Default)]
struct Node {
    dir: bool,
    durable: Vec<u8>,
    live: Vec<u8>,
    pending: Vec<Change>,
    durable_names: BTreeMap<String, Id>,
    names: BTreeMap<String, Id>,
}

/// Names that change together; durable changes are removed from the list.
type Naming = Vec<(Id, String, Option<Id>)>;

#[derive(Clone, Copy, Debug)]
struct Open {
    node: Id,
    offset: usize,
    append: bool,
}

pub struct Disk {
    root: String,
    nodes: Vec<Node>,
    namings: Vec<Naming>,
    open: HashMap<i64, Open>,
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(offset, data) => {
            let end = bytes.len().max(offset + data.len());
            bytes.resize(end, 0);
            bytes[*offset..offset + data.len()].copy_from_slice(data);
        }
        Change::Length(length) => bytes.resize(*length, 0),
    }
}

impl Disk {
    /// A disk with all existing files, all of them durable.
    pub fn new(root: &Path) -> Disk {
        let mut disk = Disk {
            root: root.to_str().unwrap().to_string(),
            nodes: vec![Node {
                dir: true,
                ..Node::default()
            }],
            namings: Vec::new(),
            open: HashMap::new(),
        };
        for part in super::place::PARTS {
            disk.load(&root.join(part), 0, part);
        }
        disk
    }

    fn load(&mut self, path: &Path, parent: Id, name: &str) {
        let Ok(about) = std::fs::metadata(path) else {
            return;
        };
        let mut node = Node {
            dir: about.is_dir(),
            ..Node::default()
        };
        if !node.dir {
            node.durable = std::fs::read(path).unwrap();
            node.live = node.durable.clone();
        }
        let id = self.add(node);
        self.nodes[parent].names.insert(name.to_string(), id);
        self.nodes[parent].durable_names.insert(name.to_string(), id);
        if about.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                let entry = entry.unwrap();
                self.load(&entry.path(), id, entry.file_name().to_str().unwrap());
            }
        }
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Starts another process: closes the descriptors of the previous one.
    pub fn next_process(&mut self) {
        self.open.clear();
    }

    /// Replays a call; returns whether the possible disk contents changed.
    pub fn replay(&mut self, call: &Call) -> bool {
        let Some((arguments, result)) = call.text.rsplit_once(" = ") else {
            return false;
        };
        let Ok(result) = result.split(' ').next().unwrap_or_default().parse::<i64>() else {
            return false;
        };
        if result < 0 {
            return false;
        }
        let inside = arguments
            .trim_end()
            .strip_suffix(')')
            .and_then(|text| text.split_once('('));
        let Some((_, inside)) = inside else { return false };
        let arguments: Vec<&str> = inside.split(", ").collect();
        let number = |nth: usize| {
            arguments
                .get(nth)
                .and_then(|text| text.parse::<i64>().ok())
                .unwrap_or(-1)
        };
        let size = |nth: usize| usize::try_from(number(nth)).unwrap_or(0);
        let done = usize::try_from(result).unwrap_or(0);
        match call.name.as_str() {
            "openat" => return self.opens(&arguments, result),
            "close" => drop(self.open.remove(&number(0))),
            "dup" | "fcntl" if call.name == "dup" || inside.contains("F_DUPFD") => {
                if let Some(open) = self.open.get(&number(0)).copied() {
                    self.open.insert(result, open);
                }
            }
            "read" => {
                if let Some(open) = self.open.get_mut(&number(0)) {
                    open.offset += done;
                }
            }
            "lseek" => {
                if let Some(open) = self.open.get_mut(&number(0)) {
                    open.offset = done;
                }
            }
            "write" => {
                let Some(mut open) = self.open.get(&number(0)).copied() else {
                    return false;
                };
                if open.append {
                    open.offset = self.nodes[open.node].live.len();
                }
                self.change(
                    open.node,
                    Change::Write(open.offset, unquoted(arguments[1])[..done].to_vec()),
                );
                open.offset += done;
                self.open.insert(number(0), open);
                return true;
            }
            "pwrite64" => {
                let Some(open) = self.open.get(&number(0)).copied() else {
                    return false;
                };
                let offset = if open.append {
                    self.nodes[open.node].live.len()
                } else {
                    size(3)
                };
                self.change(
                    open.node,
                    Change::Write(offset, unquoted(arguments[1])[..done].to_vec()),
                );
                return true;
            }
            "ftruncate" => {
                let Some(open) = self.open.get(&number(0)).copied() else {
                    return false;
                };
                self.change(open.node, Change::Length(size(1)));
                return true;
            }
            "fsync" | "fdatasync" => {
                let Some(open) = self.open.get(&number(0)).copied() else {
                    return false;
                };
                self.sync(open.node);
                return true;
            }
            "syncfs" => {
                (0..self.nodes.len()).for_each(|node| self.sync(node));
                return true;
            }
            "linkat" | "link" | "renameat2" | "renameat" | "rename" | "unlinkat" | "unlink" | "mkdirat"
            | "mkdir" => {
                return self.names(&call.name, &arguments);
            }
            _ => {}
        }
        false
    }

    fn opens(&mut self, arguments: &[&str], result: i64) -> bool {
        self.open.remove(&result);
        let flags: Vec<&str> = arguments[2].split('|').collect();
        let Some((dir, name)) = self.place(arguments[0], arguments[1]) else {
            return false;
        };
        let known = self.find(dir, &name);
        let (node, built) = match known {
            Some(_) if flags.contains(&"O_TMPFILE") => (self.add(Node::default()), false),
            Some(node) => (node, false),
            None if flags.contains(&"O_CREAT") => {
                let node = self.add(Node::default());
                self.name(vec![(dir, name, Some(node))]);
                (node, true)
            }
            None => return false,
        };
        let emptied = flags.contains(&"O_TRUNC");
        if emptied {
            self.change(node, Change::Length(0));
        }
        self.open.insert(
            result,
            Open {
                node,
                offset: 0,
                append: flags.contains(&"O_APPEND"),
            },
        );
        built || emptied
    }

    fn names(&mut self, call: &str, arguments: &[&str]) -> bool {
        let at = call.contains("at");
        let place = |nth: usize| match at {
            true => self.place(arguments[2 * nth], arguments[2 * nth + 1]),
            false => self.place("AT_FDCWD", arguments[nth]),
        };
        let Some((dir, name)) = place(0).or_else(|| call.starts_with("link").then(|| (0, String::new())))
        else {
            return false;
        };
        if call.starts_with("unlink") {
            self.name(vec![(dir, name, None)]);
            return true;
        }
        if call.starts_with("mkdir") {
            let node = self.add(Node {
                dir: true,
                ..Node::default()
            });
            self.name(vec![(dir, name, Some(node))]);
            return true;
        }
        let Some((to, new)) = place(1) else { return false };
        let own = unquoted(if at { arguments[1] } else { arguments[0] });
        let node = match std::str::from_utf8(&own)
            .ok()
            .and_then(|path| path.strip_prefix("/proc/self/fd/"))
        {
            Some(number) => self.open.get(&number.parse().unwrap()).map(|open| open.node),
            None => self.find(dir, &name),
        };
        let Some(node) = node else { return false };
        let mut naming = vec![(to, new, Some(node))];
        if call.starts_with("rename") {
            naming.push((dir, name, None));
        }
        self.name(naming);
        true
    }

    /// The directory and the name of a path; none outside the root.
    fn place(&self, dir: &str, path: &str) -> Option<(Id, String)> {
        let path = String::from_utf8(unquoted(path)).ok()?;
        let (start, path) = match (path.strip_prefix('/'), dir) {
            (Some(_), _) => (0, path.strip_prefix(&self.root)?),
            (None, "AT_FDCWD") => (self.find(0, "work")?, path.as_str()),
            (None, number) => (self.open.get(&number.parse().ok()?)?.node, path.as_str()),
        };
        let mut names: Vec<&str> = path
            .split('/')
            .filter(|name| !name.is_empty() && *name != ".")
            .collect();
        let last = names.pop().unwrap_or(".");
        let dir = names
            .into_iter()
            .try_fold(start, |dir, name| self.find(dir, name))?;
        Some((dir, last.to_string()))
    }

    fn find(&self, dir: Id, name: &str) -> Option<Id> {
        if name == "." {
            Some(dir)
        } else {
            self.nodes[dir].names.get(name).copied()
        }
    }

    fn change(&mut self, node: Id, change: Change) {
        apply(&mut self.nodes[node].live, &change);
        self.nodes[node].pending.push(change);
    }

    fn name(&mut self, naming: Naming) {
        for (dir, name, to) in &naming {
            set(&mut self.nodes[*dir].names, name, *to);
        }
        self.namings.push(naming);
    }

    fn sync(&mut self, node: Id) {
        let inner = &mut self.nodes[node];
        inner.durable = inner.live.clone();
        inner.pending.clear();
        for naming in &mut self.namings {
            // A removal becomes durable only together with its replacement.
            let removes = naming.iter().any(|(dir, _, to)| *dir == node && to.is_none());
            let nodes = &mut self.nodes;
            naming.retain(|(dir, name, to)| {
                let durable = *dir == node || removes;
                if durable {
                    set(&mut nodes[*dir].durable_names, name, *to);
                }
                !durable
            });
        }
        self.namings.retain(|naming| !naming.is_empty());
    }
}

fn set(names: &mut BTreeMap<String, Id>, name: &str, to: Option<Id>) {
    match to {
        Some(node) => names.insert(name.to_string(), node),
        None => names.remove(name),
    };
}

/// Decodes a string printed by `strace -xx`.
fn unquoted(text: &str) -> Vec<u8> {
    let inner = text.trim_matches('"');
    let digits = inner.split("\\x").skip(1);
    digits
        .map(|digits| u8::from_str_radix(&digits[..2], 16).unwrap())
        .collect()
}
