//! The members of an object, as far as they are within the head of an input.

use crate::model::json::{self, Dialect};
use std::borrow::Cow;

/// Number of array elements examined.
const SEEN: usize = 20;

/// Members of an object: name and value. At the end of the head, a value may be truncated.
#[derive(Default)]
pub struct ObjectShape<'a>(pub(super) Vec<(Cow<'a, str>, &'a [u8])>);

impl<'a> ObjectShape<'a> {
    /// From a complete object; `None` if it is not one.
    pub fn of(object: &'a [u8], dialect: Dialect) -> Option<ObjectShape<'a>> {
        json::members(object, dialect).map(ObjectShape)
    }

    /// From the first elements of an array, the last of which may be truncated; an element that is not an object has no
    /// members.
    pub fn elements(array: &'a [u8]) -> Vec<ObjectShape<'a>> {
        first_elements(array, SEEN)
            .into_iter()
            .map(|element| seen_members(element).0)
            .collect()
    }

    /// The value of a member, possibly truncated.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let mut members = self.0.iter();
        members.find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The member names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_ref())
    }

    /// Whether there is a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether there are members of all of these names.
    pub fn all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    /// Whether there is a member of one of these names.
    pub fn any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// Whether a member's value starts with this byte.
    pub fn begins(&self, name: &str, byte: u8) -> bool {
        self.get(name).is_some_and(|value| value.first() == Some(&byte))
    }

    /// Whether a member is a string.
    pub fn is_text(&self, name: &str) -> bool {
        self.begins(name, b'"')
    }

    /// Whether a member is an array.
    pub fn is_array(&self, name: &str) -> bool {
        self.begins(name, b'[')
    }

    /// Whether a member is an object.
    pub fn is_object(&self, name: &str) -> bool {
        self.begins(name, b'{')
    }

    /// A complete string member.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(json::text)
    }

    /// Whether a member is this string.
    pub fn text_equals(&self, name: &str, text: &str) -> bool {
        self.text(name).is_some_and(|value| value == text)
    }

    /// The first elements of an array member.
    pub fn list(&self, name: &str) -> Vec<ObjectShape<'a>> {
        ObjectShape::elements(self.get(name).unwrap_or_default())
    }

    /// The members of an object member; empty for any other value.
    pub fn object(&self, name: &str) -> ObjectShape<'a> {
        self.get(name)
            .map_or_else(ObjectShape::default, |value| seen_members(value).0)
    }

    /// Whether a member is an empty array, or one of its first elements satisfies `is`.
    pub fn has_element(&self, name: &str, is: impl FnMut(&ObjectShape<'a>) -> bool) -> bool {
        let array = self.is_array(name).then(|| self.list(name));
        array.is_some_and(|elements| elements.is_empty() || elements.iter().any(is))
    }

    /// The first object among the values of an object member.
    pub fn inner(&self, name: &str) -> Option<ObjectShape<'a>> {
        let (members, _) = seen_members(self.get(name)?);
        members.0.first().map(|(_, value)| seen_members(value).0)
    }

    /// Whether the first element of an array member has these members.
    pub fn first_has(&self, list: &str, names: &[&str]) -> bool {
        self.list(list).first().is_some_and(|first| first.all(names))
    }
}

/// The members before the end of the head or before damage, and the fault; the last value may be truncated.
pub(super) fn seen_members(text: &[u8]) -> (ObjectShape<'_>, Option<&'static str>) {
    let mut found = ObjectShape::default();
    if text.first() != Some(&b'{') {
        return (found, Some("not an object"));
    }
    let mut at = json::skip_space(text, 1);
    while text.get(at) == Some(&b'"') {
        let Ok(name_end) = json::value_end(text, at, Dialect::Strict) else {
            return (found, Some("truncated member name"));
        };
        let colon = json::skip_space(text, name_end);
        if text.get(colon) != Some(&b':') {
            return (found, Some("missing colon"));
        }
        let value = json::skip_space(text, colon + 1);
        let name = json::unescape(&text[at + 1..name_end - 1]);
        match json::value_end(text, value, Dialect::Python) {
            Ok(end) => {
                found.0.push((name, &text[value..end]));
                at = json::skip_space(text, end);
            }
            Err(fault) => {
                found.0.push((name, &text[value.min(text.len())..]));
                return (found, Some(fault.what));
            }
        }
        match text.get(at) {
            Some(b',') => at = json::skip_space(text, at + 1),
            Some(b'}') => return (found, None),
            _ => return (found, Some("unexpected end")),
        }
    }
    let whole = text.get(at) == Some(&b'}');
    (found, (!whole).then_some("missing member name"))
}

/// The first elements of an array; the last may be truncated.
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
