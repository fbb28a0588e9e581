//! Reads a file of a home for lists.

use crate::errors::named;
use crate::input::quiet;
use crate::output::path_name;
use crate::overviews::OverviewReader;
use crate::programs::database::{self, DatabaseRow};
use convo::error::{ErrorKind, Result};
use convo::filter::overview::{Overview, Title, TitleSource};
use convo::format::Format;
use convo::format::report::Report;
use convo::model::lineage::SideBranch;
use convo::model::session::Session;
use convo::model::{json, time};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Returns the sessions in a file, and whether they are complete without files next to it. A title that is a question
/// is not shortened. A truncated last line is not damage, because the program may be writing it.
pub fn parts(
    path: &Path,
    format: Option<Format>,
    reader: &OverviewReader<'_>,
) -> Result<(Vec<Overview>, bool)> {
    let mut parts = Vec::new();
    let mut failed = None;
    let mut report = Report::default();
    let mut each = |_, session: Session| {
        match overview(path, &session, reader) {
            Ok(overview) => parts.push(overview),
            Err(error) => failed = Some(error),
        }
        failed.is_none()
    };
    let read = match reader.counts() {
        true => quiet::sessions(path, format, None, &mut report, &mut each),
        false => quiet::outlines(path, format, &mut report, &mut each),
    };
    let is_alone = read.map_err(|error| named(error, &path_name(path)))?;
    if let Some(error) = failed {
        return Err(error);
    }
    // Records that are not messages have times too.
    let own = parts.iter_mut().rfind(|part| side_branch(part).is_none());
    if let Some(last) = own {
        later(last, newest_time(path).as_deref());
    }
    Ok((parts, is_alone))
}

/// Sets the time of the newest record if `time` is later.
fn later(overview: &mut Overview, time: Option<&str>) {
    let own = overview.updated.as_deref();
    if let Some(time) = time
        && own.is_none_or(|own| time::is_before(own, time) == Some(true))
    {
        overview.updated = Some(time.to_string());
    }
}

fn overview(path: &Path, session: &Session, reader: &OverviewReader<'_>) -> Result<Overview> {
    let mut overview = reader.read(&path_name(path), session, false)?;
    if let Some(title) = &mut overview.title
        && title.from == TitleSource::Question
        && let Some(question) = Title::question(session)
    {
        title.text = question;
    }
    Ok(overview)
}

/// Returns the sessions in a database with their rows. Branches have the row of their session; a session that cannot be
/// read has no messages.
///
/// # Errors
/// Returns the errors of the plugin.
pub fn rows(path: &Path, reader: &OverviewReader<'_>) -> Result<Vec<(DatabaseRow, Overview)>> {
    let mut found: Vec<(DatabaseRow, Overview)> = Vec::new();
    let mut failed = None;
    database::sessions(path, &[], &mut |row, records| {
        let first = found.len();
        let mut each = |_, session: Session| {
            match overview(path, &session, reader) {
                Ok(mut overview) => {
                    later(&mut overview, row.updated.as_deref());
                    found.push((row.clone(), overview));
                }
                Err(error) => failed = Some(error),
            }
            failed.is_none()
        };
        let read = quiet::bytes(records, &mut Report::default(), &mut each);
        if let (Err(error), None) = (read, &failed)
            && error.kind != ErrorKind::Data
        {
            failed = Some(error);
        }
        if found.len() == first {
            found.push((row, Overview::default()));
        }
        failed.is_none()
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// Returns the relation of a session to the preceding session in its file.
pub fn side_branch(session: &Overview) -> Option<SideBranch> {
    SideBranch::from_name(session.lineage.as_deref()?)
}

/// Number of bytes at the end of a file that are searched for a time.
const TAIL: u64 = 16 * 1024;

/// Returns the time of the last record of a log.
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
    // Gemini CLI records the time of a session in a `$set` operation.
    let updated = |line| json::member(json::member(line, "$set")?, "lastUpdated");
    let time = json::member(line, "timestamp").or_else(|| updated(line))?;
    let time = json::text(time)?.into_owned();
    time::is_rfc3339(&time).then_some(time)
}
