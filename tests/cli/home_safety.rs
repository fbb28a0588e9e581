//! Tests that commands write into the homes of other programs only where and when it is safe.

use crate::agents::{FIRST, NOW, SECOND, claude, home, put};
use crate::env::{Env, Run};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SESSION: &str = ".claude/projects/-x/5d1f0a4e-0000-4000-8000-000000000001.jsonl";

/// A Claude Code session whose project directory exists.
fn prepared() -> (Env, String) {
    let env = Env::new();
    let project = env.work().join("api");
    std::fs::create_dir(&project).unwrap();
    let project = project.to_str().unwrap().to_string();
    let second =
        claude(FIRST, &project, "And the port?").replace("\"parentUuid\":null", "\"parentUuid\":\"u2\"");
    let second = second
        .replace("\"uuid\":\"u", "\"uuid\":\"v")
        .replace(":\"u1\"", ":\"v1\"");
    put(
        &env,
        SESSION,
        &(claude(FIRST, &project, "Who holds the lease?") + &second),
        3,
    );
    (env, project)
}

/// Fails with this status and text, and leaves the file unchanged.
fn refused(env: &Env, path: &Path, arguments: &[&str], status: i32, text: &str) -> Run {
    let before = std::fs::read(path).unwrap();
    let run = env.run(arguments);
    assert_eq!(run.status, status, "{arguments:?}: {run}");
    assert!(run.stderr.contains(text), "{arguments:?}: {run}");
    assert_eq!(std::fs::read(path).unwrap(), before, "{arguments:?}");
    run
}

/// Marks a session of Claude Code as that of this process.
fn marked(env: &Env, session: Option<&str>, project: &str) {
    let mark = serde_json::json!({"pid": std::process::id(), "sessionId": session, "cwd": project});
    put(env, ".claude/sessions/1.json", &mark.to_string(), 3);
}

const TRUNCATE: [&str; 5] = ["truncate", "-i", "claude:5d1f", "--keep-last", "1"];

#[test]
fn an_id_never_leaves_the_home() {
    let (env, _) = prepared();
    let path = home(&env).join(SESSION);
    let absolute = env.work().join("escaped");
    let absolute = absolute.to_str().unwrap();
    let too_long = "x".repeat(129);
    for id in [
        "../../escaped", absolute, "", "a b;rm", "..", ".x", "a/b", "ü", &too_long,
    ] {
        for to in ["claude", "codex", "gemini", "pi", "qwen", "aichat", "continue"] {
            let id = format!("--id={id}");
            let arguments = ["handoff", "claude:5d1f", "--to", to, &id, "--install"];
            refused(&env, &path, &arguments, 2, "--id");
        }
    }
    assert!(!env.work().join("escaped.json").exists());
    // Names in settings and registries of programs are not trusted either.
    let (env, project) = prepared();
    let registry = serde_json::json!({"projects": {project: "../../escaped"}}).to_string();
    put(&env, ".gemini/projects.json", &registry, 3);
    for more in [&[][..], &["-n"]] {
        let arguments = [&["handoff", "claude:5d1f", "--to", "gemini", "--install"], more].concat();
        refused(&env, &path, &arguments, 77, "outside of the home");
    }
    assert!(!env.root().join("escaped").exists() && !home(&env).join("escaped").exists());
}

#[test]
fn an_id_of_another_session_is_not_used_again() {
    let (env, project) = prepared();
    let path = home(&env).join(SESSION);
    let pi = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{SECOND}\",\"timestamp\":\"2026-11-01T10:00:00Z\",\
         \"cwd\":\"{project}\"}}\n"
    );
    put(
        &env,
        format!(".pi/agent/sessions/--x--/2026-11-01T10-00-00-000Z_{SECOND}.jsonl"),
        &pi,
        3,
    );
    for (to, id) in [("claude", FIRST), ("pi", SECOND)] {
        for more in [&[][..], &["-n"]] {
            let arguments = ["handoff", "claude:5d1f", "--to", to, "--id", id, "--install"];
            refused(&env, &path, &[&arguments, more].concat(), 73, "already exists");
        }
    }
    let id = "0198d7c2-0000-4000-8000-00000000abcd";
    let arguments = ["handoff", "claude:5d1f", "--to", "codex", "--id", id, "--install"];
    assert_eq!(env.run(&arguments).status, 0);
}

#[test]
fn a_process_in_the_directory_protects_its_sessions() {
    let (env, project) = prepared();
    let path = home(&env).join(SESSION);
    let text = "running: a living process";
    let slim = ["slim", "-i", path.to_str().unwrap(), "--force"];
    let moved = env.work().join("moved");
    std::fs::create_dir(&moved).unwrap();
    let relocate = ["relocate", &project, moved.to_str().unwrap(), "--force"];
    // After /clear, the mark of a process names a session that it no longer writes.
    for session in [None, Some("other")] {
        marked(&env, session, &project);
        refused(&env, &path, &TRUNCATE, 75, text);
        refused(&env, &path, &slim, 75, text);
        refused(&env, &path, &relocate, 75, text);
    }
    marked(&env, Some("other"), "/src/else");
    assert_eq!(env.run(&TRUNCATE).status, 0);
}

#[test]
fn a_file_of_the_near_future_was_just_written() {
    let (env, _) = prepared();
    let path = home(&env).join(SESSION);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW + 30))
        .unwrap();
    drop(file);
    refused(&env, &path, &TRUNCATE, 75, "a change in the last 2 minutes");
    assert_eq!(env.run(&[&TRUNCATE[..], &["--force"]].concat()).status, 0);
}

#[test]
fn a_running_subagent_protects_its_session() {
    let (env, project) = prepared();
    let path = home(&env).join(SESSION);
    let agent = path.with_extension("").join("subagents/agent-12ab.jsonl");
    let agent = put(&env, agent, &claude(FIRST, &project, "Look."), 0);
    let slim = ["slim", "-i", path.to_str().unwrap()];
    let text = "a change in the last 2 minutes";
    refused(&env, &path, &slim, 75, text);
    refused(&env, &path, &TRUNCATE, 75, text);
    std::fs::remove_file(agent).unwrap();
    assert_eq!(env.run(&TRUNCATE).status, 0);
}

#[test]
fn marks_of_other_programs_are_read() {
    let (env, _) = prepared();
    let running = |program: &str| {
        let options = [
            "list", "--agents", "--program", program, "--empty", "--columns", "running",
        ];
        env.run(&options).fine().out().trim_end().to_string()
    };
    let own = std::process::id();
    let dir = format!(".copilot/session-state/{FIRST}");
    let start = r#"{"type":"session.start","id":"e1","timestamp":"2026-11-01T10:00:00Z","parentId":null,"data":{"sessionId":"s","version":1,"producer":"copilot-agent","copilotVersion":"1","startTime":"2026-11-01T10:00:00Z"}}"#;
    put(&env, format!("{dir}/events.jsonl"), &format!("{start}\n"), 3);
    put(&env, format!("{dir}/inuse.999999999.lock"), "", 3);
    assert_eq!(running("copilot-cli"), "no");
    put(&env, format!("{dir}/inuse.{own}.lock"), "", 3);
    assert_eq!(running("copilot-cli"), "yes");
    let start = r#"{"uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-11-01T10:00:00Z","cwd":"/x","type":"user","message":{"role":"user","parts":[{"text":"Hi"}]}}"#;
    put(&env, ".qwen/projects/-x/chats/s1.jsonl", &format!("{start}\n"), 3);
    assert_eq!(running("qwen-code"), "no");
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    for (pid, at, expected) in [
        (999_999_999, now, "no"),
        // The process that wrote it ended, and its id was assigned again.
        (own, 1_000, "no"),
        (own, now, "yes"),
    ] {
        let status =
            serde_json::json!({"schema_version": 1, "pid": pid, "session_id": "s1", "started_at": at});
        put(
            &env,
            ".qwen/projects/-x/chats/s1.runtime.json",
            &status.to_string(),
            3,
        );
        assert_eq!(running("qwen-code"), expected, "{status}");
    }
    put(&env, ".qwen/projects/-x/chats/s1.runtime.json", "{}", 3);
    for (pid, state, expected) in [
        (999_999_999, "active", "no"),
        (own, "sealed", "no"),
        (own, "active", "yes"),
    ] {
        let lease = serde_json::json!({"schema_version": 2, "pid": pid, "session_id": "s1", "state": state});
        put(
            &env,
            ".qwen/tmp/session-writer-locks/s1.lock",
            &lease.to_string(),
            3,
        );
        assert_eq!(running("qwen-code"), expected, "{lease}");
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let boot = boot.trim();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks: u64 = after_name.split_whitespace().nth(19).unwrap().parse().unwrap();
    for (start, expected) in [
        (format!("linux:{boot}:{ticks}"), "yes"),
        // Another process has the id since, or the system was started again.
        (format!("linux:{boot}:{}", ticks + 1), "no"),
        (
            format!("linux:00000000-0000-4000-8000-000000000000:{ticks}"),
            "no",
        ),
        ("darwin:1".to_string(), "yes"),
    ] {
        let lease = serde_json::json!({
            "schema_version": 2, "pid": own, "session_id": "s1", "state": "active", "process_start_identity": start,
        });
        let path = ".qwen/tmp/session-writer-locks/s1.lock";
        put(&env, path, &lease.to_string(), 3);
        assert_eq!(running("qwen-code"), expected, "{lease}");
    }
    let dir = ".cline/data/sessions/1";
    let messages = r#"{"version":1,"sessionId":"1","messages":[{"role":"user","content":"Hi"}]}"#;
    put(&env, format!("{dir}/1.messages.json"), messages, 3);
    for (pid, status, expected) in [
        (own, "completed", "no"),
        (999_999_999, "running", "no"),
        (own, "running", "yes"),
    ] {
        let manifest = serde_json::json!({"session_id": "1", "pid": pid, "status": status});
        put(&env, format!("{dir}/1.json"), &manifest.to_string(), 3);
        assert_eq!(running("cline"), expected, "{manifest}");
    }
}

/// Only root can give files away.
#[test]
#[cfg_attr(not(root), ignore = "only root can give files to another user")]
fn a_home_of_another_user_is_not_written() {
    let (env, _) = prepared();
    let path = home(&env).join(SESSION);
    let text = "belongs to another user";
    let archived = put(&env, ".codex/history.jsonl", "{}\n", 9);
    let id = "019e8304-dff2-79e4-8df0-a7a2fd64797d";
    let rollout = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{id}.jsonl");
    let rollout = put(&env, rollout, "{}\n", 9);
    env.run(&["archive", "-q"]).fine();
    std::fs::remove_file(&rollout).unwrap();
    std::os::unix::fs::chown(home(&env).join(".codex"), Some(65534), None).unwrap();
    refused(
        &env,
        &archived,
        &["archive", "--give-back", "codex:019e8304"],
        77,
        text,
    );
    assert!(!rollout.exists());
    let given: [PathBuf; 3] = [".claude", ".claude/projects", SESSION].map(|name| home(&env).join(name));
    std::fs::create_dir_all(home(&env).join(".pi")).unwrap();
    let others = given
        .iter()
        .chain([&path])
        .cloned()
        .chain([home(&env).join(".pi")]);
    for path in others {
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
    }
    refused(&env, &path, &TRUNCATE, 77, text);
    refused(&env, &path, &["slim", "-i", path.to_str().unwrap()], 77, text);
    let handoff = ["handoff", "claude:5d1f", "--to", "pi", "--install"];
    refused(&env, &path, &handoff, 77, text);
    assert!(!home(&env).join(".pi/agent").exists());
}

/// The owner of the place that is written counts: an existing parent of a missing home, and no other home.
#[test]
#[cfg_attr(not(root), ignore = "only root can give files to another user")]
fn a_missing_home_is_not_created_in_a_directory_of_another_user() {
    let env = Env::new();
    let id = "019e8304-dff2-79e4-8df0-a7a2fd64797d";
    let rollout = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{id}.jsonl");
    put(&env, rollout, "{}\n", 9);
    let task = |editor: &str, id: &str| {
        let storage = format!("../config/{editor}/User/globalStorage/rooveterinaryinc.roo-cline");
        put(
            &env,
            format!("{storage}/tasks/{id}/api_conversation_history.json"),
            "[]",
            9,
        )
    };
    let first = task("Code", FIRST);
    let second = task("VSCodium", SECOND);
    env.run(&["archive", "-q"]).fine();
    let given = |path: &Path, user: u32| std::os::unix::fs::chown(path, Some(user), None).unwrap();
    std::fs::remove_dir_all(home(&env).join(".codex")).unwrap();
    given(&home(&env), 65534);
    let run = env.run(&["archive", "--give-back", "codex:019e8304"]).status(77);
    assert!(run.stderr.contains("belongs to another user"), "{run}");
    assert!(!home(&env).join(".codex").exists());
    given(&home(&env), 0);
    let other = second.ancestors().nth(3).unwrap();
    given(other, 65534);
    std::fs::remove_file(&first).unwrap();
    env.run(&["archive", "--give-back", &format!("roo:{FIRST}")])
        .status(0);
    assert!(first.exists());
    std::fs::remove_file(&second).unwrap();
    env.run(&["archive", "--give-back", &format!("roo:{SECOND}")])
        .status(77);
    assert!(!second.exists());
}
