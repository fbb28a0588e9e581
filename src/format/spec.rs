//! The description of a format: how it is read, written and detected. `table.rs` lists all of them.

use super::id::Format;
use super::keyed::LineKeys;
use super::report::{LossSet, Report};
use super::request::api::Api;
use super::sessions::{SessionInput, SessionReader};
use super::slim::part::Slimming;
use crate::error::{Error, Result};
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::View;
use std::io::{self, Write};

/// Opens an input and reads its sessions one at a time.
pub type OpenFn = fn(SessionInput) -> Result<Box<dyn SessionReader>>;

/// Opens an input with several sessions; returns the input unchanged if it has one, which is read completely.
pub type OpenManyFn = fn(SessionInput) -> Result<std::result::Result<Box<dyn SessionReader>, SessionInput>>;

/// Converts a complete document and its companion files.
pub type ConvertFn = fn(&DocumentSource<'_>, &mut Report) -> Result<Vec<Session>>;

pub type WriteFn = fn(&Session, &View, WriteTarget<'_>) -> Result<()>;

/// Why and where a session is written, and the report of its losses.
pub struct WriteTarget<'t>(pub WritePurpose, pub &'t mut dyn Write, pub &'t mut Report);

/// Writes sessions of one source back to it.
pub type WriteBackFn = fn(&[EditedSession<'_>], &mut dyn Write, &mut Report) -> Result<()>;

/// A session to be written back to the input that it was read from.
pub struct EditedSession<'s> {
    /// The session.
    pub session: &'s Session,
    /// Its current view.
    pub view: &'s View,
    /// Whether the view has changed since the session was read.
    pub changed: bool,
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum ReadFn {
    /// Not at all; write-only.
    None,
    /// Line by line; each line is a record and is passed on unchanged.
    Records,
    /// One session at a time, using memory for the largest one.
    Sessions(OpenFn),
    /// Completely, with its companion files.
    Document(ConvertFn),
}

/// How many sessions an input of a format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionCount {
    /// One; another session needs another file.
    One,
    /// Any number of concatenated sessions.
    Many,
}

/// A format: its name, how it is read and written, and what it cannot represent.
#[derive(Clone, Copy)]
pub struct FormatSpec {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// One-line description for help and manual.
    pub about: &'static str,
    /// Extension of its file names.
    pub ending: &'static str,
    /// How it is read.
    pub read: ReadFn,
    /// Reads sessions that are only displayed, without the data for writing them back; `None` if that saves nothing.
    pub display: Option<OpenFn>,
    /// Reads inputs with several sessions; inputs with one are read completely.
    pub many: Option<OpenManyFn>,
    /// How many sessions an input has.
    pub session_count: SessionCount,
    /// Writes one session; `None` if read-only. The writer reports losses, including, for [`WritePurpose::Export`], lines
    /// that are not messages.
    pub write: Option<WriteFn>,
    /// Writes sessions back to their input, unchanged ones with their original bytes.
    pub write_back: Option<WriteBackFn>,
    /// Whether several sessions can be concatenated in one output.
    pub concatenable: bool,
    /// Whether it is output for human readers, whose files are never changed in place.
    pub export: bool,
    /// The API whose requests it contains.
    pub api: Option<Api>,
    /// The variant of a document, for a format with several; documents are written back in their variant.
    pub variant: Option<fn(&[u8]) -> Format>,
    /// Why sessions of other formats cannot be written, although its own files can be changed in place.
    pub refuses: Option<&'static str>,
    /// The losses that its writer reports.
    pub unsupported: LossSet,
    /// The JSON form of a session's model, if the format can represent it.
    pub model: Option<&'static str>,
    /// What can be removed from a file that still has to be resumable; `None` if the format is not supported.
    pub slims: Option<Slimming>,
    /// Id members, for a format whose lines have ids and name their predecessor.
    pub keyed: Option<LineKeys>,
    /// Whether its files usually lack tool results.
    pub omits_results: bool,
    /// Further notes on reading and writing, in a few words.
    pub note: &'static str,
}

impl FormatSpec {
    /// Default values: neither read nor written.
    pub const BLANK: FormatSpec = FormatSpec {
        name: "",
        about: "",
        ending: ".json",
        read: ReadFn::None,
        display: None,
        many: None,
        session_count: SessionCount::One,
        write: None,
        write_back: None,
        concatenable: false,
        export: false,
        api: None,
        variant: None,
        refuses: None,
        unsupported: LossSet::NONE,
        model: None,
        slims: None,
        keyed: None,
        omits_results: false,
        note: "",
    };

    /// Whether its files can be changed in place.
    pub fn is_changed_in_place(&self) -> bool {
        let is_read = !matches!(self.read, ReadFn::None);
        is_read && !self.export && (self.write.is_some() || self.is_written())
    }

    /// Whether sessions can be written in it; records are passed on unchanged.
    pub fn is_written(&self) -> bool {
        (self.write.is_some() && self.refuses.is_none()) || matches!(self.read, ReadFn::Records)
    }
}

/// A complete document and access to its companion files.
pub struct DocumentSource<'a> {
    /// File name without directory; `None` for a pipe.
    pub name: Option<&'a str>,
    /// The bytes; empty if only companion files exist.
    pub bytes: &'a [u8],
    /// Reads a file in the same directory; `None` if it does not exist.
    pub neighbor: &'a dyn Fn(&str) -> io::Result<Option<Vec<u8>>>,
}

impl<'a> DocumentSource<'a> {
    /// A source without companion files, such as a pipe.
    pub fn alone(bytes: &'a [u8]) -> DocumentSource<'a> {
        DocumentSource {
            name: None,
            bytes,
            neighbor: &|_| Ok(None),
        }
    }

    /// The file name without its extension; for a pipe, a hash of the bytes.
    pub fn name_or_hash(&self) -> String {
        self.name_or(|| key::sha256(self.bytes))
    }

    /// The same, with the SHA-256 of the bytes.
    pub fn name_or(&self, sha256: impl FnOnce() -> String) -> String {
        match self.name {
            Some(name) => name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string(),
            None => format!("session_{}", &sha256()[..16]),
        }
    }

    /// The file name without this ending; `session` for a pipe.
    pub fn stem(&self, ending: &str) -> &'a str {
        self.name
            .map_or("session", |name| name.strip_suffix(ending).unwrap_or(name))
    }
}

/// The purpose of writing a session, which decides what counts as a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePurpose {
    /// Storage: everything that is not represented is a loss.
    Export,
    /// A request to a model, which needs no ids, times and bookkeeping.
    Context,
    /// Back to the original format: original data is restored, and data added by other formats is dropped without a
    /// report.
    Return,
}

/// Converts an I/O error of writing; the caller adds the name of the output.
pub fn written(result: io::Result<()>) -> Result<()> {
    result.map_err(|error| Error::io("cannot write", error))
}
