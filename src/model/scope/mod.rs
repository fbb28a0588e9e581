//! The scope of a session (agent, channel, account, and the dimensions that separate its sessions) and the key that
//! encodes it.
//!
//! - `inbound_scope` computes the scope of an incoming message; `identity` links the ids of a person;
//! - `tenant_scope` is an alternative scope: tenant, user and session;
//! - `key_codec` encodes convo's readable keys, `signature` PicoClaw's, with ids normalized by `picoclaw_normalize`;
//! - `key_request` (with `value`, `inbound_message`) parses requests in JSON and returns keys; `key_warnings` describes
//!   ambiguities.

mod identity;
mod inbound_message;
mod inbound_scope;
mod key_codec;
mod key_request;
mod key_warnings;
pub mod picoclaw_normalize;
pub mod signature;
pub mod tenant_scope;
#[cfg(test)]
mod tests;
mod value;

pub use identity::Links;
pub use inbound_message::{InboundMessage, ScopeSettings};
pub use inbound_scope::{Dimension, Inbound};
pub use key_codec::is_hashed;
pub use key_request::{KeyAnswer, KeyRequest};
pub use value::float_text;

use super::json::{self, Dialect, ObjectBuilder};
use crate::error::{Error, Result};
use crate::model::named_enum::named_enum;

/// Default channel.
const CHANNEL: &str = "unknown";

named_enum! {
    /// The form of a key.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum KeyForm {
        /// Readable and collision-free.
        #[default]
        Convo = "convo",
        /// `sk_v1_` and the SHA-256 of a signature.
        Picoclaw = "picoclaw",
        /// `tenant:user:session`.
        Penguiflow = "penguiflow",
    }
}

/// Identifies a session of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The agent.
    pub agent: String,
    /// The network: `telegram`, `slack`, ...
    pub channel: String,
    /// The agent's account there.
    pub account: String,
    /// Values of the dimensions, in order of significance.
    pub values: Vec<(String, String)>,
}

impl Scope {
    /// Parses the form in session headers and PicoClaw sidecars: `agent_id`, `channel`, `account`, `dimensions`,
    /// `values`. Blank members get the defaults of [`Inbound`].
    pub fn read(object: &[u8]) -> Result<Scope> {
        let text = |name: &str, default: &str| match json::member(object, name) {
            None | Some(b"null") => Ok(default.to_string()),
            Some(raw) => match value::text(raw) {
                Some(text) if text.trim().is_empty() => Ok(default.to_string()),
                Some(text) => Ok(text.into_owned()),
                None => Err(wrong(name, "is not a string")),
            },
        };
        let mut scope = Scope {
            agent: text("agent_id", picoclaw_normalize::AGENT)?,
            channel: text("channel", CHANNEL)?,
            account: text("account", picoclaw_normalize::ACCOUNT)?,
            values: Vec::new(),
        };
        let dimensions = match json::member(object, "dimensions") {
            None | Some(b"null") => return Ok(scope),
            Some(raw) => {
                json::elements(raw, Dialect::Strict).ok_or_else(|| wrong("dimensions", "is not a list"))?
            }
        };
        let values = json::member(object, "values").unwrap_or(b"{}");
        for raw in dimensions {
            let name = json::text(raw)
                .ok_or_else(|| wrong("dimensions", "contains a value that is not a string"))?;
            let value = json::member(values, &name).and_then(value::text);
            let value = value.ok_or_else(|| wrong("values", &format!("has no string '{name}'")))?;
            scope.values.push((name.into_owned(), value.into_owned()));
        }
        Ok(scope)
    }

    /// Encodes the same form, with `values` sorted by name.
    pub fn write(&self) -> Vec<u8> {
        let mut object = ObjectBuilder::default();
        object
            .raw("version", b"1")
            .text("agent_id", &self.agent)
            .text("channel", &self.channel)
            .text("account", &self.account);
        if self.values.is_empty() {
            object.raw("dimensions", b"null").raw("values", b"null");
            return object.finish();
        }
        let dimensions = json::texts(self.values.iter().map(|(dimension, _)| dimension));
        let mut sorted: Vec<_> = self.values.iter().collect();
        sorted.sort();
        sorted.dedup_by(|one, other| one.0 == other.0);
        let mut values = ObjectBuilder::default();
        for (dimension, value) in sorted {
            values.text(dimension, value);
        }
        object
            .raw("dimensions", dimensions)
            .raw("values", values.finish());
        object.finish()
    }

    fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The text that the key of this form encodes; an error for [`KeyForm::Penguiflow`], which encodes owners only.
    pub fn signature(&self, form: KeyForm) -> Result<String> {
        match form {
            KeyForm::Convo => {
                let agent = Some(("agent", self.agent.as_str()))
                    .filter(|(_, agent)| *agent != picoclaw_normalize::AGENT);
                let account = Some(("account", self.account.as_str()))
                    .filter(|(_, account)| *account != picoclaw_normalize::ACCOUNT);
                let head = agent
                    .into_iter()
                    .chain(account)
                    .chain([("channel", self.channel.as_str())]);
                Ok(key_codec::encode(head.chain(self.values())))
            }
            KeyForm::Picoclaw => Ok(signature::signature(
                &self.agent,
                &self.channel,
                &self.account,
                self.values(),
            )),
            KeyForm::Penguiflow => Err(
                Error::usage("--form penguiflow requires tenant, user and session")
                    .hint("give --tenant, --user and --session, or --tool-context FILE"),
            ),
        }
    }

    /// The key of the scope.
    pub fn key(&self, form: KeyForm) -> Result<String> {
        let signature = self.signature(form)?;
        Ok(match form {
            KeyForm::Picoclaw => signature::opaque(&signature),
            _ => key_codec::key(signature),
        })
    }

    /// Decodes the scope of a readable key; `None` if the key is not one.
    pub fn of_key(key: &str) -> Option<Scope> {
        let parts = key_codec::parts(key)?;
        let mut scope = Scope {
            agent: picoclaw_normalize::AGENT.to_string(),
            account: picoclaw_normalize::ACCOUNT.to_string(),
            ..Scope::default()
        };
        let mut parts = parts.into_iter().peekable();
        if let Some((_, agent)) = parts.next_if(|(label, _)| label == "agent") {
            scope.agent = agent;
        }
        if let Some((_, account)) = parts.next_if(|(label, _)| label == "account") {
            scope.account = account;
        }
        scope.channel = parts.next_if(|(label, _)| label == "channel")?.1;
        scope.values = parts.collect();
        Some(scope)
    }
}

/// The key of an agent's main session, used for messages without a session of their own.
pub fn main_key(agent: &str, form: KeyForm) -> Result<String> {
    match form {
        KeyForm::Convo => {
            let agent =
                Some(agent.trim()).filter(|agent| !agent.is_empty() && *agent != picoclaw_normalize::AGENT);
            let agent = agent.map(|agent| ("agent", agent));
            Ok(key_codec::key(key_codec::encode(
                agent.into_iter().chain([("main", "session")]),
            )))
        }
        KeyForm::Picoclaw => Ok(signature::main_key(&picoclaw_normalize::agent(agent))),
        KeyForm::Penguiflow => Err(Error::usage("--main conflicts with --form penguiflow")),
    }
}

/// An error about a member.
fn wrong(name: &str, what: &str) -> Error {
    Error::usage(format!("{name} {what}"))
}
