//! Appends content of any length to a locked file.

use super::atomic::{BLOCK, WriteContent, cut, sync_end, write_end};
use crate::error::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::{self, Write};

/// Appends content to a locked file of this length, durably. On an error the file is truncated to its old length.
pub(super) fn append(file: &File, shown: &str, length: u64, content: WriteContent<'_>) -> Result<()> {
    let end = StreamEnd {
        file,
        shown,
        at: length,
        failed: None,
    };
    let mut writer = io::BufWriter::with_capacity(BLOCK, end);
    let written = content(&mut writer).and_then(|()| {
        let flushed = writer.flush();
        flushed.map_err(|error| Error::io(shown, error).kind(ErrorKind::InputOutput))
    });
    let (end, _) = writer.into_parts();
    let written_length = usize::try_from(end.at - length).unwrap_or(usize::MAX);
    match written {
        Ok(()) => sync_end(file, shown, length, written_length),
        Err(error) => {
            let error = end.failed.unwrap_or(error);
            let is_back =
                error.kind != ErrorKind::Unsure && (end.at == length || cut(file, shown, length).is_ok());
            Err(if is_back {
                error
            } else {
                error.kind(ErrorKind::Unsure)
            })
        }
    }
}

/// The end of a locked file as a writer.
struct StreamEnd<'f> {
    file: &'f File,
    shown: &'f str,
    at: u64,
    failed: Option<Error>,
}

impl Write for StreamEnd<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = write_end(self.file, self.shown, self.at, bytes).and_then(|at| match at == self.at {
            true => Ok(()),
            false => {
                let what = format!("{}: modified by another program during the write", self.shown);
                Err(Error::new(ErrorKind::Unsure, what))
            }
        });
        written.map_err(|error| {
            self.failed = Some(error);
            io::Error::other("cannot write")
        })?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::atomic::put_bytes;
    use std::io::{Seek, SeekFrom};

    #[test]
    fn content_of_many_blocks_is_appended_atomically() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"old\n").unwrap();
        let block = vec![b'x'; BLOCK - 1];
        for fails in [true, false] {
            file.seek(SeekFrom::End(0)).unwrap();
            let done = append(&file, "log", 4, &mut |out| {
                for _ in 0..3 {
                    put_bytes(out, "log", &block)?;
                }
                match fails {
                    true => Err(Error::new(ErrorKind::Locked, "changed")),
                    false => Ok(()),
                }
            });
            let (kind, length) = match fails {
                true => (Some(ErrorKind::Locked), 4),
                false => (None, 4 + 3 * block.len() as u64),
            };
            assert_eq!(done.err().map(|error| error.kind), kind);
            assert_eq!(file.metadata().unwrap().len(), length);
        }
    }
}
