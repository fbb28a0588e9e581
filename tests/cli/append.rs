//! `convo append`.

use crate::env::{BARE, CHAT, Env, OPENAI};

#[test]
fn an_append_to_the_store_prints_nothing() {
    let env = Env::with_chat();
    env.run(&["append", "trip", "Thanks."]).fine().gives("");
    env.run(&["append", "trip", "-r", "assistant", "You are welcome."])
        .fine()
        .gives("");
    env.run(&[
        "append", "trip", "-r", "tool", "--category", "context", "--meta", "n=1", "--meta", "s=x", "T",
    ])
    .fine();
    snapshot!("append_store", env.run(&["cat", "trip"]).fine());
}

#[test]
fn json_prints_the_record() {
    let env = Env::with_chat();
    snapshot!(
        "append_json",
        env.run(&["append", "trip", "--json", "Thanks."]).fine()
    );
}

#[test]
fn one_final_newline_of_standard_input_is_removed() {
    let env = Env::with_chat();
    for (input, stored) in [("a\n", "a"), ("b\n\n", "b\n"), ("c", "c"), ("d\r\n", "d\r")] {
        env.pipe(&["append", "trip"], input).fine();
        let log = env.run(&["cat", "trip"]).fine();
        let last = log.objects().pop().unwrap();
        assert_eq!(last["content"], stored, "{input:?}");
        assert_eq!(last["role"], "user");
    }
}

#[test]
fn an_event_text_is_a_context_message_without_an_exchange() {
    let env = Env::with_chat();
    let before = env.run(&["count", "--json", "trip"]).fine().objects();
    env.run(&["append", "trip", "--event", "The build turned red."])
        .fine();
    let after = env.run(&["count", "--json", "trip"]).fine().objects();
    assert_eq!(after[0]["log"]["categories"]["context"], 1);
    assert_eq!(after[0]["log"]["exchanges"], before[0]["log"]["exchanges"]);
    snapshot!("append_event", env.shell("convo cat trip | tail -n 1"));
}

#[test]
fn a_stream_is_stored_as_it_is_and_acknowledged() {
    let env = Env::with_chat();
    let stream = concat!(
        r#"{"content" : "odd  order",  "role":"user","id":"own","n":1e400}"#,
        "\n",
        r#"{"role":"assistant","content":"x","timestamp":"2026-01-01T00:00:00+01:00"}"#,
        "\n",
    );
    env.pipe(&["append", "trip", "--stream"], stream)
        .status(0)
        .gives("")
        .says("convo: trip: acknowledged 2\n");
    snapshot!("append_stream", env.shell("convo cat trip | tail -n 2"));
    env.pipe(&["append", "-q", "trip", "--stream"], stream).fine();
    env.pipe(&["append", "trip", "--stream"], "")
        .status(0)
        .says("convo: trip: acknowledged 0\n");
}

#[test]
fn groups_of_a_long_stream_are_stored_in_order() {
    let env = Env::with_chat();
    let message = |nth: usize| {
        let text = "x".repeat(nth * 7919 % 60_000);
        format!("{{ \"role\": \"user\",\t\"content\": \"{nth} {text}\" }}\r\n")
    };
    let stream: Vec<String> = (0..400).map(message).collect();
    assert!(stream.concat().len() > 10 << 20, "several groups");
    let run = env
        .pipe(&["append", "trip", "--stream", "--ack"], stream.concat())
        .status(0)
        .says("acknowledged 400");
    let log = env.run(&["cat", "trip"]).fine();
    let lines: Vec<&str> = log.out().lines().skip(8).collect();
    assert_eq!(lines.len(), 400);
    for ((line, sent), id) in lines.iter().zip(&stream).zip(run.out().lines()) {
        let sent = sent.trim_end().trim_end_matches('}');
        let added = line.strip_prefix(sent).expect("its own bytes come first");
        assert!(
            added.starts_with(&format!(",\"id\":\"{id}\",\"timestamp\":")),
            "{added}"
        );
    }
    env.run(&["fsck"]).status(0).says("no problems");
}

#[test]
fn a_stream_may_be_any_format_and_its_headers_are_dropped() {
    let env = Env::with_chat();
    env.pipe(&["append", "trip", "--stream"], OPENAI)
        .status(0)
        .says("acknowledged 2");
    env.pipe(&["append", "trip", "--stream"], CHAT)
        .status(0)
        .says("acknowledged 7");
    let log = env.run(&["cat", "trip"]).status(0);
    assert_eq!(
        log.objects()
            .iter()
            .filter(|line| line["type"] == "session")
            .count(),
        1
    );
    assert_eq!(log.objects().len(), 8 + 2 + 7);
}

#[test]
fn damaged_lines_of_a_stream_are_reported_and_preserved() {
    let env = Env::with_chat();
    let stream = [
        BARE.as_bytes(),
        b"{\"role\":\"us\n\xff\xfe\n{\"role\":\"user\",\"content\":\"last\"}\n",
    ]
    .concat();
    let run = env.pipe(&["append", "trip", "--stream"], &stream);
    snapshot!("append_stream_damaged", run);
    let log = env.run(&["cat", "trip"]).status(65);
    let kept = log
        .stdout
        .windows(13)
        .any(|bytes| bytes == b"{\"role\":\"us\n\xff");
    assert!(kept, "{log}");
    let strict = Env::with_chat();
    strict
        .pipe(&["append", "--strict", "trip", "--stream"], &stream)
        .status(65);
    let log = strict.run(&["cat", "trip"]).fine();
    assert!(!log.out().contains("last"));
}

#[test]
fn a_newer_header_in_a_stream_is_refused() {
    let env = Env::with_chat();
    let stream =
        "{\"type\":\"session\",\"version\":2,\"id\":\"new\"}\n{\"role\":\"user\",\"content\":\"x\"}\n";
    let run = env.pipe(&["append", "trip", "--stream"], stream);
    snapshot!("append_stream_newer", run);
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn as_a_filter_it_prints_the_session_with_the_message() {
    let env = Env::new();
    let run = env.pipe(&["append", "-", "Thanks."], CHAT).fine();
    assert!(run.out().starts_with(CHAT));
    snapshot!("append_filter", run);
    assert!(!env.store().exists());
}

#[test]
fn a_filter_without_clock_or_seed_is_deterministic() {
    let env = Env::new();
    let once = || {
        let mut command = env.command(&["append", "-", "Thanks."]);
        command.env_remove("CONVO_NOW").env_remove("CONVO_SEED");
        env.feed(command, CHAT.as_bytes()).fine().stdout
    };
    let first = once();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(first, once());
}

#[test]
fn with_a_format_the_operand_is_the_text_and_the_state_is_opaque() {
    let env = Env::new();
    env.shell(
        r#"echo '[{"role":"user","content":"1"}]' | convo append --from openai-chat --to openai-chat -q two"#,
    )
    .fine()
    .gives("[{\"role\":\"user\",\"content\":\"1\"},{\"role\":\"user\",\"content\":\"two\"}]\n");
}

/// The value was replaced by a list with the new message alone, with status 0.
#[test]
fn a_history_that_is_not_a_list_is_not_overwritten() {
    let env = Env::new();
    for (format, file) in [
        (
            "openai-chat",
            r#"{"messages":{"role":"user","content":"a"},"model":"m"}"#,
        ),
        ("openai-chat", r#"{"messages":"hi","model":"m"}"#),
        (
            "openai-responses",
            r#"{"input":{"role":"user","content":"a"},"model":"m"}"#,
        ),
        ("gemini", r#"{"contents":"hi"}"#),
    ] {
        env.write("f.json", file);
        env.run(&["append", "-i", "--from", format, "f.json", "x"])
            .status(65)
            .says("is not a list");
        assert_eq!(env.read("f.json"), file);
        // Nothing was reported when the file was read.
        env.run(&["context", "--from", format, "f.json"])
            .status(65)
            .says("is not a list; not read");
    }
    env.write("f.json", r#"{"messages":null,"model":"m"}"#);
    env.run(&["context", "-q", "--from", "openai-chat", "f.json"])
        .status(0);
    env.run(&["append", "-q", "-i", "--from", "openai-chat", "f.json", "x"])
        .status(0);
    assert!(env.read("f.json").contains("\"x\""));
}

#[test]
fn a_file_is_printed_or_changed_in_place() {
    let env = Env::new();
    env.write("trip.jsonl", CHAT);
    let out = env.run(&["append", "trip.jsonl", "Thanks."]).fine();
    assert_eq!(env.read("trip.jsonl"), CHAT);
    env.run(&["append", "-i=.old", "trip.jsonl", "Thanks."])
        .fine()
        .gives("");
    assert!(env.read("trip.jsonl").starts_with(CHAT) && env.read("trip.jsonl").len() == out.stdout.len());
    assert_eq!(env.read("trip.jsonl.old"), CHAT);
}

#[test]
fn a_dry_run_prints_the_line_and_changes_nothing() {
    let env = Env::with_chat();
    snapshot!("append_dry_run", env.run(&["append", "-n", "trip", "Thanks."]));
    let run = env.run(&["append", "--stdout", "trip", "Thanks."]).fine();
    assert!(run.out().starts_with(CHAT) && run.out().contains("Thanks."));
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn errors() {
    let env = Env::with_chat();
    let runs = [
        env.run(&["append", "nobody", "x"]).status(66),
        env.run(&["append", "./nofile.jsonl", "x"]).status(66),
        env.pipe(&["append"], CHAT).status(2),
        env.run(&["append", "-", "--stream"]).status(2),
        env.run(&["append", "trip", "--stream", "-r", "user", "x"])
            .status(2),
        env.run(&["append", "trip", "--category", "gossip", "x"])
            .status(2),
        env.pipe(&["append", "trip"], b"ab\xffcd").status(65),
    ];
    let all: Vec<String> = runs.iter().map(ToString::to_string).collect();
    snapshot!("append_errors", all.join("\n"));
    env.run(&["cat", "trip"]).fine().gives(CHAT);
}

#[test]
fn ack_prints_each_id_as_it_is_durable() {
    let env = Env::with_chat();
    let lines = "{\"role\":\"user\",\"content\":\"a\",\"id\":\"n1\"}\n{\"role\":\"user\",\"content\":\"b\"}\nby hand\n";
    let run = env
        .pipe(&["append", "trip", "--stream", "--ack", "-q"], lines)
        .status(65);
    let reported: Vec<&str> = run.out().lines().collect();
    assert!(
        reported.len() == 3 && reported[0] == "n1" && reported[1].starts_with("msg_") && reported[2] == "-",
        "{run}"
    );
    env.run(&["append", "trip", "--ack", "x"]).status(2);
    env.run(&["append", "./x.jsonl", "--stream", "--ack"]).status(2);
}

#[test]
fn cuts_in_an_appended_stream_have_no_effect() {
    let env = Env::with_chat();
    let before = env.run(&["context", "trip"]).fine().objects().len();
    let log = concat!(
        r#"{"role":"user","content":"old","id":"n1"}"#,
        "\n",
        r#"{"type":"truncate","id":"evt_1","at":"2026-01-01T00:00:00Z","before":null}"#,
        "\n",
        r#"{"role":"user","content":"new","id":"n2"}"#,
        "\n",
    );
    for (nth, more) in [&[][..], &["--events"]].into_iter().enumerate() {
        env.pipe(&[&["append", "trip", "--stream"], more].concat(), log)
            .status(0)
            .says("left out 1 event of another session: 1 truncate");
        let after = env.run(&["context", "trip"]).fine().objects();
        assert_eq!(after.len(), before + 2 * (nth + 1));
    }
}

#[test]
fn a_session_with_a_retention_policy_has_no_boundary() {
    let env = Env::new();
    env.run(&["new", "--id", "m", "--memory", "truncation,keep_last=2"])
        .fine();
    env.run(&["append", "m", "x", "--boundary", "5"])
        .status(2)
        .says("--max-messages conflicts with a retention policy");
    // A continuation inherits the retention policy.
    env.run(&["append", "m", "x"]).fine();
    env.run(&["continue", "m"]).fine();
    let first = env.run(&["cat", "m.1"]).fine().objects().remove(0);
    assert_eq!(first["memory"]["keep_last"], 2, "{first}");
}

#[test]
fn an_empty_text_requires_allow_empty() {
    let env = Env::new();
    env.run(&["new", "--id", "chat"]).status(0);
    let before = std::fs::read(env.log("chat")).unwrap();
    for text in ["", "\n", " \n"] {
        let run = env.pipe(&["append", "chat"], text).status(2);
        run.says("empty message").says("--allow-empty");
    }
    env.run(&["append", "chat", ""]).status(2);
    env.shell("false | convo append chat").status(2);
    env.run(&["append", "chat", "-r", "tool"]).status(2);
    assert_eq!(std::fs::read(env.log("chat")).unwrap(), before);
    env.write("chat.jsonl", CHAT);
    env.pipe(&["append", "-i", "chat.jsonl"], "").status(2);
    assert_eq!(env.read("chat.jsonl"), CHAT);
    env.pipe(&["append", "chat", "--allow-empty"], "").fine();
    env.run(&["append", "chat", "--allow-empty", "-r", "tool", ""])
        .fine();
    let log = String::from_utf8(std::fs::read(env.log("chat")).unwrap()).unwrap();
    assert_eq!(log.matches(r#""content":"""#).count(), 2);
    // A stream without messages adds nothing.
    env.pipe(&["append", "chat", "--stream"], "")
        .status(0)
        .says("acknowledged 0");
}

#[test]
fn a_missing_file_is_created() {
    let env = Env::new();
    env.run(&["append", "-i", "new.jsonl", "Hello?"]).fine();
    env.run(&["append", "-i", "new.jsonl", "-r", "assistant", "Hi."])
        .fine();
    let lines = env.run(&["cat", "new.jsonl"]).fine().objects();
    assert_eq!((lines.len(), &lines[0]["id"]), (3, &"new".into()));
    assert_eq!(lines[2]["content"], "Hi.");
    let stream = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
    env.pipe(&["append", "-q", "-i", "many.jsonl", "--stream"], stream)
        .fine();
    assert_eq!(env.run(&["cat", "many.jsonl"]).fine().objects().len(), 3);
    for (name, format) in [
        ("./lines", "jsonl"),
        ("state.json", "goaitools"),
        ("memory.json", "penguiflow"),
        ("session_1.json", "penguin"),
        ("chat.json", "openai-chat"),
    ] {
        // Data that the format cannot represent, such as times in OpenAI's, is reported but is not an error.
        env.run(&["append", "-q", "-i", name, "--to", format, "Hello?"])
            .fine();
        let run = env.run(&["cat", "-q", "--from", format, name]);
        assert!(run.out().contains("Hello?"), "{format}: {run}");
        assert_eq!(
            run.objects().iter().filter(|line| line["role"] == "user").count(),
            1
        );
    }
    env.run(&["append", "-i", "unknown.txt", "Hello?"])
        .status(66)
        .says("create the file with --to FORMAT");
    assert!(!env.work().join("unknown.txt").exists());
    env.run(&["append", "-i", "missing/new.jsonl", "Hello?"])
        .status(74);
    // Only `append` creates files.
    env.run(&["truncate", "-i", "other.jsonl", "--all"]).status(66);
}
