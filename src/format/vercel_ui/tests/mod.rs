//! Tests with small files of both versions, and with the sample files.

use crate::format::Format;
use crate::format::report::Loss;
use crate::format::tests::bed::{exported, through_lines};
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{messages, roles};
use crate::model::session::Session;
use crate::model::session::of_lines as session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FORMAT: Format = Format::VercelUi;

fn read(text: &str) -> Vec<Session> {
    opened(FORMAT, text).sessions
}

/// Messages with all kinds of data.
const NEW: &str = r#"[
 {"id":"u","role":"user","parts":[{"type":"text","text":"Look"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AA=="},{"type":"file","mediaType":"application/pdf","filename":"a.pdf","url":"https://x/a.pdf"},{"type":"data-note","data":1}]},
 {"id":"a","role":"assistant","metadata":{"n":1},"parts":[{"type":"step-start"},{"type":"reasoning","text":"hm","state":"done","providerMetadata":{"openai":{"itemId":"rs","reasoningEncryptedContent":"zz"}}},{"type":"tool-f","toolCallId":"c1","state":"output-available","input":{"n":1.0e-06},"output":[1,2]},{"type":"text","text":"meanwhile"},{"type":"tool-result","toolCallId":"c2","state":"output-error","input":"{x","errorText":"no"},{"type":"step-start"},{"type":"source-url","sourceId":"s","url":"https://x"},{"type":"tool-web","toolCallId":"w","state":"output-available","providerExecuted":true,"input":{},"output":1},{"type":"tool-g","toolCallId":"c3","state":"output-denied","input":{},"approval":{"id":"p","approved":false,"reason":"no!"}},{"type":"tool-h","toolCallId":"c4","state":"output-available","preliminary":true,"input":{},"output":"50%"},{"type":"step-start"}]},
 {"id":"a","role":"assistant","parts":[{"type":"text","text":"again","state":"done"}]},
 {"id":"d","role":"data","content":"","data":{}},
 {"role":"assistant","parts":[]}
]
"#;

#[test]
fn an_exchange_is_its_steps_and_their_results() {
    let sessions = read(NEW);
    let messages = messages(&sessions[0]);
    assert_eq!(
        roles(&messages),
        [
            "user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "assistant"
        ]
    );
    assert_eq!(
        messages[0]["content"][1]["image_url"]["url"],
        "data:image/png;base64,AA=="
    );
    let first = &messages[1];
    assert_eq!(
        (&first["id"], &first["content"]),
        (&json!("a"), &json!("meanwhile"))
    );
    assert_eq!(first["reasoning"][0]["encrypted_content"], "zz");
    let call = |message: &Value, nth: usize| message["tool_calls"][nth]["function"].clone();
    assert_eq!(call(first, 0), json!({"name":"f","arguments":r#"{"n":1.0e-06}"#}));
    assert_eq!(call(first, 1), json!({"name":"result","arguments":"{x"}));
    assert_eq!(messages[2]["content"], "[1,2]");
    assert_eq!(
        (&messages[3]["content"], &messages[3]["metadata"]["is_error"]),
        (&json!("no"), &json!(true))
    );
    let second = &messages[4];
    assert_eq!(second["content"][0]["type"], "tool-web");
    assert_eq!(second["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(messages[5]["content"], "no!");
    assert_eq!(messages[6]["id"], "a~2", "an id that another message has");
    hold(FORMAT, NEW);
}

/// The same messages in version 4.
const OLD: &str = r#"{"id":"chat-1","title":"T","messages":[
 {"id":"u","role":"user","createdAt":"2026-01-02T03:04:05.000Z","content":"Look","experimental_attachments":[{"name":"a.png","contentType":"image/png","url":"data:image/png;base64,AA=="}]},
 {"id":"a","role":"assistant","createdAt":1767323045000,"content":"9 C","reasoning":"hm","toolInvocations":[{"state":"result","step":0,"toolCallId":"c1","toolName":"f","args":{"a":1},"result":"ok"},{"state":"result","step":1,"toolCallId":"c2","toolName":"f","args":{"a":2},"result":{"c":9}}]},
 {"id":"b","role":"assistant","content":"Well. So.","parts":[{"type":"step-start"},{"type":"reasoning","reasoning":"hm","details":[{"type":"text","text":"hm","signature":"sig"}]},{"type":"text","text":"Well. "},{"type":"tool-invocation","toolInvocation":{"state":"call","toolCallId":"c3","toolName":"g","args":{}}},{"type":"text","text":"So."}],"toolInvocations":[{"state":"call","toolCallId":"c3","toolName":"g","args":{}}]},
 {"id":"d","role":"data","content":"x"}
]}
"#;

#[test]
fn version_four_is_read_and_changed_in_place() {
    let file = opened(FORMAT, OLD);
    let sessions = &file.sessions;
    let messages = messages(&sessions[0]);
    assert_eq!(
        roles(&messages),
        [
            "user", "assistant", "tool", "assistant", "tool", "assistant", "assistant"
        ]
    );
    assert_eq!(sessions[0].header_text("id").as_deref(), Some("chat-1"));
    assert_eq!(
        messages[0]["content"][1]["image_url"]["url"],
        "data:image/png;base64,AA=="
    );
    assert_eq!(messages[1]["timestamp"], "2026-01-02T03:04:05Z");
    assert_eq!(messages[4]["content"], r#"{"c":9}"#);
    assert_eq!(messages[5]["content"], "9 C");
    assert_eq!(messages[6]["content"].as_array().unwrap().len(), 2);
    assert_eq!(messages[6]["reasoning"][0]["signature"], "sig");
    assert_eq!(
        messages[6]["tool_calls"].as_array().unwrap().len(),
        1,
        "the same call in both"
    );
    // A result is added to its call, and a message after it.
    let more = [
        (0, r#"{"role":"tool","tool_call_id":"c3","content":"done"}"#),
        (0, r#"{"role":"user","content":"Thanks","id":"z"}"#),
    ];
    let out = file.with(&more);
    let elements: Value = serde_json::from_str(&out).unwrap();
    let elements = elements["messages"].as_array().unwrap();
    assert_eq!(elements.len(), 5);
    assert_eq!(elements[2]["toolInvocations"][0]["result"], "done");
    assert_eq!(elements[4]["content"], "Thanks");
    let kept: Vec<_> = OLD.lines().take(3).collect();
    assert!(out.starts_with(&kept.join("\n")), "{out}");
    hold_old();
}

/// Conversion from the record stream restores the same version, and is equivalent in the other.
fn hold_old() {
    let sessions = read(OLD);
    let native = through_lines(&sessions[0]);
    let (out, report) = exported(Format::VercelUiV4, &native);
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    let same = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
    assert_eq!(same(out.as_bytes()), same(OLD.as_bytes()));
    let (out, _) = exported(FORMAT, &native);
    let reported = |session: &Session| -> Vec<Value> {
        let reported = |message: &Value| {
            json!([
                message["role"], message["content"], message["tool_calls"], message["reasoning"]
            ])
        };
        messages(session).iter().map(reported).collect()
    };
    assert!(!out.contains("toolInvocations"));
    assert_eq!(reported(&read(&out)[0]), reported(&native));
}

#[test]
fn any_session_is_one_message_an_exchange() {
    let built = session(&[
        r#"{"type":"session","version":1,"id":"a"}"#,
        r#"{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}],"id":"q"}"#,
        r#"{"role":"assistant","content":null,"id":"x","reasoning":[{"type":"thinking","text":"hm","signature":"c2ln"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"d","type":"function","function":{"name":"g","arguments":""}}]}"#,
        r#"{"role":"tool","tool_call_id":"d","content":"{\"ok\": true}","metadata":{"is_error":true}}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"{\"ok\": true}"}"#,
        r#"{"role":"assistant","content":"Done.","id":"y"}"#,
        r#"{"role":"tool","tool_call_id":"nobody","content":"lost"}"#,
        r#"{"role":"user","content":"\"quoted\""}"#,
    ]);
    let (out, report) = exported(FORMAT, &built);
    assert_eq!(
        report.losses,
        BTreeMap::from([(Loss::Id, 1), (Loss::Orphan, 1)]),
        "{report:?}"
    );
    let elements: Value = serde_json::from_str(&out).unwrap();
    let elements = elements.as_array().unwrap();
    assert_eq!(elements.len(), 3);
    let kinds: Vec<_> = elements[1]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["type"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "step-start", "reasoning", "tool-f", "tool-g", "step-start", "text"
        ]
    );
    assert_eq!(
        elements[1]["parts"][1]["providerMetadata"]["anthropic"]["signature"],
        "c2ln"
    );
    assert_eq!(elements[1]["parts"][2]["output"], json!({"ok":true}));
    assert_eq!(elements[1]["parts"][3]["errorText"], r#"{"ok": true}"#);
    assert!(elements[2]["id"].as_str().unwrap().starts_with("msg_"));
    let again = messages(&read(&out)[0]);
    assert_eq!(
        roles(&again),
        ["user", "assistant", "tool", "tool", "assistant", "user"]
    );
    assert_eq!(again[2]["content"], r#"{"ok": true}"#);
    assert_eq!(again[1]["tool_calls"][0]["function"]["arguments"], r#"{"a": 1}"#);
    assert_eq!(again[0]["content"][0]["input_audio"]["format"], "wav");
    assert_eq!(again[5]["content"], "\"quoted\"");
    let (out, _) = exported(Format::VercelUiV4, &built);
    let old = messages(&read(&out)[0]);
    assert_eq!(roles(&old), roles(&again));
    assert_eq!(old[2]["content"], r#"{"ok": true}"#);
    assert_eq!(old[1]["reasoning"][0]["signature"], "c2ln");
}

#[test]
fn dropped_reasoning_is_also_removed_outside_of_parts() {
    let text = r#"[{"id":"a","role":"assistant","content":"x","reasoning":"secret","parts":[{"type":"reasoning","reasoning":"secret","details":[{"type":"text","text":"secret"}]},{"type":"text","text":"x"},{"type":"source","source":{"id":"s"}}]}]"#;
    hold(FORMAT, text);
    let edit = r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"s","edit":[{"id":"a","unset":["reasoning"]}]}"#;
    let after = opened(FORMAT, text).with(&[(0, edit)]);
    assert!(!after.contains("secret"), "{after}");
    assert!(after.contains(r#""source":{"id":"s"}"#), "{after}");
}
