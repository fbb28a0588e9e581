//! Parses a record of a training set: its turns, and its other members.

use crate::format::object::Object;
use crate::model::json::{self, Dialect};

/// The form of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Turns with `from` and `value`.
    Turns,
    /// Messages whose content is parts.
    Parts,
}

impl Spelling {
    /// The member with the turns.
    pub fn list(self) -> &'static str {
        match self {
            Spelling::Turns => "conversations",
            Spelling::Parts => "messages",
        }
    }
}

/// A record.
#[derive(Debug)]
pub struct Record<'a> {
    /// Its form.
    pub spelling: Spelling,
    /// Its turns.
    pub turns: Vec<&'a [u8]>,
    /// The instructions next to the turns.
    pub system: Option<&'a [u8]>,
    /// The definitions of tools.
    pub tools: Option<&'a [u8]>,
    /// All members.
    pub members: Object<'a>,
}

impl<'a> Record<'a> {
    /// From its bytes; `None` if they are not a record.
    pub fn of(bytes: &'a [u8]) -> Option<Record<'a>> {
        let members = Object::of(bytes)?;
        let listed = |spelling: Spelling| {
            let list = members.get(spelling.list())?;
            Some((spelling, json::elements(list, Dialect::Strict)?))
        };
        let (spelling, turns) = listed(Spelling::Turns).or_else(|| listed(Spelling::Parts))?;
        Some(Record {
            spelling,
            turns,
            system: members.string("system"),
            tools: members.get("tools"),
            members,
        })
    }

    /// Names of the members that are converted.
    pub fn told(&self) -> Vec<&'static str> {
        let mut told = vec![self.spelling.list()];
        told.extend(self.system.map(|_| "system"));
        told.extend(self.tools.map(|_| "tools"));
        told
    }
}
