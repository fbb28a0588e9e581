//! A history as a session.

use super::NAME;
use super::element::{self, Kind, stamp, text};
use super::panel::{self, Panel};
use crate::error::{Place, Result};
use crate::format::content;
use crate::format::kit::Frame;
use crate::format::kit::records::passthrough;
use crate::format::listing::{Unit, refused, whole};
use crate::format::native::HeaderBuilder;
use crate::format::report::Report;
use crate::format::request::piece::{array, quoted, wrapped};
use crate::format::workspace::Workspace;
use crate::format::{Format, Source};
use crate::model::json::{self, Dialect, ObjectBuilder};
use crate::model::key::{self, Derive};
use crate::model::origin::Origin;
use crate::model::session::Session;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Reads a history with what lies beside it.
pub fn read(source: &Source<'_>, report: &mut Report) -> Result<Vec<Session>> {
    let listing = listing(source.bytes)?;
    let panel = (source.neighbour)(panel::NAME).ok().flatten();
    let panel = panel.and_then(|bytes| Panel::of(&bytes));
    let mut history = history(source, &listing, panel.as_ref(), report);
    history.session.set_origin(Arc::new(Origin {
        bytes: source.bytes.to_vec(),
        ..Origin::default()
    }));
    if panel.is_none() && !history.is_roo() {
        let what = format!(
            "{}, which lists the messages that Cline omits, is missing; all messages are in the view",
            panel::NAME
        );
        report.note(Place { line: 0, offset: 0 }, what);
    }
    Ok(vec![history.session])
}

/// The list that a history is.
pub fn listing(bytes: &[u8]) -> Result<Frame<'_>> {
    let start = whole(bytes, "history")?;
    let Some(listing) = Frame::of(bytes, None) else {
        return Err(refused(bytes, start, "not an array of messages"));
    };
    let elements = || (0..listing.elements.len()).map(|nth| listing.element(nth));
    if elements().any(|raw| text(raw, "say").is_some() || text(raw, "ask").is_some()) {
        let error = refused(bytes, start, "the messages that Cline or Roo display".to_string());
        return Err(error.hint("read the session from api_conversation_history.json next to this file"));
    }
    if !elements().any(|raw| json::member(raw, "role").is_some()) {
        return Err(refused(bytes, start, "contains no messages".to_string()));
    }
    Ok(listing)
}

/// A session, and which of its lines its elements became.
pub struct History {
    /// The session.
    pub session: Session,
    /// The elements, those that are read as one together.
    pub units: Vec<Unit>,
    roo: bool,
}

impl History {
    /// Whether Roo tagged something in it.
    pub fn is_roo(&self) -> bool {
        self.roo
    }
}

/// Whether an element has a tag of Roo's.
pub fn is_tagged(element: &[u8]) -> bool {
    let tags = ["condenseId", "condenseParent", "truncationId", "truncationParent"];
    tags.iter().any(|name| json::member(element, name).is_some())
}

/// Makes a session of the elements.
pub fn history(
    source: &Source<'_>,
    listing: &Frame<'_>,
    panel: Option<&Panel>,
    report: &mut Report,
) -> History {
    let elements: Vec<Vec<u8>> = (0..listing.elements.len())
        .map(|nth| json::compact(listing.element(nth)).0)
        .collect();
    let kinds: Vec<Kind> = elements.iter().map(|element| Kind::of(element)).collect();
    let usage = usage(&elements, panel);
    let mut building = Building::new(&elements, &kinds);
    building.session.push_new(&header(source, &elements));
    let mut place = Place { line: 1, offset: 0 };
    let mut counted = 0;
    let mut thoughts: Vec<usize> = Vec::new();
    for (nth, element) in elements.iter().enumerate() {
        let at = listing.elements[nth].start;
        place.line += memchr::memchr_iter(b'\n', &source.bytes[counted..at]).count() as u64;
        place.offset = at as u64;
        counted = at;
        building.place = place;
        let assistant = json::member(element, "role") == Some(b"\"assistant\"");
        if kinds[nth] != Kind::Reasoning && !(kinds[nth] == Kind::Message && assistant) {
            // What was thought belongs to what the model says next, and it says nothing.
            for thought in thoughts.drain(..) {
                building.foreign(thought, report);
            }
        }
        match kinds[nth] {
            Kind::Message => {
                if let Some(fault) = content::fault(element, &[]) {
                    report.damage(place, fault);
                }
                building.message(nth, &std::mem::take(&mut thoughts), usage.get(&nth));
            }
            Kind::Summary => building.summary(nth),
            Kind::Marker => building.marker(nth),
            Kind::Reasoning => thoughts.push(nth),
            Kind::Other => building.foreign(nth, report),
        }
    }
    for thought in thoughts {
        building.foreign(thought, report);
    }
    building.finish(panel)
}

/// What each message of the model used, by its element, where the panel alone says it.
fn usage<'p>(elements: &[Vec<u8>], panel: Option<&'p Panel>) -> HashMap<usize, &'p [u8]> {
    let mut found = HashMap::new();
    let Some(panel) = panel else { return found };
    if elements
        .iter()
        .any(|element| json::member(element, "metrics").is_some())
    {
        return found;
    }
    let mut used = panel.used.iter().peekable();
    for (nth, element) in elements.iter().enumerate() {
        let Some(stamp) = stamp(element).filter(|_| json::member(element, "role") == Some(b"\"assistant\""))
        else {
            continue;
        };
        let mut last = None;
        while let Some((_, told)) = used.next_if(|(begun, _)| *begun <= stamp) {
            last = Some(told.as_slice());
        }
        found.extend(last.map(|told| (nth, told)));
    }
    found
}

/// A message that was made.
struct Said {
    id: String,
    /// Its element.
    element: usize,
    /// The calls that it makes, or the one that it answers.
    calls: Vec<String>,
    answers: Option<String>,
}

struct Building<'e> {
    elements: &'e [Vec<u8>],
    kinds: &'e [Kind],
    session: Session,
    units: Vec<Unit>,
    place: Place,
    derive: Derive,
    known: HashSet<String>,
    said: Vec<Said>,
    /// What each cut hides and is not out of view yet, by the cut's id.
    cut: HashMap<String, Vec<usize>>,
    /// The last summary, from which on the history is sent.
    last: Option<usize>,
}

impl<'e> Building<'e> {
    fn new(elements: &'e [Vec<u8>], kinds: &'e [Kind]) -> Self {
        Building {
            elements,
            kinds,
            session: Session::default(),
            units: Vec::new(),
            place: Place { line: 1, offset: 0 },
            derive: Derive::default(),
            known: HashSet::new(),
            said: Vec::new(),
            cut: HashMap::new(),
            last: kinds.iter().rposition(|kind| *kind == Kind::Summary),
        }
    }

    fn push(&mut self, body: Vec<u8>) {
        self.session.push_made(body, self.place);
    }

    fn unit(&mut self, elements: std::ops::Range<usize>, start: usize) {
        self.units.push(Unit {
            elements,
            lines: start..self.session.len(),
        });
    }

    fn message(&mut self, nth: usize, thoughts: &[usize], used: Option<&&[u8]>) {
        let element = &self.elements[nth];
        let own = text(element, "id").is_some_and(|id| self.known.insert(id.into_owned()));
        let raws: Vec<&[u8]> = thoughts
            .iter()
            .map(|nth| self.elements[*nth].as_slice())
            .collect();
        let start = self.session.len();
        for (at, mut body) in element::bodies(element, &raws, own).into_iter().enumerate() {
            if let Some(used) = used.filter(|_| at == 0) {
                body = json::with_members(&body, &[("usage", Some(used))]).unwrap_or(body);
            }
            let id = match text(&body, "id") {
                Some(id) => id.into_owned(),
                None => self.derive.id(&body),
            };
            let calls =
                json::member(&body, "tool_calls").and_then(|raw| json::elements(raw, Dialect::Strict));
            let calls = calls
                .unwrap_or_default()
                .into_iter()
                .filter_map(|call| text(call, "id"));
            if let Some(cut) = text(element, "truncationParent") {
                self.cut
                    .entry(cut.into_owned())
                    .or_default()
                    .push(self.said.len());
            }
            self.said.push(Said {
                id,
                element: nth,
                calls: calls.map(|id| id.into_owned()).collect(),
                answers: text(&body, "tool_call_id").map(|id| id.into_owned()),
            });
            self.push(body);
        }
        self.unit(nth - thoughts.len()..nth + 1, start);
    }

    fn foreign(&mut self, nth: usize, report: &mut Report) {
        let start = self.session.len();
        if self.kinds[nth] == Kind::Other {
            let what = "not a message; kept unchanged";
            report.damage(self.place, what);
        }
        self.push(passthrough(NAME, &self.elements[nth]));
        self.unit(nth..nth + 1, start);
    }

    /// An event of this format's own.
    fn event(&self, kind: &str, name: &str, at: Option<&[u8]>) -> ObjectBuilder {
        let time = at.and_then(stamp).and_then(element::time);
        let mut event = ObjectBuilder::default();
        event
            .text("type", kind)
            .text("id", &format!("evt_{}", &key::sha256(name.as_bytes())[..16]))
            .text("at", time.as_deref().unwrap_or("1970-01-01T00:00:00Z"));
        event
    }

    fn summary(&mut self, nth: usize) {
        let start = self.session.len();
        let element = &self.elements[nth];
        let mut event = self.event(
            "summary",
            &format!("{nth}\n{}", element::said(element)),
            Some(element),
        );
        event.text("content", &element::said(element));
        match (self.said.first(), self.said.last()) {
            (Some(first), Some(last)) => event.raw("covers", array([quoted(&first.id), quoted(&last.id)])),
            _ => event.raw("here", "true"),
        };
        event
            .text("by", NAME)
            .raw("metadata", wrapped(NAME, &wrapped("raw", element)));
        self.push(event.finish());
        self.unit(nth..nth + 1, start);
    }

    /// The messages so far that a cut hides, as ids; each is told once.
    fn hidden_by(&mut self, cut: &str) -> Vec<Vec<u8>> {
        let hidden = self.cut.get_mut(cut).map(std::mem::take).unwrap_or_default();
        hidden.into_iter().map(|nth| quoted(&self.said[nth].id)).collect()
    }

    fn marker(&mut self, nth: usize) {
        let start = self.session.len();
        let element = &self.elements[nth];
        let id = text(element, "truncationId").unwrap_or_default();
        let hidden = self.hidden_by(&id);
        let body = match hidden.is_empty() {
            true => passthrough(NAME, element),
            false => {
                let mut event = self.event("compact", &format!("{nth}\n{id}"), Some(element));
                event
                    .text("strategy", NAME)
                    .raw("drop", array(hidden))
                    .raw("metadata", wrapped(NAME, &wrapped("raw", element)));
                event.finish()
            }
        };
        self.push(body);
        self.unit(nth..nth + 1, start);
    }

    /// What is out of view for other reasons than that of a mark it stands ahead of.
    fn finish(mut self, panel: Option<&Panel>) -> History {
        let roo = self.elements.iter().any(|element| is_tagged(element));
        let from = self.last.unwrap_or(0);
        let mut drop: Vec<Vec<u8>> = Vec::new();
        for nth in (from..self.kinds.len()).filter(|nth| self.kinds[*nth] == Kind::Marker) {
            if let Some(id) = text(&self.elements[nth], "truncationId") {
                drop.extend(self.hidden_by(&id));
            }
        }
        if self.last.is_some() {
            let sent = || self.said.iter().filter(|said| said.element >= from);
            let calls: HashSet<&str> = sent().flat_map(|said| &said.calls).map(String::as_str).collect();
            let lost = |said: &&Said| said.answers.as_deref().is_some_and(|id| !calls.contains(id));
            drop.extend(sent().filter(lost).map(|said| quoted(&said.id)));
        }
        if let Some(range) = panel.and_then(|panel| panel.left_out.clone()).filter(|_| !roo) {
            let left = self.said.iter().filter(|said| range.contains(&said.element));
            drop.extend(left.map(|said| quoted(&said.id)));
        }
        if !drop.is_empty() {
            let mut event = self.event("compact", "left out", self.elements.last().map(Vec::as_slice));
            event.text("strategy", NAME).raw("drop", array(drop));
            self.push(event.finish());
        }
        History {
            session: self.session,
            units: self.units,
            roo,
        }
    }
}

fn header(source: &Source<'_>, elements: &[Vec<u8>]) -> Vec<u8> {
    let begun = elements.iter().find_map(|element| stamp(element));
    // Every history has the same name: what tells them apart is when they began.
    let usual = ["api_conversation_history", "claude_messages"];
    let stem = source.name_or_hash();
    let task = begun.filter(|_| source.name.is_none() || usual.contains(&stem.as_str()));
    let own = match task {
        Some(begun) => Some(format!("task_{begun}")),
        None if usual.contains(&stem.as_str()) => Some(Source::alone(source.bytes).name_or_hash()),
        None => None,
    };
    let mut header = HeaderBuilder::default();
    header.text("created_at", begun.and_then(element::time).as_deref());
    let id = header.named(Format::ClineRoo, source, own.as_deref(), 0);
    let directory = elements.iter().find_map(|element| directory(element));
    if let Some(directory) = directory {
        let mut metadata = ObjectBuilder::default();
        Workspace::new(Some(&directory), None, None).add_to(&mut metadata);
        header.raw("metadata", metadata.finish());
    }
    header.finish(&id)
}

/// The working directory, as the first `environment_details` name it: `# Current Workspace Directory (PATH) Files`.
fn directory(element: &[u8]) -> Option<Vec<u8>> {
    let heads: [&[u8]; 2] = [
        b"# Current Workspace Directory (",
        b"# Current Working Directory (",
    ];
    let find = |bytes: &[u8], what: &[u8]| memchr::memmem::find(bytes, what);
    let (at, head) = heads
        .into_iter()
        .find_map(|head| Some((find(element, head)?, head)))?;
    let rest = &element[at + head.len()..];
    let path = &rest[..find(rest, b") Files")?];
    let quoted = [b"\"", path, b"\""].concat();
    (json::value_end(&quoted, 0, Dialect::Strict) == Ok(quoted.len())).then_some(quoted)
}
