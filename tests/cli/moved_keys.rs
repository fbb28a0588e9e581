//! Tests that keys and aliases move to the continuation of their session.

use crate::env::{Env, objects};

/// A key made by `convo key`, one by PicoClaw, and one too long for a file name.
fn keys() -> [String; 3] {
    let own = "scope1.channel-telegram.chat-direct__123".to_string();
    [own, "agent:main:main".to_string(), "ü".repeat(90)]
}

/// Creates a session with this key and returns its id.
fn begun(env: &Env, key: &str) -> String {
    let id = env.run(&["new", "--key", key]).status(0).out().trim().to_string();
    env.run(&["append", key, "one?"]).status(0);
    env.run(&["append", key, "-r", "assistant", "1"]).status(0);
    id
}

#[test]
fn a_key_resolves_to_the_last_continuation() {
    for key in &keys() {
        let env = Env::new();
        let id = begun(&env, key);
        let next = format!("{id}.1");
        env.run(&["continue", key]).status(0).gives(format!("{next}\n"));
        env.run(&["new", "--key", key, "--if-missing"])
            .status(0)
            .gives(format!("{next}\n"));
        env.run(&["append", key, "two?"]).status(0);
        assert!(env.run(&["cat", &next]).status(0).out().contains("two?"));
        assert!(env.run(&["cat", key]).status(0).out().contains("two?"));
        assert!(
            !env.run(&["cat", &format!("@id:{id}")])
                .status(0)
                .out()
                .contains("two?")
        );
        env.run(&["alias", "list"])
            .status(0)
            .gives(format!("{key}\t{next}\n"));
        // And further, automatically.
        for nth in 0..6 {
            env.run(&["append", key, &format!("more {nth}"), "--boundary", "6", "-q"])
                .status(0);
        }
        let reported = env.run(&["continue", key, "--json"]).status(0).objects();
        assert_eq!(
            reported[0]["aliases"].as_array().unwrap().len(),
            1,
            "{reported:?}"
        );
        let last = reported[0]["id"].as_str().unwrap().to_string();
        env.run(&["alias", "resolve", key])
            .status(0)
            .gives(format!("{last}\n"));
        env.run(&["fsck"]).status(0);
        // A purged session has no names either.
        for id in env
            .run(&["list", "--json"])
            .status(0)
            .objects()
            .iter()
            .filter_map(|row| row["id"].as_str())
        {
            env.run(&["remove", "--purge", "-q", &format!("@id:{id}")])
                .status(0);
        }
        env.run(&["alias", "list"]).status(0).gives("");
    }
}

#[test]
fn an_id_that_is_also_a_key_is_not_removed_by_mistake() {
    let env = Env::new();
    let [key, ..] = keys();
    begun(&env, &key);
    env.run(&["continue", &key]).status(0);
    for purge in [&["remove", &key][..], &["remove", "--purge", &key]] {
        env.run(purge).status(2).says(&format!("@id:{key} or {key}.1"));
    }
    let exactly = format!("@id:{key}");
    env.run(&["remove", &exactly])
        .status(0)
        .says(&format!("convo restore {exactly}"));
    env.run(&["new", "--key", &key, "--if-missing"])
        .status(0)
        .gives(format!("{key}.1\n"));
    env.run(&["restore", &exactly]).status(0);
    env.run(&["cat", &exactly]).status(0);
    // Maintenance commands take an id literally.
    env.run(&["fsck", &key, "--json"]).status(0);
    env.run(&["cat", "@id:nobody"]).status(66);
    env.run(&["cat", "@id:../x"]).status(66);
    // Without its continuation the key refers to the original session again.
    env.run(&["remove", &format!("{key}.1")]).status(0);
    assert!(env.run(&["cat", &key]).status(0).out().contains("continued_to"));
}

#[test]
fn undoing_a_continuation_restores_the_names() {
    for key in &keys() {
        let env = Env::new();
        let id = begun(&env, key);
        env.run(&["alias", "add", "-q", "chat", key]).status(0);
        env.run(&["continue", key]).status(0);
        let exactly = format!("@id:{id}");
        let event = |nth: usize| {
            let rows = env
                .run(&["restore", "--list", &exactly, "--json"])
                .status(0)
                .objects();
            rows[nth]["id"].as_str().unwrap().to_string()
        };
        let meant = |by: &str, with: &str| {
            let out = env.run(&["cat", by]).status(0);
            assert_eq!(objects(out.out())[0]["id"], format!("{id}{with}"), "{by}");
        };
        env.run(&["restore", &exactly, &event(0)]).status(0);
        meant(key, "");
        meant("chat", "");
        // Undo the undo.
        env.run(&["restore", &exactly, &event(1)]).status(0);
        meant(key, ".1");
        meant("chat", ".1");
        env.run(&["restore", &exactly, &event(2)]).status(0);
        meant(key, "");
        // A new continuation is another event in the same session.
        env.run(&["continue", key]).status(0).gives(format!("{id}.1\n"));
        meant(key, ".1");
        meant("chat", ".1");
        env.run(&["append", &exactly, "-q", "--boundary", "9", "at the end"])
            .status(0);
        assert!(env.run(&["cat", key]).status(0).out().contains("at the end"));
        env.run(&["fsck"]).status(0);
    }
}

#[test]
fn the_last_session_is_the_continuation() {
    let env = Env::new();
    env.run(&["new", "--id", "chat.9"]).status(0);
    env.run(&["append", "chat.9", "one?"]).status(0);
    env.run(&["continue", "chat.9"]).status(0).gives("chat.9.1\n");
    env.run(&["append", "@last", "two?"]).status(0);
    assert!(env.run(&["cat", "chat.9.1"]).status(0).out().contains("two?"));
    // A later append to the old session makes it the newest again.
    std::thread::sleep(std::time::Duration::from_millis(20));
    env.run(&["append", "chat.9", "three?"]).status(0);
    env.run(&["append", "@last", "four?"]).status(0);
    assert!(env.run(&["cat", "chat.9"]).status(0).out().contains("four?"));
}
