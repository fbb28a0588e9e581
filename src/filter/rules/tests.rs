use super::*;
use crate::error::ErrorKind;
use crate::model::session::of_lines as session;

const LOG: [&str; 8] = [
    r#"{"role":"user","content":"Fix it","timestamp":"2026-01-01T10:00:00Z"}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a.rs\",\"lines\":3}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"a","content":"fn"}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"Edit","arguments":"{\"path\":\"a.rs\"}"}},{"id":"c","type":"function","function":{"name":"Bash","arguments":"{\"command\":[\"bash\",\"-lc\",\"cargo test\"]}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"c","content":"failed","metadata":{"is_error":true}}"#,
    r#"{"role":"tool","tool_call_id":"b","content":"ok"}"#,
    r#"{"role":"assistant","content":"Done.","usage":{"input":100,"output":20},"model":"gpt-unknown","timestamp":"2026-01-01T10:01:30Z"}"#,
    r#"{"role":"user","content":"Thanks"}"#,
];

/// The violations of one rule with this assertion: item and message.
fn found(lines: &[&str], assertion: &str) -> Vec<(Option<usize>, String)> {
    let rules = SessionRule::read(&format!("[[rule]]\n{assertion}\n")).unwrap();
    let session = session(lines);
    let view = View::replay(&session);
    let prices = Prices::built_in().unwrap();
    let violations = rules[0].check(&session, &view, &prices);
    violations
        .into_iter()
        .map(|violation| (violation.item, violation.message))
        .collect()
}

fn holds(assertion: &str) {
    assert_eq!(found(&LOG, assertion), [], "{assertion}");
}

fn fails(assertion: &str, item: Option<usize>, message: &str) {
    assert_eq!(
        found(&LOG, assertion),
        [(item, message.to_string())],
        "{assertion}"
    );
}

#[test]
fn calls_by_tool_arguments_and_result() {
    holds(r#"called = { tool = "Read" }"#);
    holds(r#"called = { tool = "re:^(Read|Edit)$", min = 2, max = 2 }"#);
    holds(r#"called = { args = { path = "a.rs", lines = 3 } }"#);
    holds(r#"called = { tool = "Bash", args = { command = "re:^cargo test$" }, failed = true }"#);
    holds(r#"called = { tool = "WebSearch", max = 0 }"#);
    fails(
        r#"called = { tool = "WebSearch" }"#,
        None,
        "0 calls of WebSearch; expected at least 1",
    );
    fails(
        r#"called = { max = 1 }"#,
        Some(3),
        "3 calls of any tool; expected at most 1",
    );
    fails(
        r#"called = { tool = "Bash", failed = false }"#,
        None,
        "0 calls of Bash without error; expected at least 1",
    );
    fails(
        r#"called = { tool = "Read", args = { lines = 4 } }"#,
        None,
        "0 calls of Read {lines: 4}; expected at least 1",
    );
    // A call without result neither failed nor succeeded.
    for failed in [true, false] {
        let assertion = format!("called = {{ tool = \"Edit\", failed = {failed} }}");
        assert_eq!(found(&LOG[..4], &assertion).len(), 1);
    }
}

#[test]
fn order_of_calls() {
    holds(r#"after = { tool = "Edit", then = { tool = "Bash" } }"#);
    holds(r#"after = { tool = "Write", then = { tool = "Bash" } }"#);
    holds(r#"before = { tool = "Edit", then = { tool = "Read", args = { path = "a.rs" } } }"#);
    fails(
        r#"after = { tool = "Bash", then = { tool = "Edit" } }"#,
        Some(3),
        "no call of Edit after the last call of Bash",
    );
    fails(
        r#"before = { tool = "Read", then = { tool = "Edit" } }"#,
        Some(1),
        "no call of Edit before the first call of Read",
    );
    holds(r#"sequence = { tools = ["Read", "Bash"] }"#);
    holds(r#"sequence = { tools = ["Read", "re:Edit", "Bash"], mode = "exact" }"#);
    holds(r#"sequence = { tools = ["Bash", "Read"], mode = "any_order" }"#);
    fails(
        r#"sequence = { tools = ["Edit", "Read"] }"#,
        Some(3),
        "no call of Read after Edit (step 2 of 2)",
    );
    fails(
        r#"sequence = { tools = ["Read", "Bash"], mode = "exact" }"#,
        Some(3),
        "call 2 is Edit; expected Bash",
    );
    fails(
        r#"sequence = { tools = ["Read", "Edit"], mode = "exact" }"#,
        Some(3),
        "call 3 is Bash; expected no further call",
    );
    fails(
        r#"sequence = { tools = ["Read", "Edit", "Bash", "Bash"], mode = "exact" }"#,
        None,
        "call 4 is missing; expected Bash",
    );
    fails(
        r#"sequence = { tools = ["Bash", "Bash"], mode = "any_order" }"#,
        None,
        "1 call of Bash; expected at least 2",
    );
}

#[test]
fn texts() {
    holds(r#"says = { role = "assistant", text = "Done", where = "last" }"#);
    holds(r#"says = { re = "(?i)^fix", where = "first" }"#);
    holds(r#"says = { text = "password", max = 0 }"#);
    fails(
        r#"says = { role = "user", text = "Fix", where = "last" }"#,
        Some(7),
        "no 'Fix' in the last message of user",
    );
    fails(
        r#"says = { re = "Thanks|Done", max = 1 }"#,
        Some(7),
        "2 messages of any role with re:Thanks|Done; expected at most 1",
    );
}

#[test]
fn limits_apply_to_recorded_and_missing_totals() {
    holds("limit = { messages = { min = 8, max = 8 }, exchanges = { max = 2 }, calls = { max = 3 } }");
    holds("limit = { tokens = { max = 120 }, seconds = { min = 90, max = 90 }, tool_errors = { max = 1 } }");
    let all = "limit = { tokens = { max = 119 }, seconds = { max = 89 }, tool_errors = { max = 0 }, cost = { max = 1 } }";
    let messages: Vec<String> = found(&LOG, all).into_iter().map(|(_, message)| message).collect();
    let expected = [
        "tokens 120; expected at most 119",
        "seconds 90; expected at most 89",
        "cost: no price for gpt-unknown",
        "tool_errors 1; expected at most 0",
    ];
    assert_eq!(messages, expected);
    for (total, reason) in [
        ("tokens", "no usage recorded"),
        ("cost", "no usage recorded"),
        ("seconds", "no times recorded"),
    ] {
        let assertion = format!("limit = {{ {total} = {{ max = 9 }} }}");
        assert_eq!(
            found(&LOG[7..], &assertion),
            [(None, format!("{total}: {reason}"))]
        );
    }
    let costed = [
        r#"{"role":"assistant","content":"a","usage":{"input":1,"output":1,"cost":{"total":0.25}},"model":"m"}"#,
    ];
    assert_eq!(found(&costed, "limit = { cost = { max = 0.25 } }"), []);
    assert_eq!(
        found(&costed, "limit = { cost = { max = 0.2 } }")[0].1,
        "cost 0.25; expected at most 0.2"
    );
}

#[test]
fn ends_and_secrets() {
    holds(r#"ends = { role = "user", open_calls = false, valid_for = "anthropic" }"#);
    fails(
        r#"ends = { role = "assistant" }"#,
        Some(7),
        "the last message is of user; expected assistant",
    );
    fails("ends = { open_calls = true }", None, "every call has a result");
    let open = found(
        &LOG[..5],
        "ends = { open_calls = false, valid_for = \"openai-chat\" }",
    );
    assert_eq!(open[0], (Some(3), "the call of Edit has no result".to_string()));
    assert!(open[1].1.starts_with("invalid for openai-chat: OC02"), "{open:?}");
    assert_eq!(
        found(&[], "ends = { role = \"user\" }")[0].1,
        "no message; expected user"
    );
    holds("no_secrets = {}");
    let password = r#"{"role":"user","content":"password: Xk3vq9Tz77w"}"#;
    assert_eq!(found(&[password], "no_secrets = { level = \"definite\" }"), []);
    let leak = found(&[LOG[0], password], "no_secrets = {}");
    assert_eq!(
        leak,
        [(Some(1), "likely secret of kind password, 11 bytes".to_string())]
    );
}

#[test]
fn a_bad_file_is_reported_with_line_and_column() {
    for (text, message) in [
        ("", "line 1, column 1: missing field `rule`"),
        ("rule = []", "line 1, column 1: no rules"),
        ("[[rule]]\nname = \"x\"\n", "line 1, column 1: no assertion; "),
        (
            "\n[[rule]]\ncalled = { tol = \"x\" }\n",
            "line 3, column 12: unknown field `tol`",
        ),
        ("[[rules]]\n", "line 1, column 3: unknown field `rules`"),
        (
            "[[rule]]\ncalls = {}\n",
            "line 2, column 1: unknown field `calls`",
        ),
        (
            "[[rule]]\nsays = { re = \"(\" }\n",
            "line 2, column 15: invalid regular expression '('",
        ),
        (
            "[[rule]]\ncalled = { args = { a = [\"re:[\"] } }\n",
            "line 2, column 26: invalid regular expression '['",
        ),
        (
            "[[rule]]\nends = { valid_for = \"x\" }\n",
            "line 2, column 22: unknown API 'x'",
        ),
        (
            "[[rule]]\nno_secrets = true\n",
            "line 2, column 14: invalid type: boolean `true`, expected a table such as",
        ),
        (
            "[[rule]]\nsays = 5\n",
            "line 2, column 8: invalid type: integer `5`, expected a table",
        ),
        (
            "[[rule]]\ncalled = { min = 2, max = 1 }\n",
            "line 1, column 1: min 2 exceeds max 1",
        ),
        (
            "[[rule]]\nsays = { role = \"user\" }\n",
            "line 1, column 1: says requires text or re",
        ),
        (
            "[[rule]]\nlimit = { cost = {} }\n",
            "line 1, column 1: expected min or max",
        ),
        ("[[rule]]\nends = { }\n", "line 1, column 1: ends requires role, "),
        ("[[rule]\n", "line 1, column "),
    ] {
        let error = SessionRule::read(text).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config);
        assert!(error.message.starts_with(message), "{text}: {}", error.message);
    }
}
