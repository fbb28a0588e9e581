//! Writes a session from another format as a log that Codex can resume: the session line, the settings of each turn,
//! the items, and their display events.

use super::compaction;
use super::items::{self, enveloped};
use super::read::UNKNOWN;
use super::uuid;
use crate::error::Result;
use crate::format::kit::losses;
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::workspace::{Workspace, WorkspaceMember};
use crate::format::{WritePurpose, WriteTarget, written};
use crate::model::event::EPOCH_MILLIS;
use crate::model::json::{self, ObjectBuilder};
use crate::model::key;
use crate::model::message::{Category, Message, Role};
use crate::model::session::{Session, Traits};
use crate::model::view::{Item, View};
use std::rc::Rc;

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let mut items = items::of_view(session, view, false, report);
    for payload in items.iter_mut().flatten() {
        if let Some(bare) = bare(payload, report) {
            *payload = bare;
        }
    }
    let about = LogInfo::of(session, view);
    if purpose == WritePurpose::Export {
        let placed = [
            WorkspaceMember::Directory,
            WorkspaceMember::Branch,
            WorkspaceMember::Model,
        ];
        let keeps = |body: &[u8]| !about.renamed && losses::keeps_header(body, &losses::HEADER, &placed, "");
        let summary = view.items.iter().zip(&items).find_map(|(item, own)| match item {
            Item::Summary(index) if compaction::has_summary(own) => Some(*index),
            _ => None,
        });
        let is_summary = |index: usize| {
            summary == Some(index)
                && session
                    .record(index)
                    .event()
                    .is_some_and(|event| event.name() == "summary")
        };
        losses::records(session, keeps, is_summary, report);
    }
    let mut line = |time: &[u8], kind: &str, payload: &[u8]| -> Result<()> {
        written(out.write_all(&enveloped(time, kind, payload)))
    };
    let mut time = about.begun.clone();
    line(&time, "session_meta", &about.meta())?;
    if let Some(title) = session.header_text("title") {
        let mut event = ObjectBuilder::default();
        event
            .text("type", "thread_name_updated")
            .text("thread_id", &about.id)
            .text("thread_name", &title);
        line(&time, "event_msg", &event.finish())?;
    }
    let mut turns = 0;
    let mut model = None;
    let models = models_of_next_replies(session, view);
    for (nth, item) in view.items.iter().enumerate() {
        let message = item.message(session);
        if let Some(own) = message.and_then(|message| message.timestamp) {
            time = own.to_vec();
        }
        let asks = message.is_some_and(|message| is_question(&message));
        // System messages precede the first turn.
        let rules = item.traits(session).is_some_and(|traits| traits.is_system());
        let is_of_other_model =
            turns > 0 && model_of_reply(item, session).is_some_and(|own| model.as_deref() != Some(own));
        if asks || is_of_other_model || (turns == 0 && !rules) {
            model.clone_from(&models[nth]);
            line(&time, "turn_context", &about.turn(models[nth].as_deref(), turns))?;
            turns += 1;
        }
        // Others, such as an encrypted one, would not be read back as a summary.
        if let Some(text) = item
            .summary(session)
            .filter(|_| compaction::has_summary(&items[nth]))
        {
            let at = compaction::time(item, session).unwrap_or(&time);
            line(at, "compacted", &compaction::payload(&text, &items[..=nth]))?;
            continue;
        }
        for payload in &items[nth] {
            line(&time, "response_item", payload)?;
        }
        if let Some(message) = &message {
            if let Some(event) = display_event(message) {
                line(&time, "event_msg", &event)?;
            }
            if purpose == WritePurpose::Export {
                count_losses(message, item.body(session), report);
            }
        } else {
            report.count_loss(Loss::Summary, 1);
        }
    }
    Ok(())
}

fn model_of_reply<'a>(item: &'a Item, session: &'a Session) -> Option<&'a [u8]> {
    let is_reply = |traits: &Traits| traits.role == Role::Assistant;
    item.traits(session).filter(is_reply)?;
    json::string_member(item.body(session), "model")
}

/// For each item of a view, the model of the next reply.
fn models_of_next_replies(session: &Session, view: &View) -> Vec<Option<Rc<[u8]>>> {
    let mut next: Option<Rc<[u8]>> = None;
    let models = view.items.iter().rev().map(|item| {
        let model = model_of_reply(item, session).map(Rc::from);
        next = model.or_else(|| next.take());
        next.clone()
    });
    let mut models: Vec<_> = models.collect();
    models.reverse();
    models
}

/// Reasoning without its encrypted content, which only the original account can decrypt; `None` if it has none.
fn bare(item: &[u8], report: &mut Report) -> Option<Vec<u8>> {
    if json::member(item, "type") != Some(b"\"reasoning\"") {
        return None;
    }
    json::member(item, "encrypted_content").filter(|raw| *raw != b"null")?;
    report.count_loss(Loss::Signature, 1);
    json::with_members(item, &[("encrypted_content", None)]).ok()
}

fn is_question(message: &Message<'_>) -> bool {
    message.role() == Role::User && message.category() == Category::Dialog
}

pub fn display_event(message: &Message<'_>) -> Option<Vec<u8>> {
    let text = items::display_text(message);
    match message.role() {
        Role::User if is_question(message) => Some(items::user_event(&text, None)),
        Role::Assistant if text != b"\"\"" => Some(items::agent_event(&text)),
        _ => None,
    }
}

/// Counts the data of a message that a log cannot represent.
fn count_losses(message: &Message<'_>, body: &[u8], report: &mut Report) {
    let known = [Api::OpenaiResponses.name()];
    losses::members(message, body, &[Loss::Id, Loss::Usage], &known, report);
    let category = message.category() != message.role().category();
    report.count_loss(Loss::Category, u64::from(category));
}

/// The session data in a log.
struct LogInfo {
    id: String,
    begun: Vec<u8>,
    /// As `begun`, in milliseconds since 1970.
    time: i64,
    workspace: Workspace,
    renamed: bool,
}

impl LogInfo {
    fn of(session: &Session, view: &View) -> LogInfo {
        let begun = view.start_time(session).unwrap_or_else(|| EPOCH_MILLIS.to_vec());
        let time = json::text(&begun).and_then(|time| crate::model::time::milliseconds(&time));
        let time = time.unwrap_or(0);
        let own = session.header_text("id").unwrap_or_default();
        let renamed = !key::is_uuid(&own);
        let first = view.items.first().map_or(&b""[..], |item| item.body(session));
        LogInfo {
            id: match renamed {
                false => own,
                true => uuid::derived_uuid(time, &[own.as_bytes(), b"\n", first].concat()),
            },
            begun,
            time,
            workspace: Workspace::of(session),
            renamed,
        }
    }

    /// The session line. Codex does not resume a session without a provider.
    fn meta(&self) -> Vec<u8> {
        let mut meta = ObjectBuilder::default();
        meta.text("id", &self.id)
            .raw("timestamp", &self.begun)
            .raw("cwd", self.workspace.directory())
            .text("originator", "convo")
            .text("cli_version", env!("CARGO_PKG_VERSION"))
            .text("source", "cli")
            .text("model_provider", "openai");
        let branch = self.workspace.branch.as_ref();
        meta.optional("git", branch.map(|branch| json::wrapped("branch", branch)));
        meta.finish()
    }

    /// The settings of the turn that starts at an item of the view.
    fn turn(&self, model: Option<&[u8]>, turns: u64) -> Vec<u8> {
        let id = uuid::derived_uuid(self.time, format!("{}\n{turns}", self.id).as_bytes());
        let model = model.or(self.workspace.model.as_deref());
        let mut turn = ObjectBuilder::default();
        turn.text("turn_id", &id)
            .raw("cwd", self.workspace.directory())
            .text("approval_policy", "on-request")
            .raw("sandbox_policy", "{\"type\":\"read-only\"}")
            .raw("model", model.unwrap_or(UNKNOWN))
            .text("summary", "auto");
        turn.finish()
    }
}
