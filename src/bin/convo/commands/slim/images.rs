//! Extracts images of sessions to files.

use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::format::slim::image::Image;
use convo::format::slim::placeholder::Placeholder;
use convo::store::{Rewrite, sync_file, write_atomically};
use std::io::Write;
use std::path::Path;

/// The destination of images.
pub struct ImageArgs<'p> {
    /// The directory; none if images are kept in the session.
    pub dir: Option<&'p Path>,
    /// Whether images are written or only counted.
    pub is_written: bool,
}

impl ImageArgs<'_> {
    /// Whether images are extracted to a directory.
    pub fn is_given(&self) -> bool {
        self.dir.is_some()
    }

    /// Writes an image unless its file exists.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if the file has different content.
    pub fn keep(&self, image: &Image) -> Result<()> {
        let Some(dir) = self.dir.filter(|_| self.is_written) else {
            return Ok(());
        };
        let path = dir.join(Placeholder::of(&image.media_type, &image.bytes).file_name);
        let at = |error| named(error, &path_name(&path));
        match std::fs::read(&path) {
            Ok(bytes) if bytes == image.bytes => return sync_file(&path).map_err(at),
            Ok(_) => {
                let error = Error::new(ErrorKind::Exists, "has other bytes than the image of this name");
                return Err(at(error.hint("nothing was changed; move it away first")));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(Error::io("cannot read", error))),
        }
        std::fs::create_dir_all(dir).map_err(|error| {
            let error = Error::io("cannot make the directory", error).kind(ErrorKind::InputOutput);
            named(error, &path_name(dir))
        })?;
        let write = |out: &mut dyn Write| {
            let written = out.write_all(&image.bytes);
            written.map_err(|error| Error::io("cannot write", error))
        };
        write_atomically(&path, write, &Rewrite::default()).map_err(at)
    }
}
