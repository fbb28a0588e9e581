//! Who says a message, and what was thought ahead of it, as it is shown to people.

use super::json::{self, Dialect};
use super::message::Message;
use std::borrow::Cow;
use std::collections::HashMap;

/// The tools of the calls so far: what a result does not say of itself.
#[derive(Debug, Default)]
pub struct Tools {
    /// Names by the ids of calls.
    names: HashMap<String, String>,
}

impl Tools {
    /// The name beside the role: the speaker's own, else that of the tool which the message is a result of.
    pub fn name(&self, message: &Message<'_>) -> Option<String> {
        let own = message.name.and_then(json::text).map(Cow::into_owned);
        own.or_else(|| self.names.get(message.tool_call_id()?.as_ref()).cloned())
    }

    /// Remembers the calls of a message.
    pub fn note(&mut self, message: &Message<'_>) {
        for call in message.tool_calls() {
            self.names.insert(call.id.into_owned(), call.name.into_owned());
        }
    }
}

/// The texts of a message's reasoning; none of a part that only its provider can read.
pub fn thoughts<'a>(message: &Message<'a>) -> Vec<Option<Cow<'a, str>>> {
    let parts = message
        .reasoning
        .and_then(|raw| json::elements(raw, Dialect::Strict));
    let text = |part| json::member(part, "text").and_then(json::text);
    parts.unwrap_or_default().into_iter().map(text).collect()
}
