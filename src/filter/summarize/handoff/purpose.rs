//! The purpose of a command, by the programs that it runs.

use crate::filter::shell_command::{SimpleCommand, simple_commands};

/// The purpose of a command, the least important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
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
            "status",
            "diff",
            "grep",
            "log",
            "show",
            "branch",
            "rev-parse",
            "ls-files",
        ],
    ),
    ("date", &[]),
];

const TESTERS: [&str; 14] = [
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tox",
    "nox",
    "ctest",
    "phpunit",
    "rspec",
    "playwright",
    "cypress",
    "nextest",
];

const CHECKERS: [&str; 15] = [
    "clippy-driver",
    "eslint",
    "tsc",
    "mypy",
    "pyright",
    "ruff",
    "flake8",
    "pylint",
    "shellcheck",
    "golangci-lint",
    "rubocop",
    "gcc",
    "cmake",
    "ninja",
    "webpack",
];

/// Programs whose first operands name a task.
const RUNNERS: [&str; 34] = [
    "ant", "bash", "bazel", "bun", "bundle", "cargo", "composer", "deno", "docker", "dotnet", "go", "gradle",
    "gradlew", "just", "make", "mix", "mvn", "mvnw", "node", "npm", "pnpm", "podman", "poetry", "python",
    "python3", "rails", "rake", "ruby", "sbt", "sh", "swift", "task", "yarn", "zig",
];

/// Programs of which only the first operand names a task.
const FIRST_OPERAND: [&str; 7] = ["bazel", "bun", "cargo", "docker", "dotnet", "go", "podman"];

/// Operands of a package manager that precede names of packages.
const INSTALLING: [&str; 12] = [
    "add",
    "ci",
    "get",
    "i",
    "init",
    "install",
    "link",
    "publish",
    "remove",
    "uninstall",
    "update",
    "upgrade",
];

const TEST_WORDS: [&str; 7] = ["test", "tests", "nextest", "spec", "specs", "e2e", "pytest"];

const CHECK_WORDS: [&str; 12] = [
    "bench",
    "build",
    "check",
    "clippy",
    "compile",
    "doc",
    "lint",
    "package",
    "tsc",
    "typecheck",
    "verify",
    "vet",
];

impl Purpose {
    /// Classifies a command line by its most important command.
    pub fn of(line: &str) -> Purpose {
        let purposes = simple_commands(line).iter().map(Purpose::of_simple).max();
        purposes.unwrap_or(Purpose::Other)
    }

    /// Classifies a command.
    pub fn of_simple(command: &SimpleCommand) -> Purpose {
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
                Purpose::Other
            } else {
                Purpose::Looking
            };
        }
        if TESTERS.contains(&program) {
            return Purpose::Testing;
        }
        if CHECKERS.contains(&program) {
            return Purpose::Checking;
        }
        let name = program.trim_end_matches(".exe");
        let runs = RUNNERS.contains(&name);
        if runs && INSTALLING.contains(&first) {
            return Purpose::Other;
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
            Purpose::Testing
        } else if is_among(&CHECK_WORDS) || program == "make" && first.is_empty() {
            Purpose::Checking
        } else {
            Purpose::Other
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

/// Programs whose first operand selects one of several programs; after `run` and the like, the second one as well.
fn subcommands(command: &SimpleCommand) -> usize {
    let more = ["apt", "apt-get", "brew", "gh", "git", "kubectl", "pip", "pip3"];
    let program = command.program();
    if !RUNNERS.contains(&program) && !more.contains(&program) {
        return 0;
    }
    let first = command.operands().next().unwrap_or_default();
    let names_more =
        ["compose", "exec", "run"].contains(&first) && !["docker", "podman", "cargo"].contains(&program);
    if names_more || first == "manage.py" { 2 } else { 1 }
}

/// The parts of a command that a later one must repeat to resolve its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatableCommand {
    purpose: Purpose,
    directory: Option<String>,
    /// The program and its subcommand.
    program: Vec<String>,
    /// The other operands.
    targets: Vec<String>,
    /// The options that limit it to a part, or to a report.
    limits: Vec<String>,
    /// Whether later commands of the line hide its exit status.
    is_hidden: bool,
}

/// Options of tests and other programs that limit them to a part, or to a report.
const LIMITING: [&str; 36] = [
    "--no-run",
    "--doc",
    "--help",
    "-h",
    "--version",
    "-V",
    "--collect-only",
    "--co",
    "--lf",
    "--last-failed",
    "--dry-run",
    "-n",
    "--list",
    "--just-print",
    "-k",
    "-m",
    "-t",
    "--grep",
    "-g",
    "-run",
    "--run",
    "--filter",
    "--testNamePattern",
    "--only",
    "--package",
    "-p",
    "--bin",
    "--lib",
    "--test",
    "--example",
    "--features",
    "--no-default-features",
    "--exclude",
    "--ignore",
    "--skip",
    "--only-changed",
];

/// Most commands of a line that are compared.
const COMPARED: usize = 64;

impl RepeatableCommand {
    /// The commands of a line that are more than a look; of a line with tests or checks, only these.
    pub fn all(line: &str) -> Vec<RepeatableCommand> {
        let commands = simple_commands(line);
        let mut all: Vec<RepeatableCommand> = commands
            .iter()
            .take(COMPARED)
            .enumerate()
            .map(|(nth, command)| {
                let hides =
                    |later: &SimpleCommand| later.is_alternative || !later.is_chained && !later.is_piped;
                RepeatableCommand {
                    is_hidden: command.is_alternative || commands[nth + 1..].iter().any(hides),
                    ..RepeatableCommand::of(command)
                }
            })
            .collect();
        let most = all.iter().map(|command| command.purpose).max();
        let most = most.unwrap_or(Purpose::Other);
        let least = if most >= Purpose::Checking {
            most
        } else {
            Purpose::Other
        };
        all.retain(|command| command.purpose >= least);
        all
    }

    fn of(command: &SimpleCommand) -> RepeatableCommand {
        let names = subcommands(command);
        let program = std::iter::once(command.program()).chain(command.operands().take(names));
        RepeatableCommand {
            purpose: Purpose::of_simple(command),
            directory: command.directory.clone(),
            program: program.map(str::to_string).collect(),
            targets: command.operands().skip(names).map(str::to_string).collect(),
            limits: command
                .words
                .iter()
                .filter(|word| LIMITING.contains(&word.split('=').next().unwrap_or_default()))
                .cloned()
                .collect(),
            is_hidden: false,
        }
    }

    /// Whether it is the same program in the same directory; an absolute one may be that in which the session works.
    pub fn is_program_of(&self, other: &RepeatableCommand) -> bool {
        let is_relative = |directory: &String| !directory.starts_with(['/', '~', '$']);
        let elsewhere = match (&self.directory, &other.directory) {
            (Some(a), Some(b)) => a != b,
            (Some(one), None) | (None, Some(one)) => is_relative(one),
            (None, None) => false,
        };
        !elsewhere && self.program == other.program
    }

    /// Whether it applies to everything that `other` applies to. A test or check without operands applies to
    /// everything.
    pub fn includes(&self, other: &RepeatableCommand) -> bool {
        let within = |target: &String, whole: &String| {
            let rest = target.strip_prefix(whole.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
        };
        let all = self.targets.is_empty() && (self.purpose >= Purpose::Checking || other.targets.is_empty());
        let each = || {
            let mut targets = other.targets.iter();
            !other.targets.is_empty()
                && targets.all(|target| self.targets.iter().any(|whole| within(target, whole)))
        };
        let is_limited = self.limits.iter().any(|limit| !other.limits.contains(limit));
        self.is_program_of(other) && !is_limited && !self.is_hidden && (all || each())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_classified_by_their_programs() {
        for (line, purpose) in [
            ("cd /w && git diff --stat", Purpose::Looking),
            ("sed -n 1,20p a.rs", Purpose::Looking),
            ("sed -i s/a/b/ test.rs", Purpose::Other),
            ("cargo test -q", Purpose::Testing),
            ("cargo test 2>&1 | tail -3", Purpose::Testing),
            ("cd web && npm test", Purpose::Testing),
            ("npm run lint", Purpose::Checking),
            ("npm install smol-test", Purpose::Other),
            ("cargo build --release 2>&1 | tail -1", Purpose::Checking),
            ("make", Purpose::Checking),
            ("make test", Purpose::Testing),
            ("make clean", Purpose::Other),
            ("docker build -t test .", Purpose::Checking),
            ("python -m pytest", Purpose::Testing),
            ("python tests/run.py", Purpose::Testing),
            ("./scripts/run_tests.sh", Purpose::Testing),
            ("test -d target && echo yes", Purpose::Looking),
            ("[ -f a ]", Purpose::Looking),
            ("git commit -m 'test the build'", Purpose::Other),
            ("rg test", Purpose::Looking),
            ("cat > test.py <<E\nmake\nE", Purpose::Other),
            ("", Purpose::Other),
        ] {
            assert_eq!(Purpose::of(line), purpose, "{line}");
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

    #[test]
    fn a_repetition_includes_the_failed_command() {
        for (failed, repeated, expected) in [
            ("pytest -q", "python -m pytest -x", true),
            ("pytest tests/a.py::b -q", "pytest tests/a.py", true),
            ("pytest tests/a.py", "pytest", true),
            ("pytest", "pytest tests/a.py", false),
            ("pytest tests/a.py", "pytest tests/b.py", false),
            ("cd a && npm test", "cd b && npm test", false),
            ("cargo test 2>&1 | tail", "cd /w && cargo test", true),
            ("cargo test", "cargo build", false),
            ("docker build -t w .", "docker build -t w -f Dockerfile .", true),
            ("docker run w", "docker run -d --name w1 w", true),
            ("npm run lint", "npm run build", false),
            ("make test", "make", false),
            ("git add . && git commit", "git add .", false),
            ("cargo test", "cargo test --no-run", false),
            ("cargo test", "cargo test || true", false),
            ("cargo test", "cargo test > out.log 2>&1; echo $?", false),
            ("cargo test --package=a", "cargo test --package=b", false),
            ("pytest -k one", "pytest", true),
            ("pytest", "pytest --collect-only", false),
            ("make", "true || make", false),
            ("cd web && npm test", "npm test", false),
            ("git push", "git push --dry-run", false),
        ] {
            let (failed, repeated) = (RepeatableCommand::all(failed), RepeatableCommand::all(repeated));
            let includes = |one: &RepeatableCommand| repeated.iter().any(|other| other.includes(one));
            assert_eq!(failed.iter().all(includes), expected, "{failed:?} {repeated:?}");
        }
    }
}
