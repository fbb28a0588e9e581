//! Runs plugins: `convo NAME` is the program `convo-NAME` on PATH or next to this program.

use crate::args::Global;
use crate::commands;
use crate::completion::synonyms;
use anyhow::Context as _;
use convo::error::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a plugin and returns its exit status.
pub fn run(name: &str, arguments: &[OsString], global: &Global) -> anyhow::Result<u8> {
    let Some(path) = find(name) else {
        return Err(unknown(name).into());
    };
    let mut command = Command::new(&path);
    command.args(arguments);
    if let Ok(own) = std::env::current_exe() {
        command.env("CONVO", own);
    }
    if let Some(store) = &global.store {
        command.env("CONVO_STORE", store);
    } else if std::env::var_os("CONVO_STORE").is_none_or(|store| store.is_empty())
        && let Ok(context) = crate::context::Context::new(global)
        && let Ok(store) = context.store_path()
    {
        command.env("CONVO_STORE", store);
    }
    // An empty file disables the configuration.
    let config = global.no_config.then(|| PathBuf::from("/dev/null"));
    if let Some(config) = config.or_else(|| global.config.clone()) {
        command.env("CONVO_CONFIG", config);
    }
    let error = command.exec();
    Err(Error::new(ErrorKind::Unavailable, format!("cannot run: {error}")))
        .with_context(|| crate::output::path_name(&path))
}

/// The error for an unknown command.
pub fn unknown(name: &str) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("'{name}': no such command"));
    if let Some(hint) = synonyms::hint(name) {
        return error.hint(hint);
    }
    let installed = installed();
    let known = commands::ALL
        .iter()
        .filter(|verb| !verb.hidden)
        .map(|verb| verb.name);
    let near = known
        .chain(installed.keys().map(String::as_str))
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
        .min();
    match near {
        Some((_, near)) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint("list commands with: convo --help"),
    }
}

/// All plugins by name; the first one found counts.
pub fn installed() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for folder in folders() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let Some(name) = file.to_str().and_then(|file| file.strip_prefix("convo-")) else {
                continue;
            };
            if is_name(name) && commands::find(name).is_none() && is_program(&entry.path()) {
                found.entry(name.to_string()).or_insert_with(|| entry.path());
            }
        }
    }
    found
}

/// The path of a plugin.
pub fn find(name: &str) -> Option<PathBuf> {
    if !is_name(name) {
        return None;
    }
    folders()
        .map(|folder| folder.join(format!("convo-{name}")))
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
fn folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    folders
        .into_iter()
        .chain(own)
        .filter(|folder| folder.is_absolute())
        .filter(|folder| {
            is_or_fails(folder, |about| {
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
