//! Refuses a change in place whose result could not be read again, such as an empty file.

use crate::input::input_source::{detect_file, unwrapped};
use convo::error::{Error, Result};
use convo::format::Format;
use convo::format::compression;
use convo::format::detect::HEAD;
use std::io::{self, Write};
use std::path::Path;

/// Forwards bytes, and keeps the head for detection.
pub struct HeadWriter<'w> {
    out: &'w mut dyn Write,
    head: Vec<u8>,
    is_whole: bool,
}

impl<'w> HeadWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> Self {
        HeadWriter {
            out,
            head: Vec::new(),
            is_whole: true,
        }
    }

    /// Returns an error if nothing was written, or if no format would be detected; otherwise the format of another API
    /// that would be detected. An input whose format is `given` on the command line need not be detected; a file of
    /// lines may be empty.
    pub fn check(&self, path: &Path, format: Format, given: bool) -> Result<Option<Format>> {
        // The head of compressed data cannot be decompressed alone.
        let is_cut = !self.is_whole && compression::is_likely(&self.head);
        if is_cut || format.is_lines() {
            return Ok(None);
        }
        let (head, _, _) = unwrapped(&mut self.head.as_slice())?;
        let unrecognized = || {
            Error::not_in_place(format!(
                "the remaining file would not be recognized as {}",
                format.name()
            ))
        };
        if head.trim_ascii().is_empty() {
            return Err(unrecognized());
        }
        if given {
            return Ok(None);
        }
        let Some(detected) = detect_file(&head, self.is_whole, Some(path)).format else {
            return Err(unrecognized().hint(
                "give the format with --from, or write the view to a new file: convo COMMAND ... FILE > NEW.jsonl",
            ));
        };
        // Other formats have variants that are detected under one name.
        let is_other = detected != format && detected.api().is_some() && format.api().is_some();
        Ok(is_other.then_some(detected))
    }
}

impl Write for HeadWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let kept = written.min(HEAD - self.head.len());
        self.head.extend_from_slice(&bytes[..kept]);
        self.is_whole &= kept == written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
