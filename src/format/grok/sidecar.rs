//! Reads the files next to a history: the session summary, and times in the display stream.

use super::updates::{GrokUpdate, time_of};
use crate::format::kit::{LineageInfo, SessionInfo, Sidecar};
use crate::format::workspace::Workspace;
use crate::model::{json, time};

/// The information next to a file with this name.
pub fn read(name: Option<&str>, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
    let mut sidecar = Sidecar::default();
    if let Some(summary) = neighbor("summary.json") {
        sidecar.info = info(&summary);
    }
    if name != Some("updates.jsonl")
        && let Some(updates) = neighbor("updates.jsonl")
    {
        let lines = updates.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        for line in lines {
            add(line, &mut sidecar);
        }
    }
    sidecar
}

fn info(summary: &[u8]) -> SessionInfo {
    let text = |name| {
        let text = json::member_string(summary, name);
        text.filter(|text: &String| !text.is_empty())
    };
    let inner = |name| json::member(json::member(summary, "info")?, name);
    let kind = match text("session_kind") {
        Some(kind) if kind.starts_with("subagent") => "sidechain",
        _ => "fork",
    };
    SessionInfo {
        id: inner("id").and_then(json::text).map(String::from),
        title: text("generated_title").or_else(|| text("session_summary")),
        created: text("created_at").filter(|time| time::is_rfc3339(time)),
        workspace: Workspace::new(
            inner("cwd"),
            json::member(summary, "head_branch"),
            json::member(summary, "current_model_id"),
        ),
        lineage: text("parent_session_id").map(|parent| LineageInfo {
            kind,
            parent,
            at: None,
        }),
    }
}

/// The key of a prompt's time.
pub fn prompt(index: &[u8]) -> String {
    format!("prompt {}", String::from_utf8_lossy(index))
}

/// The key of a call's time; the stream also has the time of its result.
pub fn call(id: &str, is_result: bool) -> String {
    format!("{} {id}", if is_result { "result" } else { "call" })
}

/// Adds the time of a line. Only the first time of a prompt or call is used.
fn add(line: &[u8], sidecar: &mut Sidecar) {
    let Some((update, time)) = GrokUpdate::of(line).zip(time_of(line)) else {
        return;
    };
    let id = || update.text("toolCallId");
    let name = match update.kind.as_ref() {
        "user_message_chunk" => update.prompt_index().map(prompt),
        "tool_call" => id().map(|id| call(&id, false)),
        "tool_call_update" if update.is_result() => id().map(|id| call(&id, true)),
        _ => None,
    };
    let Some(name) = name else { return };
    if !sidecar.times.contains_key(&name) {
        if update.text("status").as_deref() == Some("failed") {
            sidecar.failed.extend(id());
        }
        sidecar.times.insert(name, time);
    }
}
