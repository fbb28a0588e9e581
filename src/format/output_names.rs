//! The files that a session becomes in a directory of another system: their names and contents.

use super::page::PageOptions;
use super::report::Report;
use super::{DocumentSource, Format, WritePurpose, convert, html, penguin, picoclaw, write};
use crate::error::Result;
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::View;

/// A file in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirFile {
    /// Its name, without directories.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The files that a session becomes, in the order in which they must be created, so that a reader never sees a file
/// without the ones that it depends on. `aliases` are the names of the session in the store; the default is those in
/// its header. Losses go to the report.
pub fn files(
    format: Format,
    session: &Session,
    (aliases, options): (Option<&[String]>, &PageOptions),
    report: &mut Report,
) -> Result<Vec<DirFile>> {
    if format == Format::Picoclaw {
        return picoclaw::pair(session, aliases, report);
    }
    if format == Format::Html {
        let files = html::files(session, &View::replay(session), options, report)?;
        let file = |(name, bytes)| DirFile { name, bytes };
        return Ok(files.into_iter().map(file).collect());
    }
    let id = session.header_text("id").unwrap_or_default();
    let mut name = match format {
        // Penguin saves a session under the id in the document.
        Format::Penguin => match penguin::name_of(session) {
            Some(name) if name != id => name,
            _ => key::checked_id(&id)?.to_string(),
        },
        _ => key::checked_id(&id)?.to_string(),
    };
    name.push_str(format.spec().ending);
    let mut bytes = Vec::new();
    let view = View::replay(session);
    write(format, session, &view, WritePurpose::Export, &mut bytes, report)?;
    Ok(vec![DirFile { name, bytes }])
}

/// Indexes of the files that exist in an earlier, shorter version.
pub fn grown_files(format: Format, files: &[DirFile], there: &[Option<Vec<u8>>]) -> Vec<usize> {
    if format == Format::Picoclaw {
        return picoclaw::grown_files(files, there);
    }
    let is_shorter = |file: &DirFile, there: &[u8]| {
        if file.bytes == there {
            return false;
        }
        if format == Format::Html {
            return html::is_older(there, &file.bytes);
        }
        let (old, new) = (messages(format, file, there), messages(format, file, &file.bytes));
        match (old, new) {
            (Some(old), Some(new)) => !old.is_empty() && new.starts_with(&old),
            _ => !there.is_empty() && format.spec().concatenable && file.bytes.starts_with(there),
        }
    };
    let is_older = |nth: &usize| {
        there[*nth]
            .as_ref()
            .is_some_and(|there| is_shorter(&files[*nth], there))
    };
    (0..files.len().min(there.len())).filter(is_older).collect()
}

/// The messages in the view of a file with one session.
fn messages(format: Format, file: &DirFile, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if !format.is_read() {
        return None;
    }
    let source = DocumentSource {
        name: Some(&file.name),
        bytes,
        neighbor: &|_| Ok(None),
    };
    let sessions = convert(format, &source, &mut Report::default()).ok()?;
    let [session] = sessions.as_slice() else {
        return None;
    };
    Some(View::replay(session).shown(session))
}

/// Whether an existing file is identical to this one, or its continuation by its system.
pub fn is_continued(format: Format, file: &DirFile, there: &[u8]) -> bool {
    match format {
        Format::Picoclaw => picoclaw::is_continued(file, there),
        _ => file.bytes == there,
    }
}
