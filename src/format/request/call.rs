//! Tool calls of native messages.

use crate::format::report::{Loss, Report};
use crate::model::json::{self, wrapped};

/// A tool call with its members as raw JSON.
pub struct CallMembers<'a> {
    /// Its id; an empty string if absent.
    pub id: &'a [u8],
    /// Name of the tool; an empty string if absent.
    pub name: &'a [u8],
    /// Its arguments, or the input of a custom tool.
    pub arguments: Option<&'a [u8]>,
    /// Whether it has the input of a custom tool.
    pub is_custom: bool,
}

impl<'a> CallMembers<'a> {
    /// Parses one element of `tool_calls`.
    pub fn of(call: &'a [u8]) -> CallMembers<'a> {
        let [id, function, custom] = json::several(call, ["id", "function", "custom"]);
        let function = function.or(custom).unwrap_or(b"{}");
        let [name, arguments, input] = json::several(function, ["name", "arguments", "input"]);
        CallMembers {
            id: id.unwrap_or(b"\"\""),
            name: name.unwrap_or(b"\"\""),
            arguments: arguments.or(input),
            is_custom: arguments.is_none() && input.is_some(),
        }
    }

    /// As [`CallMembers::of`], for a format that has only function calls: counts other calls.
    pub fn of_function(call: &'a [u8], report: &mut Report) -> CallMembers<'a> {
        let call = CallMembers::of(call);
        report.count_loss(Loss::Arguments, u64::from(call.is_custom));
        call
    }

    /// The arguments as an object on one line; counts arguments that are not an object.
    pub fn object(&self, report: &mut Report) -> Vec<u8> {
        let (object, is_wrapped) = object_arguments(self.arguments);
        report.count_loss(Loss::Arguments, u64::from(is_wrapped));
        object
    }

    /// As [`CallMembers::object`], but with the white space of an object that has none around it.
    pub fn original_object(&self, report: &mut Report) -> Vec<u8> {
        let text = self.arguments.and_then(json::text);
        match text.filter(|text| json::is_object(text.as_bytes())) {
            Some(text) => text.into_owned().into_bytes(),
            None => self.object(report),
        }
    }
}

/// The arguments of a call as an object, which some APIs require: unchanged if they already are one. The second value
/// is whether they had to be wrapped.
fn object_arguments(arguments: Option<&[u8]>) -> (Vec<u8>, bool) {
    let Some(raw) = arguments else {
        return (b"{}".to_vec(), false);
    };
    let Some(text) = json::text(raw) else {
        return match raw.first() {
            Some(b'{') => (raw.to_vec(), false),
            _ if raw == b"null" => (b"{}".to_vec(), false),
            _ => (wrapped("input", raw), true),
        };
    };
    let bytes = text.trim().as_bytes();
    if bytes.is_empty() {
        return (b"{}".to_vec(), false);
    }
    if json::is_object(bytes) {
        // On one line, because white space outside of strings is insignificant.
        return (json::compact(bytes).0, false);
    }
    (wrapped("input", raw), true)
}
