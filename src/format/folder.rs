//! Sessions as the files of a foreign system's folder: which files one becomes, and what they are called.

use super::report::Report;
use super::{Format, Purpose, penguin, picoclaw, write};
use crate::error::Result;
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::View;

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// Its name, which leads nowhere else.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The files that a session becomes, in the order in which they have to be there: whoever sees one has seen those
/// before it. `aliases` are the names that the session has where it is kept; without them those count that its header
/// tells. What does not come along goes to the report.
pub fn files(
    format: Format,
    session: &Session,
    aliases: Option<&[String]>,
    report: &mut Report,
) -> Result<Vec<FolderFile>> {
    if format == Format::Picoclaw {
        return picoclaw::pair(session, aliases, report);
    }
    let id = session.header_text("id").unwrap_or_default();
    let mut name = match format {
        // Penguin saves a session under the id in it.
        Format::Penguin => match penguin::name_of(session) {
            Some(name) if name != id => name,
            _ => key::checked_id(&id)?.to_string(),
        },
        _ => key::checked_id(&id)?.to_string(),
    };
    name.push_str(format.form().ending);
    let mut bytes = Vec::new();
    let view = View::replay(session);
    write(format, session, &view, Purpose::Export, &mut bytes, report)?;
    Ok(vec![FolderFile { name, bytes }])
}

/// Whether a file that is there is what one of these became: the same, or as its system has gone on with it since.
pub fn is_continued(format: Format, file: &FolderFile, there: &[u8]) -> bool {
    match format {
        Format::Picoclaw => picoclaw::is_continued(file, there),
        _ => file.bytes == there,
    }
}
