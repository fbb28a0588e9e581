//! Writes a session from another format as a file of version 3: one chain of entries, with ids derived from their
//! content.

use super::item;
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
use std::collections::HashSet;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let begun = view.start_time(session).unwrap_or_else(|| EPOCH_MILLIS.to_vec());
    let mut first = ObjectBuilder::default();
    first
        .text("type", "session")
        .raw("version", "3")
        .text(
            "id",
            &session.header_text("id").unwrap_or_else(|| "session".to_string()),
        )
        .raw("timestamp", &begun)
        .raw("cwd", Workspace::of(session).directory());
    let mut chain = EntryChain::new(true, HashSet::new(), None);
    chain.lines.push(first.finish());
    if let Some(title) = session.header_text("title") {
        chain.add("session_info", &begun, &wrapped("name", quoted(&title)), None);
    }
    if purpose == WritePurpose::Export {
        let keeps =
            |body: &[u8]| losses::keeps_header(body, &losses::HEADER, &[WorkspaceMember::Directory], "");
        losses::records(session, keeps, |_| false, report);
    }
    let mut clock = begun;
    let names = item::names(session, view);
    // The messages before a summary are kept by it.
    let mut kept = None;
    for entry in &view.items {
        if let Some(message) = entry.message(session) {
            clock = message.timestamp.map_or(clock, <[u8]>::to_vec);
            if purpose == WritePurpose::Export {
                let lost = [Loss::Id, Loss::Name];
                losses::members(&message, entry.body(session), &lost, &["is_error"], report);
            }
            item::add(&mut chain, entry, session, &clock, None, &names, report);
            kept = kept.or(chain.last.clone());
        } else if let Some(text) = entry.summary(session) {
            let own = chain.next_id(text.as_bytes());
            let mut compaction = ObjectBuilder::default();
            compaction
                .text("summary", &text)
                .text("firstKeptEntryId", kept.as_deref().unwrap_or(&own))
                .raw("tokensBefore", "0");
            chain.add("compaction", &clock, &compaction.finish(), Some(own));
        }
    }
    chain.write(out)
}
