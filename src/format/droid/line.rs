//! Members that the lines of logs and streams have in common.

use crate::format::object::filled;
use crate::model::json::{self, ObjectBuilder};
use crate::model::time;

/// The time of a line: a string, or a number of milliseconds.
pub fn time_of(line: &[u8]) -> Option<String> {
    match filled(line, "timestamp") {
        Some(time) => Some(time.into_owned()).filter(|time| time::is_rfc3339(time)),
        None => time::from_milliseconds(json::number(json::member(line, "timestamp")?)?),
    }
}

/// Adds the id and the time of a message to its line.
pub fn add_members(line: &mut ObjectBuilder, body: &[u8]) {
    for name in ["id", "timestamp"] {
        line.optional(name, json::member(body, name));
    }
}
