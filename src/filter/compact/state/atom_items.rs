//! The items of a message group. Most groups have one item, which needs no allocation.

use std::ops::Deref;

/// The items of a message group, in order; at least one.
#[derive(Clone, Debug)]
pub enum AtomItems {
    /// One item.
    One(usize),
    /// Several items.
    Several(Vec<usize>),
}

impl AtomItems {
    /// Appends an item.
    pub fn push(&mut self, at: usize) {
        match self {
            AtomItems::One(first) => *self = AtomItems::Several(vec![*first, at]),
            AtomItems::Several(items) => items.push(at),
        }
    }
}

impl Deref for AtomItems {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        match self {
            AtomItems::One(at) => std::slice::from_ref(at),
            AtomItems::Several(items) => items,
        }
    }
}

impl<'a> IntoIterator for &'a AtomItems {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
