//! Implements the kit's codec for logs, contexts and streams; the lines of a message are an element.

use super::log::{KimiOutline, NAME};
use super::{context, line, log, sidecar, stream};
use crate::format::kit::{
    Assembly, Codec, Decoded, DocumentLayout, Draft, Editor, ElementEdit, ElementEdits, NewIds, SessionInfo,
    Sidecar, SourceElements, Writer, lines_of, losses,
};
use crate::format::report::{Loss, Report};
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{Format, SessionInput};
use crate::model::json::{self, Dialect, array, quoted};
use crate::model::named_enum::named_enum;
use crate::model::time;
use std::collections::HashSet;

pub struct Kimi(Variant);

named_enum! {
    /// The kind of a file.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Variant {
        /// A log of Kimi Code.
        Log = "log",
        /// A context of Kimi CLI.
        Context = "context",
        /// A display stream of Kimi CLI.
        Stream = "stream",
    }
}

/// The codec for logs of Kimi Code.
pub static LOG: Kimi = Kimi(Variant::Log);

impl Codec for Kimi {
    const FORMAT: Format = Format::Kimi;
    const NAME: &'static str = NAME;
    const PHRASE: &'static str = "a Kimi session";
    const LAYOUT: DocumentLayout = DocumentLayout::Lines;
    const HAS_TITLE: bool = false;
    const REPRESENTED: &'static [WorkspaceMember] = &[WorkspaceMember::Directory, WorkspaceMember::Model];
    const VARIANTS: &'static [Kimi] = &[Kimi(Variant::Log), Kimi(Variant::Context), Kimi(Variant::Stream)];
    type ElementOutline = KimiOutline;

    fn variant(&self) -> &'static str {
        self.0.name()
    }

    fn has_variant(&self, element: &[u8]) -> bool {
        let line = lines_of(element)[0];
        let variant = match (json::member(line, "role"), stream::event(line)) {
            (Some(_), _) => Variant::Context,
            (None, Some(_)) => Variant::Stream,
            (None, None) => Variant::Log,
        };
        variant == self.0
    }

    fn begins(&self, line: &[u8]) -> bool {
        json::member(line, "type") == Some(b"\"metadata\"")
            && json::member(line, "protocol_version").is_some()
    }

    fn is_line(&self, line: &[u8]) -> bool {
        let names = ["type", "role", "timestamp"];
        names.iter().any(|name| json::member(line, name).is_some())
    }

    fn assemble(&self, lines: &[&[u8]]) -> Option<Assembly> {
        match stream::is_stream(lines) {
            true => Some(stream::assemble(lines)),
            false => Some(log::assemble(lines)),
        }
    }

    fn info(&self, about: &[u8]) -> SessionInfo {
        let digits = json::member(about, "created_at").and_then(|raw| std::str::from_utf8(raw).ok());
        SessionInfo {
            created: digits.and_then(|digits| time::from_milliseconds(digits.parse().ok()?)),
            ..SessionInfo::default()
        }
    }

    fn add_info(&self, outline: &KimiOutline, info: &mut SessionInfo) {
        info.workspace = Workspace::new(outline.cwd.as_deref(), None, outline.model.as_deref());
    }

    fn sidecar(&self, input: &SessionInput, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
        sidecar::read(input.name.as_deref(), neighbor)
    }

    fn complete(&self, sidecar: &Sidecar, _: &[u8], messages: &mut [Draft]) {
        let [draft] = messages else { return };
        let draft = &mut draft.message;
        let id = |raw: &[u8]| json::text(raw).map(String::from);
        let name = match draft.role() {
            _ if self.0 != Variant::Context => None,
            "tool" => draft
                .get("tool_call_id")
                .and_then(id)
                .map(|id| format!("result {id}")),
            "assistant" => {
                let calls = draft.get("tool_calls");
                let calls = calls.and_then(|raw| json::elements(raw, Dialect::Strict));
                let first = calls.and_then(|calls| id(json::member(calls.first()?, "id")?));
                first.map(|id| format!("call {id}"))
            }
            _ => None,
        };
        if let Some(time) = name.and_then(|name| sidecar.times.get(&name)) {
            draft.raw("timestamp", quoted(time));
        }
    }

    fn outline(&self, elements: &[Vec<u8>]) -> KimiOutline {
        let lines: Vec<&[u8]> = elements.iter().map(|element| lines_of(element)[0]).collect();
        KimiOutline::of(&lines)
    }

    fn decode(&self, outline: &KimiOutline, nth: usize, element: &[u8]) -> Decoded {
        let lines = lines_of(element);
        let mut decoded = match self.0 {
            Variant::Log => log::decode(outline, nth, &lines),
            Variant::Context => context::decode(lines[0]),
            Variant::Stream => stream::decode(&lines),
        };
        if let Decoded::Messages(drafts) = &mut decoded
            && lines.len() > 1
        {
            drafts[0].message.note("lines", Some(b"true".to_vec()));
        }
        decoded
    }

    fn id(&self, element: &[u8]) -> Option<String> {
        match self.0 {
            Variant::Log => line::id(lines_of(element)[0]),
            Variant::Context | Variant::Stream => None,
        }
    }

    fn time(&self, element: &[u8]) -> Option<String> {
        let first = lines_of(element)[0];
        line::time_of(first).or_else(|| stream::time_of(first))
    }

    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>> {
        let annotated = messages.first()?;
        let mut lines = self.lines(annotated, false, report);
        match lines.len() {
            1 if annotated.noted("lines").is_none() => lines.pop(),
            _ => Some(array(lines)),
        }
    }
}

impl Kimi {
    fn lines(&self, annotated: &AnnotatedMessage<'_>, is_new: bool, report: &mut Report) -> Vec<Vec<u8>> {
        match self.0 {
            Variant::Log => log::encode(annotated, is_new, report),
            Variant::Context => vec![context::encode(annotated, report)],
            Variant::Stream => stream::encode(annotated, report),
        }
    }
}

impl Editor for Kimi {
    type EditContext = NewIds;

    fn context(&self, _: Option<&[u8]>, source: &SourceElements) -> NewIds {
        let lines = source.raws.iter().flat_map(|raw| lines_of(raw));
        lines.filter_map(line::id).collect()
    }

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        let raws = &edits.source.raws;
        let outline = self.outline(raws);
        let mut list = edits.rewritten_or_plain(writer);
        if self.0 == Variant::Log {
            log::remove_prompts(&outline, raws, &mut list, writer.report);
        }
        let left: HashSet<usize> = { list.iter() }
            .filter_map(|edit| match edit {
                ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => Some(*nth),
                ElementEdit::Insert(_) => None,
            })
            .collect();
        let removed: HashSet<usize> = (0..raws.len()).filter(|nth| !left.contains(nth)).collect();
        for edit in &mut list {
            if let ElementEdit::Keep(nth) = *edit
                && let Some(line) = log::compacted(&outline, nth, &raws[nth], &removed)
            {
                *edit = ElementEdit::Replace(nth, line);
            }
        }
        list
    }

    fn new_elements(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for annotated in messages {
            let id = out.context.id(annotated.body);
            let body = json::with_members(annotated.body, &[("id", Some(&id))])
                .unwrap_or_else(|_| annotated.body.to_vec());
            let own = AnnotatedMessage {
                body: &body,
                ..*annotated
            };
            let milliseconds = annotated
                .message
                .timestamp()
                .and_then(|time| time::milliseconds(&time));
            let (name, time) = match (self.0, milliseconds) {
                (Variant::Log, Some(time)) => ("time", time.to_string()),
                (Variant::Stream, Some(time)) => ("timestamp", format!("{}.{:03}", time / 1000, time % 1000)),
                (Variant::Stream, None) => ("timestamp", "0".to_string()),
                _ => ("", String::new()),
            };
            lines.extend(self.lines(&own, true, out.report).into_iter().map(|line| {
                let timed =
                    (!name.is_empty()).then(|| json::with_members(&line, &[(name, Some(time.as_bytes()))]));
                timed.and_then(Result::ok).unwrap_or(line)
            }));
        }
        lines
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, _: bool, report: &mut Report) {
        let lost = [Loss::Id, Loss::Model, Loss::Category, Loss::Name];
        losses::of(annotated, &lost, &["is_error", NAME], report);
        let is_lost = self.0 == Variant::Context;
        for (name, loss) in [("timestamp", Loss::Timestamp), ("usage", Loss::Usage)] {
            report.count_loss(
                loss,
                u64::from(is_lost && json::member(annotated.body, name).is_some()),
            );
        }
    }
}
