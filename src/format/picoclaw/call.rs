//! Converts tool calls between PicoClaw's form and the native one.

use super::go::{self, Accepted, Field};
use super::member::{Deviation, EMPTY, ParseRules, filled, push_members};
use crate::model::json::{self, ObjectBuilder};

const WRONG_CALL: &str = "invalid tool call: id, type, name and arguments must be strings";

/// The raw members of a call.
#[derive(Debug, Default)]
pub(super) struct RawCall<'a> {
    pub id: Option<&'a [u8]>,
    pub kind: Option<&'a [u8]>,
    pub function: Option<Function<'a>>,
    pub extra_content: Option<&'a [u8]>,
    members: Vec<&'a [u8]>,
}

#[derive(Debug, Default)]
pub(super) struct Function<'a> {
    pub name: Option<&'a [u8]>,
    pub arguments: Option<&'a [u8]>,
    pub thought_signature: Option<&'a [u8]>,
    members: Vec<&'a [u8]>,
}

impl<'a> RawCall<'a> {
    /// Parses the call at offset `at` of its message; adds deviations to `odd`.
    pub fn read(
        raw: &'a [u8],
        at: usize,
        rules: ParseRules,
        odd: &mut Vec<Deviation>,
    ) -> Accepted<RawCall<'a>> {
        let mut call = RawCall::default();
        if raw == b"null" {
            return Ok(call);
        }
        go::fields(raw, at, |field| {
            match field.name.as_ref() {
                b"id" => go::string(&mut call.id, &field, WRONG_CALL)?,
                b"type" => go::string(&mut call.kind, &field, WRONG_CALL)?,
                b"function" if field.is_null() => call.function = None,
                // A repeated member adds to the first one, because it is a pointer in Go.
                b"function" => call.function.get_or_insert_default().read(&field, rules, odd)?,
                b"extra_content" if field.is_null() => call.extra_content = None,
                b"extra_content" => {
                    check_extra(&field)?;
                    call.extra_content = Some(field.value);
                }
                _ => call.members.push(field.raw),
            }
            Ok(())
        })?;
        Ok(call)
    }
}

impl<'a> Function<'a> {
    fn read(&mut self, function: &Field<'a>, rules: ParseRules, odd: &mut Vec<Deviation>) -> Accepted<()> {
        go::fields(function.value, function.at, |field| {
            match field.name.as_ref() {
                b"name" => go::string(&mut self.name, &field, WRONG_CALL)?,
                b"arguments" if rules == ParseRules::Document && field.value.first() == Some(&b'{') => {
                    self.arguments = Some(field.value);
                    let what = "arguments are an object; read as a string";
                    odd.push(Deviation {
                        offset: field.at,
                        what,
                        damage: true,
                    });
                }
                b"arguments" => go::string(&mut self.arguments, &field, WRONG_CALL)?,
                b"thought_signature" => go::string(&mut self.thought_signature, &field, WRONG_CALL)?,
                _ => self.members.push(field.raw),
            }
            Ok(())
        })
    }
}

impl RawCall<'_> {
    /// The call in the native form, which is that of OpenAI.
    pub fn native(&self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built.raw("id", self.id.unwrap_or(EMPTY));
        match (filled(self.kind), &self.function) {
            (Some(kind), _) => {
                built.raw("type", kind);
            }
            // PicoClaw sometimes omits it, but providers require it.
            (None, Some(_)) => {
                built.text("type", "function");
            }
            (None, None) => {}
        }
        if let Some(function) = &self.function {
            let mut own = ObjectBuilder::default();
            own.raw("name", function.name.unwrap_or(EMPTY));
            match function.arguments {
                Some(object) if object[0] == b'{' => {
                    let object = go::repaired(object.to_vec());
                    own.text("arguments", &String::from_utf8_lossy(&object));
                }
                arguments => {
                    own.raw("arguments", arguments.unwrap_or(EMPTY));
                }
            }
            built.raw("function", own.finish());
        }
        built.finish()
    }

    /// Members without a native equivalent; they are stored in `metadata.picoclaw.calls`, an array parallel to the
    /// calls.
    pub fn leftovers(&self) -> Option<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        built.optional(
            "thought_signature",
            self.function
                .as_ref()
                .and_then(|function| filled(function.thought_signature)),
        );
        if let Some(extra) = self.extra_content {
            built.raw("extra_content", json::compact(extra).0);
        }
        push_members(&mut built, "members", &self.members);
        if let Some(function) = &self.function {
            push_members(&mut built, "function_members", &function.members);
        }
        (!built.is_empty()).then(|| built.finish())
    }
}

fn check_extra(extra: &Field<'_>) -> Accepted<()> {
    let what = "invalid extra_content of a tool call";
    go::strings_in(extra.value, extra.at, &[b"tool_feedback_explanation"], what)?;
    go::fields(extra.value, extra.at, |field| match field.name.as_ref() {
        b"google" => go::strings_in(field.value, field.at, &[b"thought_signature"], what),
        _ => Ok(()),
    })
}
