//! Tests `detect`, which prints the format of an input.

use crate::env::Env;

#[test]
fn the_printed_name_is_accepted_by_from() {
    let env = Env::new();
    for (text, name) in [
        ("{\"type\":\"session\",\"version\":1,\"id\":\"a\"}\n", "native"),
        ("{\"role\":\"user\",\"content\":\"a\"}\n", "jsonl"),
        ("[{\"role\":\"system\",\"content\":\"a\"}]", "openai-chat"),
        (
            "{\"type\":\"packed\",\"id\":\"a\",\"records\":[{\"role\":\"user\",\"content\":\"a\"}]}\n",
            "native",
        ),
    ] {
        env.pipe(&["detect"], text).fine().gives(format!("{name}\n"));
        env.pipe(&["count", "--from", name], text).fine();
    }
}

#[test]
fn several_inputs_have_a_line_each() {
    let env = Env::new();
    env.write("a.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n");
    env.write("b.json", "{\"contents\":[]}");
    env.run(&["detect", "a.jsonl", "b.json"])
        .fine()
        .gives("a.jsonl\tjsonl\nb.json\tgemini\n");
    let id = env.run(&["new"]).fine().out().to_string();
    env.run(&["detect", id.trim()]).fine().gives("native\n");
    // A missing input does not stop the next one.
    env.run(&["detect", "gone.json", "b.json"])
        .status(66)
        .says("gone.json")
        .gives("b.json\tgemini\n");
}

#[test]
fn unsupported_input_is_described() {
    let env = Env::new();
    let log = "{\"type\":\"session_meta\",\"payload\":{}}\n";
    let name = env
        .pipe(&["detect"], "{\"foo\":1}")
        .status(65)
        .says("members: foo");
    name.gives("");
    env.pipe(&["detect"], "").status(65).says("empty");
    env.pipe(&["detect"], "PK\u{3}\u{4}").status(65).says("unzip");
    let run = env.pipe(&["detect", "--json"], log);
    assert!(run.out().contains("\"format\":\"codex\""), "{}", run.out());
    let known = ["detect", "--json"];
    let out = env.pipe(&known, "{\"foo\":1}").status(65).out().to_string();
    assert!(out.contains("\"format\":null"), "{out}");
    assert!(out.contains("\"confidence\":\"unknown\""), "{out}");
}

#[test]
fn input_of_several_formats_is_ambiguous() {
    let env = Env::new();
    let text = "[{\"role\":\"user\",\"content\":\"a\"}]";
    let warning = "ambiguous format: also matches anthropic";
    env.pipe(&["detect"], text)
        .status(0)
        .says(warning)
        .gives("openai-chat\n");
    env.pipe(&["detect", "--strict"], text).status(65).says(warning);
    let out = env.pipe(&["detect", "--json"], text).status(0).out().to_string();
    assert!(out.contains("\"confidence\":\"ambiguous\""), "{out}");
    assert!(out.contains("\"format\":\"anthropic\""), "{out}");
}

/// Only the beginning is read, however long the input is.
#[test]
fn only_the_beginning_is_read() {
    let env = Env::new();
    let long = format!(
        "[{{\"role\":\"system\",\"content\":\"{}\"}}]",
        "x".repeat(300_000)
    );
    env.pipe(&["detect"], &long).fine().gives("openai-chat\n");
    let packed = format!(
        "{{\"type\":\"packed\",\"id\":\"a\",\"records\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}\n",
        "x".repeat(300_000)
    );
    env.pipe(&["detect"], &packed).fine().gives("native\n");
}
