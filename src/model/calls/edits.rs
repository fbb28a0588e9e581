//! Extracts the file change that a tool call requests from the arguments of well-known tools.

use super::diff;
use super::line::{CallArguments, DetailLine, PATHS};
use crate::model::json::{self, Dialect};

/// Argument names of the old and the new text.
const PAIRS: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
];

/// Argument names of a file's complete new text.
const CONTENTS: [&str; 5] = ["content", "contents", "file_text", "new_source", "text"];

/// Removes the change from the arguments and returns it.
pub fn take_change(
    arguments: &mut CallArguments<'_>,
    around: usize,
) -> Option<(Vec<DetailLine>, (usize, usize))> {
    if let Some(pair) = take_pair(arguments) {
        return Some(diff::of(&pair.0, &pair.1, around));
    }
    if let Some(place) = arguments.iter().position(|(name, _)| name == "edits") {
        let edits = json::elements(arguments[place].1, Dialect::Python)?;
        let edit = |raw| take_pair(&mut json::members(raw, Dialect::Python)?);
        let pairs: Vec<(String, String)> = edits.into_iter().map(edit).collect::<Option<_>>()?;
        arguments.remove(place);
        let mut lines = Vec::new();
        for (nth, (old, new)) in pairs.iter().enumerate() {
            if nth > 0 {
                lines.push(DetailLine::Note("...".to_string()));
            }
            lines.extend(diff::of(old, new, around).0);
        }
        return Some(diff::with_line_counts(lines));
    }
    if !arguments.iter().any(|(name, _)| PATHS.contains(&name.as_ref())) {
        return None;
    }
    let text = CONTENTS.iter().find_map(|name| take_text(arguments, name))?;
    Some(diff::of("", &text, around))
}

fn take_pair(arguments: &mut CallArguments<'_>) -> Option<(String, String)> {
    let has = |name: &str| arguments.iter().any(|(own, _)| own == name);
    let (old, new) = PAIRS.into_iter().find(|(old, new)| has(old) && has(new))?;
    Some((take_text(arguments, old)?, take_text(arguments, new)?))
}

fn take_text(arguments: &mut CallArguments<'_>, name: &str) -> Option<String> {
    let place = arguments.iter().position(|(own, _)| own == name)?;
    let text = json::text(arguments[place].1)?.into_owned();
    arguments.remove(place);
    Some(text)
}

/// Whether a text is a patch of `apply_patch`.
pub fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with("*** Begin Patch")
}

/// Removes the patch from the arguments and returns it: an argument of its own, the last word of a command, or part of
/// its script.
pub fn take_patch(arguments: &mut CallArguments<'_>) -> Option<String> {
    let (place, patch) = arguments.iter().enumerate().find_map(|(place, (name, raw))| {
        let text = match name.as_ref() {
            "input" | "patch" | "patchText" => json::text(raw)?.into_owned(),
            "command" | "cmd" => match json::elements(raw, Dialect::Python) {
                Some(words) => script(&json::text(words.last()?)?),
                None => script(&json::text(raw)?),
            },
            _ => return None,
        };
        is_patch(&text).then_some((place, text))
    })?;
    arguments.remove(place);
    Some(patch)
}

/// The patch, if the script only passes one to `apply_patch`; otherwise the script unchanged.
fn script(text: &str) -> String {
    let patch = text.strip_prefix("apply_patch <<").and_then(|rest| {
        let (word, lines) = rest.split_once('\n')?;
        let word = word.trim().trim_matches(['\'', '"']);
        let patch = lines.trim_end().strip_suffix(word)?.trim_end();
        let begun = if is_patch(patch) { "" } else { "*** Begin Patch\n" };
        patch.starts_with("*** ").then(|| format!("{begun}{patch}"))
    });
    patch.unwrap_or_else(|| text.to_string())
}

/// The files of a patch, its lines, and the numbers of added and removed lines.
pub fn patch(
    text: &str,
    relative: impl Fn(&str) -> String,
) -> (Vec<String>, Vec<DetailLine>, (usize, usize)) {
    let mut files: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for line in text.trim().lines() {
        if let Some(marker) = line.strip_prefix("*** ") {
            let Some((what, path)) = marker.split_once(": ") else {
                continue;
            };
            let path = relative(path);
            lines.push(DetailLine::Note(format!("{what}: {path}")));
            if what != "Move to" {
                files.push(path);
            }
        } else if let Some(added) = line.strip_prefix('+') {
            lines.push(DetailLine::Added(added.to_string()));
        } else if let Some(removed) = line.strip_prefix('-') {
            lines.push(DetailLine::Removed(removed.to_string()));
        } else if line.starts_with("@@") {
            lines.push(DetailLine::Note(line.to_string()));
        } else {
            lines.push(DetailLine::Same(
                line.strip_prefix(' ').unwrap_or(line).to_string(),
            ));
        }
    }
    // A single file is already the subject of the call.
    if files.len() == 1 && matches!(lines.first(), Some(DetailLine::Note(_))) {
        lines.remove(0);
    }
    let (lines, counts) = diff::with_line_counts(lines);
    (files, lines, counts)
}
