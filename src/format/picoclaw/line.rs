//! Converts messages between PicoClaw's form and native lines.

use super::call::RawCall;
use super::go::{self, Accepted, Field};
use super::member::{Deviation, EMPTY, ParseRules, filled, push_members};
use crate::format::content;
use crate::model::json::{self, Dialect, JsonError, ObjectBuilder, array, wrapped};

/// The raw members of a message; `None` if absent or null.
#[derive(Debug, Default)]
pub(super) struct MessageLine<'a> {
    pub role: Option<&'a [u8]>,
    pub content: Option<&'a [u8]>,
    pub model_name: Option<&'a [u8]>,
    pub created_at: Option<&'a [u8]>,
    /// An invalid time; only with [`ParseRules::Document`].
    wrong_time: Option<&'a [u8]>,
    pub media: Option<&'a [u8]>,
    pub attachments: Option<&'a [u8]>,
    pub reasoning: Option<&'a [u8]>,
    pub system_parts: Option<&'a [u8]>,
    pub calls: Vec<RawCall<'a>>,
    pub tool_call_id: Option<&'a [u8]>,
    /// Members unknown to PicoClaw, name and value.
    members: Vec<&'a [u8]>,
    /// Deviations from the format.
    pub oddities: Vec<Deviation>,
}

const WITHOUT_MESSAGE: &str = "object without a message";

const WRONG_PART: &str = "system_parts is not a list of text parts";

impl<'a> MessageLine<'a> {
    /// Parses a message by the rules of Go; the error is why it is not one.
    pub fn read(raw: &'a [u8], rules: ParseRules) -> Accepted<MessageLine<'a>> {
        let start = json::skip_space(raw, 0);
        if raw.get(start) != Some(&b'{') {
            let whole = json::value_end(raw, start, Dialect::Strict)
                .is_ok_and(|end| json::skip_space(raw, end) == raw.len());
            return Err(JsonError {
                offset: 0,
                what: if whole {
                    "not a JSON object"
                } else {
                    "not valid JSON"
                },
            });
        }
        let mut line = MessageLine::default();
        let mut says_something = false;
        go::fields(raw, 0, |field| {
            let known = line.take(&field, rules)?;
            if !known {
                line.members.push(field.raw);
            }
            says_something |= known && !field.is_null();
            Ok(())
        })?;
        // Go would decode this to an empty message without a role, which is useless.
        if says_something {
            if line.has_only_unknown_members() {
                line.report_deviation(
                    0,
                    "message without content, with members that PicoClaw does not know",
                    true,
                );
            }
            Ok(line)
        } else {
            Err(JsonError {
                offset: 0,
                what: WITHOUT_MESSAGE,
            })
        }
    }

    /// Stores a member that PicoClaw knows; `false` for any other.
    fn take(&mut self, field: &Field<'a>, rules: ParseRules) -> Accepted<bool> {
        let lenient = rules == ParseRules::Document;
        match field.name.as_ref() {
            b"role" => go::string(&mut self.role, field, "role is not a string")?,
            b"content" if lenient && field.value.first() == Some(&b'[') => {
                self.content = Some(field.value);
                self.report_deviation(
                    field.at,
                    "content is a list of parts, which PicoClaw does not read",
                    false,
                );
                if content::unknown_kind(field.value).is_some() {
                    self.report_deviation(field.at, "the content has no part of a known type", true);
                }
            }
            b"content" => go::string(&mut self.content, field, "content is not a string")?,
            b"model_name" => go::string(&mut self.model_name, field, "model_name is not a string")?,
            b"created_at" if field.is_null() => {}
            b"created_at" if go::is_time(field.value) => self.created_at = Some(field.value),
            b"created_at" if lenient => {
                self.wrong_time = Some(field.value);
                self.report_deviation(
                    field.at,
                    "created_at is not an RFC 3339 time; kept in the metadata",
                    true,
                );
            }
            b"created_at" => {
                return Err(JsonError {
                    offset: field.at,
                    what: "created_at is not an RFC 3339 time",
                });
            }
            b"media" => {
                let what = "media is not a list of strings";
                let all = go::list(field, what)?;
                if let Some((at, _)) = all.iter().find(|(_, one)| one[0] != b'"' && *one != b"null") {
                    return Err(JsonError { offset: *at, what });
                }
                self.media = (!all.is_empty()).then_some(field.value);
            }
            b"attachments" => {
                let what = "attachments is not a list of objects with strings";
                let all = go::list(field, what)?;
                for (at, one) in &all {
                    go::strings_in(
                        one,
                        *at,
                        &[b"type", b"ref", b"url", b"filename", b"content_type"],
                        what,
                    )?;
                }
                self.attachments = (!all.is_empty()).then_some(field.value);
            }
            b"reasoning_content" => {
                go::string(&mut self.reasoning, field, "reasoning_content is not a string")?;
            }
            b"system_parts" => {
                let all = go::list(field, WRONG_PART)?;
                for (at, one) in &all {
                    check_part(one, *at)?;
                }
                self.system_parts = (!all.is_empty()).then_some(field.value);
            }
            b"tool_calls" => {
                self.calls.clear();
                for (at, one) in go::list(field, "tool_calls is not a list")? {
                    self.calls
                        .push(RawCall::read(one, at, rules, &mut self.oddities)?);
                }
            }
            b"tool_call_id" => go::string(&mut self.tool_call_id, field, "tool_call_id is not a string")?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether it has no content, but members unknown to PicoClaw.
    fn has_only_unknown_members(&self) -> bool {
        let texts = [self.content, self.reasoning, self.tool_call_id];
        let lists = [self.media, self.attachments, self.system_parts];
        let has_content = texts.iter().chain(&lists).any(Option::is_some) || !self.calls.is_empty();
        !has_content && !self.members.is_empty()
    }

    fn report_deviation(&mut self, offset: usize, what: &'static str, damage: bool) {
        self.oddities.push(Deviation { offset, what, damage });
    }

    /// Whether PicoClaw never shows it: an assistant message with reasoning, but no text, call or image.
    pub fn is_reasoning_only(&self) -> bool {
        self.role
            .and_then(json::text)
            .is_some_and(|role| role == "assistant")
            && !go::is_blank(self.reasoning)
            && self.calls.is_empty()
            && self.media.is_none()
            && self.attachments.is_none()
            && go::is_blank(self.tool_call_id)
            && go::is_blank(self.content)
    }

    /// Encodes the message as a native line without its newline. Strings are unchanged.
    pub fn native(&self, id: &str) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built.raw("role", self.role.unwrap_or(EMPTY));
        built.raw("content", json::compact(self.content.unwrap_or(EMPTY)).0);
        if !self.calls.is_empty() {
            built.raw("tool_calls", array(self.calls.iter().map(RawCall::native)));
        }
        built.optional("tool_call_id", filled(self.tool_call_id));
        if let Some(text) = filled(self.reasoning) {
            let mut part = ObjectBuilder::default();
            part.text("type", "text").raw("text", text);
            built.raw("reasoning", array([part.finish()]));
        }
        built.text("id", id);
        for (name, value) in [("timestamp", self.created_at), ("model", filled(self.model_name))] {
            built.optional(name, value);
        }
        let mut own = ObjectBuilder::default();
        let lists = [
            ("created_at", self.wrong_time),
            ("media", self.media),
            ("attachments", self.attachments),
            ("system_parts", self.system_parts),
        ];
        for (name, value) in lists {
            if let Some(value) = value {
                own.raw(name, json::compact(value).0);
            }
        }
        if self.calls.iter().any(|call| call.leftovers().is_some()) {
            let leftovers = |call: &RawCall<'_>| call.leftovers().unwrap_or_else(|| b"null".to_vec());
            own.raw("calls", array(self.calls.iter().map(leftovers)));
        }
        push_members(&mut own, "members", &self.members);
        if !own.is_empty() {
            built.raw("metadata", wrapped("picoclaw", own.finish()));
        }
        go::repaired(built.finish())
    }
}

/// Whether PicoClaw reads this as an empty message: `null`, or an object without known members.
pub(super) fn is_empty(raw: &[u8]) -> bool {
    match MessageLine::read(raw, ParseRules::Log) {
        Ok(_) => false,
        Err(fault) => fault.what == WITHOUT_MESSAGE || raw.trim_ascii() == b"null",
    }
}

fn check_part(part: &[u8], at: usize) -> Accepted<()> {
    go::strings_in(part, at, &[b"type", b"text"], WRONG_PART)?;
    if part == b"null" {
        return Ok(());
    }
    go::fields(part, at, |field| match field.name.as_ref() {
        b"cache_control" => go::strings_in(field.value, field.at, &[b"type"], WRONG_PART),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn native(raw: &str) -> String {
        let line = MessageLine::read(raw.as_bytes(), ParseRules::Log).unwrap();
        String::from_utf8(line.native("msg_1")).unwrap()
    }

    fn fault(raw: &str, rules: ParseRules) -> Option<&'static str> {
        MessageLine::read(raw.as_bytes(), rules)
            .err()
            .map(|fault| fault.what)
    }

    #[test]
    fn every_member_is_placed() {
        assert_eq!(
            native(concat!(
                r#"{"TOOL_CALL_ID":"t","x":[1.50, 1e400],"role":"assistant","content":"\u003ca\u003e \ud800","#,
                r#""model_name":"m","created_at":"2026-01-01T00:00:00.100+02:00","reasoning_content":"why","#,
                r#""media":["media://1"],"attachments":[{"type":"file"}],"system_parts":[{"text":"s"}],"#,
                r#""tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"k\":1}"}},"#,
                r#"{"id":"b","type":"function","z":0,"function":{"name":"g","thought_signature":"sig"},"#,
                r#""extra_content":{"google":{"thought_signature":"sig"}}}]}"#
            )),
            concat!(
                r#"{"role":"assistant","content":"\u003ca\u003e \ud800","#,
                r#""tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"k\":1}"}},"#,
                r#"{"id":"b","type":"function","function":{"name":"g","arguments":""}}],"#,
                r#""tool_call_id":"t","reasoning":[{"type":"text","text":"why"}],"id":"msg_1","#,
                r#""timestamp":"2026-01-01T00:00:00.100+02:00","model":"m","#,
                r#""metadata":{"picoclaw":{"media":["media://1"],"attachments":[{"type":"file"}],"#,
                r#""system_parts":[{"text":"s"}],"calls":[null,{"thought_signature":"sig","#,
                r#""extra_content":{"google":{"thought_signature":"sig"}},"members":{"z":0}}],"#,
                r#""members":{"x":[1.50,1e400]}}}}"#
            )
        );
    }

    #[test]
    fn null_keeps_a_string_and_empties_a_list() {
        let line = r#"{"role":"user","role":null,"media":["a"],"media":null,"content":"a","Content":"b","content":null}"#;
        assert_eq!(native(line), r#"{"role":"user","content":"b","id":"msg_1"}"#);
        for calls in [
            r#"[{"id":"a"}],"tool_calls":null"#,
            r#"[{"id":"a"}],"Tool_Calls":[]"#,
        ] {
            let line = format!(r#"{{"role":"user","tool_calls":{calls}}}"#);
            assert_eq!(native(&line), r#"{"role":"user","content":"","id":"msg_1"}"#);
        }
    }

    #[test]
    fn duplicate_functions_are_merged() {
        let calls = |functions: &str| {
            native(&format!(
                r#"{{"role":"u","tool_calls":[{{"id":"a",{functions}}}]}}"#
            ))
        };
        let both = calls(r#""function":{"name":"f"},"Function":{"arguments":"{}"}"#);
        assert!(
            both.contains(r#""function":{"name":"f","arguments":"{}"}"#),
            "{both}"
        );
        let none = calls(r#""function":{"name":"f"},"function":null"#);
        assert!(none.contains(r#""tool_calls":[{"id":"a"}]"#), "{none}");
    }

    #[test]
    fn a_wrong_type_makes_the_line_invalid() {
        let wrong = [
            r#""role":5"#,
            r#""content":["x"]"#,
            r#""content":"later right","content":7,"content":"right""#,
            r#""created_at":"2026-02-30T00:00:00Z""#,
            r#""created_at":5"#,
            r#""created_at":"2026-01-01T00:00:00\u005a""#,
            r#""media":["a",1]"#,
            r#""attachments":[{"URL":1}]"#,
            r#""system_parts":[{"cache_control":{"type":1}}]"#,
            r#""tool_calls":[{"function":{"arguments":{}}}]"#,
            r#""tool_calls":[{"function":"f"}]"#,
            r#""tool_calls":[{"extra_content":{"google":{"thought_signature":1}}}]"#,
            r#""tool_calls":["f"]"#,
        ];
        for members in wrong {
            assert!(
                fault(&format!(r#"{{"role":"user",{members}}}"#), ParseRules::Log).is_some(),
                "{members}"
            );
        }
        assert_eq!(fault("[1]", ParseRules::Log), Some("not a JSON object"));
        assert_eq!(fault("[1", ParseRules::Log), Some("not valid JSON"));
        for empty in ["{}", r#"{"type":"truncate"}"#, r#"{"role":null}"#] {
            assert_eq!(
                fault(empty, ParseRules::Log),
                Some("object without a message"),
                "{empty}"
            );
        }
    }

    #[test]
    fn known_members_of_a_legacy_message_are_read() {
        let raw = concat!(
            r#"{"role":"assistant","content":[{"type":"text", "text":"a"}],"created_at":"soon","#,
            r#""tool_calls":[{"id":"c","function":{"name":"f","arguments":{"k": 1}}}]}"#
        );
        let line = MessageLine::read(raw.as_bytes(), ParseRules::Document).unwrap();
        assert_eq!(
            String::from_utf8(line.native("m")).unwrap(),
            concat!(
                r#"{"role":"assistant","content":[{"type":"text","text":"a"}],"#,
                r#""tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"k\": 1}"}}],"#,
                r#""id":"m","metadata":{"picoclaw":{"created_at":"soon"}}}"#
            )
        );
        let damage: Vec<bool> = line.oddities.iter().map(|oddity| oddity.damage).collect();
        assert_eq!(damage, [false, true, true]);
        assert!(fault(raw, ParseRules::Log).is_some());
        assert!(fault(r#"{"role":5}"#, ParseRules::Document).is_some());
    }

    #[test]
    fn messages_with_only_reasoning_are_recognized() {
        let reasoning = |more: &str, content: &str| {
            let raw =
                format!(r#"{{"role":"assistant","content":"{content}","reasoning_content":"r"{more}}}"#);
            MessageLine::read(raw.as_bytes(), ParseRules::Log)
                .unwrap()
                .is_reasoning_only()
        };
        assert!(reasoning("", ""));
        assert!(reasoning(
            r#","tool_call_id":" ","media":[],"tool_calls":null"#,
            r"\n\u00a0\u0085"
        ));
        assert!(!reasoning("", "x"));
        for more in [
            r#""media":[null]"#, r#""attachments":[{}]"#, r#""tool_calls":[null]"#, r#""tool_call_id":"x""#,
            r#""role":"Assistant""#,
        ] {
            assert!(!reasoning(&format!(",{more}"), ""), "{more}");
        }
    }
}
