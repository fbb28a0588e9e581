//! Messages as elements: those that still are what they were read as, as they were.

use super::Kind;
use crate::error::Place;
use crate::format::Purpose;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::draft::Draft;
use crate::format::request::piece::{Said, rest};
use crate::model::json;
use crate::model::message::{Message, Role};
use crate::model::record::Record;

/// How elements are written, and what is lost by it.
pub struct Spelling {
    /// The form that they get.
    pub form: &'static str,
    /// What for.
    pub purpose: Purpose,
    /// What is lost.
    pub report: Report,
}

impl Spelling {
    /// Whose losses nobody is told.
    pub fn silent(form: &'static str) -> Spelling {
        Spelling {
            form,
            purpose: Purpose::Return,
            report: Report::default(),
        }
    }

    /// Tells what stands beside what was said and is not carried: members of these names, and free ones.
    pub fn tell_books(&mut self, said: &Said<'_>, kind: &Kind, lost: &[&str]) {
        if said.message.name.is_some() && said.message.role() != Role::Tool && lost.contains(&"name") {
            self.report.lose(Loss::Name, 1);
        }
        if self.purpose != Purpose::Export {
            return;
        }
        let books = [
            ("id", Loss::Id),
            ("timestamp", Loss::Timestamp),
            ("category", Loss::Category),
            ("tokens", Loss::Usage),
            ("usage", Loss::Usage),
            ("model", Loss::Model),
        ];
        for (name, loss) in books {
            if lost.contains(&name) && json::member(said.body, name).is_some() {
                self.report.lose(loss, 1);
            }
        }
        let free = |name: &str, value: &[u8]| match name {
            "is_error" | "denied" | "invalid" => false,
            name if name == kind.name => false,
            // How it lay in another interface is of no interest here; what stood beside it there is.
            name if Api::from_name(name).is_some() => {
                let leftovers = ["members", "item", "part", "calls"];
                leftovers.iter().any(|name| json::member(value, name).is_some())
            }
            _ => true,
        };
        let mut metadata = said.message.metadata.into_iter().flat_map(|raw| rest(raw, &[]));
        let lost = metadata.any(|(name, value)| free(&name, value));
        let members = rest(said.body, &MEMBERS).next().is_some();
        self.report.lose(Loss::Metadata, u64::from(lost || members));
    }

    /// Tells of a thought that is left out.
    pub fn tell_reasoning(&mut self, part: &[u8]) {
        self.report.lose(Loss::Reasoning, 1);
        self.tell_signature(part);
    }

    /// Tells of a signature that is left out.
    pub fn tell_signature(&mut self, part: &[u8]) {
        let signed = ["signature", "encrypted_content", "thoughtSignature", "data"];
        let signed = signed.iter().any(|name| json::member(part, name).is_some());
        self.report.lose(Loss::Signature, u64::from(signed));
    }
}

/// Members of a message that are told of, or written.
const MEMBERS: [&str; 15] = [
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "reasoning",
    "refusal",
    "id",
    "timestamp",
    "category",
    "tokens",
    "usage",
    "model",
    "metadata",
    "type",
];

/// The elements that messages become.
pub fn made(kind: &Kind, drafts: &[Draft], spelling: &mut Spelling) -> Vec<Vec<u8>> {
    let bodies: Vec<_> = drafts.iter().map(|draft| draft.body_of(kind.name)).collect();
    let records: Vec<_> = bodies.iter().map(|body| record(body)).collect();
    let said = records.iter().enumerate().filter_map(|(item, record)| {
        let message = *record.message()?;
        Some(Said::of(item, record.body, message, kind.name))
    });
    (kind.spell)(&said.collect::<Vec<_>>(), spelling)
}

/// A line that is made here; whatever byte order mark it begins with is content.
pub fn record(body: &[u8]) -> Record<'_> {
    Record::parse(body, Place { line: 0, offset: 1 })
}

/// The elements of messages that follow one another: what was kept whole as it is, as long as it still reads as what
/// stands there.
pub fn spell(kind: &Kind, said: &[Said<'_>], spelling: &mut Spelling) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut begun = 0;
    let mut at = 0;
    while at < said.len() {
        match kept(kind, &said[at..], spelling.form) {
            Some((raw, length)) => {
                if begun < at {
                    out.extend((kind.spell)(&said[begun..at], spelling));
                }
                out.push(raw.to_vec());
                at += length;
                begun = at;
            }
            None => at += 1,
        }
    }
    if begun < said.len() {
        out.extend((kind.spell)(&said[begun..], spelling));
    }
    out
}

/// The element that messages were read from, and how many they are.
fn kept<'a>(kind: &Kind, said: &[Said<'a>], form: &str) -> Option<(&'a [u8], usize)> {
    let raw = said.first()?.noted("raw")?;
    if (kind.form)(raw) != form {
        return None;
    }
    let drafts = (kind.read)(raw)?;
    let now = said.get(..drafts.len()).filter(|now| !now.is_empty())?;
    // A result that came since belongs into the element.
    let more = said.get(drafts.len());
    if kind.joins && more.is_some_and(|more| more.message.role() == Role::Tool) {
        return None;
    }
    let same = drafts.iter().zip(now).all(|(draft, now)| {
        let body = draft.body_of(kind.name);
        record(&body)
            .message()
            .is_some_and(|then| agree(then, &now.message))
    });
    same.then_some((raw, now.len()))
}

/// Whether a message says what another one says.
pub fn agree(one: &Message<'_>, other: &Message<'_>) -> bool {
    one.role == other.role
        && one.content == other.content
        && one.tool_calls == other.tool_calls
        && one.tool_call_id == other.tool_call_id
        && one.reasoning == other.reasoning
        && one.name == other.name
}
