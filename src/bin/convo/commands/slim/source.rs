//! Inputs that can be read more than once.

use crate::input::input_source::{detect_file, from_hint, stdin, unwrapped};
use crate::input::open::refuse_terminal;
use convo::error::{Error, Result};
use convo::format::Format;
use convo::store::length_before_write;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Standard input, or a file up to its length when it was opened.
pub enum SlimSource {
    File(File, u64),
    Bytes(Vec<u8>),
}

impl SlimSource {
    pub fn of(file: File) -> Result<SlimSource> {
        let length = match length_before_write(&file) {
            Some(length) => length,
            None => file
                .metadata()
                .map_err(|error| Error::io("cannot read", error))?
                .len(),
        };
        Ok(SlimSource::File(file, length))
    }

    pub fn stdin() -> Result<SlimSource> {
        refuse_terminal()?;
        let mut bytes = Vec::new();
        stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Error::io("cannot read", error))?;
        Ok(SlimSource::Bytes(bytes))
    }

    /// Reads from the beginning.
    pub fn reader(&mut self) -> Result<Box<dyn Read + '_>> {
        Ok(match self {
            SlimSource::File(file, length) => {
                file.seek(SeekFrom::Start(0))
                    .map_err(|error| Error::io("cannot read", error))?;
                Box::new(file.take(*length))
            }
            SlimSource::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        })
    }

    /// Detects the format; a compressed input is refused.
    pub fn format(&mut self, path: Option<&Path>) -> Result<Format> {
        let (head, whole, wrapped) = unwrapped(&mut self.reader()?)?;
        if wrapped.is_some() {
            let error = Error::usage("compressed or encoded");
            return Err(error.hint("decompress it first, e.g. zstd -d FILE"));
        }
        let verdict = detect_file(&head, whole, path);
        let unknown = || Error::data(verdict.problem()).hint(verdict.hint.unwrap_or_else(from_hint));
        verdict.format.ok_or_else(unknown)
    }
}
