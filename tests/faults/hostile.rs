//! Hostile names and files: ids that are paths or options, and links, pipes, devices and directories in place of
//! files. The program may refuse them, but must not change anything outside the store or block.

use super::check::shown;
use super::place::{HUNG, Outcome, Place};
use super::report::Tally;
use super::{Faults, in_parallel, prepare};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Hostile ids, aliases and names.
const NAMES: [&str; 26] = [
    "../x", "../../outside/secret", "a/b", "/etc/passwd", "", ".", "..", "...", "x/..", "x\n", "x\ty",
    "\u{1b}[2J", "-rf", "--purge", "@last", "@", "*", "x\\y", "x y", "é", "\u{202e}txt.exe", "con:", "chat.",
    "chat/", "~root", ".stage-1-0",
];

/// Commands that take a name, with `NAME` as its placeholder.
const NAMED_COMMANDS: [&[&str]; 13] = [
    &["new", "--id", "NAME"],
    &["new", "--alias", "NAME"],
    &["append", "NAME", "text"],
    &["append", "--", "NAME", "text"],
    &["append", "--event", "text", "--", "NAME"],
    &["cat", "--", "NAME"],
    &["truncate", "--all", "--", "NAME"],
    &["restore", "--", "NAME"],
    &["remove", "--", "NAME"],
    &["remove", "--purge", "--", "NAME"],
    &["alias", "add", "--", "NAME", "chat"],
    &["alias", "add", "--", "other", "NAME"],
    &["alias", "remove", "--", "NAME"],
];

/// Commands on the session `chat`, the alias `trip` or the whole store.
const COMMANDS: [&[&str]; 20] = [
    &["cat", "chat"],
    &["count", "trip"],
    &["list"],
    &["context", "chat"],
    &["show", "chat"],
    &["append", "chat", "text"],
    &["append", "trip", "--event", "text"],
    &["truncate", "chat", "--keep-last", "1"],
    &["restore", "chat"],
    &["remove", "chat"],
    &["remove", "--purge", "chat"],
    &["alias", "add", "second", "chat"],
    &["alias", "remove", "trip"],
    &["new", "--id", "two", "--alias", "zwei"],
    &["migrate", "native.jsonl"],
    &["gc"],
    &["gc", "--discard", "--trash"],
    &["fsck"],
    &["fsck", "--repair"],
    &["restore", "--list", "chat"],
];

/// Replaces a part of the store.
type Trap = (&'static str, fn(&Place));

const TRAPS: [Trap; 18] = [
    ("the log is a link to a file outside", |place| {
        replace(place, "sessions/chat.jsonl", link_to_file)
    }),
    ("the log is a link to nothing", |place| {
        replace(place, "sessions/chat.jsonl", |path| {
            symlink("../../outside/new", path).unwrap()
        })
    }),
    ("the log is a pipe", |place| {
        replace(place, "sessions/chat.jsonl", pipe)
    }),
    ("the log is a device", |place| {
        replace(place, "sessions/chat.jsonl", |path| {
            symlink("/dev/zero", path).unwrap()
        })
    }),
    ("the log is a folder", |place| {
        replace(place, "sessions/chat.jsonl", |path| {
            std::fs::create_dir(path).unwrap()
        })
    }),
    ("the log may not be read", |place| {
        mode(place, "sessions/chat.jsonl", 0)
    }),
    ("the log may not be written", |place| {
        mode(place, "sessions/chat.jsonl", 0o400)
    }),
    ("sessions is a link to a folder outside", |place| {
        replace(place, "sessions", link_to_dir)
    }),
    ("sessions is a file", |place| {
        replace(place, "sessions", |path| std::fs::write(path, "x").unwrap())
    }),
    ("sessions may not be written", |place| {
        mode(place, "sessions", 0o500)
    }),
    ("aliases is a link to a folder outside", |place| {
        replace(place, "aliases", link_to_dir)
    }),
    ("the alias is a link to a file outside", |place| {
        replace(place, "aliases/trip", link_to_file)
    }),
    ("the alias is a pipe", |place| {
        replace(place, "aliases/trip", pipe)
    }),
    ("the alias names a path", |place| {
        place.write("store/aliases/trip", "../../outside/secret\n")
    }),
    ("the trash is a link to a folder outside", |place| {
        replace(place, "trash", link_to_dir)
    }),
    ("what is kept of the log is a link to a file outside", |place| {
        std::fs::create_dir(place.store().join("archive")).unwrap();
        replace(place, "archive/chat.jsonl", link_to_file);
        std::fs::create_dir(place.store().join("quarantine")).unwrap();
        replace(place, "quarantine/chat.jsonl", link_to_file);
    }),
    ("what is kept of the log is a pipe", |place| {
        std::fs::create_dir(place.store().join("archive")).unwrap();
        replace(place, "archive/chat.jsonl", pipe);
    }),
    ("archive and quarantine are links outside", |place| {
        replace(place, "archive", link_to_dir);
        replace(place, "quarantine", link_to_dir);
    }),
];

fn replace(place: &Place, name: &str, with: fn(&Path)) {
    let path = place.store().join(name);
    if path.is_dir() {
        std::fs::remove_dir_all(&path).unwrap();
    } else {
        let _ = std::fs::remove_file(&path);
    }
    with(&path);
}

fn link_to_file(path: &Path) {
    symlink("../../outside/chat.jsonl", path).unwrap();
}

fn link_to_dir(path: &Path) {
    symlink("../outside", path).unwrap();
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn mode(place: &Place, name: &str, mode: u32) {
    let about = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(place.store().join(name), about).unwrap();
}

/// Files outside the store, which must not change.
fn outside(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(place.root().join("outside")).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        all.push((entry.file_name().to_string_lossy().into_owned(), bytes));
    }
    all.sort();
    all
}

fn set_up() -> Place {
    let place = Place::new();
    prepare::chat(&place);
    // Create lines for gc.
    place.sets_up(&["truncate", "chat", "--keep-last", "2"]);
    for name in ["chat.jsonl", "secret.jsonl", "secret", "trip", "two.jsonl"] {
        place.write(
            &format!("outside/{name}"),
            b"{\"role\":\"user\",\"content\":\"not yours\"}\n",
        );
    }
    place.write("work/native.jsonl", "{\"role\":\"user\",\"content\":\"mine\"}\n");
    place
}

pub fn run(_: &Faults, tally: &Tally) {
    let long = "x".repeat(300);
    let names = NAMES.into_iter().chain([long.as_str()]);
    let jobs: Vec<_> = names
        .flat_map(|name| NAMED_COMMANDS.map(|command| (name, command)))
        .collect();
    let prepared = set_up();
    in_parallel(&jobs, |(name, command)| {
        let place = copied(&prepared);
        let arguments: Vec<&str> = command
            .iter()
            .map(|word| if *word == "NAME" { *name } else { *word })
            .collect();
        let outcome = place.convo(&arguments);
        let verdict = judged(&place, &prepared, &outcome, &[0, 1, 2, 65, 66, 73, 74, 77]);
        tally.count(verdict, || format!("convo {arguments:?}"));
    });
    let jobs: Vec<_> = TRAPS
        .into_iter()
        .flat_map(|trap| COMMANDS.map(|command| (trap, command)))
        .collect();
    let all_powerful = is_root(&prepared);
    if all_powerful {
        tally.skip("permissions mean nothing to root");
    }
    in_parallel(&jobs, |((what, set), command)| {
        if all_powerful && what.contains(" may not ") {
            return;
        }
        let place = copied(&prepared);
        set(&place);
        let outcome = place.convo(command);
        let verdict = judged(&place, &prepared, &outcome, &[0, 1, 65, 66, 73, 74, 77]);
        tally.count(verdict, || format!("{what}: convo {}", command.join(" ")));
        mode(&place, "sessions", 0o700);
    });
    swapped(&prepared, tally);
}

fn copied(prepared: &Place) -> Place {
    let place = prepared.copy();
    super::place::copy_dir(&prepared.root().join("outside"), &place.root().join("outside"));
    place
}

/// Whether this user can read files without read permission.
fn is_root(place: &Place) -> bool {
    let path = place.root().join("closed");
    std::fs::write(&path, "x").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    std::fs::read(&path).is_ok()
}

fn judged(place: &Place, prepared: &Place, outcome: &Outcome, statuses: &[i32]) -> Result<(), String> {
    if outcome.status == HUNG || !statuses.contains(&outcome.status) {
        return Err(shown(outcome));
    }
    if outcome.status > 1
        && !outcome
            .stderr
            .lines()
            .any(|line| line.starts_with("convo: ") || line.starts_with("error: "))
    {
        return Err(format!("no words: {}", shown(outcome)));
    }
    if outside(place) != outside(prepared) {
        return Err(format!("something outside has changed: {}", shown(outcome)));
    }
    if String::from_utf8_lossy(&outcome.stdout).contains("not yours") {
        return Err(format!("it shows what is outside: {}", shown(outcome)));
    }
    let unexpected: Vec<_> = std::fs::read_dir(place.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !["store", "work", "outside"].contains(&name.as_str()))
        .collect();
    if unexpected.is_empty() {
        Ok(())
    } else {
        Err(format!("it made {unexpected:?} outside: {}", shown(outcome)))
    }
}

/// Switches a log's directory entry between file and link while the program runs repeatedly.
fn swapped(prepared: &Place, tally: &Tally) {
    let place = copied(prepared);
    let log = place.log("chat");
    let (kept, link) = (place.store().join("kept"), place.store().join("link"));
    std::fs::hard_link(&log, &kept).unwrap();
    let ended = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = symlink("../../outside/chat.jsonl", &link);
                let _ = std::fs::rename(&link, &log);
                let _ = std::fs::hard_link(&kept, &link);
                let _ = std::fs::rename(&link, &log);
            }
        });
        for nth in 0..150 {
            let command: &[&str] = if nth % 2 == 0 {
                &["append", "chat", "text"]
            } else {
                &["cat", "chat"]
            };
            let outcome = place.convo(command);
            let verdict = judged(&place, prepared, &outcome, &[0, 66, 75, 77]);
            tally.count(verdict, || {
                format!("a log swapped with a link meanwhile: convo {}", command.join(" "))
            });
        }
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
