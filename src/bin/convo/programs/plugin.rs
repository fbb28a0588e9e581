//! Finds plugins: `convo NAME` is the program `convo-NAME` on PATH or next to this program.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// All programs with the name of a plugin; the first one found counts.
pub fn installed() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for dir in dirs() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let Some(name) = file.to_str().and_then(|file| file.strip_prefix("convo-")) else {
                continue;
            };
            if is_name(name) && is_program(&entry.path()) {
                found.entry(name.to_string()).or_insert_with(|| entry.path());
            }
        }
    }
    found
}

pub fn find(name: &str) -> Option<PathBuf> {
    if !is_name(name) {
        return None;
    }
    dirs()
        .map(|dir| dir.join(format!("convo-{name}")))
        .find(|path| is_program(path))
}

/// Whether a name is valid for a plugin.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// The directories to search: the entries of PATH, then that of this program, which contains the bundled plugins.
/// Skips empty and relative entries, which depend on the working directory, and world-writable ones.
fn dirs() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    dirs.into_iter()
        .chain(own)
        .filter(|dir| dir.is_absolute())
        .filter(|dir| {
            is_or_fails(dir, |about| {
                about.is_dir() && about.permissions().mode() & 0o002 == 0
            })
        })
}

fn is_program(path: &Path) -> bool {
    is_or_fails(path, |about| {
        about.is_file() && about.permissions().mode() & 0o111 != 0
    })
}

/// Whether a path is of a kind. On an error of the disk, the plugin is not missing: starting it reports the error.
fn is_or_fails(path: &Path, is: impl Fn(&Metadata) -> bool) -> bool {
    match std::fs::metadata(path) {
        Ok(about) => is(&about),
        Err(error) => error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()),
    }
}
