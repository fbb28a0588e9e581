//! `show --open`: opens a session as a page in a browser.

use crate::context::Context;
use crate::writing::secrets;
use convo::error::{Error, ErrorKind, Result};
use convo::format::page::PageOptions;
use convo::format::report::Report;
use convo::format::{self, Format, WritePurpose};
use convo::model::session::Session;
use convo::model::view::View;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that open a page, if `BROWSER` is not set.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Writes a page readable only by this user, prints its path and opens it.
///
/// # Errors
/// [`ErrorKind::Unavailable`] if no program can open it.
pub fn page(
    context: &Context,
    label: &str,
    (session, view): (&Session, &View),
    options: &PageOptions,
) -> anyhow::Result<()> {
    let path = write(session, view, options)?;
    secrets::warn(context, label, secrets::count(session, view, options.hidden));
    context
        .output
        .stdout(|out| Ok(writeln!(out, "{}", path.display())?))?;
    if browsers().into_iter().any(|browser| run(&browser, &path)) {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Unavailable, "no browser found; the page is written");
    Err(error.hint("set BROWSER to the name of a browser").into())
}

fn write(session: &Session, view: &View, options: &PageOptions) -> Result<PathBuf> {
    let cannot_write = |error| Error::io("cannot write a temporary page", error);
    let mut file = tempfile::Builder::new()
        .prefix("convo-")
        .suffix(".html")
        .tempfile()
        .map_err(cannot_write)?;
    let how = (WritePurpose::Context, options);
    format::write_page(
        Format::Html,
        session,
        view,
        how,
        &mut file,
        &mut Report::default(),
    )?;
    // The browser reads it later.
    let (_, path) = file.keep().map_err(|error| cannot_write(error.error))?;
    Ok(path)
}

/// Returns the commands that open a page, in the order to try.
fn browsers() -> Vec<OsString> {
    match std::env::var_os("BROWSER").filter(|value| !value.is_empty()) {
        Some(value) => std::env::split_paths(&value)
            .map(PathBuf::into_os_string)
            .collect(),
        None => OPENERS.map(OsString::from).to_vec(),
    }
}

/// Starts a browser with the page in place of `%s`, or as the last argument; false if it cannot be started.
fn run(browser: &OsString, path: &Path) -> bool {
    let line = browser.to_string_lossy();
    let mut words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    match words.iter_mut().find(|word| *word == "%s") {
        Some(word) => *word = path.into(),
        None => words.push(path.into()),
    }
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().is_ok()
}
