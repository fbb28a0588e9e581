//! What is in view, as new messages, and a session that came from elsewhere as a document.

use super::element::Element;
use super::make::{self, Making, Told, times, tokens};
use super::spell;
use crate::format::Purpose;
use crate::format::report::{Loss, Report};
use crate::format::request::figures::Figures;
use crate::format::request::piece::{array, rest};
use crate::format::workspace::{Member, Workspace, unplaced};
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::message::{Category, Message, Role};
use crate::model::session::{Class, Session};
use crate::model::view::{Item, View};

/// What new messages are made of.
pub struct Source<'s> {
    /// The session.
    pub session: &'s Session,
    /// What is in view of it.
    pub view: &'s View,
    /// What for.
    pub purpose: Purpose,
}

/// These items of a view as messages. Those of an answer are one.
pub fn elements(
    source: &Source<'_>,
    items: &[usize],
    making: &mut Making,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    making.tells = source.purpose == Purpose::Export;
    let mut made = Vec::new();
    let mut answer: Vec<&[u8]> = Vec::new();
    for nth in items {
        let item = &source.view.items[*nth];
        if let Some(text) = item.summary(source.session) {
            close(&mut answer, &mut made, making, report);
            made.extend(compaction(&text, None, making));
            continue;
        }
        let Some(message) = item.message(source.session) else {
            continue;
        };
        let body = item.body(source.session);
        if source.purpose == Purpose::Export {
            tell(&message, body, report);
        }
        match message.role() {
            Role::Assistant | Role::Tool => answer.push(body),
            Role::User => {
                close(&mut answer, &mut made, making, report);
                made.extend(spell::element(None, &[body], Some(making), report));
            }
            // There are no such messages.
            Role::System | Role::Developer | Role::Other => report.lose(Loss::Message, 1),
        }
    }
    close(&mut answer, &mut made, making, report);
    made
}

fn close(answer: &mut Vec<&[u8]>, made: &mut Vec<Vec<u8>>, making: &mut Making, report: &mut Report) {
    let answer = std::mem::take(answer);
    // Results ahead of any call hang on none.
    let first = answer
        .iter()
        .position(|body| json::member(body, "role") != Some(b"\"tool\""));
    let (loose, answer) = answer.split_at(first.unwrap_or(answer.len()));
    report.lose(Loss::Orphan, loose.len() as u64);
    if !answer.is_empty() {
        made.extend(spell::element(None, answer, Some(making), report));
    }
}

/// The question for a compaction that keeps what stands from a message on, and the answer to it.
pub fn compaction(text: &str, kept: Option<&str>, making: &mut Making) -> [Vec<u8>; 2] {
    let time = making.time(None);
    let (id, _) = making.message_id(None);
    let info = making.user(&id, time);
    let mut asks = making.part("compaction", &info, None);
    asks.raw("auto", "false");
    if let Some(kept) = kept {
        asks.text("tail_start_id", kept);
    }
    let question = message(&info, &[asks.finish()]);
    let (id, _) = making.message_id(None);
    let told = Told {
        is_summary: true,
        ..Told::default()
    };
    let info = making.assistant(&id, time, &told);
    let start = making.part("step-start", &info, None).finish();
    let mut said = making.part("text", &info, None);
    said.text("text", text)
        .raw("time", times(&[("start", time), ("end", time)]));
    let mut finish = making.part("step-finish", &info, None);
    finish
        .text("reason", "stop")
        .raw("cost", "0")
        .raw("tokens", tokens(&Figures::default()));
    [question, message(&info, &[start, said.finish(), finish.finish()])]
}

fn message(info: &[u8], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message.raw("info", info).raw("parts", array(parts));
    message.finish()
}

/// A session that came from elsewhere, as a document.
pub fn document(source: &Source<'_>, report: &mut Report) -> Vec<u8> {
    let Source { session, view, .. } = *source;
    let header = session.header();
    let find = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.as_slice())
    };
    let workspace = Workspace::of(session);
    let cwd = json::text(workspace.directory()).unwrap_or_default();
    let own = session.header_text("id").unwrap_or_default();
    let id = match own.starts_with("ses_") {
        true => own,
        false => format!("ses_{}", &key::sha256(own.as_bytes())[..26]),
    };
    let mut making = Making::new(&id, &cwd);
    let mut said = view
        .messages(session)
        .filter_map(|message| make::said(message.timestamp));
    let first = said.next();
    let begun = make::said(find("created_at")).or(first).unwrap_or(0);
    making.clock = begun;
    let models = view
        .items
        .iter()
        .filter_map(|item| json::member(item.body(session), "model"));
    let models = workspace.model.as_deref().into_iter().chain(models);
    if let Some(model) = models.filter_map(json::text).next() {
        making.model = model.into_owned();
    }
    if source.purpose == Purpose::Export {
        tell_lines(session, report);
    }
    let items: Vec<usize> = (0..view.items.len()).collect();
    let elements = summary_first(source, &items, &mut making, report);
    let title = session.header_text("title");
    let title = title.unwrap_or_else(|| "Imported session".to_string());
    let mut info = ObjectBuilder::default();
    info.text("id", &id)
        .text("slug", &make::slug(&title))
        .text("version", "0.0.0")
        .text("projectID", "global")
        .text("directory", &making.directory)
        .text("title", &title)
        .raw("time", times(&[("created", begun), ("updated", making.clock)]));
    let mut document = ObjectBuilder::default();
    document
        .raw("info", info.finish())
        .raw("messages", array(&elements));
    let mut document = document.finish();
    document.push(b'\n');
    document
}

/// The messages of a whole view. What stands before a summary is kept by it.
fn summary_first(
    source: &Source<'_>,
    items: &[usize],
    making: &mut Making,
    report: &mut Report,
) -> Vec<Vec<u8>> {
    let is_summary = |nth: &usize| matches!(source.view.items[*nth], Item::Summary(_));
    let Some(at) = items.iter().position(is_summary) else {
        return elements(source, items, making, report);
    };
    let mut made = elements(source, &items[..at], making, report);
    let first = made
        .first()
        .and_then(|first| Element::of(first)?.text("id").map(|id| id.into_owned()));
    let text = source.view.items[items[at]]
        .summary(source.session)
        .unwrap_or_default();
    made.extend(compaction(&text, first.as_deref(), making));
    made.extend(elements(source, &items[at + 1..], making, report));
    made
}

/// Counts what a message has that a new one has no place for.
fn tell(message: &Message<'_>, body: &[u8], report: &mut Report) {
    report.lose(Loss::Usage, u64::from(json::member(body, "tokens").is_some()));
    let named = message.name.is_some() && message.role() != Role::Tool;
    report.lose(Loss::Name, u64::from(named));
    let own = match message.role() {
        Role::User => matches!(message.category(), Category::Dialog | Category::Context),
        role => message.category() == role.category(),
    };
    report.lose(Loss::Category, u64::from(!own));
    let free = |raw| rest(raw, &["is_error"]).next().is_some();
    report.lose(Loss::Metadata, u64::from(message.metadata.is_some_and(free)));
}

/// Counts the lines that a document has no place for.
fn tell_lines(session: &Session, report: &mut Report) {
    let kept = ["type", "version", "id", "created_at", "title", "source"];
    for index in 0..session.len() {
        match session.class(index) {
            Class::Header => {
                let body = session.record(index).body;
                let other = rest(body, &kept).any(|(name, raw)| match name.as_ref() {
                    "metadata" => {
                        let places = [Member::Directory, Member::Model];
                        unplaced(raw, &places, "").next().is_some()
                    }
                    _ => true,
                });
                report.lose(Loss::Header, u64::from(other));
            }
            Class::Event => report.lose(Loss::Event, 1),
            Class::Unreadable => report.lose(Loss::Unreadable, 1),
            Class::Message(_) | Class::Blank => {}
        }
    }
}
