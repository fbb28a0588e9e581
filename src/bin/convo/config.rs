//! Reads the configuration file.

use crate::args::Global;
use crate::environment::{home, variable};
use crate::errors::named;
use crate::input::regular;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::filter::toml_error;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Keys of the configuration file. Each except the tables is also an option.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    pub store: Option<PathBuf>,
    pub lock_timeout: Option<String>,
    pub color: Option<String>,
    pub tokenizer: Option<String>,
    pub tokenizer_timeout: Option<String>,
    pub ask_with: Option<String>,
    /// Number of messages after which a session is continued.
    pub max_messages: Option<u64>,
    pub hook_timeout: Option<String>,
    /// Commands to run after a change.
    pub hooks: Option<Hooks>,
    /// Terminal colors by role.
    pub colors: Option<BTreeMap<String, String>>,
    /// Defaults of `convo key`, where neither an option nor the object gives a value.
    #[serde(default)]
    pub key: Key,
    /// Settings of the plugin `convo-llm`, which reads them itself.
    #[serde(rename = "llm")]
    _llm: Option<toml::Table>,
}

/// The table `[hooks]`: a shell command for each kind of change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", rename_all = "kebab-case")]
pub struct Hooks {
    pub append: Option<String>,
    pub compact: Option<String>,
    pub summarize: Option<String>,
    pub health: Option<String>,
}

/// The table `[key]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table", rename_all = "kebab-case")]
pub struct Key {
    pub dimensions: Option<Vec<String>>,
    pub dm_scope: Option<String>,
    pub identity_links: Option<IdentityLinks>,
}

/// Identity links: the path of a file, or the links themselves.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(untagged, expecting = "expected the path of a file or lists of ids by name")]
pub enum IdentityLinks {
    File(PathBuf),
    Table(BTreeMap<String, Vec<String>>),
}

impl Config {
    /// Reads the configuration file; without one, returns the defaults. If the default file is not readable, e.g.
    /// because HOME belongs to another user, returns its path: it matters only for commands that use the store.
    pub fn read(global: &Global) -> Result<(Config, Option<String>)> {
        if global.no_config {
            return Ok(Default::default());
        }
        let given = global.config.clone();
        let given = given.or_else(|| variable("CONVO_CONFIG").map(PathBuf::from));
        let default = || home("XDG_CONFIG_HOME", ".config").map(|home| home.join("convo/config.toml"));
        let is_default = given.is_none();
        let Some(path) = given.or_else(default) else {
            return Ok(Default::default());
        };
        // Commonly used for an empty configuration, although it is a device.
        if path == Path::new("/dev/null") {
            return Ok(Default::default());
        }
        let text = match regular::read_text(&path) {
            Ok(text) => text,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if is_default => {
                        Ok(Default::default())
                    }
                    io::ErrorKind::PermissionDenied if is_default => {
                        Ok((Config::default(), Some(path_name(&path))))
                    }
                    _ => {
                        let error = Error::io("cannot read", error).kind(ErrorKind::Config);
                        Err(named(error, &path_name(&path)))
                    }
                };
            }
        };
        let mut config: Config = toml_error::read(&text).map_err(|error| named(error, &path_name(&path)))?;
        // A relative path is relative to the configuration file.
        if let Some(IdentityLinks::File(links)) = &mut config.key.identity_links {
            *links = path.parent().unwrap_or(Path::new("")).join(&*links);
        }
        Ok((config, None))
    }
}

/// Reads a settings file given by an option.
///
/// # Errors
/// [`ErrorKind::Config`] for any failure.
pub fn text(path: &Path) -> Result<String> {
    regular::read_text(path).map_err(|error| {
        let error = Error::io("cannot read", error).kind(ErrorKind::Config);
        named(error, &path_name(path))
    })
}
