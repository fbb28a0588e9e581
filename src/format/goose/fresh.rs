//! What is in view, as new messages, and what is told of a session that came from elsewhere.

use super::element::visibility;
use super::spell;
use crate::format::Purpose;
use crate::format::report::{Loss, Report};
use crate::format::request::draft;
use crate::format::request::piece::{array, quoted, rest};
use crate::format::workspace::{Member, Workspace, unplaced};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Category, Message, Role};
use crate::model::session::{Class, Session};
use crate::model::summary;
use crate::model::view::View;

/// What new messages are made of.
pub struct Source<'s> {
    /// The session.
    pub session: &'s Session,
    /// What is in view of it.
    pub view: &'s View,
    /// What for.
    pub purpose: Purpose,
}

/// These items of a view as messages; results that follow one another are one. `now` is when a summary was made.
pub fn elements(source: &Source<'_>, items: &[usize], now: &mut i64, report: &mut Report) -> Vec<Vec<u8>> {
    let mut made = Vec::new();
    let mut results: Vec<&[u8]> = Vec::new();
    for nth in items {
        let item = &source.view.items[*nth];
        let message = item.message(source.session);
        let role = message.as_ref().map(Message::role);
        if role != Some(Role::Tool) {
            made.extend(spell::element(&std::mem::take(&mut results), report));
        }
        let Some(message) = message else {
            if let Some(text) = item.summary(source.session) {
                made.push(told(&text, *now));
            }
            continue;
        };
        *now = (*now).max(spell::created(&message));
        let body = item.body(source.session);
        match message.role() {
            Role::Tool => {
                let first = results.is_empty();
                tell(source, &message, body, !first, report);
                results.push(body);
            }
            Role::User | Role::Assistant => {
                tell(source, &message, body, false, report);
                made.extend(spell::element(&[body], report));
            }
            // There are no such messages.
            Role::System | Role::Developer | Role::Other => report.lose(Loss::Message, 1),
        }
    }
    made.extend(spell::element(&results, report));
    made
}

/// A summary as the message that only the model is shown.
fn told(text: &str, now: i64) -> Vec<u8> {
    let mut message = ObjectBuilder::default();
    message
        .raw("id", "null")
        .text("role", "user")
        .raw("created", now.to_string())
        .raw(
            "content",
            array([draft::text_part(&quoted(&summary::quoted(text)))]),
        )
        .raw("metadata", visibility(false, true));
    message.finish()
}

/// Counts what a message has that a new one has no place for.
fn tell(source: &Source<'_>, message: &Message<'_>, body: &[u8], joined: bool, report: &mut Report) {
    if source.purpose != Purpose::Export {
        return;
    }
    report.lose(Loss::Id, u64::from(joined && message.id.is_some()));
    let part = |time: &str| time.contains('.') || !time.ends_with('Z');
    let time = message.timestamp().filter(|time| part(time) || joined);
    report.lose(Loss::Timestamp, u64::from(time.is_some()));
    for (name, loss) in [
        ("usage", Loss::Usage),
        ("tokens", Loss::Usage),
        ("model", Loss::Model),
    ] {
        report.lose(loss, u64::from(json::member(body, name).is_some()));
    }
    let named = message.name.is_some();
    report.lose(Loss::Name, u64::from(named));
    let own = match message.role() {
        Role::User | Role::Assistant => matches!(message.category(), Category::Dialog | Category::Context),
        role => message.category() == role.category(),
    };
    report.lose(Loss::Category, u64::from(!own));
    let free = |raw| rest(raw, &["is_error"]).next().is_some();
    report.lose(Loss::Metadata, u64::from(message.metadata.is_some_and(free)));
}

/// What is told of a session that came from elsewhere, without its list.
pub fn about(session: &Session, view: &View, report: &mut Report) -> ObjectBuilder {
    let header = session.header();
    let find = |name: &str| {
        header
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| raw.as_slice())
    };
    let said = || {
        view.messages(session)
            .find_map(|message| message.timestamp.map(<[u8]>::to_vec))
    };
    let begun = find("created_at").map(<[u8]>::to_vec).or_else(said);
    let begun = begun.unwrap_or_else(|| b"\"1970-01-01T00:00:00Z\"".to_vec());
    let newest = session.newest_time().map(|time| quoted(&time));
    let workspace = Workspace::of(session);
    let title = session.header_text("title").unwrap_or_default();
    let mut about = ObjectBuilder::default();
    about
        .text(
            "id",
            &session.header_text("id").unwrap_or_else(|| "session".to_string()),
        )
        .raw("working_dir", workspace.directory())
        .text("name", &title)
        .raw("user_set_name", if title.is_empty() { "false" } else { "true" })
        .text("session_type", "user")
        .raw("created_at", &begun)
        .raw("updated_at", newest.as_deref().unwrap_or(&begun))
        .raw("extension_data", "{}");
    if let Some(model) = workspace.last_model(session, view) {
        about.raw("model_config", model_config(&model));
    }
    tell_lines(session, report);
    about
}

/// The settings of a model, all of which the program requires. Source: goose, ModelConfig.
fn model_config(model: &[u8]) -> Vec<u8> {
    let mut config = ObjectBuilder::default();
    config.raw("model_name", model);
    for name in ["context_limit", "temperature", "max_tokens"] {
        config.raw(name, "null");
    }
    config.raw("toolshim", "false").raw("toolshim_model", "null");
    config.finish()
}

/// The same as the first of its lines.
pub fn first_line(session: &Session, messages: usize) -> Vec<u8> {
    let mut line = ObjectBuilder::default();
    line.raw("working_dir", Workspace::of(session).directory())
        .text("description", &session.header_text("title").unwrap_or_default())
        .raw("message_count", messages.to_string());
    for name in ["total_tokens", "input_tokens", "output_tokens"] {
        line.raw(name, "null");
    }
    line.finish()
}

/// Counts the lines that a session has no place for.
pub fn tell_lines(session: &Session, report: &mut Report) {
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
