//! The table of operations: every command that writes. Each is run against every fault, so a new verb is one
//! more entry here.
//!
//! An entry needs
//! - `name`, for the findings, and `arguments` with `input`, the command that is run in `work/` of its place;
//! - `prepare`, what there is before; all of it counts as acknowledged. Most entries begin with [`chat`];
//! - `session`, whose log is read and appended to after each fault, when there is one;
//! - `between`, what else than the old and the new state may be found after a kill or a power cut;
//! - `brings`, a file and a piece of text that success puts there, so that a command that does nothing is noticed;
//! - `again`, statuses of the same command when it was done already;
//! - `destroys`, for the few that may lose acknowledged lines.
//!
//! What the new state is is not written down: a run without a fault tells it, and is checked by itself.

use super::place::Place;

/// What may be found beside the old and the new state while a command is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Nothing.
    Whole,
    /// The last log line torn, when the power went or a write was cut short.
    Appended,
    /// The same, and any number of its lines; a failure tells how many.
    Lines,
    /// After a power cut, the file under both names.
    Moved,
    /// Each file on its own is old or new; a failure has changed none.
    Files,
    /// The same, and a failure tells of each file in its report.
    Each,
    /// The file that is brought is old or new, at its end torn as a log; what stands beside it is behind it at most.
    Books,
    /// Anything that shows the same and has every line.
    View,
}

pub struct Operation {
    pub name: &'static str,
    pub prepare: fn(&Place),
    pub arguments: &'static [&'static str],
    pub input: &'static str,
    pub session: Option<&'static str>,
    pub between: Between,
    pub brings: (&'static str, &'static str),
    pub again: &'static [i32],
    pub destroys: bool,
}

const STREAM: &str = concat!(
    "{\"role\":\"user\",\"content\":\"one\",\"id\":\"n1\"}\n",
    "{\"role\":\"assistant\",\"content\":\"two\"}\n",
    "{\"role\":\"user\",\"content\":\"three\"}\n",
    "{\"role\":\"assistant\",\"content\":\"four\"}\n",
    "{\"role\":\"user\",\"content\":\"five\"}\n",
);

/// A native session of two exchanges, in a file of the user's.
const NATIVE: &str = concat!(
    "{\"type\":\"session\",\"version\":1,\"id\":\"native\",\"created_at\":\"2026-11-01T10:00:00Z\"}\n",
    "{\"role\":\"user\",\"content\":\"Weather?\",\"id\":\"w1\"}\n",
    "{\"role\":\"assistant\",\"content\":\"Sunny.\",\"id\":\"w2\"}\n",
    "{\"role\":\"user\",\"content\":\"And tomorrow?\",\"id\":\"w3\"}\n",
    "{\"role\":\"assistant\",\"content\":\"Rain.\",\"id\":\"w4\"}\n",
);

/// Longer than a page, so that it meets the end of a full disk, and can be torn between blocks.
const LONG: &str = {
    const TEXT: [u8; 5000] = [b'x'; 5000];
    match std::str::from_utf8(&TEXT) {
        Ok(text) => text,
        Err(_) => "",
    }
};

/// A session with an alias and three exchanges.
pub fn chat(place: &Place) {
    place.sets_up(&[
        "new",
        "--id",
        "chat",
        "--system",
        "You are terse.",
        "--alias",
        "trip",
    ]);
    for (question, answer) in [("one?", "1"), ("two?", "2"), ("three?", "3")] {
        place.sets_up(&["append", "chat", question]);
        place.sets_up(&["append", "chat", "-r", "assistant", answer]);
    }
}

fn cut(place: &Place) {
    chat(place);
    place.sets_up(&["truncate", "chat", "--keep-last", "1"]);
}

fn removed(place: &Place) {
    chat(place);
    place.sets_up(&["new", "--id", "other"]);
    place.sets_up(&["remove", "chat"]);
}

/// One in the store and one of the same name in the trash.
fn twice(place: &Place) {
    chat(place);
    place.sets_up(&["remove", "chat"]);
    place.sets_up(&["new", "--id", "chat", "--system", "Again."]);
}

fn aliased(place: &Place) {
    chat(place);
    place.sets_up(&["alias", "add", "second", "chat"]);
}

/// Bytes of somebody who died in the middle of a line.
fn torn(place: &Place) {
    chat(place);
    let mut log = std::fs::read(place.log("chat")).unwrap();
    log.extend_from_slice(b"{\"role\":\"user\",\"content\":\"half a li");
    std::fs::write(place.log("chat"), log).unwrap();
}

fn file(place: &Place) {
    chat(place);
    place.write("work/native.jsonl", NATIVE);
}

fn folder(place: &Place) {
    chat(place);
    for name in ["first", "second", "third"] {
        place.write(&format!("work/many/{name}.jsonl"), NATIVE.replace("native", name));
    }
}

/// What most entries have in common.
const BASE: Operation = Operation {
    name: "",
    prepare: chat,
    arguments: &[],
    input: "",
    session: Some("chat"),
    between: Between::Whole,
    brings: ("", ""),
    again: &[],
    destroys: false,
};

/// A session of which the first exchanges are in the archive.
fn packed(place: &Place) {
    let at = "\"at\":\"2026-11-01T10:00:00Z\"";
    let mut taken = NATIVE
        .lines()
        .skip(1)
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    taken.push_str(&format!(
        "{{\"type\":\"truncate\",\"id\":\"evt_cut\",{at},\"before\":\"w3\"}}\n"
    ));
    let mut log: String = NATIVE.replace("\"native\"", "\"chat\"");
    log = log
        .lines()
        .enumerate()
        .filter(|(nth, _)| ![1, 2].contains(nth))
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    let bytes = taken.len();
    log.push_str(&format!(
        "{{\"type\":\"gc\",\"id\":\"evt_gc\",{at},\"lines\":3,\"bytes\":{bytes},\"discarded\":false}}\n"
    ));
    place.write("work/chat.jsonl", log);
    place.sets_up(&["migrate", "chat.jsonl"]);
    let run = format!(
        "{{\"type\":\"archive\",\"id\":\"evt_gc\",{at},\"of\":6,\"taken\":[[2,3],[6,6]],\"made\":[],\"bytes\":{bytes}"
    );
    let sum = convo::model::key::sha256(format!("{run}}}\n{taken}").as_bytes());
    let run = format!("{run},\"sha256\":\"{sum}\"}}\n{taken}");
    place.write("store/archive/chat.jsonl", run);
}

/// The same, cut once more.
fn packed_and_cut(place: &Place) {
    packed(place);
    place.sets_up(&["truncate", "chat", "--all"]);
}

/// A flipped bit, a line of somebody's, and a torn end.
fn damaged(place: &Place) {
    chat(place);
    let mut log = std::fs::read(place.log("chat")).unwrap();
    log[150] ^= 1;
    log.extend_from_slice(b"by hand\n{\"role\":\"user\",\"content\":\"half");
    std::fs::write(place.log("chat"), log).unwrap();
}

/// A PicoClaw session of which two lines are out of view.
fn pair(place: &Place) {
    let line = |nth: u32| {
        let role = ["assistant", "user"][nth as usize % 2];
        format!(
            "{{\"role\":\"{role}\",\"content\":\"text {nth}\",\"created_at\":\"2026-01-0{nth}T00:00:00Z\"}}\n"
        )
    };
    place.write("work/pair/x.jsonl", (1..7).map(line).collect::<String>());
    let sidecar = "{\n  \"key\": \"x\",\n  \"summary\": \"\",\n  \"skip\": 2,\n  \"count\": 6,\n  \"created_at\": \"2026-01-01T00:00:00Z\",\n  \"updated_at\": \"2026-01-05T00:00:00Z\"\n}";
    place.write("work/pair/x.meta.json", sidecar);
}

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "new",
        arguments: &["new", "--id", "two", "--system", "Be brief."],
        session: Some("two"),
        brings: ("store/sessions/two.jsonl", "Be brief."),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "new in no store",
        prepare: |_| {},
        arguments: &["new", "--id", "two"],
        session: Some("two"),
        brings: ("store/sessions/two.jsonl", "\"two\""),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "new --alias",
        arguments: &["new", "--id", "two", "--alias", "zwei"],
        session: Some("two"),
        between: Between::Files,
        brings: ("store/aliases/zwei", "two"),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "append",
        arguments: &["append", "chat", "hello"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"hello\""),
        ..BASE
    },
    Operation {
        name: "append a long text",
        arguments: &["append", "chat", LONG],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "xxxxx\""),
        ..BASE
    },
    Operation {
        name: "append --event",
        arguments: &["append", "trip", "--event", "The build turned red."],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "turned red"),
        ..BASE
    },
    Operation {
        name: "append behind a torn line",
        prepare: torn,
        arguments: &["append", "chat", "hello"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"hello\""),
        ..BASE
    },
    Operation {
        name: "append --stream",
        arguments: &["append", "chat", "--stream"],
        input: STREAM,
        between: Between::Lines,
        brings: ("store/sessions/chat.jsonl", "\"five\""),
        ..BASE
    },
    Operation {
        name: "truncate",
        arguments: &["truncate", "chat", "--keep-last", "1"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"truncate\""),
        ..BASE
    },
    Operation {
        name: "restore a cut",
        prepare: cut,
        arguments: &["restore", "chat"],
        between: Between::Appended,
        brings: ("store/sessions/chat.jsonl", "\"type\":\"restore\""),
        again: &[1],
        ..BASE
    },
    Operation {
        name: "restore a session",
        prepare: removed,
        arguments: &["restore", "chat"],
        between: Between::Moved,
        brings: ("store/sessions/chat.jsonl", "three?"),
        again: &[1, 73],
        ..BASE
    },
    Operation {
        name: "remove",
        arguments: &["remove", "chat"],
        between: Between::Moved,
        brings: ("store/trash/chat.20261120T180203Z.jsonl", "three?"),
        again: &[66],
        ..BASE
    },
    Operation {
        name: "remove --purge",
        prepare: twice,
        arguments: &["remove", "--purge", "chat"],
        between: Between::Files,
        again: &[66],
        destroys: true,
        ..BASE
    },
    Operation {
        name: "alias add",
        arguments: &["alias", "add", "second", "chat"],
        brings: ("store/aliases/second", "chat"),
        ..BASE
    },
    Operation {
        name: "alias remove",
        prepare: aliased,
        arguments: &["alias", "remove", "second"],
        again: &[66],
        ..BASE
    },
    Operation {
        name: "migrate a file",
        prepare: file,
        arguments: &["migrate", "native.jsonl"],
        session: Some("native"),
        brings: ("store/sessions/native.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate a folder",
        prepare: folder,
        arguments: &["migrate", "--jobs", "1", "many"],
        session: Some("second"),
        between: Between::Each,
        brings: ("store/sessions/third.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate --mark",
        prepare: folder,
        arguments: &["migrate", "--jobs", "1", "--mark", "many"],
        session: Some("second"),
        between: Between::Each,
        brings: ("work/many/third.jsonl.migrated", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "migrate --out",
        prepare: folder,
        arguments: &["migrate", "--jobs", "1", "--out", "native", "many"],
        session: None,
        between: Between::Each,
        brings: ("work/native/third.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "truncate -i",
        prepare: file,
        arguments: &["truncate", "native.jsonl", "-i", "--keep-last", "1"],
        session: None,
        brings: ("work/native.jsonl", "And tomorrow?"),
        ..BASE
    },
    Operation {
        name: "truncate -i=.bak",
        prepare: file,
        arguments: &["truncate", "native.jsonl", "-i=.bak", "--keep-last", "1"],
        session: None,
        between: Between::Files,
        brings: ("work/native.jsonl.bak", "Weather?"),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "gc",
        prepare: cut,
        arguments: &["gc", "chat"],
        between: Between::Files,
        brings: ("store/archive/chat.jsonl", "two?"),
        ..BASE
    },
    Operation {
        name: "gc --discard",
        prepare: packed_and_cut,
        arguments: &["gc", "chat", "--discard"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "\"discarded\":true"),
        destroys: true,
        ..BASE
    },
    Operation {
        name: "gc --discard of the archive alone",
        prepare: packed,
        arguments: &["gc", "chat", "--discard"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "\"destroyed\":[\"evt_gc\"]"),
        destroys: true,
        ..BASE
    },
    Operation {
        name: "restore a gc",
        prepare: packed,
        arguments: &["restore", "chat", "evt_gc"],
        between: Between::Files,
        brings: ("store/sessions/chat.jsonl", "Weather?"),
        again: &[1],
        ..BASE
    },
    Operation {
        name: "fsck --repair",
        prepare: damaged,
        arguments: &["fsck", "--repair", "chat"],
        between: Between::Files,
        brings: ("store/quarantine/chat.jsonl", "by hand"),
        ..BASE
    },
    Operation {
        name: "append -i to a pair",
        prepare: pair,
        arguments: &["append", "pair/x.jsonl", "-i", "hello"],
        session: None,
        between: Between::Books,
        brings: ("work/pair/x.jsonl", "hello"),
        ..BASE
    },
    Operation {
        name: "truncate -i of a pair",
        prepare: pair,
        arguments: &["truncate", "pair/x.jsonl", "-i", "--keep-last", "1"],
        session: None,
        brings: ("work/pair/x.meta.json", "\"skip\": 4"),
        ..BASE
    },
    Operation {
        name: "gc -i of a pair",
        prepare: pair,
        arguments: &["gc", "-i", "pair/x.jsonl"],
        session: None,
        between: Between::View,
        brings: ("work/pair/.convo/archive/x.jsonl", "text 2"),
        ..BASE
    },
    Operation {
        name: "truncate -o",
        prepare: file,
        arguments: &["truncate", "-", "--keep-last", "1", "-o", "out.jsonl"],
        input: NATIVE,
        session: None,
        brings: ("work/out.jsonl", "And tomorrow?"),
        ..BASE
    },
];
