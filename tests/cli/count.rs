//! `convo count`.

use crate::env::{BARE, CHAT, Env, OPENAI};

#[test]
fn counts_of_log_and_view_are_printed() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    snapshot!("count", env.run(&["count", "trip"]).fine());
    snapshot!("count_json", env.run(&["count", "--json", "trip"]).fine());
}

#[test]
fn a_stream_counts_as_the_store_does() {
    let env = Env::with_chat();
    let stored = env.run(&["count", "trip"]).fine();
    env.pipe(&["count"], CHAT).fine().gives(&stored.stdout);
    snapshot!("count_openai", env.pipe(&["count"], OPENAI));
}

#[test]
fn session_by_session() {
    let env = Env::with_chat();
    env.write("bare.jsonl", BARE);
    snapshot!(
        "count_several",
        env.run(&["count", "./bare.jsonl", "trip"]).fine()
    );
    let lines = env.pipe(&["count", "--json"], format!("{BARE}{CHAT}")).fine();
    let messages: Vec<_> = lines
        .objects()
        .iter()
        .map(|line| line["log"]["messages"].clone())
        .collect();
    assert_eq!(messages, [2, 7]);
}

#[test]
fn damage_is_counted() {
    let env = Env::new();
    snapshot!("count_damaged", env.pipe(&["count"], format!("{BARE}broken\n")));
}

#[test]
fn errors() {
    let env = Env::new();
    env.run(&["count", "nobody"]).status(66);
    env.run(&["count", "no.json"]).status(66).says("convo: no.json: ");
}

#[test]
fn tokens_by_each_grouping() {
    let env = Env::with_chat();
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    for by in ["role", "category", "tool", "exchange"] {
        snapshot!(
            format!("count_by_{by}").as_str(),
            env.run(&["count", "--by", by, "trip"]).fine()
        );
    }
    env.run(&["count", "--by", "mood", "trip"]).status(2);
}

#[test]
fn a_summary_counts_as_its_message() {
    let env = Env::new();
    let summary = r#"{"type":"summary","id":"evt_1","at":"2026-11-01T10:06:00Z","content":"It rains.","covers":["m2","m5"]}"#;
    let run = env
        .pipe(&["count", "--by", "exchange"], format!("{CHAT}{summary}\n"))
        .fine();
    assert_eq!(
        String::from_utf8(run.stdout).unwrap(),
        "session\ttrip\nexchange rules\t8\t8\nexchange summary\t0\t45\nexchange 1\t42\t0\nexchange 2\t13\t13\ntokens\t63\t66\n"
    );
}

#[test]
fn groupings_add_up() {
    let env = Env::with_chat();
    for by in ["role", "category", "exchange"] {
        let run = env.run(&["count", "--by", by, "trip"]).fine();
        let text = String::from_utf8(run.stdout).unwrap();
        let tokens = |line: &str| line.split('\t').nth(1).unwrap().parse::<u64>().unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let (total, groups) = lines.split_last().unwrap();
        assert!(groups.len() > 1, "{text}");
        assert_eq!(
            groups.iter().map(|line| tokens(line)).sum::<u64>(),
            tokens(total),
            "{text}"
        );
    }
}

#[test]
fn a_window_shows_the_used_share() {
    let env = Env::with_chat();
    for (window, tokens) in [
        ("200", 200),
        ("128k", 128_000),
        ("gpt-4o", 128_000),
        ("claude-opus-4-1", 200_000),
    ] {
        let lines = env
            .run(&["count", "--json", "--window", window, "trip"])
            .fine()
            .objects();
        assert_eq!(lines[0]["window"], tokens);
        let total = lines[0]["view"]["tokens"]["total"].as_f64().unwrap();
        assert_eq!(lines[0]["used"].as_f64().unwrap(), total / f64::from(tokens));
    }
    let text = env.run(&["count", "--window", "200", "trip"]).fine();
    assert!(String::from_utf8_lossy(&text.stdout).contains("\nof 200\t31.5%\t31.5%\n"));
    for wrong in ["0", "-1", "llama", ""] {
        env.run(&["count", &format!("--window={wrong}"), "trip"])
            .status(2);
    }
}

#[test]
fn a_tokenizer_is_named_by_flag_environment_config_and_session() {
    let env = Env::with_chat();
    let name = |run: crate::env::Run| run.fine().objects()[0]["tokenizer"].as_str().unwrap().to_string();
    assert_eq!(name(env.run(&["count", "--json", "trip"])), "o200k_base");
    assert_eq!(
        name(env.run(&["count", "--json", "--tokenizer", "gpt-4", "trip"])),
        "cl100k_base"
    );

    let id = env.run(&["new", "--id", "own", "--tokenizer", "chars4"]).fine();
    assert_eq!(id.stdout, b"own\n");
    assert_eq!(name(env.run(&["count", "--json", "own"])), "chars4");

    env.write("config.toml", "tokenizer = \"r50k_base\"\n");
    let config = ["count", "--json", "--config", "config.toml", "own"];
    assert_eq!(name(env.run(&config)), "r50k_base");
    let mut command = env.command(&config);
    command.env("CONVO_TOKENIZER", "gpt2");
    assert_eq!(name(env.wait(command)), "gpt2");
    let mut command = env.command(&["count", "--json", "--tokenizer", "o3", "own"]);
    command.env("CONVO_TOKENIZER", "gpt2");
    assert_eq!(name(env.wait(command)), "o200k_base");

    env.run(&["count", "--tokenizer", "gtp-4o", "trip"])
        .status(2)
        .says("did you mean 'gpt-4o'?");
    env.write("config.toml", "tokenizer = \"o200k_base\"\nother = [\n");
    env.run(&config)
        .status(78)
        .says("config.toml: line 2, column 10: ");
    env.write("config.toml", "tokenizer = \"nobody\"\n");
    env.run(&config).status(78).says("nobody");
}

#[test]
fn estimated_counts_are_marked() {
    let env = Env::with_chat();
    let run = env.run(&["count", "--json", "--tokenizer", "claude-sonnet-4-5", "trip"]);
    assert!(run.stderr.contains("not public"), "{run}");
    let lines = env
        .run(&["count", "-q", "--json", "--tokenizer", "gemini-2.5-pro", "trip"])
        .fine()
        .objects();
    assert_eq!(
        (lines[0]["tokenizer"].as_str(), lines[0]["exact"].as_bool()),
        (Some("gemini"), Some(false))
    );
    let unknown = CHAT.replace("\"title\"", "\"tokenizer\":\"future\",\"title\"");
    let run = env.pipe(&["count"], unknown);
    assert!(
        run.status == 0 && run.stderr.contains("unknown tokenizer 'future'"),
        "{run}"
    );
}

#[test]
fn counts_are_stored_if_the_session_has_a_tokenizer() {
    let env = Env::new();
    env.run(&[
        "new", "--id", "own", "--tokenizer", "gpt-4o", "--system", "You are terse.",
    ])
    .fine();
    env.run(&["append", "own", "hello there"]).fine();
    let lines = concat!(
        "{\"role\":\"user\",\"content\":\"x\"}\n",
        "{\"role\":\"user\",\"content\":\"x\",\"id\":\"a\",\"tokens\":77}\n",
        "{\"role\":\"user\",\"content\":\"x\",\"id\":\"b\"}\n",
    );
    env.pipe(&["append", "-q", "own", "--stream"], lines).fine();
    let stored = env.run(&["cat", "own"]).fine();
    let counts: Vec<_> = stored.objects()[1..]
        .iter()
        .map(|line| line["tokens"].as_u64())
        .collect();
    assert_eq!(counts, [Some(8), Some(6), Some(5), Some(5), None]);
    let piped = env.pipe(&["append", "-", "more"], &stored.stdout).fine();
    assert_eq!(piped.objects().last().unwrap()["tokens"], 5);
    // Without a named tokenizer nothing is stored, whatever the environment.
    env.run(&["new", "--id", "plain"]).fine();
    let mut command = env.command(&["append", "plain", "hello there"]);
    command.env("CONVO_TOKENIZER", "gpt-4o");
    env.wait(command).fine();
    assert_eq!(
        env.run(&["cat", "plain"]).fine().objects()[1]["tokens"],
        serde_json::Value::Null
    );
}

#[test]
fn a_stored_count_is_used_for_its_tokenizer_only() {
    let env = Env::new();
    let line = "{\"role\":\"user\",\"content\":\"hello there\",\"tokens\":99}\n";
    let header = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"tokenizer\":\"o200k_base\"}\n";
    let edit = "{\"type\":\"compact\",\"id\":\"evt_1\",\"at\":\"2026-11-01T10:06:00Z\",\"edit\":[{\"id\":\"m1\",\"content\":\"hello\"}]}\n";
    let total = |input: &str, arguments: &[&str]| {
        let run = env
            .pipe(&[&["count", "--json"], arguments].concat(), input)
            .fine();
        let tokens = |place: &str| run.objects()[0][place]["tokens"]["total"].as_u64().unwrap();
        (tokens("log"), tokens("view"))
    };
    assert_eq!(total(&format!("{header}{line}"), &[]), (99, 99));
    assert_eq!(
        total(&format!("{header}{line}"), &["--tokenizer", "cl100k_base"]),
        (6, 6)
    );
    assert_eq!(total(line, &[]), (6, 6));
    let edited = line.replace("\"tokens\"", "\"id\":\"m1\",\"tokens\"");
    assert_eq!(total(&format!("{header}{edited}{edit}"), &[]), (99, 5));
}
