//! A queue of turns with their total size.

use std::collections::VecDeque;

/// The part of the memory that a stored turn belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionPart {
    /// Waits for a summary until the memory recovers.
    Backlog,
    /// Waits for a summary.
    Pending,
    /// Kept in full.
    Recent,
}

/// A turn with its size and a unique number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueuedTurn<T> {
    pub turn: T,
    pub size: u64,
    pub serial: u64,
}

/// The number and size of the turns of a shown part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkedTurns {
    /// Number of turns.
    pub turns: u64,
    /// Sum of their sizes.
    pub size: u64,
}

/// Turns in order of age. The total size is maintained, so reading it takes constant time.
#[derive(Clone, Debug)]
pub(super) struct TurnQueue<T> {
    entries: VecDeque<QueuedTurn<T>>,
    size: u64,
}

impl<T> Default for TurnQueue<T> {
    fn default() -> Self {
        TurnQueue {
            entries: VecDeque::new(),
            size: 0,
        }
    }
}

impl<T> TurnQueue<T> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> impl Iterator<Item = &QueuedTurn<T>> {
        self.entries.iter()
    }

    pub fn into_turns(self) -> impl Iterator<Item = T> {
        self.entries.into_iter().map(|entry| entry.turn)
    }

    pub fn list(&self) -> LinkedTurns {
        LinkedTurns {
            turns: self.entries.len() as u64,
            size: self.size,
        }
    }

    /// Adds the newest turn.
    pub fn push(&mut self, entry: QueuedTurn<T>) {
        self.size += entry.size;
        self.entries.push_back(entry);
    }

    /// Removes the oldest turn.
    pub fn pop(&mut self) -> Option<QueuedTurn<T>> {
        let entry = self.entries.pop_front()?;
        self.size -= entry.size;
        Some(entry)
    }

    /// Removes the newest turn.
    pub fn pop_back(&mut self) -> Option<QueuedTurn<T>> {
        let entry = self.entries.pop_back()?;
        self.size -= entry.size;
        Some(entry)
    }

    /// Removes the oldest `count` turns.
    pub fn take(&mut self, count: usize) -> TurnQueue<T> {
        let mut taken = TurnQueue::default();
        for entry in self.entries.drain(..count) {
            self.size -= entry.size;
            taken.push(entry);
        }
        taken
    }

    /// Removes the newest `count` turns.
    pub fn take_back(&mut self, count: usize) -> TurnQueue<T> {
        let mut taken = TurnQueue::default();
        for entry in self.entries.split_off(self.entries.len() - count) {
            self.size -= entry.size;
            taken.push(entry);
        }
        taken
    }

    /// Appends newer turns.
    pub fn extend(&mut self, newer: TurnQueue<T>) {
        self.size += newer.size;
        self.entries.extend(newer.entries);
    }

    /// Keeps the turns that satisfy a condition.
    pub fn retain(&mut self, stays: impl Fn(&QueuedTurn<T>) -> bool) {
        self.entries.retain(stays);
        self.size = self.entries.iter().map(|entry| entry.size).sum();
    }
}
