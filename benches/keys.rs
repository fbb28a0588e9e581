//! Measures names: finding a session by alias and by id in stores of different sizes, in this process and in a new
//! one; deriving keys from messages; and importing many small sessions, compared with a durable copy of their files.
//!
//!     cargo bench --bench keys -- [STORE_SIZE]...
//!
//! Prints medians. Default sizes are 5,000 and 100,000 sessions.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use convo::model::key::id_for_key;
use convo::model::scope::{KeyForm, KeyRequest, ScopeSettings};
use convo::store::Store;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CONVO: &str = env!("CARGO_BIN_EXE_convo");

fn main() {
    let mut sizes: Vec<usize> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    if sizes.is_empty() {
        sizes = vec![5_000, 100_000];
    }
    let place = tempfile::tempdir().unwrap();
    for size in sizes {
        names(&place.path().join(size.to_string()), size);
    }
    keys();
    migration(place.path());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn timed(times: usize, mut run: impl FnMut(usize)) -> Duration {
    let one = |nth| {
        let began = Instant::now();
        run(nth);
        began.elapsed()
    };
    median((0..times).map(one).collect())
}

fn row(what: &str, time: Duration) {
    println!("{what}\t{:.1} us", time.as_secs_f64() * 1e6);
}

/// Creates sessions with two messages and an alias each. The files are written directly, because making each durable
/// would take most of an hour.
fn names(path: &Path, size: usize) {
    drop(Store::create(path).unwrap());
    for dir in ["sessions", "aliases"] {
        std::fs::create_dir_all(path.join(dir)).unwrap();
    }
    let id = |nth: usize| format!("session_20261120_180203_{nth:016x}");
    let alias = |nth: usize| format!("agent:main:telegram:default:direct:{nth}");
    for nth in 0..size {
        let log = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{}\"}}\n{{\"role\":\"user\",\"content\":\"hi\"}}\n",
            id(nth)
        );
        std::fs::write(path.join(format!("sessions/{}.jsonl", id(nth))), log).unwrap();
        let name = path.join("aliases").join(id_for_key(&alias(nth)));
        std::fs::write(name, format!("{}\n", id(nth))).unwrap();
    }
    let store = Store::open(path).unwrap();
    // A stride that visits the whole store without repetition.
    let pick = |nth: usize| nth * 7_919 % size;
    let by_id = timed(2_001, |nth| {
        let id = id(pick(nth));
        assert_eq!(store.resolve(black_box(&id)).unwrap(), id);
    });
    let by_alias = timed(2_001, |nth| {
        let found = store.resolve(black_box(&alias(pick(nth)))).unwrap();
        assert_eq!(found, id(pick(nth)));
    });
    row(&format!("{size} sessions, resolved here, by id"), by_id);
    row(&format!("{size} sessions, resolved here, by alias"), by_alias);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(CONVO);
        command.args(["--no-config", "--store"]).arg(path).args(arguments);
        let status = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    for (what, name) in [("by id", &id as &dyn Fn(usize) -> String), ("by alias", &alias)] {
        // An append without a message: finds the session and writes nothing.
        let time = timed(101, |nth| run(&["cat", &name(pick(nth))]));
        row(&format!("{size} sessions, `convo cat` {what}"), time);
        let time = timed(31, |nth| run(&["append", "-q", &name(pick(nth)), "hello"]));
        row(&format!("{size} sessions, `convo append` {what}"), time);
    }
    std::fs::remove_dir_all(path).unwrap();
}

fn keys() {
    const MESSAGES: usize = 1_000_000;
    let messages: Vec<String> = (0..MESSAGES)
        .map(|nth| {
            format!(
                r#"{{"agent_id":"main","channel":"telegram","account":"default","chat_id":"-100{nth}","chat_type":"group","topic_id":"","sender_id":"User{}"}}"#,
                nth % 977
            )
        })
        .collect();
    let settings = ScopeSettings::default();
    for form in [KeyForm::Convo, KeyForm::Picoclaw] {
        let began = Instant::now();
        for message in &messages {
            let requested = KeyRequest::read(message.as_bytes()).unwrap();
            black_box(requested.key(form, &settings).unwrap());
        }
        let second = MESSAGES as f64 / began.elapsed().as_secs_f64();
        println!("keys of the form {} made here\t{second:.0} a second", form.name());
    }
    let input = messages.join("\n");
    for form in ["convo", "picoclaw"] {
        let began = Instant::now();
        let mut child = Command::new(CONVO)
            .args(["--no-config", "key", "--form", form])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let second = MESSAGES as f64 / began.elapsed().as_secs_f64();
        println!("keys of the form {form}, `convo key` on a pipe\t{second:.0} a second");
    }
}

fn migration(place: &Path) {
    let from = place.join("from");
    std::fs::create_dir(&from).unwrap();
    for nth in 0..1_000 {
        let mut log = String::new();
        for message in 0..20 {
            let role = ["user", "assistant"][message % 2];
            let text = "What was decided on Monday, and what is left to do? ".repeat(4);
            log += &format!(
                "{{\"role\":\"{role}\",\"content\":\"{text}{message}\",\"created_at\":\"2026-03-01T09:{message:02}:00Z\"}}\n"
            );
        }
        let count = "\"skip\": 0,\n  \"count\": 20,\n  \"created_at\": \"2026-03-01T09:00:00Z\",\n  \"updated_at\": \"2026-03-01T09:19:00Z\"";
        let meta = format!("{{\n  \"key\": \"chat_{nth}\",\n  \"summary\": \"\",\n  {count}\n}}");
        std::fs::write(from.join(format!("chat_{nth}.jsonl")), log).unwrap();
        std::fs::write(from.join(format!("chat_{nth}.meta.json")), meta).unwrap();
    }
    let migrate = timed(7, |nth| {
        let status = Command::new(CONVO)
            .args(["--no-config", "--store"])
            .arg(place.join(format!("store{nth}")))
            .args(["migrate", "-q"])
            .arg(&from)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    });
    let copy = timed(7, |nth| {
        let to = place.join(format!("copy{nth}"));
        let status = Command::new("cp").arg("-r").arg(&from).arg(&to).status();
        assert!(status.unwrap().success());
        let status = Command::new("sync").arg("-f").arg(&to).status();
        assert!(status.unwrap().success());
    });
    row("1,000 sessions of 20 messages, `convo migrate`", migrate);
    row("the same files, `cp -r` and `sync -f`", copy);
    println!(
        "migrate is\t{:.2} times the copy",
        migrate.as_secs_f64() / copy.as_secs_f64()
    );
}
