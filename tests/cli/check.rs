//! `convo check`.

use crate::env::{CHAT, Env, OPENAI};
use serde_json::Value;

/// A call without a result, a result without a call, and two calls with one id.
pub const BROKEN: &str = concat!(
    r#"{"type":"session","version":1,"id":"broken"}"#,
    "\n",
    r#"{"role":"user","content":"Weather?","id":"m1","timestamp":"2026-11-01T10:00:01Z"}"#,
    "\n",
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{oops"}}],"id":"m2","x":1.0}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c1","content":"sunny","id":"m3"}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c9","content":"lost","id":"m4"}"#,
    "\n",
    r#"{"role":"assistant","content":"Sunny.","id":"m5"}"#,
    "\n",
    r#"{"role":"user","content":"Thanks","id":"m6"}"#,
    "\n",
);

const APIS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

#[test]
fn a_finding_states_rule_line_message_and_repair() {
    let env = Env::new();
    env.write("broken.jsonl", BROKEN);
    snapshot!(
        "check",
        env.run(&["check", "--for", "openai-chat", "broken.jsonl"])
    );
    snapshot!(
        "check_json",
        env.run(&["check", "--for", "anthropic", "--json", "broken.jsonl"])
    );
    for api in APIS {
        let run = env.pipe(&["check", "--for", api], BROKEN).status(1);
        assert!(run.out().lines().all(|line| line.starts_with("-:")), "{run}");
        env.pipe(
            &["check", "-q", "--for", api, "--prefill"][..if api.starts_with('o') { 4 } else { 5 }],
            CHAT,
        )
        .status(0);
    }
}

#[test]
fn a_repaired_stream_is_valid_and_a_valid_one_keeps_its_bytes() {
    let env = Env::new();
    for api in APIS {
        for fix in ["--fix", "--fix=drop", "--fix=stub", "--fix=text"] {
            let run = env.pipe(&["check", "--for", api, fix], BROKEN).status(0);
            assert!(run.stderr.contains("repairs ("), "{run}");
            let again = env.pipe(&["check", "-q", "--for", api], &run.stdout).fine();
            assert!(!again.out().contains(" error: "), "{api} {fix}: {again}");
            // Lines that no rule reports keep their bytes.
            let lines: Vec<&str> = run.out().lines().collect();
            for line in BROKEN
                .lines()
                .enumerate()
                .filter(|(nth, _)| ![2, 4].contains(nth))
                .map(|(_, line)| line)
            {
                assert!(lines.contains(&line), "{api} {fix}: {line}");
            }
            env.pipe(&["check", "-q", "--for", api, fix], CHAT)
                .fine()
                .gives(CHAT);
        }
    }
    snapshot!(
        "check_fix",
        env.pipe(&["check", "--for", "openai-chat", "--fix"], BROKEN)
    );
}

#[test]
fn a_stored_repair_is_one_event_and_can_be_undone() {
    let env = Env::new();
    env.write("broken.jsonl", BROKEN);
    env.run(&["migrate", "-q", "broken.jsonl"]).fine();
    let before = env.run(&["context", "broken"]).fine().stdout;
    let run = env
        .run(&["check", "--for", "anthropic", "--fix", "broken"])
        .status(0)
        .gives("");
    assert!(run.stderr.contains("AN03 the result for c9: dropped"), "{run}");
    let log = env.run(&["cat", "broken"]).fine();
    assert_eq!(log.out().lines().count(), BROKEN.lines().count() + 1);
    snapshot!("check_event", log.out().strip_prefix(BROKEN).unwrap());
    let fixed = env.run(&["context", "broken"]).fine().stdout;
    env.run(&["check", "--for", "anthropic", "broken"]).status(0);
    env.run(&["check", "--for", "anthropic", "--fix", "broken"])
        .status(0)
        .says("convo: broken: unchanged: nothing to repair\n");
    env.pipe(&["check", "-q", "--for", "anthropic", "--fix"], BROKEN)
        .fine()
        .gives(&fixed);
    env.run(&["restore", "-q", "broken"]).fine();
    env.run(&["context", "broken"]).fine().gives(&before);
}

#[test]
fn a_file_is_repaired_in_place_in_its_own_format() {
    let env = Env::new();
    let request = r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"x","content":"r"},{"role":"assistant","content":"ok"}]}"#;
    env.write("request.json", request);
    let dry = env
        .run(&[
            "check", "--for", "openai-chat", "--fix", "-n", "-i", "request.json",
        ])
        .status(0);
    assert!(dry.out().contains(r#""type":"compact""#), "{dry}");
    assert_eq!(env.read("request.json"), request);
    env.run(&[
        "check", "--for", "openai-chat", "--fix", "-i=.bak", "request.json",
    ])
    .status(0);
    let kept: Value = serde_json::from_str(&env.read("request.json")).unwrap();
    assert_eq!(kept["messages"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&kept["model"], env.read("request.json.bak")),
        (&Value::from("m"), request.to_string())
    );
    // A message before the calls ends the results: checked as it is, not as a writer would repair it.
    let late = r#"{"messages":[{"role":"user","content":"u"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"v"},{"role":"tool","tool_call_id":"a","content":"r"}]}"#;
    let run = env.pipe(&["check", "--for", "openai-chat"], late).status(1);
    assert!(run.out().contains("OC01") && run.out().contains("OC02"), "{run}");
}

#[test]
fn several_inputs_and_sessions() {
    let env = Env::with_chat();
    env.write("broken.jsonl", BROKEN);
    let run = env
        .run(&["check", "--for", "openai-chat", "trip", "broken.jsonl"])
        .status(1);
    assert!(
        run.stderr.contains("convo: trip: openai-chat, 7 elements: valid"),
        "{run}"
    );
    let run = env
        .pipe(
            &["check", "--json", "--for", "openai-chat"],
            format!("{CHAT}{BROKEN}{BROKEN}"),
        )
        .status(1);
    let findings = || run.objects().into_iter().filter(|row| row["rule"].is_string());
    let sessions: Vec<_> = findings().map(|row| row["session"].clone()).collect();
    assert_eq!(sessions, ["broken"; 6]);
    let lines: Vec<_> = findings().map(|row| row["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [11, 11, 13, 18, 18, 20]);
    env.run(&["check", "--for", "openai-chat", "nobody", "trip"])
        .status(66);
}

#[test]
fn levels_and_strict() {
    let env = Env::new();
    let check = |options: &[&str]| env.pipe(&[&["check", "--for", "anthropic"], options].concat(), CHAT);
    assert!(check(&[]).status(0).out().contains("AN09 warn"));
    check(&["--strict"]).status(1);
    check(&["--strict", "--prefill"]).status(0).gives("");
    check(&["--rule", "AN09=error"]).status(1);
    check(&["--strict", "--rule", "an09=off"]).status(0).gives("");
    check(&["--rule", "AN09=error", "--rule", "AN09=off"]).status(0);
    let open: String = CHAT.split_inclusive('\n').take(4).collect();
    for api in APIS {
        env.pipe(&["check", "--for", api], &open).status(1);
        let run = env
            .pipe(&["check", "--for", api, "--allow-open-call", "--fix"], &open)
            .status(0);
        let signed = api == "gemini";
        assert_eq!(run.out() == open, !signed, "{run}");
    }
    let twice = "{\"role\":\"user\",\"content\":\"1\"}\n{\"role\":\"user\",\"content\":\"2\"}\n";
    env.pipe(&["check", "--for", "openai-chat"], twice).status(0);
    let run = env
        .pipe(&["check", "--for", "openai-chat", "--alternate", "--fix"], twice)
        .status(0);
    assert_eq!(run.out().lines().count(), 1, "{run}");
}

#[test]
fn usage() {
    let env = Env::new();
    let refused = |options: &[&str], says: &str| {
        let run = env.pipe(&[&["check"], options].concat(), CHAT).status(2);
        assert!(run.stderr.contains(says), "{run}");
    };
    refused(
        &["--for", "mistral"],
        "unknown API; expected one of openai-chat, openai-responses, anthropic, gemini",
    );
    refused(&["--for", "gemini", "--fix=mend"], "expected drop, stub or text");
    refused(&["--for", "gemini", "--rule", "GE99=off"], "no such rule");
    refused(&["--for", "gemini", "--rule", "GE01=loud"], "off, warn or error");
    refused(
        &["--for", "gemini", "--rule", "OC01=off"],
        "--rule: OC01 is not a rule of gemini",
    );
    refused(
        &["--for", "gemini", "--extended-thinking"],
        "--extended-thinking requires --for anthropic, not gemini",
    );
    refused(
        &["--for", "openai-chat", "--gemini-version", "3"],
        "--gemini-version requires --for gemini",
    );
    refused(
        &["--for", "gemini", "--gemini-version", "new"],
        "expected a version",
    );
    for option in [
        &["-i"][..],
        &["-n"],
        &["--stdout"],
        &["-o", "x"],
        &["--to", "native"],
    ] {
        refused(&[&["--for", "gemini"], option].concat(), "require --fix");
    }
}

#[test]
fn bad_input() {
    let env = Env::new();
    // An empty input, an empty view, only results, and damage.
    let empty = "{\"type\":\"session\",\"version\":1,\"id\":\"e\"}\n";
    let run = env.pipe(&["check", "--for", "openai-chat"], empty).status(1);
    assert!(run.out().contains("OC11 error"), "{run}");
    env.pipe(&["check", "--for", "anthropic"], empty).status(0);
    let run = env
        .pipe(&["check", "--for", "openai-chat", "--fix"], empty)
        .status(1)
        .gives(empty);
    assert!(run.stderr.contains("left: OC11"), "{run}");
    let results = "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"r\"}\n".repeat(2);
    for api in APIS {
        env.pipe(&["check", "--for", api], &results).status(1);
        let run = env
            .pipe(&["check", "--for", api, "--fix"], &results)
            .status(1)
            .gives(&results);
        assert!(
            run.stderr.contains("the repair would drop every message"),
            "{run}"
        );
        let run = env
            .pipe(&["check", "--for", api, "--fix=text"], &results)
            .status(0);
        env.pipe(&["check", "--for", api], &run.stdout).status(0);
    }
    let damaged = format!("not json\n{BROKEN}also not\n");
    let run = env.pipe(&["check", "--for", "openai-chat"], &damaged).status(65);
    assert!(run.out().contains("-:4: OC02"), "{run}");
    env.pipe(&["check", "--for", "openai-chat", "--strict"], &damaged)
        .status(65);
    let run = env
        .pipe(&["check", "--for", "openai-chat", "--fix"], &damaged)
        .status(65);
    assert!(
        run.out().starts_with("not json\n") && run.out().ends_with("also not\n"),
        "{run}"
    );
    env.run(&["check", "--for", "openai-chat", "nofile.json"])
        .status(66);
    // An unknown role is only reported.
    let odd = "{\"role\":\"user\",\"content\":\"u\"}\n{\"role\":\"owl\",\"content\":\"hoo\"}\n";
    let run = env
        .pipe(&["check", "--for", "openai-chat", "--fix"], odd)
        .status(1)
        .gives(odd);
    assert!(run.stderr.contains("left: OC07"), "{run}");
}

#[test]
fn output_of_context_is_valid() {
    let env = Env::new();
    for api in APIS {
        let run = env.pipe(&["context", "--to", api], BROKEN).status(0);
        assert!(run.stderr.contains("repaired: "), "{run}");
        let again = env
            .pipe(&["check", "-q", "--for", api, "--from", api], &run.stdout)
            .fine();
        assert!(!again.out().contains(" error: "), "{api}: {again}");
        let run = env
            .pipe(&["context", "--strict", "--to", api], BROKEN)
            .status(65)
            .gives("");
        assert!(run.stderr.contains(": 2 repairs"), "{run}");
    }
    env.pipe(&["context", "--to", "openai-chat"], OPENAI).status(0);
    let empty = "{\"type\":\"session\",\"version\":1,\"id\":\"e\"}\n";
    env.pipe(&["context", "--to", "openai-chat"], empty)
        .status(1)
        .gives("")
        .says("convo: -: the view has no message to send\n");
    let odd = "{\"role\":\"owl\",\"content\":\"hoo\"}\n";
    let run = env
        .pipe(&["context", "--from", "jsonl", "--to", "openai-chat"], odd)
        .status(1)
        .gives("");
    assert!(run.stderr.contains("OC07"), "{run}");
}

#[test]
fn content_other_than_text_and_lists_is_reported() {
    let env = Env::new();
    let session = concat!(
        r#"{"role":"system","content":{"rules":1}}"#,
        "\n",
        r#"{"role":"user","content":{"a":1}}"#,
        "\n",
        r#"{"role":"assistant","content":5}"#,
        "\n",
        r#"{"role":"user","content":"text"}"#,
        "\n",
    );
    let run = env.pipe(&["check", "--for", "openai-chat"], session).status(1);
    let found: Vec<&str> = run
        .out()
        .lines()
        .filter(|line| line.contains("OC08 error"))
        .collect();
    assert_eq!(found.len(), 3, "{run}");
    let fixed = env.pipe(&["check", "--for", "openai-chat", "--fix"], session);
    assert_eq!(fixed.objects()[1]["content"], r#"{"a":1}"#, "{fixed}");
    env.pipe(&["check", "--for", "openai-chat"], fixed.out())
        .status(0);
    // The other APIs do not support this content: the command that builds a request reports the loss.
    for api in ["anthropic", "gemini", "openai-responses"] {
        let lost = format!("{api} cannot represent: parts (3)");
        env.pipe(&["check", "--for", api], session).says(&lost);
        env.pipe(&["cat", "--to", api], session).says(&lost);
        env.pipe(&["cat", "--strict", "--to", api], session)
            .status(65)
            .gives("");
    }
}
