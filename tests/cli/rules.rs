//! Tests `convo check --rules` and `--junit`, and `convo cat --stable`.

use crate::check::BROKEN;
use crate::env::{CHAT, Env};

const RULES: &str = r#"[[rule]]
name = "asks the weather"
called = { tool = "weather", args = { city = "Paris" } }

[[rule]]
name = "says goodbye"
says = { role = "assistant", text = "Bye", where = "last" }

[[rule]]
limit = { cost = { max = 1 }, exchanges = { max = 1 } }
"#;

fn env() -> Env {
    let env = Env::new();
    env.write("rules.toml", RULES);
    env.write("trip.jsonl", CHAT);
    env
}

#[test]
fn violations_are_printed_as_check_prints_them() {
    let env = env();
    snapshot!(
        "rules",
        env.run(&["check", "--rules", "rules.toml", "trip.jsonl"])
    );
    snapshot!(
        "rules_json",
        env.run(&["check", "--rules", "rules.toml", "--json", "trip.jsonl"])
    );
    env.write("good.toml", RULES.split("\n\n").next().unwrap());
    env.run(&["check", "--rules", "good.toml", "trip.jsonl"])
        .status(0)
        .gives("")
        .says("convo: trip.jsonl: 1 rule: passed\n");
    // Only rules, unless an API is named; several rule files are merged.
    env.pipe(&["check", "--rules", "good.toml"], BROKEN)
        .status(1)
        .says("1 rule: 1 failed");
    let both = ["check", "--rules", "good.toml", "--for", "openai-chat"];
    env.pipe(&both, CHAT)
        .status(0)
        .says("openai-chat, 7 elements: valid");
    let run = env.pipe(&both, BROKEN).status(1);
    assert!(run.out().contains(" OC01 error: "), "{run}");
    let several = ["check", "--rules", "good.toml", "--rules", "rules.toml"];
    env.pipe(&several, CHAT).status(1).says("4 rules: 2 failed");
}

#[test]
fn rules_check_the_view_or_with_log_everything() {
    let env = env();
    let cut = env
        .pipe(&["truncate", "--log", "--keep-last", "1"], CHAT)
        .status(0);
    env.write("cut.jsonl", &cut.stdout);
    env.write("good.toml", RULES.split("\n\n").next().unwrap());
    env.run(&["check", "--rules", "good.toml", "cut.jsonl"])
        .status(1)
        .gives("cut.jsonl: asks the weather error: 0 calls of weather {city: Paris}; expected at least 1\n");
    env.run(&["check", "--rules", "good.toml", "--log", "cut.jsonl"])
        .status(0);
}

#[test]
fn a_bad_file_is_a_configuration_error() {
    let env = env();
    env.write(
        "bad.toml",
        "[[rule]]\nname = \"x\"\ncalled = { tool = \"f\", mas = 1 }\n",
    );
    let run = env
        .run(&["check", "--rules", "bad.toml", "trip.jsonl"])
        .status(78);
    assert!(
        run.stderr
            .starts_with("convo: bad.toml: line 3, column 24: unknown field `mas`"),
        "{run}"
    );
    env.run(&["check", "--rules", "none.toml", "trip.jsonl"])
        .status(78)
        .says("none.toml");
    env.run(&["check", "--log", "trip.jsonl"]).status(2);
    let fix = [
        "check", "--rules", "rules.toml", "--fix", "--for", "gemini", "trip.jsonl",
    ];
    env.run(&fix).status(2);
    // Rules without an input to check fail.
    env.pipe(&["check", "--rules", "rules.toml"], "")
        .status(1)
        .says("no session to check");
}

#[test]
fn prices_of_a_file_define_a_cost() {
    let env = env();
    let requested = r#"{"role":"assistant","content":"a","usage":{"input":1000000,"output":0},"model":"m1"}"#;
    env.write("cost.toml", "[[rule]]\nlimit = { cost = { max = 2 } }\n");
    env.write(
        "prices.toml",
        "as-of = \"2026-01-01\"\n[model]\nm1 = { input = 3, output = 1 }\n",
    );
    let check = ["check", "--from", "native", "--rules", "cost.toml"];
    let run = env.pipe(&check, requested).status(1);
    assert!(run.out().contains("cost: no price for m1"), "{run}");
    let run = env
        .pipe(&[&check[..], &["--prices", "prices.toml"]].concat(), requested)
        .status(1);
    assert!(run.out().contains("cost 3; expected at most 2"), "{run}");
    env.pipe(&["check", "--prices", "prices.toml"], requested)
        .status(2);
}

/// The element names of an XML document, in order; fails if it is not well-formed.
fn elements(xml: &str) -> Vec<String> {
    assert!(
        xml.chars()
            .all(|c| c == '\n' || (' '..'\u{fffe}').contains(&c) || c > '\u{ffff}'),
        "{xml}"
    );
    let body = xml
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .unwrap();
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect(piece);
        let references = piece.split('&').skip(1);
        for reference in references {
            let name = reference.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name), "{piece}");
        }
        assert!(
            !text.contains('>') && tag.matches('"').count() % 2 == 0,
            "{piece}"
        );
        match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name.to_string()), "{xml}"),
            (None, single) => {
                let name = tag.split(' ').next().unwrap().to_string();
                found.push(name.clone());
                if single.is_none() {
                    open.push(name);
                }
            }
        }
    }
    assert!(open.is_empty(), "{xml}");
    found
}

#[test]
fn results_as_junit_are_well_formed_whatever_the_text() {
    let env = env();
    let run = env.run(&[
        "check", "-q", "--rules", "rules.toml", "--junit", "junit.xml", "trip.jsonl",
    ]);
    run.status(1);
    snapshot!("rules_junit", env.read("junit.xml"));
    let hostile = "<![CDATA[ ]]> & \"'</testsuite>\u{1b}[31m\u{fffe}\t\u{0}\n";
    let quoted = serde_json::to_string(hostile).unwrap();
    let session = format!(
        "{{\"type\":\"session\",\"version\":1,\"id\":{quoted}}}\n{{\"role\":{quoted},\"content\":{quoted}}}\n"
    );
    env.write("a&<\"b.jsonl", &session);
    let text = hostile.replace('\0', "");
    let text = serde_json::to_string(&text)
        .unwrap()
        .replace('\u{fffe}', "\\uFFFE");
    env.write(
        "hostile.toml",
        format!("[[rule]]\nname = {text}\nsays = {{ text = {text} }}\nends = {{ role = \"user\" }}\n"),
    );
    let check = ["check", "--rules", "hostile.toml", "--junit", "-", "a&<\"b.jsonl"];
    let run = env.run(&check).status(1);
    assert_eq!(
        elements(run.out()),
        ["testsuites", "testsuite", "testcase", "failure"],
        "{run}"
    );
    // Without rules each API is a case; an unreadable input is an error.
    let run = env.pipe(&["check", "--junit", "-"], BROKEN).status(1);
    assert!(run.out().contains("name=\"structure\">\n"), "{run}");
    let run = env
        .run(&[
            "check", "--for", "anthropic", "--junit", "-", "trip.jsonl", "none.jsonl",
        ])
        .status(66);
    assert_eq!(
        elements(run.out()),
        [
            "testsuites", "testsuite", "testcase", "testsuite", "testcase", "error"
        ]
    );
    assert!(
        run.out().contains("tests=\"2\" failures=\"0\" errors=\"1\""),
        "{run}"
    );
    env.run(&["check", "--json", "--junit", "-", "trip.jsonl"])
        .status(2);
    env.run(&["check", "--junit", "none/junit.xml", "trip.jsonl"])
        .status(74);
}

#[test]
fn a_stable_session_is_the_same_for_other_ids_times_and_paths() {
    let env = Env::new();
    let one = r#"{"type":"session","version":1,"id":"run-1","created_at":"2026-11-01T10:00:00Z"}
{"role":"user","content":"List /tmp/run-1/src","id":"m1","timestamp":"2026-11-01T10:00:00Z"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_aaaaaaaa","type":"function","function":{"name":"ls","arguments":"{\"path\":\"/tmp/run-1/src\"}"}}],"id":"m2","timestamp":"2026-11-01T10:00:01Z"}
{"role":"tool","tool_call_id":"call_aaaaaaaa","content":"a.rs","id":"m3","timestamp":"2026-11-01T10:00:02Z"}
"#;
    let other = one
        .replace("run-1", "second")
        .replace("aaaaaaaa", "bbbbbbbb")
        .replace("\"m", "\"msg_")
        .replace("2026-11-01T10", "2027-01-09T23");
    for to in ["native", "openai-chat", "claude-code", "markdown"] {
        let cat = ["cat", "-q", "--stable", "--to", to];
        let (a, b) = (env.pipe(&cat, one).fine(), env.pipe(&cat, &other).fine());
        assert_eq!(a.out(), b.out(), "{to}");
        assert!(!a.out().contains("run-1") && !a.out().contains("2026"), "{a}");
        assert!(a.out().contains("/path/1"), "{a}");
    }
    snapshot!("cat_stable", env.pipe(&["cat", "--stable"], one));
    // The output of --stable is a session and stable itself; a document of another format is not written with its
    // original bytes.
    let stable = env.pipe(&["cat", "--stable"], one).fine();
    env.pipe(&["check", "-q"], &stable.stdout).fine();
    env.pipe(&["cat", "--stable"], &stable.stdout)
        .fine()
        .gives(&stable.stdout);
    let claude = env.pipe(&["cat", "-q", "--to", "claude-code"], one).fine();
    let again = env
        .pipe(&["cat", "-q", "--stable", "--to", "claude-code"], &claude.stdout)
        .fine();
    assert!(!again.out().contains("2026"), "{again}");
    env.write("one.jsonl", one);
    env.run(&["cat", "--stable", "--follow", "one.jsonl"]).status(2);
}
