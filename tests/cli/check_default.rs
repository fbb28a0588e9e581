//! Tests `convo check` without an API, its summary, and rules that a first message violates.

use crate::check::BROKEN;
use crate::env::{CHAT, Env, OPENAI};
use serde_json::Value;

#[test]
fn without_an_api_structure_and_the_api_of_the_format_are_checked() {
    let env = Env::new();
    env.write("broken.jsonl", BROKEN);
    let run = env.run(&["check", "broken.jsonl"]).status(1);
    let found = |run: &crate::env::Run| -> Vec<String> {
        let rules = run
            .out()
            .lines()
            .map(|line| line.split(' ').nth(1).unwrap().to_string());
        rules.collect()
    };
    assert_eq!(found(&run), ["ST07", "ST02", "ST01"], "{run}");
    let run = env
        .pipe(&["check"], CHAT)
        .status(0)
        .says("structure, 7 elements: valid");
    assert!(!run.stderr.contains("openai"), "{run}");
    // A session that is not being sent may end with a call.
    let open: String = CHAT.lines().take(4).map(|line| format!("{line}\n")).collect();
    let run = env.pipe(&["check"], &open).status(0);
    assert_eq!(found(&run), ["ST02"]);
    env.pipe(&["check", "--strict"], &open).status(1);
    // Pairs, ids and roles.
    for (rule, messages) in [
        (
            "ST01",
            r#"{"role":"user","content":"u"}
{"role":"tool","tool_call_id":"c","content":"r"}"#,
        ),
        (
            "ST03",
            r#"{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"1"}},{"id":"c","type":"custom","custom":{"name":"f","input":"1"}}]}
{"role":"tool","tool_call_id":"c","content":"r"}
{"role":"tool","tool_call_id":"c","content":"r"}"#,
        ),
        (
            "ST05",
            r#"{"role":"user","content":"u","id":"m"}
{"role":"assistant","content":"a","id":"m"}"#,
        ),
        ("ST06", r#"{"role":"robot","content":"u"}"#),
    ] {
        let run = env.pipe(&["check", "--from", "native"], messages).status(1);
        assert_eq!(found(&run), [rule], "{run}");
        let level = format!("{rule}=off");
        env.pipe(&["check", "--from", "native", "--rule", &level], messages)
            .status(0);
    }
    let claude = env.pipe(&["cat", "--to", "claude-code"], CHAT);
    env.write("claude.jsonl", &claude.stdout);
    env.run(&["check", "claude.jsonl"])
        .status(0)
        .says("anthropic, ")
        .says("structure, ");
    // A session is checked for the API whose format it was read from.
    let native = env.run(&["cat", "claude.jsonl"]);
    env.pipe(&["check"], &native.stdout).status(0).says("anthropic, ");
    let codex = env.pipe(&["cat", "--to", "codex"], CHAT);
    env.pipe(&["check"], &codex.stdout)
        .status(0)
        .says("openai-responses, ");
    env.pipe(&["check"], OPENAI).status(0).says("openai-chat, ");
    env.pipe(&["check", "--for", "claude"], CHAT)
        .status(0)
        .says("anthropic, ");
    env.pipe(&["check", "--for", "openai"], CHAT)
        .status(0)
        .says("openai-chat, ");
    env.pipe(&["check", "--fix"], CHAT)
        .status(2)
        .says("--fix requires --for");
    env.pipe(&["check", "--extended-thinking"], CHAT)
        .status(2)
        .says("--extended-thinking requires --for");
}

#[test]
fn json_ends_each_session_with_a_summary() {
    let env = Env::new();
    let run = env
        .pipe(
            &["check", "--json", "--for", "anthropic"],
            format!("{BROKEN}{CHAT}"),
        )
        .status(1);
    assert_eq!(run.stderr, "");
    let rows: Vec<Value> = run
        .out()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (summaries, findings): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| row["schema"] == "convo.check-summary/1");
    assert!(
        findings
            .iter()
            .all(|row| row["schema"] == "convo.check/1" && row["api"] == "anthropic")
    );
    let result: Vec<_> = summaries
        .iter()
        .map(|row| (row["session"].as_str().unwrap(), row["valid"] == true))
        .collect();
    assert_eq!(result, [("broken", false), ("trip", true)]);
    assert_eq!(
        summaries[0]["errors"].as_u64().unwrap() + summaries[0]["warnings"].as_u64().unwrap(),
        findings.len() as u64 - 1
    );
    assert_eq!(summaries[0]["checks"][0]["api"], "anthropic");
    let run = env.pipe(&["check", "--json"], CHAT).fine();
    assert_eq!(run.out().lines().count(), 1);
}

#[test]
fn thinking_of_the_user_and_a_call_in_front_are_found() {
    let env = Env::new();
    let reasoning = r#"{"model":"m","max_tokens":1,"system":"s","messages":[{"role":"user","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x"}]}]}"#;
    let run = env.pipe(&["check", "--for", "anthropic"], reasoning).status(1);
    assert!(run.out().contains(" AN10 error: "), "{run}");
    let call = r#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}]}"#;
    let run = env.pipe(&["check", "--for", "gemini"], call).status(1);
    assert!(
        run.out().contains(" GE02 error: ") && run.out().contains(" GE06 error: "),
        "{run}"
    );
    for fix in ["--fix", "--fix=stub", "--fix=drop"] {
        let fixed = env.pipe(&["check", "--for", "gemini", fix, "--to", "gemini"], call);
        let again = env.pipe(&["check", "-q", "--for", "gemini"], &fixed.stdout);
        assert!(!again.out().contains(" error: "), "{fix}: {again}");
    }
}
