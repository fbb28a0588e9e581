//! Tests of the format.

mod back;
mod damage;
mod properties;
mod read;
mod written;

use super::record;
use crate::error::Result;
use crate::format::report::Report;
use crate::format::sessions::SessionInput;
use crate::format::tests::truth;
use crate::format::{EditedSession, WritePurpose, WriteTarget};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::{Item, View};

fn read(log: &[u8], returns: bool) -> (Vec<Session>, Report) {
    read_for(log, returns, super::ReadPurpose::Write)
}

fn read_for(log: &[u8], returns: bool, purpose: super::ReadPurpose) -> (Vec<Session>, Report) {
    let mut report = Report::default();
    let input = SessionInput {
        name: Some("log.jsonl".to_string()),
        head: Vec::new(),
        rest: Box::new(std::io::Cursor::new(log.to_vec())),
        returns,
        neighbor: None,
    };
    let mut reader = super::open(input, purpose).unwrap();
    let sessions = truth::all(reader.as_mut(), &mut report).unwrap();
    (sessions, report)
}

/// The view in comparable form: role and content of each message.
fn shown(session: &Session) -> Vec<(String, String)> {
    let view = View::replay(session);
    view.items
        .iter()
        .map(|item| role_and_content(item, session))
        .collect()
}

fn role_and_content(item: &Item, session: &Session) -> (String, String) {
    if let Some(text) = item.summary(session) {
        return ("summary".to_string(), text.into_owned());
    }
    let role = item.message(session).unwrap().role_name().into_owned();
    let content = record::content(item.body(session), true, &mut Report::default()).unwrap_or_default();
    // A string equals a text block; lines of the model always have blocks.
    let content = match json::text(&content) {
        Some(_) => [b"[{\"type\":\"text\",\"text\":", &content[..], b"}]"].concat(),
        None => json::compact(&content).0,
    };
    let content = String::from_utf8(content).unwrap();
    (role, content)
}

/// The log after appending lines to its sessions.
fn changed(log: &[u8], mut change: impl FnMut(usize, &mut Session) -> bool) -> Result<Vec<u8>> {
    let (mut sessions, _) = read(log, true);
    let changed: Vec<bool> = sessions
        .iter_mut()
        .enumerate()
        .map(|(nth, session)| change(nth, session))
        .collect();
    let views: Vec<View> = sessions.iter().map(View::replay).collect();
    let returned: Vec<EditedSession<'_>> = sessions
        .iter()
        .zip(&views)
        .zip(changed)
        .map(|((session, view), changed)| EditedSession {
            session,
            view,
            changed,
        })
        .collect();
    let mut out = Vec::new();
    super::write_back::write_back(&returned, &mut out, &mut Report::default())?;
    Ok(out)
}

/// Writes a session as a log.
fn written(session: &Session, purpose: WritePurpose) -> (Vec<u8>, Report) {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let view = View::replay(session);
    super::write::write(session, &view, WriteTarget(purpose, &mut out, &mut report)).unwrap();
    (out, report)
}

fn line(kind: &str, uuid: &str, parent: &str, message: &str) -> String {
    let parent = match parent {
        "" => "null".to_string(),
        parent => format!("\"{parent}\""),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"s","version":"2.0.1","type":"{kind}",{message},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"}}"#
    )
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    let message = format!(r#""message":{{"role":"user","content":"{text}"}}"#);
    line("user", uuid, parent, &message)
}

fn results(uuid: &str, parent: &str, results: &[(&str, &str)]) -> String {
    let block = |(id, text): &(&str, &str)| {
        format!(r#"{{"tool_use_id":"{id}","type":"tool_result","content":"{text}"}}"#)
    };
    let blocks: Vec<String> = results.iter().map(block).collect();
    let message = format!(
        r#""message":{{"role":"user","content":[{}]}},"toolUseResult":{{"x":[1, 2]}}"#,
        blocks.join(",")
    );
    line("user", uuid, parent, &message)
}

fn assistant(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    let message = format!(
        r#""message":{{"id":"{id}","role":"assistant","model":"m","content":[{block}],"usage":{{"input_tokens":10,"output_tokens":1}}}}"#
    );
    line("assistant", uuid, parent, &message)
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"n","input":{{"a" : 9007199254740993}}}}"#)
}

fn log(lines: &[String]) -> Vec<u8> {
    let mut log = lines.join("\n").into_bytes();
    log.push(b'\n');
    log
}

/// A log with parallel calls, a branch, a sidechain, progress lines, a boundary and lines that are not messages.
fn everything() -> Vec<u8> {
    let side =
        |line: String| line.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
    log(&[
        r#"{"type":"summary","summary":"A title","leafUuid":"u9"}"#.to_string(),
        user("u1", "", "first"),
        assistant("a1", "u1", "m1", &text("I look.")),
        assistant("a2", "a1", "m1", &call("c1")),
        assistant("a3", "a2", "m1", &call("c2")),
        r#"{"type":"progress","uuid":"p1","parentUuid":"a2","data":{}}"#.to_string(),
        results("r1", "a2", &[("c1", "one")]),
        results("r2", "a3", &[("c2", "two")]),
        assistant("a4", "r2", "m2", &text("Done.")),
        user("b1", "a4", "left behind"),
        assistant("b2", "b1", "m3", &text("lost")),
        side(user("s1", "", "do it")),
        side(assistant("s2", "s1", "m4", &text("did it"))),
        user("u2", "a4", "second"),
        assistant("a5", "u2", "m5", &text("Yes.")),
        r#"{"type":"system","subtype":"turn_duration","uuid":"t1","parentUuid":"a5","sessionId":"s"}"#.to_string(),
        r#"{"type":"system","subtype":"compact_boundary","uuid":"k1","parentUuid":null,"logicalParentUuid":"t1","compactMetadata":{"trigger":"auto","preTokens":9}}"#.to_string(),
        user("k2", "k1", "what was").replace("\"type\":\"user\"", "\"type\":\"user\",\"isCompactSummary\":true"),
        user("u3", "k2", "third"),
        assistant("a6", "u3", "m6", &call("c3")),
        results("r3", "a6", &[("c3", "three")]),
        assistant("a7", "r3", "m7", &text("Here.")),
        user("u9", "a7", "fourth"),
        r#"{"type":"queue-operation","operation":"x","sessionId":"s"}"#.to_string(),
    ])
}
