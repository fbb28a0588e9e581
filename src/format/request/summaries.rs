//! Reads the summaries that this program wrote to a request, so that they can be compacted again.

use super::{Api, RequestElement, built_of};
use crate::error::Position;
use crate::format::report::Report;
use crate::format::spec::WritePurpose;
use crate::model::json::{self, array, quoted};
use crate::model::message::Role;
use crate::model::record::Record;
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{event, key, summary};

/// The event of a summary with which a message begins and, if it has more content, the message without it. `None` if it
/// begins with other content, or if these records would not be written as the same elements.
pub fn summary_records(api: Api, elements: &[&[u8]], record: &[u8]) -> Option<Vec<Vec<u8>>> {
    let content = json::member(record, "content")?;
    let (text, is_whole) = summary::at_the_start(content)?;
    let parsed = Record::parse(record, Position { line: 0, offset: 1 });
    let message = parsed.message()?;
    // Only these can be written for a summary. A reply or a tool result that imitates one is not a summary.
    if !matches!(message.role(), Role::System | Role::Developer | Role::User) {
        return None;
    }
    let others = || array(json::items(Some(content)).into_iter().skip(1));
    let rest = (!is_whole).then(others);
    let rest = rest.and_then(|rest| json::with_members(record, &[("content", Some(&rest))]).ok());
    let candidates = [None, Some(message.role_name())].into_iter().map(|role| {
        let mut built = event::begin("summary", &key::id_from("evt_", record));
        built
            .text("content", &text)
            .optional("as", role.as_deref().map(quoted))
            .raw("here", "true");
        let records = [built.finish()].into_iter().chain(rest.clone());
        records.collect::<Vec<_>>()
    });
    { candidates }.find(|records| restores(api, records, elements))
}

/// Whether the records are written as these elements.
fn restores(api: Api, records: &[Vec<u8>], elements: &[&[u8]]) -> bool {
    let mut session = Session::default();
    records.iter().for_each(|record| session.push_new(record));
    let view = View::replay(&session);
    let request = built_of(
        api,
        true,
        &session,
        &view,
        WritePurpose::Return,
        &mut Report::default(),
    );
    let alike = |(element, raw): (&RequestElement, &&[u8])| json::same_text(&element.raw, raw);
    request.system.is_none()
        && request.elements.len() == elements.len()
        && request.elements.iter().zip(elements).all(alike)
}
