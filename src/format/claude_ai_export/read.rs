//! Converts a conversation to a session, and its branches to further sessions.

use super::message::{self, NAME, moment};
use crate::format::branches::{self, Path};
use crate::format::conversation_list::InputValue;
use crate::format::kit::records::passthrough;
use crate::format::native::HeaderBuilder;
use crate::format::object::Object;
use crate::format::report::{Loss, Report};
use crate::model::json::ObjectBuilder;
use crate::model::session::Session;
use std::borrow::Cow;
use std::collections::HashMap;

/// The sessions of a conversation; `None` if the value is not one.
pub fn sessions(item: &InputValue<'_>, report: &mut Report) -> Option<Vec<Session>> {
    let conversation = Object::of(item.bytes)?;
    let raws = conversation.list("chat_messages")?;
    let messages: Vec<Object<'_>> = raws
        .iter()
        .map(|raw| Object::of(raw).unwrap_or_default())
        .collect();
    let has_account = conversation.get("account").is_some_and(|raw| raw != b"null");
    report.count_loss(Loss::Header, u64::from(has_account));
    let uuid = conversation.filled("uuid");
    let name = uuid.map_or_else(|| item.name(), Cow::into_owned);
    let title = title(&conversation);
    let mut ids: Vec<Option<String>> = vec![None; messages.len()];
    let mut sessions = Vec::new();
    for path in paths(&conversation, &messages) {
        let header = match sessions.len() {
            0 => main_header(item, &conversation, &name, report),
            nth => {
                let at = path.joint.and_then(|joint| ids[joint].as_deref());
                let title = title.as_ref().map(|(_, title)| title.as_ref());
                item.branch_header((&name, nth), title, at)
            }
        };
        let mut session = Session::default();
        session.push_new(&header);
        let mut last = path.joint.and_then(|joint| ids[joint].clone());
        for nth in path.entries {
            match message::records(&messages[nth], item.place, report) {
                Some((bodies, id)) => {
                    bodies.into_iter().for_each(|body| item.push(&mut session, body));
                    last = id.or(last);
                }
                None => {
                    let what = format!("message {} has no sender; kept unchanged", nth + 1);
                    report.damage(item.place, what);
                    item.push(&mut session, passthrough(NAME, raws[nth]));
                }
            }
            ids[nth] = last.clone();
        }
        sessions.push(session);
    }
    Some(sessions)
}

/// The paths through the messages: their order in the file, unless they have parents.
fn paths(conversation: &Object<'_>, messages: &[Object<'_>]) -> Vec<Path> {
    let order: Vec<usize> = (0..messages.len()).collect();
    let named: Vec<_> = { messages.iter() }
        .map(|message| message.filled("parent_message_uuid"))
        .collect();
    if named.iter().all(Option::is_none) {
        return vec![Path {
            entries: order,
            joint: None,
        }];
    }
    let mut by_id = HashMap::new();
    for (nth, message) in messages.iter().enumerate() {
        if let Some(uuid) = message.filled("uuid") {
            by_id.entry(uuid).or_insert(nth);
        }
    }
    let current = conversation.filled("current_leaf_message_uuid");
    let active = current.and_then(|uuid| by_id.get(&uuid).copied());
    let parents = branches::parents(&by_id, named);
    branches::paths(&parents, active.or(order.last().copied()), &order)
}

/// The title, and the member that has it.
fn title<'a>(conversation: &Object<'a>) -> Option<(&'static str, Cow<'a, str>)> {
    let named = |name: &'static str| Some((name, conversation.filled(name)?));
    named("name").or_else(|| named("title"))
}

/// The header of the active path.
fn main_header(item: &InputValue<'_>, conversation: &Object<'_>, name: &str, report: &mut Report) -> Vec<u8> {
    let time = moment(conversation, "created_at", item.place, report);
    let title = title(conversation);
    let mut known = vec!["chat_messages", "account", "uuid"];
    known.extend(time.as_ref().map(|_| "created_at"));
    known.extend(title.as_ref().map(|(name, _)| *name));
    let mut header = HeaderBuilder::default();
    header
        .text("created_at", time.as_deref())
        .text("title", title.as_ref().map(|(_, title)| title.as_ref()));
    let mut metadata = ObjectBuilder::default();
    metadata.optional(NAME, conversation.extra_members(&known));
    item.header(name, header, metadata)
}
