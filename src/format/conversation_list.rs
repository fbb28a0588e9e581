//! Reads inputs that are lists of conversations, one conversation at a time. Each value of the input becomes a session,
//! or a session and its branches.

use super::document::{DocumentSection, SectionRule, open_all};
use super::json_entries::EntryLine;
use super::kit::records::passthrough;
use super::native::{self, HeaderBuilder, HeaderSource};
use super::report::Report;
use super::sessions::{SessionInput, SessionReader};
use super::{DocumentSource, Format};
use crate::error::{Position, Result};
use crate::model::json::{ObjectBuilder, quoted};
use crate::model::key;
use crate::model::session::Session;

/// Description of such a format.
#[derive(Clone, Copy)]
pub struct Kinds {
    pub format: Format,
    /// A phrase for one of its values: "a conversation of a ChatGPT export".
    pub what: &'static str,
    /// Converts a value to sessions; `None` if it is not such a value.
    pub read: fn(&InputValue<'_>, &mut Report) -> Option<Vec<Session>>,
}

pub struct InputValue<'i> {
    /// The value as JSON on one line.
    pub bytes: &'i [u8],
    pub place: Position,
    /// Its number, from 1.
    number: usize,
    /// Its source, for the headers of its sessions.
    source: HeaderSource,
}

impl<'i> InputValue<'i> {
    fn of(format: Format, section: &DocumentSection<'i>) -> InputValue<'i> {
        let source = DocumentSource {
            name: section.name,
            ..DocumentSource::alone(section.bytes)
        };
        InputValue {
            bytes: section.bytes,
            place: section.place,
            number: section.number,
            source: HeaderSource::of(format, &source),
        }
    }

    /// A name for a session without one: that of the file and the number.
    pub fn name(&self) -> String {
        format!("{}#{}", self.source.name, self.number)
    }

    /// A header for a session of this name, with this metadata and the members already set.
    pub fn header(&self, name: &str, mut header: HeaderBuilder, metadata: ObjectBuilder) -> Vec<u8> {
        let id = header.named(&self.source, Some(name), 0);
        header.metadata(metadata);
        header.finish(&id)
    }

    /// A header for the nth branch of a session of this name, which follows its message `at`.
    pub fn branch_header(
        &self,
        (name, nth): (&str, usize),
        title: Option<&str>,
        at: Option<&str>,
    ) -> Vec<u8> {
        let mut header = HeaderBuilder::default();
        header.text("title", title);
        let mut metadata = ObjectBuilder::default();
        metadata.raw("lineage", native::lineage("branch", &key::id_for_key(name), at));
        self.header(&format!("{name}.{nth}"), header, metadata)
    }

    /// A session without a name and without records.
    fn session(&self) -> Session {
        let mut session = Session::default();
        session.push_new(&self.header(&self.name(), HeaderBuilder::default(), ObjectBuilder::default()));
        session
    }

    /// Appends a line converted from this value to a session.
    pub fn push(&self, session: &mut Session, body: Vec<u8>) {
        session.push_generated(body, self.place);
    }
}

/// Opens an input of such a format.
pub fn open(kinds: Kinds, input: SessionInput) -> Result<Box<dyn SessionReader>> {
    let rule = SectionRule {
        is_section: Box::new(|_| true),
        read: Box::new(move |section, report| sessions(kinds, &section, report)),
        rest: Some(Box::new(move |section, _| {
            vec![unreadable(kinds.format, &section)]
        })),
    };
    open_all(rule, input)
}

fn sessions(kinds: Kinds, section: &DocumentSection<'_>, report: &mut Report) -> Vec<Session> {
    if !section.is_value(report) {
        return vec![unreadable(kinds.format, section)];
    }
    let line = EntryLine::of(section.bytes);
    line.report(section.place, report);
    let item = InputValue {
        bytes: &line.bytes,
        ..InputValue::of(kinds.format, section)
    };
    if let Some(sessions) = (kinds.read)(&item, report) {
        return sessions;
    }
    report.damage(section.place, format!("not {}; kept unchanged", kinds.what));
    let mut session = item.session();
    item.push(&mut session, passthrough(kinds.format.name(), item.bytes));
    vec![session]
}

/// A session that only contains unparsable bytes.
fn unreadable(format: Format, section: &DocumentSection<'_>) -> Session {
    let mut session = InputValue::of(format, section).session();
    match memchr::memchr2(b'\n', b'\r', section.bytes) {
        None => session.push_new(section.bytes),
        // A record must be on one line.
        Some(_) => {
            let text = quoted(&String::from_utf8_lossy(section.bytes));
            session.push_new(&passthrough(format.name(), &text));
        }
    }
    session
}
