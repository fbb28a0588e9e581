//! The id of the request that a message answers.

use super::line::NAME;
use crate::model::json::{self, Dialect};
use crate::model::message::Message;

/// The id that the provider assigned to a reply. All lines of one request share it, including copies in a sidechain.
pub fn request_id(message: &Message<'_>) -> Option<String> {
    let own = json::member(message.metadata?, NAME)?;
    let lines = json::elements(json::member(own, "lines")?, Dialect::Strict)?;
    let id = |line| json::text(json::member(json::member(line, "message")?, "id")?);
    lines.into_iter().find_map(id).map(|id| id.into_owned())
}
