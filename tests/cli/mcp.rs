//! Tests `convo mcp`: sessions for models, over JSON-RPC.

use crate::env::{CHAT, Env, objects};
use serde_json::{Value, json};

/// The answers to these messages, one per line.
fn answers(env: &Env, arguments: &[&str], messages: &[Value]) -> Vec<Value> {
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let run = env.pipe(&[&["mcp"], arguments].concat(), lines).fine();
    objects(run.out())
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The text of a tool result, and whether it is an error.
fn text(answer: &Value) -> (&str, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no result: {answer}"));
    (text, result["isError"].as_bool().unwrap())
}

fn one(env: &Env, arguments: &[&str], tool: &str, values: Value) -> (String, bool) {
    let answers = answers(env, arguments, &[call(1, tool, values)]);
    let (text, is_error) = text(&answers[0]);
    (text.to_string(), is_error)
}

#[test]
fn a_client_greets_lists_the_tools_and_calls_them() {
    let env = Env::with_chat();
    let hello = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let messages = [
        hello,
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}),
        call(3, "list", json!({})),
        call(4, "search", json!({"pattern": "sunny"})),
        call(5, "show", json!({"session": "trip"})),
        call(6, "count", json!({"session": "trip", "by": "role"})),
        json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}),
    ];
    let answers = answers(&env, &[], &messages);
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(json!(ids), json!(["a", 2, 3, 4, 5, 6, 7]));
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(
        answers[0]["result"]["serverInfo"]["version"],
        env!("CARGO_PKG_VERSION")
    );
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(json!(names), json!(["list", "search", "show", "count"]));
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["pattern"]));
    let listed = env.run(&["list"]).fine();
    assert_eq!(text(&answers[2]), (listed.out(), false));
    let found = env.run(&["search", "sunny"]).status(0);
    assert_eq!(text(&answers[3]), (found.out(), false));
    let shown = env.run(&["show", "--plain", "trip"]).status(0);
    assert_eq!(text(&answers[4]), (shown.out(), false));
    assert!(text(&answers[5]).0.contains("role user\t"), "{}", answers[5]);
    assert_eq!(answers[6]["result"], json!({}));
}

#[test]
fn every_parameter_is_an_option_of_the_command() {
    let env = Env::with_chat();
    let values = |tool: &Value| {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap().clone();
        let one = |(name, schema): (String, Value)| {
            let value = match (name.as_str(), schema["type"].as_str().unwrap()) {
                ("session", _) => json!("trip"),
                ("sessions", _) => json!(["trip"]),
                ("role", _) => json!("user"),
                ("in", _) => json!("text"),
                ("program", _) => json!("codex"),
                ("tag", _) => json!("work"),
                ("by", _) => json!("tool"),
                ("since", _) => json!("2026-01-01"),
                ("until", _) => json!("2027-01-01"),
                (_, "boolean") => json!(true),
                (_, "integer") => json!(3),
                _ => json!("Paris"),
            };
            (name, value)
        };
        properties.into_iter().map(one).collect::<Vec<_>>()
    };
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = answers(&env, &[], &[list])[0]["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let needed: serde_json::Map<String, Value> = values(tool)
            .into_iter()
            .filter(|(one, _)| ["session", "pattern"].contains(&one.as_str()))
            .collect();
        for (parameter, value) in values(tool) {
            let mut arguments = needed.clone();
            arguments.insert(parameter.clone(), value);
            let (text, is_error) = one(&env, &[], name, Value::Object(arguments));
            assert!(!is_error, "{name} {parameter}: {text}");
        }
    }
}

#[test]
fn values_are_never_options_and_never_files() {
    let env = Env::with_chat();
    env.write("other.jsonl", CHAT);
    let (answer, is_error) = one(&env, &[], "show", json!({"session": "--help"}));
    assert!(is_error && answer.contains("no such session"), "{answer}");
    let (answer, is_error) = one(&env, &[], "search", json!({"pattern": "--help"}));
    assert_eq!((answer.as_str(), is_error), ("nothing found", false));
    let (answer, is_error) = one(&env, &[], "list", json!({"project": "--json"}));
    assert_eq!((answer.as_str(), is_error), ("nothing found", false));
    for file in ["other.jsonl", "./other.jsonl", "."] {
        for (tool, values) in [
            ("show", json!({"session": file})),
            ("count", json!({"session": file})),
            ("search", json!({"pattern": "Paris", "sessions": ["trip", file]})),
        ] {
            let (answer, is_error) = one(&env, &[], tool, values);
            assert!(
                is_error && answer.contains("files are not read"),
                "{tool} {file}: {answer}"
            );
        }
    }
    let (answer, is_error) = one(&env, &["--files"], "show", json!({"session": "other.jsonl"}));
    assert!(!is_error && answer.contains("Weather in Paris?"), "{answer}");
}

#[test]
fn bad_calls_are_answered_and_the_server_runs_on() {
    let env = Env::with_chat();
    let bad = [
        (
            call(1, "remove", json!({"session": "trip"})),
            -32602,
            "'remove': no such tool",
        ),
        (call(2, "show", json!({})), -32602, "session: missing"),
        (
            call(3, "show", json!({"session": 7})),
            -32602,
            "session: not a text",
        ),
        (
            call(4, "show", json!({"session": "trip", "last": 0})),
            -32602,
            "last: not a positive number",
        ),
        (
            call(5, "show", json!({"session": "trip", "output": "x"})),
            -32602,
            "'output': no such argument of show",
        ),
        (call(6, "list", json!([])), -32602, "arguments: not an object"),
        (
            json!({"jsonrpc": "2.0", "id": 7, "method": "resources/list"}),
            -32601,
            "'resources/list': no such method",
        ),
        (json!({"jsonrpc": "2.0", "id": 8}), -32600, "no method"),
        (json!([]), -32600, "no method"),
        (
            json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}),
            -32600,
            "id: not a text or a number",
        ),
    ];
    let messages: Vec<Value> = bad.iter().map(|(message, ..)| message.clone()).collect();
    let answers = answers(&env, &[], &messages);
    assert_eq!(answers.len(), bad.len());
    for ((_, code, problem), answer) in bad.iter().zip(&answers) {
        let error = json!({"code": code, "message": problem});
        assert_eq!(answer["error"], error, "{answer}");
    }
    let run = env.pipe(
        &["mcp"],
        "no JSON\n\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n",
    );
    let answers = objects(run.fine().out());
    assert_eq!(answers[0]["error"]["code"], -32700);
    assert_eq!(answers[1]["id"], 9);
}

#[test]
fn a_batch_has_one_answer() {
    let env = Env::with_chat();
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let lines = format!(
        "{}\n{}\n",
        json!([notification]),
        json!([ping(1), notification, 1, ping(2)])
    );
    let run = env.pipe(&["mcp"], lines).fine();
    let answers: Vec<Value> = run
        .out()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [batch] = answers.as_slice() else {
        panic!("{answers:?}")
    };
    let ids: Vec<&Value> = batch
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(json!(ids), json!([1, null, 2]));
    assert_eq!(batch[1]["error"]["code"], -32600);
}

#[test]
fn a_full_disk_is_an_error() {
    let env = Env::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = env
        .command(&["mcp"])
        .stdin(std::process::Stdio::piped())
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(
        &mut input,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    )
    .unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(74), "{text}");
    assert!(text.starts_with("convo: mcp: cannot write: "), "{text}");
}

#[test]
fn an_integer_may_be_written_as_a_decimal() {
    let env = Env::with_chat();
    let (shown, is_error) = one(&env, &[], "show", json!({"session": "trip", "last": 1.0}));
    assert!(!is_error && shown == one(&env, &[], "show", json!({"session": "trip", "last": 1})).0);
}

#[test]
fn errors_of_the_command_are_results() {
    let env = Env::with_chat();
    let (answer, is_error) = one(&env, &[], "show", json!({"session": "nobody"}));
    assert!(
        is_error && answer.starts_with("convo: nobody: no such session"),
        "{answer}"
    );
    let (answer, is_error) = one(&env, &[], "count", json!({"session": "trip", "by": "color"}));
    assert!(is_error && answer.contains("invalid value 'color'"), "{answer}");
    let (answer, is_error) = one(&env, &[], "search", json!({"pattern": "(", "regex": true}));
    assert!(is_error, "{answer}");
}

#[test]
fn a_long_result_is_cut_between_characters() {
    let env = Env::new();
    let long = format!(
        "{{\"role\":\"user\",\"content\":\"{}\",\"id\":\"m1\"}}\n",
        "é".repeat(100_000)
    );
    let path = env.write("long.jsonl", long);
    env.run(&["migrate", "-q", path.to_str().unwrap()]).status(0);
    let (text, is_error) = one(
        &env,
        &["--max-bytes", "1000"],
        "show",
        json!({"session": "@last", "full": true}),
    );
    assert!(!is_error && text.len() < 1100, "{is_error} {}", text.len());
    assert!(
        text.ends_with("\n[cut after 1000 bytes: ask for less]\n"),
        "{text}"
    );
    assert!(!text.contains('\u{fffd}'), "{text}");
}

#[test]
fn nothing_is_written() {
    let env = Env::with_chat();
    let before = (env.files(), std::fs::read(env.log("trip")).unwrap());
    let messages = [
        call(1, "list", json!({"agents": true})),
        call(2, "search", json!({"pattern": "Paris"})),
        call(3, "show", json!({"session": "trip"})),
        call(4, "count", json!({"session": "trip"})),
    ];
    assert_eq!(answers(&env, &[], &messages).len(), 4);
    assert_eq!((env.files(), std::fs::read(env.log("trip")).unwrap()), before);
}
