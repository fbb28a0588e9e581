//! Tests opencode exports: reading, changes in place, conversion from any session.

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
    let built = env
        .pipe(&["cat", "--to", "opencode", "--strict"], stream.out())
        .fine();
    let (built, was): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(built.out()).unwrap(),
        serde_json::from_str(EXPORT).unwrap(),
    );
    assert_eq!(built, was);
}

#[test]
fn a_cut_adds_an_element_and_changes_none() {
    let env = Env::new();
    env.write("tray.json", EXPORT);
    env.run(&["truncate", "--keep-last", "1", "-i", "tray.json"])
        .status(0);
    let after = env.read("tray.json");
    assert!(after.starts_with(EXPORT.trim_end().strip_suffix("\n  ]\n}").unwrap()));
    let document: serde_json::Value = serde_json::from_str(&after).unwrap();
    let messages = document["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 13);
    assert_eq!(messages[11]["parts"][0]["tail_start_id"], "msg_11");
    assert_eq!(messages[12]["info"]["summary"], true);
    env.run(&["truncate", "--keep-last", "1", "-i", "tray.json"])
        .status(0);
    assert_eq!(env.read("tray.json"), after);
}

#[test]
fn an_edit_changes_only_its_message() {
    let env = Env::new();
    env.write("tray.json", EXPORT);
    let before = env.run(&["check", "--for", "anthropic", "tray.json"]);
    let before = before.status(1).out().to_string();
    env.run(&["append", "-i", "tray.json", "One more"]).fine();
    let after = env.read("tray.json");
    assert!(after.starts_with(EXPORT.trim_end().strip_suffix("\n  ]\n}").unwrap()));
    assert!(after.contains("One more"));
    env.run(&["compact", "--budget", "100", "-i", "tray.json"])
        .status(0);
    // The pending call was already pending before.
    env.run(&["check", "--for", "anthropic", "tray.json"])
        .status(1)
        .gives(&before);
    serde_json::from_str::<serde_json::Value>(&env.read("tray.json")).unwrap();
}

#[test]
fn any_session_is_an_export() {
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "opencode"], CHAT).fine();
    let document: serde_json::Value = serde_json::from_str(built.out()).unwrap();
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
    env.write("made.json", built.out());
    env.run(&["cat", "-q", "--to", "openai-chat", "made.json"]).fine();
    // The format has no place for instructions.
    env.pipe(&["cat", "--to", "opencode", "--strict"], CHAT)
        .status(65)
        .says("messages (");
}

#[test]
fn damage_is_reported_with_position_and_blocks_changes() {
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
        "truncate", "--keep-last", "1", "-i", "--from", "opencode", "cut.json",
    ])
    .status(65);
    assert_eq!(env.read("cut.json"), cut);
    env.write("other.json", "{\"info\":{},\"list\":[]}");
    env.run(&["count", "--from", "opencode", "other.json"])
        .status(65)
        .says("no messages");
}

#[test]
fn a_session_of_the_older_storage_is_assembled() {
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
    let built = env.run(&["cat", "--to", "opencode", file]).fine();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(built.out()).unwrap(),
        export
    );
    env.run(&["count", file]).fine();
    let before = env.read(file);
    env.run(&["truncate", "--keep-last", "1", "-i", file])
        .status(2)
        .says("read-only");
    env.run(&["append", "-i", file, "x"]).status(2).says("read-only");
    assert_eq!(env.read(file), before);
    // A single record is not a session, and the error says so.
    env.run(&["count", "storage/message/ses_1/msg_01.json"])
        .status(65)
        .says("a record of opencode's storage directory");
    env.run(&["migrate", "-r", "storage/session"]).status(0);
}

/// A long session of exchanges with calls and ascending times.
fn long() -> String {
    let exchange = |nth: usize| {
        let at = |second: usize| format!("2026-01-02T03:{:02}:{second:02}Z", 10 + nth);
        format!(
            concat!(
                r#"{{"role":"user","content":"question {n} {u}","timestamp":"{a}"}}"#,
                "\n",
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"read","arguments":"{{\"p\":{n}}}"}}}}],"timestamp":"{b}"}}"#,
                "\n",
                r#"{{"role":"tool","tool_call_id":"c{n}","content":"{d}","timestamp":"{c}"}}"#,
                "\n",
                r#"{{"role":"assistant","content":"answer {n} {z}","timestamp":"{c}"}}"#,
                "\n"
            ),
            n = nth,
            u = "word ".repeat(80),
            d = "data ".repeat(300),
            z = "more ".repeat(40),
            a = at(0),
            b = at(1),
            c = at(2)
        )
    };
    (0..12).map(exchange).collect()
}

/// Whether the messages are in the program's order: by time, then by id.
fn is_sorted(document: &serde_json::Value) -> bool {
    let messages = document["messages"].as_array().unwrap();
    let key = |message: &serde_json::Value| {
        let info = &message["info"];
        (
            info["time"]["created"].as_i64().unwrap(),
            info["id"].as_str().unwrap().to_string(),
        )
    };
    messages.iter().map(key).is_sorted()
}

/// Documents converted from other sessions, and the same after changes in place.
fn documents(env: &Env) -> Vec<String> {
    let built = env.pipe(&["cat", "-q", "--to", "opencode"], long()).status(0);
    let mut documents = vec![
        env.pipe(&["cat", "-q", "--to", "opencode"], CHAT)
            .fine()
            .out()
            .to_string(),
        built.out().to_string(),
    ];
    for budget in ["1500", "3000", "5000"] {
        env.write("long.json", built.out());
        env.run(&["compact", "-q", "--budget", budget, "-i", "long.json"])
            .status(0);
        documents.push(env.read("long.json"));
        env.run(&[
            "summarize", "-q", "--with", "extract", "--keep-last", "2", "-i", "long.json",
        ])
        .status(0);
        documents.push(env.read("long.json"));
    }
    documents
}

#[test]
fn ids_of_inserted_messages_sort_in_view_order() {
    let env = Env::new();
    for document in documents(&env) {
        let value: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert!(is_sorted(&value), "{document}");
        let messages = value["messages"].as_array().unwrap();
        let answers = messages
            .iter()
            .filter(|message| message["info"]["summary"] == true);
        for answer in answers {
            let asks = messages
                .iter()
                .find(|message| message["info"]["id"] == answer["info"]["parentID"]);
            assert_eq!(asks.unwrap()["parts"][0]["type"], "compaction");
        }
    }
}

/// Members that the import requires. Source: opencode, its schemas of sessions, messages and parts.
#[test]
fn a_document_has_the_members_that_the_import_requires() {
    let env = Env::new();
    let has = |value: &serde_json::Value, names: &[&str]| {
        names
            .iter()
            .for_each(|name| assert!(value.get(name).is_some(), "{name}: {value}"));
    };
    for document in documents(&env) {
        let value: serde_json::Value = serde_json::from_str(&document).unwrap();
        has(
            &value["info"],
            &["id", "slug", "projectID", "directory", "title", "version", "time"],
        );
        for message in value["messages"].as_array().unwrap() {
            let info = &message["info"];
            has(info, &["id", "sessionID", "role", "time"]);
            match info["role"].as_str() {
                Some("user") => has(info, &["agent", "model"]),
                _ => has(
                    info,
                    &[
                        "parentID", "modelID", "providerID", "mode", "agent", "path", "cost", "tokens",
                    ],
                ),
            }
            for part in message["parts"].as_array().unwrap() {
                has(part, &["id", "sessionID", "messageID", "type"]);
            }
        }
    }
}

/// The program itself. It runs in directories of the test.
fn program(env: &Env) -> std::path::PathBuf {
    for name in ["data", "config", "cache", "state", "home"] {
        std::fs::create_dir_all(env.work().join(name)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join("opencode"))
        .find(|file| file.is_file())
        .expect("build.rs found it")
}

#[test]
#[cfg_attr(not(opencode), ignore = "needs opencode: see build.rs")]
fn opencode_imports_written_documents() {
    let env = Env::new();
    let program = program(&env);
    let run = |arguments: &[&str]| {
        let mut command = env.program(&program);
        for (name, dir) in [
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_STATE_HOME", "state"),
            ("HOME", "home"),
        ] {
            command.env(name, env.work().join(dir));
        }
        for name in ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"] {
            command.env(name, "1");
        }
        env.wait({
            command.args(arguments);
            command
        })
    };
    for (nth, document) in documents(&env).iter().enumerate() {
        let mut value: serde_json::Value = serde_json::from_str(document).unwrap();
        // An import only adds messages, so each document gets a new session id.
        let text = document.replace(value["info"]["id"].as_str().unwrap(), &format!("ses_{nth:026}"));
        let text = text
            .replace("\"msg_", &format!("\"msg_{nth}"))
            .replace("\"prt_", &format!("\"prt_{nth}"));
        value = serde_json::from_str(&text).unwrap();
        env.write("import.json", &text);
        let imported = run(&["import", "import.json"]).status(0);
        assert!(imported.out().contains("Imported session"), "{imported}");
        let exported = run(&["export", &format!("ses_{nth:026}")]).status(0);
        let exported: serde_json::Value = serde_json::from_str(exported.out()).unwrap();
        assert_eq!(exported["messages"], value["messages"]);
    }
}

#[test]
fn an_answer_remains_after_the_calls_that_precede_it() {
    let call = |id: &str, name: &str, text: &str| {
        format!(
            r#"{{"role":"assistant","content":{text},"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}
{{"role":"tool","tool_call_id":"{id}","content":"ok"}}
"#
        )
    };
    let said = [
        "{\"role\":\"user\",\"content\":\"q\"}\n",
        &call("c1", "Bash", "\"I run the tests.\""),
        &call("c2", "Edit", "null"),
        "{\"role\":\"assistant\",\"content\":\"All pass now.\"}\n",
    ]
    .concat();
    let env = Env::new();
    let built = env.pipe(&["cat", "-q", "--to", "opencode"], &said);
    env.write("oc.json", built.out());
    let ids = |file: &str| -> Vec<String> {
        let document: serde_json::Value = serde_json::from_str(file).unwrap();
        let parts = document["messages"][1]["parts"].as_array().unwrap();
        let of_kind = parts
            .iter()
            .filter(|part| part["type"] == "text" || part["type"] == "tool");
        of_kind.map(|part| part["id"].to_string()).collect()
    };
    let before = ids(&env.read("oc.json"));
    env.run(&["drop", "-q", "--tool", "Bash", "-i", "oc.json"]).fine();
    assert_eq!(ids(&env.read("oc.json")), before[2..]);
    let shown = env.run(&["show", "oc.json"]).fine().out().to_string();
    assert!(shown.find("Edit") < shown.find("All pass now."), "{shown}");
}
