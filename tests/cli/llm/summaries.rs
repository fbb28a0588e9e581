//! Tests summaries by a model: `convo summarize --with llm`.

use super::server::{Act, Request, Server, json, whole};
use super::{HELLO, KEY};
use crate::env::{Env, Run};
use serde_json::{Value, json as value};

/// Creates an environment with a session `talk` of some exchanges.
fn talk() -> Env {
    let env = Env::new();
    env.run(&["new", "-q", "--id", "talk"]).status(0);
    let messages: String = (0..12)
        .map(|nth| {
            let role = if nth % 2 == 0 { "user" } else { "assistant" };
            let text = "The beans of the upper field were sown in rows of twelve, and watered every evening.";
            format!("{{\"role\":\"{role}\",\"content\":\"{nth}: {text}\",\"id\":\"m{nth}\"}}\n")
        })
        .collect();
    env.pipe(&["append", "-q", "talk", "--stream"], messages)
        .status(0);
    env
}

#[must_use]
fn summarize(env: &Env, server: &Server, arguments: &[&str]) -> Run {
    let arguments = [
        &["summarize", "talk", "--with", "llm", "--keep-last", "2"],
        arguments,
    ]
    .concat();
    let mut command = env.command(&arguments);
    command
        .env("CONVO_LLM_MODEL", "m")
        .env("CONVO_LLM_BASE_URL", server.url())
        .env("CONVO_LLM_BACKOFF", "1ms")
        .env("CONVO_LLM_RETRIES", "1")
        .env("CONVO_LLM_KEY", KEY);
    env.wait(command)
}

fn view(env: &Env) -> String {
    env.run(&["context", "talk"]).fine().out().to_string()
}

fn last(env: &Env) -> Value {
    env.run(&["cat", "talk"]).fine().objects().pop().unwrap()
}

#[test]
fn a_model_writes_a_summary() {
    let env = talk();
    let server = Server::always(json(HELLO));
    summarize(&env, &server, &[]).status(0);
    let event = last(&env);
    assert_eq!(
        (&event["type"], &event["content"], &event["by"]),
        (&value!("summary"), &value!("Hello."), &value!("llm:m"))
    );
    let sent = server.last().json();
    assert!(
        sent["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains("`budget`")
    );
    let data: Value = serde_json::from_str(sent["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(data["messages"].as_array().unwrap().len(), 8);
    assert_eq!(data.as_object().unwrap().len(), 4);
}

#[test]
fn chunks_are_requested_one_after_another() {
    let env = talk();
    let server = Server::new(|nth, _| json(&HELLO.replace("Hello.", &format!("Beans {nth}."))));
    summarize(&env, &server, &["--chunk", "1200"]).status(0);
    let requested = server.requests().len();
    assert_eq!(last(&env)["content"], format!("Beans {}.", requested - 1));
    let mut command = env.command(&["summarize", "talk", "--request", "--keep-last", "1"]);
    command.args(["--chunk", "1200"]);
    let request = env.wait(command).status(0);
    let lines: Vec<&str> = request.out().lines().collect();
    let url = server.url();
    let answer = env
        .pipe(&["llm", "-m", "m", "--base-url", &url], request.out())
        .fine();
    let previous = |request: &Request| {
        let sent = request.json();
        let data: Value = serde_json::from_str(sent["messages"][1]["content"].as_str().unwrap()).unwrap();
        data["previous_summary"].clone()
    };
    let requests = server.requests();
    assert_eq!(requests.len(), requested + lines.len());
    for pair in requests[requested..].windows(2) {
        let nth = requests
            .iter()
            .position(|known| known.body == pair[0].body)
            .unwrap();
        assert_eq!(previous(&pair[1]), format!("Beans {nth}."));
    }
    env.pipe(&["summarize", "talk", "--apply", "-"], answer.out())
        .status(0);
    assert_eq!(last(&env)["by"], "llm:m");
}

/// A failure only increments the counter; the reason is reported first.
#[test]
fn a_failure_changes_only_the_failure_count() {
    let env = talk();
    let view_before = view(&env);
    let cases: Vec<(&str, Vec<Act>)> = vec![
        ("closed at once", Vec::new()),
        ("status 500", whole("500 Broken", "", "")),
        ("status 401: No [key]", whole("401 No", "", &format!("No {KEY}"))),
        ("not valid JSON", json("{")),
        ("an HTML page", whole("200 OK", "", "<html>")),
        (
            "redirects to",
            whole("302 Found", "location: http://evil.invalid/\r\n", ""),
        ),
        (
            "reached its maximum length",
            json(&HELLO.replace("\"stop\"", "\"length\"")),
        ),
        ("the reply is empty", json(&HELLO.replace("Hello.", "\\n"))),
        (
            "the summary is empty",
            json(&HELLO.replace("Hello.", "<think>x</think>")),
        ),
        ("retry after 900 s", whole("429 Wait", "retry-after: 900\r\n", "")),
    ];
    for (nth, (why, acts)) in cases.into_iter().enumerate() {
        let before = env.run(&["cat", "talk"]).fine().stdout;
        let server = Server::always(acts);
        let run = summarize(&env, &server, &["--retry"]).status(69);
        let why = if why == "closed at once" {
            "the connection to"
        } else {
            why
        };
        let event = last(&env);
        assert!(event["why"].as_str().unwrap().contains(why), "{event}: {run}");
        assert!(!event["why"].as_str().unwrap().contains("hint"), "{event}");
        assert_eq!(event["failures"], nth + 1);
        let after = env.run(&["cat", "talk"]).fine();
        assert!(
            after.stdout.starts_with(&before) && !after.out().contains(KEY),
            "{why}"
        );
        assert_eq!(
            after.out().lines().count(),
            before.split(|byte| *byte == b'\n').count(),
            "{why}"
        );
        assert!(!run.stderr.contains(KEY), "{run}");
        assert_eq!(view(&env), view_before, "{why}");
    }
}

#[test]
fn a_damaged_request_is_not_sent() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let url = server.url();
    for request in [
        r#"{"schema":"convo.summary-request/1"}"#,
        r#"{"schema":"convo.summary-request/1","budget":5"#,
    ] {
        env.pipe(&["llm", "-m", "m", "--base-url", &url], request)
            .status(65);
    }
    assert!(server.requests().is_empty());
}
