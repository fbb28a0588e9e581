//! Results of file tools that report a failure only by their text.

use super::arguments::TouchedFile;

/// Most bytes of such a text: a longer line is content.
const LONGEST: usize = 400;

/// Beginnings of errors of any tool, in lower case.
const BEGINNINGS: [&str; 13] = [
    "error:", "error executing tool", "error reading file", "error writing file", "error editing file",
    "<tool_use_error>", "<error>", "enoent", "eacces", "eisdir", "file not found:", "failed to read file",
    "file does not exist",
];

/// Beginnings of errors of a tool that changes a file.
const OF_CHANGES: [&str; 13] = [
    "failed to ",
    "could not find the ",
    "no changes made",
    "no replacement was performed",
    "string to replace not found",
    "string not found in file",
    "old_string not found",
    "oldstring not found",
    "apply_patch verification failed",
    "invalid context",
    "search pattern not found",
    "unable to apply",
    "the user doesn't want to proceed",
];

/// Parts of a line that name an error of the operating system.
const OF_SYSTEM: [&str; 4] = [
    "no such file or directory", "enoent:", "permission denied (os error", "is a directory (os error",
];

/// Whether the result of a call for these files reports a failure. A text that was read may begin like an error, too, but
/// it rarely is one short line; other results contain no text of a file.
pub fn reports_failure(files: &[TouchedFile<'_>], text: &str) -> bool {
    let is_change = files.iter().all(|(change, _)| change.is_some());
    let text = text.trim();
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    if line.len() > LONGEST || !is_change && !rest.is_empty() {
        return false;
    }
    let line = line.trim_end().to_lowercase();
    let begins = |known: &[&str]| known.iter().any(|known| line.starts_with(known));
    begins(&BEGINNINGS)
        || rest.is_empty() && OF_SYSTEM.iter().any(|known| line.contains(known))
        || is_change && begins(&OF_CHANGES)
}
