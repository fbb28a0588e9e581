//! Encodes messages and strings like Go's `encoding/json`, which PicoClaw uses.

use super::call::{Function, RawCall};
use super::go;
use super::line::MessageLine;
use crate::format::go_json::push_text;
use crate::model::json;
use std::borrow::Cow;

/// Go's zero time, which means no time.
pub(super) const ZERO_TIME: &[u8] = br#""0001-01-01T00:00:00Z""#;

/// Maximum fractional digits of a second in Go.
const DIGITS: usize = 9;

/// The text of a string as Go decodes it; empty for any other value.
fn read(raw: Option<&[u8]>) -> String {
    let raw = go::repaired(raw.unwrap_or_default().to_vec());
    json::text(&raw).map(Cow::into_owned).unwrap_or_default()
}

/// A strict RFC 3339 time as Go formats it: at most nanoseconds, no trailing zeros, `Z` for a zero offset.
pub(super) fn time(text: &str) -> String {
    let (moment, rest) = text.split_at(text.len().min(19));
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(end);
    let fraction = &fraction[..fraction.len().min(DIGITS + 1)];
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let zone = if matches!(zone, "+00:00" | "-00:00") {
        "Z"
    } else {
        zone
    };
    format!("{moment}{fraction}{zone}")
}

/// An object under construction.
struct MemberEncoder<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> MemberEncoder<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        MemberEncoder { out, empty: true }
    }

    /// Starts a member; the caller appends its value.
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        push_text(self.out, name);
        self.out.push(b':');
        self.out
    }

    fn text(&mut self, name: &str, raw: Option<&[u8]>) {
        let text = read(raw);
        push_text(self.name(name), &text);
    }

    /// Adds a member unless it is empty, like Go's `omitempty`.
    fn filled(&mut self, name: &str, raw: Option<&[u8]>) {
        if !read(raw).is_empty() {
            self.text(name, raw);
        }
    }

    fn list<T>(&mut self, name: &str, all: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
        if all.is_empty() {
            return;
        }
        let out = self.name(name);
        out.push(b'[');
        for (index, one) in all.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            each(out, one);
        }
        out.push(b']');
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

/// The last non-null value of a member, ignoring the case of its name.
fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut found = None;
    let read = go::fields(object, 0, |field| {
        if field.name.as_ref() == name.as_bytes() && !field.is_null() {
            found = Some(field.value);
        }
        Ok(())
    });
    read.ok().and(found)
}

impl MessageLine<'_> {
    /// The message as PicoClaw writes it, without unknown members.
    pub fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut built = MemberEncoder::new(&mut out);
        built.text("role", self.role);
        built.text("content", self.content);
        built.filled("model_name", self.model_name);
        if self.created_at.is_some() {
            push_text(built.name("created_at"), &time(&read(self.created_at)));
        }
        built.list("media", &json::items(self.media), |out, one| {
            push_text(out, &read(Some(one)));
        });
        built.list("attachments", &json::items(self.attachments), |out, one| {
            let mut attachment = MemberEncoder::new(out);
            for name in ["type", "ref", "url", "filename", "content_type"] {
                attachment.filled(name, member(one, name));
            }
            attachment.end();
        });
        built.filled("reasoning_content", self.reasoning);
        built.list("system_parts", &json::items(self.system_parts), |out, one| {
            let mut part = MemberEncoder::new(out);
            part.text("type", member(one, "type"));
            part.text("text", member(one, "text"));
            if let Some(control) = member(one, "cache_control") {
                let mut inner = MemberEncoder::new(part.name("cache_control"));
                inner.text("type", member(control, "type"));
                inner.end();
            }
            part.end();
        });
        built.list("tool_calls", &self.calls, |out, one| call(out, one));
        built.filled("tool_call_id", self.tool_call_id);
        built.end();
        out
    }
}

fn call(out: &mut Vec<u8>, call: &RawCall<'_>) {
    let mut built = MemberEncoder::new(out);
    built.text("id", call.id);
    built.filled("type", call.kind);
    if let Some(Function {
        name,
        arguments,
        thought_signature,
        ..
    }) = call.function
    {
        let mut own = MemberEncoder::new(built.name("function"));
        own.text("name", name);
        own.text("arguments", arguments);
        own.filled("thought_signature", thought_signature);
        own.end();
    }
    if let Some(extra) = call.extra_content {
        let mut own = MemberEncoder::new(built.name("extra_content"));
        if let Some(google) = member(extra, "google") {
            let mut inner = MemberEncoder::new(own.name("google"));
            inner.filled("thought_signature", member(google, "thought_signature"));
            inner.end();
        }
        own.filled(
            "tool_feedback_explanation",
            member(extra, "tool_feedback_explanation"),
        );
        own.end();
    }
    built.end();
}

#[cfg(test)]
mod tests {
    use super::super::member::ParseRules;
    use super::*;
    use crate::format::go_json;

    #[test]
    fn texts_are_escaped_as_in_go() {
        let text = "\"\\\u{8}\u{c}\n\r\t\0\u{1b}<>&\u{2028}\u{2029}/\u{7f}\u{85}\u{fc}\u{1f326}";
        assert_eq!(
            String::from_utf8(go_json::quoted(text)).unwrap(),
            concat!(
                r#""\"\\\b\f\n\r\t\u0000\u001b\u003c\u003e\u0026\u2028\u2029/"#,
                "\u{7f}\u{85}\u{fc}\u{1f326}\""
            )
        );
    }

    #[test]
    fn times_are_shortened_as_in_go() {
        for (given, written) in [
            ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00Z"),
            ("2026-03-01T09:00:00.500Z", "2026-03-01T09:00:00.5Z"),
            ("2026-03-01T09:00:00.000+00:00", "2026-03-01T09:00:00Z"),
            (
                "2026-03-01T09:00:00.123456789123+02:00",
                "2026-03-01T09:00:00.123456789+02:00",
            ),
            ("2026-03-01T09:00:00-07:00", "2026-03-01T09:00:00-07:00"),
        ] {
            assert_eq!(time(given), written);
        }
    }

    #[test]
    fn every_member_has_its_position_and_encoding() {
        let raw = concat!(
            r#"{"tool_call_id":"t","x":1,"role":"assistant","Content":"a/\u00e9\ud800","model_name":"m","#,
            r#""created_at":"2026-03-01T09:00:00.10Z","media":[null,"a"],"attachments":[{"URL":"u","type":""},null],"#,
            r#""reasoning_content":"why","system_parts":[null,{"text":"s","cache_control":{}}],"#,
            r#""tool_calls":[null,{"id":"c","function":{"name":"f"},"extra_content":{}},"#,
            r#"{"type":"function","extra_content":{"tool_feedback_explanation":"e","google":{}}}]}"#
        );
        let line = MessageLine::read(raw.as_bytes(), ParseRules::Log).unwrap();
        assert_eq!(
            String::from_utf8(line.encoded()).unwrap(),
            concat!(
                "{\"role\":\"assistant\",\"content\":\"a/\u{e9}\u{fffd}\",",
                r#""model_name":"m","created_at":"2026-03-01T09:00:00.1Z","media":["","a"],"#,
                r#""attachments":[{"url":"u"},{}],"reasoning_content":"why","#,
                r#""system_parts":[{"type":"","text":""},{"type":"","text":"s","cache_control":{"type":""}}],"#,
                r#""tool_calls":[{"id":""},{"id":"c","function":{"name":"f","arguments":""},"extra_content":{}},"#,
                r#"{"id":"","type":"function","extra_content":{"google":{},"tool_feedback_explanation":"e"}}],"#,
                r#""tool_call_id":"t"}"#
            )
        );
    }
}
