//! Errors about an input, and suggestions for a misspelled name.

use convo::error::{Error, Position};
use std::borrow::Cow;

/// The error of `--strict` at a damaged line.
pub fn stopped() -> Error {
    Error::data("stopped at a damaged line (--strict)")
}

/// The error of a command whose inputs are both stored sessions and streams.
pub fn mixed() -> Error {
    let what = "cannot mix stored sessions with files or standard input";
    Error::usage(what).hint("use --stdout to read stored sessions as streams")
}

/// Names an input, and a session of it that has an id.
pub fn session_label<'l>(input: &'l str, id: Option<&str>) -> Cow<'l, str> {
    match id {
        Some(id) if input.is_empty() => Cow::Owned(format!("session {id}")),
        Some(id) => Cow::Owned(format!("{input}: session {id}")),
        None => Cow::Borrowed(input),
    }
}

/// Adds the name of the input to an error.
pub fn named(mut error: Error, label: &str) -> Error {
    // Some messages begin with the path, which may be the name.
    if let Some(rest) = error
        .message
        .strip_prefix(label)
        .and_then(|rest| rest.strip_prefix(": "))
    {
        error.message = rest.to_string();
    }
    match &mut error.at {
        Some((input, _)) if input.is_empty() => *input = label.to_string(),
        Some(_) => {}
        None => error.at = Some((label.to_string(), Position::default())),
    }
    error
}

/// The known name nearest to a misspelled one, if it is near enough to be meant.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let known = known.into_iter();
    known
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
        .min()
        .map(|(_, known)| known)
}
