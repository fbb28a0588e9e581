//! Tests with public exports.

use super::sessions;
use crate::format::tests::truth;
use crate::model::json;

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn no_file_is_damaged() {
    for truth in truth::files("chatgpt-export") {
        let bytes = std::fs::read(&truth.path).unwrap();
        let (_, report) = sessions(&bytes);
        assert!(report.findings.is_empty(), "{}: {report:?}", truth.name);
    }
}

/// Every number and text of an export occurs unchanged in its sessions.
#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn every_value_of_an_export_is_preserved() {
    let (mut files, mut left) = (0, Vec::new());
    for truth in truth::files("chatgpt-export") {
        let bytes = std::fs::read(&truth.path).unwrap();
        let all = sessions(&bytes).0.unwrap();
        let read: String = all.iter().map(|session| session.text()).collect();
        for leaf in leaves(&bytes) {
            // Times are converted to dates; text in arguments is encoded again.
            let text = String::from_utf8_lossy(leaf);
            let inner = serde_json::to_string(&text).unwrap();
            let known = read.contains(&*text) || read.contains(inner.trim_matches('"'));
            let time = crate::model::time::from_digits(&text).is_some_and(|time| read.contains(&time));
            if !known && !time {
                left.push(format!("{}: {text}", truth.name));
            }
        }
        files += 1;
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
    eprintln!("chatgpt-export: {files} files are kept to the last value");
}

/// Numbers and texts of a value other than types and tree links.
fn leaves(value: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Some(elements) = json::elements(value, json::Dialect::Strict) {
            open.extend(elements);
        } else if let Some(members) = json::members(value, json::Dialect::Strict) {
            let get = |name: &str| {
                members
                    .iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| *value)
            };
            let content = get("message").and_then(|message| json::member(message, "content"));
            let content = content.and_then(|content| json::member(content, "parts"));
            // Empty nodes: a root, and an empty preamble.
            if get("message") == Some(b"null") || content == Some(br#"[""]"#) {
                continue;
            }
            let tree = ["parent", "children", "current_node", "content_type", "role"];
            let own = members
                .into_iter()
                .filter(|(name, _)| !tree.contains(&name.as_ref()));
            open.extend(own.map(|(_, value)| value));
        } else if !matches!(value, b"null" | b"\"\"") {
            found.push(value);
        }
    }
    found
}
