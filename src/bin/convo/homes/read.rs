//! Reads a file of a home for lists.

use crate::context::named;
use crate::input::quiet;
use crate::output::path_name;
use convo::error::Result;
use convo::filter::overview::{Overview, Title, TitleSource};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::lineage::{Aside, Lineage};
use std::path::Path;

/// A session in a file.
pub struct Part {
    pub overview: Overview,
    /// The title: the whole question if there is no other.
    pub title: Option<String>,
    /// What it is beside the session before it.
    pub aside: Option<Aside>,
}

/// The sessions in a file. A torn last line is no damage here: the program may be writing it.
pub fn parts(path: &Path, format: Option<Format>) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut report = Report::default();
    let read = quiet::sessions(path, format, None, &mut report, &mut |_, session| {
        let overview = Overview::of(&session, false, None);
        let title = match &overview.title {
            Some(title) if title.from == TitleSource::Question => {
                Title::question(&session).or_else(|| Some(title.text.clone()))
            }
            title => title.as_ref().map(|title| title.text.clone()),
        };
        parts.push(Part {
            aside: Lineage::of(&session).and_then(|lineage| lineage.aside()),
            overview,
            title,
        });
        true
    });
    read.map_err(|error| named(error, &path_name(path)))?;
    Ok(parts)
}
