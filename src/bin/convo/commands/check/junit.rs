//! Writes results as JUnit XML: a suite for each session, a test case for each API and each rule.

use super::problem::CheckProblem;
use crate::context::Context;
use crate::output::{in_line, path_name};
use crate::writing::rewrite;
use convo::error::Error;
use convo::store::Rewrite;
use std::fmt::Write as _;
use std::path::Path;

/// The outcome of a test case.
enum TestOutcome {
    Passed,
    Failed(Vec<String>),
    /// The input cannot be read.
    Error(String),
}

struct TestCase {
    name: String,
    outcome: TestOutcome,
}

struct Suite {
    name: String,
    class: String,
    cases: Vec<TestCase>,
}

/// All results so far.
#[derive(Default)]
pub struct Junit {
    suites: Vec<Suite>,
}

impl Junit {
    /// Starts the suite of a session.
    pub fn session(&mut self, label: &str, id: Option<&str>) {
        self.suites.push(Suite {
            name: label.to_string(),
            class: id.unwrap_or(label).to_string(),
            cases: Vec::new(),
        });
    }

    /// Adds a test case; `lines` are its violations as in the text report.
    pub fn case(&mut self, name: &str, lines: Vec<String>) {
        let outcome = match lines.is_empty() {
            true => TestOutcome::Passed,
            false => TestOutcome::Failed(lines),
        };
        self.push(name, outcome);
    }

    /// Adds an input that cannot be read.
    pub fn error(&mut self, label: &str, error: &anyhow::Error) {
        self.session(label, None);
        self.push("read", TestOutcome::Error(error.to_string()));
    }

    fn push(&mut self, name: &str, outcome: TestOutcome) {
        let name = name.to_string();
        if let Some(suite) = self.suites.last_mut() {
            suite.cases.push(TestCase { name, outcome });
        }
    }

    /// Writes the results to standard output (`-`) or atomically to a file.
    pub fn write(&self, context: &Context, path: &Path) -> anyhow::Result<()> {
        let text = self.xml();
        let write = |out: &mut dyn std::io::Write| {
            let written = out.write_all(text.as_bytes());
            Ok(written.map_err(|error| Error::io("cannot write", error))?)
        };
        if path == Path::new("-") {
            return context.output.stdout(write);
        }
        let options = Rewrite {
            lock_timeout: context.lock_timeout(),
            ..Rewrite::default()
        };
        rewrite(path, &options, &path_name(path), write)
    }

    fn xml(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let all = || self.suites.iter().flat_map(|suite| &suite.cases);
        let _ = writeln!(out, "<testsuites name=\"convo check\" {}>", figures(all()));
        for suite in &self.suites {
            let (name, class) = (escaped(&suite.name), escaped(&suite.class));
            let figures = figures(suite.cases.iter());
            let _ = writeln!(out, "  <testsuite name=\"{name}\" {figures}>");
            for case in &suite.cases {
                let _ = write!(
                    out,
                    "    <testcase classname=\"{class}\" name=\"{}\"",
                    escaped(&case.name)
                );
                let (tag, lines) = match &case.outcome {
                    TestOutcome::Passed => {
                        out.push_str("/>\n");
                        continue;
                    }
                    TestOutcome::Failed(lines) => ("failure", lines.as_slice()),
                    TestOutcome::Error(line) => ("error", std::slice::from_ref(line)),
                };
                let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
                let first = lines.first().map_or("", String::as_str);
                let _ = writeln!(
                    out,
                    ">\n      <{tag} message=\"{first}\">{}</{tag}>\n    </testcase>",
                    lines.join("\n")
                );
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        out
    }
}

/// Encodes the numbers of cases as attributes.
fn figures<'c>(cases: impl Iterator<Item = &'c TestCase>) -> String {
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for case in cases {
        tests += 1;
        match case.outcome {
            TestOutcome::Passed => {}
            TestOutcome::Failed(_) => failures += 1,
            TestOutcome::Error(_) => errors += 1,
        }
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"")
}

/// Escapes text for one line of an attribute or an element. XML cannot represent some characters at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in in_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Formats violations as lines.
pub fn lines<'p>(
    problems: impl IntoIterator<Item = CheckProblem<'p>>,
    mut line: impl FnMut(&CheckProblem<'p>) -> String,
) -> Vec<String> {
    problems
        .into_iter()
        .map(|problem| line(&problem).trim_end().to_string())
        .collect()
}
