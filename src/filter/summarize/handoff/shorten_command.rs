//! Shortens a command line: what it runs is worth more than its directory and its environment.

use super::cut::{GAP, first};
use std::borrow::Cow;

/// A command line within `width` characters. One that is longer has the last part of its directory, or none and no
/// variables if it is still too long, and then its beginning.
pub fn shortened(line: &str, width: usize) -> Cow<'_, str> {
    if line.chars().nth(width).is_none() {
        return Cow::Borrowed(line);
    }
    let Some((directory, command)) = split_lead(line) else {
        return first(line, width);
    };
    let name = directory.rsplit('/').next().unwrap_or_default();
    if !name.is_empty() && !name.contains(['"', '\'', '\\', ' ']) {
        let line = match name.len() < directory.len() {
            true => format!("cd {}/{name} && {command}", GAP.trim()),
            false => format!("cd {name} && {command}"),
        };
        if line.chars().nth(width).is_none() {
            return Cow::Owned(line);
        }
    }
    first(command, width)
}

/// The directory of the changes of directory and assignments before a command, and the command; none if there are none
/// or nothing follows.
fn split_lead(line: &str) -> Option<(&str, &str)> {
    let (mut directory, mut rest) = ("", line.trim_start());
    loop {
        let next = match rest.strip_prefix("cd ").or_else(|| rest.strip_prefix("pushd ")) {
            Some(change) => word(change.trim_start()).and_then(|(word, after)| {
                let after = after_operator(after)?;
                directory = word.trim_end_matches('/');
                Some(after)
            }),
            None => after_assignment(rest),
        };
        match next.map(str::trim_start).filter(|next| !next.is_empty()) {
            Some(next) => rest = next,
            None => break,
        }
    }
    (rest.len() < line.trim_start().len()).then_some((directory, rest))
}

/// The text after a variable assignment, alone or before a command.
fn after_assignment(text: &str) -> Option<&str> {
    let exported = text.strip_prefix("export ");
    let (name, value) = exported.unwrap_or(text).split_once('=')?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let (_, after) = if value.starts_with(' ') {
        ("", value)
    } else {
        word(value)?
    };
    let command = after.strip_prefix(' ').filter(|_| exported.is_none());
    after_operator(after).or(command)
}

/// The text after an operator that separates commands.
fn after_operator(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    let operators = ["&&", ";", "\n"];
    operators.iter().find_map(|operator| text.strip_prefix(operator))
}

/// The first word of a text, which may be quoted, and the text after it; none if it contains a substitution.
fn word(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut is_escaped = false;
    let ends = |(_, c): &(usize, char)| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (quote, c) {
            (Some(end), c) if end == *c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(*c),
            (None, '\\') => is_escaped = true,
            (None, c) => return c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>'),
        }
        false
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    let (word, after) = text.split_at(end);
    (end > 0 && !word.contains(['`', '('])).then_some((word, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_kept_before_its_directory() {
        for (line, short) in [
            ("cd a && make", "cd a && make"),
            (
                "cd /home/anna/code/importer/src && make test",
                "cd [...]/src && make test",
            ),
            (
                "cd /home/anna/code/importer/src; CI=1 FORCE_COLOR=\"0 1\" make test",
                "cd [...]/src && make test",
            ),
            (
                "cd /home/anna/code/importer/src && make test && git push",
                "make test && git push",
            ),
            ("cd '/home/anna/my work' && make test", "make test"),
            (
                "cd /home/anna/code && git commit -m 'a=b && c'",
                "git commit -m 'a=b && c'",
            ),
            (
                "cd /home/anna/code/importer/src",
                "cd /home/anna/code/import [...]",
            ),
            (
                "export A=/home/anna/code B=2 && cargo test",
                "export A=/home/anna/code [...]",
            ),
            ("export A=/home/anna/code; cargo test", "cargo test"),
            (
                "A=$(cat /home/anna/ab c) cargo test",
                "A=$(cat /home/anna/ab c) [...]",
            ),
            (
                "grep -rn x=1 /home/anna/importer",
                "grep -rn x=1 /home/anna/i [...]",
            ),
        ] {
            assert_eq!(shortened(line, 25), short, "{line}");
        }
    }
}
