//! Commands whose failure a later command resolves, by their programs, operands and limits.

use super::purpose::{CommandPurpose, RUNNERS};
use crate::filter::shell_command::{SimpleCommand, simple_commands};

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
    purpose: CommandPurpose,
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
    "--no-run", "--doc", "--help", "-h", "--version", "-V", "--collect-only", "--co", "--lf",
    "--last-failed", "--dry-run", "-n", "--list", "--just-print", "-k", "-m", "-t", "--grep", "-g", "-run",
    "--run", "--filter", "--testNamePattern", "--only", "--package", "-p", "--bin", "--lib", "--test",
    "--example", "--features", "--no-default-features", "--exclude", "--ignore", "--skip", "--only-changed",
];

/// Subcommands of git with a message.
const DESCRIBED: [&str; 4] = ["commit", "merge", "stash", "tag"];

/// The command without the messages for git, which do not change what it applies to.
fn without_messages(command: &SimpleCommand) -> SimpleCommand {
    let mut command = command.clone();
    let subcommand = command.operands().next().unwrap_or_default();
    if command.program() != "git" || !DESCRIBED.contains(&subcommand) {
        return command;
    }
    let is_flag = |c: char| c.is_alphanumeric() && c != 'm';
    let mut is_value = false;
    command.words.retain(|word| {
        let was_value = is_value;
        let flags = word.strip_prefix('-').and_then(|word| word.strip_suffix('m'));
        is_value =
            !was_value && (word == "--message" || flags.is_some_and(|flags| flags.chars().all(is_flag)));
        !is_value && !was_value && !word.starts_with("-m") && !word.starts_with("--message=")
    });
    command
}

/// An operand, without the scheme of an address.
fn target(operand: &str) -> String {
    let address = operand.split_once("://");
    let address = address.filter(|(scheme, _)| scheme.chars().all(char::is_alphanumeric));
    address.map_or(operand, |(_, rest)| rest).to_string()
}

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
        let most = most.unwrap_or(CommandPurpose::Other);
        let least = if most >= CommandPurpose::Checking {
            most
        } else {
            CommandPurpose::Other
        };
        all.retain(|command| command.purpose >= least);
        all
    }

    fn of(command: &SimpleCommand) -> RepeatableCommand {
        let command = &without_messages(command);
        let names = subcommands(command);
        let program = std::iter::once(command.program()).chain(command.operands().take(names));
        RepeatableCommand {
            purpose: CommandPurpose::of_simple(command),
            directory: command.directory.clone(),
            program: program.map(str::to_string).collect(),
            targets: command.operands().skip(names).map(target).collect(),
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
        let all =
            self.targets.is_empty() && (self.purpose >= CommandPurpose::Checking || other.targets.is_empty());
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
            ("git commit -m 'a b'", "git commit -qam c", true),
            ("git commit -am a", "git commit --message=b -mc --message d", true),
            ("git commit -m a x.rs", "git commit -m a y.rs", false),
            ("git tag -m a v1", "git tag -m a v2", false),
            ("curl -s x:80/a", "curl -v https://x:80/a | jq .", true),
            ("curl x:80/a", "curl http://x:80/b", false),
        ] {
            let (failed, repeated) = (RepeatableCommand::all(failed), RepeatableCommand::all(repeated));
            let includes = |one: &RepeatableCommand| repeated.iter().any(|other| other.includes(one));
            assert_eq!(failed.iter().all(includes), expected, "{failed:?} {repeated:?}");
        }
    }
}
