//! Access to raw members of Penguin's objects.

use crate::model::json::{self, Dialect, Members};

/// The values of these members, the last one of repeated names; all `None` if the value is not an object.
pub(super) fn values<'a, const N: usize>(object: &'a [u8], names: [&str; N]) -> [Option<&'a [u8]>; N] {
    let mut found = [None; N];
    let Ok(mut members) = Members::new(object, Dialect::Python) else {
        return found;
    };
    while let Ok(Some(member)) = members.next() {
        let name = member.name();
        if let Some(index) = names.iter().position(|known| *known == name) {
            found[index] = Some(member.value);
        }
    }
    found
}

/// The object without these members; `None` if nothing remains.
pub(super) fn without(object: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let changes: Vec<(&str, Option<&[u8]>)> = names.iter().map(|name| (*name, None)).collect();
    json::with_members(object, &changes)
        .ok()
        .filter(|rest| rest != b"{}")
}

/// The value, unless it is null.
pub(super) fn non_null(value: Option<&[u8]>) -> Option<&[u8]> {
    value.filter(|raw| *raw != b"null")
}

/// Whether the value is a string that is not blank.
pub(super) fn is_words(value: &[u8]) -> bool {
    json::text(value).is_some_and(|text| !text.trim().is_empty())
}

/// Whether this is a positive integer.
pub(super) fn is_count(raw: &[u8]) -> bool {
    std::str::from_utf8(raw).is_ok_and(|digits| digits.parse::<u64>().is_ok_and(|count| count > 0))
}
