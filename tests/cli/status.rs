//! Tests that every exit status occurs, and that a closed pipe is not an error.

use crate::env::{BARE, CHAT, Env, Run};
use convo::error::ErrorKind;
use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Command, Stdio};

/// A special condition of a run.
#[derive(Clone, Copy)]
enum With {
    Nothing,
    Input(&'static str),
    /// A full standard output.
    Full,
    /// Another process holds the lock of the session.
    Lock,
}

const TABLE: &[(u8, &[&str], With)] = &[
    (0, &["cat", "trip"], With::Nothing),
    (0, &["truncate", "trip", "--keep-last", "9"], With::Nothing),
    (0, &["cat"], With::Input("")),
    (0, &["--help"], With::Nothing),
    (0, &["cat", "-h"], With::Nothing),
    (0, &["--version"], With::Nothing),
    (1, &["restore", "trip"], With::Nothing),
    (1, &["truncate", "trip", "--before", "nobody"], With::Nothing),
    (2, &[], With::Nothing),
    (2, &["nosuchcommand"], With::Nothing),
    (2, &["cat", "--nosuchoption"], With::Nothing),
    (2, &["truncate", "trip"], With::Nothing),
    (2, &["cat", "./"], With::Nothing),
    (2, &["--lock-timeout", "soon", "list"], With::Nothing),
    (65, &["cat", "--from", "jsonl"], With::Input("broken\n")),
    (
        65,
        &["cat", "--strict", "--from", "jsonl"],
        With::Input("broken\n"),
    ),
    (65, &["cat"], With::Input("broken\n")),
    (65, &["migrate", "empty.json"], With::Nothing),
    (65, &["cat", "newer.jsonl"], With::Nothing),
    (66, &["cat", "nobody"], With::Nothing),
    (66, &["cat", "nofile.jsonl"], With::Nothing),
    (66, &["alias", "resolve", "nobody"], With::Nothing),
    (66, &["--store", "nostore", "list"], With::Nothing),
    (66, &["cat", "t"], With::Nothing),
    (69, &["broken"], With::Nothing),
    (73, &["new", "--id", "trip"], With::Nothing),
    (73, &["alias", "add", "trip", "tram"], With::Nothing),
    (73, &["migrate", "other/trip.jsonl"], With::Nothing),
    (74, &["cat", "trip"], With::Full),
    (74, &["context", "--to", "openai-chat", "trip"], With::Full),
    (74, &["show", "trip"], With::Full),
    (74, &["list"], With::Full),
    (74, &["count", "trip"], With::Full),
    (74, &["truncate", "--stdout", "--all", "trip"], With::Full),
    (74, &["alias", "resolve", "tr"], With::Full),
    (74, &["--help"], With::Full),
    (75, &["--lock-timeout", "0", "append", "trip", "x"], With::Lock),
    (
        75,
        &["--lock-timeout", "0", "truncate", "trip", "--all"],
        With::Lock,
    ),
    (75, &["--lock-timeout", "0", "remove", "trip"], With::Lock),
    (77, &["new", "--id", "../x"], With::Nothing),
    (77, &["cat", "link"], With::Nothing),
    (77, &["migrate", "pipe"], With::Nothing),
    (78, &["--config", "noconfig.toml", "list"], With::Nothing),
    (78, &["--config", "wrong.toml", "list"], With::Nothing),
];

fn place() -> Env {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::with_chat();
    env.run(&["new", "--id", "tram", "--alias", "tr"]).fine();
    env.write("empty.json", "");
    env.write(
        "newer.jsonl",
        "{\"type\":\"session\",\"version\":2,\"id\":\"x\"}\n",
    );
    env.write("other/trip.jsonl", CHAT.replace("Rain.", "Snow."));
    env.write("wrong.toml", "nosuchkey = 1\n");
    std::os::unix::fs::symlink("/etc/hostname", env.log("link")).unwrap();
    let pipe = env.work().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let broken = env.root().join("bin/convo-broken");
    std::fs::write(&broken, "#!/nonexistent/interpreter\n").unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    env
}

#[must_use]
fn run(env: &Env, arguments: &[&str], with: With) -> Run {
    match with {
        With::Nothing => env.run(arguments),
        With::Input(input) => env.pipe(arguments, input),
        With::Full => full(env, arguments),
        With::Lock => {
            let log = File::open(env.log("trip")).unwrap();
            log.lock().unwrap();
            let run = env.run(arguments);
            log.unlock().unwrap();
            run
        }
    }
}

#[must_use]
fn full(env: &Env, arguments: &[&str]) -> Run {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = env.command(arguments);
    command.stdout(full).stderr(Stdio::piped());
    env.ended(command.spawn().unwrap())
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
fn the_table() {
    let env = place();
    let log = std::fs::read(env.log("trip")).unwrap();
    let mut wrong = Vec::new();
    for (status, arguments, with) in TABLE {
        let run = run(&env, arguments, *with);
        if run.status != i32::from(*status) {
            wrong.push(format!("{arguments:?}: expected {status}, and it was {run}"));
        } else if *status != 0 && run.stderr.is_empty() {
            wrong.push(format!("{arguments:?}: {status} without a word"));
        }
        assert_eq!(
            std::fs::read(env.log("trip")).unwrap(),
            log,
            "{arguments:?} changed the session"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// 76 requires a failing sync, which only the fault harness can inject.
#[test]
fn every_status_is_in_the_table() {
    let known: BTreeSet<u8> = ErrorKind::ALL
        .into_iter()
        .map(ErrorKind::status)
        .filter(|status| *status != 76)
        .collect();
    let tried: BTreeSet<u8> = TABLE
        .iter()
        .map(|(status, ..)| *status)
        .filter(|status| *status != 0)
        .collect();
    assert_eq!(known, tried);
}

#[test]
fn a_command_waits_for_a_lock() {
    let env = place();
    let log = File::open(env.log("trip")).unwrap();
    log.lock().unwrap();
    let waiting = env
        .command(&["--lock-timeout", "10s", "append", "trip", "x"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(150));
    log.unlock().unwrap();
    env.ended(waiting).fine();
    snapshot!(
        "status_locked",
        run(
            &env,
            &["--lock-timeout", "10ms", "append", "trip", "x"],
            With::Lock
        )
    );
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
fn a_full_disk_for_standard_output_is_reported() {
    let env = place();
    let run = full(&env, &["cat", "trip"]);
    snapshot!("status_full", run);
}

/// "`-o` that cannot be written: 74."
#[test]
fn an_output_file_that_cannot_be_written_is_74() {
    let env = place();
    env.run(&["cat", "trip", "-o", "nofolder/out.jsonl"])
        .status(74)
        .gives("");
    env.run(&["truncate", "--all", "trip", "-o", "nofolder/out.jsonl"])
        .status(74);
}

#[test]
fn the_worst_of_several_inputs_is_the_status() {
    let env = place();
    env.write("bad.jsonl", format!("{BARE}broken\n"));
    let two = [BARE, "broken\n", CHAT].concat();
    env.run(&["cat", "bad.jsonl", "trip"]).status(65).gives(&two);
    env.run(&["cat", "bad.jsonl", "nobody", "trip"])
        .status(66)
        .gives(&two);
    env.run(&["cat", "nobody", "link", "bad.jsonl", "trip"])
        .status(77)
        .gives(&two);
}

#[test]
fn a_closed_pipe_is_success() {
    let env = place();
    // More than an enlarged pipe holds, so that no command ends before its reader.
    let many: String = (0..20_000)
        .map(|n| format!("{{\"role\":\"user\",\"content\":\"{n:0100}\"}}\n"))
        .collect();
    env.write("many.jsonl", &many);
    let lines = [
        "convo cat many.jsonl",
        "convo context many.jsonl --to openai-chat",
        "convo truncate --keep-last 19000 many.jsonl",
        "convo show many.jsonl",
        "convo cat -q --to jsonl many.jsonl",
        "convo list many.jsonl many.jsonl",
        "convo --help",
    ];
    for line in lines {
        let run = env.shell(&format!("{{ {line}; echo $? >&2; }} | :"));
        assert_eq!(run.stderr, "0\n", "{line}");
        let run = env.shell(&format!("{{ {line}; echo $? >&2; }} | head -n 1"));
        assert_eq!(run.stderr, "0\n", "{line}");
    }
}

#[test]
fn a_change_without_any_output_is_stored() {
    let env = place();
    let run = env.shell("convo append trip closed >&- 2>&- </dev/null; echo $?");
    assert_eq!(run.out(), "0\n", "{run}");
    assert!(env.run(&["cat", "trip"]).fine().out().contains("closed"));
}
