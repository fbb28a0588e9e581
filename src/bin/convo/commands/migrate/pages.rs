//! The index of a directory of pages.

use crate::errors::named;
use crate::input::regular;
use convo::error::{Error, Result};
use convo::format::html;
use convo::format::page::PageOptions;
use convo::store::{Rewrite, write_atomically};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Writes the index of all pages in a directory; an up-to-date index is not replaced.
pub fn write_index(dir: &Path, page: &PageOptions, lock_timeout: Duration) -> Result<()> {
    let cannot_read = |error| Error::io("cannot read", error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(cannot_read)? {
        let name = entry.map_err(cannot_read)?.file_name();
        names.extend(name.into_string().ok().filter(|name| name.ends_with(".html")));
    }
    names.sort();
    let mut pages = Vec::new();
    for name in names.into_iter().filter(|name| name != html::INDEX) {
        let file = regular::open_target(&dir.join(&name)).map_err(|error| named(error, &name))?;
        let Some(file) = file else { continue };
        let mut head = Vec::new();
        file.take(html::HEAD as u64)
            .read_to_end(&mut head)
            .map_err(cannot_read)?;
        pages.push((name, head));
    }
    let pages = pages.iter().map(|(name, head)| (name.as_str(), head.as_slice()));
    let index = html::index(pages, page);
    let path = dir.join(html::INDEX);
    if let Some(file) = regular::open_target(&path)?
        && regular::read_all(file)? == index
    {
        return Ok(());
    }
    let options = Rewrite {
        lock_timeout,
        ..Rewrite::default()
    };
    let write = |out: &mut dyn std::io::Write| {
        let written = out.write_all(&index);
        written.map_err(|error| Error::io("cannot write", error))
    };
    write_atomically(&path, write, &options)
}
