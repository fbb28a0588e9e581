//! Operations on files and directories of other systems in place.

use super::place::Place;
use super::prepare::{chat, pair};
use super::scenario::{BASE, Between, Operation};

/// A Penguin session with a backup of its file before the last change.
fn penguin(place: &Place) {
    chat(place);
    let save = |name: &str| {
        let outcome = place.convo(&["cat", "chat", "--to", "penguin"]);
        place.write(&format!("work/conversations/{name}"), outcome.stdout);
    };
    save("chat.json.bak");
    place.sets_up(&["append", "chat", "four?"]);
    save("chat.json");
}

fn bytes(place: &Place, path: &str) -> Vec<u8> {
    std::fs::read(place.root().join(path)).unwrap()
}

/// A pair of files whose log ends with a partial line.
fn torn_pair(place: &Place) {
    pair(place);
    let mut log = bytes(place, "work/pair/x.jsonl");
    log.extend_from_slice(b"{\"role\":\"user\",\"content\":\"half");
    place.write("work/pair/x.jsonl", log);
}

/// A pair of files with long results, one of which a compaction removes.
fn worked_pair(place: &Place) {
    pair(place);
    let output = "row of the table; ".repeat(60);
    let mut log = bytes(place, "work/pair/x.jsonl");
    for nth in 1..3 {
        let call = format!(
            "{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":\"c{nth}\",\"type\":\"function\",\"function\":{{\"name\":\"read\",\"arguments\":\"{{}}\"}}}}]}}\n"
        );
        let result = format!("{{\"role\":\"tool\",\"content\":\"{output}\",\"tool_call_id\":\"c{nth}\"}}\n");
        let more = format!("{{\"role\":\"user\",\"content\":\"Look at {nth}.\"}}\n{call}{result}");
        log.extend_from_slice(more.as_bytes());
    }
    place.write("work/pair/x.jsonl", log);
}

pub const FOREIGN: &[Operation] = &[
    Operation {
        name: "truncate -i of a session of Penguin's",
        // The backup is a copy of the session before its change.
        prepare: penguin,
        arguments: &["truncate", "conversations/chat.json", "-i", "--keep-last", "1"],
        session: None,
        between: Between::Steps,
        brings: ("work/conversations/chat.json.bak", "four?"),
        ..BASE
    },
    Operation {
        name: "append -i to a session of Penguin's",
        prepare: penguin,
        arguments: &["append", "conversations/chat.json", "-i", "hello"],
        session: None,
        between: Between::Steps,
        brings: ("work/conversations/chat.json", "hello"),
        ..BASE
    },
    Operation {
        name: "compact -i of a pair",
        prepare: worked_pair,
        arguments: &["compact", "-i", "pair/x.jsonl", "--tiered", "--budget", "450"],
        session: None,
        between: Between::View,
        brings: ("work/pair/.convo/archive/x.jsonl", "row of the table"),
        ..BASE
    },
    Operation {
        name: "fsck --repair of a folder",
        prepare: torn_pair,
        arguments: &["fsck", "--repair", "--from", "picoclaw", "./pair"],
        session: None,
        between: Between::Files,
        // The partial line is now complete and reported.
        status: 1,
        brings: ("work/pair/.convo/quarantine/x.jsonl", "half"),
        ..BASE
    },
    Operation {
        name: "alias --picoclaw add",
        prepare: pair,
        arguments: &["alias", "--picoclaw", "pair", "add", "older", "x"],
        session: None,
        brings: ("work/pair/x.meta.json", "older"),
        ..BASE
    },
    Operation {
        name: "alias --picoclaw remove",
        prepare: |place| {
            pair(place);
            place.sets_up(&["alias", "--picoclaw", "pair", "add", "older", "x"]);
        },
        arguments: &["alias", "--picoclaw", "pair", "remove", "older"],
        session: None,
        again: &[66],
        ..BASE
    },
];
