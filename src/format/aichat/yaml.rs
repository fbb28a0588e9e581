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
#[derive(Clone, Copy)]
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
    /// Index of the next of them.
    at: usize,
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
        at: 0,
    };
    let Some(first) = block.line() else {
        return Ok(b"null".to_vec());
    };
    let value = block.node(first.indent, 0)?;
    match block.line() {
        Some(line) => line.fault("inconsistent indentation"),
        None => Ok(value),
    }
}

impl YamlLine<'_> {
    fn fault<T>(&self, what: &'static str) -> Result<T, YamlError> {
        Err(YamlError {
            line: self.number,
            what,
        })
    }

    fn is_dash(&self) -> bool {
        self.text == "-" || self.text.starts_with("- ")
    }
}

impl<'a> YamlBlock<'a> {
    /// The next line.
    fn line(&self) -> Option<YamlLine<'a>> {
        self.lines.get(self.at).copied()
    }

    /// The value that starts at the next line, which has this indentation.
    fn node(&mut self, indent: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        let line = self.lines[self.at];
        if depth > DEEPEST {
            return line.fault("nested too deeply");
        }
        if line.text.starts_with('\t') {
            return line.fault("tab in the indentation");
        }
        if line.is_dash() {
            return self.list(indent, depth);
        }
        match scalar::key(line.text) {
            Ok(Some(_)) => self.map(indent, depth),
            Ok(None) => self.scalar(line, line.text, indent),
            Err(what) => line.fault(what),
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        let mut elements = Vec::new();
        let is_element = |line: &YamlLine<'_>| line.indent == indent && line.is_dash();
        while let Some(line) = self.line().filter(is_element) {
            let text = line.text[1..].trim_start_matches(' ');
            let inner = YamlLine {
                indent: indent + line.text.len() - text.len(),
                text,
                ..line
            };
            elements.push(if text.is_empty() || text.starts_with('#') {
                self.below(indent + 1, depth)?
            } else if inner.is_dash() || !matches!(scalar::key(text), Ok(None)) {
                self.lines[self.at] = inner;
                self.node(inner.indent, depth + 1)?
            } else {
                self.scalar(line, text, indent)?
            });
        }
        Ok(array(elements))
    }

    /// The value below the next line, which has a dash or a name; null if there is none with this indentation.
    fn below(&mut self, least: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        self.at += 1;
        match self.line() {
            Some(line) if line.indent >= least => self.node(line.indent, depth + 1),
            _ => Ok(b"null".to_vec()),
        }
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Vec<u8>, YamlError> {
        let mut built = ObjectBuilder::default();
        let mut names: Vec<String> = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent == indent) {
            if line.text.starts_with('\t') {
                return line.fault("tab in the indentation");
            }
            let (name, rest) = match scalar::key(line.text) {
                Ok(Some(member)) => member,
                Ok(None) => return line.fault("neither a member nor a value"),
                Err(what) => return line.fault(what),
            };
            if names.contains(&name) {
                return line.fault("duplicate member");
            }
            let value = if rest.is_empty() || rest.starts_with('#') {
                // A list may have the same indentation as its name.
                let next = self.lines.get(self.at + 1);
                let is_list = next.is_some_and(|next| next.indent == indent && next.is_dash());
                self.below(if is_list { indent } else { indent + 1 }, depth)?
            } else {
                self.scalar(line, rest, indent)?
            };
            built.raw(&name, value);
            if names.len() < SEEN {
                names.push(name);
            }
        }
        Ok(built.finish())
    }

    /// A value that starts with this text on the next line; `indent` is the indentation of its parent.
    fn scalar(&mut self, line: YamlLine<'_>, text: &str, indent: usize) -> Result<Vec<u8>, YamlError> {
        self.at += 1;
        let value = match scalar::read(text) {
            Ok(Scalar::Value(value)) => value,
            Ok(Scalar::Block(header)) => {
                let first = line.number + 1;
                let block = scalar::block(&self.raw[first..], header, indent);
                let (text, length) = block.map_err(|(nth, what)| YamlError {
                    line: first + nth,
                    what,
                })?;
                while self.line().is_some_and(|line| line.number < first + length) {
                    self.at += 1;
                }
                quoted(&text)
            }
            Err(what) => return line.fault(what),
        };
        match self.line().filter(|next| next.indent > indent) {
            Some(next) => next.fault("multi-line strings are not supported"),
            None => Ok(value),
        }
    }
}

/// Number of map members that are checked for duplicates.
const SEEN: usize = 256;
