//! Reads a file of a home for lists.

use crate::context::named;
use crate::input::quiet;
use crate::output::path_name;
use convo::error::Result;
use convo::filter::overview::{Overview, Title, TitleSource};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::lineage::{Aside, Lineage};
use convo::model::{json, time};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// A session in a file.
pub struct Part {
    pub overview: Overview,
    /// The title: the whole question if there is no other.
    pub title: Option<String>,
    /// Its relation to the session before it.
    pub aside: Option<Aside>,
}

/// The sessions in a file. A truncated last line is not damage here: the program may be writing it.
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
    // Records that are not messages have times, too.
    let own = parts.iter_mut().rfind(|part| part.aside.is_none());
    if let (Some(last), Some(newest)) = (own, newest_time(path)) {
        let own = last.overview.updated.as_deref();
        if own.is_none_or(|own| time::is_before(own, &newest) == Some(true)) {
            last.overview.updated = Some(newest);
        }
    }
    Ok(parts)
}

/// So much of the end of a file is read for a time.
const TAIL: u64 = 16 * 1024;

/// The time of the last record of a log, if it has one.
fn newest_time(path: &Path) -> Option<String> {
    if path.extension()? != "jsonl" {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let line = tail
        .rsplit(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty())?;
    // Gemini CLI writes the time of a session in an operation.
    let updated = |line| json::member(json::member(line, "$set")?, "lastUpdated");
    let time = json::member(line, "timestamp").or_else(|| updated(line))?;
    let time = json::text(time)?.into_owned();
    time::is_rfc3339(&time).then_some(time)
}
