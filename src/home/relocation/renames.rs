//! Old and new paths.

/// The replacements of a move.
#[derive(Clone, Debug, Default)]
pub struct Renames {
    old: String,
    new: String,
    /// Values that are replaced as a whole.
    whole: Vec<(String, String)>,
    /// Parts of paths, replaced at component boundaries.
    parts: Vec<(String, String)>,
}

impl Renames {
    /// Creates the replacements for a directory; both paths are absolute.
    pub fn new(old: &str, new: &str) -> Renames {
        Renames {
            old: old.to_string(),
            new: new.to_string(),
            ..Renames::default()
        }
    }

    /// Returns the old directory.
    pub fn old(&self) -> &str {
        &self.old
    }

    /// Adds a value that is replaced as a whole.
    pub fn add_whole(&mut self, old: String, new: String) {
        self.whole.push((old, new));
    }

    /// Adds a part of paths, e.g. `/projects/-src-api`.
    pub fn add_part(&mut self, old: String, new: String) {
        self.parts.push((old, new));
    }

    /// Returns the new path of the directory or of a path below it.
    pub fn path(&self, path: &str) -> Option<String> {
        let below = path.strip_prefix(self.old.as_str())?;
        (below.is_empty() || below.starts_with(['/', '\\'])).then(|| format!("{}{below}", self.new))
    }

    /// Returns the new value of a path, a file URI, or one of the other names; `None` if it does not change.
    pub fn value(&self, value: &str) -> Option<String> {
        if let Some((_, new)) = self.whole.iter().find(|(old, _)| old == value) {
            return Some(new.clone());
        }
        if let Some(path) = value.strip_prefix("file://") {
            return Some(format!("file://{}", encoded(&self.path(&decoded(path)?)?)));
        }
        self.path(value).or_else(|| {
            self.parts.iter().find_map(|(old, new)| {
                let at = value.find(old.as_str())?;
                let rest = &value[at + old.len()..];
                let ends = rest.is_empty() || rest.starts_with(['/', '\\', '.']);
                ends.then(|| format!("{}{new}{rest}", &value[..at]))
            })
        })
    }
}

/// Decodes the path of a URI.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// Encodes a path for a URI.
fn encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte);
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match is_plain(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_begins_alike_is_another_one() {
        let mut renames = Renames::new("/src/a b", "/new/ü#");
        for (value, expected) in [
            ("/src/a b", Some("/new/ü#")),
            ("/src/a b/x y", Some("/new/ü#/x y")),
            ("/src/a b-docs", None),
            ("/src/a bc/d", None),
            ("x/src/a b", None),
            ("file:///src/a%20b/x", Some("file:///new/%C3%BC%23/x")),
            ("file:///src/a%20b-docs", None),
            ("file:///src/a%2", None),
        ] {
            assert_eq!(renames.value(value).as_deref(), expected, "{value}");
        }
        renames.add_part("/projects/-src-a-b".to_string(), "/projects/-work-".to_string());
        renames.add_whole("5d1f".to_string(), "9a0b".to_string());
        assert_eq!(
            renames.value("/h/.claude/projects/-src-a-b/1.jsonl").as_deref(),
            Some("/h/.claude/projects/-work-/1.jsonl")
        );
        assert_eq!(renames.value("/h/.claude/projects/-src-a-b-c/1.jsonl"), None);
        assert_eq!(renames.value("5d1f").as_deref(), Some("9a0b"));
        assert_eq!(renames.value("5d1f0"), None);
    }
}
