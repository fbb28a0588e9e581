//! Tests with small sessions, and with the sample files.

use super::read::read;
use crate::error::Result;
use crate::format::report::Report;
use crate::format::tests::in_place::{hold, opened};
use crate::format::tests::small::{messages, roles};
use crate::format::{DocumentSource, Format, WritePurpose, WriteTarget};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use serde_json::{Value, json};

const FORMAT: Format = Format::Cline;

/// A session with all kinds of data.
const RICH: &str = r#"{"version":1,"updated_at":"2026-08-11T09:00:00.000Z","agent":"subagent","sessionId":"17_ab__agent-1","system_prompt":"You glaze.",
"messages":[
 {"id":"u1","role":"user","content":[{"type":"text","text":"Mix."},{"type":"file","path":"/a.txt","content":"06:12"},{"type":"image","data":"AAAA","mediaType":"image/png"}],"ts":1786000000100},
 {"id":"a1","role":"assistant","content":[{"type":"thinking","text":"Two.","signature":"c2ln"},{"type":"redacted_thinking","data":"cmVk"},{"type":"tool_use","id":"t1","name":"read","input":{"p": 9007199254740993}},{"type":"tool_use","id":"t2","name":"read","input":{}}],"ts":1786000000200,"modelInfo":{"id":"elm-3","provider":"anthropic"},"metrics":{"inputTokens":900,"outputTokens":55,"cacheReadTokens":700,"cacheWriteTokens":100,"cost":0.01}},
 {"id":"u2","role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"18:40"},{"type":"image","data":"AAAA","mediaType":"image/png"}],"name":"read"},{"type":"tool_result","tool_use_id":"t1","content":"06:12","is_error":true},{"type":"text","text":"hurry"}]},
 {"role":"assistant","content":[{"type":"text","text":"Done."}],"metadata":{"x":1}},
 {"id":"u3","role":"user","content":"a string"}
]}
"#;

/// A session with a manifest and a compaction file next to it.
fn with_files(manifest: &Value, compaction: &Value) -> Session {
    let neighbor = |name: &str| {
        Ok(match name {
            "s.json" => Some(manifest.to_string().into_bytes()),
            "s.compaction.json" => Some(compaction.to_string().into_bytes()),
            _ => None,
        })
    };
    let source = DocumentSource {
        name: Some("s.messages.json"),
        neighbor: &neighbor,
        bytes: RICH.as_bytes(),
    };
    read(&source, &mut Report::default()).unwrap().remove(0)
}

#[test]
fn every_member_is_read() {
    let file = opened(FORMAT, RICH);
    let session = &file.sessions[0];
    let header: Value = serde_json::from_slice(session.record(0).body).unwrap();
    assert_eq!(header["metadata"]["model"], "elm-3");
    let lineage = json!({"kind": "sidechain", "parent": "17_ab"});
    assert_eq!(header["metadata"]["lineage"], lineage);
    let messages = messages(session);
    let all = [
        "system", "user", "assistant", "tool", "tool", "user", "assistant", "user",
    ];
    assert_eq!(roles(&messages), all);
    assert_eq!(
        messages[1]["content"][2]["image_url"]["url"],
        "data:image/png;base64,AAAA"
    );
    assert_eq!(messages[1]["timestamp"], "2026-08-06T07:06:40.100Z");
    assert_eq!(messages[2]["reasoning"].as_array().unwrap().len(), 2);
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        r#"{"p": 9007199254740993}"#
    );
    assert_eq!(messages[4]["metadata"]["is_error"], true);
    hold(FORMAT, RICH);
}

#[test]
fn new_messages_have_the_blocks_of_the_contract() {
    let file = opened(FORMAT, RICH);
    let reply = r#"{"role":"assistant","content":"I look.","model":"elm-4","usage":{"prompt_tokens":9,"completion_tokens":4},"id":"n1","timestamp":"2026-08-06T07:06:41Z"}"#;
    let after = file.with(&[(0, reply)]);
    let line = r#"{"id":"n1","role":"assistant","content":[{"type":"text","text":"I look."}],"ts":1786000001000,"modelInfo":{"id":"elm-4"},"metrics":{"inputTokens":9,"outputTokens":4,"cacheReadTokens":0,"cacheWriteTokens":0}}"#;
    assert_eq!(after, RICH.replace("\n]}", &format!(",\n {line}\n]}}")));
}

#[test]
fn instructions_are_not_changed_in_place() {
    let file = opened(FORMAT, RICH);
    let drop =
        r#"{"type":"compact","id":"e","at":"2026-01-01T00:00:00Z","strategy":"x","drop":["instructions"]}"#;
    let mut session = file.sessions[0].clone();
    session.push_new(drop.as_bytes());
    let error = written(&session).unwrap_err();
    assert!(error.to_string().contains("instructions"), "{error}");
}

fn written(session: &Session) -> Result<Vec<u8>> {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    FORMAT.spec().write.unwrap()(
        session,
        &view,
        WriteTarget(WritePurpose::Return, &mut out, &mut report),
    )?;
    Ok(out)
}

#[test]
fn the_compaction_file_that_the_manifest_names_is_the_view() {
    let compaction = json!({"messages": [
        {"id": "u2", "role": "user", "content": [{"type": "text", "text": "Mixed."}], "metadata": {"kind": "compaction"}},
        {"id": "u3", "role": "user", "content": "a string"},
    ]});
    let manifest =
        json!({"cwd": "/kiln", "metadata": {"title": "Kiln"}, "compaction_path": "/x/s.compaction.json"});
    let session = with_files(&manifest, &compaction);
    assert_eq!(session.header_text("title").as_deref(), Some("Kiln"));
    let view = View::replay(&session);
    let shown = view.items.iter().map(|item| match item {
        Item::Summary(_) => item.summary(&session).unwrap().to_string(),
        _ => item.message(&session).unwrap().id().unwrap().into_owned(),
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["instructions", "Mixed.", "u3"]);
    assert!(
        written(&session)
            .unwrap_err()
            .to_string()
            .contains("compaction file")
    );
    // A compaction file that the manifest does not name is ignored.
    let session = with_files(&json!({}), &compaction);
    assert_eq!(View::replay(&session).items.len(), 8);
    assert_eq!(written(&session).unwrap(), RICH.as_bytes());
}
