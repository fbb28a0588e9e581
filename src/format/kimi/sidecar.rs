//! Reads the files next to a session: its state, and times in the display stream.

use super::stream;
use crate::format::kit::{LineageInfo, SessionInfo, Sidecar};
use crate::format::object::text;
use crate::format::workspace::Workspace;
use crate::model::{json, time};

/// Paths of a session's state: next to its files, or next to the directories of its agents.
const STATES: [&str; 2] = ["state.json", "../../state.json"];

/// The information next to a file with this name.
pub fn read(name: Option<&str>, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar {
    let mut sidecar = Sidecar::default();
    let mut states = STATES.iter().filter_map(|name| neighbor(name));
    if let Some(state) = states.find(|state| json::member(state.trim_ascii(), "createdAt").is_some()) {
        let state = state.trim_ascii();
        sidecar.info = SessionInfo {
            title: text(state, "title"),
            created: text(state, "createdAt").filter(|time| time::is_rfc3339(time)),
            workspace: Workspace::new(json::member(state, "workDir"), None, None),
            lineage: text(state, "forkedFrom").map(|parent| LineageInfo {
                kind: "fork",
                parent,
                at: None,
            }),
            ..SessionInfo::default()
        };
    }
    if name == Some("context.jsonl")
        && let Some(wire) = neighbor("wire.jsonl")
    {
        sidecar.times.extend(stream::times(&wire));
    }
    sidecar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_names_its_origin() {
        let state = br#"{"createdAt":"2026-08-01T19:33:23Z","title":"Nets","forkedFrom":"s0"}"#;
        let sidecar = read(Some("wire.jsonl"), &|name| {
            (name == STATES[1]).then(|| state.to_vec())
        });
        let lineage = sidecar.info.lineage.unwrap();
        assert_eq!((lineage.kind, &*lineage.parent), ("fork", "s0"));
        assert_eq!(sidecar.info.title.as_deref(), Some("Nets"));
    }
}
