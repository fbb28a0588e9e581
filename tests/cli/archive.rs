//! `archive`: copies of the sessions of other programs.

use crate::agents::{FIRST, OTHER, SECOND, claude, home, homes, put};
use crate::env::{Env, Run};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DIR: &str = ".claude/projects/-src-a-b--c";

fn archive(env: &Env, more: &[&str]) -> Run {
    env.run(&[&["archive", "--to", "kept"], more].concat())
}

/// The outcome of each session.
fn outcomes(run: &Run) -> Vec<(String, String)> {
    let rows = run.out().lines().map(|line| {
        let mut cells = line.split('\t').map(str::to_string);
        (cells.next().unwrap(), cells.next().unwrap())
    });
    rows.collect()
}

/// The files below a directory, by path.
fn tree(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false => found.push((
                    path.strip_prefix(root).unwrap().to_path_buf(),
                    std::fs::read(&path).unwrap(),
                )),
            }
        }
    }
    found.sort();
    found
}

fn copy(env: &Env, program: &str, id: &str, version: u32, path: impl AsRef<Path>) -> Option<String> {
    let place = env.work().join(format!("kept/{program}/{id}/{version}"));
    std::fs::read_to_string(place.join(path)).ok()
}

#[test]
fn every_file_is_copied_once() {
    let env = homes();
    put(&env, ".claude/history.jsonl", "{}\n", 1);
    let dry = archive(&env, &["-n"]).fine();
    assert!(!env.work().join("kept").exists());
    let run = archive(&env, &[]).fine();
    assert_eq!(run.out(), dry.out());
    let expected = [
        ("new", format!("claude-code:{FIRST}")),
        ("new", format!("claude-code:{SECOND}")),
        ("new", format!("claude-code:{OTHER}")),
        ("new", "claude-code/shared".to_string()),
        ("new", "openclaw:c0ffee".to_string()),
        ("new", format!("pi:{OTHER}")),
    ];
    let expected = expected.map(|(word, name)| (word.to_string(), name));
    assert_eq!(outcomes(&run), expected);
    let copies: Vec<Vec<u8>> = tree(&env.work().join("kept"))
        .into_iter()
        .filter(|(path, _)| !path.ends_with("manifest.jsonl"))
        .map(|(_, bytes)| bytes)
        .collect();
    let mut files: Vec<Vec<u8>> = tree(&home(&env)).into_iter().map(|(_, bytes)| bytes).collect();
    files.retain(|bytes| !copies.contains(bytes));
    assert_eq!(files, [b""; 0], "a file is not copied");
    let state = tree(&env.work().join("kept"));
    let run = archive(&env, &[]).fine();
    assert_eq!((run.out(), run.stderr.as_str()), ("", ""));
    let run = archive(&env, &["-v"]).fine();
    assert!(outcomes(&run).iter().all(|(word, _)| word == "same"), "{run}");
    assert_eq!(tree(&env.work().join("kept")), state);
}

/// A later run compares sizes and times; only --verify compares all bytes.
#[test]
fn a_second_run_reads_no_content_and_verify_reads_all() {
    let env = homes();
    let path = format!("{DIR}/{FIRST}.jsonl");
    let text = claude(FIRST, "/src/a b#c", "Who holds the lease?");
    assert!(archive(&env, &["-q"]).fine().out().is_empty());
    let run = archive(&env, &["--verify"]).fine();
    assert_eq!(run.out(), "");
    put(&env, &path, &text.replace("Who", "Now"), 3);
    let run = archive(&env, &[]).fine();
    assert_eq!(run.out(), "");
    let run = archive(&env, &["--verify"]);
    assert_eq!(run.status, 1);
    assert_eq!(run.out(), format!("differs\tclaude-code:{FIRST} ~/{path}\t-\n"));
    put(&env, &path, &text, 3);
    put(&env, format!("{DIR}/{FIRST}/tool-results/new.txt"), "x", 3);
    let run = archive(&env, &["--verify", "--json"]);
    assert_eq!(run.status, 1);
    let row = run.objects().remove(0);
    assert_eq!(
        (row["outcome"].as_str(), row["files"][0]["problem"].as_str()),
        (Some("differs"), Some("missing"))
    );
}

#[test]
fn verify_finds_every_flipped_bit() {
    let env = Env::new();
    put(&env, format!("{DIR}/{FIRST}.jsonl"), "{\"a\":1}\n", 3);
    assert_eq!(archive(&env, &["-q"]).status, 0);
    let path = env.work().join(format!(
        "kept/claude-code/{FIRST}/1/projects/-src-a-b--c/{FIRST}.jsonl"
    ));
    let bytes = std::fs::read(&path).unwrap();
    for nth in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[nth] ^= 1 << (nth % 8);
        std::fs::write(&path, &damaged).unwrap();
        let run = archive(&env, &["--verify"]);
        assert_eq!(run.status, 1, "byte {nth}: {run}");
        assert!(run.out().starts_with("damaged\t"), "{run}");
    }
    std::fs::write(&path, &bytes[1..]).unwrap();
    assert_eq!(archive(&env, &["--verify"]).status, 1);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(archive(&env, &["--verify"]).status, 1);
}

#[test]
fn growth_is_appended_and_a_rewrite_is_a_new_version() {
    let env = Env::new();
    let path = format!("{DIR}/{FIRST}.jsonl");
    let below = format!("projects/-src-a-b--c/{FIRST}.jsonl");
    let copy = |version| copy(&env, "claude-code", FIRST, version, &below);
    let run = |expected: &str, bytes: usize| {
        let run = archive(&env, &[]).fine();
        assert_eq!(run.out(), format!("{expected}\tclaude-code:{FIRST}\t{bytes}\n"));
    };
    put(&env, &path, "one\ntw", 9);
    run("new", 6);
    put(&env, &path, "one\ntwo\n", 8);
    run("grown", 2);
    assert_eq!(copy(1).as_deref(), Some("one\ntwo\n"));
    put(&env, &path, "one\nTWO\nthree\n", 7);
    run("diverged", 14);
    put(&env, &path, "one\n", 6);
    run("diverged", 4);
    put(&env, &path, "one\nmore\n", 5);
    run("grown", 5);
    let versions = [copy(1), copy(2), copy(3), copy(4)];
    let expected = [
        Some("one\ntwo\n"),
        Some("one\nTWO\nthree\n"),
        Some("one\nmore\n"),
        None,
    ];
    assert_eq!(versions, expected.map(|text| text.map(str::to_string)));
    std::fs::remove_file(home(&env).join(&path)).unwrap();
    run("gone", 0);
    assert_eq!(archive(&env, &[]).fine().out(), "");
    put(&env, &path, "one\nmore\n", 4);
    assert_eq!(archive(&env, &[]).fine().out(), "");
    assert_eq!(copy(3).as_deref(), Some("one\nmore\n"));
    assert_eq!(archive(&env, &["--verify"]).status, 0);
}

/// Bytes after the committed length were written by an interrupted run.
#[test]
fn uncommitted_bytes_are_truncated() {
    let env = Env::new();
    let path = format!("{DIR}/{FIRST}.jsonl");
    let place = env.work().join(format!("kept/claude-code/{FIRST}"));
    let own = place.join(format!("1/projects/-src-a-b--c/{FIRST}.jsonl"));
    put(&env, &path, "one\n", 9);
    assert_eq!(archive(&env, &["-q"]).status, 0);
    std::fs::write(&own, "one\nhalf a li").unwrap();
    let manifest = place.join("manifest.jsonl");
    let lines = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, format!("{lines}{{\"at\":\"2026")).unwrap();
    put(&env, &path, "one\ntwo\n", 8);
    assert_eq!(archive(&env, &["-q"]).status, 0);
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "one\ntwo\n");
    assert_eq!(archive(&env, &["--verify"]).status, 0);
}

#[test]
fn a_longer_document_replaces_its_copy() {
    let env = Env::new();
    let id = "6b21fe4d-ed91-4e99-853e-81590a73845c";
    let path = format!(".continue/sessions/{id}.json");
    let document = |title: &str, messages: &[&str]| {
        let history: Vec<_> = messages
            .iter()
            .map(|text| serde_json::json!({"content": text}))
            .collect();
        serde_json::json!({"title": title, "history": history}).to_string()
    };
    let copy = |version| copy(&env, "continue", id, version, format!("{id}.json"));
    put(&env, &path, &document("a", &["one"]), 9);
    assert_eq!(archive(&env, &["-q"]).status, 0);
    put(&env, &path, &document("b", &["one", "two"]), 8);
    let run = archive(&env, &[]).fine();
    assert!(run.out().starts_with("grown\t"), "{run}");
    assert_eq!((copy(1), copy(2)), (None, Some(document("b", &["one", "two"]))));
    put(&env, &path, &document("b", &["ONE", "two", "three"]), 7);
    let run = archive(&env, &[]).fine();
    assert!(run.out().starts_with("diverged\t"), "{run}");
    assert!(copy(2).is_some() && copy(3).is_some());
    assert_eq!(archive(&env, &["--verify"]).status, 0);
}

#[test]
fn links_pipes_and_loops_are_reported_and_skipped() {
    let env = homes();
    let dir = home(&env).join(DIR);
    std::os::unix::fs::symlink("/etc/passwd", dir.join(format!("{FIRST}/link.txt"))).unwrap();
    std::os::unix::fs::symlink("loop", home(&env).join(".claude/projects/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("dead0000.jsonl")).unwrap();
    let pipe = dir.join("pipe.jsonl");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let run = archive(&env, &[]);
    assert_eq!(run.status, 74, "{run}");
    for name in [
        "link.txt: symbolic link",
        "projects/loop",
        "dead0000",
        "pipe.jsonl: not a regular file",
    ] {
        assert!(run.stderr.contains(name), "{name}: {run}");
    }
    assert!(
        outcomes(&run).contains(&("new".to_string(), format!("claude-code:{FIRST}"))),
        "{run}"
    );
    let all = tree(&env.work().join("kept"));
    assert!(
        all.iter()
            .all(|(_, bytes)| !bytes.windows(5).any(|part| part == b"root:")),
        "a link was followed"
    );
    // Nothing counts as gone while a part of the home is unreadable.
    std::fs::remove_file(dir.join(format!("{SECOND}.jsonl"))).unwrap();
    assert!(!archive(&env, &[]).out().contains("gone"));
}

#[test]
fn a_home_that_is_a_file_and_one_that_is_busy_have_a_status() {
    let env = homes();
    put(&env, ".codex", "no directory", 1);
    let run = archive(&env, &[]);
    assert_eq!(run.status, 74, "{run}");
    assert!(
        run.stderr.contains(".codex: not a directory") && run.out().contains("new\tpi:"),
        "{run}"
    );
    let dir = std::fs::File::open(env.work().join("kept")).unwrap();
    dir.lock().unwrap();
    let run = archive(&env, &["--lock-timeout", "10ms"]);
    assert_eq!(run.status, 75, "{run}");
}

/// A program appends all the time; each copy equals the file at some moment.
#[test]
fn a_file_that_grows_is_copied_as_far_as_it_was() {
    let env = Env::new();
    let path = put(&env, format!("{DIR}/{FIRST}.jsonl"), "0\n", 0);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::io::Write;
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            for nth in 1..100_000 {
                writeln!(file, "{nth}").unwrap();
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..4 {
            let run = archive(&env, &["-q"]);
            assert_eq!(run.status, 0, "{run}");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let text = std::fs::read_to_string(&path).unwrap();
    let below = format!("projects/-src-a-b--c/{FIRST}.jsonl");
    let own = copy(&env, "claude-code", FIRST, 1, &below).unwrap();
    assert!(text.starts_with(&own) && own.len() > 1);
    assert!(copy(&env, "claude-code", FIRST, 2, &below).is_none());
}

#[test]
fn a_deleted_session_is_restored_from_the_archive() {
    let env = homes();
    let before = tree(&home(&env));
    assert_eq!(archive(&env, &["-q"]).status, 0);
    for program in [".claude/projects", ".pi/agent/sessions"] {
        for project in std::fs::read_dir(home(&env).join(program)).unwrap() {
            std::fs::remove_dir_all(project.unwrap().path()).unwrap();
        }
    }
    let without = tree(&home(&env));
    assert_eq!(archive(&env, &[]).fine().out().matches("gone\t").count(), 4);
    let names = [
        &format!("claude:{FIRST}"),
        "claude:5d1f0a4e-0000-4000-8000-000000000002",
        "claude:77aa",
        "pi:77aa",
    ];
    let back = |more: &[&str]| archive(&env, &[&["--give-back"], &names[..], more].concat());
    let dry = back(&["-n"]).fine();
    assert_eq!(tree(&home(&env)), without);
    let run = back(&["--keep-times"]).fine();
    assert_eq!((run.out(), run.out().matches("back\t").count()), (dry.out(), 4));
    assert_eq!(tree(&home(&env)), before);
    let run = back(&[]).fine();
    assert_eq!(run.out(), "", "equal files are left as they are");
    assert_eq!(
        archive(&env, &["--give-back", "any:77aa"]).status,
        66,
        "two programs have the id"
    );
    for (name, status) in [("claude:0000", 66), ("claude:@last", 2), ("trip", 2)] {
        let run = archive(&env, &["--give-back", name]);
        assert_eq!(run.status, status, "{run}");
    }
}

#[test]
fn a_deleted_session_is_read_from_the_archive() {
    let env = homes();
    let name = &format!("claude:{FIRST}");
    let shown = env.run(&["cat", name]).fine().out().to_string();
    assert_eq!(env.run(&["archive", "-q"]).status, 0);
    let searched = |status: i32| env.run(&["search", "-l", "holds the lease"]).status(status);
    assert_eq!(searched(0).out(), format!("claude-code:{FIRST}\n"), "once");
    std::fs::remove_dir_all(home(&env).join(".claude/projects")).unwrap();
    std::fs::create_dir(home(&env).join(".claude/projects")).unwrap();
    let run = env
        .run(&["cat", "claude:5d1f0a4e-0000-4000-8000-000000000001"])
        .status(0);
    assert_eq!(run.out(), shown);
    assert_eq!(
        run.stderr
            .matches("deleted by its program; read from the archive")
            .count(),
        1,
        "{run}"
    );
    assert_eq!(searched(0).out(), format!("claude-code:{FIRST}\n"));
    assert_eq!(
        env.run(&["search", "-l", "--program", "pi", "holds the lease"])
            .status,
        1
    );
    let kept = tree(&env.root().join("data/convo-archive"));
    for arguments in [
        &["truncate", "-i", "--keep-last", "1"][..],
        &["slim", "-i"],
        &["redact", "-i"],
    ] {
        let run = env.run(&[arguments, &[name]].concat()).status(77);
        assert!(
            run.stderr.contains("a copy in the archive is never changed"),
            "{run}"
        );
    }
    assert_eq!(tree(&env.root().join("data/convo-archive")), kept);
    let run = env.run(&["show", "claude:0000"]).status(66);
    assert!(run.stderr.contains("no such session"), "{run}");
}

#[test]
fn a_name_means_the_archived_session_and_not_its_subagent() {
    let env = homes();
    let dir = home(&env).join(DIR);
    std::fs::remove_file(dir.join(format!("{SECOND}.jsonl"))).unwrap();
    // The subagent is the last one in the manifest.
    let agent = dir.join(format!("{FIRST}/subagents/agent-12ab.jsonl"));
    let text = std::fs::read_to_string(&agent).unwrap();
    std::fs::remove_file(&agent).unwrap();
    env.run(&["archive", "-q"]).status(0);
    put(&env, agent.strip_prefix(home(&env)).unwrap(), &text, 3);
    env.run(&["archive", "-q"]).status(0);
    let title = |name: &str| env.run(&["title", name]).status(0).out().trim().to_string();
    let session = &format!("claude:{FIRST}");
    let subagent = &format!("{session}.agent-12ab");
    let expected = ["Who holds the lease?", "Look into lease.rs"];
    std::fs::remove_file(dir.join(format!("{FIRST}.jsonl"))).unwrap();
    // A prefix means what the whole id means.
    for name in [session, &session[..session.len() - 1]] {
        assert_eq!([title(name), title(subagent)], expected, "{name}");
    }
    std::fs::remove_file(agent).unwrap();
    assert_eq!([title(session), title(subagent)], expected);
    let run = env
        .run(&["search", "-c", "--program", "claude", "lease"])
        .status(0);
    let mut lines: Vec<&str> = run.out().lines().collect();
    lines.sort();
    let name = format!("claude-code:{FIRST}");
    assert_eq!(lines, [format!("{name}\t2"), format!("{name}.agent-12ab\t2")]);
}

#[test]
fn a_moved_session_is_restored_to_its_last_place() {
    let env = homes();
    env.run(&["archive", "-q"]).status(0);
    let [old, new] = [
        format!("{DIR}/{FIRST}.jsonl"),
        format!(".claude/projects/-new/{FIRST}.jsonl"),
    ];
    let [old, new] = [old, new].map(|path| home(&env).join(path));
    std::fs::create_dir(new.parent().unwrap()).unwrap();
    std::fs::rename(&old, &new).unwrap();
    env.run(&["archive", "-q"]).status(0);
    std::fs::remove_file(&new).unwrap();
    let found = || {
        env.run(&["search", "-c", "holds the lease"])
            .status(0)
            .out()
            .to_string()
    };
    assert_eq!(found(), format!("claude-code:{FIRST}\t1\n"));
    env.run(&["archive", "-q"]).status(0);
    assert_eq!(found(), format!("claude-code:{FIRST}\t1\n"));
    env.run(&["archive", "--give-back", &format!("claude:{FIRST}")])
        .status(0);
    assert!(new.exists() && !old.exists());
}

#[test]
fn two_files_of_one_session_are_both_restored() {
    let env = homes();
    let paths = [DIR, ".claude/projects/-new"].map(|dir| format!("{dir}/{FIRST}.jsonl"));
    let text = std::fs::read_to_string(home(&env).join(&paths[0])).unwrap();
    put(&env, &paths[1], text.replace("lease", "copy").as_str(), 3);
    let archive_at = |time: &str| {
        let mut command = env.command(&["archive", "-q"]);
        command.env("CONVO_NOW", time);
        env.wait(command).status(0);
    };
    archive_at("2026-11-20T19:00:00Z");
    let paths = paths.map(|path| home(&env).join(path));
    paths.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    archive_at("2026-11-20T20:00:00Z");
    env.run(&["archive", "--give-back", &format!("claude:{FIRST}")])
        .status(0);
    assert_eq!(paths.map(|path| path.exists()), [true, true]);
}

#[test]
fn restoring_replaces_no_other_or_running_session() {
    let env = homes();
    let path = format!("{DIR}/{FIRST}.jsonl");
    assert_eq!(archive(&env, &["-q"]).status, 0);
    let name = format!("claude:{FIRST}");
    let sidecar = home(&env).join(format!("{DIR}/{FIRST}/subagents/agent-12ab.jsonl"));
    std::fs::remove_file(&sidecar).unwrap();
    put(&env, &path, "another\n", 3);
    let run = archive(&env, &["--give-back", &name]);
    assert_eq!(run.status, 73, "{run}");
    assert!(run.stderr.contains("exists with other content") && !sidecar.exists());
    std::fs::remove_file(home(&env).join(&path)).unwrap();
    let mark = format!("{{\"pid\":{},\"sessionId\":\"{FIRST}\"}}", std::process::id());
    put(&env, ".claude/sessions/1.json", &mark, 3);
    let run = archive(&env, &["--give-back", &name]);
    assert_eq!(run.status, 75, "{run}");
    assert!(!sidecar.exists());
    put(&env, ".claude/sessions/1.json", "{\"pid\":999999999}", 3);
    assert_eq!(archive(&env, &["--give-back", &name]).status, 0);
    let time = std::fs::metadata(home(&env).join(&path))
        .unwrap()
        .modified()
        .unwrap();
    assert!(time > SystemTime::now() - Duration::from_secs(600));
    // Equal files of a session that may be running.
    put(&env, ".claude/sessions/1.json", &mark, 3);
    let run = archive(&env, &["--give-back", &name]).fine();
    assert_eq!(run.out(), "");
}

/// A subagent writes into the directory of its session, which is given back with all its files.
#[test]
fn a_session_is_not_restored_while_its_subagent_runs() {
    let env = homes();
    assert_eq!(archive(&env, &["-q"]).status, 0);
    let dir = home(&env).join(format!("{DIR}/{FIRST}"));
    let path = home(&env).join(format!("{DIR}/{FIRST}.jsonl"));
    let name = format!("claude:{FIRST}");
    let agent = std::fs::read_to_string(dir.join("subagents/agent-12ab.jsonl")).unwrap();
    std::fs::remove_file(&path).unwrap();
    let own = format!("{DIR}/{FIRST}/subagents/agent-12ab.jsonl");
    put(&env, &own, &format!("{agent}{{}}\n"), 0);
    let run = archive(&env, &["--give-back", &name]);
    assert_eq!(run.status, 75, "{run}");
    assert!(
        run.stderr.contains("session is running") && !path.exists(),
        "{run}"
    );
    // The file of a subagent that an interrupted run restored.
    put(&env, &own, &agent, 0);
    assert_eq!(archive(&env, &["--give-back", &name]).status, 0);
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(archive(&env, &["--give-back", &name]).status, 0);
    let mode = |path: &Path| {
        let about = std::fs::metadata(path).unwrap();
        std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777
    };
    for dir in [dir.clone(), dir.join("subagents")] {
        assert_eq!(mode(&dir), 0o700, "{}", dir.display());
    }
    for file in [path, dir.join("subagents/agent-12ab.jsonl")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn damaged_copies_and_escaping_paths_are_not_restored() {
    let env = Env::new();
    put(&env, format!("{DIR}/{FIRST}.jsonl"), "one\n", 9);
    assert_eq!(archive(&env, &["-q"]).status, 0);
    std::fs::remove_dir_all(home(&env).join(".claude/projects/-src-a-b--c")).unwrap();
    let place = env.work().join(format!("kept/claude-code/{FIRST}"));
    let name = format!("claude:{FIRST}");
    let manifest = place.join("manifest.jsonl");
    let lines = std::fs::read_to_string(&manifest).unwrap();
    let own = place.join(format!("1/projects/-src-a-b--c/{FIRST}.jsonl"));
    std::fs::write(&own, "two\n").unwrap();
    assert_eq!(archive(&env, &["--give-back", &name]).status, 65);
    std::fs::write(&own, "one\n").unwrap();
    // Without the checksum, the line is one of an earlier version.
    let body = lines.split(",\"_crc\"").next().unwrap();
    let escaping = format!("{}}}\n", body.replace("projects/-src-a-b--c/", "../../../"));
    std::fs::write(&manifest, escaping).unwrap();
    let run = archive(&env, &["--give-back", &name]);
    assert!(run.status != 0 && run.stderr.contains("unsafe path"), "{run}");
    std::fs::write(&manifest, format!("damaged\n{lines}")).unwrap();
    let run = archive(&env, &["--give-back", &name]);
    assert_eq!(run.status, 65, "{run}");
    put(&env, format!("{DIR}/{SECOND}.jsonl"), "two\n", 9);
    let run = archive(&env, &[]);
    assert_eq!(run.status, 65, "{run}");
    assert!(run.out().contains(&format!("new\tclaude-code:{SECOND}")), "{run}");
}

#[test]
fn sessions_are_selected_and_targets_checked() {
    let env = homes();
    let run = archive(&env, &["--project", "/src/api", "-n"]).fine();
    let names: Vec<String> = outcomes(&run).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, [format!("claude-code:{SECOND}"), format!("pi:{OTHER}")]);
    let run = archive(&env, &["--program", "pi", "-n"]).fine();
    assert_eq!(outcomes(&run).len(), 1);
    assert_eq!(archive(&env, &["--program", "clause"]).status, 2);
    assert_eq!(archive(&env, &["--verify"]).status, 66);
    let inside = home(&env).join(".claude/projects/kept");
    let around = home(&env);
    for place in [&inside, &around] {
        let run = env.run(&["archive", "--to", place.to_str().unwrap()]);
        assert_eq!(run.status, 77, "{run}");
    }
    // By default, next to the store.
    assert_eq!(env.run(&["archive", "-q"]).status, 0);
    assert!(env.root().join("data/convo-archive/pi").is_dir());
}

#[test]
fn names_that_are_not_utf8_are_preserved() {
    let env = Env::new();
    let name = std::ffi::OsStr::from_bytes(b"a b#\xff.yaml");
    let dir = Path::new("../config/aichat/sessions");
    let path = put(&env, dir.join(name), "model: x\n", 3);
    put(&env, dir.join("shared.yaml"), "model: y\n", 3);
    assert_eq!(archive(&env, &["-q"]).status, 0);
    std::fs::remove_file(&path).unwrap();
    let run = archive(&env, &["--give-back", "aichat:a b#\u{fffd}", "aichat:shared"]).fine();
    assert_eq!(run.out().matches("back\t").count(), 1, "{run}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "model: x\n");
}

/// The home has the bytes that a copy lost; without a repair, the loss is found only after the program deletes the session.
#[test]
fn missing_and_damaged_copies_are_repaired() {
    let env = homes();
    let path = format!("{DIR}/{FIRST}.jsonl");
    let text = claude(FIRST, "/src/a b#c", "Who holds the lease?");
    assert!(archive(&env, &["-q"]).fine().out().is_empty());
    let place = env.work().join("kept");
    let own = place.join(format!(
        "claude-code/{FIRST}/1/projects/-src-a-b--c/{FIRST}.jsonl"
    ));
    let before: Vec<_> = tree(&place)
        .into_iter()
        .filter(|(path, _)| !path.ends_with("manifest.jsonl"))
        .collect();
    let is_mended = || {
        let copies: Vec<_> = tree(&place)
            .into_iter()
            .filter(|(path, _)| !path.ends_with("manifest.jsonl"))
            .collect();
        copies == before && archive(&env, &["--verify"]).fine().out().is_empty()
    };
    let repaired = format!("repaired\tclaude-code:{FIRST}\t{}\n", text.len());
    let cut = &text.as_bytes()[1..];
    let damages: [&dyn Fn(); 3] = [
        &|| std::fs::remove_file(&own).unwrap(),
        &|| std::fs::write(&own, cut).unwrap(),
        &|| std::fs::write(&own, "").unwrap(),
    ];
    for damage in damages {
        damage();
        let dry = archive(&env, &["-n"]).fine();
        let run = archive(&env, &[]).fine();
        assert_eq!((run.out(), dry.out()), (repaired.as_str(), repaired.as_str()));
        assert!(is_mended());
        assert_eq!(archive(&env, &[]).fine().out(), "");
    }
    // A flipped bit keeps the length.
    std::fs::write(&own, text.replace("lease", "leash")).unwrap();
    assert_eq!(archive(&env, &[]).fine().out(), "");
    assert_eq!(archive(&env, &["--verify"]).status, 1);
    let run = archive(&env, &["--repair", "--json"]).fine();
    assert_eq!(run.objects()[0]["outcome"], "repaired");
    assert!(is_mended());
    assert_eq!(archive(&env, &["--repair", "--verify"]).status, 2);
    // A whole directory, and a file that has grown since.
    std::fs::remove_dir_all(place.join(format!("claude-code/{FIRST}/1"))).unwrap();
    put(&env, &path, &format!("{text}{{}}\n"), 3);
    let run = archive(&env, &[]).fine();
    assert!(
        run.out().starts_with(&format!("repaired\tclaude-code:{FIRST}\t")),
        "{run}"
    );
    assert_eq!(archive(&env, &["--verify"]).fine().out(), "");
    // A home without these bytes changes no copy.
    std::fs::write(&own, cut).unwrap();
    put(&env, &path, "another\n", 2);
    let run = archive(&env, &[]).fine();
    assert!(run.out().starts_with("diverged\t"), "{run}");
    assert_eq!(std::fs::read(&own).unwrap(), cut);
    assert_eq!(archive(&env, &["--verify"]).status, 1);
}

/// Nothing can repair such a copy, so an ordinary run must not be silent about it.
#[test]
fn a_damaged_copy_whose_original_is_gone_is_reported_by_every_run() {
    let env = homes();
    let path = format!("{DIR}/{FIRST}.jsonl");
    let text = claude(FIRST, "/src/a b#c", "Who holds the lease?");
    assert_eq!(archive(&env, &["-q"]).status, 0);
    let below = format!("kept/claude-code/{FIRST}/1/projects/-src-a-b--c/{FIRST}.jsonl");
    let own = env.work().join(&below);
    std::fs::remove_file(home(&env).join(&path)).unwrap();
    assert!(archive(&env, &[]).fine().out().starts_with("gone\t"));
    let is_reported = |arguments: &[&str]| {
        let run = archive(&env, arguments);
        assert_eq!(run.status, 65, "{run}");
        let what = format!("{below}: damaged copy, and its original is gone");
        assert!(run.stderr.contains(&what), "{run}");
    };
    let damages: [&dyn Fn(); 2] = [&|| std::fs::write(&own, &text.as_bytes()[1..]).unwrap(), &|| {
        std::fs::remove_file(&own).unwrap()
    }];
    for damage in damages {
        damage();
        for arguments in [&["-q"][..], &[], &["-n"], &["--repair"]] {
            is_reported(arguments);
        }
    }
    let failed = archive(&env, &[]);
    assert_eq!(failed.out(), format!("failed\tclaude-code:{FIRST}\t0\n"));
    // A flipped bit is found by reading only.
    std::fs::write(&own, text.replace("lease", "leash")).unwrap();
    assert_eq!(archive(&env, &[]).fine().out(), "");
    is_reported(&["--repair"]);
    std::fs::write(&own, &text).unwrap();
    assert_eq!(archive(&env, &["--repair"]).fine().out(), "");
    // An older version of a file that still exists.
    put(&env, &path, "another\n", 2);
    assert!(archive(&env, &[]).fine().out().starts_with("diverged\t"));
    std::fs::remove_file(&own).unwrap();
    is_reported(&[]);
    let new = own.to_str().unwrap().replace("/1/", "/2/");
    std::fs::remove_file(new).unwrap();
    let run = archive(&env, &[]).status(65);
    assert_eq!(
        run.stderr.matches("damaged copy").count(),
        1,
        "the newest one is repaired: {run}"
    );
}

#[test]
fn a_damaged_copy_is_reported_if_its_home_is_gone() {
    let env = homes();
    archive(&env, &["-q"]).fine();
    let below = format!("kept/claude-code/{FIRST}/1/projects/-src-a-b--c/{FIRST}.jsonl");
    let own = env.work().join(&below);
    let text = std::fs::read(&own).unwrap();
    let place = home(&env).join(".claude");
    std::fs::rename(&place, env.work().join("away")).unwrap();
    archive(&env, &[]).fine().gives("");
    archive(&env, &["--verify"]).fine();
    std::fs::remove_file(&own).unwrap();
    for arguments in [&["-q"][..], &[], &["-n"], &["--repair"]] {
        let run = archive(&env, arguments).status(65);
        let what = format!("{below}: damaged copy, and its original is gone");
        assert_eq!(run.stderr.matches(&what).count(), 1, "{run}");
        // Other versions and files of the session may be intact.
        assert!(!run.stderr.contains("remove"), "{run}");
    }
    archive(&env, &["--verify"]).status(1);
    // Whatever another program has lost.
    archive(&env, &["--program", "pi"]).fine();
    std::fs::write(&own, &text).unwrap();
    archive(&env, &[]).fine();
    // The home is found no longer, but still exists.
    std::fs::remove_file(&own).unwrap();
    std::fs::rename(env.work().join("away"), &place).unwrap();
    let elsewhere = env.work().join("elsewhere");
    let mut command = env.command(&["archive", "--to", "kept"]);
    command.env("CLAUDE_CONFIG_DIR", elsewhere);
    env.wait(command).fine();
    let run = archive(&env, &[]).fine();
    assert!(run.out().starts_with("repaired\t"), "{run}");
}

/// Anybody who may read an archive could use the credentials.
#[test]
fn credentials_and_rebuilt_indexes_are_not_copied() {
    let env = homes();
    let secret = "{\"oauthAccount\":{\"token\":\"sesame\"}}";
    for name in [
        ".claude.json",
        ".claude/.claude.json",
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".codex/state_5.sqlite",
        ".gemini/oauth_creds.json",
        ".qwen/oauth_creds.json",
        "../config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/_index.json",
    ] {
        put(&env, name, secret, 3);
    }
    put(&env, ".codex/history.jsonl", "{}\n", 3);
    archive(&env, &[]).fine();
    let copies = tree(&env.work().join("kept"));
    assert!(copies.iter().any(|(path, _)| path.ends_with("history.jsonl")));
    for (path, bytes) in copies {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("sesame"), "{}", path.display());
    }
}

/// Programs keep files of a session outside of the directory of its transcript.
#[test]
fn sidecars_elsewhere_in_a_home_are_copied() {
    let env = Env::new();
    let (gemini, qwen) = (
        "0d3cdc4e-0000-4000-8000-000000000004",
        "9e9e0000-0000-4000-8000-000000000005",
    );
    put(
        &env,
        format!("{DIR}/{FIRST}.jsonl"),
        &claude(FIRST, "/src/a b#c", "Lease?"),
        3,
    );
    let log = format!(
        "{{\"sessionId\":\"{gemini}\",\"projectHash\":\"h\",\"startTime\":\"2026-11-01T10:00:00Z\",\"lastUpdated\":\"2026-11-01T10:00:00Z\",\"kind\":\"main\"}}\n\
         {{\"id\":\"m1\",\"timestamp\":\"2026-11-01T10:00:00Z\",\"type\":\"user\",\"content\":[{{\"text\":\"Lease?\"}}]}}\n"
    );
    put(
        &env,
        ".gemini/tmp/api/chats/session-2026-11-01T10-00-0d3cdc4e.jsonl",
        &log,
        3,
    );
    let line = format!(
        "{{\"uuid\":\"q1\",\"parentUuid\":null,\"sessionId\":\"{qwen}\",\"timestamp\":\"2026-11-01T10:00:00Z\",\"type\":\"user\",\"cwd\":\"/src/api\",\"version\":\"0.22.0\",\"message\":{{\"role\":\"user\",\"parts\":[{{\"text\":\"Lease?\"}}]}}}}\n"
    );
    put(
        &env,
        format!(".qwen/projects/-src-api/chats/{qwen}.jsonl"),
        &line,
        3,
    );
    let data = "../data/opencode/storage";
    let info = r#"{"id":"ses_1","projectID":"p","directory":"/src/api","title":"T","time":{"created":1,"updated":1}}"#;
    put(&env, format!("{data}/session/p/ses_1.json"), info, 3);
    let message = r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}"#;
    put(&env, format!("{data}/message/ses_1/msg_1.json"), message, 3);
    let sidecars = [
        ("claude-code", FIRST, ".claude/", format!("jobs/{FIRST}.json")),
        ("claude-code", FIRST, ".claude/", format!("jobs/{FIRST}/out.txt")),
        (
            "gemini-cli",
            gemini,
            ".gemini/",
            format!("tmp/api/{gemini}/plan.md"),
        ),
        (
            "gemini-cli",
            gemini,
            ".gemini/",
            format!("tmp/api/tool-outputs/session-{gemini}/1.txt"),
        ),
        (
            "gemini-cli",
            gemini,
            ".gemini/",
            format!("tmp/api/logs/session-{gemini}.jsonl"),
        ),
        ("qwen-code", qwen, ".qwen/", format!("file-history/{qwen}/a@v1")),
        (
            "opencode",
            "ses_1",
            "../data/opencode/",
            "storage/session_diff/ses_1.json".to_string(),
        ),
        // Of a session in a database.
        (
            "opencode",
            "ses_2",
            "../data/opencode/",
            "storage/session_diff/ses_2.json".to_string(),
        ),
    ];
    for (_, _, base, path) in &sidecars {
        put(&env, format!("{base}{path}"), path, 3);
    }
    let run = env.run(&["list", "--agents", "--json", "-q"]).status(0);
    let objects = run.objects();
    for (program, id, count) in [
        ("claude-code", FIRST, 2),
        ("gemini-cli", gemini, 3),
        ("qwen-code", qwen, 1),
        ("opencode", "ses_1", 1),
    ] {
        let session = objects
            .iter()
            .find(|one| one["id"] == id)
            .unwrap_or_else(|| panic!("{program}: {run}"));
        assert_eq!(session["sidecar_files"], count, "{program}");
    }
    assert_eq!(archive(&env, &["-q"]).status, 0);
    for (program, id, _, path) in &sidecars {
        let text = copy(&env, program, id, 1, path);
        assert_eq!(text.as_ref(), Some(path), "{program}");
    }
    assert_eq!(archive(&env, &[]).fine().out(), "");
}

/// No program publishes the schema of these databases; their bytes are kept.
#[test]
fn chats_of_the_cursor_cli_are_counted_and_copied() {
    let env = Env::new();
    let chat = format!(".cursor/chats/0cc175b9c0f1b6a831c399e269772661/{FIRST}");
    put(&env, format!("{chat}/store.db"), "SQLite format 3\0", 3);
    put(&env, format!("{chat}/store.db-wal"), "log", 3);
    put(&env, format!("{chat}/prompt_history.json"), "[]", 3);
    let run = env
        .run(&["agents", "--columns", "program,sessions,bytes,readable,reason"])
        .fine();
    assert_eq!(run.out(), "cursor-cli\t1\t16\tno\tformat not supported\n");
    let run = env.run(&["list", "--agents"]).status(0);
    let run = run.says("not listed: cursor-cli (format not supported)");
    assert_eq!(run.out(), "");
    let run = env.run(&["show", &format!("cursor-cli:{FIRST}")]).status(65);
    run.says("sessions of cursor-cli are not supported");
    assert_eq!(archive(&env, &["-q"]).status, 0);
    let below = chat.strip_prefix(".cursor/chats/").unwrap();
    for name in ["store.db", "store.db-wal"] {
        assert!(
            copy(&env, "cursor-cli", FIRST, 1, format!("{below}/{name}")).is_some(),
            "{name}"
        );
    }
    let moved = env.root().join("home/.cursor");
    std::fs::rename(&moved, env.root().join("elsewhere")).unwrap();
    let mut command = env.command(&["agents", "--columns", "program,sessions"]);
    command.env("CURSOR_CONFIG_DIR", env.root().join("elsewhere"));
    assert_eq!(env.wait(command).out(), "cursor-cli\t1\n");
}
