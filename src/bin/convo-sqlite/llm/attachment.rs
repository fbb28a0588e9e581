//! An attachment: its bytes, its URL, or its path.

use super::super::database::{self, Database};
use convo::error::Result;
use convo::format::report::{Loss, Report};
use convo::format::request;
use convo::model::json::{ObjectBuilder, quoted};

/// A row of the table.
#[derive(Default)]
pub struct AttachmentRow {
    kind: Option<String>,
    path: Option<String>,
    url: Option<String>,
    content: Option<Vec<u8>>,
}

/// The columns that [`of_row`] reads, in this order.
pub const COLUMNS: &str = "type, path, url, content";

/// Reads an attachment from these columns, which begin at index `ahead`.
pub fn of_row(row: &rusqlite::Row<'_>, before: usize) -> rusqlite::Result<AttachmentRow> {
    Ok(AttachmentRow {
        kind: database::text(row, before)?,
        path: database::text(row, before + 1)?,
        url: database::text(row, before + 2)?,
        content: database::bytes(row, before + 3)?.filter(|content| !content.is_empty()),
    })
}

pub fn find(database: &Database, id: &str) -> Result<Option<AttachmentRow>> {
    let query = format!("SELECT {COLUMNS} FROM attachments WHERE id = ?1");
    database.first(&query, &[id], |row| of_row(row, 0))
}

/// Converts an attachment to a content part. Only the path of a file is known, so a file is reported as a loss.
pub fn part(attachment: Option<&AttachmentRow>, report: &mut Report) -> Vec<u8> {
    let known = attachment.and_then(|attachment| {
        let kind = attachment.kind.as_deref();
        match (&attachment.content, &attachment.url) {
            (Some(content), _) => request::attached(kind.unwrap_or("application/octet-stream"), content),
            (None, Some(url)) => request::linked(kind, url),
            (None, None) => None,
        }
    });
    known.unwrap_or_else(|| {
        report.count_loss(Loss::Attachment, 1);
        let mut inner = ObjectBuilder::default();
        for (name, value) in [
            ("type", attachment.and_then(|attachment| attachment.kind.as_ref())),
            ("url", attachment.and_then(|attachment| attachment.url.as_ref())),
            ("path", attachment.and_then(|attachment| attachment.path.as_ref())),
        ] {
            if let Some(value) = value {
                inner.raw(name, quoted(value));
            }
        }
        let mut part = ObjectBuilder::default();
        part.text("type", "attachment").raw("attachment", inner.finish());
        part.finish()
    })
}
