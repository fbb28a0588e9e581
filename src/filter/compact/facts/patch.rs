//! The files of a patch of `apply_patch`.

use super::arguments::{ArgumentMembers, TouchedFile};
use crate::model::json;
use std::borrow::Cow;

/// The new name of the file of the line before.
const MOVED: &str = "*** Move to: ";

const PATCHES: [(&str, char); 4] = [
    ("*** Add File: ", 'A'),
    ("*** Update File: ", 'M'),
    ("*** Delete File: ", 'D'),
    (MOVED, 'A'),
];

/// The files of a patch anywhere in the arguments.
pub fn of(arguments: &str, members: &ArgumentMembers<'_>) -> Option<Vec<TouchedFile<'static>>> {
    if !PATCHES.iter().any(|(begins, _)| arguments.contains(begins)) {
        return None;
    }
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for (_, value) in members {
        texts.extend(json::text(value));
        texts.extend(json::items(*value).into_iter().filter_map(json::text));
    }
    if members.is_empty() {
        texts.push(json::text(arguments.as_bytes()).unwrap_or(Cow::Borrowed(arguments)));
    }
    let mut files: Vec<TouchedFile<'static>> = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some((begins, change)) = PATCHES.iter().find(|(begins, _)| line.starts_with(begins)) else {
            continue;
        };
        if let Some(old) = files.last_mut().filter(|_| *begins == MOVED) {
            old.0 = Some('D');
        }
        files.push((Some(*change), Cow::Owned(line[begins.len()..].trim().to_string())));
    }
    (!files.is_empty()).then_some(files)
}
