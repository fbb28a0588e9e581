//! The records of a session put together to the elements that they were read from: the first of each says so in what is
//! noted on it, and the others name it.

use crate::model::json;
use crate::model::session::{Class, Session};

/// What stands in a session, in the order of its lines.
#[derive(Debug, PartialEq, Eq)]
pub enum Unit {
    /// Lines of the messages that one element was.
    Element(Vec<usize>),
    /// The line of an event that carries an element, and that as it is kept there.
    Carried(usize, Vec<u8>),
    /// A line that could not be read.
    Unreadable(usize),
}

/// The units of a session that came from the format of this name; what came from elsewhere is in none. A message begins
/// one when one of these is noted on it.
pub fn units(session: &Session, name: &str, begins: [&str; 2]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut open: Option<(Option<String>, Vec<usize>)> = None;
    for index in 0..session.len() {
        let record = session.record(index);
        let note = json::member(record.body, "metadata").and_then(|metadata| json::member(metadata, name));
        let noted = |member: &str| note.and_then(|note| json::member(note, member));
        match session.class(index) {
            Class::Message(_) => {
                let id = record.message().and_then(|message| message.id());
                let of = noted("of").and_then(json::text);
                if begins.iter().any(|begins| noted(begins).is_some()) {
                    units.extend(open.take().map(|(_, lines)| Unit::Element(lines)));
                    open = Some((id.map(|id| id.into_owned()), vec![index]));
                } else if let (Some((id, lines)), Some(of)) = (&mut open, of)
                    && id.as_deref() == Some(&*of)
                {
                    lines.push(index);
                }
            }
            Class::Event => {
                let foreign = json::member(record.body, "type") == Some(b"\"foreign\"");
                let own = || {
                    json::member(record.body, "format")
                        .and_then(json::text)
                        .as_deref()
                        == Some(name)
                };
                let raw = match foreign {
                    true => json::member(record.body, "raw").filter(|_| own()),
                    false => noted("raw"),
                };
                if let Some(raw) = raw {
                    units.extend(open.take().map(|(_, lines)| Unit::Element(lines)));
                    units.push(Unit::Carried(index, raw.to_vec()));
                }
            }
            Class::Unreadable => {
                units.extend(open.take().map(|(_, lines)| Unit::Element(lines)));
                units.push(Unit::Unreadable(index));
            }
            Class::Header | Class::Blank => {}
        }
    }
    units.extend(open.map(|(_, lines)| Unit::Element(lines)));
    units
}

/// What is noted on a record under this name.
pub fn note<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(json::member(body, "metadata")?, name)
}
