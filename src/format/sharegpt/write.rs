//! Writes sessions as records: one per line, or each in place of its original record.

use super::NAME;
use super::record::{Record, Spelling};
use super::spell::{self, Spelled, Words, noted};
use super::turn::role_of;
use crate::error::{Error, Kind, Result};
use crate::format::kit::{Edit, Frame};
use crate::format::object::{Object, set};
use crate::format::report::{Loss, Report};
use crate::format::request::piece::{Said, array, holds_more, quoted};
use crate::format::request::{Api, order};
use crate::format::{Purpose, Returned, written};
use crate::model::header;
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::record::Record as Line;
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};
use std::collections::HashMap;
use std::io::Write;

/// Writes one session as a line.
pub fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let header = Header::of(session);
    let made = Made::of(session, view, purpose, &header, None, report);
    let members = header.own.as_deref().and_then(Object::of).unwrap_or_default();
    let members = members.object("members").unwrap_or_default();
    let mut record = ObjectBuilder::default();
    if !header.is_own
        && let Some(id) = session.header_text("id").filter(|id| !id.is_empty())
    {
        record.text("id", &id);
    }
    let turns = made.turns.iter().filter_map(|turn| match turn {
        Edit::Insert(raw) | Edit::Replace(_, raw) => Some(raw),
        Edit::Keep(_) => None,
    });
    record.raw(header.spelling.list(), array(turns));
    set(&mut record, "system", made.system.as_ref());
    set(&mut record, "tools", header.tools.as_ref());
    for (name, value) in members.members() {
        record.raw(name, value);
    }
    if purpose == Purpose::Export {
        report.lose_lines(session);
    }
    written(out.write_all(&record.finish()))?;
    written(out.write_all(b"\n"))
}

/// Writes the session of a record back: with its original bytes if unchanged, else with its unchanged turns.
pub fn back(sessions: &[Returned<'_>], out: &mut dyn Write, report: &mut Report) -> Result<()> {
    let Some((one, origin)) = sessions
        .first()
        .and_then(|first| first.session.origin().map(|origin| (first, origin)))
    else {
        return Ok(());
    };
    written(out.write_all(&origin.lead))?;
    let record = Record::of(&origin.bytes).filter(|_| one.changed);
    let Some(record) = record else {
        if one.changed {
            let error = Error::new(
                Kind::Usage,
                "elements that are not records cannot be rewritten in place",
            );
            return Err(error.hint("select records with --session"));
        }
        return written(out.write_all(&origin.bytes));
    };
    let header = Header {
        spelling: record.spelling,
        ..Header::of(one.session)
    };
    let made = Made::of(
        one.session,
        one.view,
        Purpose::Return,
        &header,
        Some(Stood {
            system: record.system.is_some(),
            turns: record.turns.len(),
        }),
        report,
    );
    let listing = Frame::of(&origin.bytes, Some(record.spelling.list()));
    let Some(listing) = listing else { return Ok(()) };
    let mut bytes = listing.splice_laid_out(&made.turns);
    if made.system.as_deref() != record.system {
        let changes = [("system", made.system.as_deref())];
        bytes = json::with_members(&bytes, &changes).unwrap_or(bytes);
    }
    // A record on one line remains on one line.
    let spread = memchr::memchr(b'\n', &origin.bytes).is_some() || memchr::memchr(b'\n', &bytes).is_none();
    written(match spread {
        true => out.write_all(&bytes),
        false => out.write_all(&json::compact(&bytes).0),
    })
}

/// The record's data in the header of a session.
struct Header {
    spelling: Spelling,
    /// Whether the session was read from a training set.
    is_own: bool,
    own: Option<Vec<u8>>,
    tools: Option<Vec<u8>>,
}

impl Header {
    fn of(session: &Session) -> Header {
        let header = session.header();
        let find = |name: &str| header::member(&header, name);
        let metadata = find("metadata");
        let member = |name| metadata.and_then(|raw| json::member(raw, name).map(<[u8]>::to_vec));
        let own = member(NAME);
        let form = own.as_deref().and_then(|own| json::member(own, "form"));
        Header {
            spelling: match form {
                Some(b"\"parts\"") => Spelling::Parts,
                _ => Spelling::Turns,
            },
            is_own: own.is_some(),
            tools: member("tools"),
            own,
        }
    }
}

/// The structure of the original record: whether it has instructions next to its turns, and the number of turns.
#[derive(Clone, Copy)]
struct Stood {
    system: bool,
    turns: usize,
}

/// The encoded session.
struct Made {
    turns: Vec<Edit>,
    system: Option<Vec<u8>>,
}

impl Made {
    /// Encodes the visible messages; unchanged ones keep their bytes.
    fn of(
        session: &Session,
        view: &View,
        purpose: Purpose,
        header: &Header,
        record: Option<Stood>,
        report: &mut Report,
    ) -> Made {
        let mut lost = Report::default();
        let order = order(session, view, header.is_own, &mut lost);
        if purpose == Purpose::Export {
            report.lose(Loss::Orphan, lost.losses.get(&Loss::Orphan).copied().unwrap_or(0));
        }
        let mut answers: HashMap<(usize, usize), usize> = HashMap::new();
        order.calls.iter().for_each(|(answer, call)| {
            answers.insert(*call, *answer);
        });
        let mut making = Making {
            session,
            view,
            purpose,
            spelling: header.spelling,
            record,
            words: words(session),
            made: Made {
                turns: Vec::new(),
                system: None,
            },
            line: 0,
            asked: false,
            report,
        };
        let mut written = vec![false; view.items.len()];
        for item in order.items {
            if std::mem::replace(&mut written[item], true) {
                continue;
            }
            let spelled = making.item(item, header.is_own);
            let calls = spelled.iter().filter(|(_, call)| call.is_some()).count();
            for (turn, call) in spelled {
                making.made.turns.push(Edit::Insert(turn));
                // Each of several calls is followed by its result.
                let answer = call.filter(|_| !header.is_own || calls > 1);
                let answer = answer.and_then(|nth| answers.get(&(item, nth)));
                if let Some(answer) = answer.filter(|answer| !written[**answer]) {
                    written[*answer] = true;
                    for (turn, _) in making.item(*answer, header.is_own) {
                        making.made.turns.push(Edit::Insert(turn));
                    }
                }
            }
        }
        making.carried(session.len());
        making.made
    }
}

/// The first unusual sender name for each role in a session.
fn words(session: &Session) -> Words {
    let mut words = Words::new();
    for (index, _) in session.messages() {
        let record = session.record(index);
        let own = record.message().map(noted).unwrap_or_default();
        if let Some(from) = own.text("from").filter(|from| from != "function_call") {
            let role = role_of(&from).to_string();
            words.entry(role).or_insert_with(|| from.into_owned());
        }
    }
    words
}

struct Making<'m> {
    session: &'m Session,
    view: &'m View,
    purpose: Purpose,
    spelling: Spelling,
    record: Option<Stood>,
    words: Words,
    made: Made,
    /// The line up to which turns without a message were handled.
    line: usize,
    /// Whether the last turn was a user message.
    asked: bool,
    report: &'m mut Report,
}

impl Making<'_> {
    /// The original turn of a line.
    fn source(&self, line: usize) -> Option<Edit> {
        let record = self.record?;
        let nth = line.checked_sub(1 + usize::from(record.system))?;
        (nth < record.turns).then_some(Edit::Keep(nth))
    }

    /// Adds the turns without a message at their original positions.
    fn carried(&mut self, before: usize) {
        while self.line < before {
            let line = self.line;
            self.line += 1;
            if self.session.class(line) != Class::Event {
                continue;
            }
            let record = self.session.record(line);
            let own = json::member(record.body, "format") == Some(&quoted(NAME)[..]);
            let turn = json::member(record.body, "raw").filter(|_| own);
            if let Some(turn) = turn {
                let turn = self.source(line).unwrap_or_else(|| Edit::Insert(turn.to_vec()));
                self.made.turns.push(turn);
            }
        }
    }

    /// The turns for an item of the view.
    fn item(&mut self, nth: usize, own_order: bool) -> Vec<Spelled> {
        let item = &self.view.items[nth];
        if let Some(body) = item.summary_message(self.session) {
            if self.purpose == Purpose::Export {
                self.report.lose(Loss::Summary, 1);
            }
            let record = Line::parse(&body, crate::error::Place { line: 0, offset: 1 });
            let message = record.message();
            return message.map_or_else(Vec::new, |message| self.message(&body, message, true));
        }
        let Some(message) = item.message(self.session) else {
            return Vec::new();
        };
        if let Some(line) = item.line() {
            self.carried(line);
        }
        let body = item.body(self.session);
        if self.purpose == Purpose::Export {
            tell(body, &message, self.report);
        }
        if let Item::Line(line) = item
            && let Some(source) = self.source(*line)
        {
            self.made.turns.push(source);
            return Vec::new();
        }
        let beside = noted(&message).get("system").is_some();
        let first = !own_order && nth == 0 && matches!(message.role(), Role::System | Role::Developer);
        if (beside || first) && self.made.system.is_none() {
            let said = Said::of(0, body, message, Api::OpenaiChat.name());
            self.made.system = Some(spell::text(&said, self.report));
            return Vec::new();
        }
        let is_new = item.line().is_none_or(|line| self.source(line).is_none());
        self.message(body, &message, is_new)
    }

    fn message(&mut self, body: &[u8], message: &Message<'_>, is_new: bool) -> Vec<Spelled> {
        let asks = message.role() == Role::User;
        if asks && self.asked && self.purpose == Purpose::Export {
            self.report.lose(Loss::Order, 1);
        }
        self.asked = asks;
        // Turns that are added to a record use its sender names.
        let usual = Words::new();
        let words = match is_new && self.record.is_some() {
            true => &self.words,
            false => &usual,
        };
        spell::turns(body, message, self.spelling, words, self.report)
    }
}

/// Reports the data of a message that a turn cannot represent.
fn tell(body: &[u8], message: &Message<'_>, report: &mut Report) {
    if message.name.is_some() && message.role() != Role::Tool {
        report.lose(Loss::Name, 1);
    }
    let members = Object::of(body).unwrap_or_default();
    let mut free = 0;
    for (name, value) in members.members() {
        match name {
            "role" | "content" | "tool_calls" | "tool_call_id" | "name" | "reasoning" => {}
            "id" => report.lose(Loss::Id, 1),
            "timestamp" => report.lose(Loss::Timestamp, 1),
            "category" => report.lose(Loss::Category, 1),
            "tokens" | "usage" => report.lose(Loss::Usage, 1),
            "model" => report.lose(Loss::Model, 1),
            "metadata" => {
                let metadata = Object::of(value).unwrap_or_default();
                free += u64::from(
                    metadata
                        .members()
                        .any(|(name, value)| name != NAME && name != "is_error" && holds_more(value)),
                );
            }
            _ => free += 1,
        }
    }
    report.lose(Loss::Metadata, free);
}
