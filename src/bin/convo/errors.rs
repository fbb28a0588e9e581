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

/// A message about a session of an input, which it names if the session has an id.
pub fn of_session<'m>(id: Option<&str>, message: &'m str) -> Cow<'m, str> {
    match id {
        Some(id) => Cow::Owned(format!("session {id}: {message}")),
        None => Cow::Borrowed(message),
    }
}

/// Adds the name of the input and the id of the session to an error.
pub fn named_session(error: Error, input: &str, id: Option<&str>) -> Error {
    let mut error = named(error, input);
    if let Cow::Owned(message) = of_session(id, &error.message) {
        error.message = message;
    }
    error
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
