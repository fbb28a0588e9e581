//! Tests the number of seen messages after `ask`, and message limits that count a summary.

use super::{BACK, STATE, parts, with};
use crate::env::Env;

/// A finished call marks every message as seen, so that message limits can be met afterwards.
#[test]
fn ask_raises_the_seen_count() {
    let env = Env::new();
    let answer = ["--with", "cmd:cat > /dev/null; echo answer"];
    let mut state = STATE.to_string();
    for seen in [7, 9] {
        let run = env.pipe(&with(&[&["ask", "-", "question"][..], &answer].concat()), &state);
        state = run.fine().out().to_string();
        let (processed, texts) = parts(&state);
        assert_eq!((processed, texts.len()), (seen, seen as usize), "{state}");
    }
    let limit = ["compact", "-q", "--compat", "goaitools", "--message-limit", "4"];
    let less = env.pipe(&with(&limit), &state).fine().out().to_string();
    assert_eq!(
        parts(&less),
        (
            4,
            ["question", "answer"]
                .repeat(2)
                .into_iter()
                .map(String::from)
                .collect()
        )
    );

    env.write("state.json", STATE);
    env.run(&[&["ask", "-i", "state.json", "question"][..], &answer].concat())
        .fine();
    assert_eq!(parts(&env.read("state.json")).0, 7);
    env.write("talk.json", STATE);
    env.run(&["migrate", "-q", "talk.json"]).fine();
    env.run(&[&["ask", "talk", "question"][..], &answer].concat())
        .fine()
        .gives("answer\n");
    let stored = env.run(&["cat", "-q", "--to", "goaitools", "talk"]);
    assert_eq!(parts(stored.out()).0, 7, "{stored}");
}

/// A call that waits for tool results is not finished.
#[test]
fn ask_that_ends_with_a_tool_call_has_not_seen_everything() {
    let env = Env::new();
    let call = r#"cmd:cat > /dev/null; echo '{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]}'"#;
    let run = env.pipe(&with(&["ask", "-", "question", "--with", call]), STATE);
    assert_eq!(parts(run.out()).0, 4, "{run}");
}

/// A state stores its summary as a message, which the message limit counts.
#[test]
fn a_message_limit_is_obeyed_with_a_summary_in_front() {
    let env = Env::new();
    let (why, because) = (
        "Give every reason that you know of. ".repeat(6),
        "There are many. ".repeat(9),
    );
    let turn = |n: u32| {
        format!(
            r#"{{"role":"user","content":"What of number {n}? {why}"}},{{"role":"assistant","content":"It is {n}. {because}"}}"#
        )
    };
    let turns: Vec<String> = (0..5).map(turn).collect();
    let state = format!(
        r#"{{"version":1,"provider":"openai","processed_length":10,"messages":[{}]}}"#,
        turns.join(",")
    );
    let summarized = env
        .pipe(
            &with(&["summarize", "-q", "--with", "extract", "--keep-last", "3"]),
            &state,
        )
        .fine();
    assert_eq!(parts(summarized.out()).1.len(), 7);
    for (limit, exact, kept) in [("4", false, 3), ("5", false, 5), ("4", true, 4), ("2", false, 2)] {
        let mut compact = vec!["compact", "-q", "--compat", "goaitools", "--message-limit", limit];
        compact.extend(exact.then_some("--compat-exact"));
        compact.extend(BACK);
        let run = env.pipe(&compact, summarized.out()).fine();
        let (processed, texts) = parts(run.out());
        assert_eq!((processed, texts.len()), (kept, kept as usize), "{limit}: {run}");
        let again = env.pipe(&compact, run.out()).fine();
        assert_eq!(again.out(), run.out(), "{limit}");
    }
}
