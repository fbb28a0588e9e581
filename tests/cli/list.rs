//! `convo list`.

mod cache;
mod home_cache;
mod terminal;

use crate::env::{BARE, CHAT, Env};

fn filled() -> Env {
    let env = Env::with_chat();
    env.run(&["new", "--id", "empty"]).fine();
    env.write("bare.jsonl", BARE);
    env.run(&["migrate", "-q", "bare.jsonl"]).fine();
    env.run(&["alias", "add", "-q", "agent:main", "trip"]).fine();
    env
}

#[test]
fn the_newest_session_is_first() {
    let env = filled();
    snapshot!("list", env.run(&["list"]).fine());
    env.run(&["append", "trip", "later"]).fine();
    let ids = env.shell("convo list | cut -f1").fine();
    ids.gives("empty\ntrip\nbare\n");
}

#[test]
fn as_objects() {
    let env = filled();
    snapshot!("list_json", env.run(&["list", "--json"]).fine());
}

#[test]
fn names_and_files() {
    let env = filled();
    env.write("two.jsonl", format!("{BARE}{CHAT}"));
    snapshot!("list_inputs", env.run(&["list", "two.jsonl", "trip"]).fine());
    snapshot!(
        "list_some_fail",
        env.run(&["list", "nobody", "nofile.json", "trip"]).status(66)
    );
}

#[test]
fn standard_input_is_read_only_on_request() {
    let env = filled();
    let whole = env.run(&["list"]).fine().stdout;
    env.pipe(&["list"], CHAT).fine().gives(whole);
    env.pipe(&["list", "-"], CHAT)
        .fine()
        .gives("trip\t7\t2026-11-01T10:05:02Z\tTrip\n");
}

#[test]
fn a_damaged_session_is_listed_and_reported() {
    let env = filled();
    let mut log = std::fs::read(env.log("bare")).unwrap();
    let at = log.windows(5).position(|bytes| bytes == b"hello").unwrap();
    log[at] = b'j';
    std::fs::write(env.log("bare"), log).unwrap();
    snapshot!("list_damaged", env.run(&["list"]).status(65));
}

#[test]
fn titles_cannot_break_the_columns() {
    let env = Env::new();
    env.run(&["new", "--id", "a", "--title", "one\ttwo\nthree\u{1b}[2J"])
        .fine();
    let run = env.run(&["list"]).fine();
    assert_eq!(run.out().lines().count(), 1, "{run}");
    assert_eq!(run.out().matches('\t').count(), 3, "{run}");
    assert!(!run.out().contains('\u{1b}'));
}

#[test]
fn a_missing_store_is_66() {
    let env = Env::new();
    snapshot!("list_no_store", env.run(&["list"]).status(66));
    assert!(!env.store().exists());
}

/// The log of a session after three failed summaries in a row.
const FAILED: &str = concat!(
    "{\"type\":\"session\",\"version\":1,\"id\":\"s\"}\n",
    "{\"role\":\"user\",\"content\":\"u\"}\n",
    "{\"type\":\"attempt\",\"id\":\"evt_1\",\"at\":\"2026-11-20T18:00:00Z\",\"of\":\"summary\",\"failures\":3,",
    "\"health\":\"retry\",\"next_attempt_at\":\"2026-11-20T18:00:08Z\",\"by\":\"cmd:x\",\"why\":\"it broke\"}\n",
);

#[test]
fn failed_summaries_are_reported() {
    let env = Env::new();
    let run = env.pipe(&["list", "-"], FAILED).fine();
    assert!(run.out().ends_with("\tu\tretry\n"), "{run}");
    let run = env.pipe(&["list", "--json", "-"], FAILED).fine();
    let reported = "\"failures\":3";
    assert!(
        run.out().contains("\"health\":\"retry\"") && run.out().contains(reported),
        "{run}"
    );
    let run = env.pipe(&["count"], FAILED).fine();
    let reported = "health\tretry: 3 failures, next attempt at 2026-11-20T18:00:08Z\n";
    assert!(run.out().contains(reported), "{run}");
    let run = env.pipe(&["count", "--json"], FAILED).fine();
    assert!(run.out().contains("\"why\":\"it broke\""), "{run}");
}

#[test]
fn by_age() {
    let env = Env::with_chat();
    env.write("bare.jsonl", BARE);
    // The chat's newest line is 19 days old; a session without times has no age.
    let listed = |options: &[&str]| {
        let run = env
            .run(&[&["list", "trip", "bare.jsonl"], options].concat())
            .fine();
        run.out()
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(listed(&[]), "trip bare.jsonl");
    assert_eq!(listed(&["--older-than", "19d"]), "trip");
    assert_eq!(listed(&["--older-than", "20d"]), "");
    assert_eq!(listed(&["--newer-than", "20d"]), "trip");
    assert_eq!(listed(&["--newer-than", "19d"]), "");
    assert_eq!(listed(&["--older-than", "1h", "--newer-than", "30d"]), "trip");
}

#[test]
fn a_page_of_the_list_is_cut_by_limit_and_offset() {
    let env = Env::new();
    for (nth, id) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let mut new = env.command(&["new", "--id", id]);
        new.env("CONVO_NOW", format!("2026-11-0{}T00:00:00Z", nth + 1));
        env.wait(new).fine();
    }
    let ids = |arguments: &[&str]| {
        let run = env.run(&[&["list"], arguments].concat()).fine();
        let text = String::from_utf8(run.stdout).unwrap();
        let first = text
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default());
        first.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&["-n", "2"]), "d c");
    assert_eq!(ids(&["--limit", "2", "--offset", "1"]), "c b");
    assert_eq!(ids(&["--offset", "3"]), "a");
    assert_eq!(ids(&["--offset", "9", "-n", "9"]), "");
    assert_eq!(ids(&["--since", "2026-11-02", "-n", "1", "--offset", "1"]), "c");
    let json = env
        .run(&["list", "--json", "-n", "1", "--until", "2026-11-03"])
        .fine();
    let text = String::from_utf8(json.stdout).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains(r#""id":"b""#), "{text}");
    for bad in [
        &["-n", "0"][..],
        &["-n", "x"],
        &["--limit=-1"],
        &["--offset=-1"],
        &["--offset", "x"],
    ] {
        env.run(&[&["list"], bad].concat()).status(2);
    }
}

#[test]
fn since_and_until_take_durations_dates_and_times() {
    let env = Env::with_chat(); // its newest line has the time 2026-11-01T10:05:02Z
    let listed = |arguments: &[&str]| {
        let run = env.run(&[&["list"], arguments].concat()).fine();
        !run.stdout.is_empty()
    };
    assert!(listed(&["--since", "2026-11-01"]));
    assert!(!listed(&["--since", "2026-11-02"]));
    assert!(!listed(&["--until", "2026-11-01"]));
    assert!(listed(&["--until", "2026-11-02"]));
    assert!(listed(&["--until", "2w"]));
    assert!(!listed(&["--since", "2w"]));
    assert!(listed(&["--since", "3w", "--until", "19d"]));
    assert!(listed(&["--since", "2026-11-01T10:05:02Z"]));
    assert!(!listed(&["--since", "2026-11-01T10:05:03Z"]));
    // A date begins in the user's time zone.
    let mut away = env.command(&["list", "--since", "2026-11-01"]);
    away.env("TZ", "America/Los_Angeles");
    assert!(!env.wait(away).fine().stdout.is_empty());
    let mut away = env.command(&["list", "--until", "2026-11-02"]);
    away.env("TZ", "Asia/Tokyo");
    assert!(!env.wait(away).fine().stdout.is_empty());
    for bad in ["2026", "soon", "2026-13-01", "7"] {
        let run = env.run(&["list", "--since", bad]).status(2);
        assert!(run.stderr.contains("expected a duration"), "{run}");
    }
}

/// A Claude Code session in /home/ann/NAME whose first message the program generated.
pub fn agent_log(id: &str, project: &str, question: &str) -> String {
    let line = |uuid: &str, parent: &str, role: &str, message: serde_json::Value| {
        let line = serde_json::json!({
            "parentUuid": (!parent.is_empty()).then_some(parent), "isSidechain": false, "userType": "external",
            "cwd": format!("/home/ann/{project}"), "sessionId": id, "version": "2.0.76", "gitBranch": "main",
            "type": role, "message": message, "uuid": uuid, "timestamp": "2026-11-20T16:00:00.250Z",
        });
        format!("{line}\n")
    };
    let user = |text: &str| serde_json::json!({"role": "user", "content": text});
    let reply = serde_json::json!({
        "role": "assistant", "model": "claude-sonnet-4-5", "id": "msg_1", "type": "message",
        "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    });
    let caveat = "Caveat: The messages below were generated by the user while running local commands.";
    [
        line("u1", "", "user", user(caveat)),
        line("u2", "u1", "user", user(question)),
        line("u3", "u2", "assistant", reply),
    ]
    .concat()
}

/// Creates an environment with two Claude Code sessions.
fn with_agents() -> Env {
    let env = Env::new();
    let long = format!("Why {}?", "x".repeat(10_000));
    env.write(
        "one.jsonl",
        agent_log("019e19b4-aaaa-4000-8000-000000000001", "shop", "Sort the list"),
    );
    env.write(
        "two.jsonl",
        agent_log("9eda1058-aaaa-4000-8000-000000000002", "site", &long),
    );
    env.run(&["migrate", "-q", "one.jsonl", "two.jsonl"]).fine();
    env
}

#[test]
fn objects_name_directory_program_model_and_the_complete_title() {
    let env = with_agents();
    let objects = env.run(&["list", "--json", "--sort", "id"]).fine().objects();
    let first = &objects[0];
    for (member, value) in [
        ("cwd", "/home/ann/shop"),
        ("program", "claude-code"),
        ("format", "claude-code"),
        ("model", "claude-sonnet-4-5"),
        ("title", "Sort the list"),
        ("title_from", "question"),
        ("updated_at", "2026-11-20T16:00:00Z"),
    ] {
        assert_eq!(first[member], value, "{member}: {first}");
    }
    assert_eq!(first["tags"], serde_json::json!([]));
    assert!(
        first["bytes"].as_u64().is_some_and(|bytes| bytes > 500),
        "{first}"
    );
    assert!(first["tokens"].is_null(), "{first}");
    assert_eq!(objects[1]["title"].as_str().unwrap().len(), 10_005);
    // Piped, the row has the same counts and the same complete title.
    let run = env.run(&["list", "--sort", "id"]).fine();
    let cells: Vec<&str> = run.out().lines().next().unwrap().split('\t').collect();
    assert_eq!(cells[1], first["view"].to_string());
    assert_eq!(cells[2..], ["2026-11-20T16:00:00Z", "Sort the list"]);
}

#[test]
fn tokens_are_counted_on_request() {
    let env = with_agents();
    let tokens = |arguments: &[&str]| {
        let run = env
            .run(&[&["list", "--json", "--sort", "id"], arguments].concat())
            .fine();
        run.objects()[0]["tokens"].as_u64()
    };
    assert_eq!(tokens(&[]), None);
    let counted = tokens(&["--tokens"]).unwrap();
    let count = env.run(&["count", "--json", "019e19b4"]).fine().objects();
    assert_eq!(count[0]["view"]["tokens"]["total"].as_u64(), Some(counted));
    assert!(tokens(&["--tokenizer", "chars4"]).is_some_and(|tokens| tokens != counted));
}

#[test]
fn columns_are_chosen_in_order() {
    let env = with_agents();
    env.run(&["alias", "add", "-q", "work", "019e19b4"]).fine();
    let columns = "short-id,program,project,cwd,model,format,aliases,messages,tokens,title";
    let run = env
        .run(&["list", "--columns", columns, "--project", "shop"])
        .fine();
    run.gives("019e19b4\tclaude-code\tshop\t/home/ann/shop\tclaude-sonnet-4-5\tclaude-code\twork\t3\t-\tSort the list\n");
    let run = env
        .run(&["list", "--columns", "id", "-0", "--sort", "-id"])
        .fine();
    run.gives("9eda1058-aaaa-4000-8000-000000000002\x00019e19b4-aaaa-4000-8000-000000000001\0");
    let run = env.run(&["list", "--columns", "id,colour"]).status(2);
    run.says("'colour'").says("short-id").says("aliases");
}

#[test]
fn sort_keys_have_a_direction() {
    let env = with_agents();
    let listed = |arguments: &[&str]| {
        let run = env
            .run(&[&["list", "--columns", "short-id"], arguments].concat())
            .fine();
        run.out().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for key in ["id", "size", "title", "project"] {
        assert_eq!(listed(&["--sort", key]), "019e19b4 9eda1058", "{key}");
        assert_eq!(
            listed(&["--sort", &format!("-{key}")]),
            "9eda1058 019e19b4",
            "{key}"
        );
        assert_eq!(
            listed(&["--sort", key, "--reverse"]),
            "9eda1058 019e19b4",
            "{key}"
        );
    }
    let run = env.run(&["list", "--sort", "color"]).status(2);
    run.says("expected one of updated, created, messages, tokens, size, title, id, project, program");
}

#[test]
fn projects_and_tags_select_sessions() {
    let env = with_agents();
    env.run(&["tag", "-q", "9eda1058", "+work", "+urgent"]).fine();
    let listed = |arguments: &[&str]| {
        let run = env
            .run(&[&["list", "--columns", "short-id,tags"], arguments].concat())
            .fine();
        run.out().to_string()
    };
    assert_eq!(listed(&["--project", "shop"]), "019e19b4\t\n");
    assert_eq!(listed(&["--project", "/home/ann/"]).lines().count(), 2);
    assert_eq!(listed(&["--project", "/home/an"]), "");
    assert_eq!(
        listed(&["--tag", "work", "--tag", "urgent"]),
        "9eda1058\twork,urgent\n"
    );
    assert_eq!(listed(&["--tag", "work", "--tag", "home"]), "");
    env.run(&["list", "--tag", "Work"]).status(2).says("lower-case");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn screens() {
    let env = terminal::filled();
    for columns in [40, 80, 120] {
        let run = env.terminal((columns, 50), "convo --color never list");
        snapshot!(format!("list_terminal_{columns}"), run);
    }
}
