//! Refuses a change in place whose result could not be read again, such as an empty file.

use crate::input::input_source::{detect_file, unwrapped};
use convo::error::{Error, Result};
use convo::format::Format;
use convo::format::detect::HEAD;
use std::io::{self, Write};
use std::path::Path;

/// Passes bytes on, and keeps the first ones, by which a format is detected.
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

    /// Returns an error if nothing was written, or if no format would be detected. An input whose format is `given` on
    /// the command line need not be detected; a file of lines may be empty.
    pub fn check(&self, path: &Path, format: Format, given: bool) -> Result<()> {
        // A longer file has messages.
        if !self.is_whole || format.is_lines() {
            return Ok(());
        }
        let (head, _, _) = unwrapped(&mut self.head.as_slice())?;
        let is_blank = head.trim_ascii().is_empty();
        let is_recognized = !is_blank && (given || detect_file(&head, true, Some(path)).format.is_some());
        if is_recognized {
            return Ok(());
        }
        let what = format!("the remaining file would not be recognized as {}", format.name());
        let hint = "write the view to a new file: convo COMMAND ... FILE > NEW.jsonl";
        Err(Error::usage(what).hint(hint))
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
