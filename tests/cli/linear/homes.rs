//! Time of the commands that read the homes of other programs, by the number of sessions.

use super::{cost, slower};
use crate::agents::put;
use crate::env::Env;

/// A home with this many sessions, and an archive with as many others.
fn with_sessions(count: usize) -> Env {
    let env = Env::new();
    for nth in 0..count {
        let path = format!(".openclaw/agents/main/sessions/s{nth}.jsonl");
        put(&env, path, "", 9);
        std::fs::create_dir_all(env.work().join(format!("kept/openclaw/t{nth}"))).unwrap();
    }
    env
}

#[test]
fn sessions_to_archive() {
    let (small, large) = (with_sessions(4000), with_sessions(16_000));
    let input = small.write("none", "");
    let command = ["archive", "--to", "kept", "--program", "openclaw", "-n"];
    let of = |env: &Env| cost(env, &command, &input);
    assert_eq!(slower("archive -n", || of(&small), || of(&large)), None);
}
