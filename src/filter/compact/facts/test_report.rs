//! Whether the output of tests, builds and checks reports a failure. A pipe, or a further command, hides the exit status.

use crate::filter::summarize::handoff::CommandPurpose;

/// Most lines at the end of an output that are read.
const LINES: usize = 200;

/// Beginnings of lines that report a failed test.
const FAILED_TEST: [&str; 6] = [
    "test result: failed", "--- fail:", "not ok ", "failures!", "error: test failed",
    "error: could not compile",
];

/// First words of lines that report a failed test.
const FAILED_WORDS: [&str; 2] = ["FAIL", "FAILED"];

/// Parts of lines that report a failed build or check.
const FAILED_BUILD: [&str; 5] = ["error[", ": error:", ": error ts", "build failed", "make: *** "];

/// Nouns that count failures.
const FAILING: [&str; 7] = [
    "failed", "failing", "failure", "failures", "error", "errors", "fail",
];

/// Nouns that count successes.
const PASSING: [&str; 4] = ["passed", "passing", "pass", "tests"];

/// Whether an output reports a failure.
pub fn reports_failure(purpose: CommandPurpose, text: &str) -> bool {
    let marked = |line: &str| {
        let lower = line.trim_start().to_lowercase();
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_test = FAILED_TEST.iter().any(|begins| lower.starts_with(begins));
        match purpose {
            CommandPurpose::Testing => is_test || FAILED_WORDS.contains(&first),
            CommandPurpose::Checking => {
                is_test
                    || lower.starts_with("error: ")
                    || FAILED_BUILD.iter().any(|part| lower.contains(part))
            }
            _ => false,
        }
    };
    let counts = || {
        result_line(purpose, text)
            .and_then(|line| counted(purpose, line))
            .is_some_and(|failures| failures > 0)
    };
    purpose >= CommandPurpose::Checking && (last_lines(text).any(marked) || counts())
}

/// The last line with the number of passed or failed tests.
pub fn result_line(purpose: CommandPurpose, text: &str) -> Option<&str> {
    let mut lines = last_lines(text);
    let counts = |line: &&str| counted(purpose, line).is_some();
    lines.find(counts).filter(|_| purpose >= CommandPurpose::Checking)
}

/// The last lines with a text, the newest first.
fn last_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().rev().map(str::trim);
    lines.filter(|line| !line.is_empty()).take(LINES)
}

/// The number of failures that a line counts: `1 failed, 47 passed`, `Failures: 1`; none if it counts no tests.
fn counted(purpose: CommandPurpose, line: &str) -> Option<u64> {
    if line.len() > 300 {
        return None;
    }
    let is_part = |c: char| !c.is_alphanumeric() && c != '.' && c != ':';
    let words: Vec<String> = line
        .split(is_part)
        .map(|word| word.trim_end_matches('.').to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let mut failures = None;
    let mut is_certain = false;
    for (at, word) in words.iter().enumerate() {
        let noun = word.trim_end_matches(':');
        // `1 failed`, or `Failures: 1`.
        let after = number(at + 1).filter(|_| noun.len() < word.len());
        let before = at.checked_sub(1).and_then(number);
        let Some(count) = after.or(before) else { continue };
        if FAILING.contains(&noun) {
            // "HTTP 500 error": in the output of tests, a count of errors alone may be of anything.
            is_certain |=
                purpose == CommandPurpose::Checking || !noun.starts_with("error") || noun.len() < word.len();
            failures = Some(failures.unwrap_or(0) + count);
        } else if PASSING.contains(&noun) {
            is_certain = true;
            failures = failures.or(Some(0));
        }
    }
    failures.filter(|_| is_certain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_found_in_the_output() {
        for (text, failed) in [
            ("test result: FAILED. 31 passed; 1 failed; 0 ignored", true),
            ("test result: ok. 32 passed; 0 failed; 0 ignored\n", false),
            (
                "FAILED tests/a.py::b - E: x\n== 1 failed, 47 passed in 3.21s ==",
                true,
            ),
            ("==== 48 passed in 3.04s ====", false),
            (
                "48 passed, 2 warnings in 3.0s\nDeprecationWarning: error: use pay2",
                false,
            ),
            ("Tests: 2 failed, 88 passed, 90 total", true),
            ("  12 passing (3s)\n  1 failing\n", true),
            ("Tests run: 5, Failures: 1, Errors: 0", true),
            ("Tests run: 5, Failures: 0, Errors: 0", false),
            ("FAIL\texample.org/x\t0.1s", true),
            ("ok  \texample.org/x\t0.1s", false),
            ("12 passed, 1 failed: login.spec.ts", true),
        ] {
            assert_eq!(reports_failure(CommandPurpose::Testing, text), failed, "{text}");
        }
        for (text, failed) in [
            ("    Finished release profile in 12.3s", false),
            ("0 errors, 3 warnings", false),
            ("error[E0308]: mismatched types", true),
            ("a.ts(1,2): error TS2322: Type", true),
            ("Found 3 errors in 1 file (checked 31 source files)", true),
        ] {
            assert_eq!(reports_failure(CommandPurpose::Checking, text), failed, "{text}");
        }
        assert!(!reports_failure(CommandPurpose::Other, "1 failed"));
        assert!(!reports_failure(
            CommandPurpose::Testing,
            "HTTP 500 error handled"
        ));
        let output = "48 passed, 2 warnings\nWarning: x";
        assert_eq!(
            result_line(CommandPurpose::Testing, output),
            Some("48 passed, 2 warnings")
        );
    }
}
