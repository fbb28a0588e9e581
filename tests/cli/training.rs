//! Tests training sets: `convo cat --to openai-finetune` and `--to trl`, and the selection of sessions.

use crate::env::{CHAT, Env};
use serde_json::Value;

/// Three sessions: a complete one, its beginning without the last answer, and one with a failed call.
fn many() -> String {
    let begin: String = CHAT.lines().take(7).map(|line| format!("{line}\n")).collect();
    let failed = CHAT.replace("\"trip\"", "\"failed\"").replace(
        "\"content\":\"22 C, sunny\"",
        "\"content\":\"no such city\",\"metadata\":{\"is_error\":true}",
    );
    format!("{CHAT}{}{failed}", begin.replace("\"trip\"", "\"begin\""))
}

fn lines(env: &Env, arguments: &[&str]) -> Vec<Value> {
    env.pipe(&[&["cat", "-q"], arguments].concat(), many())
        .fine()
        .objects()
}

#[test]
fn a_session_is_a_line_that_the_api_accepts() {
    let env = Env::new();
    for to in ["openai-finetune", "trl"] {
        let run = env.pipe(&["cat", "-q", "--to", to], CHAT).fine();
        assert_eq!(run.out().lines().count(), 1, "{run}");
    }
    let run = env.pipe(&["cat", "--to", "openai-finetune"], CHAT).status(0);
    snapshot!("training_finetune", run);
    env.pipe(&["check", "-q", "--for", "openai-chat"], &run.stdout)
        .fine();
    snapshot!("training_trl", env.pipe(&["cat", "--to", "trl"], CHAT));
    let split = ["cat", "-q", "--to", "trl", "--prompt-completion"];
    let line = &env.pipe(&split, CHAT).fine().objects()[0];
    assert_eq!(line["completion"][0]["content"], "Rain.");
}

#[test]
fn sessions_are_chosen_by_conditions_and_the_others_are_counted() {
    let env = Env::new();
    let finetune = ["--to", "openai-finetune"];
    // A session without a reply is not written.
    assert_eq!(lines(&env, &finetune).len(), 2);
    let run = env
        .pipe(&["cat", "--to", "trl", "--no-tool-errors", "--complete"], many())
        .status(0)
        .says("left out 2 sessions: incomplete 1, tool-errors 1");
    assert_eq!(run.out().lines().count(), 1, "{run}");
    let heads = |options: &[&str]| -> Vec<String> {
        let heads = lines(&env, options).into_iter();
        let heads = heads.filter(|line| line["type"] == "session");
        heads
            .map(|line| line["id"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(heads(&["--min-exchanges", "2", "--has-tool", "weather"]).len(), 3);
    assert_eq!(heads(&["--dedupe", "exact"]), ["trip", "begin", "failed"]);
    assert_eq!(heads(&["--dedupe", "prefix"]), ["trip", "failed"]);
    let (train, test) = (heads(&["--split", "0.5"]), heads(&["--split", "0.5.."]));
    assert_eq!(train.len() + test.len(), 3);
    env.pipe(&["cat", "--has-tool", "none"], many())
        .status(1)
        .gives("")
        .says("left out 3 sessions: no-tool 3");
    env.pipe(&["cat", "--max-tokens", "10", "--diagnostics", "json"], many())
        .status(1)
        .says("\"reason\":\"tokens\"");
    for bad in [
        &["--train-last", "1"][..],
        &["--to", "trl", "--train-last", "1"],
        &["--split", "2"],
        &["--split", "0.5..0.5"],
        &["--to", "trl", "--thinking", "fold"],
        &["--to", "html", "--thinking", "inline"],
        &["--complete", "--follow"],
    ] {
        env.pipe(&[&["cat"], bad].concat(), CHAT).status(2);
    }
}
