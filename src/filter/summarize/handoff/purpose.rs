//! The purpose of a command, by the programs that it runs.

use crate::filter::shell_command::{SimpleCommand, simple_commands};

/// The purpose of a command, the least important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandPurpose {
    /// Inspects something.
    Looking,
    /// Anything else.
    Other,
    /// Builds, or checks without running tests.
    Checking,
    /// Runs tests.
    Testing,
}

const LOOKING: [&str; 30] = [
    "[", "cat", "cmp", "cut", "diff", "du", "echo", "env", "file", "find", "grep", "head", "jq", "less",
    "ls", "nl", "pgrep", "printf", "ps", "pwd", "rg", "sort", "stat", "tail", "test", "tree", "true", "uniq",
    "wc", "which",
];

const LOOKING_WITH: [(&str, &[&str]); 2] = [
    (
        "git",
        &[
            "status", "diff", "grep", "log", "show", "branch", "rev-parse", "ls-files",
        ],
    ),
    ("date", &[]),
];

const TESTERS: [&str; 14] = [
    "pytest", "unittest", "jest", "vitest", "mocha", "ava", "tox", "nox", "ctest", "phpunit", "rspec",
    "playwright", "cypress", "nextest",
];

const CHECKERS: [&str; 15] = [
    "clippy-driver", "eslint", "tsc", "mypy", "pyright", "ruff", "flake8", "pylint", "shellcheck",
    "golangci-lint", "rubocop", "gcc", "cmake", "ninja", "webpack",
];

/// Programs whose first operands name a task.
pub const RUNNERS: [&str; 34] = [
    "ant", "bash", "bazel", "bun", "bundle", "cargo", "composer", "deno", "docker", "dotnet", "go", "gradle",
    "gradlew", "just", "make", "mix", "mvn", "mvnw", "node", "npm", "pnpm", "podman", "poetry", "python",
    "python3", "rails", "rake", "ruby", "sbt", "sh", "swift", "task", "yarn", "zig",
];

/// Programs of which only the first operand names a task.
const FIRST_OPERAND: [&str; 7] = ["bazel", "bun", "cargo", "docker", "dotnet", "go", "podman"];

/// Operands of a package manager that precede names of packages.
const INSTALLING: [&str; 12] = [
    "add", "ci", "get", "i", "init", "install", "link", "publish", "remove", "uninstall", "update", "upgrade",
];

const TEST_WORDS: [&str; 7] = ["test", "tests", "nextest", "spec", "specs", "e2e", "pytest"];

const CHECK_WORDS: [&str; 12] = [
    "bench", "build", "check", "clippy", "compile", "doc", "lint", "package", "tsc", "typecheck", "verify",
    "vet",
];

impl CommandPurpose {
    /// Classifies a command line by its most important command.
    pub fn of(line: &str) -> CommandPurpose {
        let purposes = simple_commands(line).iter().map(CommandPurpose::of_simple).max();
        purposes.unwrap_or(CommandPurpose::Other)
    }

    /// Classifies a command.
    pub fn of_simple(command: &SimpleCommand) -> CommandPurpose {
        let program = command.program();
        let mut operands = command.operands();
        let first = operands.next().unwrap_or_default();
        let is_written = command.outputs.iter().any(|(path, _)| !path.starts_with("/dev/"));
        let looks = match LOOKING_WITH.iter().find(|(name, _)| *name == program) {
            Some((_, with)) => with.is_empty() || with.contains(&first),
            None if program == "sed" => !command.has_option('i', "in-place"),
            None => LOOKING.contains(&program),
        };
        if looks {
            return if is_written {
                CommandPurpose::Other
            } else {
                CommandPurpose::Looking
            };
        }
        if TESTERS.contains(&program) {
            return CommandPurpose::Testing;
        }
        if CHECKERS.contains(&program) {
            return CommandPurpose::Checking;
        }
        let name = program.trim_end_matches(".exe");
        let runs = RUNNERS.contains(&name);
        if runs && INSTALLING.contains(&first) {
            return CommandPurpose::Other;
        }
        // The name of a script describes its purpose.
        let most = match (runs, FIRST_OPERAND.contains(&name)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 3,
        };
        let named = || command.operands().take(most).chain((!runs).then_some(program));
        let is_among = |known: &[&str]| {
            let parts = |word: &str| {
                word.split(|c: char| !c.is_alphanumeric())
                    .any(|part| known.contains(&part))
            };
            named().any(parts)
        };
        if is_among(&TEST_WORDS) {
            CommandPurpose::Testing
        } else if is_among(&CHECK_WORDS) || program == "make" && first.is_empty() {
            CommandPurpose::Checking
        } else {
            CommandPurpose::Other
        }
    }
}

/// Whether exit status 1 of a command is an answer rather than a failure, and its wording: no match, a difference, or
/// a false condition.
pub fn negative_answer(line: &str) -> Option<&'static str> {
    let commands = simple_commands(line);
    let last = commands.last()?;
    match (last.program(), last.operands().next()) {
        ("grep" | "egrep" | "fgrep" | "rg" | "pgrep" | "which", _) | ("git", Some("grep")) => Some(NO_MATCH),
        ("diff" | "cmp", _) | ("git", Some("diff")) => Some(DIFFERENT),
        ("test" | "[", _) => Some(FALSE),
        _ => None,
    }
}

const NO_MATCH: &str = "no match";
const DIFFERENT: &str = "different";
const FALSE: &str = "false";

/// The wordings of [`negative_answer`].
pub const ANSWERS: [&str; 3] = [NO_MATCH, DIFFERENT, FALSE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_classified_by_their_programs() {
        for (line, purpose) in [
            ("cd /w && git diff --stat", CommandPurpose::Looking),
            ("sed -n 1,20p a.rs", CommandPurpose::Looking),
            ("sed -i s/a/b/ test.rs", CommandPurpose::Other),
            ("cargo test -q", CommandPurpose::Testing),
            ("cargo test 2>&1 | tail -3", CommandPurpose::Testing),
            ("cd web && npm test", CommandPurpose::Testing),
            ("npm run lint", CommandPurpose::Checking),
            ("npm install smol-test", CommandPurpose::Other),
            ("cargo build --release 2>&1 | tail -1", CommandPurpose::Checking),
            ("make", CommandPurpose::Checking),
            ("make test", CommandPurpose::Testing),
            ("make clean", CommandPurpose::Other),
            ("docker build -t test .", CommandPurpose::Checking),
            ("python -m pytest", CommandPurpose::Testing),
            ("python tests/run.py", CommandPurpose::Testing),
            ("./scripts/run_tests.sh", CommandPurpose::Testing),
            ("test -d target && echo yes", CommandPurpose::Looking),
            ("[ -f a ]", CommandPurpose::Looking),
            ("git commit -m 'test the build'", CommandPurpose::Other),
            ("rg test", CommandPurpose::Looking),
            ("cat > test.py <<E\nmake\nE", CommandPurpose::Other),
            ("", CommandPurpose::Other),
        ] {
            assert_eq!(CommandPurpose::of(line), purpose, "{line}");
        }
    }

    #[test]
    fn a_negative_answer_is_not_a_failure() {
        for (line, answer) in [
            ("grep -rn x src", Some(NO_MATCH)),
            ("cat a | grep x", Some(NO_MATCH)),
            ("diff a b", Some(DIFFERENT)),
            ("cd a && test -f b", Some(FALSE)),
            ("grep x a && make", None),
            ("pytest", None),
        ] {
            assert_eq!(negative_answer(line), answer, "{line}");
        }
    }
}
