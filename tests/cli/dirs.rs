//! Tests directories of other systems in place: `convo fsck DIR` and `convo list DIR`.

mod names;

use crate::env::{CHAT, Env};

fn line(text: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{text}\",\"created_at\":\"2026-03-01T09:00:00Z\"}}")
}

fn sidecar(key: &str, skip: u64, count: u64, aliases: &str) -> String {
    format!(
        "{{\"key\":\"{key}\",\"summary\":\"\",\"skip\":{skip},\"count\":{count},\"aliases\":[{aliases}]}}"
    )
}

/// A directory with one problem of each kind.
fn picoclaw() -> Env {
    let env = Env::new();
    let reasoning = r#"{"role":"assistant","content":"","reasoning_content":"hm"}"#;
    let call = r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","content":"r","tool_call_id":"c2"}"#;
    env.write("p/good.jsonl", line("fine") + "\n");
    env.write("p/good.meta.json", sidecar("good", 0, 1, "\"both\""));
    env.write(
        "p/lines.jsonl",
        format!(
            "\u{feff}{}\nhalf a {}\nno json\n{reasoning}\n{call}\n{result}\n{}",
            line("marked"),
            line("glued"),
            line("no end")
        ),
    );
    env.write("p/lines.meta.json", sidecar("lines", 0, 2, "\"both\""));
    env.write("p/skips.jsonl", line("hidden") + "\n");
    env.write("p/skips.meta.json", sidecar("other", 5, 1, ""));
    env.write("p/lone.jsonl", line("not listed") + "\n");
    env.write("p/broken.jsonl", line("shown") + "\n");
    env.write("p/broken.meta.json", "{no json");
    env.write("p/gone.meta.json", sidecar("gone", 0, 3, ""));
    env.write("p/.tmp-42-1", "half");
    env
}

#[test]
fn problems_in_a_picoclaw_directory_are_reported() {
    let env = picoclaw();
    snapshot!("fsck_picoclaw", env.run(&["fsck", "p"]).status(1));
    let run = env.run(&["fsck", "--json", "p"]).status(1);
    let rows = run.objects();
    assert!(
        rows.iter()
            .all(|row| row["schema"] == "convo.fsck/1" && row["file"].is_string()),
        "{run}"
    );
    let glued = rows.iter().find(|row| row["trouble"] == "glued").unwrap();
    assert_eq!(
        (glued["line"].as_u64(), glued["file"].as_str()),
        (Some(2), Some("p/lines.jsonl"))
    );
}

#[test]
fn repairs_save_the_original_and_change_nothing_else() {
    let env = picoclaw();
    let (lines, good) = (env.read("p/lines.jsonl"), env.read("p/good.jsonl"));
    snapshot!(
        "fsck_picoclaw_repair",
        env.run(&["fsck", "--repair", "p"]).status(1)
    );
    assert_eq!(env.read("p/.convo/quarantine/lines.jsonl"), lines);
    assert_eq!(env.read("p/.convo/quarantine/broken.meta.json"), "{no json");
    assert_eq!(env.read("p/.convo/quarantine/.tmp-42-1"), "half");
    assert_eq!(
        (env.read("p/good.jsonl"), env.read("p/good.meta.json")),
        (good, sidecar("good", 0, 1, "\"both\""))
    );
    let now = env.read("p/lines.jsonl");
    assert!(
        now.starts_with(&line("marked")) && now.ends_with(&(line("no end") + "\n")),
        "{now}"
    );
    assert!(
        now.contains(&format!("half a \n{}\nno json\n", line("glued"))),
        "{now}"
    );
    // Only problems without a known repair remain, and a second repair finds the same.
    let left = |run: &crate::env::Run| run.out().lines().count();
    let first = env.run(&["fsck", "p"]).status(1);
    let again = env.run(&["fsck", "--repair", "p"]).status(1);
    assert_eq!((left(&first), env.read("p/lines.jsonl")), (left(&again), now));
    // An appended message is in the view.
    env.run(&["append", "p/skips.jsonl", "-i", "new"]).status(0);
    assert!(env.run(&["context", "-q", "p/skips.jsonl"]).out().contains("new"));
}

/// Three sessions, of which one is damaged and one has a dangling link.
fn penguin() -> Env {
    let session = |id: &str, metadata: &str| {
        format!(
            r#"{{"id":"{id}","created_at":"2026-03-01T09:00:00","last_active":"2026-03-01T09:00:00","metadata":{{{metadata}}},"messages":[{{"role":"user","content":"hello {id}","category":"DIALOG","id":"m1","timestamp":"2026-03-01T09:00:00","metadata":{{}}}}]}}"#
        )
    };
    let name = |nth: u32| format!("session_20260301_09000{nth}_0000000{nth}");
    let env = Env::new();
    let link = format!(r#""continued_from":"{}","continuation_index":1"#, name(7));
    env.write(&format!("c/{}.json", name(1)), session(&name(1), ""));
    env.write(&format!("c/{}.json", name(2)), session(&name(2), &link));
    env.write(&format!("c/{}.json", name(3)), &session(&name(3), "")[..150]);
    env.write(&format!("c/{}.json.bak", name(3)), session(&name(3), ""));
    env.write(&format!("c/{}.json.bak", name(4)), session(&name(4), ""));
    env.write(
        &format!("c/planner/{}.json", name(5)),
        session(&name(5), r#""title":"Plans""#),
    );
    env.write("c/package.json", r#"{"name":"x","version":"1.0.0"}"#);
    env.write("c/session_index.json.temp", "{");
    let rows = format!(r#"{{"{}":{{}},"{}":{{}},"{}":{{}}}}"#, name(1), name(3), name(9));
    env.write("c/session_index.json", rows);
    env
}

#[test]
fn problems_in_a_penguin_directory_are_reported_and_repaired() {
    let env = penguin();
    snapshot!("fsck_penguin", env.run(&["fsck", "c"]).status(1));
    let damaged = env.read("c/session_20260301_090003_00000003.json");
    env.run(&["fsck", "--repair", "c"]).status(1);
    assert_eq!(
        env.read("c/.convo/quarantine/session_20260301_090003_00000003.json"),
        damaged
    );
    snapshot!("fsck_penguin_repaired", env.run(&["fsck", "c"]).status(1));
    for nth in [3, 4] {
        let path = format!("c/session_20260301_09000{nth}_0000000{nth}.json");
        assert!(
            env.run(&["context", "-q", &path])
                .status(0)
                .out()
                .contains("hello session")
        );
    }
}

#[test]
fn a_directory_of_another_system_is_listed() {
    let env = penguin();
    snapshot!("list_penguin", env.run(&["list", "-q", "./c"]).status(65));
    let env = picoclaw();
    snapshot!("list_picoclaw", env.run(&["list", "-q", "./p"]).status(65));
    let rows = env.run(&["list", "-q", "--json", "./p"]).objects();
    let good = rows.iter().find(|row| row["id"] == "good").unwrap();
    assert_eq!(good["aliases"][0], "both");
    env.write("mixed/a.jsonl", CHAT);
    env.write("mixed/notes.json", "{\"a\":1}");
    env.write("mixed/deep/b.jsonl", CHAT.replace("\"trip\"", "\"deep\""));
    let run = env.run(&["list", "./mixed"]).fine();
    assert_eq!(run.out().lines().count(), 2, "{run}");
}

#[test]
fn a_directory_of_no_known_system_is_reported() {
    let env = Env::new();
    env.write("d/notes.txt", "x");
    env.run(&["fsck", "d"])
        .status(2)
        .says("not a directory of a known system: contains no session");
    env.run(&["fsck", "d", "--from", "native"])
        .status(2)
        .says("this format has no directories");
    env.run(&["fsck", "--from", "picoclaw", "d"]).status(0);
    env.run(&["fsck", "./x.jsonl"])
        .status(2)
        .says("fsck requires stored sessions or directories, not files");
    let env = Env::with_chat();
    env.write("p/s.jsonl", line("x"));
    env.run(&["fsck", "trip", "p"])
        .status(2)
        .says("cannot mix stored sessions with directories");
}

#[test]
fn file_names_alone_do_not_identify_a_system() {
    let env = Env::new();
    env.write("logs/trip.jsonl", CHAT);
    env.write(
        "docs/session_1.json",
        r#"{"version": 1, "health": "healthy", "summary": "", "turns": []}"#,
    );
    for dir in ["./logs", "./docs"] {
        env.run(&["fsck", dir])
            .status(2)
            .says("give the system with --from picoclaw or --from penguin");
    }
    // Damaged files, and files that do not identify their system, are listed by name.
    env.write(
        "bare/x.jsonl",
        "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"us",
    );
    env.run(&["fsck", "./bare"]).status(1);
    env.write(
        "torn/session_20260820_090001_cd613e30.json",
        "{\"id\": \"session_2026",
    );
    env.run(&["fsck", "./torn"]).status(1);
}

#[test]
fn a_bare_name_of_a_directory_gets_a_hint() {
    let env = Env::with_chat();
    env.write("logs/trip.jsonl", CHAT);
    env.run(&["list", "logs"])
        .status(66)
        .says("hint: list the directory of this name with: convo list ./logs");
    env.run(&["list", "elsewhere"]).status(66);
}
