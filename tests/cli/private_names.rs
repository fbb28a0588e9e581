//! Checks that no function, type or module has a private word as its name: one for which the glossary has another term,
//! or that says nothing alone.

use std::collections::BTreeSet;
use std::path::Path;

/// Words that no name contains.
const PRIVATE: [&str; 17] = [
    "fate", "mend", "mended", "mends", "spelled", "spelling", "spells", "stands", "stood", "strange", "tell",
    "tells", "thinker", "told", "weave", "weaves", "ways",
];

/// Words that are not a whole name, although a longer name may contain them.
const ALONE: [&str; 9] = [
    "again", "aside", "beside", "goes_on", "held", "made", "said", "spoken", "way",
];

/// The word for a command that no name contains; sentences, which these files analyze, do have verbs.
const COMMAND: [&str; 2] = ["verb", "verbs"];
const WITH_SENTENCES: &str = "src/filter/summarize/";

/// The names of functions, types and modules that a file defines.
fn defined(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let mut words = line.trim_start();
        if let Some(limited) = words.strip_prefix("pub(") {
            words = limited.split_once(") ")?.1;
        }
        loop {
            let (keyword, rest) = words.split_once(' ')?;
            words = rest;
            match keyword {
                "pub" | "const" | "async" | "unsafe" => {}
                "fn" | "struct" | "enum" | "mod" | "trait" | "type" => break,
                _ => return None,
            }
        }
        let name = words.strip_prefix("r#").unwrap_or(words);
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
        Some(&name[..end.unwrap_or(name.len())])
    })
}

/// A name in lower case with underscores.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn is_private(file: &str, name: &str) -> bool {
    let name = snake(name);
    let is_command = !file.starts_with(WITH_SENTENCES) && name.split('_').any(|word| COMMAND.contains(&word));
    is_command || ALONE.contains(&name.as_str()) || name.split('_').any(|word| PRIVATE.contains(&word))
}

/// Visits the Rust files of a directory.
fn each_file(dir: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path);
        }
    }
}

#[test]
fn no_name_is_a_private_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut found, mut count) = (BTreeSet::new(), 0);
    for dir in ["src", "tests", "crates"] {
        each_file(&root.join(dir), &mut |path| {
            let file = path.strip_prefix(root).unwrap().to_str().unwrap();
            let code = std::fs::read_to_string(path).unwrap();
            for name in defined(&code) {
                count += 1;
                if is_private(file, name) {
                    found.insert(format!("{file}: {name}"));
                }
            }
        });
    }
    assert!(count > 5000, "{count} names");
    assert!(found.is_empty(), "{}", Vec::from_iter(found).join("\n"));
}

#[test]
fn private_words_are_found_in_any_definition() {
    let code = "pub(in crate::model) struct One<'a>(u8);\n    pub enum TwoTold {\ntype Three = u8;\npub const fn verb<T>() {\n    fn r#mod(&self) {\nmod again;\nlet told = 1;\nimpl Told {}\n";
    let names: Vec<&str> = defined(code).collect();
    assert_eq!(names, ["One", "TwoTold", "Three", "verb", "mod", "again"]);
    let private: Vec<&str> = names
        .into_iter()
        .filter(|name| is_private("src/a.rs", name))
        .collect();
    assert_eq!(private, ["TwoTold", "verb", "again"]);
    assert!(!is_private("src/a.rs", "written_again"));
    assert!(!is_private(
        "src/filter/summarize/forms.rs",
        "an_order_may_have_no_verb"
    ));
}
