//! Reads a log as a session.

use super::compaction::{self, StateBeforeCompaction};
use super::line::{CodexLine, CodexLineKind, ItemRole, NAME};
use super::steps::RecordSource;
use super::usage::CodexFigures;
use super::{header, line, message, steps};
use crate::error::{Position, Result};
use crate::format::concatenated_logs::{self, StartRule};
use crate::format::kit::records::passthrough;
use crate::format::report::Report;
use crate::format::request::Api;
use crate::format::request::draft::AnnotatedDraft;
use crate::format::{DocumentSource, SessionInput, SessionReader};
use crate::model::json;
use crate::model::key::Derive;
use crate::model::session::Session;
use std::borrow::Cow;
use std::collections::HashMap;

/// The model of a turn whose model is unknown, because the settings require one.
pub const UNKNOWN: &[u8] = b"\"unknown\"";

/// Opens an input with one or more concatenated logs.
pub fn open(input: SessionInput) -> Result<Box<dyn SessionReader>> {
    let begins = || -> StartRule {
        let mut beginning = header::Beginning::default();
        Box::new(move |line| beginning.is_another(line))
    };
    concatenated_logs::open(input, begins, |name, bytes, start, report| {
        vec![read(name, bytes, start, report)]
    })
}

/// Reads a log that starts at `start`.
pub fn read(name: Option<&str>, bytes: &[u8], start: Position, report: &mut Report) -> Session {
    let source = DocumentSource {
        name,
        ..DocumentSource::alone(bytes)
    };
    let lines = line::lines(bytes, start);
    let meta = header::meta(&lines);
    let steps = steps::steps(&lines, meta);
    let inherited = header::inherited(&lines, meta);
    let about = MessageInfo::of(&lines, &steps, inherited);
    // A newer Codex may write items of further types; a log with only such items is not supported.
    let has_messages = steps.iter().any(RecordSource::is_message);
    let unrecognized = lines
        .iter()
        .filter(|line| line.is_unrecognized() || (!has_messages && is_unknown(line)));
    report.report_unrecognized(unrecognized.map(|line| line.place), "a Codex log");
    let mut session = Session::default();
    session.push_new(&header::header(&source, &lines, meta));
    let interface = Api::OpenaiResponses.interface();
    let mut decoder = interface.decoder();
    // Only compactions refer to messages by id.
    let compacted = steps
        .iter()
        .any(|step| matches!(step, RecordSource::Compacted(_)));
    let (mut before, mut derive) = (StateBeforeCompaction::default(), Derive::default());
    for (nth, step) in steps.iter().enumerate() {
        let at = step.lines();
        let first = &lines[at[0]];
        let payload = first.payload().unwrap_or(b"{}");
        let body = match step {
            RecordSource::Unreadable(_) => {
                if let CodexLineKind::Unreadable(fault) = first.kind {
                    report.damage_in_line(first.place, fault);
                }
                session.push_ended(first.full, first.place);
                continue;
            }
            RecordSource::Foreign(_) => passthrough(NAME, first.body.trim_ascii()),
            RecordSource::Compacted(at) => {
                let name = format!("{at}\n{}", String::from_utf8_lossy(first.body));
                let time = message::timestamp(first);
                compaction::event(payload, &name, time, first.unusual_envelope(time), &mut before)
            }
            RecordSource::Message(_) => {
                let items: Vec<&[u8]> = at.iter().filter_map(|at| lines[*at].payload()).collect();
                for (line, item) in at.iter().zip(&items) {
                    if let Some(fault) = interface.fault(item) {
                        report.damage(lines[*line].place, fault);
                    }
                }
                let mut draft = message::of_items(&items, &mut *decoder);
                about.add(&mut draft, nth, first, payload);
                finished(draft, &lines, at, inherited)
            }
            RecordSource::Event(_) => finished(message::of_event(payload), &lines, at, inherited),
        };
        if compacted && step.is_message() {
            let id = derive.id(&body);
            let first = before.ends.take().map(|[first, _]| first);
            before.ends = Some([first.unwrap_or_else(|| id.clone()), id]);
        }
        session.push_generated(body, first.place);
    }
    session
}

/// Whether a line is an item of an unknown type.
fn is_unknown(line: &CodexLine<'_>) -> bool {
    matches!(line.kind, CodexLineKind::Item(ItemRole::Other, item)
        if json::member_text(item, "type").is_none_or(|kind| kind != "ghost_snapshot"))
}

/// The message with its time and the annotation for its lines.
fn finished(mut draft: AnnotatedDraft, lines: &[CodexLine<'_>], at: &[usize], inherited: usize) -> Vec<u8> {
    draft.optional("timestamp", message::timestamp(&lines[at[0]]));
    draft.metadata("inherited", (at[0] < inherited).then(|| b"true".to_vec()));
    let own: Vec<&CodexLine<'_>> = at.iter().map(|at| &lines[*at]).collect();
    let between = |nth: usize| {
        let others = lines[at[nth - 1] + 1..at[nth]].iter();
        let others = others.filter(|line| !matches!(line.kind, CodexLineKind::Blank));
        others.count()
    };
    draft.metadata(NAME, message::note(&own, between));
    draft.into_body(Api::OpenaiResponses)
}

/// Data about messages in other lines.
#[derive(Default)]
struct MessageInfo<'a> {
    /// Usage by step.
    usage: HashMap<usize, CodexFigures>,
    /// The model of the turn by step.
    models: HashMap<usize, &'a [u8]>,
    /// The end events of commands by call id.
    ends: HashMap<Cow<'a, str>, &'a [u8]>,
}

impl<'a> MessageInfo<'a> {
    fn of(lines: &[CodexLine<'a>], steps: &[RecordSource], inherited: usize) -> MessageInfo<'a> {
        let mut about = MessageInfo::default();
        let mut of_line: Vec<Option<usize>> = vec![None; lines.len()];
        for (nth, step) in steps.iter().enumerate() {
            if is_reply(&lines[step.lines()[0]]) {
                step.lines().iter().for_each(|at| of_line[*at] = Some(nth));
            }
        }
        let (mut last, mut model) = (None, None);
        let (mut total, mut waiting) = (CodexFigures::default(), CodexFigures::default());
        for (nth, line) in lines.iter().enumerate() {
            match &line.kind {
                CodexLineKind::Turn(payload) => {
                    model = json::string_member(payload, "model")
                        .filter(|raw| *raw != UNKNOWN)
                        .or(model);
                }
                CodexLineKind::Event(name, payload) if name == "token_count" => {
                    let reported = CodexFigures::total_of_event(payload).unwrap_or(total);
                    let used = reported.since(std::mem::replace(&mut total, reported));
                    match last {
                        _ if nth < inherited => {}
                        Some(step) => about.use_at(step, used),
                        None => waiting = waiting.plus(used),
                    }
                }
                CodexLineKind::Event(name, payload) if name == "exec_command_end" => {
                    let code = json::member(payload, "exit_code");
                    let call = json::member_text(payload, "call_id");
                    about.ends.extend(call.zip(code));
                }
                _ => {}
            }
            if let Some(step) = of_line[nth] {
                if let Some(model) = model {
                    about.models.entry(step).or_insert(model);
                }
                if nth >= inherited {
                    last = Some(step);
                    about.use_at(step, std::mem::take(&mut waiting));
                }
            }
        }
        about
    }

    fn use_at(&mut self, step: usize, used: CodexFigures) {
        if !used.is_zero() {
            let known = self.usage.entry(step).or_default();
            *known = known.plus(used);
        }
    }

    /// Adds the data about the message with this first line and its item.
    fn add(&self, draft: &mut AnnotatedDraft, step: usize, first: &CodexLine<'_>, item: &[u8]) {
        if is_reply(first) {
            draft.optional("model", self.models.get(&step).copied());
            draft.optional("usage", self.usage.get(&step).map(|used| used.object()));
            return;
        }
        let code = json::member_text(item, "call_id").and_then(|id| self.ends.get(&id));
        draft.metadata("exit_code", code.map(|code| code.to_vec()));
    }
}

/// Whether a line is an item of a model message.
fn is_reply(line: &CodexLine<'_>) -> bool {
    matches!(line.kind, CodexLineKind::Item(item, _) if !matches!(item, ItemRole::Alone | ItemRole::Other))
}
