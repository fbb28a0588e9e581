//! Tests the package files that `packaging/release.py` fills in.

use std::path::Path;

/// Text files below a directory of the repository.
fn texts(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.push((path.display().to_string(), text));
        }
    }
    found
}

#[test]
fn every_package_has_the_version_of_the_manifest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = ["packaging", "python", "npm"]
        .iter()
        .flat_map(|dir| texts(&root.join(dir)))
        .collect();
    assert!(files.len() > 15, "{} files", files.len());
    for (name, text) in files {
        assert!(
            !text.contains(env!("CARGO_PKG_VERSION")),
            "{name} names a version of its own"
        );
    }
    let page = std::fs::read_to_string(root.join("man/convo.1")).unwrap();
    assert!(page.contains(concat!("\"convo ", env!("CARGO_PKG_VERSION"), "\"")));
}
