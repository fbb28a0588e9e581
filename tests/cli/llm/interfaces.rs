//! Tests the three APIs: the request, and the records of a reply.

use super::server::{Server, chunks, json};
use super::{ASKED, HELLO, KEY, llm, talk};
use crate::env::{Env, Run};
use serde_json::{Value, json as value};

/// A reply of the Anthropic API, complete and as a stream.
const CLAUDE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"Let me see.","citations":null},{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":[1,2]}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":20}}"#;

const CLAUDE_STREAM: &str = concat!(
    "event: message_start\n",
    r#"data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#,
    "\n\nevent: content_block_start\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":0}"#,
    "\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n",
    r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me "}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"see."}}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"at\":"}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"[1,2]}"}}"#,
    "\n\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}"#,
    "\n\n",
    r#"data: {"type":"message_stop"}"#,
    "\n\n",
);

/// A reply of the Responses API.
const RESPONSE: &str = r#"{"id":"resp_1","object":"response","status":"completed","error":null,"model":"gpt-x","output":[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"ZW5j"},{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":null,"content":[{"type":"output_text","text":"Let me see.","annotations":[],"logprobs":[]}]},{"id":"fc_1","type":"function_call","call_id":"call_1","name":"look","arguments":"{\"at\":[1,2]}","status":"completed"}],"usage":{"input_tokens":9,"output_tokens":20}}"#;

/// A reply of the OpenAI Chat API with reasoning and two calls, as a stream and complete.
const CHAT: &str = r#"{"id":"r1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Let me see.","reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":[1,2]}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":20}}"#;

const CHAT_STREAM: &str = concat!(
    r#"data: {"id":"r1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"H"}}]}"#,
    "\n\n",
    r#"data: {"id":"r1","choices":[{"index":0,"delta":{"reasoning_content":"m."}}]}"#,
    "\n\n",
    r#"data: {"id":"r1","choices":[{"index":1,"delta":{"content":"another choice"}},{"index":0,"delta":{"content":"Let me see."}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":""}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"at\""}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"look","arguments":"{"}},{"index":0,"function":{"arguments":":[1,2]}"}}]}}]}"#,
    "\n\n",
    r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}"#,
    "\n\n",
    r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":20}}"#,
    "\n\ndata: [DONE]\n\n",
);

fn responses_stream() -> String {
    let delta = r#"{"type":"response.output_text.delta","delta":"Let me see."}"#;
    let done = format!(r#"{{"type":"response.completed","response":{RESPONSE}}}"#);
    format!("event: response.output_text.delta\ndata: {delta}\n\nevent: response.completed\ndata: {done}\n\n")
}

fn fine(run: Run) -> Vec<Value> {
    assert_eq!(run.status, 0, "{run}");
    run.objects()
}

#[test]
fn a_reply_of_openai_chat() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let records = fine(llm(
        &env,
        &server,
        &["--max-tokens", "7", "--temperature", "0.5"],
        ASKED,
    ));
    let expected = value!([{
        "role": "assistant", "content": "Hello.", "model": "m-1",
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        "metadata": {"stop_reason": "stop", "response_id": "r1"},
    }]);
    assert_eq!(Value::from(records), expected);
    let request = server.last();
    assert_eq!(request.path(), "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let expected = value!({
        "model": "m", "max_tokens": 7, "temperature": 0.5,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Beans?"}],
    });
    assert_eq!(request.json(), expected);
}

#[test]
fn streamed_or_not_a_reply_is_the_same() {
    let env = Env::new();
    let responses = responses_stream();
    for (api, whole, stream) in [
        ("openai-chat", CHAT, CHAT_STREAM),
        ("anthropic", CLAUDE, CLAUDE_STREAM),
        ("openai-responses", RESPONSE, &responses),
    ] {
        let one = Server::always(json(whole));
        let plain = llm(&env, &one, &["--api", api], ASKED).status(0);
        assert!(one.last().json().get("stream").is_none());
        let other = Server::always(chunks(&[stream.as_bytes()], true));
        let pieces = llm(&env, &other, &["--api", api, "--stream"], ASKED).status(0);
        assert_eq!(other.last().json()["stream"], true);
        assert_eq!(plain.objects(), pieces.objects(), "{api}");
        // A server that ignores the requested form is understood too.
        let odd = llm(&env, &other, &["--api", api, "--no-stream"], ASKED).status(0);
        assert_eq!(odd.out(), pieces.out(), "{api}");
        let partial = llm(&env, &other, &["--api", api, "--partial"], ASKED)
            .status(0)
            .objects();
        let (shown, records): (Vec<_>, Vec<_>) =
            partial.into_iter().partition(|line| line["type"] == "partial");
        let text: String = shown.iter().filter_map(|line| line["text"].as_str()).collect();
        assert_eq!(
            (text.as_str(), records),
            ("Let me see.", plain.objects()),
            "{api}"
        );
    }
}

#[test]
fn a_reply_with_thinking_and_calls_is_stored_and_sent_back() {
    let env = talk();
    for (api, reply, back) in [
        (
            "anthropic",
            CLAUDE,
            value!([
                {"role": "user", "content": "Beans?"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": [1, 2]}},
                ]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "two"}]},
            ]),
        ),
        (
            "openai-responses",
            RESPONSE,
            value!([
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Beans?"},
                {"type": "reasoning", "summary": [], "encrypted_content": "ZW5j"},
                {"type": "message", "role": "assistant", "status": "completed", "content": [
                    {"type": "output_text", "text": "Let me see.", "annotations": []},
                ]},
                {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{\"at\":[1,2]}", "status": "completed"},
                {"type": "function_call_output", "call_id": "call_1", "output": "two"},
            ]),
        ),
        (
            "openai-chat",
            CHAT,
            value!([
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Beans?"},
                {"role": "assistant", "content": "Let me see.", "reasoning_content": "Hm.", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":[1,2]}"}},
                    {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "two"},
                {"role": "tool", "tool_call_id": "c2", "name": "look", "content": "two"},
            ]),
        ),
    ] {
        let server = Server::new(move |nth, _| match nth {
            0 => json(reply),
            _ => json(match api {
                "anthropic" => r#"{"content":[{"type":"text","text":"Two."}],"stop_reason":"end_turn"}"#,
                "openai-responses" => {
                    r#"{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two."}]}],"status":"completed"}"#
                }
                _ => HELLO,
            }),
        });
        let line = format!(
            "convo context talk | convo llm -q -m m --api {api} --base-url {} --tool 'look=echo two' | convo append talk -q --stream && convo context talk | convo check --for {api} -",
            server.url()
        );
        let before = env.run(&["cat", "talk"]).fine().out().lines().count();
        env.shell(&line).status(0);
        let sent = server.last().json();
        let list = if api == "openai-responses" {
            "input"
        } else {
            "messages"
        };
        assert_eq!(sent[list], back, "{api}");
        let after = env.run(&["cat", "talk"]).fine();
        let calls = if api == "openai-chat" { 2 } else { 1 };
        assert_eq!(after.out().lines().count(), before + 2 + calls, "{api}");
        env.run(&["truncate", "-q", "talk", "--before", "m1"]).status(0);
        env.run(&["remove", "-q", "--purge", "talk"]).status(0);
        let path = env.write("talk.jsonl", ASKED);
        env.run(&["migrate", "-q", path.to_str().unwrap()]).fine();
    }
}

#[test]
fn a_request_to_anthropic() {
    let env = Env::new();
    let server = Server::always(json(CLAUDE));
    fine(llm(&env, &server, &["--api", "anthropic"], ASKED));
    let request = server.last();
    assert_eq!(request.path(), "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    let expected = value!({
        "model": "m", "system": "Be brief.", "max_tokens": 8192,
        "messages": [{"role": "user", "content": "Beans?"}],
    });
    assert_eq!(request.json(), expected);
    // A history with calls is accepted only together with tools.
    let chat = format!("{}{{\"role\":\"user\",\"content\":\"And?\"}}\n", crate::env::CHAT);
    fine(llm(&env, &server, &["--api", "anthropic"], &chat));
    let sent = server.last().json();
    assert_eq!(sent["tools"][0]["name"], "weather");
    assert_eq!(sent["tool_choice"], value!({"type": "none"}));
}

/// A model without reasoning rejects the request for encrypted reasoning.
#[test]
fn a_request_to_openai_responses() {
    let env = Env::new();
    let server = Server::new(|_, request| match request.json().get("include") {
        Some(_) => super::server::whole(
            "400 Bad Request",
            "",
            r#"{"error":{"message":"Encrypted content is not supported with this model."}}"#,
        ),
        None => json(RESPONSE),
    });
    fine(llm(
        &env,
        &server,
        &["--api", "openai-responses", "--retries", "0"],
        ASKED,
    ));
    let sent: Vec<Value> = server
        .requests()
        .iter()
        .map(super::server::Request::json)
        .collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0]["include"], value!(["reasoning.encrypted_content"]));
    let expected = value!({
        "model": "m", "store": false,
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Beans?"}],
    });
    assert_eq!(sent[1], expected);
    let params = ["--api", "openai-responses", "--param", "store=true"];
    fine(llm(&env, &server, &params, ASKED));
    assert_eq!(server.last().json()["store"], true);
}

#[test]
fn parameters_replace_members_of_the_request() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let options = [
        "--param", "top_p=0.1", "--param", "user=me", "--param", "model=other", "--param",
        "temperature=null", "--temperature", "1", "--header", "X-Team=beans",
    ];
    fine(llm(&env, &server, &options, ASKED));
    let sent = server.last().json();
    assert_eq!(
        (&sent["top_p"], &sent["user"], &sent["model"]),
        (&value!(0.1), &value!("me"), &value!("other"))
    );
    assert!(sent.get("temperature").is_none());
    assert_eq!(server.last().header("x-team"), Some("beans"));
    for secret in [
        "Authorization=Bearer x", "x-api-key=x", "Cookie=x", "a b=c", "X=\u{e9}",
    ] {
        llm(&env, &server, &["--header", secret], ASKED).status(2);
    }
}

#[test]
fn instructions_of_a_run_come_first_and_are_not_stored() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    env.write("system.txt", "In rhymes.\n");
    let records = fine(llm(&env, &server, &["--system", "system.txt"], ASKED));
    assert_eq!(records.len(), 1);
    assert_eq!(
        server.last().json()["messages"][0],
        value!({"role": "system", "content": "In rhymes."})
    );
    assert_eq!(server.last().json()["messages"][1]["content"], "Be brief.");
    llm(&env, &server, &["--system", "nothing.txt"], ASKED).status(66);
}

#[test]
fn any_format_is_answered() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    for input in [
        r#"[{"role":"user","content":"Beans?"}]"#,
        r#"{"system":"Be brief.","messages":[{"role":"user","content":[{"type":"text","text":"Beans?"}]}]}"#,
        r#"{"contents":[{"role":"user","parts":[{"text":"Beans?"}]}]}"#,
        "{\"role\":\"user\",\"content\":\"Beans?\"}\n",
    ] {
        fine(llm(&env, &server, &[], input));
        let messages = server.last().json()["messages"].clone();
        assert!(messages.to_string().contains("Beans?"), "{messages}");
    }
    llm(&env, &server, &["--from", "nonesuch"], ASKED).status(2);
    // A sidechain after the answered session is a separate session.
    let aside = r#"{"type":"session","version":1,"id":"aside","created_at":"2026-11-01T10:00:00Z","metadata":{"lineage":{"kind":"sidechain","parent":"talk"}}}"#;
    let both = format!("{ASKED}{aside}\n{{\"role\":\"user\",\"content\":\"Peas?\"}}\n");
    fine(llm(&env, &server, &[], &both));
    assert!(!server.last().body.contains("Peas"));
}

/// Calls as some servers send them: without ids, or with arguments that are not a string.
#[test]
fn incomplete_calls_are_completed() {
    let env = Env::new();
    let body = r#"{"choices":[{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"id":"","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"stop"}]}"#;
    let records = fine(llm(&env, &Server::always(json(body)), &["-q"], ASKED));
    let calls = records[0]["tool_calls"].as_array().unwrap().clone();
    assert_eq!(calls[0]["function"]["arguments"], "{\"a\":1}");
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert!(calls[0]["id"].as_str().unwrap().starts_with("call_"));
}
