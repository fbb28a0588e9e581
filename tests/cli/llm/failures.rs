//! Tests failures between model and session: status, message, and unchanged sessions.

use super::server::{Act, Server, chunks, closed_port, json, whole};
use super::{ASKED, HELLO, KEY, STREAM, llm, talk};
use crate::env::{Env, Run};

/// A kind of failure.
struct Case {
    name: &'static str,
    answer: Box<dyn Fn(usize) -> Vec<Act> + Send + Sync>,
    options: &'static [&'static str],
    /// The expected message.
    says: &'static str,
    /// The expected number of requests.
    asked: usize,
}

fn case(
    name: &'static str,
    options: &'static [&'static str],
    says: &'static str,
    asked: usize,
    answer: impl Fn(usize) -> Vec<Act> + Send + Sync + 'static,
) -> Case {
    Case {
        name,
        answer: Box::new(answer),
        options,
        says,
        asked,
    }
}

fn send(text: &str) -> Vec<Act> {
    vec![Act::Send(text.as_bytes().to_vec())]
}

fn hang(text: &str) -> Vec<Act> {
    vec![Act::Send(text.as_bytes().to_vec()), Act::Hang]
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const SSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// Ways in which a server can fail.
fn cases() -> Vec<Case> {
    let error = |status: &'static str, body: &'static str| move |_| whole(status, "", body);
    let once: &[&str] = &["--retries", "0"];
    let twice: &[&str] = &["--retries", "1"];
    vec![
        case(
            "no headers",
            &["--timeout", "300ms"],
            "no complete reply",
            1,
            |_| vec![Act::Hang],
        ),
        case(
            "half of the headers",
            &["--timeout", "300ms"],
            "no complete reply",
            1,
            |_| hang("HTTP/1.1 200 OK\r\ncon"),
        ),
        case(
            "half of the body",
            &["--timeout", "300ms"],
            "no complete reply",
            1,
            |_| hang(&format!("{OK}content-length: 900\r\n\r\n{{\"id\":")),
        ),
        case(
            "silence in a stream",
            &["--stream", "--text", "--idle-timeout", "300ms", "--retries", "0"],
            "no data from",
            1,
            |_| hang(&format!("{SSE}{}", &STREAM[..200])),
        ),
        case(
            "silence ahead of a stream",
            &["--stream", "--idle-timeout", "200ms", "--retries", "1"],
            "no data from",
            2,
            |_| vec![Act::Hang],
        ),
        case("closed at once", twice, "the connection to", 2, |_| Vec::new()),
        case("closed in the headers", twice, "127.0.0.1", 2, |_| {
            send("HTTP/1.1 200 OK\r\ncon")
        }),
        case("closed in the body", twice, "127.0.0.1", 2, |_| {
            send(&format!("{OK}content-length: 900\r\n\r\n{{\"id\":"))
        }),
        case(
            "closed in a body without length",
            twice,
            "not valid JSON",
            2,
            |_| send(&format!("{OK}\r\n{}", &HELLO[..80])),
        ),
        case(
            "closed in a chunk",
            &["--stream", "--retries", "1"],
            "127.0.0.1",
            2,
            |_| {
                let mut acts = chunks(&[], false);
                acts.push(Act::Send(b"ff\r\ndata: {".to_vec()));
                acts
            },
        ),
        case(
            "closed in a stream",
            &["--stream", "--text"],
            "the reply was cut off",
            1,
            |_| send(&format!("{SSE}{}", &STREAM[..200])),
        ),
        case(
            "closed in a stream that is not shown",
            &["--stream", "--json", "--retries", "1"],
            "the reply was cut off",
            2,
            |_| send(&format!("{SSE}{}", &STREAM[..260])),
        ),
        case(
            "a stream without its end",
            &["--stream", "--retries", "1"],
            "the reply was cut off",
            2,
            |_| chunks(&[&STREAM.as_bytes()[..230]], true),
        ),
        case(
            "a damaged stream",
            &["--stream", "--retries", "0"],
            "not valid JSON",
            1,
            |_| chunks(&[b"data: {\"choices\":[}\n\n"], true),
        ),
        case(
            "an error in a stream",
            &["--stream", "--retries", "0"],
            "Out of beans.",
            1,
            |_| chunks(&[b"data: {\"error\":{\"message\":\"Out of beans.\"}}\n\n"], true),
        ),
        case(
            "busy",
            twice,
            "429: Slow down.",
            2,
            error("429 Too Many", r#"{"error":{"message":"Slow down."}}"#),
        ),
        case(
            "no money",
            &[],
            "429: Pay.",
            1,
            error(
                "429 Too Many",
                r#"{"error":{"message":"Pay.","code":"insufficient_quota"}}"#,
            ),
        ),
        case(
            "broken for ever",
            &[],
            "status 500",
            4,
            error("500 Broken", "oops"),
        ),
        case(
            "overloaded",
            twice,
            "529: Overloaded",
            2,
            error(
                "529 Overloaded",
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
        ),
        case("not worth a retry", &[], "503", 1, |_| {
            whole("503 No", "x-should-retry: false\r\n", "")
        }),
        case(
            "no such model",
            &[],
            "404: No [31m such model",
            1,
            error(
                "404 Not Found",
                "{\"error\":{\"message\":\"No\\u001b[31m\\nsuch model\"}}",
            ),
        ),
        case("wrong key", &[], "401: Wrong key: [key]", 1, |_| {
            whole(
                "401 No",
                "",
                &format!("{{\"error\":{{\"message\":\"Wrong key: {KEY}\"}}}}"),
            )
        }),
        case(
            "a page of errors",
            once,
            "502: Bad \u{fffd}",
            1,
            error("502 Bad Gateway", "<html><title>Bad \u{202e}</title>"),
        ),
        case("wrong JSON", once, "the reply is not valid JSON: byte", 1, |_| {
            json("{\"choices\":[,]}")
        }),
        case(
            "half of the JSON",
            once,
            "the reply is not valid JSON: byte",
            1,
            |_| json(&HELLO[..100]),
        ),
        case("JSON and more", once, "text after the value", 1, |_| {
            json(&format!("{HELLO}x"))
        }),
        case("not an object", once, "not a JSON object", 1, |_| json("[1,2]")),
        case("no UTF-8", once, "not UTF-8", 1, |_| {
            let body = [b"{\"choices\":\"".as_slice(), &[0xff], b"\"}"].concat();
            let head = format!("{OK}content-length: {}\r\n\r\n", body.len());
            vec![Act::Send(head.into()), Act::Send(body)]
        }),
        case("a page of HTML", once, "an HTML page: Log in", 1, |_| {
            whole(
                "200 OK",
                "content-type: text/html\r\n",
                "<!doctype html><body><p>Log in</p>",
            )
        }),
        case("nothing at all", twice, "the reply is empty", 2, |_| json("")),
        case("no choices", once, "no choices", 1, |_| json("{\"choices\":[]}")),
        case("no message", once, "no message", 1, |_| {
            json("{\"choices\":[{}]}")
        }),
        case("an empty message", once, "the reply is empty (stop)", 1, |_| {
            json(r#"{"choices":[{"message":{"role":"assistant","content":" "},"finish_reason":"stop"}]}"#)
        }),
        case(
            "an error that says it is none",
            once,
            "the service failed: No.",
            1,
            |_| json(r#"{"error":{"message":"No."}}"#),
        ),
        case("a call that was cut off", once, "within a tool call", 1, |_| {
            json(
                r#"{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a"}}]},"finish_reason":"length"}]}"#,
            )
        }),
        case("no HTTP", once, "127.0.0.1", 1, |_| {
            send("SSH-2.0-OpenSSH_9.9\r\n")
        }),
        case(
            "a redirect",
            &[],
            "redirects to another address (status 307)",
            1,
            |_| whole("307 Away", "location: /v2\r\n", ""),
        ),
    ]
}

#[must_use]
fn run(env: &Env, server: &Server, case: &Case) -> Run {
    llm(env, server, case.options, ASKED)
}

#[test]
fn every_failure_is_reported_and_prints_no_record() {
    let env = Env::new();
    for case in cases() {
        let answer = case.answer;
        let server = Server::new(move |nth, _| answer(nth));
        let case = Case {
            answer: Box::new(|_| Vec::new()),
            ..case
        };
        let run = run(&env, &server, &case);
        let name = case.name;
        assert_eq!(run.status, 69, "{name}: {run}");
        assert!(run.stderr.contains(case.says), "{name}: {run}");
        assert!(!run.out().contains("\"role\""), "{name}: {run}");
        assert!(
            !run.stderr.contains(KEY) && !run.out().contains(KEY),
            "{name}: {run}"
        );
        assert!(!run.stderr.contains(['\u{1b}', '\u{202e}']), "{name}: {run}");
        assert_eq!(
            run.stderr.matches("retrying in").count() + 1,
            case.asked,
            "{name}: {run}"
        );
        // On a slow machine the server may not have received a request that timed out early.
        let seen = server.requests().len();
        let late = case.options.iter().any(|option| option.ends_with("00ms"));
        assert!(seen == case.asked || late && seen < case.asked, "{name}: {run}");
    }
}

/// In a pipe that implements a chat turn, a failure adds nothing to the session.
#[test]
fn no_failure_changes_a_session() {
    let env = talk();
    let before = std::fs::read(env.log("talk")).unwrap();
    for case in cases() {
        let answer = case.answer;
        let server = Server::new(move |nth, _| answer(nth));
        let options = case.options.join(" ").replace("--text", "--partial");
        let line = format!(
            "convo context talk | convo llm -m m --backoff 1ms --base-url {} {options} | grep -v '\"type\":\"partial\"' | convo append talk --stream",
            server.url()
        );
        let run = env.shell(&line).status(0);
        assert!(run.stderr.contains("acknowledged 0"), "{}: {run}", case.name);
        let after = std::fs::read(env.log("talk")).unwrap();
        assert!(before == after, "{}: {run}", case.name);
    }
}

#[test]
fn an_unreachable_server_is_retried() {
    let env = Env::new();
    let mut command = env.command(&["llm", "-m", "m", "--backoff", "1ms", "--retries", "2"]);
    command.env(
        "CONVO_LLM_BASE_URL",
        format!("http://127.0.0.1:{}", closed_port()),
    );
    let run = env.feed(command, ASKED.as_bytes()).status(69).says("127.0.0.1");
    assert_eq!(run.stderr.matches("retrying in").count(), 2, "{run}");
}

#[test]
fn a_host_that_does_not_exist() {
    let env = Env::new();
    let mut command = env.command(&["llm", "-m", "m", "--retries", "0", "--timeout", "20s"]);
    command.env("CONVO_LLM_BASE_URL", "http://nowhere.invalid/v1");
    env.feed(command, ASKED.as_bytes())
        .status(69)
        .says("nowhere.invalid");
}

#[test]
fn a_request_succeeds_after_retries() {
    let env = Env::new();
    let server = Server::new(|nth, _| match nth {
        0 => whole("500 Broken", "", ""),
        1 => whole("429 Too Many", "retry-after: 0\r\n", ""),
        2 => Vec::new(),
        _ => json(HELLO),
    });
    let run = llm(&env, &server, &[], ASKED).status(0).says("retrying in 1 ms");
    assert_eq!(run.objects()[0]["content"], "Hello.");
    assert_eq!(server.requests().len(), 4);
    assert!(run.stderr.contains("status 429; retrying in 0 s"), "{run}");
}

#[test]
fn retry_after_is_obeyed_up_to_a_limit() {
    let env = Env::new();
    for (header, wanted) in [
        ("retry-after: 3600\r\n", "3600 s"),
        (
            "date: Wed, 21 Oct 2026 07:28:00 GMT\r\nretry-after: Wed, 21 Oct 2026 08:28:00 GMT\r\n",
            "3600 s",
        ),
    ] {
        let server = Server::always(whole("429 Too Many", header, ""));
        let run = llm(&env, &server, &[], ASKED).status(69);
        let run = run.says("retry after").says(wanted).says("--max-wait 3601s");
        assert_eq!(server.requests().len(), 1, "{run}");
    }
    let server = Server::new(|nth, _| match nth {
        0 => whole("503 Busy", "retry-after: 1\r\n", ""),
        _ => json(HELLO),
    });
    llm(&env, &server, &[], ASKED).status(0).says("retrying in 1 s");
}

/// A redirect could send the key to another host.
#[test]
fn no_redirect_is_followed() {
    let env = Env::new();
    let other = Server::always(json(HELLO));
    for status in ["301 Moved", "302 Found", "303 See", "307 Away", "308 Away"] {
        let place = format!(
            "location: http://localhost:{}/v1/chat/completions\r\n",
            other.port
        );
        let server = Server::always(whole(status, &place, ""));
        let run = llm(&env, &server, &[], ASKED)
            .status(69)
            .says("redirects to localhost");
        assert_eq!((run.out(), server.requests().len()), ("", 1));
    }
    assert!(other.requests().is_empty());
}

/// A retry would fail in the same way.
#[test]
fn a_malformed_redirect_is_not_retried() {
    let env = Env::new();
    let server = Server::always(whole("302 Found", "location: http://a\u{1}b/\r\n", ""));
    let run = llm(&env, &server, &["--retries", "2"], ASKED).status(69);
    assert_eq!((run.out(), server.requests().len()), ("", 1), "{run}");
    assert!(run.stderr.contains("header"), "{run}");
}

#[test]
fn an_endless_reply_is_aborted() {
    let env = Env::new();
    let piece = format!(": {}\n", "x".repeat(1 << 20));
    let pieces: Vec<&[u8]> = vec![piece.as_bytes(); 80];
    let server = Server::always(chunks(&pieces, true));
    llm(&env, &server, &["--stream"], ASKED)
        .status(69)
        .gives("")
        .says("longer than 67108864 bytes");
}

/// A reply cut at the token limit is stored and marked.
#[test]
fn a_truncated_reply_is_marked() {
    let env = Env::new();
    let server = Server::always(json(&HELLO.replace("\"stop\"", "\"length\"")));
    let run = llm(&env, &server, &[], ASKED).status(0).says("--max-tokens");
    assert_eq!(run.objects()[0]["metadata"]["stop_reason"], "length");
}

#[test]
fn a_session_that_cannot_be_answered_sends_no_request() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    for (input, says) in [
        (String::new(), "contains no session"),
        ("\n \n".to_string(), "contains no session"),
        ("hello".to_string(), "unknown format"),
        (ASKED.lines().next().unwrap().to_string(), "no message"),
        (
            format!("{ASKED}{{\"role\":\"assistant\",\"content\":\"Yes.\"}}\n"),
            "the last message is from the assistant",
        ),
        (format!("{ASKED}{{broken\n"), "-:4: byte"),
        (format!("{ASKED}{call}\n"), "tool call without result"),
        (
            format!("{ASKED}{}", ASKED.replace("talk", "other")),
            "more than one session",
        ),
    ] {
        for api in ["openai-chat", "anthropic", "openai-responses"] {
            let run = llm(&env, &server, &["--api", api], &input).status(65).gives("");
            assert!(run.stderr.contains(says), "{input:?}: {run}");
        }
    }
    assert!(server.requests().is_empty());
}
