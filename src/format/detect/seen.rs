//! What the head of a document shows of it before it ends or damage begins.

use super::Members;
use crate::model::json::{self, Dialect};

/// The members that can be seen before the head ends or damage begins; the last one's value may be cut.
pub(super) fn seen_members(text: &[u8]) -> (Members<'_>, Option<&'static str>) {
    let mut found = Members::new();
    if text.first() != Some(&b'{') {
        return (found, Some("no object"));
    }
    let mut at = json::skip_space(text, 1);
    while text.get(at) == Some(&b'"') {
        let Ok(name_end) = json::value_end(text, at, Dialect::Strict) else {
            return (found, Some("a name is cut"));
        };
        let colon = json::skip_space(text, name_end);
        if text.get(colon) != Some(&b':') {
            return (found, Some("a colon is missing"));
        }
        let value = json::skip_space(text, colon + 1);
        let name = json::unescape(&text[at + 1..name_end - 1]);
        match json::value_end(text, value, Dialect::Python) {
            Ok(end) => {
                found.push((name, &text[value..end]));
                at = json::skip_space(text, end);
            }
            Err(fault) => {
                found.push((name, &text[value.min(text.len())..]));
                return (found, Some(fault.what));
            }
        }
        match text.get(at) {
            Some(b',') => at = json::skip_space(text, at + 1),
            Some(b'}') => return (found, None),
            _ => return (found, Some("it ends too early")),
        }
    }
    let whole = text.get(at) == Some(&b'}');
    (found, (!whole).then_some("a member name is missing"))
}

/// The first elements of an array; the last of them may be cut.
pub(super) fn first_elements(array: &[u8], most: usize) -> Vec<&[u8]> {
    let mut found = Vec::new();
    if array.first() != Some(&b'[') {
        return found;
    }
    let mut at = json::skip_space(array, 1);
    while found.len() < most && at < array.len() && array[at] != b']' {
        match json::value_end(array, at, Dialect::Python) {
            Ok(end) => {
                found.push(&array[at..end]);
                at = json::skip_space(array, end);
                if array.get(at) != Some(&b',') {
                    break;
                }
                at = json::skip_space(array, at + 1);
            }
            Err(_) => {
                found.push(&array[at..]);
                break;
            }
        }
    }
    found
}
