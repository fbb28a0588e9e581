//! Checks that generated files in the repository are up to date, so that a changed option is visible in a review.

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::path::Path;

const HINT: &str = "cargo run -- generate man && cargo run -- generate completions \
                    && cargo run -- generate schema --out docs \
                    && cargo run -- generate formats --out docs \
                    && cargo run -- generate tables --out docs";

fn generated(arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convo"));
    // Pages must not depend on terminal and environment.
    command
        .env_clear()
        .env("COLUMNS", "40")
        .env("HOME", "/nonexistent");
    command.arg("generate").args(arguments);
    command.assert().success().get_output().stdout.clone()
}

fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let one = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(one).collect()
}

/// Compares a directory of the repository with the current generator output.
fn compare(what: &str) {
    let built = tempfile::tempdir().unwrap();
    generated(&[what, "--out", built.path().to_str().unwrap()]);
    let (built, kept) = (files(built.path()), files(&tree().join(what)));
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&built),
        names(&kept),
        "files of {what}/ are others now: {HINT}"
    );
    for (name, text) in built {
        assert!(
            text == kept[&name],
            "{what}/{name} is not what the program makes now: {HINT}"
        );
    }
}

/// Compares a file of the repository with the current generator output.
fn compare_page(what: &str, page: &str) {
    let built = String::from_utf8(generated(&[what])).unwrap();
    let kept = std::fs::read_to_string(tree().join(page)).unwrap();
    assert!(built == kept, "{page} is not what the program makes now: {HINT}");
}

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn manual_pages_are_up_to_date() {
    compare("man");
}

#[test]
fn completions_are_up_to_date() {
    compare("completions");
}

#[test]
fn the_schema_is_up_to_date() {
    compare_page("schema", "docs/record.schema.json");
}

#[test]
fn the_table_of_formats_is_up_to_date() {
    compare_page("formats", "docs/formats.md");
}

#[test]
fn the_members_of_tables_are_up_to_date() {
    compare_page("tables", "docs/tables.md");
}
