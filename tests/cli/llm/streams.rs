//! Tests streams: any packet boundaries, and what is printed when.

use super::server::{Act, Server, chunks};
use super::{ASKED, STREAM, llm};
use crate::env::Env;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

#[test]
fn chunk_boundaries_do_not_matter() {
    let env = Env::new();
    let expected = llm(
        &env,
        &Server::always(chunks(&[STREAM.as_bytes()], true)),
        &["--stream"],
        ASKED,
    )
    .status(0);
    assert_eq!(expected.objects()[0]["content"], "Caf\u{e9} au lait");
    for size in [1, 2, 3, 7, 64] {
        // Boundaries also split characters, and lines end in every valid way.
        for text in [
            STREAM.to_string(),
            STREAM.replace('\n', "\r\n"),
            STREAM.replace('\n', "\r"),
        ] {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let run = llm(&env, &Server::always(chunks(&pieces, true)), &["--stream"], ASKED).status(0);
            assert_eq!(run.out(), expected.out(), "{size}");
        }
    }
}

#[test]
fn missing_stream_ends_are_accepted() {
    let env = Env::new();
    for end in ["data: [DONE]\n\n", "\n\ndata: [DONE]\n\n", "\n"] {
        let text = STREAM.strip_suffix(end).unwrap_or(STREAM);
        let acts = vec![Act::Send(
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n: hello\n\n{text}").into_bytes(),
        )];
        let run = llm(&env, &Server::always(acts), &["--stream", "--text"], ASKED).fine();
        run.gives("Caf\u{e9} au lait\n");
    }
}

/// The text is printed while the server is still sending.
#[test]
fn text_is_printed_on_arrival() {
    let env = Env::new();
    let (go, wait) = channel::<()>();
    let at = STREAM
        .find("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"au")
        .unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let server = Server::always(vec![
        Act::Send(format!("{head}{}", &STREAM[..at]).into_bytes()),
        Act::Wait(Arc::new(Mutex::new(wait))),
        Act::Send(STREAM[at..].into()),
    ]);
    let url = server.url();
    let mut command = env.command(&["llm", "-m", "m", "--base-url", &url, "--partial"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(ASKED.as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(
        lines.next().unwrap().unwrap(),
        "{\"type\":\"partial\",\"text\":\"Caf\u{e9} \"}"
    );
    go.send(()).unwrap();
    assert_eq!(
        lines.next().unwrap().unwrap(),
        r#"{"type":"partial","text":"au lait"}"#
    );
    assert!(lines.next().unwrap().unwrap().contains("\"role\":\"assistant\""));
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_environment_can_request_partial_output() {
    let env = Env::new();
    let server = Server::always(chunks(&[STREAM.as_bytes()], true));
    let url = server.url();
    for (set, lines) in [("1", 3), ("0", 1), ("", 1)] {
        let mut command = env.command(&["llm", "-m", "m", "--base-url", &url, "-q"]);
        command.env("CONVO_PARTIAL", set);
        let run = env.feed(command, ASKED.as_bytes()).fine();
        assert_eq!(run.objects().len(), lines, "{set}: {run}");
    }
    // Without streaming there is a single piece.
    let run = llm(&env, &server, &["--partial", "--no-stream"], ASKED).fine();
    assert!(run.objects().len() >= 2);
}

/// A surrogate pair split across two events.
#[test]
fn a_character_in_two_escapes_is_one() {
    let env = Env::new();
    let text = STREAM
        .replace("Caf\u{e9} ", "\\ud83d")
        .replace("au lait", "\\ude00!");
    let run = llm(
        &env,
        &Server::always(chunks(&[text.as_bytes()], true)),
        &["--stream"],
        ASKED,
    )
    .fine();
    assert_eq!(run.objects()[0]["content"], "\u{1f600}!");
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let env = Env::new();
    let server = Server::always(chunks(&[STREAM.as_bytes()], true));
    env.write("asked.jsonl", ASKED);
    let line = format!(
        "(convo llm -m m --base-url {} --partial < asked.jsonl; echo $? > status.txt) | head -n 0; sleep 0",
        server.url()
    );
    env.shell(&line).status(0);
    super::server::until(|| env.work().join("status.txt").exists());
    super::server::until(|| !env.read("status.txt").is_empty());
    assert_eq!(env.read("status.txt"), "0\n");
}
