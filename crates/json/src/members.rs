//! Iterators over the members of objects and the elements of arrays.

use super::{Dialect, Scan, fault, key_end, skip_space, unescape, value_end};
use std::borrow::Cow;
use std::collections::HashMap;

/// One member of an object, unmodified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The name between its quotes, with escapes.
    pub key: &'a [u8],
    /// The value's bytes.
    pub value: &'a [u8],
    /// Offset of the name's opening quote in the object's bytes.
    pub start: usize,
    /// Offset after the value in the object's bytes.
    pub end: usize,
}

impl Member<'_> {
    /// The name with its escapes decoded.
    pub fn name(&self) -> Cow<'_, str> {
        unescape(self.key)
    }
}

/// Iterates over the members of an object and checks the end of the object after the last one.
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    state: MemberState,
    /// Whether other bytes may follow the object.
    is_leading: bool,
}

#[derive(PartialEq)]
enum MemberState {
    First,
    Later,
    Done,
}

impl<'a> Members<'a> {
    /// From an object's bytes; surrounding white space is allowed, any other trailing byte is a fault.
    pub fn new(bytes: &'a [u8], dialect: Dialect) -> Scan<Self> {
        Ok(Members {
            bytes,
            at: opened(bytes, b'{', "not an object")?,
            dialect,
            state: MemberState::First,
            is_leading: false,
        })
    }

    /// From bytes that begin with an object.
    pub fn leading(bytes: &'a [u8], dialect: Dialect) -> Scan<Self> {
        let members = Members::new(bytes, dialect)?;
        Ok(Members {
            is_leading: true,
            ..members
        })
    }

    /// The offset after the object, once all members have been returned.
    pub fn end(&self) -> Option<usize> {
        (self.state == MemberState::Done).then_some(self.at)
    }

    /// The next member.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot end with the fault it met"
    )]
    pub fn next(&mut self) -> Scan<Option<Member<'a>>> {
        let Some(start) = step(self.bytes, &mut self.at, &mut self.state, b'}')? else {
            if !self.is_leading {
                ends(self.bytes, self.at)?;
            }
            return Ok(None);
        };
        let (name_end, value) = key_end(self.bytes, start)?;
        let end = value_end(self.bytes, value, self.dialect)?;
        self.at = end;
        Ok(Some(Member {
            key: &self.bytes[start + 1..name_end - 1],
            value: &self.bytes[value..end],
            start,
            end,
        }))
    }
}

/// Iterates over the elements of an array.
pub struct ArrayElements<'a> {
    bytes: &'a [u8],
    at: usize,
    dialect: Dialect,
    state: MemberState,
}

impl<'a> ArrayElements<'a> {
    /// From an array's bytes.
    pub fn new(bytes: &'a [u8], dialect: Dialect) -> Scan<Self> {
        Ok(ArrayElements {
            bytes,
            at: opened(bytes, b'[', "not an array")?,
            dialect,
            state: MemberState::First,
        })
    }

    /// The next element and its offset in the array's bytes.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot end with the fault it met"
    )]
    pub fn next(&mut self) -> Scan<Option<(usize, &'a [u8])>> {
        let Some(start) = step(self.bytes, &mut self.at, &mut self.state, b']')? else {
            ends(self.bytes, self.at)?;
            return Ok(None);
        };
        self.at = value_end(self.bytes, start, self.dialect)?;
        Ok(Some((start, &self.bytes[start..self.at])))
    }
}

fn opened(bytes: &[u8], bracket: u8, what: &'static str) -> Scan<usize> {
    let start = skip_space(bytes, 0);
    if bytes.get(start) == Some(&bracket) {
        Ok(start + 1)
    } else {
        fault(start, what)
    }
}

/// Checks that only white space follows.
fn ends(bytes: &[u8], at: usize) -> Scan<()> {
    match skip_space(bytes, at) {
        end if end < bytes.len() => fault(end, "unexpected text after the value"),
        _ => Ok(()),
    }
}

/// Skips a comma, or the closing bracket.
fn step(bytes: &[u8], at: &mut usize, state: &mut MemberState, close: u8) -> Scan<Option<usize>> {
    if *state == MemberState::Done {
        return Ok(None);
    }
    let mut i = skip_space(bytes, *at);
    if bytes.get(i) == Some(&close) {
        *at = i + 1;
        *state = MemberState::Done;
        return Ok(None);
    }
    if *state == MemberState::First {
        *state = MemberState::Later;
    } else {
        match bytes.get(i) {
            Some(b',') => i = skip_space(bytes, i + 1),
            None => return fault(i, "unterminated object or array"),
            Some(_) => return fault(i, "missing comma or closing bracket"),
        }
    }
    if i >= bytes.len() {
        return fault(i, "unterminated object or array");
    }
    Ok(Some(i))
}

/// The value of the last member with this name (as in most parsers); `None` if the bytes are not an object or have no
/// such member.
pub fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut members = Members::new(object, Dialect::Python).ok()?;
    let mut found = None;
    while let Some(member) = members.next().ok()? {
        if member.key == name.as_bytes() || (member.key.contains(&b'\\') && member.name() == name) {
            found = Some(member.value);
        }
    }
    found
}

/// The values of several members, as [`member`] returns each, in one pass.
pub fn several<'a, const N: usize>(object: &'a [u8], names: [&str; N]) -> [Option<&'a [u8]>; N] {
    let read = || -> Option<[Option<&'a [u8]>; N]> {
        let mut members = Members::new(object, Dialect::Python).ok()?;
        let mut found = [None; N];
        while let Some(member) = members.next().ok()? {
            let name = member.name();
            if let Some(nth) = names.iter().position(|known| *known == name) {
                found[nth] = Some(member.value);
            }
        }
        Some(found)
    };
    read().unwrap_or([None; N])
}

/// Up to this many names, a linear search is faster than a map.
pub(super) const FEW: usize = 32;

/// A string member.
pub fn member_text<'a>(object: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    member(object, name).and_then(super::text)
}

/// A string member, quoted.
pub fn string_member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    member(object, name).filter(|raw| raw.starts_with(b"\""))
}

/// The owned string of a member, like [`member_text`].
pub fn member_string(object: &[u8], name: &str) -> Option<String> {
    member_text(object, name).map(Cow::into_owned)
}

/// All members of an object by name; for repeated names the last value, at the position of the first. `None` if the
/// bytes are not an object.
pub fn members<'a>(object: &'a [u8], dialect: Dialect) -> Option<Vec<(Cow<'a, str>, &'a [u8])>> {
    let mut scan = Members::new(object, dialect).ok()?;
    let mut all: Vec<(Cow<'a, str>, &'a [u8])> = Vec::new();
    let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
    while let Some(member) = scan.next().ok()? {
        let name = unescape(member.key);
        if all.len() == FEW {
            places.extend(
                all.iter()
                    .enumerate()
                    .map(|(place, (name, _))| (name.clone(), place)),
            );
        }
        let known = match all.len() < FEW {
            true => all.iter().position(|(known, _)| *known == name),
            false => places.get(&name).copied(),
        };
        match known {
            Some(place) => all[place].1 = member.value,
            None => {
                if all.len() >= FEW {
                    places.insert(name.clone(), all.len());
                }
                all.push((name, member.value));
            }
        }
    }
    Some(all)
}

/// The elements of an array; `None` if the bytes are not an array.
pub fn elements(array: &[u8], dialect: Dialect) -> Option<Vec<&[u8]>> {
    let mut scan = ArrayElements::new(array, dialect).ok()?;
    let mut all = Vec::new();
    while let Some((_, element)) = scan.next().ok()? {
        all.push(element);
    }
    Some(all)
}

/// The elements of an array; none for any other value.
pub fn items<'a>(array: impl Into<Option<&'a [u8]>>) -> Vec<&'a [u8]> {
    let array = array.into();
    array
        .and_then(|array| elements(array, Dialect::Strict))
        .unwrap_or_default()
}

/// The elements of a member, as [`items`].
pub fn list<'a>(object: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    items(member(object, name))
}
