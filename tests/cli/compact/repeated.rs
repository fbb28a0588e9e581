//! `compact --keep-prefix`.

use crate::env::Env;
use serde_json::{Value, json};

/// Exchanges about a garden, numbered from `from`.
fn exchanges(from: usize, count: usize) -> String {
    let mut session = String::new();
    for nth in from..from + count {
        let question = json!({
            "role": "user", "id": format!("u{nth}"),
            "content": format!("What did we plant in bed {nth} beside the {} rows of kale?", nth * 7),
        });
        let reply = json!({
            "role": "assistant", "id": format!("a{nth}"),
            "content": format!("In bed {nth} we planted {} beans. Anna moved {} pots. It rained until noon.", nth * 3, nth * 11),
        });
        session.push_str(&format!("{question}\n{reply}\n"));
    }
    session
}

fn summary(stream: &str) -> String {
    let mut lines = stream
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let event = lines.find(|line| line["type"] == "summary").unwrap();
    event["content"].as_str().unwrap().to_string()
}

#[test]
fn a_further_compaction_appends_to_the_summary() {
    let env = Env::new();
    let compact = |input: &str, more: &[&str]| {
        let arguments = [&["compact", "--tiered", "--budget", "2000"], more].concat();
        env.pipe(&arguments, input).status(0)
    };
    let once = compact(&exchanges(0, 80), &["-q"]).out().to_string();
    let grown = format!("{once}{}", exchanges(80, 40));
    let twice = compact(&grown, &["-q"]).out().to_string();
    let (first, second) = (summary(&once), summary(&twice));
    let further = second.strip_prefix(&first).expect(&second);
    assert!(further.starts_with("\n[summary of "), "{further}");
    let anew = compact(&grown, &["-q", "--keep-prefix", "off"]).out().to_string();
    assert!(!summary(&anew).starts_with(&first));

    let report = compact(&grown, &["--dry-run", "--json"]);
    let report: Value = serde_json::from_str(report.out().lines().last().unwrap()).unwrap();
    let kept = report["prefix_kept_bytes"].as_u64().unwrap() as usize;
    assert!(kept > first.len(), "{report}");
    assert!(report["prefix_kept_tokens"].as_u64().unwrap() > 100, "{report}");
    assert_eq!(report["consolidated"], false);
    assert!(report["first_changed"].is_string(), "{report}");

    // A program writes one summary of everything.
    let written = compact(
        &grown,
        &[
            "-q", "--with", "cmd:echo The garden grows.", "--summary-budget", "200",
        ],
    );
    assert_eq!(summary(written.out()), "The garden grows.");
}

#[test]
fn an_unchanged_session_keeps_its_whole_prefix() {
    let env = Env::new();
    let run = env
        .pipe(
            &["compact", "--budget", "2000", "--dry-run", "--json"],
            exchanges(0, 2),
        )
        .status(0);
    let report: Value = serde_json::from_str(run.out().lines().last().unwrap()).unwrap();
    assert_eq!(report["changed"], false);
    assert_eq!(report["prefix_kept_tokens"], report["was"]["tokens"]);
    assert!(report.get("first_changed").is_none(), "{report}");
}

/// The number of messages that the only summary of a request says it covers.
fn covered(request: &str) -> u32 {
    assert_eq!(request.matches("conversation_summary>").count(), 2, "{request}");
    let (_, rest) = request.split_once("[summary of ").expect(request);
    rest.split(' ').next().unwrap().parse().unwrap()
}

/// Formats in which a summary is a message.
const FORMATS: [&str; 11] = [
    "openai-chat", "openai-responses", "anthropic", "gemini", "langchain", "vercel-ui", "sharegpt",
    "gemini-cli", "sts", "atif", "codex",
];

#[test]
fn sessions_of_formats_without_summaries_are_compacted_again() {
    let env = Env::new();
    for format in FORMATS {
        let converted = |arguments: &[&str], input: &str| {
            let run = env.pipe(&[arguments, &["-q"]].concat(), input);
            run.status(0).out().to_string()
        };
        let compacted = |input: &str| {
            let arguments = [
                "compact", "--strict", "--budget", "900", "--from", format, "--to", format,
            ];
            converted(&arguments, input)
        };
        let request = |input: &str| {
            let arguments = ["context", "--from", format, "--to", "openai-chat"];
            converted(&arguments, input)
        };
        let convert = ["cat", "--to", format];
        let once = compacted(&converted(&convert, &exchanges(0, 40)));
        let stream = converted(&["cat", "--from", format], &once);
        let grown = converted(&convert, &format!("{stream}{}", exchanges(40, 15)));
        // JSON as this program, Go and PHP write it.
        for writer in [|json: &str| json.to_string(), as_go, as_php] {
            let twice = compacted(&writer(&grown));
            assert!(
                covered(&request(&twice)) > covered(&request(&once)),
                "{format}: {twice}"
            );
        }
    }
}

fn as_go(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e")
}

fn as_php(json: &str) -> String {
    json.replace('/', "\\/")
}

#[test]
fn a_summary_in_place_keeps_the_escapes_of_its_writer() {
    let env = Env::new();
    for format in FORMATS {
        let session = exchanges(0, 40) + "{\"role\":\"user\",\"content\":\"And bed 40?\"}\n";
        let compacted = env.pipe(&["compact", "-q", "--budget", "900", "--to", format], session);
        let compacted = compacted.status(0).out().to_string();
        for written in [as_go(&compacted), as_php(&compacted)] {
            env.write("request.json", &written);
            env.run(&[
                "drop", "-q", "--grep", "And bed 40", "--from", format, "-i", "request.json",
            ])
            .fine();
            let after = env.read("request.json");
            let end = written.find("plant in bed 39 ").expect(format);
            let before = &written[..end];
            assert!(after.starts_with(before) && after != written, "{format}: {after}");
        }
    }
}

#[test]
fn messages_about_summaries_keep_their_layout() {
    let env = Env::new();
    let pair = |nth: usize| {
        format!(
            "{{\"content\" :  \"question {nth} about conversation_summary\",  \"role\": \"user\"}},\n\
             {{\"content\" :  \"answer {nth} about conversation_summary\",  \"role\": \"assistant\"}}"
        )
    };
    let pairs: Vec<String> = (0..12).map(pair).collect();
    let request = format!("{{\"model\":\"m\",\"messages\": [\n{}]}}", pairs.join(",\n"));
    let run = env.pipe(&["truncate", "-q", "--keep-last", "1", "--to", "same"], request);
    assert!(run.out().contains(&pairs[11]), "{run}");
}

#[test]
fn a_system_message_that_a_log_repeats_is_not_quoted() {
    let env = Env::new();
    let system = r#"{"role":"system","content":"Always answer in English."}"#;
    let session = format!("{system}\n{}", exchanges(0, 40));
    let log = env.pipe(&["cat", "-q", "--to", "codex"], session).status(0);
    env.write("log.jsonl", log.out());
    for budget in ["900", "600"] {
        env.run(&["compact", "-q", "--budget", budget, "-i", "log.jsonl"])
            .fine();
    }
    let request = env.run(&["context", "--to", "openai-chat", "log.jsonl"]);
    assert_eq!(
        request.out().matches("Always answer in English.").count(),
        1,
        "{request}"
    );
}
