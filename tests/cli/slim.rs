//! Tests `slim`, which removes data from sessions that is not needed to resume them.

use crate::agents::{FIRST, NOW, claude, home, homes, put};
use crate::env::{Env, Run};
use crate::sample_data;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, SystemTime};

const PATH: &str = ".claude/projects/-src-api/5d1f0a4e-0000-4000-8000-000000000001.jsonl";

/// A Claude Code line.
fn line(kind: &str, uuid: &str, parent: Option<&str>, more: Value) -> String {
    let mut line = json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": FIRST, "cwd": "/src/api", "version": "2.0.0",
        "timestamp": "2026-11-01T10:00:00Z", "userType": "external", "isSidechain": false,
    });
    line.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

fn message(role: &str, uuid: &str, parent: Option<&str>, content: Value) -> String {
    line(
        role,
        uuid,
        parent,
        json!({"message": {"role": role, "content": content}}),
    )
}

/// A session with each kind of removable data.
fn grown() -> Vec<String> {
    let tick = |uuid: &str, parent| {
        line(
            "progress",
            uuid,
            parent,
            json!({"data": {"text": "x".repeat(300)}}),
        )
    };
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.rs"}]);
    let shown =
        json!({"toolUseResult": {"stdout": "y".repeat(500)}, "message": {"role": "user", "content": result}});
    vec![
        tick("p0", None),
        message("user", "u1", Some("p0"), json!("List the files.")),
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": FIRST}).to_string() + "\n",
        message("assistant", "a1", Some("u1"), call),
        tick("p1", Some("a1")),
        tick("p2", Some("p1")),
        line("user", "r1", Some("p2"), shown),
        tick("p3", Some("r1")),
        message("assistant", "a2", Some("r1"), json!("There is  a.rs.")),
        message("assistant", "a2", Some("r1"), json!("There is  a.rs.")),
        json!({"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}).to_string() + "\n",
        json!({"type": "summary", "summary": "Files", "leafUuid": "p3"}).to_string() + "\n",
    ]
}

/// What a model would receive from a file.
fn context(env: &Env, path: &Path, api: &str) -> String {
    let run = env.run(&["context", "--to", api, path.to_str().unwrap()]);
    assert!(matches!(run.status, 0 | 1 | 2 | 65), "{run}");
    run.out().to_string()
}

fn slim(env: &Env, text: &str, more: &[&str]) -> Run {
    env.pipe(&[&["slim", "-q"], more].concat(), text)
}

#[test]
fn unneeded_data_of_claude_code_is_removed() {
    let env = Env::new();
    let lines = grown();
    let run = slim(&env, &lines.concat(), &[]).fine();
    let left: Vec<&str> = run.out().split_inclusive('\n').collect();
    // p0 is the root of other lines, and p3 is named as a leaf.
    let kept = [0, 1, 3, 6, 7, 8, 10, 11];
    assert_eq!(left.len(), kept.len(), "{run}");
    for (line, nth) in left.iter().zip(kept) {
        if nth == 6 {
            let mut value: Value = serde_json::from_str(&lines[6]).unwrap();
            value["parentUuid"] = "a1".into();
            value.as_object_mut().unwrap().remove("toolUseResult");
            assert_eq!(serde_json::from_str::<Value>(line).unwrap(), value);
        } else {
            assert_eq!(*line, lines[nth]);
        }
    }
    assert_eq!(
        slim(&env, run.out(), &[]).fine().out(),
        run.out(),
        "twice is once"
    );
    let (old, new) = (
        env.write("old.jsonl", lines.concat()),
        env.write("new.jsonl", run.out()),
    );
    assert_eq!(context(&env, &old, "anthropic"), context(&env, &new, "anthropic"));
    let only = slim(&env, &lines.concat(), &["--only", "file-history-snapshot"]).fine();
    assert_eq!(only.out(), [&lines[..10], &lines[11..]].concat().concat());
    let kept = slim(&env, &lines.concat(), &["--keep", "progress,copy,toolUseResult"]).fine();
    assert_eq!(kept.out(), [&lines[..2], &lines[3..]].concat().concat());
}

/// Progress lines that are linked to nothing or to each other, and copies that differ.
#[test]
fn unusual_chains_are_kept() {
    let env = Env::new();
    let text = [
        line("progress", "p1", Some("p2"), json!({})),
        line("progress", "p2", Some("p1"), json!({})),
        message("user", "u1", Some("p1"), json!("One")),
        line("progress", "p3", Some("nowhere"), json!({})),
        message("assistant", "a1", Some("p3"), json!("Two")),
        message("assistant", "a1", Some("p3"), json!("Three")),
        "{\"type\":\"progress\",\"uuid\"".to_string(),
    ]
    .concat();
    assert_eq!(slim(&env, &text, &["--from", "claude-code"]).fine().out(), text);
    let marked = format!("\u{feff}{}", grown().concat().replace('\n', "\r\n"));
    let run = slim(&env, &marked, &["--only", "toolUseResult"]).fine();
    assert_eq!(run.out().matches("\r\n").count(), 12);
    assert!(run.out().starts_with("\u{feff}{") && !run.out().contains("toolUseResult"));
}

fn codex(lines: &[Value]) -> String {
    let time = |mut line: Value| {
        line["timestamp"] = "2026-11-01T10:00:00.000Z".into();
        format!("{line}\n")
    };
    lines.iter().cloned().map(time).collect()
}

#[test]
fn unneeded_data_of_codex_is_removed() {
    let env = Env::new();
    let item = |role: &str, text: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
    };
    let record = |payload: Value| json!({"type": "response_item", "payload": payload});
    let event = |payload: Value| json!({"type": "event_msg", "payload": payload});
    let total = |tokens: u64| {
        event(
            json!({"type": "token_count", "info": {"total_token_usage": {"input_tokens": tokens, "total_tokens": tokens}}}),
        )
    };
    let compacted = |text: &str| json!({"type": "compacted", "payload": {"message": "", "replacement_history": [item("user", text)]}});
    let lines = [
        json!({"type": "session_meta", "payload": {"id": FIRST, "cwd": "/src/api", "model_provider": "openai"}}),
        record(item("user", "One")),
        event(json!({"type": "user_message", "message": "One"})),
        total(10),
        compacted("first history"),
        total(20),
        record(item("user", "Two")),
        event(json!({"type": "user_message", "message": "Two"})),
        event(json!({"type": "user_message", "message": "said on the screen alone"})),
        compacted("second history"),
        event(json!({"type": "exec_command_end", "call_id": "c1", "exit_code": 0})),
        total(5),
        record(item("assistant", "Three")),
        event(json!({"type": "agent_message", "message": "Three"})),
        total(9),
    ];
    let text = codex(&lines);
    let run = slim(&env, &text, &[]).fine();
    let mut left = lines.to_vec();
    left[4]["payload"]
        .as_object_mut()
        .unwrap()
        .remove("replacement_history");
    // The total restarts after 20.
    for nth in [11, 10, 3] {
        left.remove(nth);
    }
    let objects = |text: &str| -> Vec<Value> {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    assert_eq!(objects(run.out()), objects(&codex(&left)));
    let (old, new) = (env.write("old.jsonl", &text), env.write("new.jsonl", run.out()));
    assert_eq!(
        context(&env, &old, "openai-responses"),
        context(&env, &new, "openai-responses")
    );
    let usage = |path: &Path| {
        let run = env
            .run(&["usage", path.to_str().unwrap(), "--json", "--cost", "none"])
            .fine();
        run.out().to_string()
    };
    assert_eq!(usage(&old).replace("old", ""), usage(&new).replace("new", ""));
    let run = slim(&env, &text, &["--only", "user_message,agent_message"]).fine();
    let mut left = lines.to_vec();
    for nth in [13, 7] {
        left.remove(nth);
    }
    assert_eq!(objects(run.out()), objects(&codex(&left)));
    // A fork counts from its parent's total.
    let fork = text.replace(
        "\"model_provider\"",
        "\"forked_from_id\":\"x\",\"model_provider\"",
    );
    assert_eq!(slim(&env, &fork, &["--only", "token_count"]).fine().out(), fork);
}

/// A Gemini CLI recording; each message contains its name.
fn gemini(lines: &[Value]) -> String {
    let about = json!({"sessionId": FIRST, "projectHash": "ab", "startTime": "2026-11-01T10:00:00.000Z"});
    std::iter::once(&about)
        .chain(lines)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn unneeded_data_of_gemini_cli_is_removed() {
    let env = Env::new();
    let message = |id: &str, text: &str| json!({"id": id, "type": "user", "content": text, "timestamp": "2026-11-01T10:00:00.000Z"});
    let rewind = |id: &str| json!({"$rewindTo": id});
    let set = |value: Value| json!({"$set": value});
    let cases: [(Vec<Value>, &[usize]); 6] = [
        // The first version of a keeps the position before b.
        (
            vec![
                message("a", "1"),
                message("a", "2"),
                message("b", "3"),
                message("a", "4"),
            ],
            &[1, 2, 3],
        ),
        (
            vec![
                message("a", "1"),
                message("b", "2"),
                rewind("b"),
                message("b", "3"),
            ],
            &[0, 3],
        ),
        (
            vec![message("a", "1"), rewind("unknown"), message("b", "2")],
            &[2],
        ),
        (
            vec![
                set(json!({"x": 1})),
                message("a", "1"),
                rewind("a"),
                set(json!({"messages": [message("c", "0")]})),
                message("d", "1"),
                rewind("d"),
            ],
            &[0, 3],
        ),
        // A line that is needed rewinds the content of a checkpoint.
        (
            vec![
                set(json!({"messages": [message("c", "0"), message("d", "1")]})),
                message("e", "2"),
                rewind("d"),
                message("f", "3"),
            ],
            &[0, 1, 2, 3],
        ),
        (
            vec![
                set(json!({"x": 1})),
                set(json!({"x": 2, "y": 1})),
                set(json!({"y": 2})),
                message("a", "1"),
            ],
            &[1, 2, 3],
        ),
    ];
    for (nth, (lines, kept)) in cases.into_iter().enumerate() {
        let text = gemini(&lines);
        let run = slim(&env, &text, &[]).fine();
        let mut left: Vec<Value> = kept.iter().map(|at| lines[*at].clone()).collect();
        if nth == 5 {
            left[0] = set(json!({"x": 2}));
        }
        assert_eq!(run.out(), gemini(&left), "case {nth}");
        let (old, new) = (env.write("old.jsonl", &text), env.write("new.jsonl", run.out()));
        assert_eq!(
            context(&env, &old, "gemini"),
            context(&env, &new, "gemini"),
            "case {nth}"
        );
        assert_eq!(slim(&env, run.out(), &[]).fine().out(), run.out(), "case {nth}");
        // Removing versions alone must not move a message that another line rewinds.
        for only in ["replaced", "rewound", "$set"] {
            let run = slim(&env, &text, &["--only", only]).fine();
            let new = env.write("new.jsonl", run.out());
            assert_eq!(
                context(&env, &old, "gemini"),
                context(&env, &new, "gemini"),
                "case {nth}, {only}"
            );
        }
    }
    let moved = gemini(&[
        message("a", "1"),
        message("b", "2"),
        message("a", "3"),
        rewind("b"),
        message("c", "4"),
    ]);
    let run = slim(&env, &moved, &["--only", "replaced"]).fine();
    assert_eq!(run.out(), moved);
    let call = json!({"id": "g", "type": "gemini", "content": "", "timestamp": "2026-11-01T10:00:00.000Z",
        "toolCalls": [{"id": "c", "name": "ls", "args": {}, "resultDisplay": "shown"}]});
    let run = slim(&env, &gemini(&[call]), &["--only", "resultDisplay"]).fine();
    assert!(
        run.out().contains(r#"[{"id":"c","name":"ls","args":{}}]"#) || !run.out().contains("shown"),
        "{run}"
    );
}

#[test]
fn large_details_of_pi_are_removed() {
    let env = Env::new();
    let result = |id: &str, details: usize| {
        json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-11-10T10:00:01.000Z", "message": {
            "role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [{"type": "text", "text": "a"}],
            "details": {"diff": "d".repeat(details)}, "isError": false, "timestamp": 1}})
    };
    let about = json!({"type": "session", "version": 3, "id": "x", "timestamp": "2026-11-10T10:00:00.000Z", "cwd": "/src"});
    let text = format!("{about}\n{}\n{}\n", result("a1", 5000), result("a2", 4000));
    let run = slim(&env, &text, &[]).fine();
    let mut short = result("a1", 0);
    short["message"].as_object_mut().unwrap().remove("details");
    let lines: Vec<Value> = run
        .out()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines, [about, short, result("a2", 4000)]);
}

#[test]
fn the_table_counts_every_byte() {
    let env = Env::new();
    let text = grown().concat();
    let path = env.write("s.jsonl", &text);
    let run = env.run(&["slim", "-n", "s.jsonl"]).status(0);
    let cells: Vec<Vec<&str>> = run.out().lines().map(|line| line.split('\t').collect()).collect();
    let bytes: u64 = cells.iter().map(|row| row[2].parse::<u64>().unwrap()).sum();
    let left: u64 = cells.iter().map(|row| row[3].parse::<u64>().unwrap()).sum();
    assert_eq!(bytes as usize, text.len(), "{run}");
    assert_eq!(left as usize, slim(&env, &text, &[]).fine().out().len());
    assert!(
        run.out()
            .contains("\tdiffs and details of results on the screen\n"),
        "{run}"
    );
    let run = env.run(&["slim", "-n", "--json", "s.jsonl"]).status(0);
    let object = run.objects().remove(0);
    assert_eq!(
        (object["schema"].as_str(), object["bytes"].as_u64()),
        (Some("convo.slim/1"), Some(bytes))
    );
    assert_eq!(object["written"], json!(false));
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}

fn modified(path: &Path) -> SystemTime {
    std::fs::metadata(path).unwrap().modified().unwrap()
}

#[test]
fn a_session_is_archived_before_it_is_rewritten() {
    let env = homes();
    let text = grown().concat();
    let path = put(&env, PATH, &text, 3);
    put(
        &env,
        format!(".claude/projects/-src-api/{FIRST}/tool-results/x.txt"),
        "kept\n",
        3,
    );
    std::fs::remove_dir_all(home(&env).join(".claude/projects/-src-a-b--c")).unwrap();
    let time = modified(&path);
    let expected = slim(&env, &text, &[]).fine().out().to_string();
    let run = env
        .run(&["slim", "-i", "claude:5d1f0a4e-0000-4000-8000-000000000001"])
        .status(0);
    assert!(
        run.stderr
            .contains(&format!("the original is in the archive: claude-code:{FIRST}")),
        "{run}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(modified(&path), time);
    let copies = env.root().join("data/convo-archive/claude-code").join(FIRST);
    assert_eq!(
        std::fs::read_to_string(copies.join("1/projects/-src-api").join(path.file_name().unwrap())).unwrap(),
        text
    );
    assert!(
        copies
            .join(format!("1/projects/-src-api/{FIRST}/tool-results/x.txt"))
            .exists()
    );
    let run = env.run(&["slim", "-i", path.to_str().unwrap()]).status(0);
    assert!(run.stderr.contains("unchanged: would save 0.0 %"), "{run}");
    // A later archive run stores another version.
    assert_eq!(env.run(&["archive", "-q"]).status, 0);
    assert_eq!(
        std::fs::read_to_string(copies.join("2/projects/-src-api").join(path.file_name().unwrap())).unwrap(),
        expected
    );
}

#[test]
fn images_are_files_before_the_session_is_rewritten() {
    let env = homes();
    let (large, small) = ("iVBORw0KGgo".repeat(800), "iVBORw0KGgo=");
    let image = |data: &str| {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        json!({"type": "image", "source": source})
    };
    let mut lines = grown();
    let last = "5d1f0a4e-0000-4000-8000-00000000ffff";
    lines.push(message(
        "user",
        last,
        None,
        json!([image(&large), image(small), image(&large)]),
    ));
    let text = lines.concat();
    let path = put(&env, PATH, &text, 3);
    let dir = env.root().join("pictures/of sessions");
    let images = ["--images", dir.to_str().unwrap()];
    let table = slim(&env, &text, &[&images[..], &["-n", "--json"]].concat()).status(0);
    assert!(!dir.exists());
    let row = &table.objects()[0];
    assert_eq!(row["bytes"], text.len() as u64, "{row}");
    let expected = slim(&env, &text, &images).fine().out().to_string();
    let names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [file] = names.as_slice() else {
        panic!("{names:?}")
    };
    let bytes = std::fs::read(file).unwrap();
    assert_eq!(
        file.file_stem().unwrap().to_str().unwrap(),
        convo::model::key::sha256(&bytes)
    );
    let placeholder = format!(
        "[image: {}, image/png, {} bytes]",
        file.file_name().unwrap().to_str().unwrap(),
        bytes.len()
    );
    assert_eq!(expected.matches(&placeholder).count(), 2);
    assert!(expected.contains(small) && !expected.contains(&large));
    // A file with other bytes is never overwritten; then nothing is restored.
    std::fs::write(file, "other").unwrap();
    let arguments = [&["slim", "-i"], &images[..], &[path.to_str().unwrap()]].concat();
    env.run(&arguments).status(73).says("has other bytes");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    std::fs::remove_dir_all(&dir).unwrap();
    env.run(&arguments).status(0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(std::fs::read(file).unwrap(), bytes);
    let again = slim(&env, &expected, &images).fine();
    assert_eq!(again.out(), expected);
    env.run(&["slim", "--undo", path.to_str().unwrap()]).status(0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn originals_are_restored() {
    let env = homes();
    let text = grown().concat();
    let path = put(&env, PATH, &text, 3);
    let name = path.to_str().unwrap();
    let time = modified(&path);
    let undo = |status: i32, why: &str| {
        let run = env.run(&["slim", "--undo", name]).status(status);
        assert!(run.stderr.contains(why), "{run}");
    };
    undo(66, "convo slim -i did not change this session");
    assert_eq!(env.run(&["slim", "-i", name]).status, 0);
    let small = std::fs::read_to_string(&path).unwrap();
    // A later archive run stores another version of it.
    assert_eq!(env.run(&["archive", "-q"]).status, 0);
    let run = env.run(&["slim", "--undo", "-n", name]).status(0);
    assert!(run.stderr.contains("would put the original back"), "{run}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), small);
    put(&env, PATH, &(small.clone() + "{}\n"), 3);
    undo(75, "changed since it was slimmed");
    put(&env, PATH, &small, 3);
    undo(0, "put the original back");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert_eq!(modified(&path), time);
    undo(0, "unchanged: this is the original");
    // Removed lines are recorded again, so that the removal can be undone again.
    assert_eq!(env.run(&["slim", "-i", "--only", "progress", name]).status, 0);
    undo(0, "put the original back");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    env.write("s.jsonl", &text);
    let run = env.run(&["slim", "--undo", "s.jsonl"]).status(66);
    assert!(
        run.stderr.contains("not a session in the home of a program"),
        "{run}"
    );
}

#[test]
fn a_file_outside_of_homes_keeps_a_backup_with_a_suffix() {
    let env = Env::new();
    let text = grown().concat();
    let path = env.write("s.jsonl", &text);
    let run = env.run(&["slim", "-i=.bak", "--json", "s.jsonl"]).status(0);
    assert_eq!(run.objects()[0]["written"], json!(true));
    assert_eq!(env.read("s.jsonl.bak"), text);
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        slim(&env, &text, &[]).fine().out().to_string()
    );
    assert!(!env.root().join("data/convo-archive").exists());
    std::fs::remove_file(env.work().join("s.jsonl.bak")).unwrap();
    let written = env.run(&["slim", "-o", "other.jsonl", "s.jsonl"]).status(0);
    assert_eq!(written.out(), "");
    assert_eq!(env.read("other.jsonl"), env.read("s.jsonl"));
}

#[test]
fn a_running_session_is_never_rewritten() {
    let env = Env::new();
    let text = grown().concat();
    let path = put(&env, PATH, &text, 3);
    let name = path.to_str().unwrap();
    let refused = |arguments: &[&str], why: &str| {
        let run = env.run(arguments).status(75);
        assert!(run.stderr.contains(why), "{run}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert!(!env.root().join("data/convo-archive").exists());
    };
    let process = std::process::id();
    for mark in [
        json!({"pid": process, "sessionId": FIRST}),
        json!({"pid": process, "cwd": "/src/api"}),
    ] {
        put(&env, ".claude/sessions/1.json", &mark.to_string(), 3);
        for name in [name, "claude:5d1f0a4e"] {
            refused(&["slim", "-i", name, "--force"], "running: a living process");
        }
    }
    put(&env, ".claude/sessions/1.json", "{\"pid\":999999999}", 3);
    let writer = std::fs::File::options().append(true).open(&path).unwrap();
    refused(&["slim", "-i", name, "--force"], "open for writing in process");
    drop(writer);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW - 60);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(now)
        .unwrap();
    refused(&["slim", "-i", name], "running: a change in the last 2 minutes");
    assert_eq!(env.run(&["slim", "-i", name, "--force"]).status, 0);
    assert!(std::fs::read_to_string(&path).unwrap().len() < text.len());
}

#[test]
fn a_lock_of_codex_marks_a_session() {
    let env = Env::new();
    let name = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{FIRST}.jsonl");
    let event = json!({"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c", "stdout": "x".repeat(500)}});
    let meta = json!({"type": "session_meta", "payload": {"id": FIRST, "cwd": "/src/api"}});
    let text = codex(&[meta, event]);
    let path = put(&env, name, &text, 3);
    let lock = put(&env, format!(".codex/thread-writer-locks/{FIRST}.lock"), "", 3);
    let lock_file = std::fs::File::open(&lock).unwrap();
    lock_file.lock().unwrap();
    let run = env
        .run(&["slim", "-i", "--force", path.to_str().unwrap()])
        .status(75);
    assert!(run.stderr.contains("a lock that its program holds"), "{run}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    drop(lock_file);
    assert_eq!(env.run(&["slim", "-i", path.to_str().unwrap()]).status, 0);
    assert!(std::fs::read_to_string(&path).unwrap().len() < text.len());
}

#[test]
fn unsupported_files_are_refused() {
    let env = Env::with_chat();
    let refused = |arguments: &[&str], status: i32, why: &str| {
        let run = env.run(&[&["slim"], arguments].concat()).status(status);
        assert!(run.stderr.contains(why), "{run}");
    };
    env.write("native.jsonl", env.run(&["cat", "trip"]).fine().out());
    env.write("chat.json", r#"[{"role":"user","content":"Hi."}]"#);
    env.write("empty.jsonl", "");
    env.write("nul.jsonl", [0; 4096]);
    env.write("s.jsonl", claude(FIRST, "/src/api", "Why?"));
    refused(&["trip"], 2, "convo gc trip");
    refused(&["native.jsonl"], 2, "convo gc");
    refused(&["chat.json"], 2, "formats: claude-code, codex, pi, gemini-cli");
    refused(&["empty.jsonl"], 65, "empty.jsonl");
    refused(&["nul.jsonl"], 65, "nul.jsonl");
    refused(&["missing.jsonl"], 66, "missing.jsonl");
    refused(&["-i", "missing.jsonl"], 66, "missing.jsonl");
    refused(
        &["--only", "progres", "s.jsonl"],
        2,
        "unknown kind 'progres' of claude-code",
    );
    refused(&["--json", "s.jsonl"], 2, "--json requires -n or -i");
    refused(&["-i", "-"], 2, "-i requires a file");
    std::os::unix::fs::symlink("s.jsonl", env.work().join("link.jsonl")).unwrap();
    refused(&["-i", "link.jsonl"], 77, "symbolic link");
    assert_eq!(
        env.run(&["slim", "-q", "link.jsonl"]).fine().out(),
        env.read("s.jsonl")
    );
    assert_eq!(env.shell("gzip -k s.jsonl").status, 0);
    refused(&["s.jsonl.gz"], 2, "compressed");
}

/// Files of the program in the sample data.
fn samples(name: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![sample_data::path("wild").join(name)];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false if path.extension().is_some_and(|ending| ending == "jsonl") => found.push(path),
                false => {}
            }
        }
    }
    found
}

/// The model receives the same, every existing parent is kept, and kept lines keep their order.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn sessions_of_programs_can_be_resumed() {
    let env = Env::new();
    let programs = [
        ("claude-code", "anthropic"),
        ("codex", "openai-responses"),
        ("gemini-cli", "gemini"),
        ("pi", "anthropic"),
    ];
    let mut files = 0;
    for (program, api) in programs {
        for path in samples(program) {
            if std::fs::metadata(&path).unwrap().len() > 600_000 {
                continue;
            }
            let old = std::fs::read_to_string(&path).unwrap();
            let name = path.display();
            let run = env
                .run(&["slim", "-q", "--from", program, path.to_str().unwrap()])
                .fine();
            let new = env.write("slim.jsonl", run.out());
            assert_eq!(
                slim(&env, run.out(), &["--from", program]).fine().out(),
                run.out(),
                "{name}"
            );
            assert_eq!(context(&env, &path, api), context(&env, &new, api), "{name}");
            assert_eq!(parents(&old), parents(run.out()), "{name}");
            let mut lines = old.lines();
            let known: std::collections::HashSet<&str> = old.lines().collect();
            let whole = run.out().lines().filter(|line| known.contains(line));
            whole
                .into_iter()
                .for_each(|line| assert!(lines.any(|old| old == line), "{name}: {line}"));
            files += 1;
        }
    }
    assert!(files > 15, "{files}");
}

/// Referenced ids that belong to no line.
fn parents(text: &str) -> Vec<String> {
    let lines: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let ids: Vec<&str> = lines
        .iter()
        .flat_map(|line| [line["uuid"].as_str(), line["id"].as_str()])
        .flatten()
        .collect();
    let named = lines.iter().filter(|line| line["type"] != "progress");
    let named = named.flat_map(|line| {
        ["parentUuid", "logicalParentUuid", "leafUuid", "parentId"].map(|name| line[name].as_str())
    });
    let mut missing: Vec<String> = named
        .flatten()
        .filter(|id| !ids.contains(id))
        .map(str::to_string)
        .collect();
    missing.sort();
    missing.dedup();
    missing
}
