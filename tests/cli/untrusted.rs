//! Tests sessions with false claims: they must not change other sessions.

use crate::env::{Env, Run};
use sha2::{Digest, Sha256};
use std::os::unix::fs::PermissionsExt;

/// A session with an alias and four messages, which attackers would want to read elsewhere.
fn victim() -> Env {
    let env = Env::new();
    env.run(&[
        "new", "-q", "--id", "victim", "--key", "telegram:1", "--alias", "vic",
    ])
    .fine();
    for text in ["a", "b"] {
        env.run(&["append", "vic", text]).fine();
        env.run(&["append", "vic", "-r", "assistant", "ok"]).fine();
    }
    env
}

/// Migrates a session with these header members and lines.
#[must_use]
fn migrate(env: &Env, id: &str, members: &str, lines: &[&str]) -> Run {
    let header = format!(r#"{{"type":"session","version":1,"id":"{id}"{members}}}"#);
    let rules = r#"{"role":"system","content":"EVIL RULES","timestamp":"2020-01-01T00:00:00Z"}"#;
    let all = [&[header.as_str(), rules], lines].concat().join("\n") + "\n";
    env.write(&format!("{id}.jsonl"), all);
    env.run(&["migrate", "-q", &format!("./{id}.jsonl")])
}

/// Puts a log directly into the store.
fn put(env: &Env, id: &str, log: &str) {
    std::fs::write(env.log(id), log).unwrap();
    std::fs::set_permissions(env.log(id), std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// The first column of `list`, and the ids of its JSON objects.
fn ids(env: &Env) -> (Vec<String>, Vec<String>) {
    let column = |run: Run| {
        let ids = run.out().lines().map(|line| {
            let id = line.split('\t').next().unwrap_or_default();
            id.trim_start().to_string()
        });
        let mut ids: Vec<String> = ids.collect();
        ids.sort();
        ids
    };
    let plain = column(env.run(&["list"]).status(0));
    assert_eq!(plain, column(env.run(&["list", "--tree"]).status(0)));
    let mut objects: Vec<String> = env
        .run(&["list", "--json"])
        .objects()
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_string())
        .collect();
    objects.sort();
    (plain, objects)
}

#[test]
fn ids_in_list_are_the_names_of_the_logs() {
    let env = victim();
    let forged = [
        r#"{"type":"meta","set":{"id":"victim --purge"}}"#,
        r#"{"type":"meta","id":"e2","set":{"id":"victim","type":"x","version":9,"title":"two\tcolumns\nand lines"}}"#,
        r#"{"type":"meta","id":"e3","unset":["id","type","version"]}"#,
    ];
    migrate(&env, "evil", "", &forged).fine();
    migrate(&env, "worse", r#","title":"victim\n--purge""#, &forged[..1]).fine();
    let logs = ["evil", "victim", "worse"].map(str::to_string).to_vec();
    assert_eq!(ids(&env), (logs.clone(), logs));
    // The claims are ignored and reported.
    let run = env.run(&["fsck", "evil"]).status(1);
    assert_eq!(run.out().matches("; ignored").count(), 7, "{run}");
    env.run(&["fsck", "-q", "victim"]).fine();
    let first = env.run(&["cat", "evil"]).fine();
    assert!(
        first
            .out()
            .starts_with(r#"{"type":"session","version":1,"id":"evil""#)
    );
    // The command from the manual removes only old sessions.
    env.shell(r"convo list --older-than 30d | cut -f1 | xargs -r -d '\n' convo remove -q --")
        .fine();
    assert!(env.log("victim").exists() && !env.log("evil").exists());
    // Split names its output files by the log's id too.
    let run = env.run(&["split", "./evil.jsonl", "--out", "out"]).status(0);
    assert!(env.work().join("out/evil.jsonl").exists(), "{run}");
}

#[test]
fn a_copied_log_is_identified_by_its_file_name() {
    let env = victim();
    std::fs::copy(env.log("victim"), env.log("copy")).unwrap();
    let logs = ["copy", "victim"].map(str::to_string).to_vec();
    assert_eq!(ids(&env), (logs.clone(), logs));
    let run = env.run(&["fsck", "copy"]).status(1);
    assert!(run.out().contains("the log is named copy"), "{run}");
}

#[test]
fn a_one_sided_link_is_not_a_continuation() {
    let env = victim();
    let claim = r#","continued_from":"victim","continuation_index":1"#;
    for id in ["evil1", "evil2", "victim.1"] {
        migrate(&env, id, claim, &[]).fine();
    }
    // The parent was not migrated with them: their claims are stored separately.
    let header = env.run(&["cat", "evil1"]).fine().objects().remove(0);
    assert_eq!(header["metadata"]["claims"]["continued_from"], "victim");
    assert_eq!(header.get("continued_from"), None, "{header}");
    assert_eq!(migrate(&env, "evil1", claim, &[]).status, 0);
    // The same for logs that already exist in the store.
    for id in ["evil1", "evil2", "victim.1"] {
        put(&env, id, &env.read(&format!("{id}.jsonl")));
    }
    let log = std::fs::read(env.log("victim")).unwrap();
    let run = env.run(&["fsck"]).status(0);
    assert!(
        run.out().contains("claim: evil1 claims to continue this session"),
        "{run}"
    );
    env.run(&["fsck", "--repair"]).status(0);
    assert_eq!(std::fs::read(env.log("victim")).unwrap(), log);
    // The victim is named by an alias; not even --link accepts that.
    let run = env.run(&["fsck", "--repair", "--link", "evil1"]).status(0);
    assert!(run.out().contains("not linked"), "{run}");
    assert_eq!(std::fs::read(env.log("victim")).unwrap(), log);
    env.run(&["show", "--chain", "victim"]).status(0);
    env.run(&["append", "vic", "private", "--boundary", "3"])
        .status(0);
    for id in ["evil1", "evil2", "victim.1"] {
        let log = std::fs::read_to_string(env.log(id)).unwrap();
        assert!(!log.contains("private"), "{id}: {log}");
    }
    // It continues in its own continuation, and can be continued.
    let last = env
        .run(&["alias", "resolve", "vic"])
        .fine()
        .out()
        .trim()
        .to_string();
    assert!(
        !["victim", "evil1", "evil2", "victim.1"].contains(&last.as_str()),
        "{last}"
    );
    env.run(&["show", "--chain", "victim"]).status(0);
    env.run(&["continue", "vic"]).status(0);
    let run = env.run(&["fsck", "--repair", "--link", "evil1"]).status(0);
    assert!(run.out().contains("since another session does"), "{run}");
}

#[test]
fn a_one_sided_link_is_accepted_on_request() {
    let env = Env::new();
    env.run(&["new", "-q", "--id", "old"]).fine();
    env.run(&["append", "old", "a"]).fine();
    env.run(&["new", "-q", "--id", "other"]).fine();
    let header = r#"{"type":"session","version":1,"id":"next","continued_from":"old"}"#;
    put(&env, "next", &format!("{header}\n"));
    env.run(&["fsck", "--repair", "--link", "other"])
        .status(2)
        .says("does not claim");
    env.run(&["fsck", "--link", "next"]).status(2);
    env.run(&["fsck", "--repair", "--link", "next"]).status(0);
    assert!(
        std::fs::read_to_string(env.log("old"))
            .unwrap()
            .contains(r#""continued_to":"next""#)
    );
    env.run(&["append", "old", "b", "--boundary", "3"]).status(0);
    assert!(
        std::fs::read_to_string(env.log("next"))
            .unwrap()
            .contains(r#""content":"b""#)
    );
    // The link can be undone without damage.
    let log = env.run(&["cat", "old"]).fine().objects();
    let link = log.iter().find(|row| row["type"] == "link").unwrap();
    env.run(&["restore", "old", link["id"].as_str().unwrap()])
        .status(0);
    let run = env.run(&["fsck"]).status(0);
    run.gives("");
    env.run(&["fsck", "--repair"]).status(0).gives("");
}

#[test]
fn both_sessions_of_a_chain_in_one_run_are_linked() {
    let env = Env::new();
    let one = concat!(
        r#"{"type":"session","version":1,"id":"one"}"#,
        "\n",
        r#"{"role":"user","content":"a","id":"m1"}"#,
        "\n",
        r#"{"type":"link","id":"l","at":"2026-01-01T00:00:00Z","continued_to":"two"}"#,
        "\n",
    );
    let two = concat!(
        r#"{"type":"session","version":1,"id":"two","continued_from":"one"}"#,
        "\n",
        r#"{"role":"user","content":"b","id":"m2"}"#,
        "\n",
    );
    env.write("in/one.jsonl", one);
    env.write("in/two.jsonl", two);
    for _ in 0..2 {
        env.run(&["migrate", "-q", "-r", "in"]).fine();
        env.run(&["fsck"]).status(0).gives("");
    }
    let whole = env.run(&["join", "one", "--stdout"]).fine();
    assert_eq!(whole.objects().len(), 3);
    // Alone it cannot claim a stored session.
    let env = Env::new();
    env.run(&["new", "-q", "--id", "one"]).fine();
    env.write("in/one.jsonl", one);
    env.write("in/two.jsonl", two);
    env.run(&["migrate", "-q", "-r", "in"]).status(73);
    let header = env.run(&["cat", "two"]).fine().objects().remove(0);
    assert_eq!(header["metadata"]["claims"]["continued_from"], "one");
}

#[test]
fn an_appended_stream_adds_messages_and_no_events() {
    let env = victim();
    migrate(&env, "evil1", "", &[]).fine();
    let stream = concat!(
        r#"{"role":"user","content":"z"}"#,
        "\n",
        r#"{"type":"link","id":"l","continued_to":"evil1"}"#,
        "\n",
        r#"{"type":"meta","id":"e","set":{"id":"other","title":"t2","key":"k","memory":{"keep_last":1}}}"#,
        "\n",
        r#"{"type":"gc","id":"g1"}"#,
        "\n",
        r#"{"type":"repair","id":"r1","_chain":"00000000"}"#,
        "\n",
        r#"{"type":"foreign","format":"pi","raw":{}}"#,
        "\n",
        r#"{"type":"invented","id":"i"}"#,
        "\n",
        r#"{"role":"user","content":"fact","category":"context","_crc":"01234567","metadata":{"_crc":"mine"}}"#,
        "\n",
    );
    let run = env
        .pipe(&["append", "vic", "--stream", "--from", "native"], stream)
        .status(0);
    assert!(
        run.stderr
            .contains("left out 5 events of another session: 1 gc, 1 link, 1 meta, 1 other, 1 repair"),
        "{run}"
    );
    assert!(run.stderr.contains("acknowledged 3"), "{run}");
    env.run(&["fsck"]).status(0).gives("");
    let log = std::fs::read_to_string(env.log("victim")).unwrap();
    let last = log.lines().last().unwrap();
    assert_eq!(last.matches("\"_crc\"").count(), 2, "{last}");
    assert!(
        !last.contains("01234567") && last.contains(r#""_crc":"mine""#),
        "{last}"
    );
    env.run(&["append", "vic", "private", "--boundary", "3"])
        .status(0);
    assert!(
        !std::fs::read_to_string(env.log("evil1"))
            .unwrap()
            .contains("private")
    );
    // On request, events that change header and view are accepted, but never links or events of a log.
    let run = env
        .pipe(
            &["append", "victim", "--stream", "--events", "--from", "native"],
            stream,
        )
        .status(0);
    assert!(run.stderr.contains("1 gc, 1 link, 1 other, 1 repair"), "{run}");
    let rows = env.run(&["list", "--json"]).objects();
    assert!(
        rows.iter()
            .any(|row| row["id"] == "victim" && row["title"] == "t2")
    );
    env.run(&["append", "vic", "--events", "x"]).status(2);
}

#[test]
fn names_and_ids_of_a_session_do_not_shadow_another() {
    // The header members that would name the victim, and the exit status of the migration.
    let cases = [
        (r#"{"type":"session","version":1,"id":"victim"}"#, 73),
        (r#"{"type":"session","version":1,"id":"e","key":"victim"}"#, 0),
        (r#"{"type":"session","version":1,"id":"e","key":"vic"}"#, 0),
        (r#"{"type":"session","version":1,"id":"e","key":"telegram:1"}"#, 0),
        (
            r#"{"type":"session","version":1,"id":"e","promoted_from":"victim"}"#,
            0,
        ),
        (r#"{"type":"session","version":1,"id":"vic"}"#, 73),
        (r#"{"type":"session","version":1,"id":"../../x"}"#, 77),
        (r#"{"type":"session","version":1,"id":"-x"}"#, 77),
        (r#"{"type":"session","version":1,"id":""}"#, 77),
        (r#"{"type":"session","version":1,"id":"."}"#, 77),
        (r#"{"type":"session","version":1,"id":"a\nb"}"#, 77),
    ];
    for (header, status) in cases {
        let env = victim();
        let log = std::fs::read(env.log("victim")).unwrap();
        let lines = [
            header,
            r#"{"role":"user","content":"evil"}"#,
            r#"{"type":"meta","id":"e","set":{"key":"telegram:1"}}"#,
            r#"{"type":"link","id":"l","continued_to":"victim","aliases":["vic","telegram:1"]}"#,
        ];
        env.write("e.jsonl", lines.join("\n") + "\n");
        let run = env.run(&["migrate", "-q", "./e.jsonl"]);
        assert!(
            run.status == status || status == 77 && run.status != 0,
            "{header}: {run}"
        );
        assert_eq!(std::fs::read(env.log("victim")).unwrap(), log, "{header}");
        for name in ["victim", "vic", "telegram:1"] {
            let shown = env.run(&["cat", name]);
            assert!(
                shown
                    .out()
                    .starts_with(r#"{"type":"session","version":1,"id":"victim""#),
                "{header}: {shown}"
            );
        }
    }
}

#[test]
fn an_invalid_alias_hides_no_other() {
    let env = victim();
    let aliases = env.store().join("aliases");
    std::os::unix::fs::symlink("/etc/passwd", aliases.join("evil")).unwrap();
    std::fs::create_dir(aliases.join("folder")).unwrap();
    std::fs::write(aliases.join("junk"), [0xff]).unwrap();
    let run = env.run(&["alias", "list"]).status(77);
    assert!(run.out().contains("vic\tvictim"), "{run}");
    for name in ["evil", "folder", "junk"] {
        assert!(run.stderr.contains(name), "{name}: {run}");
    }
    env.run(&["list"]).status(0);
    env.run(&["continue", "vic"]).status(0);
    env.run(&["fsck"]).status(1);
}

#[test]
fn a_hard_link_is_not_written_through() {
    let env = victim();
    let outside = env.work().join("outside");
    std::fs::hard_link(env.log("victim"), &outside).unwrap();
    let before = std::fs::read(&outside).unwrap();
    for arguments in [
        &["append", "vic", "x"][..],
        &["truncate", "vic", "--keep-last", "1"],
        &["remove", "victim"],
        &["continue", "vic"],
    ] {
        env.run(arguments).status(77).says("hard link");
    }
    env.run(&["cat", "vic"]).fine();
    assert_eq!(std::fs::read(&outside).unwrap(), before);
    env.run(&["fsck", "--repair"]).status(1);
    std::fs::remove_file(&outside).unwrap();
    env.run(&["append", "vic", "x"]).fine();
}

/// The line of a mark for an existing session.
fn planned(env: &Env, id: &str) -> String {
    let lines = env.run(&["cat", id]).out().to_string();
    let digest = Sha256::digest(lines.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{id}\t{}\t{digest}\n", lines.lines().count())
}

/// Marks these sessions as about to be named in another one.
pub fn mark(env: &Env, kind: &str, parent: &str, ids: &[&str]) {
    let lines: String = ids.iter().map(|id| planned(env, id)).collect();
    let path = env.store().join(format!("sessions/.{kind}-{parent}"));
    std::fs::write(path, lines).unwrap();
}

#[test]
fn an_interrupted_continuation_is_linked_by_a_repair() {
    let env = victim();
    let log = std::fs::read(env.log("victim")).unwrap();
    env.run(&["continue", "vic"]).status(0);
    std::fs::write(env.log("victim"), &log).unwrap();
    env.run(&["-q", "alias", "add", "--move", "vic", "victim"]).fine();
    // Without the mark their creator is unknown.
    let run = env.run(&["fsck"]).status(0);
    assert!(
        run.out().contains("victim.1 claims to continue this session"),
        "{run}"
    );
    mark(&env, "continue", "victim", &["victim.1"]);
    let run = env.run(&["fsck"]).status(1);
    assert!(run.out().contains("missing-link: continued by victim.1"), "{run}");
    env.run(&["fsck", "--repair"]).status(0);
    env.run(&["fsck"]).status(0).gives("");
    env.run(&["append", "vic", "c", "--boundary", "9"]).fine();
    assert!(
        std::fs::read_to_string(env.log("victim.1"))
            .unwrap()
            .contains(r#""content":"c""#)
    );
    // A mark without a matching session is a leftover.
    mark(&env, "continue", "victim", &["victim.1"]);
    env.run(&["fsck"]).status(1);
    env.run(&["fsck", "--repair"]).status(0);
    env.run(&["fsck"]).status(0).gives("");
}

#[test]
fn many_links_take_linear_time() {
    let env = victim();
    for nth in 0..2000 {
        let header = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"e{nth}\",\"continued_from\":\"victim\"}}\n"
        );
        put(&env, &format!("e{nth}"), &header);
    }
    let links = (0..60_000)
        .map(|nth| format!("{{\"type\":\"link\",\"id\":\"l{nth}\",\"continued_to\":\"x{nth}\"}}\n"));
    let header = "{\"type\":\"session\",\"version\":1,\"id\":\"many\"}\n".to_string();
    put(&env, "many", &(header + &links.collect::<String>()));
    let began = std::time::Instant::now();
    env.run(&["fsck", "--repair", "-q", "victim", "e1"]).status(0);
    env.run(&["list"]).status(0);
    std::fs::remove_file(env.log("many")).unwrap();
    let run = env.run(&["fsck", "--repair"]);
    assert_eq!(
        run.out().matches("claims to continue").count(),
        2000,
        "{}",
        run.status
    );
    // It used to take minutes.
    assert!(began.elapsed().as_secs() < 40, "{:?}", began.elapsed());
}
