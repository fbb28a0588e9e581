//! Tests sessions of Kimi Code and Kimi CLI: every command, changes that preserve the other lines, and no conversion
//! to them.

use crate::agents::put;
use crate::env::{CHAT, Env};

const LOG: &str = r#"{"type":"metadata","protocol_version":"1.4","created_at":1785612803281}
{"type":"config.update","systemPrompt":"You know the sea.","modelAlias":"k2","time":1785612803281}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"How strong is the wind?"}],"toolCalls":[],"origin":{"kind":"user"}},"time":1785612812820}
{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"u1"},"time":1785612812821}
{"type":"context.append_loop_event","event":{"type":"tool.call","stepUuid":"u1","toolCallId":"w1","name":"wind","args":{"pier": "north"}},"time":1785612812822}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"w1","result":{"output":"11 kn"}},"time":1785612812823}
{"type":"context.append_loop_event","event":{"type":"step.end","uuid":"u1"},"time":1785612812824}
{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"u2","part":{"type":"text","text":"11 knots."}},"time":1785612812825}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"And the tide?"}],"toolCalls":[],"origin":{"kind":"user"}},"time":1785612812826}
"#;

const CONTEXT: &str = r#"{"role":"_system_prompt","content":"You know the sea."}
{"role":"_checkpoint","id":0}
{"role":"user","content":"How strong is the wind?"}
{"role":"assistant","content":"","tool_calls":[{"type":"function","id":"w1","function":{"name":"wind","arguments":"{\"pier\": \"north\"}"}}]}
{"role":"tool","content":"11 kn","tool_call_id":"w1"}
{"role":"assistant","content":"11 knots."}
{"role":"user","content":"And the tide?"}
"#;

const STATE: &str = r#"{"createdAt":"2026-08-03T07:00:00Z","title":"Wind","workDir":"/kites"}"#;

#[test]
fn every_command_accepts_the_format() {
    let env = Env::new();
    env.write("wire.jsonl", LOG);
    super::every_command_reads(&env, "wire.jsonl", "kimi", r#"{\"pier\": \"north\"}"#);
    env.write("context.jsonl", CONTEXT);
    super::every_command_reads(&env, "context.jsonl", "kimi", r#"{\"pier\": \"north\"}"#);
}

#[test]
fn in_place_all_lines_of_a_step_are_removed() {
    let env = Env::new();
    env.write("wire.jsonl", LOG);
    env.run(&["truncate", "--keep-last", "1", "-i", "wire.jsonl"])
        .status(0);
    let lines: Vec<&str> = LOG.lines().collect();
    let left = [lines[0], lines[1], lines[8]].join("\n") + "\n";
    assert_eq!(env.read("wire.jsonl"), left);
}

/// A later prompt of the log became the prompt of the session, and the directory and model were removed with the prompt.
#[test]
fn a_dropped_prompt_is_not_replaced_by_a_later_one() {
    let env = Env::new();
    let later = r#"{"type":"config.update","systemPrompt":"You know the wind.","time":1785612812827}"#;
    env.write("wire.jsonl", format!("{LOG}{later}\n"));
    env.run(&["drop", "--role", "system", "-i", "wire.jsonl"])
        .status(0)
        .says("also removed 1 later system prompt")
        .says("dropped 1 of 6 messages");
    env.run(&["drop", "--role", "system", "wire.jsonl"]).status(1);
    let after = env.read("wire.jsonl");
    assert!(!after.contains("You know"), "{after}");
    assert!(
        after.contains(r#"{"type":"config.update","modelAlias":"k2","time":1785612803281}"#),
        "{after}"
    );
    assert_eq!(after.lines().count(), LOG.lines().count() + 1, "{after}");
}

/// A reply of a display stream that lost its reasoning was written as a step without content, which is not a message.
#[test]
fn an_empty_reply_remains_when_its_reasoning_is_dropped() {
    let env = Env::new();
    let line = |kind: &str, payload: &str| {
        format!("{{\"timestamp\":1.5,\"message\":{{\"type\":\"{kind}\",\"payload\":{payload}}}}}\n")
    };
    let thought = format!("{{\"type\":\"think\",\"think\":\"{}\"}}", "hmm ".repeat(300));
    let stream = [
        line("TurnBegin", "{\"user_input\":\"one\"}"),
        line("StepBegin", "{\"n\":1}"),
        line("ContentPart", &thought),
        line("TurnBegin", "{\"user_input\":\"two\"}"),
        line("StepBegin", "{\"n\":2}"),
        line("ContentPart", "{\"type\":\"text\",\"text\":\"hi\"}"),
    ];
    let head = "{\"type\":\"metadata\",\"protocol_version\":\"1\"}\n";
    env.write("wire.jsonl", head.to_string() + &stream.concat());
    env.run(&["compact", "--budget", "200", "-i", "wire.jsonl"])
        .status(0)
        .says("4 to 4 messages");
    assert!(!env.read("wire.jsonl").contains("hmm"));
    let messages = env.run(&["cat", "--to", "jsonl", "wire.jsonl"]).status(0);
    assert_eq!(messages.out().lines().count(), 4, "{messages}");
}

#[test]
fn sessions_from_elsewhere_are_refused() {
    let env = Env::new();
    env.pipe(&["cat", "--to", "kimi"], CHAT)
        .status(2)
        .says("each version of Kimi Code");
}

#[test]
fn sessions_in_both_homes_have_names() {
    let env = Env::new();
    let code = ".kimi-code/sessions/wd_kites_0123456789ab/s1-0001";
    put(&env, format!("{code}/agents/main/wire.jsonl"), LOG, 1);
    put(&env, format!("{code}/state.json"), STATE, 1);
    put(
        &env,
        ".kimi/sessions/0123456789abcdef/s2-0001/context.jsonl",
        CONTEXT,
        2,
    );
    let rows = env.run(&["list", "--agents", "--json"]).fine().objects();
    let mut names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["kimi-code:s1-0001", "kimi:s2-0001"]);
    let row = rows.iter().find(|row| row["program"] == "kimi-code").unwrap();
    assert_eq!(
        (&row["title"], &row["project"]),
        (&"Wind".into(), &"/kites".into())
    );
    // The index of Kimi CLI names the last session of a project; the others are next to it.
    put(
        &env,
        ".kimi/sessions/0123456789abcdef/s3-0001/context.jsonl",
        CONTEXT,
        3,
    );
    put(&env, ".kimi/sessions/fedcba98/s4-0001/context.jsonl", CONTEXT, 4);
    let index = r#"{"work_dirs":[{"path":"/other","last_session_id":null},{"path":"/pi er","last_session_id":"s2-0001"}]}"#;
    put(&env, ".kimi/kimi.json", index, 1);
    let list = |project: &[&str]| {
        let options = [
            "list", "--agents", "--program", "kimi", "--columns", "name,project",
        ];
        let run = env.run(&[&options[..], project].concat()).fine();
        run.out().to_string()
    };
    let own = "kimi:s2-0001\t/pi er\nkimi:s3-0001\t/pi er\n";
    assert_eq!(list(&["--project", "/pi er"]), own);
    assert_eq!(list(&[]), format!("{own}kimi:s4-0001\t-\n"));
    for name in ["kimi-code:s1-0001", "kimi:s2-0001"] {
        let shown = env.run(&["show", name]).fine();
        assert!(shown.out().contains("And the tide?"), "{shown}");
    }
}
