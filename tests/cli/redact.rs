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
    // A second run changes nothing, and equal values have equal placeholders.
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
    env.write("side.jsonl", line(TOKEN));
    env.write("side.meta.json", "{}");
    env.run(&["redact", "-i", "side.jsonl"])
        .status(0)
        .says("side.jsonl: not redacted: side.meta.json");
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

/// A session with a secret in its title, its log, the archive, the quarantine and the trash.
fn spread() -> Env {
    let env = Env::with_chat();
    let text = format!("use {TOKEN}");
    env.run(&["append", "-q", "trip", &text]).fine();
    env.run(&["remove", "-q", "trip"]).fine();
    env.run(&["new", "-q", "--id", "trip", "--title", &text])
        .status(0);
    for text in [
        &text,
        "password: 'Saddle59!ptkB'",
        "password: 'Orchard72!mzQ' again",
        &text,
    ] {
        env.run(&["append", "-q", "trip", text]).fine();
        env.run(&["append", "-q", "trip", "-r", "assistant", "Yes."])
            .fine();
    }
    env.run(&["truncate", "-q", "trip", "--keep-last", "1"]).fine();
    env.run(&["gc", "-q", "trip"]).fine();
    let mut log = std::fs::read(env.log("trip")).unwrap();
    log.extend(format!("{{\"role\":\"user\",\"content\":\"{text}").bytes());
    std::fs::write(env.log("trip"), log).unwrap();
    env.run(&["redact", "trip"])
        .status(65)
        .says("the last line is truncated; nothing was changed")
        .says("hint: repair it with: convo fsck --repair");
    env.run(&["fsck", "-q", "--repair"]).status(0);
    env.run(&["list", "-q"]).status(0);
    env
}

/// The files of the store that contain a text.
fn containing(env: &Env, text: &str) -> Vec<String> {
    let has = |name: &String| {
        let bytes = std::fs::read(env.root().join(name)).unwrap();
        memchr::memmem::find(&bytes, text.as_bytes()).is_some()
    };
    env.files().into_iter().filter(has).collect()
}

#[test]
fn a_stored_session_is_redacted_everywhere() {
    let env = spread();
    let found = containing(&env, TOKEN);
    for place in ["sessions/", "archive/", "quarantine/", "trash/"] {
        assert!(
            found.iter().any(|name| name.contains(place)),
            "{place}: {found:?}"
        );
    }
    let plan = env.run(&["redact", "-n", "trip"]).status(0);
    let row = plan.out().lines().next().unwrap();
    assert_eq!(row, "sessions/trip.jsonl\t2\tgitlab-token (2)", "{plan}");
    assert!(
        plan.out().contains("trash/") && !plan.out().contains(TOKEN),
        "{plan}"
    );
    assert_eq!(containing(&env, TOKEN), found);
    let view = env.run(&["context", "trip"]).fine();

    let run = env.run(&["redact", "trip"]).status(0);
    run.says("convo: trip: redacted gitlab-token (")
        .says("password (");
    for secret in [TOKEN, "Saddle59", "Orchard72"] {
        assert_eq!(containing(&env, secret), Vec::<String>::new());
    }
    let log = std::fs::read_to_string(env.log("trip")).unwrap();
    let event = log.lines().last().unwrap();
    assert!(
        event.starts_with("{\"type\":\"redact\",\"id\":\"evt_") && event.contains("\"gitlab-token\":"),
        "{event}"
    );
    env.run(&["fsck", "-q"]).fine();
    let lines = |text: &str| text.lines().count();
    assert_eq!(
        lines(env.run(&["context", "trip"]).fine().out()),
        lines(view.out())
    );

    // A second run changes nothing, and archived lines are restored without secrets.
    env.run(&["redact", "trip"])
        .status(0)
        .says("found nothing to redact");
    assert_eq!(std::fs::read_to_string(env.log("trip")).unwrap(), log);
    let list = env.run(&["restore", "--list", "trip"]).fine();
    assert!(!list.out().contains("redact"), "{list}");
    let id = event.split('"').nth(7).unwrap();
    env.run(&["restore", "trip", id])
        .status(1)
        .says("a redact event cannot be undone");
    let gc = list.out().lines().find(|line| line.contains("\tgc\t")).unwrap();
    let gc = gc.split('\t').next().unwrap();
    env.run(&["restore", "-q", "trip", gc]).fine();
    env.run(&["restore", "-q", "trip"]).fine();
    let whole = env.run(&["context", "trip"]).fine();
    assert!(
        whole.out().contains("[REDACTED:password:1]") && whole.out().contains("[REDACTED:password:2]"),
        "{whole}"
    );
    env.run(&["fsck", "-q"]).fine();
    // Numbers continue after existing ones.
    env.run(&["append", "-q", "trip", "password: 'Thimble88!qqA'"])
        .fine();
    env.run(&["redact", "-q", "trip"]).fine();
    let log = std::fs::read_to_string(env.log("trip")).unwrap();
    assert!(log.contains("[REDACTED:password:3]"), "{log}");
}

#[test]
fn a_stored_session_is_copied_without_a_change() {
    let env = Env::with_chat();
    env.run(&["append", "-q", "trip", TOKEN]).fine();
    let before = std::fs::read(env.log("trip")).unwrap();
    env.run(&["redact", "--check", "trip"]).status(1);
    let run = env.run(&["redact", "-q", "--stdout", "trip"]).fine();
    assert!(run.out().contains("[REDACTED:gitlab-token:"), "{run}");
    env.run(&["redact", "-q", "-o", "copy.jsonl", "trip"]).fine();
    assert_eq!(env.read("copy.jsonl"), run.out());
    env.write("file.jsonl", CHAT);
    env.run(&["redact", "trip", "file.jsonl"])
        .status(2)
        .says("cannot mix stored sessions with files or standard input");
    env.run(&["redact", "-i", "trip"])
        .status(2)
        .says("omit -i to change the stored session");
    env.run(&["redact", "--signed", "refuse", "--name", "nobody", "trip"])
        .status(0);
    assert_ne!(std::fs::read(env.log("trip")).unwrap(), before);
}

#[test]
fn a_session_open_in_a_program_is_unchanged() {
    let env = Env::with_chat();
    env.run(&["append", "-q", "trip", TOKEN]).fine();
    let before = std::fs::read(env.log("trip")).unwrap();
    let open = std::fs::OpenOptions::new()
        .append(true)
        .open(env.log("trip"))
        .unwrap();
    env.run(&["redact", "trip"])
        .status(75)
        .says("open for writing in");
    drop(open);
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), before);
    env.run(&["redact", "-q", "trip"]).fine();
}

#[test]
fn a_redaction_that_would_move_the_view_is_refused() {
    let env = Env::new();
    let line =
        |id: &str, text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\",\"id\":\"{id}\"}}\n");
    env.pipe(&["new", "-q", "--id", "trip"], "").status(0);
    let lines = line("mary", "one") + &line("m2", "two");
    env.pipe(&["append", "-q", "--stream", "trip"], lines).fine();
    env.run(&["drop", "-q", "trip", "--message", "mary"]).fine();
    let before = std::fs::read(env.log("trip")).unwrap();
    env.run(&["redact", "trip", "--name", "mary"])
        .status(65)
        .says("would change which messages are visible");
    assert_eq!(std::fs::read(env.log("trip")).unwrap(), before);
}

#[test]
fn files_that_would_change_are_listed() {
    let env = Env::new();
    env.write("bad.jsonl", line(TOKEN) + &line("fine") + &line(TOKEN));
    env.run(&["redact", "-n", "-i", "bad.jsonl"])
        .status(0)
        .gives("bad.jsonl\t2\tgitlab-token (2)\n");
    assert!(env.read("bad.jsonl").contains(TOKEN));
    env.run(&["redact", "-n", "bad.jsonl"])
        .status(2)
        .says("-n requires -i or a stored session");
}

#[test]
fn a_private_key_over_many_lines_is_one_value() {
    let env = Env::new();
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(5);
    let key = format!("# Notes\n-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\nend\n");
    let run = env.pipe(&["redact", "-q"], &key).fine();
    assert!(
        run.out().starts_with("# Notes\n[REDACTED:private-key:") && run.out().ends_with("]\nend\n"),
        "{run}"
    );
}

#[test]
fn bad_options_and_inputs_are_refused() {
    let env = Env::new();
    env.write("empty", "");
    env.write("allow", "sha256:12\n");
    env.write("a.gz", b"\x1f\x8b\x08\x00");
    env.write("a.zst", b"\x28\xb5\x2f\xfd\x04\x00");
    env.write("a.xz", b"\xfd7zXZ\0\0\x04");
    env.write("a.bz2", b"BZh91AY&SY");
    env.write("a.txt", b"\xff\xfeh\0i\0");
    env.write("b.txt", b"\xff\xfe\0\0h\0\0\0");
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
            "--allow allow:1: invalid entry",
        ),
        (
            &["redact", "--key", "empty"],
            78,
            "--key empty: the file is empty",
        ),
        (&["redact", "a.gz"], 65, "is compressed"),
        (&["redact", "-i", "./a.zst"], 65, "zstd -dc FILE"),
        (&["redact", "--check", "./a.xz"], 65, "xz -dc FILE"),
        (&["redact", "--check", "./a.bz2"], 65, "bzip2 -dc FILE"),
        (&["redact", "--check", "./a.txt"], 65, "iconv -f UTF-16"),
        (&["redact", "--check", "./b.txt"], 65, "iconv -f UTF-32"),
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
    let run = env.pipe(&["redact", "-q"], &input).status(65);
    let after = String::from_utf8_lossy(&run.stdout);
    assert!(
        after.contains("[REDACTED:gitlab-token:") && !after.contains(TOKEN),
        "{after}"
    );
    let place = line("fine").len();
    run.says(&format!("-:2: byte {place}: not a JSON object; searched as text"));
    env.pipe(&["redact", "--check", "-q"], &input).status(65);
    // Text that was never JSON is not damage.
    env.pipe(&["redact", "-q"], "[a list]\n{\"json\": 1}\nand text\n")
        .fine();
}

#[test]
fn a_signed_part_can_be_refused() {
    let env = Env::new();
    let part = |text: &str| format!(r#"{{"type":"thinking","thinking":"{text}","signature":"c2ln"}}"#);
    let signed = format!(r#"{{"role":"assistant","content":[{}]}}"#, part(TOKEN)) + "\n";
    let input = CHAT.to_string() + &signed;
    let path = env.write("signed.jsonl", &input);
    let run = env
        .run(&["redact", "-i", "--signed", "refuse", "signed.jsonl"])
        .status(1);
    run.says("a signed part contains a secret")
        .says("hint: drop such parts with: --signed drop");
    assert_eq!(std::fs::read_to_string(path).unwrap(), input);
    let run = env.pipe(&["redact", "--signed", "drop"], &input).status(0);
    assert!(run.out().ends_with("\"content\":[]}\n"), "{run}");
    run.says("redacted gitlab-token (1); dropped 1 signed part");
}

#[test]
fn placeholders_media_and_encrypted_parts_follow_the_options() {
    let env = Env::new();
    let image = "iVBORw0KGgo".to_string() + &"A".repeat(80);
    let input = format!(
        r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{image}"}}}}],"x":"{TOKEN}","encrypted_content":"gAA"}}"#
    ) + "\n";
    env.pipe(&["redact"], &input)
        .status(0)
        .says("redacted gitlab-token (1); could not read 1 encrypted part");
    let run = env.pipe(
        &["redact", "--images", "drop", "--opaque", "drop", "--mark", "<%k>"],
        &input,
    );
    run.status(0)
        .says("redacted gitlab-token (1), image (1); dropped 1 encrypted part")
        .gives("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"<image>\"}],\"x\":\"<gitlab-token>\",\"encrypted_content\":null}\n");
    for mark in ["%x", "a\nb"] {
        env.pipe(&["redact", "--mark", mark], &input)
            .status(2)
            .says("--mark: invalid placeholder");
    }
}

#[test]
fn values_are_allowed_by_pattern_and_never_quoted() {
    let env = Env::new();
    let input = line(&format!("{TOKEN} password: 'Saddle59!ptkB'"));
    env.write("allow", "re:^glpat-mNK\n");
    let run = env.pipe(&["redact", "--allow", "allow"], &input).status(0);
    assert!(
        run.out().contains(TOKEN) && !run.out().contains("Saddle"),
        "{run}"
    );
    // The keyed hash allows a guessable value.
    env.write("key", "a secret");
    let keyed = ["redact", "--check", "--json", "--key", "key"];
    let found = env.pipe(&keyed, &input).status(1);
    let hash = found.objects()[1]["sha256"].as_str().unwrap().to_string();
    env.write("allow", format!("sha256:{hash}\nkind:gitlab-token\n"));
    env.pipe(&["redact", "--check", "--key", "key", "--allow", "allow"], &input)
        .fine();
    env.pipe(&["redact", "--check", "--allow", "allow"], &input)
        .status(1);
    for (entry, what) in [
        (TOKEN, "invalid entry"),
        ("re:(glpat", "invalid regular expression"),
        ("kind:glpat", "unknown kind"),
    ] {
        env.write("allow", format!("# known\n{entry}\n"));
        let run = env.pipe(&["redact", "--allow", "allow"], &input).status(2);
        assert!(!run.stderr.contains("glpat"), "{run}");
        run.says(&format!("--allow allow:2: {what}"));
    }
}

#[test]
fn findings_name_session_and_role() {
    let env = Env::new();
    let header = "{\"type\":\"session\",\"version\":1,\"id\":\"s1\"}\n";
    let run = env
        .pipe(
            &["redact", "--check", "--json"],
            header.to_string() + &line(TOKEN),
        )
        .status(1);
    assert_eq!(run.objects()[0]["session"], "s1");
    let claude = format!(
        "{{\"type\":\"user\",\"sessionId\":\"s2\",\"message\":{{\"role\":\"user\",\"content\":\"{TOKEN}\"}}}}\n"
    );
    let run = env.pipe(&["redact", "--check", "--json"], &claude).status(1);
    assert_eq!(run.objects()[0]["session"], "s2");
    let run = env.pipe(&["redact", "--check"], &claude).status(1);
    assert_eq!(run.out().split('\t').nth(3), Some("user"), "{run}");
}
