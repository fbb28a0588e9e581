//! Operations on sessions of other programs.

use super::place::Place;
use super::prepare::file;
use super::scenario::{BASE, Between, Operation};

const SESSION: &str = "home/.claude/projects/-src-api/5d1f0a4e-0000-4000-8000-000000000001.jsonl";
const DOCUMENT: &str = "home/.continue/sessions/6b21fe4d-ed91-4e99-853e-81590a73845c.json";

/// Lines of a Claude Code session.
fn lines(count: u32) -> String {
    let line = |nth: u32| {
        let (role, parent) = match nth {
            1 => ("user", "null".to_string()),
            _ => (
                ["user", "assistant"][nth as usize % 2],
                format!("\"u{}\"", nth - 1),
            ),
        };
        format!(
            "{{\"uuid\":\"u{nth}\",\"parentUuid\":{parent},\"sessionId\":\"5d1f0a4e-0000-4000-8000-000000000001\",\"cwd\":\"/src/api\",\"version\":\"2.0.0\",\"type\":\"{role}\",\"timestamp\":\"2026-11-01T10:00:0{nth}Z\",\"userType\":\"external\",\"isSidechain\":false,\"message\":{{\"role\":\"{role}\",\"content\":\"text {nth}\"}}}}\n"
        )
    };
    (1..=count).map(line).collect()
}

/// A Claude Code session with a file next to it, and the program's history.
fn claude(place: &Place) {
    place.write(SESSION, lines(3));
    place.write(
        SESSION.replace(".jsonl", "/tool-results/x.txt").as_str(),
        "result\n",
    );
    place.write("home/.claude/history.jsonl", "{\"project\":\"/src/api\"}\n");
}

/// The session after its project moved to `/usr`, which exists on every machine.
const MOVED: &str = "home/.claude/projects/-usr/5d1f0a4e-0000-4000-8000-000000000001.jsonl";

/// Sessions of two programs in one project.
fn moved(place: &Place) {
    claude(place);
    place.write(
        "home/.pi/agent/sessions/--src-api--/t_p.jsonl",
        "{\"type\":\"session\",\"version\":3,\"id\":\"p\",\"cwd\":\"/src/api\"}\n",
    );
    place.write(
        "home/.gemini/projects.json",
        "{\"projects\":{\"/src/api\":\"api\"}}\n",
    );
}

pub fn archives(place: &Place) {
    place.sets_up(&["archive", "--to", "kept", "-q"]);
}

fn document(messages: &str) -> String {
    format!("{{\"history\":[{{\"role\":\"user\",\"content\":\"Weather?\"}}{messages}]}}\n")
}

/// Progress lines.
fn ticks() -> String {
    "{\"type\":\"progress\",\"uuid\":\"p1\",\"parentUuid\":\"u3\",\"sessionId\":\"5d1f0a4e-0000-4000-8000-000000000001\",\"data\":\"tick\"}\n".to_string()
}

fn details(place: &Place) {
    claude(place);
    place.write(SESSION, lines(3) + &ticks());
}

pub const HOMES: &[Operation] = &[
    Operation {
        name: "archive",
        prepare: claude,
        arguments: &["archive", "--to", "kept"],
        session: None,
        between: Between::Kept,
        brings: (
            "work/kept/claude-code/5d1f0a4e-0000-4000-8000-000000000001/manifest.jsonl",
            "\"new\"",
        ),
        ..BASE
    },
    Operation {
        name: "archive what grew",
        prepare: |place| {
            claude(place);
            archives(place);
            place.write(SESSION, lines(5));
        },
        arguments: &["archive", "--to", "kept"],
        session: None,
        between: Between::Kept,
        brings: (
            "work/kept/claude-code/5d1f0a4e-0000-4000-8000-000000000001/manifest.jsonl",
            "\"grown\"",
        ),
        ..BASE
    },
    Operation {
        name: "archive what was rewritten",
        prepare: |place| {
            claude(place);
            archives(place);
            place.write(SESSION, lines(2).replace("text", "another text"));
        },
        arguments: &["archive", "--to", "kept"],
        session: None,
        between: Between::Kept,
        brings: (
            "work/kept/claude-code/5d1f0a4e-0000-4000-8000-000000000001/2/projects/-src-api/5d1f0a4e-0000-4000-8000-000000000001.jsonl",
            "another text 2",
        ),
        ..BASE
    },
    Operation {
        name: "archive a document",
        prepare: |place| {
            place.write(DOCUMENT, document(""));
            archives(place);
            place.write(
                DOCUMENT,
                document(",{\"role\":\"assistant\",\"content\":\"Sunny.\"}"),
            );
        },
        arguments: &["archive", "--to", "kept"],
        session: None,
        between: Between::Kept,
        brings: (
            "work/kept/continue/6b21fe4d-ed91-4e99-853e-81590a73845c/2/6b21fe4d-ed91-4e99-853e-81590a73845c.json",
            "Sunny.",
        ),
        ..BASE
    },
    Operation {
        name: "archive --give-back",
        prepare: |place| {
            claude(place);
            archives(place);
            std::fs::remove_dir_all(place.root().join("home/.claude/projects")).unwrap();
        },
        arguments: &["archive", "--to", "kept", "--give-back", "claude:5d1f0a4e"],
        session: None,
        between: Between::Steps,
        brings: (SESSION, "text 3"),
        // Recently changed sessions count as in use.
        again: &[75],
        ..BASE
    },
    Operation {
        name: "handoff --install",
        prepare: file,
        arguments: &[
            "handoff",
            "native.jsonl",
            "--to",
            "codex",
            "--install",
            "--project",
            "/",
            "--id",
            "0198d7c2-0000-7000-8000-00000000abcd",
        ],
        session: None,
        between: Between::Steps,
        brings: (
            "home/.codex/sessions/2026/11/20/rollout-2026-11-20T18-02-03-0198d7c2-0000-7000-8000-00000000abcd.jsonl",
            "And tomorrow?",
        ),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "handoff --install with an index",
        prepare: |place| {
            file(place);
            let list = "[\n  {\"sessionId\":\"other\"}\n]\n";
            place.write("home/.continue/sessions/sessions.json", list);
        },
        arguments: &[
            "handoff",
            "native.jsonl",
            "--to",
            "continue",
            "--install",
            "--project",
            "/",
            "--id",
            "0198d7c2-0000-4000-8000-00000000abcd",
        ],
        session: None,
        between: Between::Steps,
        brings: ("home/.continue/sessions/sessions.json", "0198d7c2"),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "slim -i",
        prepare: details,
        arguments: &["slim", "-i", "claude:5d1f0a4e"],
        session: None,
        between: Between::Copied,
        brings: (SESSION, "text 3"),
        ..BASE
    },
    Operation {
        name: "slim -i with a backup",
        prepare: |place| place.write("work/s.jsonl", lines(3) + &ticks()),
        arguments: &["slim", "-i=.bak", "s.jsonl"],
        session: None,
        between: Between::Files,
        brings: ("work/s.jsonl.bak", "tick"),
        again: &[73],
        ..BASE
    },
    Operation {
        name: "slim --undo",
        prepare: |place| {
            details(place);
            place.sets_up(&["slim", "-i", "claude:5d1f0a4e"]);
        },
        arguments: &["slim", "--undo", "claude:5d1f0a4e"],
        session: None,
        brings: (SESSION, "tick"),
        ..BASE
    },
    Operation {
        name: "relocate",
        prepare: moved,
        arguments: &["relocate", "/src/api", "/usr"],
        session: None,
        between: Between::Parts,
        brings: (MOVED, "\"cwd\":\"/usr\""),
        again: &[1],
        ..BASE
    },
    Operation {
        name: "relocate --undo",
        prepare: |place| {
            moved(place);
            place.sets_up(&["relocate", "/src/api", "/usr"]);
        },
        arguments: &["relocate", "--undo"],
        session: None,
        between: Between::Parts,
        brings: (SESSION, "\"cwd\":\"/src/api\""),
        again: &[1],
        ..BASE
    },
];
