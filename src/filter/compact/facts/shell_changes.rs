//! The files that a shell command changes: written by redirections and `tee`, edited in place, copied, moved, deleted,
//! or reverted with git.

use crate::filter::shell_command::{SimpleCommand, simple_commands};
use crate::filter::summarize::handoff::CommandPurpose;
use std::borrow::Cow;

/// A change of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellChange {
    /// A file is added (`A`), modified (`M`) or deleted (`D`).
    File(char, String),
    /// A file, or all known files of a directory, have another path now, which may be unknown.
    Moved(String, Option<String>),
    /// All known files of a directory are deleted.
    DeletedDirectory(String),
    /// A file, or all known files of a directory, are as before the changes.
    Reverted(String),
}

/// The changes by a command line. If it failed, those of its last command are omitted, and deletions, moves and reverts
/// of its last chain of commands, any of which may not have run. So are changes of commands that run only if another one
/// fails.
pub fn changes(line: &str, failed: bool) -> Vec<ShellChange> {
    let mut commands = simple_commands(line);
    let mut certain = commands.len();
    if failed {
        let is_first =
            |command: &SimpleCommand| !command.is_chained && !command.is_piped && !command.is_alternative;
        certain = commands.iter().rposition(is_first).unwrap_or_default();
        commands.pop();
    }
    let mut found = Vec::new();
    for (nth, command) in commands
        .iter()
        .enumerate()
        .filter(|(_, command)| !command.is_alternative)
    {
        let before = found.len();
        of(command, &mut found);
        if nth >= certain {
            let mut nth = 0..;
            let writes = |change: &ShellChange| matches!(change, ShellChange::File('A' | 'M', _));
            found.retain(|change| nth.next() < Some(before) || writes(change));
        }
    }
    found
}

fn of(command: &SimpleCommand, found: &mut Vec<ShellChange>) {
    let place = |path: &str| path_in(command.directory.as_deref(), path);
    let mut file =
        |change: char, path: &str| found.extend(place(path).map(|path| ShellChange::File(change, path)));
    // Output of other programs is a log more often than a source.
    if CommandPurpose::of_simple(&SimpleCommand {
        outputs: Vec::new(),
        ..command.clone()
    }) == CommandPurpose::Looking
    {
        for (path, appends) in &command.outputs {
            file(if *appends { 'M' } else { 'A' }, path);
        }
    }
    let operands: Vec<&str> = command.operands().collect();
    let (program, operands) = match (command.program(), operands.as_slice()) {
        ("git", ["mv", rest @ ..]) => ("mv", rest),
        ("git", ["rm", rest @ ..]) if !command.has_option(' ', "cached") => ("rm", rest),
        ("git", [subcommand @ ("checkout" | "restore" | "reset"), rest @ ..]) => {
            return reverted(command, subcommand, rest, found, &place);
        }
        (program, operands) => (program, operands),
    };
    // What does nothing, and a target before its sources.
    if command.has_option('n', "dry-run") && program != "sed" && program != "perl"
        || program == "cp" && command.has_option('t', "target-directory")
    {
        return;
    }
    match (program, operands) {
        ("tee", paths) => {
            let change = if command.has_option('a', "append") {
                'M'
            } else {
                'A'
            };
            paths.iter().for_each(|path| file(change, path));
        }
        ("sed" | "perl", _) if command.has_option('i', "in-place") => {
            edited(command).into_iter().for_each(|path| file('M', path));
        }
        ("cp" | "mv", [sources @ .., target]) if !sources.is_empty() => {
            let is_directory = sources.len() > 1 || target.ends_with('/') || matches!(*target, "." | "..");
            for source in sources {
                let name = source
                    .trim_end_matches('/')
                    .rsplit('/')
                    .next()
                    .unwrap_or_default();
                let path = match is_directory {
                    true => Cow::Owned(format!("{}/{name}", target.trim_end_matches('/'))),
                    false => Cow::Borrowed(*target),
                };
                found.extend(match place(source).filter(|_| program == "mv") {
                    Some(from) => Some(ShellChange::Moved(from, place(&path))),
                    None => place(&path).map(|to| ShellChange::File('A', to)),
                });
            }
        }
        ("rm", paths) => {
            let is_recursive = command.has_option('r', "recursive") || command.has_option('R', "recursive");
            for path in paths {
                match is_recursive {
                    true => found.extend(place(path).map(ShellChange::DeletedDirectory)),
                    false => found.extend(place(path).map(|path| ShellChange::File('D', path))),
                }
            }
        }
        _ => {}
    }
}

/// The files of `sed -i` and `perl -i`: the operands after the script, which `-e` may contain.
fn edited(command: &SimpleCommand) -> Vec<&str> {
    let is_script_option =
        |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with(['e', 'f']);
    let mut has_script = false;
    let mut files = Vec::new();
    let mut words = command.words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if is_script_option(word) {
            has_script = true;
            words.next();
        } else if !word.starts_with('-') && !word.is_empty() {
            files.push(word);
        }
    }
    if !has_script && !files.is_empty() {
        files.remove(0);
    }
    files
}

fn reverted(
    command: &SimpleCommand,
    subcommand: &str,
    operands: &[&str],
    found: &mut Vec<ShellChange>,
    place: &dyn Fn(&str) -> Option<String>,
) {
    let has_separator = command.words.iter().any(|word| word == "--");
    let after_separator = command.words.iter().skip_while(|word| *word != "--").skip(1);
    let paths: Vec<&str> = match subcommand {
        "restore" if !command.has_option('S', "staged") => operands.to_vec(),
        "checkout" if has_separator => after_separator.map(String::as_str).collect(),
        "checkout" if operands == ["."] => operands.to_vec(),
        "reset" if command.has_option(' ', "hard") => vec!["."],
        _ => Vec::new(),
    };
    found.extend(paths.into_iter().filter_map(place).map(ShellChange::Reverted));
}

/// A path in the directory of a command; none if it is not one file, or a temporary or special one.
fn path_in(directory: Option<&str>, path: &str) -> Option<String> {
    // Only the home directory of the user is known by a mark.
    let in_home = |path: &str| {
        path.strip_prefix('~')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_known = |path: &str| {
        let rest = if in_home(path) { &path[1..] } else { path };
        !rest.contains(['*', '?', '[', '$', '`', '{', '~', '\n'])
    };
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.is_empty() || path == "-" || !is_known(path) {
        return None;
    }
    let path = match directory {
        Some(directory) if !path.starts_with('/') && !in_home(path) => {
            if !is_known(directory) || directory.split('/').any(|part| part == "..") {
                return None;
            }
            match directory.trim_start_matches("./").trim_end_matches('/') {
                "" | "." => path.to_string(),
                directory => format!("{directory}/{path}"),
            }
        }
        _ => path.to_string(),
    };
    let is_temporary = ["/dev/", "/tmp/", "/proc/"]
        .iter()
        .any(|begins| path.starts_with(begins));
    (!is_temporary).then(|| path.trim_end_matches('/').to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_shell_commands_are_found() {
        let file = |change, path: &str| ShellChange::File(change, path.to_string());
        let moved = |from: &str, to: &str| ShellChange::Moved(from.to_string(), Some(to.to_string()));
        let reverted = |path: &str| ShellChange::Reverted(path.to_string());
        for (line, expected) in [
            ("cat > app/a.py <<'EOF'\nrm x\nEOF", vec![file('A', "app/a.py")]),
            ("cd web && echo x >> ./b.ts", vec![file('M', "web/b.ts")]),
            ("make | tee -a log.txt > /dev/null", vec![file('M', "log.txt")]),
            (
                "sed -i 's/a/b/' a.py b.py",
                vec![file('M', "a.py"), file('M', "b.py")],
            ),
            ("sed -i.bak -e s/a/b/ a.py", vec![file('M', "a.py")]),
            ("perl -pi -e 's/a/b/' a.py", vec![file('M', "a.py")]),
            ("git mv a.py b.py", vec![moved("a.py", "b.py")]),
            ("mv a b/ sub", vec![moved("a", "sub/a"), moved("b", "sub/b")]),
            ("mv a $X", vec![ShellChange::Moved("a".to_string(), None)]),
            ("cp a b", vec![file('A', "b")]),
            ("cp x ~/.pi/b", vec![file('A', "~/.pi/b")]),
            (
                "cd ~ && rm a ~/b ~bob/c",
                vec![file('D', "~/a"), file('D', "~/b")],
            ),
            ("rm -f a && git rm -q b", vec![file('D', "a"), file('D', "b")]),
            ("git rm --cached a", vec![]),
            (
                "rm -rf target/",
                vec![ShellChange::DeletedDirectory("target".to_string())],
            ),
            ("git checkout -- a b", vec![reverted("a"), reverted("b")]),
            ("git checkout HEAD~1 -- a", vec![reverted("a")]),
            ("git checkout main", vec![]),
            ("git restore a", vec![reverted("a")]),
            ("git restore --staged a", vec![]),
            ("git reset --hard", vec![reverted(".")]),
            ("rm *.py $X /tmp/a", vec![]),
            ("docker logs w > logs/w.log", vec![]),
            ("pytest 2>&1", vec![]),
        ] {
            assert_eq!(changes(line, false), expected, "{line}");
        }
        for (line, expected) in [
            ("rm a; rm b", vec![file('D', "a")]),
            ("make && rm a && git add .", vec![]),
            ("sed -i s/a/b/ a && make", vec![file('M', "a")]),
        ] {
            assert_eq!(changes(line, true), expected, "{line}");
        }
        for line in [
            "test -f a || rm b",
            "perl -MList::Util -ne print a",
            "git rm -n a",
            "cp -t dir a b",
        ] {
            assert_eq!(changes(line, false), [], "{line}");
        }
    }
}
