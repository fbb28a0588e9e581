//! Tests the plugin `convo llm` against a misbehaving server.

mod failures;
mod interfaces;
mod server;
mod settings;
mod streams;
mod summaries;
mod tls;
mod tools;

use crate::env::{Env, Run};
use server::Server;

/// A question in two messages.
const ASKED: &str = concat!(
    "{\"type\":\"session\",\"version\":1,\"id\":\"talk\",\"created_at\":\"2026-11-01T10:00:00Z\"}\n",
    "{\"role\":\"system\",\"content\":\"Be brief.\",\"id\":\"m1\"}\n",
    "{\"role\":\"user\",\"content\":\"Beans?\",\"id\":\"m2\",\"timestamp\":\"2026-11-01T10:00:01Z\"}\n",
);

/// A reply of the OpenAI Chat API.
const HELLO: &str = r#"{"id":"r1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;

/// The same text as a stream.
const STREAM: &str = concat!(
    "data: {\"id\":\"r1\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Caf\u{e9} \"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"au lait\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\n",
    "data: [DONE]\n\n",
);

/// Creates an environment with a session `talk` that waits for a reply.
fn talk() -> Env {
    let env = Env::new();
    let path = env.write("talk.jsonl", ASKED);
    env.run(&["migrate", "-q", path.to_str().unwrap()]).fine();
    env
}

/// Runs `convo llm` with this server, model `m` and short delays.
#[must_use]
fn llm(env: &Env, server: &Server, arguments: &[&str], input: &str) -> Run {
    let url = server.url();
    let own = ["llm", "-m", "m", "--backoff", "1ms", "--base-url", &url];
    let mut command = env.command(&[&own, arguments].concat());
    command.env("CONVO_LLM_KEY", KEY);
    env.feed(command, input.as_bytes())
}

/// A key that must not appear in any output.
const KEY: &str = "sk-very-secret-0123456789";

/// The URL of a model that always answers with a greeting.
pub fn greeting() -> String {
    Server::always(server::json(HELLO)).url()
}
