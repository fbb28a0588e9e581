//! Tests sessions on one line: packed in, packed out.

use crate::env::{BARE, CHAT, Env};

/// The second session of a stream.
const SECOND: &str = concat!(
    r#"{"type":"session","version":1,"id":"second","created_at":"2026-11-02T10:00:00Z"}"#,
    "\n",
    r#"{"role":"user","content":"Token sk-ant-api03-Ab3dEf7hIjAb3dEf7hIjAb3dEf7hIjAb3dEf7hIjAb3dEf7hIjAb3dEf7hIjAb3dEf7hIjAb3dEf7hIjAb3dEf7hIjxyAA","id":"n1"}"#,
    "\n",
    r#"{"role":"assistant","content":"Noted.","id":"n2"}"#,
    "\n",
);

fn both() -> String {
    format!("{CHAT}{SECOND}")
}

fn packed(env: &Env, stream: &str) -> String {
    let packed = env.pipe(&["cat", "--pack"], stream).fine().out().to_string();
    assert!(
        packed
            .lines()
            .all(|line| line.starts_with("{\"type\":\"packed\""))
    );
    packed
}

/// Commands that print sessions, each with the number of sessions that it prints for `both`.
const PRINTING: [(&str, usize); 17] = [
    ("cat", 2),
    ("cat --last 1", 2),
    ("context", 2),
    ("compact --budget 9k", 2),
    ("truncate --keep-last 1", 2),
    ("drop --role assistant", 2),
    ("keep --role user", 2),
    ("summarize --keep-last 1", 2),
    ("redact", 2),
    ("check --for openai-chat --fix", 2),
    ("title - New", 2),
    ("tag - +new", 2),
    ("note - Later", 2),
    ("append - Hello", 2),
    ("continue", 2),
    ("split --max-exchanges 1", 3),
    ("migrate", 2),
];

#[test]
fn packed_input_gives_packed_output() {
    let env = Env::new();
    let (plain, packed) = (both(), packed(&env, &both()));
    let run = |arguments: &[&str], input: &str| {
        let mut command = env.command(arguments);
        command.env("CONVO_SEED", "same");
        env.feed(command, input.as_bytes()).status(0)
    };
    for (line, sessions) in PRINTING {
        let arguments: Vec<&str> = line.split(' ').collect();
        let as_input = run(&arguments, &packed);
        assert_eq!(as_input.out().lines().count(), sessions, "{line}: {as_input}");
        assert!(
            as_input
                .out()
                .lines()
                .all(|line| line.starts_with("{\"type\":\"packed\"")),
            "{line}: {as_input}"
        );
        let from_plain = run(&arguments, &plain);
        assert!(!from_plain.out().contains("\"packed\""), "{line}: {from_plain}");
        if line == "redact" {
            continue; // keeps the lines of any input
        }
        let with = |option| [&arguments[..1], &[option], &arguments[1..]].concat();
        run(&with("--pack"), &plain).gives(as_input.out());
        run(&with("--unpack"), &packed).gives(from_plain.out());
        run(&with("--unpack"), &plain).gives(from_plain.out());
    }
    // One session of all.
    let joined = run(&["join", "--id", "all"], &packed);
    assert_eq!(joined.out().lines().count(), 1, "{joined}");
    run(&["join", "--id", "all", "--unpack"], &packed).gives(run(&["join", "--id", "all"], &plain).out());
    env.write("packed.jsonl", &packed);
    let forked = env.run(&["fork", "packed.jsonl", "--exchange", "1", "--session", "trip"]);
    assert_eq!(forked.status(0).out().lines().count(), 1);
}

#[test]
fn unpack_undoes_pack() {
    let env = Env::new();
    for stream in [both(), BARE.to_string(), format!("{CHAT}broken\n{SECOND}")] {
        let status = if stream.contains("broken") { 65 } else { 0 };
        let packed = env.pipe(&["cat", "--pack"], &stream).status(status);
        env.pipe(&["cat", "--unpack"], packed.out())
            .status(status)
            .gives(&stream);
        env.pipe(&["cat"], packed.out())
            .status(status)
            .gives(packed.out());
        // Whatever the order of the members and the white space.
        let spaced = packed
            .out()
            .replacen("{\"type\":\"packed\",", "{ \"type\" : \"packed\", ", 1);
        env.pipe(&["cat"], spaced).status(status).gives(packed.out());
    }
    env.pipe(&["cat", "--pack", "--unpack"], CHAT)
        .status(2)
        .says("cannot be used with");
    for filter in [
        &["cat"][..],
        &["cat", "--pack"],
        &["cat", "--unpack"],
        &["compact", "--budget", "9k"],
    ] {
        env.pipe(filter, "").status(0).gives("");
    }
}

#[test]
fn a_format_is_never_packed() {
    let env = Env::new();
    let packed = packed(&env, CHAT);
    let as_markdown = env.pipe(&["cat", "--to", "markdown"], CHAT).status(0);
    env.pipe(&["cat", "--to", "markdown"], &packed)
        .status(0)
        .gives(as_markdown.out());
    env.pipe(&["cat", "-q", "-o", "x.md"], &packed).status(0);
    assert_eq!(env.read("x.md"), as_markdown.out());
    env.pipe(&["cat", "--to", "native"], &packed).fine().gives(CHAT);
    env.pipe(&["cat", "--to", "same"], &packed).fine().gives(&packed);
    env.pipe(&["cat", "-o", "x.jsonl"], &packed).fine();
    assert_eq!(env.read("x.jsonl"), packed);
    for option in ["--pack", "--unpack"] {
        let run = env.pipe(&["cat", option, "--to", "openai-chat"], &packed);
        run.status(2)
            .says(&format!("{option} conflicts with --to FORMAT"));
    }
    env.pipe(&["cat", "--unpack", "-o", "y.md"], &packed)
        .status(2)
        .says("the extension of an output file is a format too");
    // Tables and pages have no packed form.
    for command in [&["count", "--flat"][..], &["show"], &["title", "-"]] {
        env.pipe(command, &packed)
            .status(0)
            .gives(env.pipe(command, CHAT).out());
    }
}

#[test]
fn the_first_input_that_is_not_empty_decides() {
    let env = Env::with_chat();
    env.write("packed.jsonl", packed(&env, SECOND));
    env.write("plain.jsonl", CHAT);
    let lines = |arguments: &[&str], input: &str| env.pipe(arguments, input).status(0).out().lines().count();
    assert_eq!(lines(&["cat", "packed.jsonl", "plain.jsonl"], ""), 2);
    assert_eq!(lines(&["cat", "plain.jsonl", "packed.jsonl"], ""), 11);
    assert_eq!(lines(&["cat", "-q", "-", "packed.jsonl"], ""), 1);
    assert_eq!(lines(&["cat", "-", "packed.jsonl"], CHAT), 11);
    assert_eq!(lines(&["cat", "trip", "packed.jsonl"], ""), 11);
    assert_eq!(lines(&["context", "trip", "packed.jsonl"], ""), 11);
    assert_eq!(
        lines(
            &[
                "truncate", "--stdout", "-q", "--keep-last", "0", "packed.jsonl", "trip"
            ],
            ""
        ),
        2
    );
    // A stream that begins with a packed session.
    let mixed = format!("{}{CHAT}", env.read("packed.jsonl"));
    assert_eq!(lines(&["cat"], &mixed), 2);
    let mixed = format!("{CHAT}{}", env.read("packed.jsonl"));
    assert_eq!(lines(&["cat"], &mixed), 11);
    // A damaged line that `--json` packs is not a session.
    let objects = env.pipe(&["cat", "--json"], format!("broken\n{CHAT}")).status(65);
    assert_eq!(env.pipe(&["cat"], objects.out()).out(), format!("broken\n{CHAT}"));
}

#[test]
fn files_keep_their_form_in_place() {
    let env = Env::new();
    let packed = packed(&env, &both());
    let truncate = ["truncate", "-q", "--keep-last", "0"];
    let change = |options: &[&str], file: &str| env.run(&[&truncate[..], &["-i"], options, &[file]].concat());
    let changed = env.pipe(&truncate, &packed).fine().out().to_string();
    let changed_plain = env.pipe(&truncate, both()).fine().out().to_string();
    assert!(changed.lines().count() == 2 && changed_plain.lines().count() == 3);
    for (options, before, after) in [
        (&[][..], &packed, &changed),
        (&["--pack"], &packed, &changed),
        (&["--pack"], &both(), &changed),
        (&["--unpack"], &packed, &changed_plain),
        (&[], &both(), &changed_plain),
        (&["--to", "native"], &packed, &changed_plain),
    ] {
        env.write("file.jsonl", before);
        change(options, "file.jsonl").fine();
        assert_eq!(&env.read("file.jsonl"), after, "{options:?}");
    }
    // One session of the file; the others keep their lines.
    env.write("file.jsonl", &packed);
    change(&["--session", "second"], "file.jsonl").fine();
    assert_eq!(env.read("file.jsonl").lines().next(), packed.lines().next());
    assert_ne!(env.read("file.jsonl").lines().nth(1), packed.lines().nth(1));
    // Within compression.
    env.write("file.jsonl", &packed);
    env.shell("gzip -n file.jsonl").fine();
    change(&[], "file.jsonl.gz").fine();
    assert_eq!(env.shell("gzip -dc file.jsonl.gz").out(), changed);
    // Another format has no packed form.
    env.run(&[
        "cat", "-q", "--to", "openai-chat", "-o", "chat.json", "file.jsonl.gz", "--session", "trip",
    ])
    .status(0);
    let before = env.read("chat.json");
    env.run(&["truncate", "--keep-last", "1", "-i", "--pack", "chat.json"])
        .status(2)
        .says("--pack requires a native file");
    assert_eq!(env.read("chat.json"), before);
}

#[test]
fn merge_has_the_form_of_its_first_side() {
    let env = Env::new();
    let packed = packed(&env, CHAT);
    env.write("a.jsonl", &packed);
    env.write("b.jsonl", CHAT);
    for (arguments, expected) in [
        (&["a.jsonl", "b.jsonl"][..], &*packed),
        (&["b.jsonl", "a.jsonl"], CHAT),
        (&["--pack", "b.jsonl", "a.jsonl"], &packed),
        (&["--unpack", "a.jsonl", "b.jsonl"], CHAT),
    ] {
        env.run(&[&["merge", "-q"], arguments].concat())
            .fine()
            .gives(expected);
    }
    env.run(&["merge", "-q", "-i", "--unpack", "a.jsonl", "b.jsonl"])
        .fine();
    assert_eq!(env.read("a.jsonl"), CHAT);
}

#[test]
fn directories_have_packed_files_on_request() {
    let env = Env::new();
    let packed = packed(&env, &both());
    env.write("packed.jsonl", &packed);
    let lines: Vec<String> = packed.lines().map(|line| format!("{line}\n")).collect();
    let migrate = ["migrate", "-q", "--output-dir"];
    env.run(&[&migrate[..], &["one", "--pack", "packed.jsonl"]].concat())
        .fine();
    assert_eq!(
        [env.read("one/trip.jsonl"), env.read("one/second.jsonl")],
        lines[..]
    );
    // Equal sessions are skipped, and one that has grown keeps its form.
    let again = env
        .run(&["migrate", "--output-dir", "one", "packed.jsonl"])
        .status(0);
    assert!(
        again.out().starts_with("skipped\tpacked.jsonl\t2 sessions"),
        "{again}"
    );
    let grown = format!("{CHAT}{{\"role\":\"user\",\"content\":\"More\",\"id\":\"m8\"}}\n");
    env.write("grown.jsonl", &grown);
    let run = env
        .run(&["migrate", "--output-dir", "one", "grown.jsonl"])
        .status(0);
    assert!(run.out().starts_with("updated"), "{run}");
    env.run(&["cat", "--unpack", "one/trip.jsonl"])
        .fine()
        .gives(&grown);
    assert_eq!(env.read("one/trip.jsonl").lines().count(), 1);
    env.run(&[&migrate[..], &["plain", "packed.jsonl"]].concat())
        .fine();
    assert_eq!(env.read("plain/trip.jsonl"), CHAT);
    env.run(&["split", "-q", "--output-dir", "parts", "--pack", "packed.jsonl"])
        .status(0);
    assert_eq!(env.read("parts/trip.jsonl"), lines[0]);
    env.run(&["split", "-q", "--output-dir", "files", "packed.jsonl"])
        .status(0);
    assert_eq!(env.read("files/trip.jsonl"), CHAT);
    for (arguments, problem) in [
        (
            &["migrate", "--pack", "packed.jsonl"][..],
            "--pack requires --output-dir",
        ),
        (
            &[
                "migrate", "--unpack", "--to", "codex", "--output-dir", "x", "packed.jsonl",
            ],
            "--unpack conflicts",
        ),
    ] {
        env.run(arguments).status(2).says(problem);
    }
}

/// Records of two sessions must not become one session unnoticed.
#[test]
fn a_packed_session_without_a_header_after_another_is_damage() {
    let env = Env::new();
    let bare = env.pipe(&["cat", "--pack"], BARE).fine().out().to_string();
    assert!(
        bare.starts_with(r#"{"type":"packed","records":[{"role""#),
        "{bare}"
    );
    env.pipe(&["count"], &bare).fine();
    let packed = packed(&env, CHAT);
    env.pipe(&["cat"], format!("{bare}{packed}")).fine();
    for stream in [format!("{packed}{bare}"), format!("{CHAT}\n{bare}")] {
        let run = env.pipe(&["count", "-q"], &stream).status(65);
        let line = stream.lines().count();
        let what = format!(
            "-:{line}: byte {}: packed session without a header; read as part of the session before it",
            stream.len() - bare.len()
        );
        assert!(run.stderr.contains(&what), "{run}");
        env.pipe(&["cat", "--strict"], &stream).status(65);
    }
    // A line that is not a record is part of its session.
    let objects = env.pipe(&["cat", "-q", "--json"], format!("{CHAT}oops\n"));
    let run = env.pipe(&["cat"], objects.out()).status(65);
    assert!(
        run.out().ends_with("oops\n") && !run.stderr.contains("header"),
        "{run}"
    );
}

#[test]
fn new_and_expanded_sessions_are_packed_on_request() {
    let env = Env::new();
    let options = ["new", "--stdout", "--id", "s", "--system", "Be terse."];
    let run = env.run(&[&options[..], &["--pack"]].concat()).fine();
    assert!(
        run.out().starts_with(r#"{"type":"packed","id":"s","records":["#),
        "{run}"
    );
    assert_eq!(run.out().lines().count(), 1);
    let lines = env.pipe(&["cat", "--unpack"], run.out()).fine().out().to_string();
    assert_eq!(lines.lines().count(), 2);
    env.run(&["new", "--pack"]).status(2).says("--stdout");
    let packed = packed(&env, CHAT);
    // Messages are packed on request only, a whole session as its input.
    let line = CHAT.lines().nth(4).unwrap();
    env.pipe(&["expand", "m4"], &packed)
        .fine()
        .gives(format!("{line}\n"));
    let one = format!("{{\"type\":\"packed\",\"records\":[{line}]}}\n");
    env.pipe(&["expand", "--pack", "m4"], CHAT).fine().gives(&one);
    env.pipe(&["cat", "--unpack"], &one)
        .fine()
        .gives(format!("{line}\n"));
    let whole = ["expand", "--images", ".", "-"];
    env.pipe(&whole, &packed).fine().gives(&packed);
    env.pipe(&[&whole[..], &["--unpack"]].concat(), &packed)
        .fine()
        .gives(CHAT);
    env.pipe(&[&whole[..], &["--pack"]].concat(), CHAT)
        .fine()
        .gives(&packed);
    env.pipe(&["expand", "--pack", "--json", "m4"], CHAT).status(2);
}

/// A large session is packed while it is read.
#[test]
fn a_session_in_a_directory_is_packed_as_a_stream() {
    let env = Env::new();
    let long = "What is the weather in Paris, hour by hour? ".repeat(100);
    let message = |nth: usize| format!("{{\"role\":\"user\",\"content\":\"{nth} {long}\"}}\n");
    let session = |id: &str, count: usize| {
        let header = format!("{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\"}}\n");
        header + &(0..count).map(message).collect::<String>()
    };
    env.write("in.jsonl", session("in", 3_000));
    let fits = |option: &str, megabytes: usize| {
        let limit = megabytes << 10;
        let dir = format!("out{option}");
        let migrate = format!("rm -rf {dir}; convo migrate -q {option} --output-dir {dir} in.jsonl");
        env.shell(&format!("ulimit -v {limit}; {migrate} 2>/dev/null"))
            .status
            == 0
    };
    let least = (4..64)
        .map(|step| step * 8)
        .find(|megabytes| fits("--unpack", *megabytes));
    assert!(fits("--pack", least.unwrap() + 8));
    let packed = env.read("out--pack/in.jsonl");
    assert!(packed.len() > 12 << 20 && packed.lines().count() == 1);
}

/// The memory for one session suffices for many.
#[test]
fn packed_sessions_are_processed_one_at_a_time() {
    let env = Env::new();
    let long = "What is the weather in Paris, hour by hour? ".repeat(500);
    let packed = packed(&env, &CHAT.replace("Weather in Paris?", &long));
    let fits = |sessions: usize, megabytes: usize| {
        env.write("in.jsonl", packed.repeat(sessions));
        let filter = "convo truncate -q --keep-last 1 < in.jsonl > out.jsonl";
        let limit = megabytes << 10;
        let run = env.shell(&format!("ulimit -v {limit} 2>/dev/null; {filter} 2>/dev/null"));
        run.status == 0 && env.read("out.jsonl").lines().count() == sessions
    };
    let least = (1..32)
        .map(|step| step * 16)
        .find(|megabytes| fits(1, *megabytes));
    assert!(packed.len() * 2000 > 40 << 20);
    assert!(fits(2000, least.unwrap() + 16));
}
