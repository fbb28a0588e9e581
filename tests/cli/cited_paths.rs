//! Checks that the files that the documentation for contributors names exist.

use std::path::{Path, PathBuf};

const PAGES: [&str; 2] = ["docs/architecture.md", "CONTRIBUTING.md"];

/// Directories to which a path may be relative, besides that of an earlier path in the same paragraph or row.
const BASES: [&str; 5] = ["", "docs", "src", "src/bin/convo", "src/format"];

/// The texts in backquotes that are paths; a word in capitals is a placeholder.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        let is_path = text.contains('/') || [".rs", ".md", ".toml"].iter().any(|end| text.ends_with(end));
        let is_plain = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-/*".contains(c));
        let is_placeholder = text.split(['/', '.']).any(|part| ["NAME", "API"].contains(&part));
        is_path && is_plain && !is_placeholder && !text.starts_with('-')
    })
}

fn exists(path: &Path) -> bool {
    match path.to_str().and_then(|path| path.split_once('*')) {
        Some((dir, _)) => Path::new(dir).is_dir(),
        None => path.exists(),
    }
}

#[test]
fn every_path_that_the_pages_for_contributors_cite_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut missing, mut count) = (Vec::new(), 0);
    for page in PAGES {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let mut dirs: Vec<PathBuf> = Vec::new();
        for (nth, line) in text.lines().enumerate() {
            // A row or a paragraph starts anew.
            if line.is_empty() || line.starts_with('|') || line.starts_with('#') {
                dirs.clear();
            }
            // Built, not part of the repository.
            for cited in paths(line).filter(|cited| !cited.starts_with("target/")) {
                count += 1;
                let bases = BASES
                    .iter()
                    .map(|base| root.join(base))
                    .chain(dirs.iter().cloned());
                match bases.map(|base| base.join(cited)).find(|path| exists(path)) {
                    Some(path) if path.is_dir() => dirs.extend(
                        [Some(path.as_path()), path.parent()]
                            .into_iter()
                            .flatten()
                            .map(Path::to_path_buf),
                    ),
                    Some(path) => dirs.extend(path.parent().map(Path::to_path_buf)),
                    None => missing.push(format!("{page}:{}: {cited}", nth + 1)),
                }
            }
        }
    }
    assert!(count > 60, "{count} paths are read");
    assert_eq!(missing, Vec::<String>::new());
}
