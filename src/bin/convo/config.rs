//! The configuration file and the directories that the environment names.

use crate::args::Global;
use crate::context::named;
use crate::input::regular;
use crate::output::path_name;
use convo::error::{Error, Kind, Result};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Keys of the configuration file; each but the tables is also an option.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    pub store: Option<PathBuf>,
    pub lock_timeout: Option<String>,
    pub color: Option<String>,
    pub tokenizer: Option<String>,
    pub tokenizer_timeout: Option<String>,
    pub ask_with: Option<String>,
    /// Most messages of a session before it is continued.
    pub max_messages: Option<u64>,
    pub hook_timeout: Option<String>,
    /// Commands that run after a change.
    pub hooks: Option<Hooks>,
    /// Colors of what a terminal shows, by role.
    pub colors: Option<BTreeMap<String, String>>,
    /// Input to `convo key` where neither an option nor the object says otherwise.
    #[serde(default)]
    pub key: Key,
    /// For the plugin `convo-llm`, which reads it itself.
    #[serde(rename = "llm")]
    _llm: Option<toml::Table>,
}

/// The table `[hooks]`: a shell command for each kind of change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hooks {
    pub append: Option<String>,
    pub compact: Option<String>,
    pub summarize: Option<String>,
    pub health: Option<String>,
}

/// The table `[key]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Key {
    pub dimensions: Option<Vec<String>>,
    pub dm_scope: Option<String>,
    pub identity_links: Option<IdentityLinks>,
}

/// Persons of several ids: the file that lists them, or the list itself.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(untagged)]
pub enum IdentityLinks {
    File(PathBuf),
    Table(BTreeMap<String, Vec<String>>),
}

impl Config {
    /// Reads the configuration file; without one, nothing is configured. A file at the default place that may not be
    /// read, as when HOME is another user's, is named instead: it matters only where the store is needed.
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
        // The usual name of an empty configuration, although it is a device.
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
                        let error = Error::io("cannot read", error).kind(Kind::Config);
                        Err(named(error, &path_name(&path)))
                    }
                };
            }
        };
        let mut config: Config = toml::from_str(&text).map_err(|error| {
            let error = Error::new(Kind::Config, error.message().to_string());
            named(error, &path_name(&path))
        })?;
        // A relative path means a file next to this one, wherever the program is started.
        if let Some(IdentityLinks::File(links)) = &mut config.key.identity_links {
            *links = path.parent().unwrap_or(Path::new("")).join(&*links);
        }
        Ok((config, None))
    }
}

/// The text of a settings file, which an option names.
///
/// # Errors
/// [`Kind::Config`], whatever the reason.
pub fn text(path: &Path) -> Result<String> {
    regular::read_text(path).map_err(|error| {
        let error = Error::io("cannot read", error).kind(Kind::Config);
        named(error, &path_name(path))
    })
}

/// An environment variable that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A directory of the user: the one that a variable names, or a path below HOME. None where neither is set.
pub fn home(name: &str, below: &str) -> Option<PathBuf> {
    let named = variable(name).filter(|path| path.starts_with('/'));
    let default = || variable("HOME").map(|home| Path::new(&home).join(below));
    named.map(PathBuf::from).or_else(default)
}
