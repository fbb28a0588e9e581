//! Records and members that a program does not need to resume a session.

use crate::model::json::JsonError;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// How files of a format are slimmed.
#[derive(Clone, Copy)]
pub struct Slimming {
    /// The removable parts, in the order of the manual.
    pub parts: &'static [SlimPart],
    /// Starts to read a file of which these parts are to be removed.
    pub open: fn(PartNames) -> Box<dyn Slimmer>,
}

/// A kind of record, or a member of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlimPart {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// What is lost without it.
    pub loss: &'static str,
    /// Whether it is removed by default.
    pub is_usual: bool,
}

impl SlimPart {
    /// A part that is removed by default.
    pub const fn usual(name: &'static str, loss: &'static str) -> SlimPart {
        SlimPart {
            name,
            loss,
            is_usual: true,
        }
    }

    /// A part that is removed on request only.
    pub const fn named(name: &'static str, loss: &'static str) -> SlimPart {
        SlimPart {
            is_usual: false,
            ..SlimPart::usual(name, loss)
        }
    }
}

/// The names of the parts to remove.
#[derive(Clone, Debug, Default)]
pub struct PartNames(pub Vec<&'static str>);

impl PartNames {
    /// Whether a part is to be removed.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// The part with this name, if it is to be removed.
    pub fn part(&self, name: &str) -> Option<&'static str> {
        self.0.iter().find(|known| **known == name).copied()
    }
}

/// The result for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slimmed<'l> {
    /// The kind of record.
    pub record: Cow<'l, str>,
    /// The removed part.
    pub part: Option<&'static str>,
    /// The remaining line.
    pub left: LineRemainder,
}

/// The remainder of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineRemainder {
    /// All of it, unchanged.
    Same,
    /// A changed line.
    Other(Vec<u8>),
    /// Nothing.
    Nothing,
}

impl<'l> Slimmed<'l> {
    /// A line that is kept unchanged.
    pub fn same(record: impl Into<Cow<'l, str>>) -> Slimmed<'l> {
        Slimmed {
            record: record.into(),
            part: None,
            left: LineRemainder::Same,
        }
    }

    /// A line that is removed as this part.
    pub fn without(record: impl Into<Cow<'l, str>>, part: &'static str) -> Slimmed<'l> {
        Slimmed {
            part: Some(part),
            left: LineRemainder::Nothing,
            ..Slimmed::same(record)
        }
    }

    /// A line with some members replaced or removed; unchanged if it is not an object.
    pub fn changed(
        record: impl Into<Cow<'l, str>>,
        part: Option<&'static str>,
        line: Result<Vec<u8>, JsonError>,
    ) -> Slimmed<'l> {
        match line {
            Ok(line) => Slimmed {
                part,
                left: LineRemainder::Other(line),
                ..Slimmed::same(record)
            },
            Err(_) => Slimmed::same(record),
        }
    }
}

/// Removes parts of a file, which is read twice, because the result for a line depends on later ones. Lines have no
/// byte order mark and no line ending; line numbers are the same both times.
pub trait Slimmer {
    /// Analyzes a line in the first pass.
    fn inspect(&mut self, number: u64, line: &[u8]);

    /// Called after the last line of the first pass.
    fn end_of_scan(&mut self) {}

    /// The line without its removed parts, in the second pass.
    fn slim<'l>(&mut self, number: u64, line: &'l [u8]) -> Slimmed<'l>;
}

/// A digest that identifies copies of texts and lines.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
