//! JSON objects whose members are parsed once.

use crate::model::json::{self, Dialect, JsonError, Members, ObjectBuilder};
use crate::model::time;
use std::borrow::Cow;

/// The raw members of an object, in order.
#[derive(Clone, Debug, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a [u8])>);

impl<'a> Object<'a> {
    /// From its bytes; `None` if they are not an object.
    pub fn of(bytes: &'a [u8]) -> Option<Object<'a>> {
        let mut object = Object::default();
        object.scan(bytes).ok()?;
        Some(object)
    }

    /// From its bytes in UTF-8, or the reason why they are not an object.
    pub fn parse(bytes: &'a [u8]) -> Result<Object<'a>, JsonError> {
        if let Err(error) = std::str::from_utf8(bytes) {
            return Err(JsonError {
                offset: error.valid_up_to(),
                what: "not UTF-8",
            });
        }
        let mut object = Object::default();
        object.scan(bytes)?;
        Ok(object)
    }

    /// The members before the first damage.
    pub fn before_damage(bytes: &'a [u8]) -> Object<'a> {
        let mut object = Object::default();
        // The members found so far remain.
        let _ = object.scan(bytes);
        object
    }

    /// Adds the members of an object, up to the first damage.
    fn scan(&mut self, bytes: &'a [u8]) -> Result<(), JsonError> {
        let mut scan = Members::new(bytes, Dialect::Strict).map_err(|fault| JsonError {
            what: "not a JSON object",
            ..fault
        })?;
        while let Some(member) = scan.next()? {
            self.0.push((json::unescape(member.key), member.value));
        }
        Ok(())
    }

    /// A member; the last one of a repeated name.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// A member that is an object.
    pub fn object(&self, name: &str) -> Option<Object<'a>> {
        self.get(name).and_then(Object::of)
    }

    /// The elements of a member that is an array.
    pub fn list(&self, name: &str) -> Option<Vec<&'a [u8]>> {
        json::elements(self.get(name)?, Dialect::Strict)
    }

    /// A string member as raw JSON.
    pub fn string(&self, name: &str) -> Option<&'a [u8]> {
        self.get(name).filter(|value| value.starts_with(b"\""))
    }

    /// A string member, decoded.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(json::text)
    }

    /// A string member that is not empty.
    pub fn filled(&self, name: &str) -> Option<Cow<'a, str>> {
        self.text(name).filter(|text| !text.is_empty())
    }

    pub fn members(&self) -> impl Iterator<Item = (&str, &'a [u8])> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// An object of all members except these; `None` if there are none. Null and empty values are omitted.
    pub fn extra_members(&self, known: &[&str]) -> Option<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        self.add_extra_members(&mut built, known);
        (!built.is_empty()).then(|| built.finish())
    }

    /// Adds the members of [`Self::extra_members`] to an object under construction.
    pub fn add_extra_members(&self, built: &mut ObjectBuilder, known: &[&str]) {
        for (name, value) in self.members() {
            if !known.contains(&name) && !is_nothing(value) {
                built.raw(name, value);
            }
        }
    }
}

/// Whether a value is null, an empty object or an empty array.
fn is_nothing(value: &[u8]) -> bool {
    let inside = || json::skip_space(value, 1) + 1 == value.len();
    value == b"null" || (matches!(value.first(), Some(b'{' | b'[')) && inside())
}

/// A string member that is not empty.
pub fn filled<'a>(object: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    json::member_text(object, name).filter(|text| !text.is_empty())
}

/// As [`filled`], as an owned string.
pub fn text(object: &[u8], name: &str) -> Option<String> {
    filled(object, name).map(Cow::into_owned)
}

/// The member `timestamp`, if it is a time in RFC 3339.
pub fn timestamp(object: &[u8]) -> Option<&[u8]> {
    json::member(object, "timestamp").filter(|raw| is_time(raw))
}

/// Whether a value is a time in RFC 3339.
pub fn is_time(raw: &[u8]) -> bool {
    json::text(raw).is_some_and(|text| time::is_rfc3339(&text))
}
