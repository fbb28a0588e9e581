//! What a format is to the rest of the library: a row of the table in `table.rs`.

use super::id::Format;
use super::keyed::Keyed;
use super::report::{Loss, Report};
use super::request::api::Api;
use super::sessions::{Input, SessionReader};
use super::slim::part::Slimming;
use crate::error::{Error, Result};
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::View;
use std::io::{self, Write};

/// Opens an input whose sessions come one after another.
pub type Open = fn(Input) -> Result<Box<dyn SessionReader>>;

/// Opens an input that holds many sessions; gives it back when it holds one, which is read as a whole.
pub type OpenMany = fn(Input) -> Result<std::result::Result<Box<dyn SessionReader>, Input>>;

/// Reads a whole document, and what lies beside it.
pub type Convert = fn(&Source<'_>, &mut Report) -> Result<Vec<Session>>;

/// Writes the view of one session.
pub type Save = fn(&Session, &View, Purpose, &mut dyn Write, &mut Report) -> Result<()>;

/// Writes the sessions that share an origin back to where that stands.
pub type Back = fn(&[Returned<'_>], &mut dyn Write, &mut Report) -> Result<()>;

/// A session on its way back into the input that it came from.
pub struct Returned<'s> {
    /// The session.
    pub session: &'s Session,
    /// What is in view of it now.
    pub view: &'s View,
    /// Whether that is not what was in view when it came.
    pub changed: bool,
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum Reading {
    /// Not at all: it is written only.
    None,
    /// Each line is a record of the stream as it is, and is passed on as it came.
    Records,
    /// Session by session, in the memory that the largest of them takes.
    Sessions(Open),
    /// As a whole, with what lies beside it.
    Document(Convert),
}

/// How many sessions an input of a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// One: a second one needs a second file.
    One,
    /// Any number of them, one behind the other.
    Many,
}

/// A format: its name, how it is read and written, and what it cannot carry.
#[derive(Clone, Copy)]
pub struct Form {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// One line about it, for help and manual.
    pub about: &'static str,
    /// What the names of its files end with.
    pub ending: &'static str,
    /// How it is read.
    pub read: Reading,
    /// Reads an input that holds many sessions one after another, although those that hold one are read as a whole.
    pub many: Option<OpenMany>,
    /// How many sessions are in one input of it that is read.
    pub holds: Holds,
    /// Writes one session; none when it is read only. What does not come along is told by the writer, and with
    /// [`Purpose::Export`] so are the lines that are no messages.
    pub write: Option<Save>,
    /// Writes several sessions back into the input that they came from, untouched ones as the bytes they were.
    pub back: Option<Back>,
    /// Whether several sessions may be written to one output, one behind the other.
    pub joins: bool,
    /// Whether it is written for people and not to go on with: no file of it is changed in place.
    pub export: bool,
    /// The interface whose requests it is.
    pub api: Option<Api>,
    /// The form in which a document of this format is, where there are several: what is written back is to have it.
    pub variant: Option<fn(&[u8]) -> Format>,
    /// Why sessions from elsewhere are not written in it, although its own files are changed in place.
    pub refuses: Option<&'static str>,
    /// What the writer tells as lost, of sessions that have it.
    pub loses: &'static [Loss],
    /// The form of the model of a whole session, which it has a place for.
    pub model: Option<&'static str>,
    /// What can be removed of a file without harm to resuming; none if it is not slimmed.
    pub slims: Option<Slimming>,
    /// How its lines are known where they have ids and name the line before them.
    pub keyed: Option<Keyed>,
    /// Whether its files usually have no results of calls.
    pub omits_results: bool,
    /// What else is worth knowing of reading and writing it, in a few words.
    pub note: &'static str,
}

impl Form {
    /// What a format is that says nothing of itself: neither read nor written.
    pub const BLANK: Form = Form {
        name: "",
        about: "",
        ending: ".json",
        read: Reading::None,
        many: None,
        holds: Holds::One,
        write: None,
        back: None,
        joins: false,
        export: false,
        api: None,
        variant: None,
        refuses: None,
        loses: &[],
        model: None,
        slims: None,
        keyed: None,
        omits_results: false,
        note: "",
    };

    /// Whether a file of it can be changed in place: what is read of it is written back.
    pub fn is_changed_in_place(&self) -> bool {
        let is_read = !matches!(self.read, Reading::None);
        is_read && !self.export && (self.write.is_some() || self.is_written())
    }

    /// Whether sessions can be written in it; records go out as they came.
    pub fn is_written(&self) -> bool {
        (self.write.is_some() && self.refuses.is_none()) || matches!(self.read, Reading::Records)
    }
}

/// A document that is read as a whole, and what lies beside it.
pub struct Source<'a> {
    /// Name of the file without its folder; none for a pipe.
    pub name: Option<&'a str>,
    /// The bytes; empty when only neighbours are there.
    pub bytes: &'a [u8],
    /// The bytes of a file in the same folder; none when there is no such file.
    pub neighbour: &'a dyn Fn(&str) -> io::Result<Option<Vec<u8>>>,
}

impl<'a> Source<'a> {
    /// A source without neighbours, as a pipe is.
    pub fn alone(bytes: &'a [u8]) -> Source<'a> {
        Source {
            name: None,
            bytes,
            neighbour: &|_| Ok(None),
        }
    }

    /// The name without its extension; for a pipe a name that is made of the bytes.
    pub fn name_or_hash(&self) -> String {
        match self.name {
            Some(name) => name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string(),
            None => format!("session_{}", &key::sha256(self.bytes)[..16]),
        }
    }

    /// The name without this ending; `session` for a pipe.
    pub fn stem(&self, ending: &str) -> &'a str {
        self.name
            .map_or("session", |name| name.strip_suffix(ending).unwrap_or(name))
    }
}

/// What a session is written for; decides what counts as a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To keep it: whatever does not come along is lost.
    Export,
    /// To send it to a model: ids, times and books were never meant for it.
    Context,
    /// Back in the format that it came in: what was there before is there again, and what was added on the way
    /// goes without a word.
    Return,
}

/// An error of writing, as this library tells it; the one who opened the output knows its name.
pub fn written(result: io::Result<()>) -> Result<()> {
    result.map_err(|error| Error::io("cannot write", error))
}
