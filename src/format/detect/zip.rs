//! Detects exports in zip archives by their file names, and finds the file with the conversations.

use super::Detection;
use crate::format::{chatgpt_export, claude_ai_export};

/// Signature of a local file header.
const FILE: &[u8] = b"PK\x03\x04";

/// Length of a local file header before the file name, in bytes.
const HEADER: usize = 30;

const ONE: &str = "extract it first: unzip -p FILE conversations.json | convo ...";

const NUMBERED: &str = "extract it first: unzip -p FILE '*conversations*.json' | convo ...";

/// File names that only one of the exports has.
const UNIQUE_FILES: [(&str, [&str; 4]); 2] = [
    (
        chatgpt_export::SIGNATURE.name,
        [
            "chat.html", "message_feedback.json", "user.json", "shared_conversations.json",
        ],
    ),
    (
        claude_ai_export::SIGNATURE.name,
        [
            "users.json", "projects.json", "memories.json", "login_events.json",
        ],
    ),
];

/// Detects an export by the file names in the head of an input; `None` if it is not an archive.
pub(super) fn archive(head: &[u8]) -> Option<Detection> {
    if !head.starts_with(FILE) {
        return None;
    }
    let paths = names(head);
    let names: Vec<&str> = paths
        .iter()
        .map(|path| path.rsplit('/').next().unwrap_or(path))
        .collect();
    let whose = UNIQUE_FILES
        .iter()
        .find(|(_, own)| names.iter().any(|name| own.contains(name)));
    let what = match whose {
        Some((name, _)) if *name == chatgpt_export::SIGNATURE.name => "a zip archive of a ChatGPT export",
        Some(_) => "a zip archive of a Claude.ai export",
        None => "a zip archive",
    };
    // Large exports are split into several files, and some archives have a directory around them.
    let is_part = |path: &&&str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.starts_with("conversations") && name.ends_with(".json")
    };
    let hint = match paths.iter().find(is_part) {
        None | Some(&"conversations.json") => ONE,
        Some(_) => NUMBERED,
    };
    let verdict = Detection {
        name: whose.map(|(name, _)| *name),
        ..Detection::unknown(what)
    };
    Some(verdict.hint(hint))
}

/// The file names in the head.
fn names(head: &[u8]) -> Vec<&str> {
    let starts = memchr::memmem::find_iter(head, FILE);
    let name = |at: usize| {
        let length = head.get(at + 26..at + 28)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        std::str::from_utf8(head.get(at + HEADER..at + HEADER + length)?).ok()
    };
    starts.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(names: &[&str]) -> Vec<u8> {
        let file = |name: &&str| {
            let length = (name.len() as u16).to_le_bytes();
            [FILE, &[0; 22], &length, &[0; 2], name.as_bytes(), b"data"].concat()
        };
        names.iter().flat_map(file).collect()
    }

    #[test]
    fn archives_are_identified_with_an_unpack_hint() {
        let seen = |names: &[&str]| {
            let verdict = archive(&zip(names)).unwrap();
            (verdict.name, verdict.hint.unwrap(), verdict.format)
        };
        assert_eq!(seen(&["a.png"]), (None, ONE, None));
        assert_eq!(
            seen(&["user.json", "conversations.json"]),
            (Some("chatgpt-export"), ONE, None)
        );
        assert_eq!(
            seen(&["chat.html", "conversations-000.json"]),
            (Some("chatgpt-export"), NUMBERED, None)
        );
        assert_eq!(
            seen(&["data/users.json", "data/conversations.json"]),
            (Some("claude-ai-export"), NUMBERED, None)
        );
        assert!(archive(b"PK\x03").is_none());
        assert_eq!(archive(b"PK\x03\x04rest").unwrap().hint, Some(ONE));
    }
}
