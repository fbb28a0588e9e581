//! The records of a session put together to the elements that they were read from: the first of each says so in what is
//! noted on it, and the others name it.

use crate::model::json;
use crate::model::session::{Class, Session};
use std::collections::HashMap;

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

/// Ids of messages, each of which is given out once.
#[derive(Default)]
pub struct Ids {
    known: HashMap<String, Known>,
}

/// What is known of an id.
#[derive(Default)]
struct Known {
    /// Whether it was given out.
    given: bool,
    /// Others that were tried instead of it.
    tried: u64,
}

impl Ids {
    /// Keeps an id for who has it himself.
    pub fn keep(&mut self, id: &str) {
        self.known.entry(id.to_string()).or_default();
    }

    /// The id of the next message, which has it itself or is to get it: of one that was given out already, or is kept
    /// for another, it is another one.
    pub fn next(&mut self, id: &str, has_it: bool) -> String {
        let is_new = !self.known.contains_key(id);
        let known = self.known.entry(id.to_string()).or_default();
        if is_new || (has_it && !known.given) {
            known.given = true;
            return id.to_string();
        }
        loop {
            let known = self.known.entry(id.to_string()).or_default();
            known.tried += 1;
            let other = format!("{id}~{}", known.tried + 1);
            if !self.known.contains_key(&other) {
                self.known.entry(other.clone()).or_default().given = true;
                return other;
            }
        }
    }
}

/// What is noted on a record under this name.
pub fn note<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    json::member(json::member(body, "metadata")?, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_given_out_once() {
        let mut ids = Ids::default();
        ["a", "a", "b", "a~2"].iter().for_each(|id| ids.keep(id));
        let given: Vec<String> = [
            ("a", true),
            ("a", true),
            ("b", false),
            ("a~2", true),
            ("c", false),
            ("c", false),
            ("a", true),
        ]
        .iter()
        .map(|(id, has_it)| ids.next(id, *has_it))
        .collect();
        assert_eq!(given, ["a", "a~3", "b~2", "a~2", "c", "c~2", "a~4"]);
    }
}
