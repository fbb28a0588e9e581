//! The arguments of a call, and the files that they name.

use std::borrow::Cow;

/// The members of the arguments, by name.
pub type ArgumentMembers<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

/// A file, with its kind of change: added (`A`), modified (`M`) or deleted (`D`); none if it is only read.
pub type TouchedFile<'a> = (Option<char>, Cow<'a, str>);
