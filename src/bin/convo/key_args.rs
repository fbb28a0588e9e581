//! The identity of a new session: its key, its scope, and additional names.

use crate::config::IdentityLinks;
use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use convo::error::{Error, ErrorKind, Result};
use convo::filter::toml_error;
use convo::model::json::{self, Dialect, ObjectBuilder, quoted};
use convo::model::key;
use convo::model::scope::signature::is_main_alias;
use convo::model::scope::{Dimension, KeyForm, KeyRequest, Links, ScopeSettings};
use convo::store::foreign::aliases_member;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// A key with its scope and names.
#[derive(Debug, Default)]
pub struct KeyNames {
    pub key: Option<String>,
    /// The scope as JSON on one line.
    scope: Option<Vec<u8>>,
    /// All additional names, in order.
    aliases: Vec<String>,
    /// The additional names that can become aliases of the session: those not shared by several sessions.
    pub claims: Vec<String>,
}

impl KeyNames {
    /// Builds the identity from a key and a scope. The scope is JSON, either the output of `convo key --json` or an
    /// input of `convo key`, or @ and the name of a file.
    pub fn new(given: Option<&str>, scope: Option<&str>, settings: &ScopeSettings) -> Result<KeyNames> {
        let mut keyed = match scope {
            Some(scope) => KeyNames::read(&text(scope)?, settings)?,
            None => KeyNames::default(),
        };
        if let Some(given) = given {
            keyed.key = Some(given.to_string());
        }
        if let Some(own) = &keyed.key {
            if own.trim().is_empty() {
                return Err(Error::usage("empty key"));
            }
            if own.chars().any(char::is_control) || own.starts_with('@') {
                return Err(Error::new(ErrorKind::Unsafe, format!("{own}: invalid key")));
            }
            keyed.claims.retain(|name| name != own);
        }
        Ok(keyed)
    }

    fn read(object: &[u8], settings: &ScopeSettings) -> Result<KeyNames> {
        let member = |name| json::member(object, name);
        let list = |name| {
            let texts = member(name).and_then(|raw| json::elements(raw, Dialect::Strict));
            texts.map(|texts| {
                texts
                    .into_iter()
                    .filter_map(json::text)
                    .map(|text| text.into_owned())
                    .collect()
            })
        };
        let (key, scope, aliases, shared): (_, _, Vec<String>, Vec<String>) = match (
            member("key").and_then(json::text),
            member("scope"),
            list("aliases"),
        ) {
            // The output of `convo key --json`.
            (Some(key), scope, Some(aliases)) => {
                let scope = scope.map(|scope| json::compact(scope).0);
                (
                    key.into_owned(),
                    scope,
                    aliases,
                    list("shared").unwrap_or_default(),
                )
            }
            _ => {
                let answer = KeyRequest::read(object)?.answer(KeyForm::Convo, settings)?;
                let answer = answer.ok_or_else(|| Error::usage("the scope identifies no session"))?;
                (answer.key, answer.scope, answer.aliases, answer.shared)
            }
        };
        let claims = aliases
            .iter()
            .filter(|name| !shared.contains(name) && !is_main_alias(name))
            .cloned()
            .collect();
        Ok(KeyNames {
            key: Some(key),
            scope,
            aliases,
            claims,
        })
    }

    /// The session id derived from the key.
    pub fn id(&self) -> Option<String> {
        self.key.as_deref().map(key::id_for_key)
    }

    /// Returns members of the session's header. The additional names are stored in its metadata.
    pub fn header(&self, metadata: &[(String, Vec<u8>)]) -> Vec<(&'static str, Vec<u8>)> {
        let mut members = Vec::new();
        if let Some(key) = &self.key {
            members.push(("key", quoted(key)));
        }
        members.extend(self.scope.clone().map(|scope| ("scope", scope)));
        let mut object = ObjectBuilder::default();
        for (name, value) in metadata {
            object.raw(name, value);
        }
        if let Some((member, value)) = aliases_member(&self.aliases)
            && !metadata.iter().any(|(name, _)| name == member)
        {
            object.raw(member, value);
        }
        if !object.is_empty() {
            members.push(("metadata", object.finish()));
        }
        members
    }
}

/// The configured defaults of `convo key`.
pub fn key_settings(context: &Context) -> Result<ScopeSettings> {
    let table = &context.key;
    let wrong = |name: &str, error: Error| {
        let what = format!("{name} in the configuration file: {}", error.message);
        Error {
            hint: error.hint,
            ..Error::new(ErrorKind::Config, what)
        }
    };
    let named: Result<Vec<_>> = table
        .dimensions
        .iter()
        .flatten()
        .map(|name| Dimension::named(name))
        .collect();
    let named = named.map_err(|error| wrong("dimensions", error))?;
    let default_dimensions = match &table.dm_scope {
        _ if !named.is_empty() => Some(named),
        Some(word) => {
            let dimensions = Dimension::of_dm_scope(word).map_err(|error| wrong("dm-scope", error))?;
            Some(dimensions.to_vec())
        }
        None => None,
    };
    let default_links = match &table.identity_links {
        None => None,
        Some(IdentityLinks::Table(links)) => Some(Links::new(links.clone())),
        Some(IdentityLinks::File(path)) => {
            let read = links_of_file(path);
            // A file that the configuration names counts as configuration.
            Some(read.map_err(|error| error.kind(ErrorKind::Config))?)
        }
    };
    Ok(ScopeSettings {
        default_dimensions,
        default_links,
        ..ScopeSettings::default()
    })
}

/// Reads identity links from a JSON or TOML file.
pub fn links_of_file(path: &Path) -> Result<Links> {
    let label = path_name(path);
    let text =
        std::fs::read_to_string(path).map_err(|error| named(Error::io("cannot read", error), &label))?;
    let refused = |why: String| named(Error::new(ErrorKind::Config, why), &label);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let file: LinksFile = toml_error::read(&text).map_err(|error| named(error, &label))?;
        return Ok(Links::new(file.links()));
    }
    let object = text.trim().as_bytes();
    let inner = json::member(object, "identity_links").unwrap_or(object);
    Links::read(inner).map_err(|error| refused(error.message))
}

/// A TOML file of identity links, optionally in a table of their own.
#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "expected lists of ids by name")]
enum LinksFile {
    Inner {
        identity_links: BTreeMap<String, Vec<String>>,
    },
    Whole(BTreeMap<String, Vec<String>>),
}

impl LinksFile {
    fn links(self) -> BTreeMap<String, Vec<String>> {
        let (LinksFile::Inner {
            identity_links: links,
        }
        | LinksFile::Whole(links)) = self;
        links
    }
}

/// Reads an argument: its text, or after an @ the contents of a file, - for standard input.
fn text(argument: &str) -> Result<Vec<u8>> {
    let Some(path) = argument.strip_prefix('@') else {
        return Ok(argument.trim().as_bytes().to_vec());
    };
    let mut bytes = Vec::new();
    let read = match path {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        path => std::fs::read(path).map(|read| bytes = read),
    };
    read.map_err(|error| Error::io(format!("cannot read {path}"), error))?;
    Ok(bytes.trim_ascii().to_vec())
}
