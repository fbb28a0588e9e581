//! Implements the kit's codec for logs and streams; each line is an element.

use super::line::time_of;
use super::log::{self, NAME};
use super::stream;
use crate::format::kit::{
    Assembly, Codec, Decoded, DocumentLayout, Editor, ElementEdit, ElementEdits, NewIds, SessionInfo,
    Sidecar, SourceElements, Writer,
};
use crate::format::object::filled;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, SessionInput, content};
use crate::model::json::{self, ObjectBuilder};
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{header, time};
use std::borrow::Cow;
use std::collections::HashSet;

pub struct Droid {
    /// Whether it is a printed stream.
    is_stream: bool,
}

/// The codec for session logs.
pub static LOG: Droid = Droid { is_stream: false };

/// Information about all lines.
#[derive(Default)]
pub struct DroidOutline {
    /// Last words that repeat those of the message before them.
    repeated: HashSet<usize>,
    /// The model of the last reply.
    model: Option<Vec<u8>>,
}

impl Codec for Droid {
    const FORMAT: Format = Format::Droid;
    const NAME: &'static str = NAME;
    const PHRASE: &'static str = "a Factory Droid session";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const IDS: bool = false;
    const LINK: Option<[&'static str; 2]> = Some(["id", "parentId"]);
    const HEADER: &'static [&'static str] = &["type", "version", "id", "title", "source"];
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    const VARIANTS: &'static [Droid] = &[Droid { is_stream: false }, Droid { is_stream: true }];
    type ElementOutline = DroidOutline;

    fn variant(&self) -> &'static str {
        if self.is_stream { "stream" } else { "log" }
    }

    fn has_variant(&self, line: &[u8]) -> bool {
        stream::is_line(line) == self.is_stream
    }

    fn begins(&self, line: &[u8]) -> bool {
        match json::member(line, "type") {
            Some(b"\"session_start\"") => true,
            Some(b"\"system\"") => stream::is_line(line),
            _ => false,
        }
    }

    fn is_line(&self, line: &[u8]) -> bool {
        json::member(line, "type").is_some()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Option<Assembly> {
        log::assemble(lines)
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let older = json::member(about, "session").unwrap_or(b"{}");
        let member = |name| json::member(about, name).or_else(|| json::member(older, name));
        let filled = |name: &str| filled(about, name).or_else(|| filled(older, name));
        let mut ids = ["session_id", "sessionId", "id"].into_iter().filter_map(filled);
        let mut titles = ["title", "sessionTitle"].into_iter().filter_map(filled);
        let mut times = ["created_at", "timestamp"].into_iter().filter_map(filled);
        SessionInfo {
            id: ids.next().map(Cow::into_owned),
            // "New Session" is the title before the first reply.
            title: titles.find(|title| title != "New Session").map(Cow::into_owned),
            created: times.find(|time| time::is_rfc3339(time)).map(Cow::into_owned),
            workspace: Workspace::new(member("cwd"), None, member("model")),
            lineage: None,
        }
    }

    fn add_info(&self, outline: &DroidOutline, info: &mut SessionInfo) {
        info.workspace.model = info.workspace.model.take().or_else(|| outline.model.clone());
    }

    /// Reads the model and token usage from the session's settings file.
    fn sidecar(&self, input: &SessionInput, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
        let mut sidecar = Sidecar::default();
        let stem = input.name.as_deref().and_then(|name| name.strip_suffix(".jsonl"));
        if let Some(settings) = stem.and_then(|stem| neighbor(&format!("{stem}.settings.json"))) {
            let settings = settings.trim_ascii();
            sidecar.info.workspace = Workspace::new(None, None, json::member(settings, "model"));
            let tokens = json::member(settings, "tokenUsage").map(|raw| json::compact(raw).0);
            sidecar.notes.extend(tokens.map(|tokens| ("tokenUsage", tokens)));
        }
        sidecar
    }

    fn outline(&self, lines: &[Vec<u8>]) -> DroidOutline {
        let models = lines
            .iter()
            .rev()
            .filter_map(|line| json::member(log::message(line)?, "model"));
        let slices = slices(lines);
        DroidOutline {
            repeated: stream::repeated(&slices),
            model: { models }
                .find(|model| model.starts_with(b"\""))
                .map(<[u8]>::to_vec),
        }
    }

    fn decode(&self, outline: &DroidOutline, nth: usize, line: &[u8]) -> Decoded {
        match stream::is_line(line) {
            true if outline.repeated.contains(&nth) => Decoded::Passthrough,
            true => stream::decode(line),
            false => log::decode(line, nth),
        }
    }

    fn fault(&self, line: &[u8]) -> Option<String> {
        let message = log::message(line).filter(|_| !log::is_hook(line))?;
        content::fault(message, &[])
    }

    fn id(&self, line: &[u8]) -> Option<String> {
        filled(line, "id").map(Cow::into_owned)
    }

    fn time(&self, line: &[u8]) -> Option<String> {
        time_of(line)
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        match self.is_stream {
            true => stream::lines(messages.first()?, report).into_iter().next(),
            false => log::encode(messages, false, report),
        }
    }
}

impl Editor for Droid {
    type EditContext = NewIds;
    const LOST: &'static [Loss] = &[Loss::Usage, Loss::Category, Loss::Name];
    const REPRESENTED_METADATA: &'static [&'static str] = &[NAME, "is_error", Api::Anthropic.name()];

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> NewIds {
        source.raws.iter().filter_map(|line| self.id(line)).collect()
    }

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let (source, list) = (&edits.source.raws, edits.rewritten_or_plain(writer));
        let mut list = self.with_session(source, list);
        let repeated = stream::repeated(&slices(source));
        // A completion is removed with the message that it repeats.
        let left: Vec<&[u8]> = list.iter().map(|edit| edit.element(source)).collect();
        let left = stream::repeated(&left);
        let mut nth = 0..;
        list.retain(|edit| {
            let is_left = nth.next().is_some_and(|nth| left.contains(&nth));
            is_left || !matches!(edit, ElementEdit::Keep(nth) if repeated.contains(nth))
        });
        list
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        match self.is_stream {
            true => messages
                .iter()
                .flat_map(|annotated| stream::lines(annotated, out.report))
                .collect(),
            false => {
                let line = messages.first().zip(log::encode(messages, true, out.report));
                // Lines refer to each other by their ids, so a summary has one, too.
                let named = line.map(|(first, line)| {
                    let id = out.context.id(first.body);
                    json::with_members(&line, &[("id", Some(&id))]).unwrap_or(line)
                });
                named.into_iter().collect()
            }
        }
    }

    fn new_about(&self, session: &Session, _: &View, _: &NewIds, _: DocumentLayout) -> ObjectBuilder {
        let header = session.header();
        let get = |name: &str| header::member(header, name);
        let mut about = ObjectBuilder::default();
        about
            .text("type", "session_start")
            .raw("id", get("id").unwrap_or(b"\"session\""))
            .raw("title", get("title").unwrap_or(b"\"New Session\""))
            .raw("cwd", Workspace::of(session).directory());
        about.optional("model", Workspace::of(session).model);
        about
    }
}

impl Droid {
    /// The edits with the session in new lines of a stream, which is not one without it.
    fn with_session(&self, source: &[Vec<u8>], list: Vec<ElementEdit>) -> Vec<ElementEdit> {
        let session = source.iter().find_map(|line| json::member(line, "session_id"));
        let named = |edit| match edit {
            ElementEdit::Insert(line) if self.is_stream => {
                let linked = json::with_members(&line, &[("session_id", session)]);
                ElementEdit::Insert(linked.unwrap_or(line))
            }
            edit => edit,
        };
        list.into_iter().map(named).collect()
    }
}

fn slices(lines: &[Vec<u8>]) -> Vec<&[u8]> {
    lines.iter().map(Vec::as_slice).collect()
}
