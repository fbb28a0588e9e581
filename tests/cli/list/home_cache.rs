//! Tests the cache of `list --agents`: used while a file has not changed, and never required.

use crate::env::Env;
use std::path::PathBuf;
use std::time::Duration;

const IDS: [&str; 3] = [
    "0b9c1f0e-1111-4222-8333-000000000001",
    "0b9c1f0e-1111-4222-8333-000000000002",
    "0b9c1f0e-1111-4222-8333-000000000003",
];

fn transcript(env: &Env, nth: usize) -> PathBuf {
    env.root()
        .join("home/.claude/projects/-src-a")
        .join(format!("{}.jsonl", IDS[nth]))
}

fn line(id: &str, text: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"cwd":"/src/a","sessionId":"{id}","version":"2.0.0","type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{id}","timestamp":"2026-06-01T09:00:00.000Z"}}"#
    ) + "\n"
}

fn cache(env: &Env) -> PathBuf {
    env.root().join("home/.cache/convo/agents")
}

fn titles(env: &Env, options: &[&str]) -> String {
    let arguments = [
        &["list", "--agents", "--sort", "id", "--columns", "title,tokens"],
        options,
    ]
    .concat();
    let run = env.run(&arguments).fine();
    run.out()
        .lines()
        .map(|row| {
            let (title, tokens) = row.split_once('\t').unwrap();
            format!("{} {tokens};", title.split(' ').next().unwrap())
        })
        .collect()
}

/// Three sessions that are old and large enough to be cached.
fn after_coarse_time() -> Env {
    let env = Env::new();
    std::fs::create_dir_all(transcript(&env, 0).parent().unwrap()).unwrap();
    let long = "word ".repeat(350_000);
    for (nth, title) in ["Trap", "Trip", "Trop"].into_iter().enumerate() {
        let text = line(IDS[nth], &format!("{title} {long}"));
        std::fs::write(transcript(&env, nth), text).unwrap();
    }
    assert_eq!(titles(&env, &[]), "Trap -;Trip -;Trop -;");
    assert!(!cache(&env).exists());
    std::thread::sleep(Duration::from_millis(3100));
    assert_eq!(titles(&env, &[]), "Trap -;Trip -;Trop -;");
    env
}

/// Replaces a title in the cache and fixes the checksum.
fn change(env: &Env, from: &[u8], to: &[u8]) {
    let mut bytes = std::fs::read(cache(env)).unwrap();
    let at = bytes.windows(from.len()).position(|found| found == from).unwrap();
    bytes[at..at + from.len()].copy_from_slice(to);
    let end = bytes.len() - 4;
    let sum = crc32c::crc32c(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(cache(env), bytes).unwrap();
}

#[test]
fn a_changed_file_is_reread() {
    let env = after_coarse_time();
    change(&env, b"Trip", b"Trek");
    assert_eq!(titles(&env, &[]), "Trap -;Trek -;Trop -;");
    assert_eq!(titles(&env, &["--no-cache"]), "Trap -;Trip -;Trop -;");
    // Same size and time, but another inode: the cache entry is invalid.
    let time = transcript(&env, 1).metadata().unwrap().modified().unwrap();
    let bytes = std::fs::read(transcript(&env, 1)).unwrap();
    std::fs::write(transcript(&env, 1), bytes).unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(transcript(&env, 1))
        .unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(titles(&env, &[]), "Trap -;Trip -;Trop -;");
    std::fs::remove_file(transcript(&env, 0)).unwrap();
    assert_eq!(titles(&env, &[]), "Trip -;Trop -;");
    std::fs::write(cache(&env), b"convokep damaged").unwrap();
    assert_eq!(titles(&env, &[]), "Trip -;Trop -;");
}

#[test]
fn tokens_are_counted_once_and_redaction_clears_the_cache() {
    let env = after_coarse_time();
    let counted = titles(&env, &["--tokens"]);
    assert_eq!(counted, "Trap 350006;Trip 350006;Trop 350007;");
    // Cached from now on.
    assert_eq!(titles(&env, &[]), counted);
    change(&env, b"Trip", b"Trek");
    assert_eq!(titles(&env, &["--tokens"]), counted.replace("Trip", "Trek"));
    // Another tokenizer requires a new count.
    let other = titles(&env, &["--tokens", "--tokenizer", "chars4"]);
    assert!(other.contains("Trip 43") && !other.contains("350006"), "{other}");
    let path = transcript(&env, 2);
    let path = path.to_str().unwrap();
    let secret = format!("sk-ant-api03-{}AA", "Ab3".repeat(31));
    std::fs::write(path, line(IDS[2], &secret)).unwrap();
    assert!(cache(&env).exists());
    env.run(&["redact", "-q", "-i", path]).fine();
    assert!(!cache(&env).exists());
}

#[test]
fn a_file_that_is_read_with_another_one_is_not_in_the_cache() {
    let env = after_coarse_time();
    let dir = env.root().join("home/.factory/sessions/-src-a");
    std::fs::create_dir_all(&dir).unwrap();
    let start = format!(
        r#"{{"type":"session_start","id":"{}","title":"Droid","cwd":"/src/a"}}"#,
        IDS[0]
    );
    let message = r#"{"type":"message","id":"m1","timestamp":"2026-06-01T09:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"hello"}]}}"#;
    std::fs::write(
        dir.join(format!("{}.jsonl", IDS[0])),
        format!("{start}\n{message}\n"),
    )
    .unwrap();
    let settings = dir.join(format!("{}.settings.json", IDS[0]));
    let models = |model: &str| {
        std::fs::write(&settings, format!(r#"{{"model":"{model}"}}"#)).unwrap();
        let arguments = ["list", "--agents", "--program", "droid", "--columns", "model"];
        env.run(&arguments).fine().out().to_string()
    };
    assert_eq!(models("elm-1"), "elm-1\n");
    std::thread::sleep(Duration::from_millis(3100));
    std::fs::remove_file(cache(&env)).unwrap();
    titles(&env, &[]);
    assert!(cache(&env).exists());
    assert_eq!(models("elm-2"), "elm-2\n");
}
