//! Tool calls as JSON text: `{"name": ..., "arguments": {...}}`, or an array of those.

use crate::format::request::draft;
use crate::model::json::{self, Dialect, quoted};
use crate::model::message::ToolCall;

/// The open calls of a record, and the number of its calls.
#[derive(Default)]
pub struct RecordCalls {
    /// Number of the record.
    pub record: usize,
    generated: usize,
    open: std::collections::VecDeque<String>,
}

impl RecordCalls {
    /// For the record with this number.
    pub fn of(record: usize) -> RecordCalls {
        RecordCalls {
            record,
            ..RecordCalls::default()
        }
    }

    /// Converts a call to a native one with a new id.
    pub fn native_call(&mut self, (name, arguments): &(Vec<u8>, Vec<u8>)) -> Vec<u8> {
        self.generated += 1;
        let id = format!("call_{}_{}", self.record, self.generated);
        let call = draft::call(&quoted(&id), name, arguments);
        self.open.push_back(id);
        call
    }

    /// The call that a result answers: the oldest open one.
    pub fn answered(&mut self) -> Option<Vec<u8>> {
        self.open.pop_front().map(|id| quoted(&id))
    }

    /// Closes all open calls, which will not be answered.
    pub fn close(&mut self) {
        self.open.clear();
    }
}

/// The name of a call and its arguments.
type CallParts = (Vec<u8>, Vec<u8>);

/// Names and arguments of the calls in a text, both as JSON strings, and whether it is an array; `None` if the text is
/// not a call.
pub fn read(text: &str) -> Option<(Vec<CallParts>, bool)> {
    let text = text.trim().as_bytes();
    if !text.starts_with(b"[") {
        return one(text).map(|call| (vec![call], false));
    }
    let elements = json::elements(text, Dialect::Strict).filter(|elements| !elements.is_empty())?;
    let calls = elements.into_iter().map(one).collect::<Option<Vec<_>>>()?;
    Some((calls, true))
}

fn one(raw: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let members = json::members(raw, Dialect::Strict).filter(|members| members.len() < 64)?;
    let get = |name: &str| {
        members
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, raw)| *raw)
    };
    let name = get("name").filter(|raw| raw.starts_with(b"\""))?;
    Some((name.to_vec(), draft::text_of(get("arguments")?)))
}

/// Encodes a call as text; arguments that are not an object are a string.
pub fn encode(call: &ToolCall<'_>) -> String {
    let whole = call.arguments.trim();
    let bytes = whole.as_bytes();
    let is_object = json::is_object(bytes);
    let mut text = b"{\"name\": ".to_vec();
    json::push_text(&mut text, &call.name);
    text.extend_from_slice(b", \"arguments\": ");
    match is_object {
        true => text.extend_from_slice(bytes),
        false => json::push_text(&mut text, &call.arguments),
    }
    text.push(b'}');
    String::from_utf8_lossy(&text).into_owned()
}
