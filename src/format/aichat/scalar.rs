//! Parses scalars and member names of YAML.

use crate::model::json::{self, Dialect, quoted};

/// A value that starts on a line.
pub enum Scalar {
    /// JSON.
    Value(Vec<u8>),
    /// A block of text on the following lines.
    Block(BlockHeader),
}

#[derive(Clone, Copy)]
pub struct BlockHeader {
    /// Explicit indentation relative to the parent, if given.
    indent: Option<usize>,
    /// Handling of trailing newlines: `-` drops them, `+` keeps them.
    chomp: Option<u8>,
}

const MORE: &str = "unsupported YAML: anchor, tag, folded text or list in brackets";

/// The name of a member and the text after its colon; `None` for any other line.
pub fn key(text: &str) -> Result<Option<(String, &str)>, &'static str> {
    let (name, rest) = match text.as_bytes()[0] {
        b'"' | b'\'' => {
            let (name, rest) = quotes(text)?;
            match rest.trim_start().strip_prefix(':') {
                Some(rest) => (name, rest),
                None => return Ok(None),
            }
        }
        b'?' if text == "?" || text.starts_with("? ") => return Err(MORE),
        b'|' | b'>' | b'[' | b'{' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'#' => return Ok(None),
        _ => {
            let mut colons = text.match_indices(':').map(|(at, _)| at);
            let end = colons.find(|at| matches!(text.as_bytes().get(at + 1), None | Some(b' ')));
            let Some(end) = end.filter(|end| !text[..*end].contains(" #")) else {
                return Ok(None);
            };
            (text[..end].trim_end().to_string(), &text[end + 1..])
        }
    };
    match rest.is_empty() || rest.starts_with(' ') {
        true => Ok(Some((name, rest.trim()))),
        false => Ok(None),
    }
}

/// Parses a value.
pub fn read(text: &str) -> Result<Scalar, &'static str> {
    let first = text.as_bytes()[0];
    let value = match first {
        b'|' => return header(&text[1..]).map(Scalar::Block),
        b'"' | b'\'' => {
            let (text, rest) = quotes(text)?;
            check_only_comment(rest)?;
            quoted(&text)
        }
        // In brackets, only JSON is unambiguous.
        b'[' | b'{' => {
            let end = json::value_end(text.as_bytes(), 0, Dialect::Strict).map_err(|_| MORE)?;
            check_only_comment(&text[end..])?;
            json::compact(&text.as_bytes()[..end]).0
        }
        b'>' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b',' | b']' | b'}' => return Err(MORE),
        b'-' | b'?' | b':' if text.len() == 1 || text.as_bytes()[1] == b' ' => return Err(MORE),
        _ => plain(text)?,
    };
    Ok(Scalar::Value(value))
}

/// Checks that only a comment follows a value.
fn check_only_comment(rest: &str) -> Result<(), &'static str> {
    let inner = rest.trim();
    match inner.is_empty() || (inner.starts_with('#') && rest.starts_with(' ')) {
        true => Ok(()),
        false => Err("unexpected text after the value"),
    }
}

fn header(text: &str) -> Result<BlockHeader, &'static str> {
    let marks = text.split(' ').next().unwrap_or_default();
    check_only_comment(&text[marks.len()..])?;
    let mut header = BlockHeader {
        indent: None,
        chomp: None,
    };
    for mark in marks.bytes() {
        match mark {
            b'1'..=b'9' if header.indent.is_none() => header.indent = Some(usize::from(mark - b'0')),
            b'-' | b'+' if header.chomp.is_none() => header.chomp = Some(mark),
            _ => return Err("expected a string"),
        }
    }
    Ok(header)
}

/// Reads a block of text; also returns its number of lines. `outer` is the indentation of the parent.
pub fn block(
    lines: &[&str],
    header: BlockHeader,
    outer: usize,
) -> Result<(String, usize), (usize, &'static str)> {
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let has_text = |line: &&str| !line.trim_start_matches(' ').is_empty();
    let indent = match header.indent {
        Some(more) => outer + more,
        None => lines
            .iter()
            .find(|line| has_text(line))
            .map_or(outer + 1, |line| spaces(line)),
    };
    let mut text = String::new();
    let (mut length, mut empty) = (0, 0);
    // A line that is not indented beyond the parent is not part of the block.
    if indent > outer {
        for (nth, line) in lines.iter().enumerate() {
            if spaces(line) >= indent {
                let own = &line[indent..];
                if own.is_empty() {
                    empty += 1;
                    continue;
                }
                text.extend(std::iter::repeat_n('\n', empty));
                text.push_str(own);
                text.push('\n');
                (length, empty) = (nth + 1, 0);
            } else if line.trim_start_matches(' ').is_empty() {
                empty += 1;
            } else if spaces(line) > outer {
                return Err((nth, "a line of the string is indented less than the first"));
            } else {
                break;
            }
        }
    }
    match header.chomp {
        Some(b'-') => drop(text.pop()),
        Some(_) => {
            // At the end of the file, the last line may lack its newline.
            let open = length + empty == lines.len();
            text.extend(std::iter::repeat_n('\n', empty.saturating_sub(usize::from(open))));
        }
        None => {}
    }
    Ok((text, length))
}

/// A quoted string, and the text after it.
fn quotes(text: &str) -> Result<(String, &str), &'static str> {
    const OPEN: &str = "unterminated quoted string";
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    let single = text.starts_with('\'');
    while let Some((at, char)) = chars.next() {
        match char {
            '\'' if single => match chars.peek() {
                Some((_, '\'')) => {
                    out.push('\'');
                    chars.next();
                }
                _ => return Ok((out, &text[at + 1..])),
            },
            '"' if !single => return Ok((out, &text[at + 1..])),
            '\\' if !single => {
                let (_, mark) = chars.next().ok_or(OPEN)?;
                let digits = match mark {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    mark => {
                        out.push(escaped(mark).ok_or("unknown escape")?);
                        continue;
                    }
                };
                let mut code = 0;
                for _ in 0..digits {
                    let digit = chars.next().and_then(|(_, digit)| digit.to_digit(16));
                    code = code * 16 + digit.ok_or("an escape requires hex digits")?;
                }
                // A surrogate pair in two escapes, as in JSON.
                let low = (0xd800..0xdc00)
                    .contains(&code)
                    .then(|| text.get(at + 6..at + 12))
                    .flatten();
                let low = low.and_then(|low| u32::from_str_radix(low.strip_prefix("\\u")?, 16).ok());
                if let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low)) {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    chars.by_ref().take(6).for_each(drop);
                }
                out.push(char::from_u32(code).ok_or("an escape does not encode a character")?);
            }
            char => out.push(char),
        }
    }
    Err(OPEN)
}

/// The character of a one-letter escape. Source: YAML 1.2.2, 5.7.
fn escaped(mark: char) -> Option<char> {
    Some(match mark {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        ' ' | '"' | '/' | '\\' => mark,
        _ => return None,
    })
}

fn plain(text: &str) -> Result<Vec<u8>, &'static str> {
    let text = text
        .find(" #")
        .map_or(text, |comment| &text[..comment])
        .trim_end();
    if text.contains(": ") || text.ends_with(':') {
        return Err("unquoted string with a colon");
    }
    Ok(resolved(text).map_or_else(|| quoted(text), |value| value.as_bytes().to_vec()))
}

/// The JSON value of an unquoted text that is not a string. Source: YAML 1.2.2, 10.3.2, as far as JSON has such values.
pub fn resolved(text: &str) -> Option<&str> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some("null"),
        "true" | "True" | "TRUE" => Some("true"),
        "false" | "False" | "FALSE" => Some("false"),
        _ => {
            let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let whole = json::is_value(text.as_bytes());
            (begins && whole).then_some(text)
        }
    }
}
