//! Tests `agents`, `list --agents`, `search` over homes, and names of sessions in homes. Each test creates its homes.

mod names;
mod places;
pub mod truth;

use crate::env::{Env, Run};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub const FIRST: &str = "5d1f0a4e-0000-4000-8000-000000000001";
pub const SECOND: &str = "5d1f0a4e-0000-4000-8000-000000000002";
pub const OTHER: &str = "77aa0000-0000-4000-8000-000000000003";

/// The current time of the tests.
pub const NOW: u64 = 1_795_197_723;

/// A Claude Code session in a project: a question and a reply.
pub fn claude(id: &str, project: &str, question: &str) -> String {
    let line = |uuid: &str, parent: &str, role: &str, content: &str| {
        serde_json::json!({
            "uuid": uuid, "parentUuid": (!parent.is_empty()).then_some(parent), "sessionId": id, "cwd": project,
            "version": "2.0.0", "type": role, "timestamp": "2026-11-01T10:00:00Z", "userType": "external",
            "isSidechain": false, "message": {"role": role, "content": content},
        })
        .to_string()
            + "\n"
    };
    line("u1", "", "user", question) + &line("u2", "u1", "assistant", "It is quorum lease 30s.")
}

pub fn home(env: &Env) -> PathBuf {
    env.root().join("home")
}

/// Creates a file below HOME that was last changed `days` days ago.
pub fn put(env: &Env, name: impl AsRef<Path>, text: &str, days: u64) -> PathBuf {
    let path = home(env).join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW - days * 86_400))
        .unwrap();
    path
}

/// Two sessions of Claude Code, one with a subagent; one of pi in a directory whose name is not UTF-8; one program
/// with an unsupported format.
pub fn homes() -> Env {
    let env = Env::new();
    let dir = ".claude/projects/-src-a-b--c";
    put(
        &env,
        format!("{dir}/{FIRST}.jsonl"),
        &claude(FIRST, "/src/a b#c", "Who holds the lease?"),
        3,
    );
    put(
        &env,
        format!("{dir}/{SECOND}.jsonl"),
        &claude(SECOND, "/src/api", "And the port?"),
        40,
    );
    let agent = claude(FIRST, "/src/a b#c", "Look into lease.rs")
        .replace("\"isSidechain\":false", "\"isSidechain\":true");
    put(
        &env,
        format!("{dir}/{FIRST}/subagents/agent-12ab.jsonl"),
        &agent,
        3,
    );
    put(&env, format!("{dir}/{OTHER}/tool-results/x.txt"), "gone", 3);
    let pi = concat!(
        r#"{"type":"session","version":3,"id":"77aa0000-0000-4000-8000-000000000003","timestamp":"2026-11-10T10:00:00.000Z","cwd":"/src/api"}"#,
        "\n",
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-11-10T10:00:01.000Z","message":{"role":"user","content":"Rename the lease.","timestamp":1762768801000}}"#,
        "\n"
    );
    let name = format!("2026-11-10T10-00-00-000Z_{OTHER}.jsonl");
    let dir = Path::new(".pi/agent/sessions").join(std::ffi::OsStr::from_bytes(b"--src-a\xff--"));
    put(&env, dir.join(name), pi, 1);
    put(&env, ".openclaw/agents/main/sessions/c0ffee.jsonl", "{}\n", 2);
    env
}

fn rows(run: &Run) -> Vec<Vec<String>> {
    let lines = run.out().lines();
    lines
        .map(|line| line.split('\t').map(str::to_string).collect())
        .collect()
}

/// Every file and directory of the homes, with its time and size.
pub fn state(env: &Env) -> Vec<(PathBuf, SystemTime, u64)> {
    let mut found = Vec::new();
    let mut dirs = vec![home(env)];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let about = std::fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                dirs.push(path.clone());
            }
            found.push((path, about.modified().unwrap(), about.len()));
        }
    }
    found.sort();
    found
}

#[test]
fn homes_are_listed_with_what_they_delete() {
    let env = homes();
    let before = state(&env);
    let run = env.run(&["agents"]).fine();
    let root = home(&env);
    let root = root.to_str().unwrap();
    let size = claude(FIRST, "/src/a b#c", "Who holds the lease?").len()
        + claude(SECOND, "/src/api", "And the port?").len();
    let expected = [
        format!("claude-code\t2\t{size}\t2026-11-01T10:00:00Z\t30d\t{root}/.claude/projects"),
        format!("openclaw\t1\t3\t2026-11-18T18:02:03Z\t-\t{root}/.openclaw/agents"),
        format!("pi\t1\t297\t2026-11-10T10:00:01Z\t-\t{root}/.pi/agent/sessions"),
    ];
    assert_eq!(run.out().lines().collect::<Vec<_>>(), expected);
    let run = env.run(&["agents", "--json", "--program", "claude"]).fine();
    let home = run.objects().remove(0);
    for (member, value) in [
        ("schema", serde_json::json!("convo.agent/1")),
        ("readable", true.into()),
        ("subagents", 1.into()),
        ("orphans", 1.into()),
        ("running", 0.into()),
        ("retention_setting", "cleanupPeriodDays".into()),
        ("retention_value", serde_json::Value::Null),
        ("due_7d", 0.into()),
        ("overdue", 1.into()),
    ] {
        assert_eq!(home[member], value, "{member}");
    }
    let run = env
        .run(&["agents", "--columns", "program,reason,due,overdue"])
        .fine();
    assert_eq!(rows(&run)[1], ["openclaw", "format not supported", "0", "0"]);
    env.run(&["agents", "--due", "7d", "--columns", "program"])
        .status(1)
        .gives("claude-code\n");
    env.run(&["agents", "--due", "7d", "--program", "pi"])
        .fine()
        .gives("");
    // A longer period keeps more; the smallest of all settings counts.
    put(&env, ".claude/settings.json", r#"{"cleanupPeriodDays": 90}"#, 1);
    env.run(&["agents", "--due", "7d"]).fine().gives("");
    put(
        &env, ".claude/settings.local.json", r#"{"cleanupPeriodDays": 5}"#, 1,
    );
    let run = env
        .run(&[
            "agents", "--due", "2d", "--columns", "retention,value,due,overdue",
        ])
        .status(1);
    assert_eq!(rows(&run), [["5d", "5", "1", "1"]]);
    let before: Vec<_> = before
        .into_iter()
        .filter(|(path, ..)| !path.ends_with(".claude"))
        .collect();
    let after = state(&env)
        .into_iter()
        .filter(|(path, ..)| !path.ends_with(".claude") && !path.to_string_lossy().contains("settings"));
    assert_eq!(after.collect::<Vec<_>>(), before);
}

#[test]
fn without_homes_there_is_nothing_to_print() {
    let env = Env::new();
    env.run(&["agents"])
        .status(0)
        .gives("")
        .says("no sessions of other programs found");
    env.run(&["agents", "--program", "clause"])
        .status(2)
        .says("expected one of claude-code");
}

#[test]
fn a_bad_home_does_not_hide_the_others() {
    let env = homes();
    std::fs::create_dir_all(home(&env).join(".qwen")).unwrap();
    std::os::unix::fs::symlink("projects", home(&env).join(".qwen/projects")).unwrap();
    put(&env, ".continue/sessions", "a file", 1);
    std::os::unix::fs::symlink(
        "loop.jsonl",
        home(&env).join(".claude/projects/-src-a-b--c/loop.jsonl"),
    )
    .unwrap();
    let run = env
        .run(&["agents", "--columns", "program,sessions,readable"])
        .status(74);
    let found: Vec<String> = rows(&run).into_iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        found,
        [
            "claude-code 2 yes", "continue 0 no", "openclaw 1 no", "pi 1 yes", "qwen-code 0 no"
        ]
    );
    let run = run
        .says(".qwen/projects: too many levels of symbolic links")
        .says(".continue/sessions: not a directory");
    let run = run.says("loop.jsonl: too many levels of symbolic links");
    assert_eq!(run.stderr.lines().count(), 3, "{run}");
    let run = env.run(&["list", "--agents", "-q"]).status(74);
    assert_eq!(run.out().lines().count(), 3, "{run}");
    let run = env.run(&["search", "-l", "lease", "-q"]).status(74);
    assert_eq!(run.out().lines().count(), 4, "{run}");
}

#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn sessions_of_homes_are_listed() {
    let env = homes();
    let run = env
        .run(&["list", "--agents"])
        .status(0)
        .says("not listed: openclaw (format not supported)");
    let size = |question: &str, project: &str| claude(FIRST, project, question).len().to_string();
    let expected = [
        vec![
            format!("pi:{OTHER}"),
            "1".into(),
            "2026-11-10T10:00:01Z".into(),
            "297".into(),
            "/src/api".into(),
            "Rename the lease.".into(),
        ],
        vec![
            format!("claude-code:{FIRST}"),
            "2".into(),
            "2026-11-01T10:00:00Z".into(),
            size("Who holds the lease?", "/src/a b#c"),
            "/src/a b#c".into(),
            "Who holds the lease?".into(),
        ],
        vec![
            format!("claude-code:{SECOND}"),
            "2".into(),
            "2026-11-01T10:00:00Z".into(),
            size("And the port?", "/src/api"),
            "/src/api".into(),
            "And the port?".into(),
        ],
    ];
    assert_eq!(rows(&run), expected);
    let names = |options: &[&str]| {
        let run = env
            .run(&[&["list", "--agents", "-q", "--columns", "name"], options].concat())
            .fine();
        run.out()
            .lines()
            .map(|line| line.replace("claude-code:", ""))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(names(&["--project", "/src/api"]), format!("pi:{OTHER} {SECOND}"));
    assert_eq!(names(&["--project", "/src/a"]), "");
    assert_eq!(names(&["--project", "/src/a b#c/"]), FIRST);
    assert_eq!(
        names(&["--program", "claude", "--sort", "due"]),
        format!("{SECOND} {FIRST}")
    );
    assert_eq!(names(&["--since", "2026-11-05"]), format!("pi:{OTHER}"));
    assert_eq!(
        names(&["--subagents", "--program", "claude", "-n", "9"])
            .split(' ')
            .count(),
        3
    );
    let run = env
        .run(&[
            "list", "--agents", "--json", "--program", "claude", "--limit", "1",
        ])
        .fine();
    let session = &run.objects()[0];
    assert_eq!(
        (
            &session["schema"], &session["subagents"], &session["sidecar_files"], &session["due"]
        ),
        (
            &"convo.home-session/1".into(),
            &1.into(),
            &1.into(),
            &"2026-12-17T18:02:03Z".into()
        )
    );
    for wrong in [
        &["--agents", "x"][..],
        &["--subagents"],
        &["--agents", "--tag", "x"],
    ] {
        env.run(&[&["list"], wrong].concat()).status(2);
    }
    let run = env.terminal(
        (120, 50),
        &format!("{} list --agents -q --color never", env!("CARGO_BIN_EXE_convo")),
    );
    let line = |start: &str| run.out().lines().any(|line| line.starts_with(start));
    assert!(
        line("NAME") && line("pi:77aa0000 ") && line(&format!("claude-code:{SECOND}! ")),
        "{run}"
    );
}

#[test]
fn a_running_session_is_marked() {
    let env = homes();
    let running = |env: &Env| {
        let run = env
            .run(&[
                "list", "--agents", "-q", "--columns", "running,name", "--program", "claude",
            ])
            .fine();
        rows(&run).iter().filter(|row| row[0] == "yes").count()
    };
    assert_eq!(running(&env), 0);
    put(
        &env,
        ".claude/sessions/999999999.json",
        &format!(r#"{{"pid":999999999,"sessionId":"{FIRST}"}}"#),
        0,
    );
    assert_eq!(running(&env), 0);
    let own = std::process::id();
    put(
        &env,
        format!(".claude/sessions/{own}.json"),
        &format!(r#"{{"pid":{own},"sessionId":"{FIRST}"}}"#),
        0,
    );
    assert_eq!(running(&env), 1);
    // Changed a moment ago.
    put(
        &env,
        format!(".claude/projects/-src-a-b--c/{SECOND}.jsonl"),
        &claude(SECOND, "/src", "x"),
        0,
    );
    assert_eq!(running(&env), 2);
}

#[test]
fn homes_are_searched_with_the_store() {
    let env = homes();
    let names = |options: &[&str]| {
        let run = env.run(&[&["search", "-q", "-l", "lease"], options].concat());
        run.out().lines().collect::<Vec<_>>().join(" ")
    };
    let (first, agent) = (
        format!("claude-code:{FIRST}"),
        format!("claude-code:{FIRST}.agent-12ab"),
    );
    let all = format!("pi:{OTHER} {first} {agent} claude-code:{SECOND}");
    // The store does not exist yet.
    assert_eq!(names(&[]), all);
    assert_eq!(names(&["--program", "pi"]), format!("pi:{OTHER}"));
    assert_eq!(names(&["--project", "/src/a b#c"]), format!("{first} {agent}"));
    // A session in a home and in the store is searched once.
    let file = home(&env).join(format!(".claude/projects/-src-a-b--c/{FIRST}.jsonl"));
    env.run(&["migrate", "-q", file.to_str().unwrap()]).status(0);
    env.pipe(&["new", "-q", "--id", "own"], "").status(0);
    env.run(&["append", "-q", "own", "A lease of my own."]).fine();
    assert_eq!(names(&[]), format!("own {all}"));
    assert_eq!(names(&["@all"]), format!("own {FIRST}"));
    env.run(&["search", "lease", "nobody:x"]).status(66);
}

/// The command is the one that `handoff` prints; a subagent has none.
#[test]
#[cfg_attr(not(script), ignore = "needs script of util-linux: see build.rs")]
fn branches_and_resume_commands_are_listed() {
    let env = homes();
    let path = format!(".claude/projects/-src-a-b--c/{FIRST}.jsonl");
    let text = claude(FIRST, "/src/a b#c", "Who holds the lease?");
    put(
        &env,
        &path,
        &text.replace("\"userType\"", "\"gitBranch\":\"dev\",\"userType\""),
        3,
    );
    let columns = [
        "list", "--agents", "-q", "--subagents", "--columns", "branch,resume",
    ];
    let run = env.run(&columns).fine();
    let resume = format!("cd '/src/a b#c' && claude --resume {FIRST}");
    let pi = format!("cd /src/api && pi --session {OTHER}");
    let found: BTreeSet<Vec<String>> = rows(&run).into_iter().collect();
    for row in [["dev", &resume], ["", &pi], ["", ""]] {
        assert!(
            found.contains(row.map(str::to_string).as_slice()),
            "{row:?}: {run}"
        );
    }
    let run = env
        .run(&["list", "--agents", "-q", "--json", "--program", "claude"])
        .fine();
    let session = run.objects().into_iter().find(|one| one["id"] == FIRST).unwrap();
    assert_eq!(
        (&session["branch"], &session["resume"]),
        (&"dev".into(), &resume.as_str().into())
    );
    let run = env.run(&["search", "--json", "-q", "lease"]).fine();
    for hit in run.objects() {
        let expected = match hit["name"].as_str().unwrap() {
            name if name.contains(".agent-") => serde_json::Value::Null,
            name if name.starts_with("pi:") => pi.as_str().into(),
            name => resume.replace(FIRST, &name["claude-code:".len()..]).into(),
        };
        if !hit["name"].as_str().unwrap().ends_with(SECOND) {
            assert_eq!(hit["resume"], expected, "{hit}");
        }
    }
    let line = format!(
        "{} search -q --color never 'holds the lease'",
        env!("CARGO_BIN_EXE_convo")
    );
    let run = env.terminal((120, 50), &line);
    let last = run.out().lines().last().unwrap_or_default();
    assert_eq!(last.trim_end(), format!("resume it with: {resume}"), "{run}");
}

/// A program has just created a file, or is writing its last line: neither is damage of a home.
#[test]
fn files_that_are_being_written_are_not_damage() {
    let env = Env::new();
    let dir = ".claude/projects/-src-api";
    let text = claude(FIRST, "/src/api", "Who holds the lease?");
    put(
        &env,
        format!("{dir}/{FIRST}.jsonl"),
        &format!("{text}{{\"uuid\":\"u3\",\"message\":{{\"role\":\"us"),
        0,
    );
    put(&env, format!("{dir}/{SECOND}.jsonl"), "", 0);
    put(&env, format!("{dir}/{OTHER}.jsonl"), "\0\0\0\0\0\0\0\0", 0);
    put(
        &env,
        format!("{dir}/5d1f0a4e-0000-4000-8000-000000000009.jsonl"),
        &text[..40],
        5,
    );
    put(&env, ".cline/data/sessions/s1/s1.messages.json", "", 2);
    put(
        &env,
        ".continue/sessions/6b21fe4d-ed91-4e99-853e-81590a73845c.json",
        "{\"sessionId\":\"6b21\",\"history\":[{\"mess",
        2,
    );
    let codex = "019e8304-dff2-79e4-8df0-a7a2fd64797d";
    put(
        &env,
        format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{codex}.jsonl"),
        "",
        2,
    );
    let run = env.run(&["agents", "--columns", "program,sessions,empty"]).fine();
    let expected = [
        ["claude-code", "1", "3"],
        ["cline", "0", "1"],
        ["codex", "0", "1"],
        ["continue", "0", "1"],
    ];
    assert_eq!(rows(&run), expected.map(|row| row.map(str::to_string).to_vec()));
    let run = env
        .run(&["list", "--agents", "--columns", "name,messages"])
        .fine();
    assert_eq!(run.out(), format!("claude-code:{FIRST}\t2\n"));
    let run = env.run(&["list", "--agents", "--empty", "--json"]).fine();
    assert_eq!(run.objects().len(), 7, "{run}");
    let run = env.run(&["search", "-l", "lease"]).fine();
    assert_eq!(run.out(), format!("claude-code:{FIRST}\n"));
    let run = env.run(&["show", "claude:@last"]).fine();
    assert!(run.out().contains("Who holds the lease?"), "{run}");
    assert_eq!(env.run(&["archive", "-q"]).fine().out(), "");
    assert_eq!(env.run(&["archive", "--verify"]).fine().out(), "");
}

#[test]
fn a_damaged_compressed_session_is_reported() {
    let env = Env::new();
    let packed = convo::format::zstd::pack(claude(OTHER, "/src", "Who?").as_bytes());
    let path = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{OTHER}.jsonl.zst");
    let path = put(&env, path, "", 3);
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let named = |run: Run| {
        assert!(
            run.stderr
                .contains(&format!("{OTHER}.jsonl.zst: damaged zstd data")),
            "{run}"
        )
    };
    let run = env
        .run(&["list", "--agents", "--empty", "--columns", "name"])
        .status(0);
    assert_eq!(run.out(), format!("codex:{OTHER}\n"));
    named(run);
    named(env.run(&["agents"]).status(0));
    named(env.run(&["search", "Who"]).status(1));
    named(env.run(&["search", "Who", "--strict"]).status(65));
    named(env.run(&["search", "--rank", "Who", "--strict"]).status(65));
}
