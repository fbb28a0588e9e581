//! The display name of a message's sender, and its reasoning, for human readers.

use super::json::{self, Dialect};
use super::message::Message;
use std::borrow::Cow;
use std::collections::HashMap;

/// Tools of the calls so far, because a result does not name its tool.
#[derive(Debug, Default)]
pub struct Tools {
    /// Tool names by call id.
    names: HashMap<String, String>,
}

impl Tools {
    /// The name next to the role: the sender's own, else that of the tool whose result the message is.
    pub fn name(&self, message: &Message<'_>) -> Option<String> {
        let own = message.name.and_then(json::text).map(Cow::into_owned);
        own.or_else(|| self.names.get(message.tool_call_id()?.as_ref()).cloned())
    }

    /// Records the calls of a message.
    pub fn note(&mut self, message: &Message<'_>) {
        for call in message.tool_calls() {
            self.names.insert(call.id.into_owned(), call.name.into_owned());
        }
    }
}

/// The texts of a message's reasoning; `None` for a part that only its provider can decrypt.
pub fn reasoning_texts<'a>(message: &Message<'a>) -> Vec<Option<Cow<'a, str>>> {
    let parts = json::items(message.reasoning);
    parts.into_iter().map(reasoning_text).collect()
}

/// The text of a reasoning part: native, of the Anthropic API, or summary and content of the OpenAI API.
pub fn reasoning_text(part: &[u8]) -> Option<Cow<'_, str>> {
    let text = |name| json::member_text(part, name);
    let named = ["text", "thinking", "summary"].into_iter().find_map(text);
    named.or_else(|| {
        let list = |name| json::elements(json::member(part, name)?, Dialect::Strict);
        let items = ["summary", "content"].into_iter().filter_map(list).flatten();
        let texts = items.filter_map(|item| json::text(json::member(item, "text")?));
        let texts: Vec<Cow<'_, str>> = texts.collect();
        (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n\n")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Position;
    use crate::model::record::Record;

    #[test]
    fn reasoning_is_read_from_members_of_each_api() {
        let line = br#"{"role":"assistant","content":"","reasoning":[{"text":"one"},{"thinking":"two","signature":"s"},{"summary":[{"type":"summary_text","text":"three"},{"type":"summary_text","text":"four"}],"content":null,"encrypted_content":"x"},{"summary":[],"encrypted_content":"x"}]}"#;
        let record = Record::parse(line, Position::default());
        let texts: Vec<Option<String>> = reasoning_texts(record.message().unwrap())
            .into_iter()
            .map(|text| text.map(Cow::into_owned))
            .collect();
        let expected = [Some("one"), Some("two"), Some("three\n\nfour"), None];
        assert_eq!(texts, expected.map(|text| text.map(str::to_string)));
    }
}
