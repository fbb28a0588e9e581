//! Gemini CLI's settings and the projects of its directories.

use super::claude_code::read;
use super::retention::{DAY, Retention, seconds};
use std::path::Path;

/// Returns how long sessions are kept; `None` if nothing is deleted.
pub fn retention(config: &Path) -> Option<Retention> {
    let settings = read(&config.join("settings.json"));
    let setting = settings
        .as_ref()
        .and_then(|settings| settings.pointer("/general/sessionRetention"));
    let member = |name: &str| setting.and_then(|setting| setting.get(name));
    if member("enabled").and_then(serde_json::Value::as_bool) == Some(false) {
        return None;
    }
    let value = member("maxAge").and_then(serde_json::Value::as_str);
    Some(Retention {
        seconds: value.and_then(seconds).unwrap_or(30 * DAY),
        setting: "general.sessionRetention.maxAge",
        value: value.map(str::to_string),
        by: "lastUpdated",
    })
}

/// Returns the project of a session: the one recorded in its directory, or the known project whose hash is the
/// directory's name.
pub fn project(transcript: &Path, known: &dyn Fn() -> Vec<String>) -> Option<String> {
    let mut dir = transcript.parent()?;
    while dir.file_name()? != "chats" {
        dir = dir.parent()?;
    }
    let dir = dir.parent()?;
    if let Ok(root) = std::fs::read_to_string(dir.join(".project_root")) {
        return Some(root.trim_end_matches(['\n', '\r']).to_string()).filter(|root| !root.is_empty());
    }
    let name = dir.file_name()?.to_str()?;
    if name.len() != 64 {
        return None;
    }
    known().into_iter().find(|project| sha256(project) == name)
}

/// Returns the name of the directory of a project without a registered name.
pub fn sha256(text: &str) -> String {
    use sha2::Digest;
    use std::fmt::Write;
    let mut hex = String::with_capacity(64);
    for byte in sha2::Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_the_hash_of_a_project_or_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let hash = sha256("/src/a b");
        assert_eq!(hash.len(), 64);
        let known = || vec!["/src/a".to_string(), "/src/a b".to_string()];
        let path = dir.path().join(&hash).join("chats/session-1.jsonl");
        assert_eq!(project(&path, &known).as_deref(), Some("/src/a b"));
        let named = dir.path().join("api/chats");
        std::fs::create_dir_all(named.join("sub")).unwrap();
        std::fs::write(dir.path().join("api/.project_root"), "/src/api\n").unwrap();
        assert_eq!(
            project(&named.join("sub/x.jsonl"), &known).as_deref(),
            Some("/src/api")
        );
        assert_eq!(project(&dir.path().join("other/chats/x"), &known), None);
    }

    #[test]
    fn settings_change_how_long_sessions_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let days = || retention(dir.path()).map(|retention| (retention.shown(), retention.value));
        assert_eq!(days(), Some(("30d".to_string(), None)));
        let settings = dir.path().join("settings.json");
        std::fs::write(&settings, r#"{"general":{"sessionRetention":{"maxAge":"7d"}}}"#).unwrap();
        assert_eq!(days(), Some(("7d".to_string(), Some("7d".to_string()))));
        std::fs::write(&settings, r#"{"general":{"sessionRetention":{"enabled":false}}}"#).unwrap();
        assert_eq!(days(), None);
    }
}
