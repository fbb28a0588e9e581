//! `convo redact`.

use crate::env::{CHAT, Env};

const TOKEN: &str = "glpat-mNKwz8T823VS9aNuUE2l";

fn line(text: &str) -> String {
    format!("{{\"role\":\"user\",\"id\":\"m1\",\"content\":\"{text}\"}}\n")
}

#[test]
fn secrets_are_replaced_and_other_lines_keep_their_bytes() {
    let env = Env::new();
    let input = CHAT.to_string() + &line(&format!("use {TOKEN}"));
    let run = env.pipe(&["redact"], &input).status(0);
    let run = run.says("convo: -: redacted gitlab-token (1)");
    assert!(run.out().starts_with(CHAT), "{run}");
    assert!(run.out().contains("use [REDACTED:gitlab-token:"), "{run}");
    assert!(!run.out().contains(TOKEN), "{run}");
    // Once is enough, and equal values have equal placeholders.
    let again = env
        .pipe(&["redact"], run.out())
        .status(0)
        .says("found nothing to redact");
    again.gives(run.out());
    env.pipe(&["redact", "-q"], CHAT).fine().gives(CHAT);
}

#[test]
fn a_filter_needs_no_environment() {
    let env = Env::new();
    let mut command = env.command(&["redact", "-q"]);
    command.env_clear();
    env.feed(command, line(TOKEN).as_bytes()).fine();
}

#[test]
fn documents_and_text_are_redacted_as_they_are() {
    let env = Env::new();
    let document =
        format!("{{\n  \"messages\": [\n    {{\"role\": \"user\", \"content\": \"{TOKEN}\"}}\n  ]\n}}\n");
    let run = env.pipe(&["redact", "-q"], &document).fine();
    let mark = run
        .out()
        .split('"')
        .find(|part| part.starts_with("[REDACTED"))
        .unwrap()
        .to_string();
    assert_eq!(run.out(), document.replace(TOKEN, &mark));
    let text = format!("# Chat\n\nuse {TOKEN} now\n");
    env.pipe(&["redact", "-q"], &text)
        .fine()
        .gives(text.replace(TOKEN, &mark));
}

#[test]
fn check_reports_findings_without_their_values() {
    let env = Env::new();
    env.write("clean.jsonl", CHAT);
    env.write(
        "bad.jsonl",
        CHAT.to_string() + &line(&format!("{TOKEN} and password: 'Saddle59!ptkB'")),
    );
    env.run(&["redact", "--check", "clean.jsonl"]).fine().gives("");
    let run = env
        .run(&["redact", "--check", "clean.jsonl", "bad.jsonl"])
        .status(1);
    assert_eq!(run.stderr, "", "{run}");
    let place = format!("bad.jsonl:{}", CHAT.lines().count() + 1);
    let rows: Vec<Vec<&str>> = run.out().lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[0][..5], ["definite", "gitlab-token", &place, "user", "26"]);
    assert_eq!(rows[1], ["likely", "password", &place, "user", "13", "-"]);
    let run = env.run(&["redact", "--check", "--json", "bad.jsonl"]).status(1);
    for secret in [TOKEN, "Saddle"] {
        assert!(
            !run.out().contains(secret) && !run.stderr.contains(secret),
            "{run}"
        );
    }
    let objects = run.objects();
    assert_eq!(objects[0]["pointer"], "/content");
    assert_eq!(
        (&objects[0]["start"], &objects[0]["end"]),
        (&0.into(), &26.into())
    );
    assert_eq!(objects[1]["sha256"], serde_json::Value::Null);
    // The printed hash allows the value.
    env.write(
        "allow",
        format!(
            "# known\nsha256:{}\nkind:password\n",
            objects[0]["sha256"].as_str().unwrap()
        ),
    );
    env.run(&["redact", "--check", "--allow", "allow", "bad.jsonl"])
        .fine();
    env.run(&["redact", "--check", "-q", "bad.jsonl"])
        .status(1)
        .gives("");
}

#[test]
fn a_file_is_rewritten_only_if_something_is_found() {
    let env = Env::new();
    let path = env.write("bad.jsonl", line(TOKEN));
    env.run(&["redact", "-i=.bak", "bad.jsonl"])
        .status(0)
        .says("bad.jsonl: redacted gitlab-token (1)");
    assert!(env.read("bad.jsonl").contains("[REDACTED:gitlab-token:"));
    assert_eq!(env.read("bad.jsonl.bak"), line(TOKEN));
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    env.run(&["redact", "-q", "-i", "bad.jsonl"]).fine();
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    std::os::unix::fs::symlink("bad.jsonl", env.work().join("link.jsonl")).unwrap();
    env.run(&["redact", "-i", "link.jsonl"])
        .status(77)
        .says("not a regular file");
}

#[test]
fn personal_data_and_names_are_removed_on_request() {
    let env = Env::new();
    let input = line("Ask Ann, ann.lee@orchard.io");
    env.pipe(&["redact", "-q"], &input).fine().gives(&input);
    env.pipe(&["redact", "-q", "--personal", "email", "--name", "ann"], &input)
        .fine()
        .gives(line("Ask [REDACTED:name:1], [REDACTED:email:1]"));
    env.write("key", "a secret");
    let run = env
        .pipe(&["redact", "-q", "--personal", "all", "--key", "key"], &input)
        .fine();
    assert!(
        !run.out().contains(":1]") && run.out().contains("[REDACTED:email:"),
        "{run}"
    );
}

#[test]
fn stored_sessions_are_copied_and_not_changed() {
    let env = Env::with_chat();
    env.run(&["append", "-q", "trip", TOKEN]).fine();
    env.run(&["redact", "trip"])
        .status(2)
        .says("redact does not change stored sessions")
        .says("hint: print a redacted copy with: convo redact --stdout trip");
    env.run(&["redact", "--check", "trip"]).status(1);
    let run = env.run(&["redact", "-q", "--stdout", "trip"]).fine();
    assert!(run.out().contains("[REDACTED:gitlab-token:"), "{run}");
    let cat = env.run(&["cat", "trip"]).fine();
    assert!(cat.out().contains(TOKEN), "{cat}");
}

#[test]
fn bad_options_and_inputs_are_refused() {
    let env = Env::new();
    env.write("empty", "");
    env.write("allow", "sha256:12\n");
    env.write("a.gz", b"\x1f\x8b\x08\x00");
    for (arguments, status, text) in [
        (
            &["redact", "--only", "github-tokn"][..],
            2,
            "did you mean 'github-token'?",
        ),
        (
            &["redact", "--personal", "shoe-size"],
            2,
            "--personal: unknown kind 'shoe-size'",
        ),
        (
            &["redact", "--allow", "allow"],
            2,
            "--allow allow:1: invalid entry 'sha256:12'",
        ),
        (
            &["redact", "--key", "empty"],
            78,
            "--key empty: the file is empty",
        ),
        (&["redact", "a.gz"], 65, "is compressed"),
        (&["redact", "missing.jsonl"], 66, "missing.jsonl"),
        (&["redact", "-i"], 2, "-i requires a file"),
    ] {
        env.pipe(arguments, "").status(status).says(text);
    }
}

#[test]
fn lines_that_are_not_json_are_redacted_too() {
    let env = Env::new();
    let input = [
        line("fine").as_bytes(),
        b"{\"content\": \"\xff ",
        TOKEN.as_bytes(),
        b"\n",
    ]
    .concat();
    let run = env.pipe(&["redact", "-q"], &input).fine();
    let after = String::from_utf8_lossy(&run.stdout);
    assert!(
        after.contains("[REDACTED:gitlab-token:") && !after.contains(TOKEN),
        "{after}"
    );
}
