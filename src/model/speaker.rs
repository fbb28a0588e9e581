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
    parts.unwrap_or_default().into_iter().map(thought).collect()
}

/// The text of a part of reasoning: its own, that of Anthropic's API, or the summary and content of OpenAI's.
pub fn thought(part: &[u8]) -> Option<Cow<'_, str>> {
    let text = |name| json::member(part, name).and_then(json::text);
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
    use crate::error::Place;
    use crate::model::record::Record;

    #[test]
    fn a_thought_is_read_in_the_words_of_each_api() {
        let line = br#"{"role":"assistant","content":"","reasoning":[{"text":"one"},{"thinking":"two","signature":"s"},{"summary":[{"type":"summary_text","text":"three"},{"type":"summary_text","text":"four"}],"content":null,"encrypted_content":"x"},{"summary":[],"encrypted_content":"x"}]}"#;
        let record = Record::parse(line, Place::default());
        let texts: Vec<Option<String>> = thoughts(record.message().unwrap())
            .into_iter()
            .map(|text| text.map(Cow::into_owned))
            .collect();
        let expected = [Some("one"), Some("two"), Some("three\n\nfour"), None];
        assert_eq!(texts, expected.map(|text| text.map(str::to_string)));
    }
}
