//! Finds the strings that a pattern requires, in a form that is the same in any JSON encoding: without characters that
//! may be escaped.

use regex_syntax::hir::{Hir, HirKind};

/// Minimum length; shorter strings occur in nearly every line.
const MINIMUM: usize = 3;

/// Maximum number of alternatives, which an automaton searches at once.
const MAXIMUM: usize = 32;

/// Strings of which each match contains at least one; `None` if there are no such strings.
pub fn required(pattern: &Hir) -> Option<Vec<String>> {
    match pattern.kind() {
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            longest_run(&text).map(|run| vec![run.to_string()])
        }
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => {
            let shortest = |strings: &Vec<String>| strings.iter().map(String::len).min();
            parts.iter().filter_map(required).max_by_key(shortest)
        }
        HirKind::Alternation(parts) => {
            let strings: Option<Vec<_>> = parts.iter().map(required).collect();
            let strings = strings?.concat();
            (strings.len() <= MAXIMUM).then_some(strings)
        }
        _ => None,
    }
}

/// The longest part of a text that is encoded the same in JSON at any quoting depth.
pub fn longest_run(text: &str) -> Option<&str> {
    let runs = text.split(|c: char| !matches!(c, ' '..='~') || matches!(c, '"' | '\\' | '/'));
    // Spaces alone occur in every line.
    let runs = runs.filter(|run| run.len() >= MINIMUM && !run.trim().is_empty());
    runs.max_by_key(|run| run.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str) -> Option<Vec<String>> {
        required(&regex_syntax::parse(pattern).unwrap())
    }

    #[test]
    fn a_match_contains_one_of_the_strings() {
        let strings = |strings: &[&str]| Some(strings.iter().map(ToString::to_string).collect());
        assert_eq!(of("quorum lease"), strings(&["quorum lease"]));
        assert_eq!(of("^E[0-9]{4}: disk full$"), strings(&[": disk full"]));
        assert_eq!(of("(lease|quota)s?"), strings(&["lease", "quota"]));
        assert_eq!(of("(lease|.)s?"), None);
        assert_eq!(of("(?:retry)+|never"), strings(&["retry", "never"]));
        assert_eq!(of("(?:retry)*"), None);
        assert_eq!(of("ab"), None);
        assert_eq!(of("a\"b/c\\\\retry"), strings(&["retry"]));
    }

    #[test]
    fn a_run_has_no_character_that_json_escapes() {
        assert_eq!(longest_run("na\u{ef}ve caf\u{e9}"), Some("ve caf"));
        assert_eq!(longest_run("\"retry\": \"never\""), Some("never"));
        assert_eq!(longest_run("a\tb\nc"), None);
        assert_eq!(longest_run("     "), None);
    }
}
