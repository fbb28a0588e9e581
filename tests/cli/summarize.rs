//! Tests `convo summarize`: the covered messages, and the two-step mode.

mod meanwhile;
pub mod programs;

use crate::env::{Env, Run, objects};
use std::fmt::Write as _;

/// Exchanges with text to summarize, one with a tool, one with a rule.
fn talk(exchanges: usize) -> String {
    let mut session = String::from("{\"type\":\"session\",\"version\":1,\"id\":\"talk\"}\n");
    session.push_str("{\"role\":\"system\",\"content\":\"You are terse.\",\"id\":\"s\"}\n");
    for nth in 0..exchanges {
        let rule = if nth == 1 {
            " Please never call me, only write."
        } else {
            ""
        };
        let words = format!(
            "In part {nth} I bought {} seeds of the red bean yesterday.{rule}",
            nth * 7
        );
        let day = format!("2026-03-{:02}T10:00:00Z", nth % 28 + 1);
        let _ = writeln!(
            session,
            r#"{{"role":"user","content":"{words} And it went on like that for some time.","id":"u{nth}","timestamp":"{day}"}}"#
        );
        if nth == 2 {
            session.push_str(r#"{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"read","arguments":"{\"path\":\"beans.txt\"}"}}],"id":"c2"}"#);
            session.push_str("\n{\"role\":\"tool\",\"tool_call_id\":\"t\",\"content\":\"beans.txt: 40 rows\",\"id\":\"r2\"}\n");
        }
        let _ = writeln!(
            session,
            r#"{{"role":"assistant","content":"Part {nth} is written down in notes/{nth}.txt, as it always was.","id":"a{nth}"}}"#
        );
    }
    session
}

/// Creates an environment with that session in the store.
fn stored(exchanges: usize) -> Env {
    let env = Env::new();
    env.write("talk.jsonl", talk(exchanges));
    env.run(&["migrate", "-q", "talk.jsonl"]).fine();
    env
}

/// Ids of the messages in the view; for a summary its text.
fn view(env: &Env, name: &str) -> Vec<String> {
    let run = env.run(&["context", "-q", name]).fine();
    let records = run.objects().into_iter().skip(1);
    let id = |record: serde_json::Value| match record.get("content") {
        Some(text) if record["type"] == "summary" => text.as_str().unwrap().to_string(),
        _ => record["id"].as_str().unwrap().to_string(),
    };
    records.map(id).collect()
}

fn last_event(env: &Env, name: &str) -> serde_json::Value {
    let run = env.run(&["cat", name]).fine();
    objects(run.out()).pop().unwrap()
}

#[test]
fn old_exchanges_are_replaced_by_a_summary() {
    let env = stored(6);
    let before = env.run(&["context", "talk"]).fine().stdout;
    snapshot!(
        "summarize",
        env.run(&["summarize", "talk", "--summary-budget", "120"])
            .status(0)
    );
    snapshot!("summarize_context", env.run(&["context", "talk"]).fine());
    let event = last_event(&env, "talk");
    let run = env.run(&["expand", event["id"].as_str().unwrap(), "talk"]).fine();
    assert_eq!(run.objects().len(), 10, "{run}");
    env.run(&["summarize", "talk"])
        .status(0)
        .says("only the newest 2 exchanges");
    env.run(&["restore", "-q", "talk"]).fine();
    env.run(&["context", "talk"]).fine().gives(before);
}

#[test]
fn a_stream_is_printed_with_the_summary_in_place() {
    let env = Env::new();
    let run = env
        .pipe(&["summarize", "--summary-budget", "120"], talk(6))
        .status(0);
    let ids: Vec<String> = run
        .objects()
        .iter()
        .map(|line| line["id"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(ids.len(), 7, "{run}");
    assert_eq!(ids[..2], ["talk", "s"]);
    assert_eq!(ids[3..], ["u4", "a4", "u5", "a5"]);
    assert!(
        run.objects()[2].get("covers").is_none(),
        "what it covers is gone from the stream"
    );
    // Kept lines keep their bytes, and a repeated run changes nothing.
    assert!(
        talk(6).ends_with(run.out().lines().last().unwrap().trim_end())
            || run.out().ends_with("\"id\":\"a5\"}\n")
    );
    env.pipe(&["summarize", "-q", "--summary-budget", "120"], run.out())
        .status(0)
        .gives(&run.stdout);
    let log = env
        .pipe(&["summarize", "--log", "--summary-budget", "120"], talk(6))
        .status(0);
    assert!(
        log.out().starts_with(&talk(6)) && log.out().lines().count() == talk(6).lines().count() + 1,
        "{log}"
    );
}

#[test]
fn the_plan_and_the_options_that_choose() {
    let env = stored(8);
    let covers = |options: &[&str]| -> Vec<String> {
        let run = env
            .run(&[&["summarize", "talk", "-n"], options].concat())
            .status(0);
        let ends = run.objects()[0]["covers"].clone();
        ends.as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(covers(&[]), ["u0", "a5"]);
    assert_eq!(covers(&["--keep-last", "5"]), ["u0", "a2"]);
    assert_eq!(covers(&["--cover", "a1..a5"]), ["a1", "a5"]);
    assert_eq!(
        covers(&["--budget", "400", "--summary-budget", "60"]),
        ["u0", "a2"]
    );
    assert_eq!(covers(&["--when", "messages>10"]), ["u0", "a5"]);
    env.run(&["summarize", "talk", "--when", "messages>100"])
        .status(0)
        .says("below trigger");
    env.run(&["summarize", "talk", "--budget", "9k"])
        .status(0)
        .says("fit the budget");
    snapshot!(
        "summarize_unreachable",
        env.run(&["summarize", "talk", "--budget", "90"]).status(1)
    );
    for role in ["user", "assistant"] {
        let run = env.run(&["summarize", "talk", "-n", "--role", role]).status(0);
        assert_eq!(run.objects()[0]["as"], role);
    }
    let plain = env.run(&["summarize", "talk", "-n"]).status(0);
    assert!(plain.objects()[0].get("as").is_none(), "{plain}");
}

#[test]
fn options_without_effect_are_refused() {
    let env = stored(4);
    for options in [
        &["--prompt", "x.txt"][..],
        &["--chunk", "4000"],
        &["--timeout", "1s"],
        &["--retries", "2"],
        &["--backoff", "2s"],
        &["--retry"],
        &["--with", "cmd:cat", "--dates", "off"],
        &["--with", "cmd:"],
        &["--with", "a b"],
        &["--keep-last", "0"],
        &["--cover", "u1"],
        &["--cover", ".."],
        &["--request", "--apply", "x"],
        &["--request", "--with", "cmd:cat"],
        &["--apply", "x", "--with", "extract"],
        &["--if-due", "--retry", "--with", "cmd:cat"],
        &["--when", "fraction>0.5"],
    ] {
        let run = env.run(&[&["summarize", "talk"], options].concat());
        assert_eq!(run.status, 2, "{options:?}: {run}");
    }
    env.run(&["summarize", "talk", "--with", "cmd:cat", "--prompt", "x.txt"])
        .status(66);
    snapshot!(
        "summarize_no_plugin",
        env.run(&["summarize", "talk", "--with", "nobody"]).status(69)
    );
}

/// The request with an answer added.
fn answered(request: &Run, text: &str) -> String {
    let mut object = request.objects().remove(0);
    object["summary"] = text.into();
    object["by"] = "me".into();
    object.to_string()
}

#[test]
fn request_and_apply_are_two_steps() {
    let env = stored(6);
    let log = std::fs::read(env.log("talk")).unwrap();
    let request = env.run(&["summarize", "talk", "--request"]).fine();
    assert_eq!(std::fs::read(env.log("talk")).unwrap(), log);
    let object = &request.objects()[0];
    assert_eq!(object["schema"], "convo.summary-request/1");
    assert_eq!(object["ids"].as_array().unwrap().len(), 10);
    assert_eq!(object["messages"].as_array().unwrap().len(), 10);
    assert_eq!(object["pins"][0], "Please never call me, only write.");
    assert!(object["previous_summary"].is_null());
    env.write("answer.json", answered(&request, "Beans were bought."));
    env.run(&["append", "talk", "And what now?"]).fine();
    let run = env
        .run(&["summarize", "talk", "--apply", "answer.json"])
        .status(0);
    snapshot!("summarize_apply", run);
    let shown = view(&env, "talk");
    assert_eq!(shown.len(), 7, "{shown:?}");
    assert!(
        shown[1].ends_with("\n\nBeans were bought.") && shown[1].contains("- user: Please never call me")
    );
    assert_eq!(last_event(&env, "talk")["by"], "me");
    // A repeated answer changes nothing, and another answer is too late.
    let log = std::fs::read(env.log("talk")).unwrap();
    env.run(&["summarize", "talk", "--apply", "answer.json"])
        .status(0)
        .says("unchanged");
    env.write("other.json", answered(&request, "Something else."));
    snapshot!(
        "summarize_late",
        env.run(&["summarize", "talk", "--apply", "other.json"])
            .status(75)
    );
    assert_eq!(std::fs::read(env.log("talk")).unwrap(), log);
}

#[test]
fn an_answer_to_a_changed_range_is_refused() {
    let env = stored(6);
    let request = env.run(&["summarize", "talk", "--request"]).fine();
    let whole = answered(&request, "Beans.");
    let sha256 = request.objects()[0]["sha256"].as_str().unwrap().to_string();
    let bare = format!(r#"{{"schema":"convo.summary/1","sha256":"{sha256}","summary":"Beans."}}"#);
    env.run(&["truncate", "-q", "talk", "--before", "u1"]).fine();
    let log = std::fs::read(env.log("talk")).unwrap();
    for answer in [&whole, &bare] {
        env.pipe(&["summarize", "talk", "--apply", "-"], answer)
            .status(75);
    }
    assert_eq!(std::fs::read(env.log("talk")).unwrap(), log);
    env.run(&["restore", "-q", "talk"]).fine();
    env.pipe(&["summarize", "talk", "--apply", "-"], &bare).status(0);
}

#[test]
fn invalid_answers_are_refused() {
    let env = stored(6);
    let request = env.run(&["summarize", "talk", "--request"]).fine();
    for (answer, status) in [
        ("just a text".to_string(), 65),
        (r#"{"schema":"convo.summary/1","sha256":"00"}"#.to_string(), 65),
        (
            r#"{"schema":"convo.summary/1","sha256":"00","summary":"x"}"#.to_string(),
            75,
        ),
        (answered(&request, ""), 69),
        (answered(&request, "<b></b>"), 69),
        (answered(&request, &"long ".repeat(3000)), 69),
    ] {
        let run = env.pipe(&["summarize", "talk", "--apply", "-"], &answer);
        assert_eq!(run.status, status, "{answer:.60}: {run}");
    }
    // An invalid answer counts as a failure; a late or unreadable one does not.
    assert_eq!(last_event(&env, "talk")["failures"], 3);
    env.pipe(&["summarize", "--apply", "-"], "x").status(2);
    env.run(&["summarize", "talk", "--apply", "nobody.json"])
        .status(66);
}

#[test]
fn the_next_summary_includes_the_previous_one() {
    let env = stored(6);
    env.pipe(
        &["summarize", "talk", "-q", "--apply", "-"],
        answered(
            &env.run(&["summarize", "talk", "--request"]),
            "Lena bought 40 beans on 2026-03-03.",
        ),
    )
    .fine();
    for nth in 0..3 {
        env.run(&[
            "append",
            "talk",
            &format!("Question {nth}, at some length, and with a few words more than needed."),
        ])
        .fine();
        env.run(&[
            "append",
            "talk",
            "-r",
            "assistant",
            "An answer of about the same length, and then some.",
        ])
        .fine();
    }
    let rolled = env
        .run(&["summarize", "talk", "--request"])
        .fine()
        .objects()
        .remove(0);
    assert_eq!(rolled["previous_summary"], "Lena bought 40 beans on 2026-03-03.");
    assert_eq!(rolled["covers"][0], "u4");
    let anew = env
        .run(&["summarize", "talk", "--request", "--rolling=off"])
        .fine()
        .objects()
        .remove(0);
    assert!(anew["previous_summary"].is_null());
    assert_eq!(anew["covers"][0], "u0");
    assert_ne!(anew["sha256"], rolled["sha256"]);
    let run = env
        .run(&["summarize", "talk", "--summary-budget", "200", "--min-gain", "0%"])
        .status(0);
    let event = last_event(&env, "talk");
    assert_eq!(event["covers"][0], "u0", "{run}");
    assert!(
        event["content"]
            .as_str()
            .unwrap()
            .contains("Lena bought 40 beans"),
        "{event}"
    );
    assert_eq!(
        view(&env, "talk")
            .iter()
            .filter(|shown| shown.contains("summary"))
            .count(),
        1
    );
}

#[test]
fn a_summary_of_another_role_is_still_a_summary_in_a_stream() {
    let env = Env::new();
    let run = env.pipe(&["summarize", "--role", "user"], talk(6)).status(0);
    let count = |stream: &[u8]| env.pipe(&["count", "--json"], stream).fine().objects().remove(0);
    assert_eq!(count(&run.stdout)["summary"], true, "{run}");
    let sent = env.pipe(&["context", "--to", "openai-chat"], &run.stdout).fine();
    assert!(sent.out().contains("<conversation_summary>"), "{sent}");
    // The same with a summary by a compaction.
    let run = env
        .pipe(&["compact", "--budget", "220", "--summary-role", "user"], talk(6))
        .status(0);
    assert_eq!(count(&run.stdout)["summary"], true, "{run}");
}
