//! Tests goaitools states, piped into a command and printed by it.

mod limits;

use crate::env::{Env, OPENAI};

const STATE: &str = r#"{"version":1,"provider":"openai","processed_length":4,"messages":[{"role":"user","content":"first"},{"role":"assistant","content":"one"},{"role":"user","content":"second"},{"role":"assistant","content":"two"},{"role":"user","content":"it rained"}]}"#;

const BACK: [&str; 4] = ["--from", "goaitools", "--to", "goaitools"];

fn with(arguments: &[&'static str]) -> Vec<&'static str> {
    [arguments, &BACK].concat()
}

/// The messages of a state as JSON, and the number of seen ones.
fn parts(state: &str) -> (u64, Vec<String>) {
    let state: serde_json::Value = serde_json::from_str(state).unwrap();
    let messages = state["messages"].as_array().unwrap().iter();
    let texts = messages.map(|message| message["content"].as_str().unwrap_or_default().to_string());
    (state["processed_length"].as_u64().unwrap(), texts.collect())
}

#[test]
fn a_turn_is_added_to_a_piped_state() {
    let env = Env::new();
    let new = env.pipe(&with(&["append", "hello <you>"]), "").fine();
    assert_eq!(
        new.out(),
        r#"{"version":1,"provider":"openai","processed_length":0,"messages":[{"role":"user","content":"hello \u003cyou\u003e"}]}"#
    );
    let more = env
        .pipe(
            &with(&["append", "-r", "assistant", "--processed", "hi"]),
            new.out(),
        )
        .fine();
    assert_eq!(parts(more.out()), (2, vec!["hello <you>".into(), "hi".into()]));
    let event = env
        .pipe(&with(&["append", "--event", "a door opened"]), more.out())
        .fine();
    let event = event.out().to_string();
    assert!(
        event.ends_with(r#",{"role":"user","content":"a door opened"}]}"#),
        "{event}"
    );
    assert_eq!(parts(&event).0, 2, "the model has yet to see it");
}

#[test]
fn a_tool_call_is_added_in_place() {
    let env = Env::new();
    env.write("state.json", "");
    let turn = concat!(
        r#"{"role":"user","content":"Weather?"}"#,
        "\n",
        r#"{"content":null,"tool_calls":[{"function":{"arguments":"{}","name":"w"},"type":"function","id":"c"}],"role":"assistant"}"#,
        "\n",
        r#"{"tool_call_id":"c","role":"tool","content":"22"}"#,
        "\n",
        r#"{"role":"assistant","content":"22 degrees"}"#,
        "\n"
    );
    let append = ["append", "-q", "-i", "state.json", "--stream", "--processed"];
    env.pipe(&append, turn).status(65).says("empty");
    env.pipe(&[&append[..], &["--to", "goaitools"]].concat(), turn)
        .fine();
    assert_eq!(
        env.read("state.json"),
        r#"{"version":1,"provider":"openai","processed_length":4,"messages":[{"role":"user","content":"Weather?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","content":"22","tool_call_id":"c"},{"role":"assistant","content":"22 degrees"}]}"#
    );
    let before = env.read("state.json");
    env.pipe(&["append", "-q", "-i", "state.json", "--stream"], "")
        .fine();
    assert_eq!(env.read("state.json"), before, "nothing was added");
}

/// A stored session preserves the other members of a state, and the number of seen messages.
#[test]
fn a_state_can_be_stored() {
    let env = Env::new();
    env.write("talk.json", STATE);
    env.run(&["migrate", "-q", "talk.json"]).fine();
    env.run(&["cat", "--strict", "--to", "goaitools", "talk"])
        .fine()
        .gives(STATE);
    env.run(&["append", "talk", "third"]).fine();
    assert_eq!(parts(env.run(&["cat", "--to", "goaitools", "talk"]).out()).0, 4);
    env.run(&["append", "-r", "assistant", "--processed", "talk", "three"])
        .status(0);
    assert_eq!(
        parts(env.run(&["cat", "-q", "--to", "goaitools", "talk"]).out()).0,
        7
    );
    env.run(&["truncate", "-q", "talk", "--keep-last", "1"]).fine();
    let (seen, texts) = parts(env.run(&["cat", "-q", "--to", "goaitools", "talk"]).out());
    assert_eq!(
        (seen, texts),
        (3, vec!["it rained".into(), "third".into(), "three".into()])
    );
}

/// All commands that shorten a state keep unseen messages and their exchange.
#[test]
fn unseen_messages_are_kept() {
    let env = Env::new();
    let few = STATE.replace("\"processed_length\":4", "\"processed_length\":3");
    for (state, options, seen, texts) in [
        (STATE, &["--keep-last", "1"][..], 0, "it rained"),
        (&few, &["--keep-last", "1"], 1, "second, two, it rained"),
        (
            &few,
            &["--compat", "goaitools", "--keep-last", "1"],
            1,
            "second, two, it rained",
        ),
        (
            &few,
            &["--compat", "goaitools", "--message-limit", "3"],
            1,
            "second, two, it rained",
        ),
        (
            &few,
            &["--budget", "10", "--tokenizer", "chars4"],
            1,
            "second, two, it rained",
        ),
    ] {
        let run = env.pipe(&[&["compact", "-q"][..], options, &BACK].concat(), state);
        assert_eq!(
            parts(run.out()),
            (seen, texts.split(", ").map(str::to_string).collect()),
            "{options:?}: {run}"
        );
        assert_eq!(run.status, 0, "{run}");
    }
    // Every message is new to the model, so none is dropped.
    let new = STATE.replace("\"processed_length\":4", "\"processed_length\":0");
    for options in [
        &["--keep-last", "1"][..],
        &["--compat", "goaitools", "--keep-last", "1"],
        &["--compat", "goaitools", "--message-limit", "2"],
        &["--compat", "goaitools", "--budget", "1"],
        &["--budget", "1"],
    ] {
        let run = env.pipe(&[&["compact", "-q"][..], options, &BACK].concat(), &new);
        assert_eq!(run.out(), new, "{options:?}: {run}");
    }
    env.pipe(&["context", "--from", "goaitools", "--budget", "1"], &new)
        .status(1);
}

#[test]
fn digests_and_summaries_come_first_and_count_as_seen() {
    let env = Env::new();
    let tools = r#"{"version":1,"provider":"openai","processed_length":7,"messages":[{"role":"system","content":"Be terse."},{"role":"user","content":"Weather?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","content":"22 degrees, with clouds that come and go, and a little wind from the north and the west in the evening, and rain at night in all of the country","tool_call_id":"c"},{"role":"assistant","content":"It is 22."},{"role":"user","content":"And?"},{"role":"assistant","content":"No."}]}"#;
    for options in [
        &["--keep-last", "1", "--digest-tools"][..],
        &["--compat", "goaitools", "--keep-last", "1", "--digest-tools"],
    ] {
        let run = env
            .pipe(&[&["compact", "-q"][..], options, &BACK].concat(), tools)
            .fine();
        assert_eq!(
            run.out(),
            r#"{"version":1,"provider":"openai","processed_length":4,"messages":[{"role":"user","content":"[digest of 4 messages] user: Weather? | w({}) -\u003e 22 degrees, with clouds that come and go, and a little wind from the north an... | assistant: It is 22."},{"role":"system","content":"Be terse."},{"role":"user","content":"And?"},{"role":"assistant","content":"No."}]}"#
        );
    }
    // Without one, the instruction comes first, and goaitools would drop it.
    let arguments = ["compact", "--compat", "goaitools", "--keep-last", "1"];
    env.pipe(&with(&arguments), tools)
        .status(0)
        .says("the state starts with a system message, which goaitools drops at the next call");
    let long =
        "All of this was said before, and much more of it than anyone would want to read again. ".repeat(20);
    let talk = tools.replace("It is 22.", &long);
    let summed = [
        "compact", "-q", "--compat", "goaitools", "--keep-last", "1", "--with", "extract",
        "--summary-budget", "80",
    ];
    let run = env.pipe(&with(&summed), &talk).fine();
    let (seen, texts) = parts(run.out());
    assert_eq!((seen, texts.len()), (4, 4), "{run}");
    assert!(
        texts[0].contains("conversation_summary") && run.out().contains(r#"[{"role":"user""#),
        "{run}"
    );
}

/// In the encodings of value stores: compressed, base64, or both.
#[test]
fn a_compressed_state_remains_compressed() {
    let env = Env::new();
    env.write("plain.json", STATE);
    env.shell("gzip -c plain.json > state.json.gz && base64 plain.json > state.b64 && gzip -c plain.json | base64 | tr -d '=\\n' | tr '+/' '-_' > state.txt")
        .fine();
    for (name, unpack) in [
        ("state.json.gz", "gunzip -c state.json.gz"),
        ("state.b64", "base64 -d state.b64"),
        (
            "state.txt",
            "(tr -- '-_' '+/' < state.txt; echo ==) | base64 -di 2>/dev/null | gunzip -c",
        ),
    ] {
        let before = std::fs::read(env.work().join(name)).unwrap();
        env.run(&["truncate", "-q", "--keep-last", "9", "-i", name])
            .fine();
        env.run(&["cat", "--to", "goaitools", name]).fine().gives(&before);
        assert_eq!(std::fs::read(env.work().join(name)).unwrap(), before, "{name}");
        env.run(&["append", "-q", "-i", name, "and now"]).fine();
        let grown = env.shell(unpack).fine();
        assert_eq!(
            grown.out(),
            STATE.replace("]}", r#",{"role":"user","content":"and now"}]}"#),
            "{name}"
        );
        env.run(&["truncate", "-q", "--keep-last", "9", "-o", "other", name])
            .fine();
        assert!(
            env.read("other").starts_with("{\"type\":\"session\""),
            "another form is not packed"
        );
    }
    env.shell("gzip -c plain.json | head -c 100 > torn.json.gz")
        .status(0);
    env.run(&["cat", "torn.json.gz"])
        .status(65)
        .says("damaged gzip data");
}

#[test]
fn a_compressed_log_remains_compressed() {
    let env = Env::with_chat();
    env.shell("convo cat trip | gzip -c > trip.jsonl.gz").fine();
    env.run(&["append", "-q", "-i", "trip.jsonl.gz", "And then?"])
        .fine();
    let run = env
        .shell("gunzip -c trip.jsonl.gz | convo count --by role")
        .status(0);
    assert!(run.out().contains("user"), "{run}");
    env.shell("gunzip -c trip.jsonl.gz | tail -n 1 | grep -c 'And then?'")
        .fine()
        .gives("1\n");
}

#[test]
fn the_provider_that_is_expected() {
    let env = Env::new();
    let expect = |name: &'static str| with(&["cat", "--expect-provider", name]);
    env.pipe(&expect("openai"), STATE).fine().gives(STATE);
    env.pipe(&expect("OpenAI"), STATE)
        .status(65)
        .says("'openai'")
        .gives("");
    env.pipe(&["cat", "--expect-provider", "openai"], OPENAI)
        .status(65)
        .says("openai-chat");
    let nameless = STATE.replace("\"provider\":\"openai\",", "");
    env.pipe(&expect("openai"), &nameless)
        .status(65)
        .says("goaitools state without provider");
    env.pipe(&with(&["append", "--expect-provider", "mine", "q"]), "")
        .fine()
        .gives(r#"{"version":1,"provider":"mine","processed_length":0,"messages":[{"role":"user","content":"q"}]}"#);
    // A state for another provider is converted rather than discarded.
    let anthropic = STATE.replace("\"openai\"", "\"anthropic\"");
    for to in ["anthropic", "gemini", "openai-chat", "openai-responses"] {
        let run = env.pipe(&["cat", "-q", "--to", to], &anthropic).fine();
        assert!(run.out().contains("it rained"), "{run}");
    }
}

/// A summary never covers messages that the model has not seen.
#[test]
fn a_summary_never_covers_unseen_messages() {
    let env = Env::new();
    let long =
        "All of this was said before, and much more of it than anyone would want to read again. ".repeat(20);
    let state = STATE.replace("one", &long).replace("two", &long);
    let arguments = [
        "summarize", "-q", "--with", "extract", "--keep-last", "1", "--summary-budget", "60",
    ];
    let (seen, texts) = parts(env.pipe(&with(&arguments), &state).fine().out());
    assert_eq!((seen, texts.len(), texts[1].as_str()), (1, 2, "it rained"));
    let half = state.replace("\"processed_length\":4", "\"processed_length\":3");
    let (seen, texts) = parts(env.pipe(&with(&arguments), &half).fine().out());
    assert_eq!((seen, texts.len(), texts[1].as_str()), (2, 4, "second"));
    let new = state.replace("\"processed_length\":4", "\"processed_length\":1");
    env.pipe(&with(&arguments), &new).fine().gives(&new);
    // A second summary includes the first.
    let first = env
        .pipe(
            &with(&arguments),
            state.replace("\"it rained\"", &format!("{long:?}")),
        )
        .fine();
    let more = env
        .pipe(
            &with(&["append", "-q", "-r", "assistant", "--processed", "Yes, it did."]),
            first.out(),
        )
        .fine();
    let requested = env
        .pipe(&with(&["append", "-q", "--processed", "And then?"]), more.out())
        .fine();
    assert_eq!(parts(requested.out()).1.len(), 4);
    let second = env.pipe(&with(&arguments), requested.out()).fine();
    let (_, texts) = parts(second.out());
    assert_eq!(texts.len(), 2, "{second}");
    assert!(
        texts[0].contains("conversation_summary") && texts[1] == "And then?",
        "{second}"
    );
    env.pipe(
        &[&with(&arguments)[..], &["--cover", "..msg_nobody"]].concat(),
        &half,
    )
    .status(1);
}

/// The summary of goaitools' design covers the oldest exchanges up to half of the messages, and at least one.
#[test]
fn a_summary_of_the_design_covers_up_to_half() {
    // Letters: U user, A assistant, C assistant with a call, T its result, D a summary.
    let rows = [
        ("UAUAUAUA", 8, "2", "DUAUA", 5),
        ("UAUA", 4, "2", "UAUA", 4),
        ("UCTAUAUAUA", 10, "2", "DUAUAUA", 7),
        ("UAUAUAUAUU", 8, "2", "DUAUAUU", 5),
        ("UAUAUAUA", 8, "3", "DUAUAUA", 7),
        ("UAUAUAUAUA", 3, "1", "DUAUAUAUA", 2),
    ];
    let long = "said before, and at such length that it takes a good many words, ".repeat(8);
    for (letters, processed, keep, expected, after) in rows {
        let message = |(nth, letter): (usize, char)| match letter {
            'C' => format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"c{nth}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
            ),
            'T' => format!(
                r#"{{"role":"tool","content":"{long}","tool_call_id":"c{}"}}"#,
                nth - 1
            ),
            'A' => format!(r#"{{"role":"assistant","content":"{long}"}}"#),
            _ => format!(r#"{{"role":"user","content":"{long}"}}"#),
        };
        let messages: Vec<String> = letters.chars().enumerate().map(message).collect();
        let state = format!(
            r#"{{"version":1,"provider":"openai","processed_length":{processed},"messages":[{}]}}"#,
            messages.join(",")
        );
        let options = [
            "summarize", "-q", "--with", "cmd:echo In short.", "--at-most", "50%", "--min-gain", "0%",
        ];
        let arguments = [&with(&options)[..], &["--keep-last", keep]].concat();
        let run = Env::new().pipe(&arguments, &state).fine();
        let (seen, texts) = parts(run.out());
        let built: serde_json::Value = serde_json::from_str(run.out()).unwrap();
        let letter = |message: &serde_json::Value| match message["content"].as_str() {
            Some(text) if text.contains("In short.") => 'D',
            _ if message["role"] == "user" => 'U',
            _ if message["role"] == "tool" => 'T',
            _ if message.get("tool_calls").is_some() => 'C',
            _ => 'A',
        };
        let left: String = built["messages"].as_array().unwrap().iter().map(letter).collect();
        assert_eq!((left.as_str(), seen), (expected, after), "{letters}: {texts:?}");
    }
}

#[test]
fn parts_become_text_for_goaitools() {
    let env = Env::new();
    let message = r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"https://e.org/y.png"}},{"type":"text","text":"here"}]}"#;
    let run = env
        .pipe(&["cat", "--to", "goaitools"], format!("{message}\n"))
        .status(0)
        .says("attachments (1)");
    assert!(run.out().contains(r#""content":"look\nhere""#), "{run}");
    env.pipe(&["cat", "--to", "goaitools", "--strict"], format!("{message}\n"))
        .status(65);
}
