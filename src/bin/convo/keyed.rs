//! What a new session is called by programs: its key, its scope, and the names that come with it.

use convo::error::{Error, Kind, Result};
use convo::model::json::{self, Dialect, ObjectBuilder};
use convo::model::key;
use convo::model::scope::signature::is_main_alias;
use convo::model::scope::{Asked, Form, Settings};
use std::io::Read;

/// A key with what belongs to it.
#[derive(Debug, Default)]
pub struct Keyed {
    /// The key.
    pub key: Option<String>,
    /// The scope as JSON on one line.
    scope: Option<Vec<u8>>,
    /// Every other name, in order.
    aliases: Vec<String>,
    /// Those of them that may be given to a session: not those of all.
    pub claims: Vec<String>,
}

impl Keyed {
    /// From a key, and from a scope: JSON as `convo key --json` prints it or as `convo key` takes it, or @ and the file
    /// that holds it.
    pub fn new(given: Option<&str>, scope: Option<&str>) -> Result<Keyed> {
        let mut keyed = match scope {
            Some(scope) => Keyed::read(&text(scope)?)?,
            None => Keyed::default(),
        };
        if let Some(given) = given {
            keyed.key = Some(given.to_string());
        }
        if let Some(own) = &keyed.key {
            if own.trim().is_empty() {
                return Err(Error::new(Kind::Usage, "the key is empty"));
            }
            if own.chars().any(char::is_control) || own.starts_with('@') {
                return Err(Error::new(Kind::Unsafe, format!("unsafe key {own:?}")));
            }
            keyed.claims.retain(|name| name != own);
        }
        Ok(keyed)
    }

    fn read(object: &[u8]) -> Result<Keyed> {
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
            // As it is printed.
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
                let answer = Asked::read(object)?.answer(Form::Convo, &Settings::default())?;
                let answer = answer.ok_or_else(|| Error::new(Kind::Usage, "the scope names no session"))?;
                (answer.key, answer.scope, answer.aliases, answer.shared)
            }
        };
        let claims = aliases
            .iter()
            .filter(|name| !shared.contains(name) && !is_main_alias(name))
            .cloned()
            .collect();
        Ok(Keyed {
            key: Some(key),
            scope,
            aliases,
            claims,
        })
    }

    /// The id that the key gives its session.
    pub fn id(&self) -> Option<String> {
        self.key.as_deref().map(key::id_for_key)
    }

    /// Members of the session's header, and of its metadata: the names are kept as a session of PicoClaw has them.
    pub fn header(&self, metadata: &[(String, Vec<u8>)]) -> Vec<(&'static str, Vec<u8>)> {
        let mut members = Vec::new();
        if let Some(key) = &self.key {
            let mut raw = Vec::new();
            json::push_text(&mut raw, key);
            members.push(("key", raw));
        }
        members.extend(self.scope.clone().map(|scope| ("scope", scope)));
        let mut object = ObjectBuilder::default();
        for (name, value) in metadata {
            object.raw(name, value);
        }
        if !self.aliases.is_empty() && !metadata.iter().any(|(name, _)| name == "picoclaw") {
            let mut list = Vec::from(b"[");
            for (nth, alias) in self.aliases.iter().enumerate() {
                if nth > 0 {
                    list.push(b',');
                }
                json::push_text(&mut list, alias);
            }
            list.push(b']');
            let mut own = ObjectBuilder::default();
            own.raw("aliases", list);
            object.raw("picoclaw", own.finish());
        }
        if !object.is_empty() {
            members.push(("metadata", object.finish()));
        }
        members
    }
}

/// The text of an argument; behind an @ the file that holds it, - for standard input.
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
