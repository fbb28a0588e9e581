//! A session that came from elsewhere as a file of the third version: one chain of entries, their ids made of what they
//! hold.

use super::item;
use super::made::{Chain, EPOCH};
use crate::error::Result;
use crate::format::report::{Loss, Report};
use crate::format::request::piece::rest;
use crate::format::workspace::{Member, Workspace, unplaced};
use crate::format::{Purpose, written};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::session::{Class, Session};
use crate::model::view::View;
use std::collections::HashSet;
use std::io::Write;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let header = session.header();
    let find = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
    };
    let said = || {
        view.messages(session)
            .find_map(|message| message.timestamp.map(<[u8]>::to_vec))
    };
    let begun = find("created_at").or_else(said).unwrap_or_else(|| EPOCH.to_vec());
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
    let mut chain = Chain::new(true, HashSet::new(), None);
    chain.lines.push(first.finish());
    if let Some(title) = session.header_text("title") {
        let mut info = ObjectBuilder::default();
        info.text("name", &title);
        chain.add("session_info", &begun, &info.finish(), None);
    }
    if purpose == Purpose::Export {
        tell_lines(session, report);
    }
    let mut clock = begun;
    let names = item::names(session, view);
    // What stands before a summary is kept by it.
    let mut kept = None;
    for entry in &view.items {
        if let Some(message) = entry.message(session) {
            clock = message.timestamp.map_or(clock, <[u8]>::to_vec);
            if purpose == Purpose::Export {
                tell(&message, entry.body(session), report);
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
    for line in &chain.lines {
        written(out.write_all(line))?;
        written(out.write_all(b"\n"))?;
    }
    Ok(())
}

/// Counts what a message has that its entry has no place for.
fn tell(message: &Message<'_>, body: &[u8], report: &mut Report) {
    let counted = json::member(body, "tokens").is_some();
    report.lose(Loss::Usage, u64::from(counted));
    report.lose(Loss::Id, u64::from(message.id().is_some()));
    let named = message.name.is_some() && message.role() != Role::Tool;
    report.lose(Loss::Name, u64::from(named));
    let free = message
        .metadata
        .is_some_and(|raw| rest(raw, &["is_error"]).next().is_some());
    report.lose(Loss::Metadata, u64::from(free));
}

/// Counts the lines that a file has no place for.
fn tell_lines(session: &Session, report: &mut Report) {
    let kept = ["type", "version", "id", "created_at", "title", "source"];
    for index in 0..session.len() {
        match session.class(index) {
            Class::Header => {
                let other = rest(session.record(index).body, &kept).any(|(name, raw)| match name.as_ref() {
                    "metadata" => unplaced(raw, &[Member::Directory], "").next().is_some(),
                    _ => true,
                });
                report.lose(Loss::Header, u64::from(other));
            }
            Class::Event => report.lose(Loss::Event, 1),
            Class::Unreadable => report.lose(Loss::Unreadable, 1),
            Class::Message(_) | Class::Blank => {}
        }
    }
}
