//! Extreme input: too deep, too long, too large or not text. It must be stored or rejected with a message, without
//! panic, hang or silent loss.

use super::Faults;
use super::check::shown;
use super::place::{CONVO, HUNG, Outcome, Place, run as run_command};
use super::report::Tally;
use std::sync::Mutex;
use std::time::Duration;

/// Time limit: reading a gigabyte takes long in a debug build.
const LONGEST: Duration = Duration::from_secs(300);

/// Above this size, runs are sequential to save memory.
const HUGE: usize = 100 << 20;

static ONE: Mutex<()> = Mutex::new(());

struct Input {
    name: &'static str,
    bytes: Vec<u8>,
}

fn line(content: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":{content}}}\n")
}

/// Between two valid lines.
fn between(name: &'static str, middle: impl AsRef<[u8]>) -> Input {
    let bytes = [
        line("\"before\"").as_bytes(),
        middle.as_ref(),
        line("\"behind\"").as_bytes(),
    ]
    .concat();
    Input { name, bytes }
}

fn inputs(long: bool) -> Vec<Input> {
    let deep = |depth: usize, open: &str, close: &str| {
        line(&(open.repeat(depth) + close + &open_close(open).repeat(depth)))
    };
    let length = if long { 1 << 30 } else { 64 << 20 };
    let lines = if long { 1_000_000 } else { 100_000 };
    let mut all = vec![
        between("arrays, 100,000 deep", deep(100_000, "[", "")),
        between("objects, 100,000 deep", deep(100_000, "{\"a\":", "1")),
        between("arrays that do not end", line(&"[".repeat(100_000))),
        between(
            "duplicate keys",
            "{\"role\":\"user\",\"content\":\"a\",\"content\":\"b\",\"role\":\"tool\"}\n",
        ),
        between("1e400", line("\"x\",\"n\":1e400")),
        between(
            "a number of 10,000 digits",
            line(&format!("\"x\",\"n\":{}", "9".repeat(10_000))),
        ),
        between("a lone surrogate", line("\"\\ud800\"")),
        between("surrogates the wrong way round", line("\"\\udc00\\ud800\"")),
        between("a NUL, escaped", line("\"a\\u0000b\"")),
        between("a NUL", line("\"a\0b\"")),
        between("NULs for a line", "\0\0\0\0\n"),
        between(
            "invalid UTF-8",
            b"{\"role\":\"user\",\"content\":\"\xff\xfe\x80\"}\n",
        ),
        between("UTF-8 cut off", b"{\"role\":\"user\",\"content\":\"\xe2\x82\"}\n"),
        between(
            "a carriage return at the end",
            "{\"role\":\"user\",\"content\":\"x\"}\r\n",
        ),
        between("only a carriage return", "\r\n"),
        between("blank lines", "\n\n\n"),
        between("not an object", "42\n\"text\"\nnull\n[]\n"),
        between("an unknown type", "{\"type\":\"novelty\",\"id\":\"e1\"}\n"),
        between("content that is no text", line("{\"a\":[1,2,{\"b\":null}]}")),
        between(
            "a checksum of nobody's",
            "{\"role\":\"user\",\"content\":\"x\",\"_crc\":\"deadbeef\"}\n",
        ),
        Input {
            name: "byte order mark",
            bytes: ["\u{feff}", &line("\"x\"")].concat().into_bytes(),
        },
        Input {
            name: "UTF-16",
            bytes: line("\"x\"").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        },
        Input {
            name: "nothing",
            bytes: Vec::new(),
        },
        Input {
            name: "a newline",
            bytes: b"\n".to_vec(),
        },
        Input {
            name: "no newline at the end",
            bytes: line("\"x\"").trim_end().into(),
        },
        Input {
            name: "half an object",
            bytes: b"{\"role\":\"us".to_vec(),
        },
        Input {
            name: "random bytes",
            bytes: random(100_000),
        },
        Input {
            name: "many lines",
            bytes: line("\"x\"").repeat(lines).into_bytes(),
        },
    ];
    all.push(between(
        "a long line",
        line(&format!("\"{}\"", "x".repeat(length))),
    ));
    all
}

fn open_close(open: &str) -> &'static str {
    if open == "[" { "]" } else { "}" }
}

fn random(length: usize) -> Vec<u8> {
    let mut chance = super::chance::Chance::new(super::SEED, "bytes");
    (0..length).map(|_| chance.next().to_le_bytes()[3]).collect()
}

/// Every way to read the input: as a stream, as a file, into the store.
const WAYS: [&[&str]; 8] = [
    &["cat", "-"],
    &["cat", "input.jsonl"],
    &["count", "input.jsonl"],
    &["context", "input.jsonl"],
    &["truncate", "input.jsonl", "--keep-last", "1"],
    &["truncate", "input.jsonl", "-i", "--keep-last", "1"],
    &["append", "chat", "--stream"],
    &["migrate", "input.jsonl"],
];

pub fn run(faults: &Faults, tally: &Tally) {
    let inputs = inputs(faults.long);
    let jobs: Vec<_> = inputs
        .iter()
        .rev()
        .flat_map(|input| WAYS.map(|way| (input, way)))
        .collect();
    faults.inject(&jobs, 40, |(input, way)| {
        // The longest lines are tested in two ways only.
        if input.bytes.len() >= 64 << 20 && way != &WAYS[0] && way != &WAYS[6] {
            return;
        }
        let _one = (input.bytes.len() > HUGE).then(|| ONE.lock());
        tally.count(one(input, way), || {
            format!("{}: convo {}", input.name, way.join(" "))
        });
    });
}

fn one(input: &Input, way: &[&str]) -> Result<(), String> {
    let place = Place::new();
    place.sets_up(&["new", "--id", "chat"]);
    let reads = way.contains(&"-") || way.contains(&"--stream");
    if !reads {
        place.write("work/input.jsonl", &input.bytes);
    }
    let feed = |arguments: &[&str], bytes: &[u8]| {
        let mut command = place.program(CONVO);
        // Random ids: with a seed they are hashes of the lines, which is slow for long ones.
        command.args(arguments).env_remove("CONVO_SEED");
        run_command(command, bytes, LONGEST)
    };
    let outcome = feed(way, if reads { &input.bytes } else { b"" });
    ends_well(&outcome)?;
    if input.bytes.len() > HUGE {
        return Ok(()); // more checks would take minutes and gigabytes
    }
    if outcome.status == 0 && way[0] == "cat" {
        // The output can be read and is printed again unchanged.
        let again = feed(&["cat", "-"], &outcome.stdout);
        if again.status != 0 || again.stdout != outcome.stdout {
            return Err(format!("read again: {}", shown(&again)));
        }
    }
    if !outcome.stdout.is_empty() && way == WAYS[0] && input.name != "UTF-16" {
        keeps(&input.bytes, &outcome.stdout)?;
    }
    // The stored session can be read; complete lines are preserved, whatever they contain.
    let id = if way[0] == "migrate" { "input" } else { "chat" };
    if place.log(id).exists() {
        let read = feed(&["cat", id], b"");
        ends_well(&read)?;
        if outcome.status == 0 && read.status != 0 {
            return Err(format!("stored with status 0, and then: {}", shown(&read)));
        }
        let log = std::fs::read(place.log(id)).unwrap();
        let status = if read.status == 65 { 65 } else { 0 };
        if log.len() < 1 << 20 {
            super::check::appends(&place, id, &log, status)?;
        }
    }
    Ok(())
}

/// Checks that lines before and after the extreme one are preserved.
fn keeps(input: &[u8], output: &[u8]) -> Result<(), String> {
    for word in ["\"before\"", "\"behind\""] {
        let has = |line: &&[u8]| line.len() < 1000 && String::from_utf8_lossy(line).contains(word);
        let count = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').filter(has).count();
        if count(output) < count(input) {
            return Err(format!("{word} is not in the output"));
        }
    }
    Ok(())
}

fn ends_well(outcome: &Outcome) -> Result<(), String> {
    let known = [0, 1, 2, 65, 66, 73, 77].contains(&outcome.status);
    if outcome.status == HUNG || !known || outcome.stderr.contains("panicked") {
        return Err(shown(outcome));
    }
    if outcome.status > 1 && !outcome.stderr.starts_with("convo: ") {
        return Err(format!("no words: {}", shown(outcome)));
    }
    Ok(())
}
