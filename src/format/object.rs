//! A line that is to be an object.

use crate::model::json::{self, Dialect, Fault, Members};
use std::borrow::Cow;

/// Members: name and value, in order.
pub type Found<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

/// The members of an object in UTF-8, or why it is none.
pub fn members(body: &[u8]) -> Result<Found<'_>, Fault> {
    if let Err(error) = std::str::from_utf8(body) {
        return Err(Fault {
            offset: error.valid_up_to(),
            what: "not UTF-8",
        });
    }
    let mut scan = Members::new(body, Dialect::Strict).map_err(|fault| Fault {
        what: "not a JSON object",
        ..fault
    })?;
    let mut found = Vec::new();
    while let Some(member) = scan.next()? {
        found.push((json::unescape(member.key), member.value));
    }
    Ok(found)
}
