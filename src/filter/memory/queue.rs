//! The turns of one part of a memory, oldest first, and what they take together.

use std::collections::VecDeque;

/// A turn of a memory: what it takes, and a number that no other turn of it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<T> {
    pub turn: T,
    pub size: u64,
    pub serial: u64,
}

/// Turns of one part of what a model is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// How many.
    pub turns: u64,
    /// What they take, each by itself.
    pub size: u64,
}

/// Turns in the order of age. Their size is kept, so that a look at it costs the same for any number.
#[derive(Clone, Debug)]
pub(super) struct Queue<T> {
    entries: VecDeque<Entry<T>>,
    size: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            entries: VecDeque::new(),
            size: 0,
        }
    }
}

impl<T> Queue<T> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.entries.iter()
    }

    pub fn into_turns(self) -> impl Iterator<Item = T> {
        self.entries.into_iter().map(|entry| entry.turn)
    }

    pub fn list(&self) -> List {
        List {
            turns: self.entries.len() as u64,
            size: self.size,
        }
    }

    /// Adds the newest.
    pub fn push(&mut self, entry: Entry<T>) {
        self.size += entry.size;
        self.entries.push_back(entry);
    }

    /// Takes the oldest.
    pub fn pop(&mut self) -> Option<Entry<T>> {
        let entry = self.entries.pop_front()?;
        self.size -= entry.size;
        Some(entry)
    }

    /// Takes the newest.
    pub fn pop_back(&mut self) -> Option<Entry<T>> {
        let entry = self.entries.pop_back()?;
        self.size -= entry.size;
        Some(entry)
    }

    /// Takes the oldest, so many.
    pub fn take(&mut self, count: usize) -> Queue<T> {
        let mut taken = Queue::default();
        for entry in self.entries.drain(..count) {
            self.size -= entry.size;
            taken.push(entry);
        }
        taken
    }

    /// Takes the newest, so many.
    pub fn take_back(&mut self, count: usize) -> Queue<T> {
        let mut taken = Queue::default();
        for entry in self.entries.split_off(self.entries.len() - count) {
            self.size -= entry.size;
            taken.push(entry);
        }
        taken
    }

    /// Adds newer ones.
    pub fn extend(&mut self, newer: Queue<T>) {
        self.size += newer.size;
        self.entries.extend(newer.entries);
    }

    /// Keeps those of which this holds.
    pub fn retain(&mut self, stays: impl Fn(&Entry<T>) -> bool) {
        self.entries.retain(stays);
        self.size = self.entries.iter().map(|entry| entry.size).sum();
    }
}
