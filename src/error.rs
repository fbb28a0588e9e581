//! The error type, and the exit status for each kind of error.
//!
//! ```
//! use convo::error::{Error, Kind};
//!
//! let error = Error::new(Kind::NotFound, "no such session").hint("list sessions with: convo list");
//! assert_eq!(error.kind.status(), 66);
//! ```

use std::fmt;

/// The kind of an error. Each variant has its own status; the table of the manual is generated from [`Kind::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A negative result: nothing matched, nothing to undo, a check found something.
    No,
    /// Usage error.
    Usage,
    /// Damaged lines were found.
    Data,
    /// No such session, alias or file.
    NotFound,
    /// A summarizer, plugin or tokenizer failed or is missing.
    Unavailable,
    /// Already exists, or a name conflict.
    Exists,
    /// Input or output failed.
    InputOutput,
    /// Locked, or modified concurrently.
    Locked,
    /// Written, but durability is unknown.
    Unsure,
    /// Refused as unsafe.
    Unsafe,
    /// Configuration error.
    Config,
}

impl Kind {
    /// Every kind, in the order of their statuses.
    pub const ALL: [Kind; 11] = [
        Kind::No,
        Kind::Usage,
        Kind::Data,
        Kind::NotFound,
        Kind::Unavailable,
        Kind::Exists,
        Kind::InputOutput,
        Kind::Locked,
        Kind::Unsure,
        Kind::Unsafe,
        Kind::Config,
    ];

    /// The exit status: 1 and 2 by convention, the rest as in BSD's `sysexits.h`.
    pub const fn status(self) -> u8 {
        match self {
            Kind::No => 1,
            Kind::Usage => 2,
            Kind::Data => 65,
            Kind::NotFound => 66,
            Kind::Unavailable => 69,
            Kind::Exists => 73,
            Kind::InputOutput => 74,
            Kind::Locked => 75,
            Kind::Unsure => 76,
            Kind::Unsafe => 77,
            Kind::Config => 78,
        }
    }

    /// The meaning of the status, as in the manual.
    pub const fn meaning(self) -> &'static str {
        match self {
            Kind::No => {
                "negative result: nothing matched, nothing to undo, violations or problems found, budget not reached"
            }
            Kind::Usage => "usage error",
            Kind::Data => "completed, but damaged lines were found and kept (--strict: stopped)",
            Kind::NotFound => "no such session, alias or file",
            Kind::Unavailable => "summarizer, plugin or tokenizer failed; nothing changed",
            Kind::Exists => "already exists, or name conflict",
            Kind::InputOutput => "input/output error; nothing changed",
            Kind::Locked => "locked or modified concurrently; nothing changed, retry",
            Kind::Unsure => "written, but durability unknown: check before retrying",
            Kind::Unsafe => "refused as unsafe: id, path, symlink, device, permissions",
            Kind::Config => "configuration error",
        }
    }
}

/// A position in an input: line numbers count from 1, byte offsets from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line number from 1; 0 for the input as a whole.
    pub line: u64,
    /// Offset in bytes from the start of the input.
    pub offset: u64,
}

/// An error: its kind, message, position and hint.
#[derive(Debug)]
pub struct Error {
    /// The kind, which decides the exit status.
    pub kind: Kind,
    /// The problem, without the position.
    pub message: String,
    /// The input as the user named it, and the position in it.
    pub at: Option<(String, Place)>,
    /// What to do about it, printed on a separate line.
    pub hint: Option<String>,
    /// The underlying error, if any.
    pub source: Option<std::io::Error>,
}

/// The result of every fallible function of this library.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Creates an error of this kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            at: None,
            hint: None,
            source: None,
        }
    }

    /// Creates an error for a failed read or write of `what`; a missing file becomes [`Kind::NotFound`].
    pub fn io(what: impl fmt::Display, source: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match source.kind() {
            Io::NotFound => Kind::NotFound,
            _ => Kind::InputOutput,
        };
        Error {
            kind,
            message: format!("{what}: {source}"),
            at: None,
            hint: None,
            source: Some(source),
        }
    }

    /// Adds the position.
    pub fn at(mut self, input: impl Into<String>, place: Place) -> Self {
        self.at = Some((input.into(), place));
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Replaces the kind.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((input, place)) = &self.at {
            write!(f, "{input}:")?;
            if place.line > 0 {
                write!(f, "{}: byte {}:", place.line, place.offset)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}
