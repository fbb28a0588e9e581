//! A pattern: a text or a regular expression, matched against the lines of decoded text.

use super::literal;
use super::prefilter::Prefilter;
use crate::error::{Error, Result};
use regex::{Regex, RegexBuilder};
use regex_syntax::ast;
use std::ops::Range;

/// Case sensitivity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Case-sensitive only if the pattern has a capital letter.
    #[default]
    Smart,
    /// Case-insensitive.
    Ignore,
    /// Case-sensitive.
    Exact,
}

/// How a pattern is interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternOptions {
    /// As a regular expression instead of a literal text.
    pub regex: bool,
    /// Case sensitivity.
    pub case: Case,
    /// Matches must start and end at word boundaries.
    pub words: bool,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// Whether a match in a multi-line text is always a match in one of its lines.
    is_text: bool,
    prefilter: Prefilter,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// A usage error if it is empty, contains a line break, or is not a regular expression.
    pub fn new(pattern: &str, settings: PatternOptions) -> Result<Pattern> {
        let usage = |what: String| Error::usage(what);
        if pattern.is_empty() {
            return Err(usage("empty pattern".to_string()));
        }
        if !settings.regex && pattern.contains(['\n', '\r']) {
            return Err(usage("the pattern contains a line break".to_string())
                .hint("search for one of its lines; a match is within one line"));
        }
        let source = match settings.regex {
            true => pattern.to_string(),
            false => regex::escape(pattern),
        };
        let hir = regex_syntax::parse(&source).map_err(|error| invalid(pattern, &error))?;
        let ignores_case = match settings.case {
            Case::Ignore => true,
            Case::Exact => false,
            Case::Smart => !has_capital(&source, settings.regex),
        };
        let whole = match settings.words {
            true => format!(r"\b{{start-half}}(?:{source})\b{{end-half}}"),
            false => source,
        };
        let regex = RegexBuilder::new(&whole)
            .case_insensitive(ignores_case)
            .build()
            .map_err(|_| usage(format!("'{pattern}': regular expression too large")))?;
        let strings = literal::required(&hir);
        Ok(Pattern {
            regex,
            is_text: !settings.regex,
            prefilter: Prefilter::new(strings.as_deref(), ignores_case),
        })
    }

    /// The condition for undecoded bytes.
    pub fn prefilter(&self) -> &Prefilter {
        &self.prefilter
    }

    /// Calls `each` with the number (from 1), text and matches of each matching line, until it returns false.
    pub fn lines<'t>(&self, text: &'t str, mut each: impl FnMut(usize, &'t str, Vec<Range<usize>>) -> bool) {
        if self.is_text && !self.regex.is_match(text) {
            return;
        }
        for (nth, line) in lines(text).enumerate() {
            let mut matches = self.regex.find_iter(line).peekable();
            if matches.peek().is_none() {
                continue;
            }
            let spans = matches.map(|found| found.range());
            if !each(nth + 1, line, spans.filter(|span| !span.is_empty()).collect()) {
                return;
            }
        }
    }
}

/// The lines of a text, without line breaks.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split_inclusive('\n');
    lines.map(|line| {
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    })
}

/// Whether a pattern has a capital letter, not counting those of classes such as `\S`.
fn has_capital(source: &str, is_regex: bool) -> bool {
    let mut characters = source.chars();
    while let Some(c) = characters.next() {
        if is_regex && c == '\\' {
            let escaped = characters.next();
            // Skip the name of a class: `\p{Greek}`.
            if matches!(escaped, Some('p' | 'P' | 'x' | 'u' | 'U' | 'b'))
                && characters.as_str().starts_with('{')
            {
                characters.find(|c| *c == '}');
            }
            continue;
        }
        if c.is_uppercase() {
            return true;
        }
    }
    false
}

fn invalid(pattern: &str, error: &regex_syntax::Error) -> Error {
    let column = |span: &ast::Span| span.start.column;
    let (column, why) = match error {
        regex_syntax::Error::Parse(error) => (column(error.span()), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (column(error.span()), error.kind().to_string()),
        _ => (1, "not a regular expression".to_string()),
    };
    let error = Error::usage(format!(
        "'{pattern}': invalid regular expression at column {column}: {why}"
    ));
    error.hint("omit --regex to search for a text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn found(pattern: &str, settings: PatternOptions, text: &str) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        Pattern::new(pattern, settings)
            .unwrap()
            .lines(text, |number, line, spans| {
                let matched: Vec<&str> = spans.into_iter().map(|span| &line[span]).collect();
                found.push((number, matched.join("|")));
                true
            });
        found
    }

    const REGEX: PatternOptions = PatternOptions {
        regex: true,
        case: Case::Smart,
        words: false,
    };

    #[test]
    fn lowercase_patterns_match_any_case() {
        let text = "one\nQUORUM lease\r\nquorum leases, quorum lease";
        let plain = PatternOptions::default();
        let of = |number, text: &str| (number, text.to_string());
        assert_eq!(
            found("quorum lease", plain, text),
            [of(2, "QUORUM lease"), of(3, "quorum lease|quorum lease")]
        );
        assert_eq!(found("Quorum lease", plain, text), []);
        let exact = PatternOptions {
            case: Case::Exact,
            ..plain
        };
        assert_eq!(
            found("quorum lease", exact, text),
            [of(3, "quorum lease|quorum lease")]
        );
        let ignore = PatternOptions {
            case: Case::Ignore,
            ..plain
        };
        assert_eq!(found("QUORUM LEASES", ignore, text), [of(3, "quorum leases")]);
        let words = PatternOptions { words: true, ..plain };
        assert_eq!(found("lease", words, text), [of(2, "lease"), of(3, "lease")]);
        // A literal text, not an expression.
        assert_eq!(found("l.ase", plain, text), []);
    }

    #[test]
    fn a_line_is_a_line_of_the_text() {
        let text = "E4711: disk full\r\nE4711: disk full!\nx E4711: disk full";
        assert_eq!(found("^E[0-9]{4}: disk full$", REGEX, text).len(), 1);
        assert_eq!(found(r"\AE", REGEX, text).len(), 2);
        assert_eq!(found("full.x", REGEX, text), []);
        assert_eq!(found("full\\sx", REGEX, text), []);
        assert_eq!(found("z*", REGEX, "a\n\nb").len(), 3);
        assert!(!has_capital(r"\S\p{Greek}", true) && has_capital(r"\\S", true));
    }

    #[test]
    fn errors_state_the_position() {
        let error = Pattern::new("ab(c", REGEX).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(
            error.message.contains("at column 3: unclosed group"),
            "{}",
            error.message
        );
        assert!(Pattern::new("ab(c", PatternOptions::default()).is_ok());
        assert!(Pattern::new("", REGEX).is_err() && Pattern::new("a\nb", PatternOptions::default()).is_err());
    }
}
