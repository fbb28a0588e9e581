//! Checks that a type name has one meaning: one definition in the library and each of its programs.

use crate::layering::{File, crates, files, is_library};
use std::collections::{BTreeMap, BTreeSet};

/// The types that a file defines, with the associated types that its traits declare. Types of implementations and
/// functions, which are indented and have a value, do not count.
fn defined(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let words = line.trim_start();
        let words = match words.strip_prefix("pub(") {
            Some(limited) => limited.split_once(") ")?.1,
            None => words.strip_prefix("pub ").unwrap_or(words),
        };
        let (keyword, rest) = words.split_once(' ')?;
        let is_type = match keyword {
            "struct" | "enum" | "trait" => true,
            "type" => !line.starts_with(' ') || !rest.contains(" = "),
            _ => false,
        };
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        is_type.then(|| &rest[..end.unwrap_or(rest.len())])
    })
}

/// The names that the library and one program, or one of them, define more than once, with their files.
fn repeated(files: &[File]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for dir in crates(files) {
        let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let visible = |file: &&File| is_library(&file.name) || !dir.is_empty() && file.name.starts_with(dir);
        for file in files
            .iter()
            .filter(visible)
            .filter(|file| !file.name.ends_with("tests.rs"))
        {
            for name in defined(&file.code) {
                places.entry(name).or_default().push(&file.name);
            }
        }
        assert!(places.len() > 500, "{dir}: {} types", places.len());
        let several = places.iter().filter(|(_, places)| places.len() > 1);
        found.extend(several.map(|(name, places)| format!("{name}: {}", places.join(" "))));
    }
    found
}

#[test]
fn a_type_name_has_one_definition() {
    let found = repeated(&files());
    assert!(found.is_empty(), "{}", Vec::from_iter(found).join("\n"));
}

#[test]
fn definitions_are_found_at_any_visibility() {
    let code = "pub(in crate::model) struct One<'a>(u8);\n    pub enum Two {\ntype Three = u8;\ntrait Four: Sized {\n    type Five: Default;\n}\nimpl Six for One {\n    type Seven = u8;\n";
    assert_eq!(
        defined(code).collect::<Vec<_>>(),
        ["One", "Two", "Three", "Four", "Five"]
    );
}
