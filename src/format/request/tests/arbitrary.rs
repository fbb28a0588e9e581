//! Property tests with generated histories and sessions.

use super::*;
use crate::model::json::push_text;
use proptest::collection::vec;
use proptest::prelude::*;

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    push_text(&mut out, text);
    String::from_utf8(out).unwrap()
}

/// JSON strings of all scripts, including empty ones and lone surrogates.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z ]{1,8}".prop_map(|text| quoted(&text)),
        3 => "\\PC{0,6}".prop_map(|text| quoted(&text)),
        1 => prop::sample::select(vec![
            r#""""#, r#"" ""#, r#""\ud800""#, r#""\u0041\/""#, r#""\n\t\\""#, r#""</summary>""#, r#""{\"a\":1}""#,
        ]).prop_map(str::to_string),
    ]
}

fn message_text() -> impl Strategy<Value = String> {
    "[a-zäß世א🎉]{1,6}( [a-z{}\"\\\\]{1,5})?"
}

fn value() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "{}", "null", "1.0", "1e2", "12345678901234567890", "[]", r#""x""#, r#"{"a":[1,{"b":null}]}"#,
        "true", r#"{"a":1,"a":2}"#,
    ])
    .prop_map(str::to_string)
}

fn id() -> impl Strategy<Value = String> {
    prop::sample::select(vec![r#""t1""#, r#""t2""#, r#""t 3""#, r#""""#]).prop_map(str::to_string)
}

/// An object with a random subset of these members in random order, and sometimes an unknown one.
fn object(members: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let count = members.len();
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| {
            let value = value.prop_map(move |value| format!("{name:?}:{value}"));
            prop_oneof![14 => value.prop_map(Some), 1 => Just(None)]
        })
        .collect();
    let extra = prop_oneof![
        12 => Just(None),
        1 => value().prop_map(|value| Some(format!(r#""extra":{value}"#))),
        1 => value().prop_map(|value| Some(format!(r#""cache_control":{value}"#))),
        1 => value().prop_map(|value| Some(format!(r#""id":{value}"#))),
        1 => value().prop_map(|value| Some(format!(r#""metadata":{value}"#))),
    ];
    (members, extra, 0..count.max(1), prop::bool::weighted(0.1))
        .prop_map(|(members, extra, turn, turned)| {
            let mut all: Vec<_> = members.into_iter().chain([extra]).flatten().collect();
            if turned && !all.is_empty() {
                let turn = turn % all.len();
                all.rotate_left(turn);
            }
            format!("{{{}}}", all.join(","))
        })
        .boxed()
}

fn word(words: &'static [&'static str]) -> BoxedStrategy<String> {
    prop::sample::select(words)
        .prop_map(|word| format!("{word:?}"))
        .boxed()
}

fn list(element: impl Strategy<Value = String> + 'static, most: usize) -> BoxedStrategy<String> {
    vec(element, 0..most)
        .prop_map(|all| format!("[{}]", all.join(",")))
        .boxed()
}

fn block() -> BoxedStrategy<String> {
    let image = prop::sample::select(vec![
        r#"{"type":"base64","media_type":"image/png","data":"aGk="}"#,
        r#"{"type":"base64","media_type":"image/png","data":"aGk\/"}"#,
        r#"{"type":"base64","media_type":"application/pdf","data":"aGk="}"#,
        r#"{"type":"base64","media_type":"image/x;y","data":""}"#,
        r#"{"type":"url","url":"https://a.b/c"}"#,
        r#"{"type":"url","url":"data:image/png;base64,aGk="}"#,
        r#"{"type":"file","file_id":"f"}"#,
        r#"{"type":"text","media_type":"text/plain","data":"t"}"#,
    ])
    .prop_map(str::to_string);
    let plain = || object(vec![("type", word(&["text"])), ("text", text().boxed())]);
    let inner = prop_oneof![text(), list(plain(), 3), Just("null".to_string())];
    prop_oneof![
        4 => plain(),
        2 => object(vec![("type", word(&["image", "document"])), ("source", image.boxed()), ("title", text().boxed())]),
        2 => object(vec![("type", word(&["image"])), ("source", Just(r#"{"type":"base64","media_type":"image/png","data":"aGk="}"#.to_string()).boxed())]),
        3 => object(vec![("type", word(&["thinking"])), ("thinking", text().boxed()), ("signature", text().boxed())]),
        1 => object(vec![("type", word(&["redacted_thinking"])), ("data", text().boxed())]),
        4 => object(vec![("type", word(&["tool_use"])), ("id", id().boxed()), ("name", text().boxed()), ("input", prop_oneof![3 => Just("{}".to_string()), 1 => value()].boxed())]),
        4 => object(vec![("type", word(&["tool_result"])), ("tool_use_id", id().boxed()), ("content", inner.boxed())]),
        1 => object(vec![("type", word(&["tool_result"])), ("tool_use_id", id().boxed()), ("is_error", value().boxed())]),
        1 => object(vec![("type", word(&["server_tool_use", "web_search_tool_result", "compaction", "new"])), ("content", value().boxed())]),
        1 => value(),
    ]
    .boxed()
}

fn message() -> BoxedStrategy<String> {
    let content = prop_oneof![2 => text(), 4 => list(block(), 5), 1 => value()];
    object(vec![
        (
            "role",
            word(&["user", "user", "assistant", "assistant", "system", "tool"]),
        ),
        ("content", content.boxed()),
    ])
}

fn content() -> BoxedStrategy<String> {
    let call = || {
        object(vec![
            (
                "name",
                prop::sample::select(vec![r#""f""#, r#""g""#])
                    .prop_map(str::to_string)
                    .boxed(),
            ),
            ("args", value().boxed()),
        ])
    };
    let answer = || {
        let response = prop_oneof![
            text().prop_map(|text| format!(r#"{{"output":{text}}}"#)),
            text().prop_map(|text| format!(r#"{{"error":{text}}}"#)),
            value(),
        ];
        object(vec![
            (
                "name",
                prop::sample::select(vec![r#""f""#, r#""g""#])
                    .prop_map(str::to_string)
                    .boxed(),
            ),
            ("response", response.boxed()),
        ])
    };
    let part = prop_oneof![
        4 => object(vec![("text", text().boxed())]),
        1 => object(vec![("text", text().boxed()), ("thoughtSignature", text().boxed())]),
        2 => object(vec![("text", text().boxed()), ("thought", word(&["x"]).prop_map(|_| "true".to_string()).boxed())]),
        3 => object(vec![("functionCall", call())]),
        1 => object(vec![("functionCall", call()), ("thoughtSignature", text().boxed())]),
        1 => object(vec![("function_call", call())]),
        3 => object(vec![("functionResponse", answer())]),
        1 => object(vec![("inlineData", Just(r#"{"mimeType":"image/png","data":"aGk="}"#.to_string()).boxed())]),
        1 => object(vec![("inlineData", Just(r#"{"mimeType":"audio/ogg","data":"aGk=","displayName":"n"}"#.to_string()).boxed())]),
        1 => object(vec![("fileData", Just(r#"{"mimeType":"video/mp4","fileUri":"gs://b"}"#.to_string()).boxed())]),
        1 => object(vec![("executableCode", value().boxed())]),
        1 => value(),
    ];
    object(vec![
        (
            "role",
            word(&["user", "model", "user", "model", "function", "assistant"]),
        ),
        ("parts", list(part, 5)),
    ])
}

fn item() -> BoxedStrategy<String> {
    let part = object(vec![
        (
            "type",
            word(&["input_text", "output_text", "text", "refusal", "new"]),
        ),
        ("text", text().boxed()),
    ]);
    let image = object(vec![
        ("type", word(&["input_image"])),
        ("image_url", word(&["data:image/png;base64,aGk=", "https://a.b"])),
        ("detail", word(&["auto"])),
    ]);
    let content = prop_oneof![2 => text(), 3 => list(prop_oneof![3 => part, 1 => image], 3), 1 => value()];
    let output = content.clone();
    prop_oneof![
        4 => object(vec![("type", word(&["message"])), ("role", word(&["user", "assistant", "developer"])), ("content", content.clone().boxed())]),
        3 => object(vec![("role", word(&["user", "assistant", "system", "odd"])), ("content", content.boxed())]),
        3 => object(vec![("type", word(&["reasoning"])), ("summary", list(value(), 2)), ("encrypted_content", text().boxed())]),
        4 => object(vec![("type", word(&["function_call"])), ("call_id", id().boxed()), ("name", text().boxed()), ("arguments", text().boxed())]),
        1 => object(vec![("type", word(&["function_call"])), ("call_id", id().boxed()), ("arguments", value().boxed())]),
        1 => object(vec![("type", word(&["custom_tool_call"])), ("call_id", id().boxed()), ("name", text().boxed()), ("input", text().boxed())]),
        1 => object(vec![("type", word(&["local_shell_call", "computer_call", "web_search_call"])), ("call_id", id().boxed()), ("action", value().boxed())]),
        3 => object(vec![("type", word(&["function_call_output", "custom_tool_call_output", "computer_call_output"])), ("call_id", id().boxed()), ("output", output.boxed())]),
        1 => object(vec![("type", word(&["mcp_call", "compaction", "item_reference", "mcp_list_tools"])), ("encrypted_content", text().boxed())]),
    ]
    .boxed()
}

fn history(api: Api) -> BoxedStrategy<String> {
    match api {
        Api::OpenaiResponses => list(item(), 8),
        Api::Gemini => list(content(), 6),
        Api::Anthropic | Api::OpenaiChat => list(message(), 6),
    }
}

/// Reads and writes a history; `None` if it is not one: an element that is not a message is preserved but not sent.
fn returned(api: Api, text: &str) -> Option<(String, Session)> {
    let mut report = Report::default();
    let mut sessions = convert(format(api), &DocumentSource::alone(text.as_bytes()), &mut report).ok()?;
    assert_eq!(sessions.len(), 1);
    let session = sessions.remove(0);
    (!report.is_damaged()).then(|| (printed(api, &session, WritePurpose::Return).0, session))
}

/// A step of a native session.
#[derive(Clone, Debug)]
enum Step {
    System(String),
    User(String),
    Text(String, bool),
    Calls(Vec<(String, String)>, bool, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let arguments = prop::sample::select(vec![
        "{}",
        r#"{"n":12345678901234567890}"#,
        r#"{"t":"ü\n"}"#,
        r#"{"f":1.0}"#,
    ]);
    let call = (prop::sample::select(vec!["f", "g"]), arguments)
        .prop_map(|(name, arguments)| (name.to_string(), arguments.to_string()));
    prop_oneof![
        4 => message_text().prop_map(Step::User),
        3 => (message_text(), any::<bool>()).prop_map(|(text, reasons)| Step::Text(text, reasons)),
        3 => (vec(call, 1..4), any::<bool>(), any::<bool>()).prop_map(|(calls, late, has_text)| Step::Calls(calls, late, has_text)),
        1 => message_text().prop_map(Step::System),
    ]
}

/// The lines, and the expected messages after reading them back, with late results moved to their calls.
fn lines(steps: &[Step]) -> (Vec<String>, Vec<MessageContent>) {
    let (mut lines, mut expected, mut late_lines) = (Vec::new(), Vec::new(), Vec::new());
    let message = |role, text: &str, calls: &[(String, String)]| MessageContent {
        role,
        text: text.to_string(),
        calls: calls.to_vec(),
    };
    let extra = r#","timestamp":"2026-03-01T09:00:00Z","unknown":{"a":[1]},"metadata":{"x":1}"#;
    for (nth, step) in steps.iter().enumerate() {
        match step {
            Step::System(text) if nth == 0 => {
                lines.push(format!(r#"{{"role":"system","content":{}}}"#, quoted(text)));
                expected.push(message("system", text, &[]));
            }
            Step::System(text) | Step::User(text) => {
                lines.push(format!(r#"{{"role":"user","content":{}{extra}}}"#, quoted(text)));
                expected.push(message("user", text, &[]));
            }
            Step::Text(text, reasons) => {
                let reasoning = if *reasons {
                    r#","reasoning":[{"type":"text","text":"hm"}]"#
                } else {
                    ""
                };
                lines.push(format!(
                    r#"{{"role":"assistant","content":{}{reasoning}}}"#,
                    quoted(text)
                ));
                expected.push(message("assistant", text, &[]));
            }
            Step::Calls(calls, late, has_text) => {
                let raw: Vec<_> = calls.iter().enumerate().map(|(i, (name, arguments))| {
                    format!(r#"{{"id":"c{nth}.{i}","type":"function","function":{{"name":{name:?},"arguments":{}}}}}"#, quoted(arguments))
                }).collect();
                let content = if *has_text { "\"s\"" } else { "null" };
                lines.push(format!(
                    r#"{{"role":"assistant","content":{content},"tool_calls":[{}]}}"#,
                    raw.join(",")
                ));
                expected.push(message("assistant", if *has_text { "s" } else { "" }, calls));
                let to = if *late { &mut late_lines } else { &mut lines };
                // In reverse order of the calls.
                for i in (0..calls.len()).rev() {
                    to.push(format!(
                        r#"{{"role":"tool","tool_call_id":"c{nth}.{i}","content":"r{nth}.{i}"}}"#
                    ));
                }
                for i in 0..calls.len() {
                    expected.push(message("tool", &format!("r{nth}.{i}"), &[]));
                }
            }
        }
    }
    lines.append(&mut late_lines);
    (lines, expected)
}

/// Joins messages of the same role, as some APIs do.
fn joined(all: Vec<MessageContent>) -> Vec<MessageContent> {
    let mut out: Vec<MessageContent> = Vec::new();
    for one in all {
        match out.last_mut() {
            Some(last) if last.role == one.role && one.role != "tool" => {
                if !last.text.is_empty() && !one.text.is_empty() {
                    last.text.push('\n');
                }
                last.text.push_str(&one.text);
                last.calls.extend(one.calls);
            }
            _ => out.push(one),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn histories_are_restored(
        (api, text) in prop::sample::select(&READ[..]).prop_flat_map(|api| (Just(api), history(api)))
    ) {
        let Some((back, session)) = returned(api, &text) else { return Ok(()) };
        same(&back, &text);
        // Also through a file of lines.
        let lines: Vec<_> = (0..session.len()).map(|i| String::from_utf8(session.record(i).body.to_vec()).unwrap()).collect();
        same(&printed(api, &super::session(&lines), WritePurpose::Return).0, &text);
    }

    #[test]
    fn excerpts_of_histories_convert_to_valid_json(
        (api, text) in prop::sample::select(&READ[..]).prop_flat_map(|api| (Just(api), history(api))),
        keep in vec(any::<bool>(), 8)
    ) {
        let Some((_, session)) = returned(api, &text) else { return Ok(()) };
        let lines: Vec<_> = (0..session.len())
            .filter(|i| *i == 0 || keep[i % keep.len()])
            .map(|i| String::from_utf8(session.record(i).body.to_vec()).unwrap())
            .collect();
        let session = super::session(&lines);
        for api in Api::ALL {
            let request = request(api, &session).0;
            for element in &request.elements {
                prop_assert!(serde_json::from_slice::<serde_json::Value>(&element.raw).is_ok()
                    || String::from_utf8_lossy(&element.raw).contains("\\ud800"));
                prop_assert!(!element.items.is_empty());
            }
        }
    }

    #[test]
    fn converted_sessions_are_restored(steps in vec(step(), 1..12)) {
        let (lines, expected) = lines(&steps);
        let session = session(&lines);
        for api in Api::ALL {
            let text = printed(api, &session, WritePurpose::Context).0;
            let back = read(api, &text);
            let reported = joined(all_contents(&back));
            let results: Vec<_> = reported.iter().filter(|reported| reported.role == "tool").map(|reported| reported.text.clone()).collect();
            let wanted: Vec<_> = expected.iter().filter(|reported| reported.role == "tool").map(|reported| reported.text.clone()).collect();
            prop_assert_eq!(results, wanted, "{}", text);
            let reported: Vec<_> = reported.into_iter().collect();
            prop_assert_eq!(reported, joined(all(&expected)), "{} {}", api.name(), text);
        }
    }
}

fn all(expected: &[MessageContent]) -> Vec<MessageContent> {
    expected
        .iter()
        .map(|reported| MessageContent {
            role: reported.role,
            text: reported.text.clone(),
            calls: reported.calls.clone(),
        })
        .collect()
}
