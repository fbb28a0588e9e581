//! Writes a session from another format as a file of version 3: one chain of entries, with ids derived from their
//! content.

use super::item::ItemWriter;
use super::new_entries::EntryChain;
use crate::error::Result;
use crate::format::kit::losses;
use crate::format::report::Loss;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{WritePurpose, WriteTarget};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{ObjectBuilder, quoted, wrapped};
use crate::model::session::Session;
use crate::model::view::View;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let mut clock = view.start_time(session).unwrap_or_else(|| EPOCH_MILLIS.to_vec());
    let id = session.header_text("id").unwrap_or_else(|| "session".to_string());
    let mut first = ObjectBuilder::default();
    first
        .text("type", "session")
        .raw("version", "3")
        .text("id", &id)
        .raw("timestamp", &clock)
        .raw("cwd", Workspace::of(session).directory());
    let mut chain = EntryChain::after(first.finish());
    if let Some(title) = session.header_text("title") {
        chain.add("session_info", &clock, &wrapped("name", quoted(&title)), None);
    }
    if purpose == WritePurpose::Export {
        let keeps =
            |body: &[u8]| losses::keeps_header(body, &losses::HEADER, &[WorkspaceMember::Directory], "");
        losses::records(session, keeps, |_| false, report);
    }
    let mut items = ItemWriter::new(session, view, &mut chain, report);
    // A summary keeps the messages before it.
    let mut kept = None;
    for item in &view.items {
        if let Some(message) = item.message(session) {
            clock = message.timestamp.map_or(clock, <[u8]>::to_vec);
            if purpose == WritePurpose::Export {
                let lost = [Loss::Id, Loss::Name];
                losses::members(&message, item.body(session), &lost, &["is_error"], items.report);
            }
            items.add(item, &clock, None);
            kept = kept.or(items.chain.last.clone());
        } else if let Some(text) = item.summary(session) {
            let own = items.chain.next_id(text.as_bytes());
            let mut compaction = ObjectBuilder::default();
            compaction
                .text("summary", &text)
                .text("firstKeptEntryId", kept.as_deref().unwrap_or(&own))
                .raw("tokensBefore", "0");
            let compaction = compaction.finish();
            items.chain.add("compaction", &clock, &compaction, Some(own));
        }
    }
    chain.write(out)
}
