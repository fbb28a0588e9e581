//! The API key of a service: finds it and keeps it out of all output.

use crate::environment::variable;
use convo::error::{Error, ErrorKind, Result};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Variables that hold a key or name its file; withheld from tools.
pub const VARIABLES: [&str; 4] = [
    "CONVO_LLM_KEY", "CONVO_LLM_KEY_FILE", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
];

/// A key; printed as a placeholder.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

impl ApiKey {
    /// Checks a key; `whence` names its origin in messages.
    fn new(text: &str, whence: &str) -> Result<ApiKey> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::new(
                ErrorKind::Config,
                format!("{whence}: contains no key"),
            ));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let error = Error::new(ErrorKind::Config, format!("{whence}: not a key"));
            return Err(error.hint("give the key as one word with nothing around it"));
        }
        Ok(ApiKey(text.to_string()))
    }

    /// The key itself, for the request header.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Removes the key from a text of the service that may repeat it.
    pub fn out_of(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

/// Finds the key: in the given file, in CONVO_LLM_KEY, or in the service's usual variable.
pub fn find(file: Option<&Path>, usual: Option<&str>, warn: &dyn Fn(&str)) -> Result<Option<ApiKey>> {
    if let Some(path) = file {
        return of_file(path, warn).map(Some);
    }
    for name in ["CONVO_LLM_KEY"].into_iter().chain(usual) {
        if let Some(text) = variable(name) {
            return ApiKey::new(&text, name).map(Some);
        }
    }
    Ok(None)
}

/// Maximum size of a key file in bytes.
const MAXIMUM: u64 = 64 * 1024;

fn of_file(path: &Path, warn: &dyn Fn(&str)) -> Result<ApiKey> {
    let name = path.to_string_lossy().into_owned();
    let failed = |error| Error::io(format!("cannot read the key in {name}"), error).kind(ErrorKind::Config);
    let about = std::fs::metadata(path).map_err(failed)?;
    if about.len() > MAXIMUM {
        return Err(Error::new(
            ErrorKind::Config,
            format!("{name}: not a key: too long"),
        ));
    }
    // Only a warning, because secrets mounted into a container are often readable by everyone.
    if about.is_file() && about.permissions().mode() & 0o077 != 0 {
        warn(&format!(
            "{name}: other users can read this key; restrict it with: chmod 600 {name}"
        ));
    }
    let text = std::fs::read(path).map_err(failed)?;
    let text = String::from_utf8(text)
        .map_err(|_| Error::new(ErrorKind::Config, format!("{name}: not a key: not UTF-8")))?;
    ApiKey::new(&text, &name)
}
