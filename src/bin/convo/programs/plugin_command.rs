//! Plugins as commands: `convo NAME` runs the program `convo-NAME`.

use super::plugin;
use crate::args::Global;
use crate::commands;
use crate::completion::synonyms;
use crate::context::Context;
use crate::errors::nearest;
use anyhow::Context as _;
use convo::error::{Error, ErrorKind, reason};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Runs a plugin and returns its exit status.
pub fn run(name: &str, arguments: &[OsString], global: &Global) -> anyhow::Result<u8> {
    let Some(path) = plugin::find(name) else {
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
        && let Ok(context) = Context::new(global)
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
    Err(Error::new(
        ErrorKind::Unavailable,
        format!("cannot run: {}", reason(&error)),
    ))
    .with_context(|| crate::output::path_name(&path))
}

pub fn unknown(name: &str) -> Error {
    let error = Error::usage(format!("'{name}': no such command"));
    if let Some(hint) = synonyms::hint(name) {
        return error.hint(hint);
    }
    let installed = installed();
    let known = commands::ALL
        .iter()
        .filter(|spec| !spec.hidden)
        .map(|spec| spec.name);
    match nearest(name, known.chain(installed.keys().map(String::as_str))) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint("list commands with: convo --help"),
    }
}

/// All plugins by name, without those that a command hides.
pub fn installed() -> BTreeMap<String, PathBuf> {
    let mut found = plugin::installed();
    found.retain(|name, _| commands::find(name).is_none());
    found
}
