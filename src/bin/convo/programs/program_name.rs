//! Derives a storable name from a command line: program name and hash. Arguments and variables may be secrets.

use convo::model::key::sha256;
use std::iter::Peekable;
use std::str::CharIndices;

/// The name of an unrecognizable program.
const UNKNOWN: &str = "program";

/// Maximum characters of a name.
const LONGEST: usize = 32;

/// The name that a session stores for a command line, such as `cmd:curl#1a2b3c4d`: equal for equal command lines.
pub fn stored(line: &str, digits: usize) -> String {
    format!("cmd:{}#{}", name(line), &sha256(line.as_bytes())[..digits])
}

/// The file name of the first program in a shell command, without special characters.
pub fn name(line: &str) -> String {
    let word = first(line).filter(|word| !word.contains('='));
    let word = word.unwrap_or_default();
    let file = word.rsplit('/').next().unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = file.chars().filter(plain).take(LONGEST).collect();
    if name.is_empty() {
        UNKNOWN.to_string()
    } else {
        name
    }
}

/// Removes parts of a command line from a text: the whole line, and its words and values that are long enough for a
/// secret.
pub fn without_arguments(text: &str, line: &str) -> String {
    const SECRET: usize = 16;
    let mut text = match line.len() >= SECRET {
        true => text.replace(line, &name(line)),
        false => text.to_string(),
    };
    let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '=' | ';');
    for word in line.split(ends).filter(|word| word.len() >= SECRET) {
        text = text.replace(word, "...");
    }
    text
}

/// The first word that is not an assignment; none if uncertain.
fn first(line: &str) -> Option<String> {
    let mut chars = line.char_indices().peekable();
    loop {
        while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let word = next_word(&mut chars)?;
        if !is_assignment(&word) {
            return Some(word);
        }
    }
}

/// The next word with quotes removed, as the shell parses it. None at the end, for an operator, and for a nested
/// command, a part of which could be mistaken for a word.
fn next_word(chars: &mut Peekable<CharIndices<'_>>) -> Option<String> {
    let mut word = String::new();
    let mut quote = None;
    let mut any = false;
    while let Some((_, c)) = chars.peek().copied() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), c) => word.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (_, '`') => return None,
            (_, '$') => {
                chars.next();
                if matches!(chars.peek(), Some((_, '(' | '{' | '\'' | '"'))) {
                    return None;
                }
                word.push(c);
                any = true;
                continue;
            }
            (_, '\\') => {
                chars.next();
                word.extend(chars.peek().map(|(_, c)| *c));
            }
            (Some(_), c) => word.push(c),
            (None, c) if c.is_whitespace() => break,
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')') if any => break,
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '#') if !any => return None,
            (None, c) => word.push(c),
        }
        any = true;
        chars.next();
    }
    (any && quote.is_none()).then_some(word)
}

/// Whether a word assigns a variable.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_name_holds_no_argument() {
        for (line, expected) in [
            ("./tok.py --model x", "tok.py"),
            ("curl -H 'Authorization: Bearer sk-1' https://a", "curl"),
            ("KEY=sk-1 OTHER=2 /opt/bin/count --key sk-2", "count"),
            ("KEY=\"a sk-1\" count", "count"),
            ("KEY='a sk-1' count", "count"),
            ("KEY=a\\ sk-1 count", "count"),
            ("KEY=sk-1\ncount x", "count"),
            ("KEY+=sk-1 count", "count"),
            ("'my program' x", "myprogram"),
            ("$HOME/bin/sum sk-1", "sum"),
            ("sum;echo sk-1", "sum"),
            ("cat|sum sk-1", "cat"),
            ("\u{1b}[31m", "31m"),
            ("KEY=sk-1", "program"),
            ("KEY=$(printf sk-1) count", "program"),
            ("KEY=`printf sk-1` count", "program"),
            ("KEY=\"$(printf sk-1)\" count", "program"),
            ("KEY=${A:-a sk-1} count", "program"),
            ("KEY=$'a\\' sk-1' count", "program"),
            ("KEY[0]=sk-1 count", "program"),
            ("KEY=1;count sk-1", "program"),
            ("KEY=(sk-1 sk-2) count", "program"),
            ("</dev/null sk-1", "program"),
            ("KEY='sk-1", "program"),
            ("# sk-1", "program"),
            ("", "program"),
        ] {
            assert_eq!(name(line), expected, "{line}");
            assert!(stored(line, 8).starts_with(&format!("cmd:{expected}#")), "{line}");
            assert_eq!(
                stored(line, 8).len(),
                "cmd:#".len() + expected.len() + 8,
                "{line}"
            );
        }
        assert_ne!(stored("tok --a", 8), stored("tok --b", 8));
    }

    #[test]
    fn an_error_repeats_no_argument() {
        let line = "curl -H \"Authorization: Bearer sk-0123456789abcdef\" --key=AKIA0123456789ABCDEF x";
        for (text, expected) in [
            (format!("sh: 1: {line}"), "sh: 1: curl".to_string()),
            ("bad header sk-0123456789abcdef".into(), "bad header ...".into()),
            (
                "no such key AKIA0123456789ABCDEF".into(),
                "no such key ...".into(),
            ),
            ("curl: Bearer expected".into(), "curl: Bearer expected".into()),
        ] {
            assert_eq!(without_arguments(&text, line), expected);
        }
    }
}
