//! Tests `handoff`, which continues a session in another program.

use crate::agents::{FIRST, claude, home, put};
use crate::env::{Env, Run};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A Claude Code session whose project directory exists.
fn prepared() -> (Env, String) {
    let env = Env::new();
    let project = env.work().join("a b#c");
    std::fs::create_dir(&project).unwrap();
    let project = project.to_str().unwrap().to_string();
    let text =
        claude(FIRST, &project, "Who holds the lease?").replace("\"cwd\"", "\"gitBranch\":\"main\",\"cwd\"");
    put(&env, format!(".claude/projects/-x/{FIRST}.jsonl"), &text, 3);
    (env, project)
}

fn handoff(env: &Env, more: &[&str]) -> Run {
    env.run(&[&["handoff", "claude:@last"], more].concat())
}

fn well(env: &Env, more: &[&str]) -> Run {
    let run = handoff(env, more);
    assert_eq!(run.status, 0, "{run}");
    run
}

/// Files below a directory, except those of the first Claude Code session.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false => found.push(path.strip_prefix(root).unwrap().to_path_buf()),
            }
        }
    }
    found.retain(|path| !path.ends_with(format!("{FIRST}.jsonl")) && !path.starts_with(".local"));
    found.sort();
    found
}

#[test]
fn a_session_is_installed_where_each_program_finds_it() {
    for (to, resume, is_inside) in [
        ("codex", "codex resume ", true),
        ("gemini", " && gemini --resume ", true),
        ("pi", " && pi --session ", true),
        ("qwen", " && qwen -r ", true),
        ("continue", "cn --fork ", true),
        ("claude", " && claude --resume ", true),
    ] {
        let (env, project) = prepared();
        let run = well(&env, &["--to", to, "--install"]);
        let line = run.out().trim_end();
        assert!(line.contains(resume), "{run}");
        if resume.starts_with(" &&") {
            assert!(line.starts_with(&format!("cd '{project}'{resume}")), "{run}");
        }
        let id = line.rsplit(' ').next().unwrap();
        let name = format!("{to}:{id}");
        let shown = env.run(&["show", &name]).fine();
        assert!(
            shown.out().contains("Who holds the lease?") && shown.out().contains("quorum lease 30s"),
            "{to}: {shown}"
        );
        let rows = env
            .run(&[
                "list", "--agents", "--program", to, "--project", &project, "--json",
            ])
            .fine();
        let own = rows.objects().into_iter().find(|row| row["id"] == id);
        assert!(own.is_some() == is_inside, "{to}: {rows}");
        env.run(&["check", &name]).status(0);
    }
}

#[test]
fn branch_directory_and_index_are_written() {
    let (env, project) = prepared();
    let id = "0198d7c2-0000-7000-8000-00000000abcd";
    well(&env, &["--to", "codex", "--install", "--id", id]);
    let path = home(&env).join(format!(
        ".codex/sessions/2026/11/20/rollout-2026-11-20T18-02-03-{id}.jsonl"
    ));
    let text = std::fs::read_to_string(&path).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let meta = &first["payload"];
    assert_eq!(
        (
            &meta["id"], &meta["cwd"], &meta["git"]["branch"], &meta["model_provider"]
        ),
        (
            &id.into(),
            &project.as_str().into(),
            &"main".into(),
            &"openai".into()
        )
    );
    assert!(
        !text.contains("\"claude"),
        "the model of another provider: {text}"
    );
    let run = handoff(
        &env,
        &["--to", "codex", "--provider", "azure", "--model", "gpt-5", "-q"],
    )
    .fine();
    assert!(
        run.out().contains("\"model_provider\":\"azure\"") && run.out().contains("\"model\":\"gpt-5\""),
        "{run}"
    );
    put(
        &env,
        ".gemini/projects.json",
        "{\"projects\":{\"/src/x\":\"a-b-c\"}}",
        3,
    );
    std::fs::create_dir_all(home(&env).join(".gemini/tmp/a-b-c")).unwrap();
    well(&env, &["--to", "gemini", "--install"]);
    let registry = std::fs::read_to_string(home(&env).join(".gemini/projects.json")).unwrap();
    let registry: serde_json::Value = serde_json::from_str(&registry).unwrap();
    assert_eq!(registry["projects"]["/src/x"], "a-b-c");
    let slug = registry["projects"][&project].as_str().unwrap();
    assert_ne!(slug, "a-b-c");
    let printed = well(&env, &["--to", "gemini"]);
    assert!(
        printed.out().contains("\"lastUpdated\":\"2026-11-20T18:02:03Z\""),
        "the program deletes old sessions: {printed}"
    );
    let owner = home(&env).join(format!(".gemini/tmp/{slug}/.project_root"));
    assert_eq!(std::fs::read_to_string(owner).unwrap(), project);
    assert!(!home(&env).join(".gemini/projects.json.lock").exists());
}

#[test]
fn installing_replaces_nothing_and_can_be_undone() {
    let (env, _) = prepared();
    let id = "0198d7c2-0000-4000-8000-00000000abcd";
    let arguments = ["--to", "pi", "--install", "--id", id];
    let run = well(&env, &[&arguments[..], &["-n"]].concat());
    assert!(
        run.stderr.contains("would write") && files(&home(&env)).is_empty(),
        "{run}"
    );
    let run = well(&env, &[&arguments[..], &["--json"]].concat());
    let row = run.objects().remove(0);
    assert_eq!(
        (row["schema"].as_str(), row["id"].as_str(), row["from"].as_str()),
        (Some("convo.handoff/1"), Some(id), Some("claude-code"))
    );
    let path = PathBuf::from(row["path"].as_str().unwrap());
    let text = std::fs::read(&path).unwrap();
    let longer = [&text[..], b"{}\n"].concat();
    std::fs::write(&path, &longer).unwrap();
    let run = handoff(&env, &arguments);
    assert_eq!(run.status, 73, "{run}");
    assert_eq!(std::fs::read(&path).unwrap(), longer);
    assert_eq!(env.run(&["handoff", "--undo", id]).status, 75);
    std::fs::write(&path, &text).unwrap();
    assert_eq!(env.run(&["handoff", "--undo", id, "-n"]).status, 0);
    assert!(path.exists());
    assert_eq!(env.run(&["handoff", "--undo", id]).status, 0);
    assert!(!path.exists());
    assert_eq!(env.run(&["handoff", "--undo", id]).status, 66);
    assert_eq!(env.run(&["handoff", "--undo", "other"]).status, 66);
}

/// The journal has one file for each id, which exists as long as the session can be removed.
#[test]
fn undoing_removes_the_entry_of_the_journal() {
    let (env, _) = prepared();
    let journals = || {
        let dir = home(&env).join(".local/state/convo/handoff");
        let entries = std::fs::read_dir(dir).into_iter().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let [one, other] = ["0198d7c2-0000-4000-8000-00000000abcd", "two"];
    well(&env, &["--to", "pi", "--install", "--id", one]);
    let first = std::fs::read(home(&env).join(format!(".local/state/convo/handoff/{one}.jsonl"))).unwrap();
    well(&env, &["--to", "continue", "--install", "--id", other]);
    assert_eq!(journals(), [format!("{one}.jsonl").as_str(), "two.jsonl"]);
    // The same id in another program.
    well(&env, &["--to", "claude", "--install", "--id", one]);
    let undo = |id: &str| env.run(&["handoff", "--undo", id]);
    assert!(undo(one).status(0).stderr.contains("/.claude/"));
    let left = std::fs::read(home(&env).join(format!(".local/state/convo/handoff/{one}.jsonl"))).unwrap();
    assert_eq!(left, first);
    assert!(undo(one).status(0).stderr.contains("/.pi/"));
    assert_eq!(journals(), ["two.jsonl"]);
    // A run that was killed removed the session, but not its entry.
    std::fs::remove_file(home(&env).join(format!(".continue/sessions/{other}.json"))).unwrap();
    let run = undo(other).status(0);
    assert!(run.stderr.contains("already removed: "), "{run}");
    assert!(
        journals().is_empty()
            && files(&home(&env))
                .iter()
                .all(|path| !path.starts_with(".continue"))
    );
    for id in [other, "../handoff/two", ""] {
        assert_eq!(undo(id).status, 66, "{id}");
    }
}

/// The session that `undo` would remove still exists.
#[test]
fn a_session_that_was_moved_keeps_its_journal() {
    let (env, project) = prepared();
    let id = "0198d7c2-0000-4000-8000-00000000abcd";
    let install = |to: &str| {
        let run = well(
            &env,
            &[
                "--to", to, "--install", "--json", "--id", id, "--project", &project,
            ],
        );
        PathBuf::from(run.objects()[0]["path"].as_str().unwrap())
    };
    let is_kept = |moved: &Path| {
        for more in [&[][..], &["-n"]] {
            let run = env.run(&[&["handoff", "--undo", id], more].concat()).status(75);
            let what = format!("moved to {}", moved.display());
            assert!(run.stderr.contains(&what), "{run}");
        }
    };
    // Its program archives it.
    let path = install("codex");
    let moved = home(&env)
        .join(".codex/archived_sessions")
        .join(path.file_name().unwrap());
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(&path, &moved).unwrap();
    is_kept(&moved);
    std::fs::rename(&moved, &path).unwrap();
    env.run(&["handoff", "--undo", id]).status(0);
    assert!(!path.exists());
    // Its project is moved.
    let path = install("claude");
    let other = env.work().join("other");
    std::fs::rename(&project, &other).unwrap();
    env.run(&["relocate", "--force", &project, other.to_str().unwrap()])
        .status(0);
    assert!(!path.exists());
    let dir = path
        .parent()
        .unwrap()
        .to_str()
        .unwrap()
        .replace("-a-b-c", "-other");
    is_kept(&Path::new(&dir).join(path.file_name().unwrap()));
}

#[test]
fn without_install_the_file_is_printed() {
    let (env, _) = prepared();
    let run = well(&env, &["--to", "codex"]);
    assert!(run.out().starts_with("{\"timestamp\""), "{run}");
    assert!(
        run.stderr.contains("belongs to: ") && run.stderr.contains("resume it with: codex resume "),
        "{run}"
    );
    well(&env, &["--to", "codex", "-o", "x.jsonl"]);
    assert!(env.read("x.jsonl").starts_with("{\"timestamp\""));
    assert_eq!(handoff(&env, &["--to", "codex", "-o", "x.jsonl"]).status, 73);
    assert!(files(&home(&env)).is_empty());
}

#[test]
fn a_program_that_imports_is_run_by_install_alone() {
    let (env, project) = prepared();
    let run = handoff(&env, &["--to", "opencode", "--install"]);
    assert_eq!(run.status, 69, "{run}");
    assert!(run.stderr.contains("program not found"), "{run}");
    for (program, text) in [
        ("opencode", "#!/bin/sh\ncp \"$2\" got.json; pwd > where\n"),
        (
            "goose",
            "#!/bin/sh\ncp \"$3\" got.json; echo 'imported session (20261120_7)'\n",
        ),
    ] {
        let path = env.root().join("bin").join(program);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    well(&env, &["--to", "opencode"]);
    let got = Path::new(&project).join("got.json");
    assert!(!got.exists());
    let run = well(&env, &["--to", "opencode", "--install"]);
    let export: serde_json::Value = serde_json::from_slice(&std::fs::read(&got).unwrap()).unwrap();
    let id = export["info"]["id"].as_str().unwrap();
    assert!(
        run.out().trim_end().ends_with(&format!("&& opencode -s {id}")),
        "{run}"
    );
    assert_eq!(
        std::fs::read_to_string(Path::new(&project).join("where"))
            .unwrap()
            .trim_end(),
        project
    );
    let run = well(&env, &["--to", "goose", "--install"]);
    assert_eq!(run.out(), "goose session --resume --session-id 20261120_7\n");
}

#[test]
fn invalid_requests_are_refused_before_writing() {
    let (env, _) = prepared();
    for (arguments, status, text) in [
        (&["--to", "clause"][..], 2, "did you mean 'claude'?"),
        (&["--to", "chatgpt"], 2, "list programs with: convo agents --help"),
        // The reason that no option changes is reported first.
        (
            &["--to", "cursor", "--project", "/nowhere/x"],
            2,
            "its sessions are not written",
        ),
        (&["--to", "cursor", "--install"], 2, "cursor-agent --resume"),
        (&["--to", "aider", "--install"], 2, "history file"),
        (
            &["--to", "codex", "--project", "/nowhere/x"],
            66,
            "no such directory",
        ),
        (
            &["--to", "codex", "--strict", "--install"],
            65,
            "nothing was written",
        ),
    ] {
        let run = handoff(&env, arguments);
        assert_eq!(run.status, status, "{run}");
        assert!(run.stderr.contains(text), "{run}");
    }
    let native = env.write("n.jsonl", "{\"role\":\"user\",\"content\":\"hi\"}\n");
    let run = env.run(&["handoff", native.to_str().unwrap(), "--to", "codex"]);
    assert_eq!(run.status, 2, "{run}");
    assert!(run.stderr.contains("--project DIR"), "{run}");
    assert!(files(&home(&env)).is_empty());
}

#[test]
fn calls_and_reasoning_become_text_on_request() {
    let env = Env::with_chat();
    let run = env
        .run(&[
            "handoff", "trip", "--to", "claude", "--project", ".", "--flatten", "-q",
        ])
        .fine();
    assert!(
        !run.out().contains("tool_use") && !run.out().contains("tool_result"),
        "{run}"
    );
    assert!(
        run.out().contains("[call] weather") && run.out().contains("22 C, sunny"),
        "{run}"
    );
    let run = env
        .run(&["handoff", "trip", "--to", "claude", "--project", ".", "-q"])
        .fine();
    assert!(
        run.out().contains("tool_use") && run.out().contains("tool_result"),
        "{run}"
    );
}

#[test]
fn provider_and_model_follow_the_settings_of_the_program() {
    let (env, project) = prepared();
    let codex = home(&env).join(".codex");
    std::fs::create_dir_all(&codex).unwrap();
    std::fs::write(codex.join("config.toml"), "model_provider = \"local\"\n").unwrap();
    let provider = |run: &Run| {
        let first: serde_json::Value = serde_json::from_str(run.out().lines().next().unwrap()).unwrap();
        first["payload"]["model_provider"].as_str().unwrap().to_string()
    };
    assert_eq!(provider(&well(&env, &["--to", "codex"])), "local");
    let run = well(&env, &["--to", "codex", "--provider", "azure"]);
    assert_eq!(provider(&run), "azure");
    let set = Path::new(&project).join("opencode.json");
    std::fs::write(set, r#"{"model":"local/m-1"}"#).unwrap();
    let model = |run: &Run| {
        let export: serde_json::Value = serde_json::from_str(run.out()).unwrap();
        let requested = &export["messages"][0]["info"];
        assert_eq!(requested["role"], "user");
        [&requested["model"]["providerID"], &requested["model"]["modelID"]]
            .map(|text| text.as_str().unwrap().to_string())
    };
    assert_eq!(model(&well(&env, &["--to", "opencode"])), ["local", "m-1"]);
    let run = well(&env, &["--to", "opencode"]);
    let again = env.write("again.json", run.out());
    let ids = |run: &Run| {
        let export: serde_json::Value = serde_json::from_str(run.out()).unwrap();
        let messages = export["messages"].as_array().unwrap();
        messages
            .iter()
            .map(|message| message["info"]["id"].to_string())
            .collect::<Vec<_>>()
    };
    // The program stores the messages of all sessions in one table.
    let copy = env
        .run(&["handoff", again.to_str().unwrap(), "--to", "opencode", "-q"])
        .fine();
    assert_eq!(ids(&copy).len(), ids(&run).len());
    assert!(!ids(&copy).iter().any(|id| ids(&run).contains(id)), "{copy}");
    let run = well(&env, &["--to", "opencode", "--model", "other/m/2"]);
    assert_eq!(model(&run), ["other", "m/2"]);
}

#[test]
fn the_project_defaults_to_that_of_the_directory() {
    let (env, project) = prepared();
    let run = well(&env, &["--to", "gemini", "--install"]);
    let id = run.out().trim_end().rsplit(' ').next().unwrap().to_string();
    let name = format!("gemini:{id}");
    let run = env
        .run(&["handoff", &name, "--to", "claude", "--install", "-q"])
        .fine();
    assert!(
        run.out()
            .starts_with(&format!("cd '{project}' && claude --resume ")),
        "{run}"
    );
}

/// Without the entry, the program would list a session that is gone.
#[test]
fn undoing_removes_the_entry_of_the_index() {
    let id = "0198d7c2-0000-4000-8000-00000000abcd";
    let (continue_list, gemini_list) = (".continue/sessions/sessions.json", ".gemini/projects.json");
    let list = "[\n  {\"sessionId\":\"one\", \"title\":\"One\"}\n]";
    let projects = "{\"projects\":{\"/src/x\":\"x\"}}";
    for (to, index, old) in [
        ("continue", continue_list, None),
        ("continue", continue_list, Some(list)),
        ("gemini", gemini_list, None),
        ("gemini", gemini_list, Some(projects)),
    ] {
        let (env, _) = prepared();
        if let Some(old) = old {
            put(&env, index, old, 3);
        }
        let before = files(&home(&env));
        well(&env, &["--to", to, "--install", "--id", id]);
        let path = home(&env).join(index);
        let written = std::fs::read_to_string(&path).unwrap();
        assert_ne!(Some(written.as_str()), old);
        env.run(&["handoff", "--undo", id, "-n"]).status(0);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
        env.run(&["handoff", "--undo", id]).status(0);
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), old, "{to}");
        assert_eq!(files(&home(&env)), before, "{to}");
        assert!(!home(&env).join(".gemini/tmp/a-b-c").exists());
    }
    // The program has changed its index since.
    let (env, _) = prepared();
    put(&env, continue_list, list, 3);
    well(&env, &["--to", "continue", "--install", "--id", id]);
    let path = home(&env).join(continue_list);
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\n]", ",\n  {\"sessionId\":\"two\"}\n]");
    std::fs::write(&path, &text).unwrap();
    env.run(&["handoff", "--undo", id]).status(0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains(id) && text.contains("\"one\", \"title\"") && text.contains("\"two\""),
        "{text}"
    );
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    // A directory in which the program has another session remains its own.
    let (env, project) = prepared();
    well(&env, &["--to", "gemini", "--install", "--id", id]);
    let path = home(&env).join(".gemini/projects.json");
    let registry: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let slug = registry["projects"][&project].as_str().unwrap();
    put(
        &env,
        format!(".gemini/tmp/{slug}/chats/session-2026-11-20T19-00-00000000.jsonl"),
        "{}\n",
        1,
    );
    env.run(&["handoff", "--undo", id]).status(0);
    assert_eq!(files(&home(&env)).len(), 3, "{:?}", files(&home(&env)));
}

/// Another index would take the place of one that cannot be read.
#[test]
fn an_unreadable_index_is_not_replaced() {
    for (to, index) in [
        ("gemini", ".gemini/projects.json"),
        ("continue", ".continue/sessions/sessions.json"),
    ] {
        let (env, _) = prepared();
        std::fs::create_dir_all(home(&env).join(index)).unwrap();
        let run = handoff(&env, &["--to", to, "--install"]);
        assert_eq!(run.status, 74, "{run}");
        assert!(
            files(&home(&env)).is_empty() && run.stderr.contains(index),
            "{run}"
        );
    }
    let gemini = ("gemini", ".gemini/projects.json", "not a list of projects");
    let continue_ide = (
        "continue",
        ".continue/sessions/sessions.json",
        "not a list of sessions",
    );
    for ((to, index, says), text) in [
        (gemini, "{\"projects\":{\"/a\":"),
        (gemini, "[]"),
        (gemini, "{\"projects\":[]}"),
        (continue_ide, "[{"),
        (continue_ide, "{}"),
    ] {
        let (env, _) = prepared();
        let path = put(&env, index, text, 3);
        let run = handoff(&env, &["--to", to, "--install"]);
        assert_eq!(run.status, 65, "{run}");
        assert!(run.stderr.contains(says), "{run}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        assert_eq!(files(&home(&env)).len(), 1);
    }
}

/// Sessions and indexes name the directory as text.
#[test]
fn a_directory_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let (env, _) = prepared();
    let dir = std::ffi::OsStr::from_bytes(b"a\xff");
    std::fs::create_dir(env.work().join(dir)).unwrap();
    let mut command = env.command(&["handoff", "claude:@last", "--to", "pi", "--install", "--project"]);
    command.arg(dir);
    let run = env.wait(command).status(2);
    assert!(run.stderr.contains("a\u{fffd}: not UTF-8"), "{run}");
    assert!(files(&home(&env)).is_empty());
}

/// A conversation whose only call has this result.
fn with_result(env: &Env, question: &str, result: &str) {
    let text = format!(
        r#"{{"role":"user","content":"{question}"}}
{{"role":"assistant","content":"","tool_calls":[{{"id":"c1","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}]}}
{result}
{{"role":"assistant","content":"Done."}}
"#
    );
    env.write("in.jsonl", text);
}

fn converted(env: &Env, more: &[&str]) -> Run {
    env.run(&[&["handoff", "./in.jsonl", "--project", "."], more].concat())
}

const FAILED: &str =
    r#"{"role":"tool","tool_call_id":"c1","content":"no such file","metadata":{"is_error":true,"pi":{}}}"#;

#[test]
fn a_failed_result_is_handed_off_as_failed() {
    let env = Env::new();
    with_result(&env, "Read it.", FAILED);
    for (to, sign) in [
        ("claude", "\"is_error\":true"),
        ("gemini", "\"status\":\"error\""),
        ("pi", "\"isError\":true"),
    ] {
        let run = converted(&env, &["--to", to]).status(0);
        assert!(run.out().contains(sign), "{to}: {run}");
        let run = converted(&env, &["--to", to, "--flatten"]).status(0);
        assert!(
            run.out().contains("[result, failed]\\nno such file"),
            "{to}: {run}"
        );
    }
}

#[test]
fn images_of_flattened_results_are_kept() {
    let env = Env::new();
    let image = r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a plot"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}"#;
    with_result(&env, "Plot it.", image);
    let run = converted(&env, &["--to", "claude", "--flatten"]).status(0);
    let image = run
        .objects()
        .into_iter()
        .find(|line| line["message"]["content"][0]["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("{run}"));
    assert_eq!(
        (&image["type"], &image["message"]["content"][0]["source"]["data"]),
        (&"user".into(), &"iVBORw0KGgo=".into())
    );
    assert!(
        run.out().contains("[call] read {}\\n\\n[result]\\na plot"),
        "{run}"
    );
}

#[test]
fn calls_without_results_are_answered() {
    let env = Env::new();
    with_result(
        &env,
        "Read it.",
        r#"{"role":"tool","tool_call_id":"c2","content":"stray"}"#,
    );
    for to in ["claude", "gemini", "codex", "pi", "continue"] {
        let run = converted(&env, &["--to", to]).status(0).says("2 repairs");
        assert!(
            run.out().contains("aborted") && !run.out().contains("stray"),
            "{to}: {run}"
        );
        assert!(!run.stderr.contains("event"), "{to}: {run}");
        let path = env.write("out", run.out());
        env.run(&["check", path.to_str().unwrap()]).status(0);
    }
    let run = converted(&env, &["--to", "pi", "--flatten"]).status(0);
    assert!(
        run.out().contains("stray") && !run.stderr.contains("repair"),
        "{run}"
    );
}

#[test]
fn texts_that_gemini_cli_does_not_resume_are_reported() {
    let env = Env::new();
    let answer = r#"{"role":"tool","tool_call_id":"c1","content":"r"}"#;
    with_result(&env, "/src is what?", answer);
    converted(&env, &["--to", "gemini"])
        .status(65)
        .says("no text of the user that Gemini CLI resumes");
    with_result(
        &env,
        "? and why",
        &format!("{answer}\n{{\"role\":\"user\",\"content\":\"Go on.\"}}"),
    );
    converted(&env, &["--to", "gemini"])
        .status(0)
        .says("messages (1)");
    converted(&env, &["--to", "gemini", "--strict"]).status(65);
}
