//! Tests with public exports.

use super::sessions;
use crate::format::tests::truth;
use crate::model::json::{self, Dialect};

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn no_file_is_damaged() {
    for truth in truth::files("claude-ai-export") {
        let bytes = std::fs::read(&truth.path).unwrap();
        let (_, report) = sessions(&bytes);
        assert!(!report.is_damaged(), "{}: {report:?}", truth.name);
    }
}

/// Every number and text of an export occurs in its sessions, except the account, and texts that repeat the blocks.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_value_of_an_export_is_preserved() {
    let mut files = 0;
    for truth in truth::files("claude-ai-export") {
        let bytes = std::fs::read(&truth.path).unwrap();
        let all = sessions(&bytes).0.unwrap();
        let read: String = all.iter().map(|session| session.text()).collect();
        let mut open = vec![&bytes[..]];
        while let Some(value) = open.pop() {
            if let Some(elements) = json::elements(value, Dialect::Strict) {
                open.extend(elements);
            } else if let Some(members) = json::members(value, Dialect::Strict) {
                let blocks = members
                    .iter()
                    .any(|(name, value)| name == "content" && value.starts_with(b"[{"));
                let reported =
                    |name: &str| ["account", "sender", "type"].contains(&name) || (blocks && name == "text");
                let own = members.into_iter().filter(|(name, _)| !reported(name));
                open.extend(own.map(|(_, value)| value));
            } else if !matches!(value, b"null" | b"\"\"") {
                let text = String::from_utf8_lossy(value);
                let inner = serde_json::to_string(&text).unwrap();
                let kept = read.contains(&*text) || read.contains(inner.trim_matches('"'));
                assert!(kept, "{}: {text}", truth.name);
            }
        }
        files += 1;
    }
    eprintln!("claude-ai-export: {files} files are kept to the last value");
}
