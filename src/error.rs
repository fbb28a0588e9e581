//! The error type, and the exit status for each kind of error.
//!
//! ```
//! use convo::error::{Error, ErrorKind};
//!
//! let error = Error::new(ErrorKind::NotFound, "no such session").hint("list sessions with: convo list");
//! assert_eq!(error.kind.status(), 66);
//! ```

use std::fmt;

/// The kind of an error. Each variant has its own status; the table of the manual is generated from [`ErrorKind::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
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

impl ErrorKind {
    /// Every kind, in the order of their statuses.
    pub const ALL: [ErrorKind; 11] = [
        ErrorKind::No,
        ErrorKind::Usage,
        ErrorKind::Data,
        ErrorKind::NotFound,
        ErrorKind::Unavailable,
        ErrorKind::Exists,
        ErrorKind::InputOutput,
        ErrorKind::Locked,
        ErrorKind::Unsure,
        ErrorKind::Unsafe,
        ErrorKind::Config,
    ];

    /// The exit status: 1 and 2 by convention, the rest as in BSD's `sysexits.h`.
    pub const fn status(self) -> u8 {
        match self {
            ErrorKind::No => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Data => 65,
            ErrorKind::NotFound => 66,
            ErrorKind::Unavailable => 69,
            ErrorKind::Exists => 73,
            ErrorKind::InputOutput => 74,
            ErrorKind::Locked => 75,
            ErrorKind::Unsure => 76,
            ErrorKind::Unsafe => 77,
            ErrorKind::Config => 78,
        }
    }

    /// The meaning of the status, as in the manual.
    pub const fn meaning(self) -> &'static str {
        match self {
            ErrorKind::No => {
                "negative result: nothing matched, nothing to undo, violations or problems found, budget not reached"
            }
            ErrorKind::Usage => "usage error",
            ErrorKind::Data => "completed, but damaged lines were found and kept (--strict: stopped)",
            ErrorKind::NotFound => "no such session, alias or file",
            ErrorKind::Unavailable => "summarizer, plugin or tokenizer failed; nothing changed",
            ErrorKind::Exists => "already exists, or name conflict",
            ErrorKind::InputOutput => "input/output error; nothing changed",
            ErrorKind::Locked => "locked or modified concurrently; nothing changed, retry",
            ErrorKind::Unsure => "written, but durability unknown: check before retrying",
            ErrorKind::Unsafe => "refused as unsafe: id, path, symlink, device, permissions",
            ErrorKind::Config => "configuration error",
        }
    }
}

/// A position in an input: line numbers count from 1, byte offsets from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Line number from 1; 0 for the input as a whole.
    pub line: u64,
    /// Offset in bytes from the start of the input.
    pub offset: u64,
}

/// An error: its kind, message, position and hint.
#[derive(Debug)]
pub struct Error {
    /// The kind, which decides the exit status.
    pub kind: ErrorKind,
    /// The problem, without the position.
    pub message: String,
    /// The input as the user named it, and the position in it.
    pub at: Option<(String, Position)>,
    /// What to do about it, printed on a separate line.
    pub hint: Option<String>,
    /// The underlying error, if any.
    pub source: Option<std::io::Error>,
}

/// The result of every fallible function of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// Describes a system error, without its number and in lower case.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    let mut text = text[..end].to_string();
    if let Some(first) = text.get(..1).map(str::to_lowercase) {
        text.replace_range(..1, &first);
    }
    text
}

impl Error {
    /// Creates an error of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            at: None,
            hint: None,
            source: None,
        }
    }

    /// Creates a usage error.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage, message)
    }

    /// Creates a usage error for a change that a file cannot have in place.
    pub fn not_in_place(message: impl Into<String>) -> Self {
        Error::usage(message).hint("write the view to a new file: convo COMMAND ... FILE > NEW.jsonl")
    }

    /// Creates an error for damaged or unsuitable data.
    pub fn data(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Data, message)
    }

    /// Creates an error for a failed read or write of `what`; a missing file becomes [`ErrorKind::NotFound`].
    pub fn io(what: impl fmt::Display, source: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match source.kind() {
            Io::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::InputOutput,
        };
        Error {
            kind,
            message: format!("{what}: {}", reason(&source)),
            at: None,
            hint: None,
            source: Some(source),
        }
    }

    /// Creates an error for a file that cannot be opened; a missing file becomes [`ErrorKind::NotFound`].
    pub fn open(source: std::io::Error) -> Self {
        let mut error = Error::io("cannot open", source);
        if error.kind == ErrorKind::NotFound {
            error.message = "no such file".to_string();
        }
        error
    }

    /// Adds the position.
    pub fn at(mut self, input: impl Into<String>, place: Position) -> Self {
        self.at = Some((input.into(), place));
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Replaces the kind.
    pub fn kind(mut self, kind: ErrorKind) -> Self {
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
