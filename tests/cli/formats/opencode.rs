//! opencode's exports: read, changed in place, made of any session.

use crate::env::{CHAT, Env};

const EXPORT: &str = include_str!("../../../src/format/opencode/tests/document.json");

#[test]
fn steps_results_and_a_compaction_are_read() {
    let env = Env::new();
    env.write("tray.json", EXPORT);
    env.run(&["detect", "tray.json"]).fine().gives("opencode\n");
    let lines = env.run(&["cat", "tray.json"]).fine().objects();
    assert_eq!(lines[0]["title"], "Trays");
    assert_eq!(lines[0]["metadata"]["lineage"]["kind"], "child");
    assert_eq!(lines.iter().filter(|line| line["role"] == "tool").count(), 2);
    assert_eq!(lines.iter().filter(|line| line["type"] == "summary").count(), 1);
    env.run(&["count", "tray.json"]).fine();
    env.run(&["cat", "--to", "opencode", "tray.json"])
        .fine()
        .gives(EXPORT);
    let stream = env.run(&["cat", "tray.json"]).fine();
    let made = env
        .pipe(&["cat", "--to", "opencode", "--strict"], stream.out())
        .fine();
    let (made, was): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(made.out()).unwrap(),
        serde_json::from_str(EXPORT).unwrap(),
    );
    assert_eq!(made, was);
}

#[test]
fn a_cut_is_added_and_touches_nothing() {
    let env = Env::new();
    env.write("tray.json", EXPORT);
    env.run(&["truncate", "--keep-last", "1", "-i", "tray.json"])
        .fine();
    let after = env.read("tray.json");
    assert!(after.starts_with(EXPORT.trim_end().strip_suffix("\n  ]\n}").unwrap()));
    let document: serde_json::Value = serde_json::from_str(&after).unwrap();
    let messages = document["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 13);
    assert_eq!(messages[11]["parts"][0]["tail_start_id"], "msg_11");
    assert_eq!(messages[12]["info"]["summary"], true);
    env.run(&["truncate", "--keep-last", "1", "-i", "tray.json"])
        .fine();
    assert_eq!(env.read("tray.json"), after);
}

#[test]
fn an_edit_touches_its_message_alone() {
    let env = Env::new();
    env.write("tray.json", EXPORT);
    env.run(&["append", "-i", "tray.json", "One more"]).fine();
    let after = env.read("tray.json");
    assert!(after.starts_with(EXPORT.trim_end().strip_suffix("\n  ]\n}").unwrap()));
    assert!(after.contains("One more"));
    env.run(&["compact", "--budget", "100", "-i", "tray.json"])
        .status(0);
    env.run(&["check", "--for", "anthropic", "tray.json"]);
    serde_json::from_str::<serde_json::Value>(&env.read("tray.json")).unwrap();
}

#[test]
fn any_session_is_an_export() {
    let env = Env::new();
    let made = env.pipe(&["cat", "-q", "--to", "opencode"], CHAT).fine();
    let document: serde_json::Value = serde_json::from_str(made.out()).unwrap();
    assert!(document["info"]["id"].as_str().unwrap().starts_with("ses_"));
    for message in document["messages"].as_array().unwrap() {
        assert!(message["info"]["id"].as_str().unwrap().starts_with("msg_"));
        let parts = message["parts"].as_array().unwrap();
        assert!(
            parts
                .iter()
                .all(|part| part["id"].as_str().unwrap().starts_with("prt_"))
        );
        assert!(message["info"]["role"] == "user" || message["info"]["finish"].is_string());
    }
    env.write("made.json", made.out());
    env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
    // The rules of the house have no place in it.
    env.pipe(&["cat", "--to", "opencode", "--strict"], CHAT)
        .status(65)
        .says("message: ");
}

#[test]
fn damage_is_told_with_its_place_and_nothing_is_changed() {
    let env = Env::new();
    let damaged = EXPORT.replace("\"And that\"", "And that");
    env.write("tray.json", &damaged);
    env.run(&["count", "--from", "opencode", "tray.json"])
        .status(65)
        .says("tray.json:31: byte ");
    for tenth in 0..10 {
        env.write("cut.json", &EXPORT[..EXPORT.len() * tenth / 10]);
        let run = env.run(&["count", "--from", "opencode", "cut.json"]);
        assert_eq!(run.status, 65, "{tenth}: {run}");
    }
    let cut = env.read("cut.json");
    env.run(&[
        "truncate",
        "--keep-last",
        "1",
        "-i",
        "--from",
        "opencode",
        "cut.json",
    ])
    .status(65);
    assert_eq!(env.read("cut.json"), cut);
    env.write("other.json", "{\"info\":{},\"list\":[]}");
    env.run(&["count", "--from", "opencode", "other.json"])
        .status(65)
        .says("no messages");
}

#[test]
fn a_session_of_the_older_folder_is_read_with_what_belongs_to_it() {
    let env = Env::new();
    let storage = env.work().join("storage");
    let export: serde_json::Value = serde_json::from_str(EXPORT).unwrap();
    let write = |path: String, record: &serde_json::Value| {
        let path = storage.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, serde_json::to_string_pretty(record).unwrap()).unwrap();
    };
    write("session/p/ses_1.json".to_string(), &export["info"]);
    for message in export["messages"].as_array().unwrap() {
        let id = message["info"]["id"].as_str().unwrap();
        write(format!("message/ses_1/{id}.json"), &message["info"]);
        for part in message["parts"].as_array().unwrap() {
            write(format!("part/{id}/{}.json", part["id"].as_str().unwrap()), part);
        }
    }
    let file = "storage/session/p/ses_1.json";
    env.run(&["detect", file]).fine().gives("opencode\n");
    let made = env.run(&["cat", "--to", "opencode", file]).fine();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(made.out()).unwrap(),
        export
    );
    env.run(&["count", file]).fine();
    let before = env.read(file);
    env.run(&["truncate", "--keep-last", "1", "-i", file])
        .status(2)
        .says("only read");
    env.run(&["append", "-i", file, "x"]).status(2).says("only read");
    assert_eq!(env.read(file), before);
    // A record alone is none, and says so.
    env.run(&["count", "storage/message/ses_1/msg_01.json"])
        .status(65)
        .says("a record of opencode's storage folder");
    env.run(&["migrate", "-r", "storage/session"]).status(0);
}
