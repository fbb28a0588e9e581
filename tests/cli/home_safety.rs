//! Tests that commands write into the homes of other programs only where and when it is safe.

use crate::agents::{FIRST, SECOND, claude, home, put};
use crate::env::{Env, Run};
use std::path::Path;

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

#[test]
fn an_id_never_leaves_the_home() {
    let (env, _) = prepared();
    let path = home(&env).join(SESSION);
    let absolute = env.work().join("escaped");
    let absolute = absolute.to_str().unwrap();
    let too_long = "x".repeat(129);
    for id in [
        "../../escaped",
        absolute,
        "",
        "a b;rm",
        "..",
        ".x",
        "a/b",
        "ü",
        &too_long,
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
