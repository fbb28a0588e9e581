//! Accessors for small test files.

use crate::model::session::Session;
use crate::model::view::{Item, View};
use serde_json::Value;

pub fn messages(session: &Session) -> Vec<Value> {
    let lines = (0..session.len()).map(|index| session.record(index).body);
    let values = lines.filter_map(|body| serde_json::from_slice::<Value>(body).ok());
    values.filter(|line| line["role"].is_string()).collect()
}

pub fn roles(messages: &[Value]) -> Vec<&str> {
    let roles = messages.iter().map(|message| message["role"].as_str().unwrap());
    roles.collect()
}

pub fn header(session: &Session) -> Value {
    serde_json::from_slice(session.record(0).body).unwrap()
}

/// The texts that a model would receive of a session.
pub fn shown(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    let text = |item: &Item| match item {
        Item::Summary(_) => format!("summary: {}", item.summary(session).unwrap()),
        _ => item.message(session).unwrap().text().into_owned(),
    };
    view.items.iter().map(text).collect()
}
