//! Tool names: their words, and what a tool of such a name does with the file of its path.

/// Words of tool names, and what such a tool does with the file of its path: adds, modifies or reads it. The first that
/// applies counts.
const CHANGES: [(&[&str], Option<char>); 3] = [
    (&["write", "create", "save"], Some('A')),
    (
        &[
            "edit", "editor", "replace", "insert", "append", "patch", "apply", "update",
        ],
        Some('M'),
    ),
    (&["read", "view", "open"], None),
];

const DELETING: [&str; 2] = ["delete", "remove"];

const DIRECTORIES: [&str; 4] = ["directory", "directories", "dir", "folder"];

/// Most characters of a tool name.
const NAME: usize = 64;

/// The name in lower case, without the text before the last `.`, `/` or `__`. Other characters than those of names
/// become underscores, so that a name can imitate neither a line of a summary nor an element of its list of tools.
pub fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    own(name).to_lowercase().chars().map(plain).take(NAME).collect()
}

/// The name without that of its server or name space.
fn own(name: &str) -> &str {
    let name = name.rsplit(['.', '/']).next().unwrap_or_default();
    name.rsplit("__").next().unwrap_or_default()
}

/// The words of a tool name in lower case: `StrReplace` has those of `str_replace`.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in own(name).chars().take(NAME) {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a name has one of these words. A name that is one word may begin with it (`readfile`), or end with it after a
/// word for texts (`notebookedit`).
pub fn has_word(words: &[String], known: &[&str]) -> bool {
    const TEXTS: [&str; 4] = ["notebook", "multi", "file", "text"];
    let joins = |word: &str, known: &str| {
        words.len() == 1
            && (word.starts_with(known) || word.strip_suffix(known).is_some_and(|text| TEXTS.contains(&text)))
    };
    let is_one = |word: &String| known.iter().any(|known| word == known || joins(word, known));
    words.iter().any(is_one)
}

/// What a tool of this name does with the file of its path: adds (`A`), modifies (`M`), deletes (`D`) or reads it.
pub fn change(words: &[String]) -> Option<Option<char>> {
    if has_word(words, &DIRECTORIES) {
        return None;
    }
    if has_word(words, &DELETING) {
        // `delete_text_file`, but not `delete_lines`.
        let is_file = |word: &String| ["file", "files", "path", "paths"].contains(&word.as_str());
        let after = words.iter().skip_while(|word| !DELETING.contains(&word.as_str()));
        return Some(Some(if after.skip(1).last().is_none_or(is_file) {
            'D'
        } else {
            'M'
        }));
    }
    let known = CHANGES.iter().find(|(known, _)| has_word(words, known));
    known.map(|(_, change)| *change)
}
