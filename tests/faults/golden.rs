//! The initial and final state of each operation, from a run without faults that is checked separately.

#[cfg(feature = "sqlite")]
use super::databases::DATABASES;
use super::foreign::FOREIGN;
use super::homes::HOMES;
use super::in_parallel;
use super::log;
use super::place::{Place, State};
use super::scenario::{Between, OPERATIONS, Operation};
use super::trace::{self, Call};
use std::sync::OnceLock;

/// Without the feature, there is no plugin.
#[cfg(not(feature = "sqlite"))]
const DATABASES: &[Operation] = &[];

/// The result of `cat` on the session: status and output.
pub type Reading = (i32, Vec<u8>);

/// An operation with its states in a run without faults.
pub struct Golden {
    pub operation: &'static Operation,
    pub before: Place,
    pub old: State,
    pub new: State,
    /// The result of reading the old and the new state.
    pub readings: [Option<Reading>; 2],
    /// The displayed PicoClaw session in the old and the new state.
    pub shown: [String; 2],
    calls: OnceLock<Vec<Call>>,
}

/// Reads the operation's session with the program, if it exists.
pub fn reading(operation: &Operation, place: &Place) -> Option<Reading> {
    let id = operation.session.filter(|id| place.log(id).exists())?;
    let outcome = place.convo(&["cat", id]);
    Some((outcome.status, outcome.stdout))
}

/// The displayed messages of the PicoClaw session, without the line about the file.
pub fn shown(place: &Place) -> String {
    let outcome = place.convo(&["context", "pair/x.jsonl"]);
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let lines = text.lines().filter(|line| !line.contains("\"type\":\"session\""));
    format!("{}\n{}", outcome.status, lines.collect::<Vec<_>>().join("\n"))
}

fn logs(state: &State) -> impl Iterator<Item = (&String, &Vec<u8>)> {
    let is_log = |path: &&String| {
        path.starts_with("store/sessions/")
            || path.starts_with("store/trash/")
            || path.starts_with("work/pair/x.jsonl")
    };
    state.files.iter().filter(move |(path, _)| is_log(path))
}

/// The places where lines of a log may be.
fn kept(state: &State) -> impl Iterator<Item = &Vec<u8>> {
    let keeps = |path: &String| {
        let part = path.split('/').nth(1).unwrap_or_default();
        ["sessions", "trash", "archive", "quarantine", "pair"].contains(&part)
    };
    state
        .files
        .iter()
        .filter(move |(path, _)| keeps(path))
        .map(|(_, bytes)| bytes)
}

/// The first acknowledged line that no longer exists anywhere; its checksum may differ. A line without a newline was
/// never acknowledged.
pub fn lost<'s>(old: &'s State, now: &State) -> Option<&'s [u8]> {
    let whole = |bytes: &'_ [u8]| {
        bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1)
    };
    let there: std::collections::HashSet<&[u8]> = kept(now)
        .flat_map(|bytes| bytes.split(|byte| *byte == b'\n'))
        .map(log::bare)
        .collect();
    let mut lines = logs(old).flat_map(|(_, bytes)| bytes[..whole(bytes)].split(|byte| *byte == b'\n'));
    lines.find(|line| !line.is_empty() && !there.contains(log::bare(line)))
}

impl Golden {
    /// Prepares the operation, runs it once, and checks that run.
    pub fn of(operation: &'static Operation) -> Golden {
        let before = Place::new();
        (operation.prepare)(&before);
        let after = before.copy();
        let readings = [reading(operation, &before), None];
        let outcome = after.fed(operation.arguments, operation.input.as_bytes());
        assert_eq!(
            outcome.status, operation.status,
            "{}: {outcome:?}",
            operation.name
        );
        let (old, new) = (before.state(), after.state());
        assert!(old.files != new.files, "{} does nothing", operation.name);
        assert_eq!(new.leftovers, Vec::<String>::new(), "{}", operation.name);
        let (path, text) = operation.brings;
        if !path.is_empty() {
            let bytes = new
                .files
                .get(path)
                .unwrap_or_else(|| panic!("{}: no {path}", operation.name));
            assert!(
                String::from_utf8_lossy(bytes).contains(text),
                "{}: {path}",
                operation.name
            );
        }
        for (path, bytes) in logs(&new) {
            if path.starts_with("work/") {
                continue; // another format
            }
            let known = old.files.get(path).map_or(0, |old| log::lines(old).len());
            let lines = log::lines(bytes);
            let added = &lines[known.min(lines.len())..];
            assert!(added.iter().all(log::is_good), "{}: {path}", operation.name);
        }
        assert!(
            operation.destroys || lost(&old, &new).is_none(),
            "{}",
            operation.name
        );
        let readings = [readings[0].clone(), reading(operation, &after)];
        let shown = match operation.between {
            Between::View => [shown(&before), shown(&after)],
            _ => Default::default(),
        };
        Golden {
            shown,
            operation,
            before,
            old,
            new,
            readings,
            calls: OnceLock::new(),
        }
    }

    /// The system calls of a run without a fault.
    pub fn calls(&self) -> &[Call] {
        self.calls
            .get_or_init(|| trace::run_with(&self.before.copy(), self.operation, &[]).1)
    }

    /// All selected operations.
    pub fn all() -> Vec<Golden> {
        Golden::those(OPERATIONS.iter().chain(FOREIGN).chain(HOMES).chain(DATABASES))
    }

    /// These operations, or those whose names contain a word of `FAULTS_OF`.
    pub fn those(operations: impl Iterator<Item = &'static Operation>) -> Vec<Golden> {
        let words = std::env::var("FAULTS_OF").unwrap_or_default();
        let is_wanted = |operation: &&Operation| {
            words.is_empty() || words.split(',').any(|word| operation.name.contains(word))
        };
        in_parallel(&operations.filter(is_wanted).collect::<Vec<_>>(), |operation| {
            Golden::of(operation)
        })
    }

    /// The command for a finding.
    pub fn command(&self) -> String {
        let arguments: Vec<String> = self
            .operation
            .arguments
            .iter()
            .map(|argument| argument.chars().take(30).collect())
            .collect();
        format!("[{}] convo {}", self.operation.name, arguments.join(" "))
    }
}
