//! Encodes JSON as the YAML that aichat writes.

use super::scalar;
use super::yaml::DEEPEST;
use crate::model::json::{self, Dialect};

/// The lines of a list element with dashes at this indentation.
pub fn element(value: &[u8], indent: usize) -> String {
    let mut out = " ".repeat(indent);
    out.push('-');
    below(value, indent, true, &mut out);
    out
}

/// The lines of a top-level member.
pub fn member(name: &str, value: &[u8]) -> String {
    let mut out = String::new();
    named(name, value, 0, &mut out);
    out
}

fn named(name: &str, value: &[u8], indent: usize, out: &mut String) {
    text(name, indent, false, out);
    out.push(':');
    below(value, indent, false, out);
}

/// Appends a value after a dash or colon, through the end of its last line.
fn below(value: &[u8], indent: usize, dash: bool, out: &mut String) {
    if indent > 2 * DEEPEST {
        // Too deep for any reader; the final check rejects the file, and this limits its size.
        out.push_str(" null\n");
        return;
    }
    match value.first() {
        Some(b'{') => {
            let members = json::members(value, Dialect::Strict).unwrap_or_default();
            if members.is_empty() {
                return out.push_str(" {}\n");
            }
            let column = " ".repeat(indent + 2);
            if !dash {
                out.push('\n');
            }
            for (nth, (name, value)) in members.iter().enumerate() {
                let is_after_dash = dash && nth == 0;
                out.push_str(if is_after_dash { " " } else { &column });
                named(name, value, indent + 2, out);
            }
        }
        Some(b'[') => {
            let elements = json::items(value);
            if elements.is_empty() {
                return out.push_str(" []\n");
            }
            out.push('\n');
            // In the column of the name, or indented after a dash.
            let column = if dash { indent + 2 } else { indent };
            elements
                .iter()
                .for_each(|one| out.push_str(&element(one, column)));
        }
        first => {
            out.push(' ');
            match first {
                Some(b'"') => text(&json::text(value).unwrap_or_default(), indent, true, out),
                _ => out.push_str(&String::from_utf8_lossy(value)),
            }
            out.push('\n');
        }
    }
}

/// Appends a string; with `lines`, it may take several lines.
fn text(text: &str, indent: usize, lines: bool, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else if lines && is_block(text) {
        out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            out.push('\n');
            if !line.is_empty() {
                out.push_str(&" ".repeat(indent + 2));
                out.push_str(line);
            }
        }
    } else {
        out.push('"');
        text.chars().for_each(|char| escape(char, out));
        out.push('"');
    }
}

/// Whether YAML readers of all versions parse the unquoted text as this string.
fn is_plain(text: &str) -> bool {
    let first = text
        .chars()
        .next()
        .is_some_and(|first| first.is_alphabetic() || matches!(first, '/' | '.' | '_'));
    let inner = |char: char| char.is_alphanumeric() || " _-./,;()+'=%&*!?$@".contains(char) || char == ':';
    // Also quote what older YAML versions parse as booleans or numbers.
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let lower = text.to_ascii_lowercase();
    first
        && text.chars().all(inner)
        && text.len() <= LONGEST
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !text.starts_with("..")
        && !words.contains(&lower.as_str())
        && scalar::resolved(text).is_none()
        && !lower
            .trim_start_matches('.')
            .starts_with(|c: char| c.is_ascii_digit())
        && ![".inf", ".nan"].contains(&lower.as_str())
}

/// Longer strings are quoted, so that no reader wraps them.
const LONGEST: usize = 1024;

/// Whether a string is preserved by a block.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let odd = |char: char| char != '\n' && is_escaped(char);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with(['\n', ' ', '\t'])
        && !text.contains(odd)
        && body
            .split('\n')
            .all(|line| line.is_empty() || !line.trim().is_empty())
}

/// Whether a character must be escaped. Source: YAML 1.2.2, 5.1; line breaks are those of 1.1, too.
fn is_escaped(char: char) -> bool {
    matches!(char, '\0'..='\u{8}' | '\u{a}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn escape(char: char, out: &mut String) {
    match char {
        '"' | '\\' => {
            out.push('\\');
            out.push(char);
        }
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if is_escaped(char) && u32::from(char) < 0x100 => {
            out.push_str(&format!("\\x{:02x}", u32::from(char)));
        }
        _ if is_escaped(char) => out.push_str(&format!("\\u{:04x}", u32::from(char))),
        _ => out.push(char),
    }
}
