//! Parses YAML blocks as JSON: maps and lists by indentation, as aichat writes them, without anchors.

use super::scalar::{self, Scalar};
use crate::model::json::{ObjectBuilder, array, quoted};

/// A syntax error, with its line relative to the parsed text, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YamlError {
    pub line: usize,
    /// The problem.
    pub what: &'static str,
}

/// Maximum nesting depth of blocks, as in aichat's own reader.
pub const DEEPEST: usize = 128;

/// A line with content.
struct YamlLine<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

struct YamlBlock<'a> {
    /// All lines without endings.
    raw: Vec<&'a str>,
    /// Lines with content. Text after a dash is treated as a line in its own column.
    lines: Vec<YamlLine<'a>>,
}

/// Parses these lines to JSON on one line.
pub fn value(text: &str) -> Result<Vec<u8>, YamlError> {
    let raw: Vec<&str> = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let lines = raw.iter().enumerate().filter_map(|(number, raw)| {
        let text = raw.trim_start_matches(' ');
        let silent = text.trim().is_empty() || text.starts_with('#');
        (!silent).then(|| YamlLine {
            number,
            indent: raw.len() - text.len(),
            text: text.trim_end(),
        })
    });
    let mut block = YamlBlock {
        lines: lines.collect(),
        raw,
    };
    let Some(first) = block.lines.first().map(|line| line.indent) else {
        return Ok(b"null".to_vec());
    };
    let mut at = 0;
    let value = block.node(&mut at, first, 0)?;
    match block.lines.get(at) {
        Some(line) => Err(line.fault("inconsistent indentation")),
        None => Ok(value),
    }
}

impl YamlLine<'_> {
    fn fault(&self, what: &'static str) -> YamlError {
        YamlError {
            line: self.number,
            what,
        }
    }

    fn is_dash(&self) -> bool {
        self.text == "-" || self.text.starts_with("- ")
    }
}

impl<'a> YamlBlock<'a> {
    /// The value that starts at a line with this indentation.
    fn node(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        let line = &self.lines[*at];
        if depth > DEEPEST {
            return Err(line.fault("nested too deeply"));
        }
        if line.text.starts_with('\t') {
            return Err(line.fault("tab in the indentation"));
        }
        if line.is_dash() {
            return self.list(at, indent, depth);
        }
        match scalar::key(line.text) {
            Ok(Some(_)) => self.map(at, indent, depth),
            Ok(None) => {
                let (number, text) = (line.number, line.text);
                *at += 1;
                self.scalar(at, number, text, indent)
            }
            Err(what) => Err(line.fault(what)),
        }
    }

    fn list(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        let mut elements = Vec::new();
        while let Some(line) = self
            .lines
            .get(*at)
            .filter(|line| line.indent == indent && line.is_dash())
        {
            let inner = line.text[1..].trim_start_matches(' ');
            let column = indent + line.text.len() - inner.len();
            if inner.is_empty() || inner.starts_with('#') {
                *at += 1;
                elements.push(self.below(at, indent + 1, depth)?);
                continue;
            }
            let number = line.number;
            if inner.starts_with("- ") || inner == "-" || matches!(scalar::key(inner), Ok(Some(_)) | Err(_)) {
                self.lines[*at] = YamlLine {
                    number,
                    indent: column,
                    text: inner,
                };
                elements.push(self.node(at, column, depth + 1)?);
            } else {
                *at += 1;
                elements.push(self.scalar(at, number, inner, indent)?);
            }
        }
        Ok(array(elements))
    }

    /// The value below a dash or colon; null if there is none.
    fn below(&mut self, at: &mut usize, least: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        match self.lines.get(*at).map(|line| line.indent) {
            Some(indent) if indent >= least => self.node(at, indent, depth + 1),
            _ => Ok(b"null".to_vec()),
        }
    }

    fn map(&mut self, at: &mut usize, indent: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        let mut built = ObjectBuilder::default();
        let mut names: Vec<String> = Vec::new();
        while let Some(line) = self.lines.get(*at).filter(|line| line.indent == indent) {
            let (number, text) = (line.number, line.text);
            let fault = |what| YamlError { line: number, what };
            if text.starts_with('\t') {
                return Err(fault("tab in the indentation"));
            }
            let Some((name, rest)) = scalar::key(text).map_err(fault)? else {
                return Err(fault("neither a member nor a value"));
            };
            if names.contains(&name) {
                return Err(fault("duplicate member"));
            }
            *at += 1;
            let value = if rest.is_empty() || rest.starts_with('#') {
                // A list may have the same indentation as its name.
                let list = self
                    .lines
                    .get(*at)
                    .is_some_and(|line| line.indent == indent && line.is_dash());
                self.below(at, if list { indent } else { indent + 1 }, depth)?
            } else {
                self.scalar(at, number, rest, indent)?
            };
            built.raw(&name, value);
            if names.len() < SEEN {
                names.push(name);
            }
        }
        Ok(built.finish())
    }

    /// A value that starts on a line; `indent` is the indentation of its parent.
    fn scalar(
        &mut self,
        at: &mut usize,
        number: usize,
        text: &str,
        indent: usize,
    ) -> Result<Vec<u8>, YamlError> {
        let fault = |what| YamlError { line: number, what };
        let value = match scalar::read(text).map_err(fault)? {
            Scalar::Value(value) => value,
            Scalar::Block(header) => {
                let first = number + 1;
                let (text, length) =
                    scalar::block(&self.raw[first..], header, indent).map_err(|(line, what)| YamlError {
                        line: first + line,
                        what,
                    })?;
                let end = first + length;
                while self.lines.get(*at).is_some_and(|line| line.number < end) {
                    *at += 1;
                }
                quoted(&text)
            }
        };
        if let Some(next) = self.lines.get(*at).filter(|next| next.indent > indent) {
            return Err(next.fault("multi-line strings are not supported"));
        }
        Ok(value)
    }
}

/// Number of map members that are checked for duplicates.
const SEEN: usize = 256;
