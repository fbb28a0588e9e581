//! Tests the package files that `packaging/release.py` fills in.

use std::path::{Path, PathBuf};
use std::process::Command;

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

/// A file of 17 MB was once committed by accident.
#[test]
fn no_file_of_the_repository_is_large() {
    const LIMIT: u64 = 4 << 20;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output();
    let names = listed.map(|listed| listed.stdout).unwrap_or_default();
    let names = String::from_utf8_lossy(&names);
    let tracked = names.split('\0').filter(|name| !name.is_empty());
    let mut files: Vec<PathBuf> = tracked.map(|name| root.join(name)).collect();
    // Without git, or in a package.
    if files.is_empty() {
        add_files(root, &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    let size = |path: &PathBuf| path.symlink_metadata().map_or(0, |about| about.len());
    let large: Vec<_> = files.iter().filter(|path| size(path) > LIMIT).collect();
    assert!(large.is_empty(), "{large:?}");
}

/// Adds the files below a directory, except those that git or cargo wrote.
fn add_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") || path.ends_with("target") {
            continue;
        }
        match path.symlink_metadata().unwrap().is_dir() {
            true => add_files(&path, files),
            false => files.push(path),
        }
    }
}
