//! Tests tools: commands that answer the calls of a model.

use super::server::{Act, Server, json, whole};
use super::{ASKED, HELLO, llm};
use crate::env::{Env, Run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json as value};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

fn calls(names: &[&str]) -> Vec<Act> {
    let calls: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(nth, name)| {
            value!({"id": format!("c{nth}"), "type": "function", "function": {"name": name, "arguments": "{\"city\":\"Rome\"}"}})
        })
        .collect();
    json(&value!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": calls}, "finish_reason": "tool_calls"}]}).to_string())
}

/// A model that calls these tools and greets after the results.
fn calling(names: &'static [&'static str]) -> Server {
    Server::new(move |nth, _| if nth == 0 { calls(names) } else { json(HELLO) })
}

/// Runs a call of tool `t`; returns its result.
fn result(env: &Env, command: &str, options: &[&str]) -> (Run, Value) {
    let tool = format!("t={command}");
    let run = llm(
        env,
        &calling(&["t"]),
        &[&["--tool", &tool, "-q"], options].concat(),
        ASKED,
    )
    .status(0);
    let records = run.objects();
    assert_eq!(records.len(), 3, "{run}");
    (run, records[1].clone())
}

#[test]
fn a_command_answers_a_call() {
    let env = Env::new();
    let server = calling(&["t", "t"]);
    let run = llm(&env, &server, &["--tool", "t=cat; echo \" $CONVO_TOOL\""], ASKED).status(0);
    let records = run.objects();
    let result =
        value!({"role": "tool", "tool_call_id": "c0", "name": "t", "content": "{\"city\":\"Rome\"}\n t"});
    assert_eq!((records.len(), &records[1]), (4, &result));
    assert_eq!(records[2]["tool_call_id"], "c1");
    assert_eq!(records[3]["content"], "Hello.");
    let sent = server.requests();
    assert_eq!(
        sent[0].json()["tools"],
        value!([{"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}}}}])
    );
    let last = sent[1].json();
    assert_eq!(last["messages"].as_array().unwrap().len(), 5);
    assert_eq!(last["messages"][4]["content"], "{\"city\":\"Rome\"}\n t");
    assert!(run.stderr.contains("calls t {\"city\":\"Rome\"}"), "{run}");
}

#[test]
fn a_failing_command_is_reported_to_the_model() {
    let env = Env::new();
    let (_, failed) = result(&env, "echo half; echo no such city >&2; exit 3", &[]);
    assert_eq!(failed["content"], "half\nfailed with status 3\nno such city");
    assert_eq!(failed["metadata"]["is_error"], true);
    let (_, failed) = result(&env, "kill -9 $$", &[]);
    assert_eq!(failed["content"], "killed by signal 9");
    let (_, failed) = result(&env, "yes", &[]);
    assert!(
        failed["content"].as_str().unwrap().contains("longer than"),
        "{failed}"
    );
    let (_, fine) = result(&env, "printf 'a\\377b'", &[]);
    assert_eq!(
        (fine["content"].as_str(), fine.get("metadata")),
        (Some("a\u{fffd}b"), None)
    );
    let (_, silent) = result(&env, "true", &[]);
    assert_eq!(silent["content"], "");
}

/// Child processes are killed too.
#[test]
fn a_command_is_killed_after_its_timeout() {
    let env = Env::new();
    let (_, late) = result(
        &env,
        "sleep 600 & echo $! > pid.txt; wait",
        &["--tool-timeout", "500ms"],
    );
    assert!(
        late["content"]
            .as_str()
            .unwrap()
            .contains("timed out after 500 ms"),
        "{late}"
    );
    is_gone(&env.read("pid.txt"));
}

/// Interrupting the program kills the command.
#[test]
fn a_command_is_killed_with_the_program() {
    let env = Env::new();
    let url = calling(&["t"]).url();
    let tool = "t=sleep 600 & echo $! > pid.tmp; mv pid.tmp pid.txt; wait";
    let mut command = env.command(&["llm", "-m", "m", "--base-url", &url, "--tool", tool, "-q"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(ASKED.as_bytes()).unwrap();
    super::server::until(|| env.work().join("pid.txt").exists());
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(
        (ended.status.signal(), ended.stdout.as_slice()),
        (Some(15), &b""[..])
    );
    is_gone(&env.read("pid.txt"));
}

#[track_caller]
fn is_gone(pid: &str) {
    super::server::until(|| {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        state.map_or(true, |state| state.contains(") Z"))
    });
}

#[test]
fn a_call_without_a_command_is_returned() {
    let env = Env::new();
    env.write(
        "page.json",
        r#"{"description": "A page.", "parameters": {"type": "object"}}"#,
    );
    let server = calling(&["page"]);
    let run = llm(&env, &server, &["--tool-schema", "page=page.json"], ASKED).status(0);
    let records = run.objects();
    assert_eq!(
        (records.len(), &records[0]["tool_calls"][0]["function"]["name"]),
        (1, &value!("page"))
    );
    let offered = value!({"name": "page", "description": "A page.", "parameters": {"type": "object"}});
    assert_eq!(server.last().json()["tools"][0]["function"], offered);
    assert!(run.stderr.contains("(no result yet)"), "{run}");
    // Then no call is run: a history needs all results.
    let server = calling(&["t", "page"]);
    let options = ["--tool", "t=touch ran", "--tool-schema", "page=page.json"];
    assert_eq!(llm(&env, &server, &options, ASKED).status(0).objects().len(), 1);
    assert!(!env.work().join("ran").exists());
    // The same without any tool.
    assert_eq!(
        llm(&env, &calling(&["x"]), &[], ASKED).status(0).objects().len(),
        1
    );
}

#[test]
fn a_call_of_an_unknown_tool_is_an_error_result() {
    let env = Env::new();
    let run = llm(&env, &calling(&["other"]), &["--tool", "t=true", "-q"], ASKED).status(0);
    let records = run.objects();
    assert_eq!(records[1]["content"], "no such tool: \"other\"");
    assert_eq!(records[1]["metadata"]["is_error"], true);
}

#[test]
fn it_stops_after_so_many_steps() {
    let env = Env::new();
    let server = Server::new(|_, _| calls(&["t"]));
    let options = ["--tool", "t=echo x", "--max-steps", "3", "-q"];
    let run = llm(&env, &server, &options, ASKED)
        .status(1)
        .says("after 3 requests");
    assert_eq!(server.requests().len(), 3);
    assert_eq!(run.objects().len(), 6);
    let session = format!("{ASKED}{}", run.out());
    env.pipe(&["check", "--for", "openai-chat", "-"], session)
        .status(0);
}

/// Records of completed steps are printed despite a later failure, and the next run continues after them.
#[test]
fn a_failure_after_a_step_keeps_the_step() {
    let env = Env::new();
    let server = Server::new(|nth, _| match nth {
        0 => calls(&["t"]),
        1 => whole("400 Bad", "", "no"),
        _ => json(HELLO),
    });
    let run = llm(&env, &server, &["--tool", "t=echo x"], ASKED).status(69);
    let run = run.says("printing the 2 messages so far");
    assert_eq!(run.objects().len(), 2);
    let session = format!("{ASKED}{}", run.out());
    llm(&env, &server, &[], &session).status(0);
    assert_eq!(server.last().json()["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn invalid_tools_are_reported_before_any_request() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    env.write("broken.json", "{\"type\":");
    env.write("list.json", "[]");
    for (options, status) in [
        (vec!["--tool", "t"], 2),
        (vec!["--tool", "a b=c"], 2),
        (vec!["--tool", "t= "], 2),
        (vec!["--tool", "t=x", "--tool", "t=y"], 2),
        (vec!["--tool-schema", "t=nothing.json"], 66),
        (vec!["--tool-schema", "t=broken.json"], 65),
        (vec!["--tool-schema", "t=list.json"], 65),
        (vec!["--max-steps", "0"], 2),
    ] {
        llm(&env, &server, &options, ASKED).status(status).gives("");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn schemas_are_accepted_in_the_form_of_any_api() {
    let env = Env::new();
    let schema = value!({"type": "object", "properties": {"a": {"type": "string"}}});
    for (nth, file) in [
        schema.clone(),
        value!({"name": "t", "description": "T.", "input_schema": schema}),
        value!({"type": "function", "function": {"name": "t", "description": "T.", "parameters": schema}}),
    ]
    .into_iter()
    .enumerate()
    {
        env.write("t.json", file.to_string());
        for (api, at) in [
            ("anthropic", "/tools/0/input_schema"),
            ("openai-responses", "/tools/0/parameters"),
            ("openai-chat", "/tools/0/function/parameters"),
        ] {
            let server = Server::always(whole("400 Bad", "", ""));
            let options = ["--api", api, "--tool", "t=true", "--tool-schema", "t=t.json"];
            llm(&env, &server, &options, ASKED).status(69);
            let sent = server.last().json();
            assert_eq!(sent.pointer(at), Some(&schema), "{nth} {api}");
            assert_eq!(sent.to_string().contains("T."), nth > 0, "{nth} {api}");
        }
    }
}

/// A tool may be made to print its environment.
#[test]
fn keys_do_not_reach_tools() {
    let env = Env::new();
    let keys = ["CONVO_LLM_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    let seen = |options: &[&str]| {
        let server = calling(&["t"]);
        let mut arguments = vec!["-m", "m", "--tool", "t=env; cat /proc/self/environ", "-q"];
        arguments.extend(options);
        let mut command = env.command(&["llm"]);
        command
            .args(&arguments)
            .env("CONVO_LLM_BASE_URL", server.url())
            .env("OTHER", "kept");
        for key in keys {
            command.env(key, format!("sk-{key}"));
        }
        let run = env.feed(command, ASKED.as_bytes()).status(0);
        run.objects()[1]["content"].as_str().unwrap().to_string()
    };
    let content = seen(&[]);
    assert!(content.contains("OTHER=kept"), "{content}");
    assert!(!content.contains("sk-"), "{content}");
    let content = seen(&["--tool-env", "OPENAI_API_KEY"]);
    assert!(content.contains("OPENAI_API_KEY=sk-OPENAI_API_KEY"), "{content}");
    assert!(!content.contains("sk-CONVO_LLM_KEY"), "{content}");
}

/// A reply may contain any number of calls, each of which would run a command.
#[test]
fn the_number_of_calls_is_limited() {
    let env = Env::new();
    let many = || Server::new(|nth, _| if nth < 3 { calls(&["t"; 50]) } else { json(HELLO) });
    for (options, per_reply, in_all) in [
        (&[][..], 32, 96),
        (&["--max-calls", "5"], 5, 15),
        (&["--max-total-calls", "40"], 32, 40),
    ] {
        let options = [&["--tool", "t=echo ran >> ran.txt", "-q"], options].concat();
        let run = llm(&env, &many(), &options, ASKED).status(0);
        let records = run.objects();
        // Every call is answered, so that the history is valid.
        assert_eq!(records.len(), 3 * 51 + 1);
        let is_refused = |record: &&Value| {
            record["content"]
                .as_str()
                .is_some_and(|text| text.starts_with("not run: "))
        };
        assert_eq!(
            records[1..51].iter().filter(is_refused).count(),
            50 - per_reply,
            "{options:?}"
        );
        assert_eq!(env.read("ran.txt").lines().count(), in_all, "{options:?}");
        std::fs::remove_file(env.work().join("ran.txt")).unwrap();
    }
}

#[test]
fn model_output_reaches_a_tool_on_standard_input_only() {
    let env = Env::new();
    let hostile = r#"{"x":"$(touch PWNED) `touch PWNED` '; touch PWNED; '"}"#;
    let reply = move |name: &str| {
        let call = value!({"id": "$(touch PWNED)", "type": "function", "function": {"name": name, "arguments": hostile}});
        json(&value!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}).to_string())
    };
    for name in ["t", "$(touch PWNED)", "t; touch PWNED", "PATH"] {
        let server = Server::new(move |nth, _| if nth == 0 { reply(name) } else { json(HELLO) });
        let tool = "t=cat >/dev/null; echo $#; env; tr '\\0' ' ' < /proc/$$/cmdline";
        let run = llm(&env, &server, &["--tool", tool, "-q"], ASKED).status(0);
        let content = run.objects()[1]["content"].as_str().unwrap().to_string();
        match name {
            "t" => {
                assert!(
                    content.starts_with("0\n") && content.contains("\nCONVO_TOOL=t\n"),
                    "{content}"
                );
                assert!(
                    !content.contains("$(touch") && !content.contains("`touch"),
                    "{content}"
                );
            }
            _ => assert!(content.starts_with("no such tool: "), "{content}"),
        }
    }
    assert!(!env.work().join("PWNED").exists());
}

#[test]
fn a_call_in_the_session_is_not_executed() {
    let env = Env::new();
    let call = value!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]});
    let open = format!("{ASKED}{call}\n");
    let followed = format!("{open}{}\n", value!({"role": "user", "content": "And?"}));
    for (input, status) in [(open, 65), (followed, 0)] {
        let server = Server::new(|_, _| json(HELLO));
        llm(&env, &server, &["--tool", "t=touch ran", "-q"], &input).status(status);
        assert!(!env.work().join("ran").exists());
    }
}
