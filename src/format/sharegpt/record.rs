//! A record of a training set: its turns, and what stands beside them.

use crate::format::object::Object;
use crate::model::json::{self, Dialect};

/// How a record spells what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Turns with `from` and `value`.
    Turns,
    /// Messages whose content is parts.
    Parts,
}

impl Spelling {
    /// The member that holds what was said.
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
    /// How it is spelled.
    pub spelling: Spelling,
    /// What was said, turn by turn.
    pub turns: Vec<&'a [u8]>,
    /// The instructions beside them.
    pub system: Option<&'a [u8]>,
    /// The definitions of tools.
    pub tools: Option<&'a [u8]>,
    /// All members.
    pub members: Object<'a>,
}

impl<'a> Record<'a> {
    /// Of its bytes; none when they are no record.
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

    /// Names of the members that are told otherwise.
    pub fn told(&self) -> Vec<&'static str> {
        let mut told = vec![self.spelling.list()];
        told.extend(self.system.map(|_| "system"));
        told.extend(self.tools.map(|_| "tools"));
        told
    }
}
