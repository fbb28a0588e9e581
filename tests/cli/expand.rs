//! `convo expand`.

use crate::env::{CHAT, Env};

#[test]
fn a_message_is_printed_as_in_the_log() {
    let env = Env::with_chat();
    let line = CHAT.lines().nth(4).unwrap();
    env.run(&["expand", "m4", "trip"])
        .fine()
        .gives(format!("{line}\n"));
    env.run(&["expand", "--text", "m4", "trip"])
        .fine()
        .gives("22 C, sunny\n");
    env.pipe(&["expand", "m4"], CHAT)
        .fine()
        .gives(format!("{line}\n"));
}

#[test]
fn messages_hidden_by_an_event_are_printed() {
    let env = Env::with_chat();
    let lines: Vec<&str> = CHAT.split_inclusive('\n').collect();
    env.run(&["compact", "trip", "--keep-last", "1"]).status(0);
    let list = env.run(&["restore", "--list", "trip"]).fine();
    let id = list.out().split('\t').next().unwrap().to_string();
    env.run(&["expand", &id, "trip"])
        .fine()
        .gives(lines[2..6].concat());
    env.run(&["restore", "trip"]).status(0);
    env.run(&[
        "compact", "trip", "--digest-tools", "--keep-last", "1", "--min-gain", "0%",
    ])
    .status(0);
    let view = env.run(&["context", "trip"]).fine();
    let Some(digest) = view.out().lines().find(|line| line.contains("[digest of")) else {
        panic!("{view}");
    };
    let id = digest
        .split("\"id\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_string();
    env.run(&["expand", &id, "trip"])
        .fine()
        .gives(lines[2..6].concat());
}

#[test]
fn a_missing_id_is_reported() {
    let env = Env::with_chat();
    let run = env.run(&["expand", "nobody", "trip"]).status(1);
    assert!(run.stderr.contains("no such message or event: nobody"), "{run}");
    env.run(&["expand", "m4", "nobody"]).status(66);
    // A stream compacted without its log contains only the placeholder.
    let big = CHAT.replace("22 C, sunny", &"22 C, sunny. ".repeat(60));
    let stream = env
        .pipe(
            &[
                "compact", "--mask-tools", "--keep-tools", "0", "--mask-min-gain", "0",
            ],
            &big,
        )
        .status(0);
    assert!(stream.out().contains("tool output elided: weather"));
    let run = env.pipe(&["expand", "m4"], &stream.stdout).status(1);
    assert!(
        run.stderr.contains("m4: the original is not in this log") && run.stderr.contains("--log"),
        "{run}"
    );
    let log = env
        .pipe(
            &[
                "compact", "--log", "--mask-tools", "--keep-tools", "0", "--mask-min-gain", "0",
            ],
            &big,
        )
        .status(0);
    let run = env.pipe(&["expand", "--text", "m4"], &log.stdout).fine();
    assert_eq!(run.out(), "22 C, sunny. ".repeat(60) + "\n");
    // The same if only the middle is elided.
    let long = CHAT.replace("22 C, sunny", &"22 C, sunny. ".repeat(600));
    let short = env.pipe(&["compact", "--budget", "400"], &long).status(0);
    assert!(short.out().contains(" bytes elided]"), "{short}");
    let run = env.pipe(&["expand", "--text", "m4"], &short.stdout).status(1);
    assert!(
        run.stderr.contains("m4: the original is not in this log"),
        "{run}"
    );
}

/// A line of Claude Code with this content.
fn line(nth: u32, content: serde_json::Value) -> String {
    let id = |nth: u32| format!("5d1f0a4e-0000-4000-8000-00000000000{nth}");
    let parent = (nth > 1).then(|| id(nth - 1));
    let line = serde_json::json!({
        "uuid": id(nth), "parentUuid": parent, "sessionId": id(0), "cwd": "/src", "version": "2", "type": "user",
        "timestamp": format!("2026-11-01T10:00:0{nth}Z"), "userType": "external", "isSidechain": false,
        "message": {"role": "user", "content": content},
    });
    format!("{line}\n")
}

/// A part with an image of 6000 equal bytes.
fn image(byte: &str) -> serde_json::Value {
    let source = serde_json::json!({"type": "base64", "media_type": "image/png", "data": byte.repeat(2000)});
    serde_json::json!({"type": "image", "source": source})
}

/// A slimmed session, the same session with its images, and the names of their files.
fn slimmed(env: &Env) -> (String, Vec<String>) {
    let text = serde_json::json!({"type": "text", "text": "Look:"});
    let result = serde_json::json!({"type": "tool_result", "tool_use_id": "t1", "content": [image("BBBB")]});
    let whole = line(1, serde_json::json!([text, image("AAAA")])) + &line(2, serde_json::json!([result]));
    env.write("whole.jsonl", &whole);
    let slim = env
        .run(&["slim", "--images", "pictures", "whole.jsonl"])
        .status(0);
    env.write("slim.jsonl", slim.out());
    let cat = |file: &str| env.run(&["cat", "--to", "native", file]).fine().out().to_string();
    // Only the header differs: it names the file.
    let records = cat("whole.jsonl")
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_ne!(
        cat("slim.jsonl").lines().nth(1),
        cat("whole.jsonl").lines().nth(1)
    );
    let names = cat("slim.jsonl");
    let names = names
        .split("[image: ")
        .skip(1)
        .map(|rest| rest.split(',').next().unwrap().to_string());
    (records, names.collect())
}

#[test]
fn images_in_files_are_part_of_the_session_again() {
    let env = Env::new();
    let (records, names) = slimmed(&env);
    let first = records.split_inclusive('\n').next().unwrap();
    let id = "5d1f0a4e-0000-4000-8000-000000000001";
    let images = ["expand", "--images", "pictures"];
    let with = |more: &[&str]| env.run(&[&images[..], more].concat());
    with(&["slim.jsonl", id]).fine().gives(first);
    let all = with(&["slim.jsonl"]).fine();
    assert_eq!(all.out().split_once('\n').unwrap().1, records);
    // The image itself, by the name of its file or by the whole placeholder.
    let placeholder = format!("[image: {}, image/png, 6000 bytes]", names[1]);
    for name in [&names[1], &placeholder] {
        assert_eq!(
            with(&["slim.jsonl", name]).status(0).stdout,
            [4, 16, 65].repeat(2000),
            "{name}"
        );
    }
    let stdin = env.read("slim.jsonl");
    assert_eq!(
        env.pipe(&[&images[..], &[names[0].as_str()]].concat(), &stdin)
            .status(0)
            .stdout,
        [0; 6000]
    );
    // A stored session, too.
    env.run(&["migrate", "slim.jsonl"]).status(0);
    with(&["5d1f0a4e-0000-4000-8000-000000000000", id])
        .fine()
        .gives(first);
}

#[test]
fn a_missing_or_changed_image_is_named() {
    let env = Env::new();
    let (_, names) = slimmed(&env);
    let id = "5d1f0a4e-0000-4000-8000-000000000001";
    let with = |more: &[&str]| env.run(&[&["expand", "--images", "pictures", "slim.jsonl"], more].concat());
    let path = format!("pictures/{}", names[0]);
    let file = env.work().join(&path);
    for arguments in [&[][..], &[id], &[&names[0]]] {
        std::fs::write(&file, [0; 5999]).unwrap();
        let run = with(arguments).status(65).says(&format!("{path}: changed"));
        assert!(run.stdout.is_empty(), "{run}");
        std::fs::remove_file(&file).unwrap();
        let run = with(arguments).status(66).says(&format!("{path}: no such image"));
        assert!(run.stdout.is_empty(), "{run}");
    }
    let other = names[0].replace(&names[0][..8], "00000000");
    with(&[&other]).status(1).says(&format!("no such image: {other}"));
    // Without the directory, a record is as it is, with a notice.
    let run = env
        .run(&["expand", "slim.jsonl", id])
        .status(0)
        .says("1 image in files");
    assert!(run.out().contains(&names[0]), "{run}");
    env.run(&["expand", "slim.jsonl", &names[0]])
        .status(2)
        .says("requires --images");
    env.run(&[
        "expand", "--json", "--images", "pictures", "slim.jsonl", &names[0],
    ])
    .status(2);
}

#[test]
fn text_is_not_packed() {
    let env = Env::new();
    let arguments = ["expand", "--text", "--pack", "msg_1"];
    env.pipe(&arguments, "").status(2).says("cannot be used with");
    let help = env.run(&["expand", "--help"]).fine();
    for option in ["--to", "each file keeps its form", "--output-dir"] {
        assert!(!help.out().contains(option), "{option}: {help}");
    }
}
