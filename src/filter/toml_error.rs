//! Reports errors of TOML files with line and column.

use crate::error::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;

/// Parses a TOML file.
///
/// # Errors
/// [`ErrorKind::Config`] with line and column.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        at(text, offset, error.message())
    })
}

/// The error for a byte offset in a file.
pub fn at(text: &str, offset: usize, what: &str) -> Error {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    error_at(line, column, what)
}

/// The error for a line and column, counted from 1.
pub fn error_at(line: usize, column: usize, what: &str) -> Error {
    Error::new(ErrorKind::Config, format!("line {line}, column {column}: {what}"))
}
