//! Tests `merge`, which combines two copies of a session in files, in the store and with git.

use crate::env::{CHAT, Env};

/// A line with a user message.
fn user(id: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{id}\",\"id\":\"{id}\"}}\n")
}

/// The chat and two copies of it that both continued.
fn copies() -> Env {
    let env = Env::new();
    env.write("base.jsonl", CHAT);
    env.write("a.jsonl", CHAT.to_string() + &user("a1"));
    env.write("b.jsonl", CHAT.to_string() + &user("b1") + &user("b2"));
    env
}

/// The chat and two copies of it that differ in one message.
fn conflicting() -> Env {
    let env = Env::new();
    env.write("base.jsonl", CHAT);
    env.write("a.jsonl", CHAT.replace("Rain.", "Sun."));
    env.write("b.jsonl", CHAT.replace("Rain.", "Snow."));
    env
}

#[test]
fn both_branches_are_kept() {
    let env = copies();
    let run = env.run(&["merge", "a.jsonl", "b.jsonl"]).status(0);
    assert!(run.out().starts_with(&env.read("a.jsonl")), "{run}");
    assert!(run.out().ends_with(&(user("b1") + &user("b2"))), "{run}");
    assert!(
        run.out()
            .contains(r#"{"kind":"branch","parent":"trip","at":"m7"}"#),
        "{run}"
    );
    let merged = run.out().to_string();
    run.says("convo: a.jsonl: added 2 records, 1 branch");
    // The branch is read with the messages before it.
    env.write("merged.jsonl", &merged);
    let branch = env.run(&["cat", "-q", "--branch", "1", "merged.jsonl"]).fine();
    assert!(
        branch.out().contains("Rain.") && !branch.out().contains("a1"),
        "{branch}"
    );
    // One side only continues the other: no branch.
    env.run(&["merge", "base.jsonl", "b.jsonl"])
        .status(0)
        .gives(env.read("b.jsonl"));
    env.pipe(&["merge", "-q", "base.jsonl", "-"], env.read("b.jsonl"))
        .fine()
        .gives(env.read("b.jsonl"));
    let run = env
        .run(&["merge", "-q", "--interleave", "base.jsonl", "a.jsonl", "b.jsonl"])
        .fine();
    assert_eq!(run.out().lines().count(), CHAT.lines().count() + 3, "{run}");
}

#[test]
fn a_file_is_written_completely() {
    let env = copies();
    env.run(&["merge", "-q", "base.jsonl", "b.jsonl", "-o", "new.jsonl"])
        .fine();
    assert_eq!(env.read("new.jsonl"), env.read("b.jsonl"));
    let merged = env.run(&["merge", "-q", "a.jsonl", "b.jsonl"]).fine();
    let a = env.read("a.jsonl");
    env.run(&["merge", "-q", "-n", "-i", "a.jsonl", "b.jsonl"])
        .fine()
        .gives("");
    assert_eq!(env.read("a.jsonl"), a);
    env.run(&["merge", "-i=.bak", "a.jsonl", "b.jsonl"])
        .status(0)
        .says("added 2 records");
    assert_eq!(
        (env.read("a.jsonl.bak"), env.read("a.jsonl")),
        (a, merged.out().to_string())
    );
    // Without changes, the file is not written and an existing backup is no conflict.
    env.run(&["merge", "-i=.bak", "a.jsonl", "b.jsonl"])
        .status(0)
        .says("added 0 records");
    // A packed session is written back packed.
    let packed = env.run(&["cat", "-q", "--pack", "base.jsonl"]).fine();
    env.write("packed.jsonl", packed.out());
    let run = env.run(&["merge", "-q", "packed.jsonl", "b.jsonl"]).fine();
    assert_eq!(run.out().lines().count(), 1, "{run}");
    let run = env.pipe(&["cat", "-q", "--unpack"], run.out()).fine();
    assert_eq!(run.out(), env.read("b.jsonl"));
}

#[test]
fn a_conflict_is_kept_and_decided_later() {
    let env = conflicting();
    let run = env.run(&["merge", "base.jsonl", "a.jsonl", "b.jsonl"]).status(1);
    assert!(
        run.out().contains("Sun.") && run.out().contains("\"theirs\":{"),
        "{run}"
    );
    env.write("merged.jsonl", run.out());
    run.says("both sides changed m7");
    // The model receives the first version.
    let view = env.run(&["context", "-q", "merged.jsonl"]).fine();
    assert!(
        view.out().contains("Sun.") && !view.out().contains("Snow."),
        "{view}"
    );
    for (side, kept) in [("ours", "a.jsonl"), ("theirs", "b.jsonl")] {
        let run = env
            .run(&["merge", "-q", "--resolve", "m7", side, "merged.jsonl"])
            .fine();
        assert_eq!(run.out(), env.read(kept), "{side}");
        let option = format!("--{side}");
        let run = env
            .run(&["merge", "-q", &option, "base.jsonl", "a.jsonl", "b.jsonl"])
            .fine();
        assert_eq!(run.out(), env.read(kept), "{side}");
    }
    // A branch after the merged session has no such conflict, and remains.
    let branch =
        "{\"type\":\"session\",\"version\":1,\"id\":\"branch\"}\n{\"role\":\"user\",\"content\":\"x\"}\n";
    let merged = env.read("merged.jsonl");
    env.pipe(
        &["merge", "-q", "--resolve", "m7", "theirs", "-"],
        format!("{merged}{branch}"),
    )
    .fine()
    .gives(format!("{}{branch}", env.read("b.jsonl")));
    env.write("both.jsonl", format!("{merged}{branch}"));
    env.run(&["merge", "-qi", "--resolve", "m7", "theirs", "both.jsonl"])
        .fine();
    assert_eq!(env.read("both.jsonl"), format!("{}{branch}", env.read("b.jsonl")));
    env.run(&["merge", "--resolve", "m9", "ours", "merged.jsonl"])
        .status(1)
        .says("no unresolved conflict m9");
    env.run(&["merge", "--resolve", "m7", "mine", "merged.jsonl"])
        .status(2)
        .says("expected ours or theirs");
    // In place, and only once.
    env.run(&["merge", "-i", "--resolve", "m7", "theirs", "merged.jsonl"])
        .status(0);
    assert_eq!(env.read("merged.jsonl"), env.read("b.jsonl"));
    let run = env
        .run(&["merge", "-n", "--json", "base.jsonl", "a.jsonl", "b.jsonl"])
        .status(1);
    let objects = run.objects();
    assert_eq!(objects.len(), 2, "{run}");
    assert_eq!(
        (&objects[0]["op"], &objects[0]["of"]),
        (&"conflict".into(), &"m7".into())
    );
    assert_eq!(objects[1]["both"], CHAT.lines().count());
    env.run(&["merge", "--json", "a.jsonl", "b.jsonl"])
        .status(2)
        .says("--json requires -o, -i, -n");
}

#[test]
fn a_stored_session_gets_missing_records() {
    let env = copies();
    env.run(&["migrate", "-q", "a.jsonl"]).fine();
    let before = std::fs::read_to_string(env.log("trip")).unwrap();
    env.run(&["merge", "-n", "trip", "b.jsonl"])
        .status(0)
        .says("would add 2 records, 1 branch");
    env.run(&["merge", "trip", "b.jsonl"])
        .status(0)
        .gives("")
        .says("added 2 records, 1 branch");
    assert_eq!(std::fs::read_to_string(env.log("trip")).unwrap(), before);
    let branch = env
        .files()
        .into_iter()
        .find(|file| file.contains("branch_"))
        .unwrap();
    let id = branch
        .rsplit('/')
        .next()
        .unwrap()
        .trim_end_matches(".jsonl")
        .to_string();
    let run = env.run(&["cat", "-q", &id]).fine();
    assert!(
        run.out().contains("\"b2\"") && run.out().contains("\"parent\":\"trip\""),
        "{run}"
    );
    // A repeated merge adds nothing. When one side continues, its branch does too.
    let files = env.files();
    env.run(&["merge", "trip", "b.jsonl"])
        .status(0)
        .says("added 0 records");
    assert_eq!(env.files(), files);
    env.write("b.jsonl", env.read("b.jsonl") + &user("b3"));
    env.run(&["merge", "-q", "trip", "b.jsonl"]).fine();
    let run = env.run(&["cat", "-q", &id]).fine();
    assert_eq!(run.out().matches("\"role\"").count(), 3, "{run}");
    // A continuation of the stored session is appended to it.
    env.write("more.jsonl", env.read("a.jsonl") + &user("a2"));
    env.run(&["merge", "trip", "more.jsonl"])
        .status(0)
        .says("added 1 record");
    env.run(&["cat", "-q", "trip"])
        .fine()
        .gives(env.read("more.jsonl"));
    env.run(&["fsck"]).status(0);
    // --stdout does not change the store.
    let run = env.run(&["merge", "-q", "--stdout", "trip", "b.jsonl"]).fine();
    assert!(run.out().contains("\"b3\""), "{run}");
    for (option, what) in [
        ("--interleave", "--interleave requires a file"),
        ("-i", "-i requires a file"),
    ] {
        env.run(&["merge", option, "trip", "b.jsonl"])
            .status(2)
            .says(what);
    }
}

#[test]
fn a_conflict_in_the_store_is_an_event() {
    let env = conflicting();
    env.run(&["migrate", "-q", "a.jsonl"]).fine();
    env.run(&["merge", "-q", "base.jsonl", "trip", "b.jsonl"])
        .status(1);
    env.run(&["merge", "--resolve", "m7", "theirs", "trip"])
        .status(0)
        .says("took theirs");
    let view = env.run(&["context", "-q", "trip"]).fine();
    assert!(
        view.out().contains("Snow.") && !view.out().contains("Sun."),
        "{view}"
    );
    // A change only in the file is applied at once.
    let env = conflicting();
    env.run(&["migrate", "-q", "base.jsonl"]).fine();
    env.run(&["merge", "-q", "base.jsonl", "trip", "b.jsonl"]).fine();
    let view = env.run(&["context", "-q", "trip"]).fine();
    assert!(
        view.out().contains("Snow.") && !view.out().contains("Rain."),
        "{view}"
    );
}

#[test]
fn bad_inputs_are_refused() {
    let env = copies();
    env.run(&["merge", "a.jsonl"])
        .status(2)
        .says("merge takes two or three inputs, not 1");
    env.run(&["merge", "-", "-"])
        .status(2)
        .says("standard input can be read only once");
    env.run(&["merge", "--deletions", "a.jsonl", "b.jsonl"])
        .status(2)
        .says("--deletions requires BASE");
    env.run(&["merge", "a.jsonl", "missing.jsonl"]).status(66);
    env.write("other.jsonl", CHAT.replace("trip", "other").replace("\"m", "\"n"));
    let run = env.run(&["merge", "a.jsonl", "other.jsonl"]).status(2).gives("");
    run.says("different ids and no common record")
        .says("convo join A B");
    env.write("claude.jsonl", CLAUDE);
    let run = env.run(&["merge", "a.jsonl", "claude.jsonl"]).status(2);
    run.says("a.jsonl is native, claude.jsonl is claude-code")
        .says("convo cat --to native");
    let converted = env.run(&["cat", "-q", "--to", "openai-chat", "a.jsonl"]).fine();
    env.write("chat.json", converted.out());
    env.run(&["merge", "chat.json", "chat.json"])
        .status(2)
        .says("cannot merge openai-chat files");
    // Damaged lines occur once, and git gets no result.
    env.write("a.jsonl", env.read("base.jsonl") + "{torn\n");
    env.write("b.jsonl", env.read("a.jsonl") + &user("b1"));
    env.run(&["merge", "a.jsonl", "b.jsonl"])
        .status(65)
        .gives(env.read("b.jsonl"));
    let a = env.read("a.jsonl");
    env.run(&["merge", "--driver", "base.jsonl", "a.jsonl", "b.jsonl", "x.jsonl"])
        .status(65);
    env.run(&["merge", "--strict", "-i", "a.jsonl", "b.jsonl"])
        .status(65);
    env.write("new.jsonl", CHAT.replace("\"version\":1", "\"version\":2"));
    env.run(&["merge", "-i", "a.jsonl", "new.jsonl"])
        .status(65)
        .says("newer version");
    assert_eq!(env.read("a.jsonl"), a);
    env.run(&["merge", "--driver", "a.jsonl", "b.jsonl"])
        .status(2)
        .says("--git-config");
}

/// A Claude Code log: a question and its title.
const CLAUDE: &str = concat!(
    r#"{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"5c0e1a52-0000-4000-8000-000000000000","timestamp":"2026-11-01T10:00:00Z","cwd":"/w","version":"2.0.0","message":{"role":"user","content":"hi"}}"#,
    "\n",
    r#"{"type":"custom-title","customTitle":"one","sessionId":"5c0e1a52-0000-4000-8000-000000000000"}"#,
    "\n",
);

fn claude(digit: u8, text: &str) -> String {
    let line = CLAUDE.lines().next().unwrap();
    let line = line.replace(
        "000000000001\",\"parentUuid\":null",
        &format!("00000000000{digit}\",\"parentUuid\":\"11111111-0000-4000-8000-000000000001\""),
    );
    line.replace("\"hi\"", &format!("\"{text}\"")) + "\n"
}

#[test]
fn logs_of_trees_contain_both_branches() {
    let env = Env::new();
    let title = |text: &str| CLAUDE.lines().nth(1).unwrap().replace("one", text) + "\n";
    env.write("a.jsonl", CLAUDE.to_string() + &claude(2, "ours") + &title("two"));
    env.write(
        "b.jsonl",
        CLAUDE.to_string() + &claude(3, "theirs") + &title("three"),
    );
    let run = env.run(&["merge", "-q", "a.jsonl", "b.jsonl"]).fine();
    let whole =
        CLAUDE.to_string() + &claude(3, "theirs") + &title("three") + &claude(2, "ours") + &title("two");
    assert_eq!(run.out(), whole, "{run}");
    // Claude Code continues with the first side and shows its title.
    env.write("merged.jsonl", run.out());
    let view = env.run(&["context", "-q", "merged.jsonl"]).fine();
    assert!(
        view.out().contains("ours") && !view.out().contains("theirs"),
        "{view}"
    );
    env.run(&["title", "-q", "merged.jsonl"]).fine().gives("two\n");
    env.write("c.jsonl", CLAUDE.replace("\"hi\"", "\"hello\""));
    let run = env.run(&["merge", "a.jsonl", "c.jsonl"]).status(1).gives("");
    run.says("claude-code files cannot hold both versions")
        .says("--ours or --theirs");
    let run = env.run(&["merge", "-q", "--theirs", "a.jsonl", "c.jsonl"]).fine();
    assert!(run.out().contains("\"hello\""), "{run}");
    // pi: the entries of both sides; the last one belongs to the first side.
    let entry = |id: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":\"e1\",\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\",\"timestamp\":1}}}}\n"
        )
    };
    let head = "{\"type\":\"session\",\"version\":3,\"id\":\"p\",\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"cwd\":\"/w\"}\n".to_string() + &entry("e1").replace("\"e1\",\"timestamp\":\"2", "null,\"timestamp\":\"2");
    env.write("pa.jsonl", head.clone() + &entry("e2"));
    env.write("pb.jsonl", head.clone() + &entry("e3"));
    let run = env.run(&["merge", "-q", "pa.jsonl", "pb.jsonl"]).fine();
    assert_eq!(run.out(), head + &entry("e3") + &entry("e2"), "{run}");
}

#[test]
fn a_log_of_a_store_is_merged_without_its_checksums() {
    let env = copies();
    env.run(&["migrate", "-q", "a.jsonl"]).fine();
    let log = std::fs::read_to_string(env.log("trip")).unwrap();
    env.write("log.jsonl", &log);
    env.run(&["merge", "-q", "log.jsonl", "base.jsonl"])
        .fine()
        .gives(&log);
    let run = env.run(&["merge", "-q", "log.jsonl", "b.jsonl"]).fine();
    assert!(
        !run.out().contains("_crc") && run.out().contains("\"b2\""),
        "{run}"
    );
}

/// A git repository with the chat and this program as merge driver.
const GIT: &str = "export GIT_AUTHOR_NAME=ann GIT_AUTHOR_EMAIL=ann@example.com GIT_COMMITTER_NAME=ann GIT_COMMITTER_EMAIL=ann@example.com
    convo merge --git-config > config && git config --global include.path \"$PWD/config\"
    git init -q -b main 0 && cp base.jsonl 0/session.jsonl && cd 0 &&
    echo '*.jsonl diff=convo merge=convo' > .gitattributes && git add . && git commit -qm base && cd .. || exit 1
    say() { printf '{\"role\":\"user\",\"content\":\"%s\",\"id\":\"%s\"}\\n' \"$2\" \"$2\" >> \"$1/session.jsonl\"; git -C \"$1\" commit -qam \"$2\"; }
    pull() { git -C \"$1\" pull -q --no-rebase --no-edit \"../$2\" main; }
    ";

#[test]
fn git_merges_two_clones() {
    let env = copies();
    let run = env.shell(&format!(
        "{GIT} git clone -q 0 1 && say 0 ours && say 1 theirs && pull 0 1 && cat 0/session.jsonl && git -C 0 status --porcelain"
    ));
    let run = run.status(0);
    for part in ["\"ours\"", "\"theirs\"", "\"kind\":\"branch\""] {
        assert!(run.out().contains(part), "{part}: {run}");
    }
    assert!(
        run.out().contains(CHAT) && run.out().ends_with("\"id\":\"theirs\"}\n"),
        "{run}"
    );
    // The other clone merges the result and continues: no second branch.
    let run = env.shell("export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; cd 1 && git pull -q --no-rebase --no-edit ../0 main && cmp session.jsonl ../0/session.jsonl");
    run.status(0);
}

#[test]
fn git_shows_conflicts_and_sessions_as_text() {
    let env = conflicting();
    let run = env.shell(&format!(
        "{GIT} git clone -q 0 1 && cp a.jsonl 0/session.jsonl && git -C 0 commit -qam a && cp b.jsonl 1/session.jsonl && git -C 1 commit -qam b
         git -C 0 --no-pager diff HEAD~ -- session.jsonl; pull 0 1; echo \"status $?\"; git -C 0 status --porcelain; cat 0/session.jsonl"
    ));
    // The diff shows the text of messages, not JSON.
    assert!(
        run.out().contains("Rain.") && run.out().contains("+") && !run.out().contains("-{\"role\""),
        "{run}"
    );
    for part in ["status 1", "UU session.jsonl", "\"theirs\":{"] {
        assert!(run.out().contains(part), "{part}: {run}");
    }
    let run = env.shell("cd 0 && convo merge -q -i --resolve m7 theirs session.jsonl && git add session.jsonl && git -c user.name=a -c user.email=a@b commit -qm merged && cmp session.jsonl ../b.jsonl");
    run.status(0);
}

#[test]
fn eight_clones_in_a_ring_end_equal() {
    let env = copies();
    let run = env.shell(&format!(
        "{GIT} for i in 1 2 3 4 5 6 7; do git clone -q 0 $i; done
         for i in 0 1 2 3 4 5 6 7; do say $i q$i; done
         for round in 1 2; do for i in 0 1 2 3 4 5 6 7; do pull $(((i + 1) % 8)) $i || exit 1; done; done
         for i in 1 2 3 4 5 6 7; do cmp 0/session.jsonl $i/session.jsonl || exit 1; done
         cat 0/session.jsonl"
    ));
    let run = run.status(0);
    for clone in 0..8 {
        assert_eq!(
            run.out().matches(&format!("\"content\":\"q{clone}\"")).count(),
            1,
            "{run}"
        );
    }
}
