//! Which homes are found, and the settings that apply to them.

use super::{FIRST, SECOND, claude, home, homes, put};
use crate::env::Env;

#[test]
fn a_home_behind_a_file_or_a_broken_link_is_reported() {
    let env = Env::new();
    put(&env, ".claude", "a file", 1);
    std::os::unix::fs::symlink("gone", home(&env).join(".codex")).unwrap();
    std::fs::create_dir_all(home(&env).join(".pi/agent")).unwrap();
    let run = env.run(&["agents", "--columns", "program,reason"]).status(74);
    let expected = "claude-code\t.claude is not a directory\ncodex\ta link to a missing file\n";
    assert_eq!(run.out(), expected, "{run}");
}

#[test]
fn a_home_in_which_nothing_is_readable_has_a_reason() {
    let env = Env::new();
    std::fs::create_dir_all(home(&env).join(".codex")).unwrap();
    std::os::unix::fs::symlink("sessions", home(&env).join(".codex/sessions")).unwrap();
    let run = env.run(&["agents", "--json"]).status(74);
    let found = run.objects().remove(0);
    assert_eq!(found["readable"], false, "{found}");
    assert_eq!(found["reason"], "too many levels of symbolic links");
}

/// The program applies the settings of a project to the sessions of all projects.
#[test]
fn the_settings_of_a_project_shorten_the_retention() {
    let env = Env::new();
    let project = env.work();
    let project = project.to_str().unwrap();
    let dir = ".claude/projects/-work";
    put(
        &env,
        format!("{dir}/{FIRST}.jsonl"),
        &claude(FIRST, project, "Hello?"),
        2,
    );
    put(
        &env,
        format!("{dir}/{SECOND}.jsonl"),
        &claude(SECOND, "/src/api", "Hello?"),
        2,
    );
    let retention = || {
        env.run(&["agents", "--columns", "retention,value,due"])
            .fine()
            .out()
            .to_string()
    };
    assert_eq!(retention(), "30d\t-\t0\n");
    env.write(".claude/settings.local.json", "{\"cleanupPeriodDays\":3}");
    assert_eq!(retention(), "3d\t3\t2\n");
}

#[test]
fn profiles_of_claude_code_are_homes() {
    let env = homes();
    let id = "5d1f0a4e-0000-4000-8000-00000000000a";
    put(
        &env,
        format!(".claude/profiles/night/projects/-src-api/{id}.jsonl"),
        &claude(id, "/src/api", "Who is on duty at night?"),
        3,
    );
    let run = env
        .run(&["agents", "--program", "claude", "--columns", "sessions,root"])
        .fine();
    assert!(run.out().contains("/.claude/profiles/night/projects\n"), "{run}");
    let name = format!("claude-code:{id}");
    assert!(env.run(&["list", "--agents"]).status(0).out().contains(&name));
    assert_eq!(
        env.run(&["search", "-l", "duty at night"]).status(0).out(),
        format!("{name}\n")
    );
    assert!(env.run(&["cat", &name]).status(0).out().contains("duty"));
    let run = env.run(&["archive", "--to", "kept"]).status(0);
    assert!(run.out().contains(&format!("new\t{name}")), "{run}");
}
