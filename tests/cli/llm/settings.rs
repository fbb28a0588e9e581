//! Tests the selection of service and key: options, environment, config file.

use super::server::{Server, json, whole};
use super::{ASKED, HELLO, KEY};
use crate::env::{Env, Run};
use std::os::unix::fs::PermissionsExt;

/// Names and values.
type Variables<'v> = Vec<(&'v str, &'v str)>;

/// Runs with these variables.
#[must_use]
fn run(env: &Env, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = env.command(&[&["llm"], arguments].concat());
    command.envs(variables.iter().copied());
    env.feed(command, ASKED.as_bytes())
}

#[test]
fn options_precede_environment_and_file() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let file = format!(
        "tokenizer = \"bytes4\"\n[llm]\nmodel = \"of-file\"\nbase-url = \"{}\"\nmax-tokens = 5\ntemperature = 0.5\ntimeout = \"1m\"\n",
        server.url()
    );
    let config = env.root().join("config/convo");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), file).unwrap();
    run(&env, &[], &[]).fine();
    let sent = server.last().json();
    assert_eq!(
        (sent["model"].as_str(), sent["max_tokens"].as_u64()),
        (Some("of-file"), Some(5))
    );
    run(&env, &[("CONVO_LLM_MODEL", "of-environment")], &[]).fine();
    assert_eq!(server.last().json()["model"], "of-environment");
    run(
        &env,
        &[("CONVO_LLM_MODEL", "of-environment")],
        &["-m", "of-option", "--max-tokens", "9"],
    )
    .fine();
    let sent = server.last().json();
    assert_eq!(
        (sent["model"].as_str(), sent["max_tokens"].as_u64()),
        (Some("of-option"), Some(9))
    );
    // The program itself accepts and ignores the table.
    env.run(&["list", "--store", "/nonexistent"]).status(66);
    env.feed(env.command(&["--no-config", "llm"]), ASKED.as_bytes())
        .status(78)
        .says("no model");
}

#[test]
fn invalid_settings_are_78() {
    let env = Env::new();
    env.write("empty.key", "\n");
    env.write("two.key", "sk-a\nsk-b\n");
    env.write("wrong.toml", "[llm]\nmodle = \"m\"\n");
    env.write("flat.toml", "llm = 5\n");
    env.write("plain.pem", "hello");
    let url = "http://127.0.0.1:9/v1";
    let cases: Vec<(Variables<'_>, Vec<&str>, &str)> = vec![
        (vec![], vec![], "no model given"),
        (vec![], vec!["-m", "m"], "api.openai.com: no API key"),
        (vec![], vec!["-m", "claude-x"], "api.anthropic.com: no API key"),
        (vec![], vec!["-m", "m", "-b", "ftp://x/v1"], "https://"),
        (vec![], vec!["-m", "m", "-b", "not an address"], "not an address"),
        (
            vec![],
            vec!["-m", "m", "-b", "https://me:secret@host/v1"],
            "a user or a password",
        ),
        (
            vec![],
            vec!["-m", "m", "-b", "https://host/v1?key=x"],
            "after '?'",
        ),
        (
            vec![],
            vec!["-m", "m", "-b", url, "--key-file", "nothing.key"],
            "cannot read the key",
        ),
        (
            vec![],
            vec!["-m", "m", "-b", url, "--key-file", "empty.key"],
            "empty.key: contains no key",
        ),
        (
            vec![],
            vec!["-m", "m", "-b", url, "--key-file", "two.key"],
            "two.key: not a key",
        ),
        (
            vec![("CONVO_LLM_KEY", "a b")],
            vec!["-m", "m", "-b", url],
            "CONVO_LLM_KEY: not a key",
        ),
        (
            vec![("CONVO_LLM_API", "soap")],
            vec!["-m", "m", "-b", url],
            "expected openai-chat",
        ),
        (
            vec![("CONVO_LLM_TIMEOUT", "soon")],
            vec!["-m", "m", "-b", url],
            "timeout",
        ),
        (
            vec![("CONVO_LLM_RETRIES", "x")],
            vec!["-m", "m", "-b", url],
            "retries",
        ),
        (
            vec![("CONVO_CONFIG", "wrong.toml")],
            vec!["-m", "m", "-b", url],
            "modle",
        ),
        (
            vec![("CONVO_CONFIG", "flat.toml")],
            vec!["-m", "m", "-b", url],
            "expected a table",
        ),
        (
            vec![("CONVO_CONFIG", "nothing.toml")],
            vec!["-m", "m", "-b", url],
            "nothing.toml",
        ),
        (
            vec![],
            vec!["-m", "m", "-b", url, "--ca-file", "plain.pem"],
            "plain.pem: contains no certificate",
        ),
        (
            vec![("HTTPS_PROXY", "::secret::")],
            vec!["-m", "m", "-b", "https://host.invalid/v1"],
            "HTTPS_PROXY",
        ),
    ];
    for (variables, arguments, says) in cases {
        let run = run(&env, &variables, &arguments).status(78).gives("");
        assert!(run.stderr.contains(says), "{arguments:?}: {run}");
        assert!(!run.stderr.contains("secret"), "{run}");
    }
    for arguments in [
        ["--temperature", "hot"],
        ["--timeout", "0"],
        ["--retries", "-1"],
        ["--api", "soap"],
    ] {
        run(&env, &[], &arguments).status(2);
    }
}

/// A service's usual key is sent only to that service, or to a URL configured for it.
#[test]
fn a_key_is_sent_only_to_its_service() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let url = server.url();
    let key = || server.last().header("authorization").map(str::to_string);
    run(&env, &[("OPENAI_API_KEY", KEY)], &["-m", "m", "-b", &url]).fine();
    assert_eq!(key(), None);
    run(
        &env,
        &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &url)],
        &["-m", "m"],
    )
    .fine();
    assert_eq!(key(), Some(format!("Bearer {KEY}")));
    run(
        &env,
        &[("OPENAI_API_KEY", "no"), ("CONVO_LLM_KEY", KEY)],
        &["-m", "m", "-b", &url],
    )
    .fine();
    assert_eq!(key(), Some(format!("Bearer {KEY}")));
    let path = env.write("a.key", format!("{KEY}\n"));
    let file = ["-m", "m", "-b", &url, "--key-file", "a.key"];
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    run(&env, &[("CONVO_LLM_KEY", "no")], &file)
        .status(0)
        .says("chmod 600 a.key");
    assert_eq!(key(), Some(format!("Bearer {KEY}")));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    run(&env, &[], &file).fine();
    let claude = r#"{"content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn"}"#;
    let server = Server::always(json(claude));
    let base = format!("http://127.0.0.1:{}", server.port);
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", &base),
        ("OPENAI_API_KEY", "no"),
    ];
    run(&env, &variables, &["-m", "claude-x"]).fine();
    assert_eq!(server.last().header("x-api-key"), Some(KEY));
    assert_eq!(server.last().path(), "/v1/messages");
}

/// Plain HTTP can be read by everyone on the way.
#[test]
fn a_key_is_never_sent_in_clear_text() {
    let env = Env::new();
    let key = [("CONVO_LLM_KEY", KEY)];
    let elsewhere = ["-m", "m", "-b", "http://elsewhere.invalid/v1", "--retries", "0"];
    let refused = run(&env, &key, &elsewhere).status(77).says("over plain HTTP");
    assert!(
        refused.stderr.contains("--insecure-http") && !refused.stderr.contains(KEY),
        "{refused}"
    );
    // With --insecure-http or without a key, the request is sent; the host does not exist.
    run(&env, &key, &[&elsewhere[..], &["--insecure-http"]].concat()).status(69);
    run(
        &env,
        &[("CONVO_LLM_KEY", KEY), ("CONVO_LLM_INSECURE_HTTP", "1")],
        &elsewhere,
    )
    .status(69);
    run(&env, &[], &elsewhere).status(69);
}

#[test]
fn an_address_is_completed() {
    let env = Env::new();
    let server = Server::always(whole("400 Bad", "", ""));
    for (base, api, path) in [
        ("", "openai-chat", "/v1/chat/completions"),
        ("/", "openai-chat", "/v1/chat/completions"),
        ("/v1", "openai-chat", "/v1/chat/completions"),
        ("/v1/", "openai-responses", "/v1/responses"),
        ("/openai/v1", "openai-chat", "/openai/v1/chat/completions"),
        ("/x/chat/completions", "openai-chat", "/x/chat/completions"),
        ("", "anthropic", "/v1/messages"),
        ("/v1", "anthropic", "/v1/messages"),
        ("/anthropic", "", "/anthropic/v1/messages"),
        ("/v1/responses", "", "/v1/responses"),
        ("/v1", "", "/v1/chat/completions"),
    ] {
        let url = format!("http://localhost:{}{base}", server.port);
        let mut arguments = vec!["-m", "claude-or-not", "-b", &url];
        if !api.is_empty() {
            arguments.extend(["--api", api]);
        }
        run(&env, &[], &arguments).status(69);
        assert_eq!(server.last().path(), path, "{base} {api}");
    }
}

/// This machine is reached without the proxy, everything else through it, except as configured.
#[test]
fn proxies_are_used() {
    let env = Env::new();
    let server = Server::always(json(HELLO));
    let url = server.url();
    let proxy = format!("http://127.0.0.1:{}", super::server::closed_port());
    run(&env, &[("ALL_PROXY", &proxy)], &["-m", "m", "-b", &url]).fine();
    let away = [
        "-m", "m", "-b", "http://model.invalid/v1", "--retries", "0", "--timeout", "20s",
    ];
    // The proxy receives the request, not the nonexistent host.
    run(&env, &[("HTTP_PROXY", &proxy)], &away)
        .status(69)
        .says("refused");
    let excepted = [("HTTP_PROXY", proxy.as_str()), ("NO_PROXY", "model.invalid")];
    let answer = run(&env, &excepted, &away).status(69);
    assert!(!answer.stderr.contains("refused"), "{answer}");
}

#[test]
fn help_is_complete() {
    let env = Env::new();
    let long = env.run(&["llm", "--help"]).fine();
    assert!(
        long.out().contains("Examples:") && long.out().contains("--tool-schema"),
        "{long}"
    );
    env.run(&["help", "llm"]).fine().gives(long.out());
    let short = env.run(&["llm", "-h"]).fine();
    assert!(short.out().lines().count() <= 40, "{short}");
    env.run(&["llm", "--nonesuch"]).status(2).says("convo: llm:");
}
