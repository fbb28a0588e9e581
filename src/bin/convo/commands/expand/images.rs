//! Reads the images that `slim` moved to files.

use crate::context::Context;
use crate::errors::named;
use crate::input::regular;
use crate::output::{columns, count_of, path_name};
use convo::error::{Error, ErrorKind, Result};
use convo::format::slim::placeholder::{Placeholder, restored};
use std::path::Path;

/// The directory of images.
pub struct Images<'p> {
    /// The directory; without one, placeholders are kept.
    pub dir: Option<&'p Path>,
}

impl Images<'_> {
    /// The record of a message with its images in place of their placeholders; `None` if it is unchanged. Without a
    /// directory, adds the number of images to `kept`.
    pub fn restored(&self, record: &[u8], kept: &mut u64) -> Result<Option<Vec<u8>>> {
        restored(record, &mut |placeholder| match self.dir {
            Some(dir) => read(dir, placeholder, Placeholder::part).map(Some),
            None => {
                *kept += 1;
                Ok(None)
            }
        })
    }

    pub fn bytes(&self, placeholder: &Placeholder) -> Result<Vec<u8>> {
        let missing = || {
            let error = Error::usage("an image requires --images");
            error.hint("name the directory of slim --images, e.g.: --images DIR")
        };
        let dir = self.dir.ok_or_else(missing)?;
        read(dir, placeholder, |placeholder, bytes| {
            placeholder.check(bytes)?;
            Ok(bytes.to_vec())
        })
    }
}

fn read(
    dir: &Path,
    placeholder: &Placeholder,
    take: impl FnOnce(&Placeholder, &[u8]) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let path = dir.join(&placeholder.file_name);
    let bytes = regular::read(&path).map_err(|error| match error.kind {
        ErrorKind::NotFound => {
            let error = Error::new(ErrorKind::NotFound, "no such image");
            error.hint("select the directory of slim --images with: --images DIR")
        }
        _ => error,
    });
    let taken = bytes.and_then(|bytes| take(placeholder, &bytes));
    taken.map_err(|error| named(error, &path_name(&path)))
}

/// Reports placeholders that were kept.
pub fn report(context: &Context, label: &str, kept: u64) {
    if kept > 0 {
        let what = format!("{} in files; restore with: --images DIR", count_of(kept, "image"));
        context.output.notice(label, &what);
    }
}

/// Prints an image.
///
/// # Errors
/// [`ErrorKind::Usage`] if standard output is a terminal.
pub fn print(context: &Context, bytes: &[u8]) -> anyhow::Result<()> {
    if columns().is_some() {
        let error = Error::usage("an image is not printed on a terminal");
        return Err(error.hint("redirect standard output to a file: > FILE").into());
    }
    context.output.styled(|out| {
        let written = out.write_all(bytes);
        Ok(written.map_err(|error| Error::io("cannot write", error))?)
    })
}
