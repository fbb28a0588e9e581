//! Tests `relocate`, which updates sessions of other programs after a project moved.

use crate::agents::truth::Sample;
use crate::agents::{FIRST, OTHER, SECOND, claude, home, put, state};
use crate::env::{Env, Run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of the homes with their bytes, without convo's journals.
pub fn files(env: &Env) -> BTreeMap<String, String> {
    let home = home(env);
    let mut found = BTreeMap::new();
    for (path, ..) in state(env) {
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let name = path.strip_prefix(&home).unwrap().display().to_string();
            found.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    found.retain(|name, _| !name.starts_with(".local/state/"));
    found
}

fn slug(path: &str) -> String {
    path.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// Homes of programs with sessions of `/src/api`, of a directory below it, and of two with a similar prefix.
struct Moved {
    env: Env,
    new: String,
}

impl Moved {
    fn new() -> Moved {
        let env = Env::new();
        let new = env.root().join("work").join("new api");
        std::fs::create_dir_all(&new).unwrap();
        let session = claude(FIRST, "/src/api", "Is /src/api here?");
        put(
            &env,
            format!(".claude/projects/-src-api/{FIRST}.jsonl"),
            &session,
            3,
        );
        put(
            &env,
            ".claude/projects/-src-api/memory/MEMORY.md",
            "at /src/api\n",
            3,
        );
        let spilled = format!(
            "{{\"cwd\":\"/src/api\",\"toolUseResult\":{{\"persistedOutputPath\":\"{}/.claude/projects/-src-api/{FIRST}/x.txt\"}}}}\n",
            home(&env).display()
        );
        put(
            &env,
            format!(".claude/projects/-src-api/{FIRST}/subagents/agent-1.jsonl"),
            &spilled,
            3,
        );
        put(
            &env,
            format!(".claude/projects/-src-api-docs/{SECOND}.jsonl"),
            &claude(SECOND, "/src/api-docs", "And /src/api?"),
            3,
        );
        put(
            &env,
            format!(".claude/projects/-src-api-web/{OTHER}.jsonl"),
            &claude(OTHER, "/src/api/web", "Below."),
            3,
        );
        put(
            &env,
            format!(".claude/profiles/night/projects/-src-api/{SECOND}.jsonl"),
            &claude(SECOND, "/src/api", "In a profile."),
            3,
        );
        let history = "{\"project\":\"/src/api\",\"display\":\"/src/api\"}\nnot JSON: /src/api\n{\"project\":\"/src/api_old\"}\n";
        put(&env, ".claude/history.jsonl", history, 3);
        put(
            &env,
            ".claude.json",
            "{\n \"projects\": {\"/src/api\": {\"a\": 1}, \"/src/api-docs\": {}}\n}",
            3,
        );
        let codex = concat!(
            r#"{"type":"session_meta","payload":{"id":"x","cwd":"/src\/api"}}"#,
            "\n",
            r#"{"type":"event_msg","payload":{"cwd":"/src/api"}}"#,
            "\n",
            r#"{"type":"turn_context","payload":{"model":"m", "cwd" : "/src/api/web" }}"#,
            "\n"
        );
        put(
            &env,
            ".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-x.jsonl",
            codex,
            3,
        );
        put(&env, ".codex/state_5.sqlite", "SQLite /src/api", 3);
        let pi = r#"{"type":"session","version":3,"id":"p","cwd":"/src/api"}"#.to_string() + "\n";
        put(&env, ".pi/agent/sessions/--src-api--/t_p.jsonl", &pi, 3);
        put(
            &env,
            ".gemini/projects.json",
            "{\"projects\":{\"/src/api\":\"api\"}}",
            3,
        );
        put(&env, ".gemini/tmp/api/.project_root", "/src/api", 3);
        put(
            &env,
            ".continue/sessions/sessions.json",
            r#"[{"workspaceDirectory":"file:///src/api"},{"workspaceDirectory":"/src/api/web"}]"#,
            3,
        );
        Moved {
            env,
            new: new.display().to_string(),
        }
    }

    fn run(&self, more: &[&str]) -> Run {
        self.env
            .run_without_plugins(&[&["relocate", "/src/api", &self.new], more].concat())
    }
}

#[test]
fn sessions_follow_their_project() {
    let moved = Moved::new();
    let (env, new) = (&moved.env, &moved.new);
    let before = files(env);
    let times = state(env);
    let planned = moved.run(&["-n"]).status(0);
    assert_eq!(files(env), before);
    let run = moved.run(&[]).status(0);
    assert_eq!(planned.out(), run.out());
    assert!(
        run.stderr
            .contains(".codex/state_5.sqlite: not changed: database"),
        "{run}"
    );
    let after = files(env);
    let at = |path: &str| {
        after
            .get(path)
            .unwrap_or_else(|| panic!("{path}: {:?}", after.keys()))
    };
    let to = slug(new);
    let encoded = new.replace(' ', "%20");
    let session = before[&format!(".claude/projects/-src-api/{FIRST}.jsonl")]
        .replace("\"cwd\":\"/src/api\"", &format!("\"cwd\":\"{new}\""));
    assert_eq!(*at(&format!(".claude/projects/{to}/{FIRST}.jsonl")), session);
    assert!(session.contains("Is /src/api here?"));
    let profile = at(&format!(".claude/profiles/night/projects/{to}/{SECOND}.jsonl"));
    assert!(profile.contains(&format!("\"cwd\":\"{new}\"")), "{profile}");
    assert_eq!(
        at(&format!(".claude/projects/{to}/memory/MEMORY.md")),
        "at /src/api\n"
    );
    let spilled = at(&format!(".claude/projects/{to}/{FIRST}/subagents/agent-1.jsonl"));
    assert!(
        spilled.contains(&format!("/.claude/projects/{to}/{FIRST}/x.txt")),
        "{spilled}"
    );
    assert!(
        at(&format!(".claude/projects/{to}-web/{OTHER}.jsonl")).contains(&format!("\"cwd\":\"{new}/web\""))
    );
    assert_eq!(
        *at(".claude/history.jsonl"),
        format!(
            "{{\"project\":\"{new}\",\"display\":\"/src/api\"}}\nnot JSON: /src/api\n{{\"project\":\"/src/api_old\"}}\n"
        )
    );
    assert_eq!(
        *at(".claude.json"),
        format!("{{\n \"projects\": {{\"{new}\": {{\"a\": 1}}, \"/src/api-docs\": {{}}}}\n}}")
    );
    let codex = at(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-x.jsonl");
    assert!(
        codex.contains(&format!(
            "\"cwd\":\"{new}\"}}}}\n{{\"type\":\"event_msg\",\"payload\":{{\"cwd\":\"/src/api\""
        )),
        "{codex}"
    );
    assert!(codex.contains(&format!("\"cwd\" : \"{new}/web\" }}")), "{codex}");
    let pi = format!(".pi/agent/sessions/--{}--/t_p.jsonl", new[1..].replace('/', "-"));
    assert!(at(&pi).contains(&format!("\"cwd\":\"{new}\"")));
    assert_eq!(
        *at(".gemini/projects.json"),
        format!("{{\"projects\":{{\"{new}\":\"api\"}}}}")
    );
    assert_eq!(at(".gemini/tmp/api/.project_root"), new);
    assert_eq!(
        *at(".continue/sessions/sessions.json"),
        format!("[{{\"workspaceDirectory\":\"file://{encoded}\"}},{{\"workspaceDirectory\":\"{new}/web\"}}]")
    );
    for path in [
        &format!(".claude/projects/-src-api-docs/{SECOND}.jsonl"),
        ".codex/state_5.sqlite",
    ] {
        assert_eq!(after[path], before[path]);
    }
    assert_eq!(after.len(), before.len(), "{:?}", after.keys());
    // File times are preserved, because programs delete old sessions by time.
    let time = |states: &[(PathBuf, std::time::SystemTime, u64)], name: &str| {
        let (_, time, _) = states.iter().find(|(path, ..)| path.ends_with(name)).unwrap();
        *time
    };
    assert_eq!(
        time(&state(env), ".claude/history.jsonl"),
        time(&times, ".claude/history.jsonl")
    );
    // The sessions belong to the new directory.
    let listed = env
        .run(&["list", "--agents", "--project", new, "--columns", "name"])
        .fine();
    assert!(listed.out().contains(&format!("claude-code:{FIRST}")), "{listed}");
    moved.run(&[]).status(1);
    let run = env.run(&["relocate", "--undo", "-n"]).status(0);
    assert!(run.stderr.contains("would be /src/api again"), "{run}");
    assert_eq!(files(env), after);
    env.run(&["relocate", "--undo"]).status(0);
    assert_eq!(files(env), before);
    assert_eq!(
        time(&state(env), ".claude/history.jsonl"),
        time(&times, ".claude/history.jsonl")
    );
    env.run(&["relocate", "--undo"]).status(1);
}

#[test]
fn sessions_join_those_of_the_new_directory() {
    let moved = Moved::new();
    let (env, to) = (&moved.env, slug(&moved.new));
    let old = ".claude/projects/-src-api";
    // Another project with the same encoded name, and a session in the new directory.
    let other = claude(OTHER, "/src-api", "Another one.");
    put(env, format!("{old}/{OTHER}.jsonl"), &other, 3);
    put(env, format!(".claude/projects/{to}/{SECOND}.jsonl"), "{}\n", 3);
    let before = files(env);
    let run = moved.run(&["--json"]).status(0);
    assert!(
        run.stderr
            .contains("memory\",\"level\":\"note\",\"message\":\"not changed"),
        "{run}"
    );
    let pi = run
        .objects()
        .into_iter()
        .find(|row| row["program"] == "pi" && row["to"].is_null())
        .unwrap();
    assert_eq!((&pi["members"]["cwd"], &pi["written"]), (&1.into(), &true.into()));
    let after = files(env);
    assert_eq!(after[&format!("{old}/{OTHER}.jsonl")], other);
    assert!(after.contains_key(&format!("{old}/memory/MEMORY.md")));
    assert!(after.contains_key(&format!(".claude/projects/{to}/{FIRST}.jsonl")));
    let spilled = &after[&format!(".claude/projects/{to}/{FIRST}/subagents/agent-1.jsonl")];
    assert!(
        spilled.contains(&format!("/.claude/projects/{to}/{FIRST}/x.txt")),
        "{spilled}"
    );
    env.run(&["relocate", "--undo"]).status(0);
    assert_eq!(files(env), before);
    // A session that already exists there.
    put(env, format!(".claude/projects/{to}/{FIRST}.jsonl"), "{}\n", 3);
    let before = files(env);
    let run = moved.run(&[]).status(73);
    assert!(run.stderr.contains("already exists"), "{run}");
    assert_eq!(files(env), before);
}

#[test]
fn a_session_that_began_in_a_subdirectory_follows_its_project() {
    let moved = Moved::new();
    let (env, to) = (&moved.env, slug(&moved.new));
    let id = "5d1f0a4e-0000-4000-8000-00000000abcd";
    let path = |slug: &str| format!(".claude/projects/{slug}/{id}.jsonl");
    put(
        env,
        path("-src-api"),
        &claude(id, "/src/api/sub dir", "In a subdirectory."),
        3,
    );
    // Its directory has a name that no project with its working directory has.
    let odd = format!(".claude/projects/own-name/{SECOND}.jsonl");
    put(env, &odd, &claude(SECOND, "/src/api", "Elsewhere."), 3);
    let run = moved.run(&[]).status(0);
    run.says("its directory has the name of another project");
    let after = files(env);
    assert!(after[&path(&to)].contains(&format!("\"cwd\":\"{}/sub dir\"", moved.new)));
    assert!(after[&odd].contains(&format!("\"cwd\":\"{}\"", moved.new)));
    let listed = env.run(&["list", "--agents", "-q", "--columns", "resume"]).fine();
    let resume = format!("cd '{}' && claude --resume {id}", moved.new);
    assert!(
        listed.out().lines().any(|line| line == resume),
        "{resume}: {listed}"
    );
    let found = env
        .run(&["search", "--json", "-q", "In a subdirectory."])
        .fine()
        .objects();
    assert_eq!(found[0]["resume"], resume);
}

#[test]
fn nothing_changes_while_a_program_runs() {
    let moved = Moved::new();
    let env = &moved.env;
    let path = format!(".claude/projects/-src-api-docs/{SECOND}.jsonl");
    let text = std::fs::read_to_string(home(env).join(&path)).unwrap();
    put(env, &path, &text, 0);
    let before = files(env);
    let run = moved.run(&[]).status(75);
    assert!(run.stderr.contains("a change in the last 2 minutes"), "{run}");
    let process = std::process::id();
    put(
        env,
        ".claude/sessions/1.json",
        &format!("{{\"pid\":{process},\"sessionId\":\"{SECOND}\"}}"),
        3,
    );
    let run = moved.run(&["--force"]).status(75);
    assert!(run.stderr.contains("a living process"), "{run}");
    std::fs::remove_file(home(env).join(".claude/sessions/1.json")).unwrap();
    let own = home(env).join(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-x.jsonl");
    let writer = std::fs::File::options().append(true).open(own).unwrap();
    let run = moved.run(&["--force"]).status(75);
    assert!(run.stderr.contains("open for writing"), "{run}");
    drop(writer);
    assert_eq!(files(env), before);
    moved.run(&["--force"]).status(0);
    // Files that changed since are not restored.
    let to = format!(".claude/projects/{}/{FIRST}.jsonl", slug(&moved.new));
    let grown = files(env)[&to].clone() + "{}\n";
    put(env, &to, &grown, 3);
    let run = env.run(&["relocate", "--undo", "--force"]).status(75);
    assert!(run.stderr.contains("changed since"), "{run}");
    assert_eq!(files(env)[&to], grown);
}

#[test]
fn invalid_moves_are_refused() {
    let moved = Moved::new();
    let before = files(&moved.env);
    let refused = |arguments: &[&str], status: i32, why: &str| {
        let run = moved
            .env
            .run_without_plugins(&[&["relocate"], arguments].concat())
            .status(status);
        assert!(run.stderr.contains(why), "{run}");
    };
    let new = moved.new.as_str();
    refused(&["src/api", new], 2, "src/api: not an absolute path");
    refused(&["/src/../api", new], 2, "not an absolute path");
    refused(&["/src/api/", "/src/api"], 2, "the same");
    refused(&["/", new], 2, "not a project");
    refused(&[home(&moved.env).to_str().unwrap(), new], 2, "not a project");
    refused(&["/src/api", "/nowhere/api"], 66, "no such directory");
    refused(&["/src/other", new], 1, "/src/other: no session of this project");
    refused(
        &["/src/api", new, "--program", "codx"],
        2,
        "did you mean 'codex'?",
    );
    refused(&["--undo", "/src/api", new], 2, "cannot be used with");
    refused(&["--undo"], 1, "nothing to undo");
    put(
        &moved.env, ".gemini/projects.json", "{\"projects\":{\"/src/api\":", 3,
    );
    refused(
        &["/src/api", new],
        65,
        "projects.json:1: byte 0: not a JSON document",
    );
    put(
        &moved.env,
        ".gemini/projects.json",
        &before[".gemini/projects.json"],
        3,
    );
    assert_eq!(files(&moved.env), before);
    let run = moved.run(&["-n", "--program", "pi"]).status(0);
    assert!(run.out().lines().all(|line| line.starts_with("pi\t")), "{run}");
}

/// The documented members of the sample data change, and nothing else.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn homes_change_as_expected() {
    let sample = Sample::new();
    let new = sample.env.root().join("work/api");
    std::fs::create_dir_all(&new).unwrap();
    let known = &sample.truth["relocate"];
    let old = known["old"].as_str().unwrap();
    let before = files(&sample.env);
    let run = sample.run(&["relocate", old, new.to_str().unwrap()]).status(0);
    let after = files(&sample.env);
    let (from, to) = (slug(old), slug(new.to_str().unwrap()));
    let planned = slug(known["new"].as_str().unwrap());
    for path in known["rewritten"].as_object().unwrap().keys() {
        let is_database = Path::new(path)
            .extension()
            .is_some_and(|ending| ending == "db" || ending == "sqlite");
        if is_database {
            // The plugin's tests cover changes of databases.
            let is_reported = run.stderr.contains(&format!("{path}: not changed: database"));
            assert!(is_reported || after[path] != before[path], "{path}: {run}");
            continue;
        }
        let path = path.replace(&planned, &to);
        let fits = |name: &&String| {
            let (mut parts, mut names) = (path.split('/'), name.split('/'));
            let fits = |(part, name): (&str, &str)| match part.split_once('*') {
                Some((start, end)) => name.starts_with(start) && name.ends_with(end),
                None => part == name,
            };
            path.split('/').count() == name.split('/').count() && parts.by_ref().zip(names.by_ref()).all(fits)
        };
        let found: Vec<&String> = after.keys().filter(fits).collect();
        assert!(!found.is_empty(), "{path}");
        for name in found {
            assert_ne!(
                after[name],
                *before.get(&name.replace(&to, &from)).unwrap(),
                "{name}"
            );
        }
    }
    for start in known["must_stay"].as_array().unwrap() {
        let start = start.as_str().unwrap();
        for (name, text) in before.iter().filter(|(name, _)| name.starts_with(start)) {
            assert_eq!(after.get(name), Some(text), "{name}");
        }
    }
    sample.run(&["relocate", "--undo"]).status(0);
    assert_eq!(files(&sample.env), before);
}

/// The manifest of a Cline session has its directory; subagents of Qwen Code are in files of their own.
#[test]
fn manifests_and_subagents_follow_their_project() {
    let env = Env::new();
    let new = env.root().join("work").join("new");
    std::fs::create_dir_all(&new).unwrap();
    let new = new.to_str().unwrap();
    let dir = ".cline/data/sessions/s1";
    let manifest = r#"{"session_id":"s1","cwd":"/src/api","workspace_root":"/src","status":"completed","prompt":"/src/api"}"#;
    put(&env, format!("{dir}/s1.json"), manifest, 3);
    let messages = r#"{"version":1,"sessionId":"s1","agent":"lead","messages":[{"id":"m","role":"user","content":[{"type":"text","text":"/src/api"}]}],"cwd":"/src/api"}"#;
    put(&env, format!("{dir}/s1.messages.json"), messages, 3);
    // Another program is writing it.
    put(
        &env,
        ".cline/data/sessions/s2/s2.messages.json",
        "{\"cwd\":\"/src/api\",",
        3,
    );
    let line = |id: &str, cwd: &str| {
        format!(
            "{{\"uuid\":\"q1\",\"parentUuid\":null,\"sessionId\":\"{id}\",\"timestamp\":\"2026-11-01T10:00:00Z\",\"type\":\"user\",\"cwd\":\"{cwd}\",\"version\":\"0.22.0\",\"message\":{{\"role\":\"user\",\"parts\":[{{\"text\":\"Hello\"}}]}}}}\n"
        )
    };
    let qwen = ".qwen/projects/-src-api";
    put(
        &env,
        format!("{qwen}/chats/{FIRST}.jsonl"),
        &line(FIRST, "/src/api"),
        3,
    );
    put(
        &env,
        format!("{qwen}/subagents/{FIRST}/agent-1.jsonl"),
        &line(FIRST, "/src/api"),
        3,
    );
    let before = files(&env);
    env.run(&["relocate", "/src/api", new]).status(0);
    let after = files(&env);
    let expected = manifest.replacen("/src/api", new, 1);
    assert_eq!(after[&format!("{dir}/s1.json")], expected);
    assert_eq!(after[&format!("{dir}/s1.messages.json")], messages);
    let moved = format!(".qwen/projects/{}", slug(new));
    assert_eq!(
        after[&format!("{moved}/subagents/{FIRST}/agent-1.jsonl")],
        line(FIRST, new)
    );
    env.run(&["relocate", "--undo"]).status(0);
    assert_eq!(files(&env), before);
    // Another project has the same name in this program, so that each session moves alone.
    let other = format!("{qwen}/chats/{SECOND}.jsonl");
    put(&env, &other, &line(SECOND, "/src-api"), 3);
    put(
        &env,
        format!("{qwen}/subagents/{SECOND}/agent-2.jsonl"),
        &line(SECOND, "/src-api"),
        3,
    );
    let before = files(&env);
    env.run(&["relocate", "/src/api", new]).status(0);
    let after = files(&env);
    assert_eq!(
        after[&format!("{moved}/subagents/{FIRST}/agent-1.jsonl")],
        line(FIRST, new)
    );
    assert_eq!(
        after[&format!("{qwen}/subagents/{SECOND}/agent-2.jsonl")],
        line(SECOND, "/src-api")
    );
    env.run(&["relocate", "--undo"]).status(0);
    assert_eq!(files(&env), before);
}

/// A dry run reports what the run itself would refuse.
#[test]
fn a_dry_run_refuses_a_running_session() {
    let moved = Moved::new();
    let env = &moved.env;
    let planned = moved.run(&["-n"]).status(0);
    let path = format!(".claude/projects/-src-api/{FIRST}.jsonl");
    put(env, &path, &files(env)[&path], 0);
    let before = files(env);
    let run = moved
        .run(&["-n"])
        .status(75)
        .says("a change in the last 2 minutes");
    assert_eq!(run.out(), planned.out());
    moved.run(&["-n", "--force"]).status(0);
    let mark = format!("{{\"pid\":{},\"sessionId\":\"{FIRST}\"}}", std::process::id());
    put(env, ".claude/sessions/1.json", &mark, 3);
    moved.run(&["-n", "--force"]).status(75).says("a living process");
    std::fs::remove_file(home(env).join(".claude/sessions/1.json")).unwrap();
    assert_eq!(files(env), before);
    moved.run(&["--force"]).status(0);
    put(env, ".claude/sessions/1.json", &mark, 3);
    env.run(&["relocate", "--undo", "-n"])
        .status(75)
        .says("a living process")
        .says("would be");
}

/// Any journal can be undone while its files are unchanged, not only the last one.
#[test]
fn an_earlier_relocation_is_undone_by_its_journal() {
    let moved = Moved::new();
    let env = &moved.env;
    put(
        env,
        ".pi/agent/sessions/--src-other--/t_o.jsonl",
        "{\"type\":\"session\",\"version\":3,\"id\":\"o\",\"cwd\":\"/src/other\"}\n",
        3,
    );
    let before = files(env);
    moved.run(&[]).status(0);
    let after = files(env);
    let other = env.root().join("work/other");
    std::fs::create_dir(&other).unwrap();
    env.run(&["relocate", "/src/other", other.to_str().unwrap()])
        .status(0);
    let dir = env.root().join("home/.local/state/convo/relocate");
    let dir = [dir, env.root().join("state/convo/relocate")]
        .into_iter()
        .find(|dir| dir.exists())
        .unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".journal"))
        .collect();
    names.sort();
    assert_eq!(names.len(), 2);
    env.run(&["relocate", "--undo", "20200101T000000Z-000"])
        .status(66)
        .says(&format!("journals: {}", names[0].trim_end_matches(".journal")));
    let path = dir.join(&names[0]);
    env.run(&["relocate", "--undo", path.to_str().unwrap()]).status(0);
    let undone = files(env);
    let is_of_project = |name: &&String| !name.contains("other");
    assert!(
        undone
            .keys()
            .filter(is_of_project)
            .eq(before.keys().filter(is_of_project))
    );
    env.run(&["relocate", "--undo"]).status(0);
    assert_eq!(files(env), before);
    assert_ne!(after, before);
}
