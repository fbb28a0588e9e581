//! A request for a key in JSON (a key, a scope, an incoming message or an owner), and the answer.

use super::identity::Links;
use super::inbound_message::{InboundMessage, ScopeSettings};
use super::inbound_scope::{Dimension, Inbound};
use super::tenant_scope::OwnerParts;
use super::value::text;
use super::{KeyForm, Scope, key_warnings, signature, wrong};
use crate::error::{Error, Result};
use crate::model::json::{self, Dialect, Members};
use std::borrow::Cow;

/// A request for a key.
#[derive(Clone, Debug)]
pub enum KeyRequest<'a> {
    /// A given key.
    Given(Cow<'a, str>),
    /// The key of a scope.
    Scope(Scope),
    /// The key of the session that an incoming message belongs to.
    Inbound(Box<InboundMessage<'a>>),
    /// The key of an owner's session.
    Owner(OwnerParts),
}

/// A key with its derivation.
#[derive(Clone, Debug, Default)]
pub struct KeyAnswer {
    /// The key.
    pub key: String,
    /// The text that the key encodes; `None` for a given key.
    pub signature: Option<String>,
    /// The scope as JSON; `None` for a given key.
    pub scope: Option<Vec<u8>>,
    /// Aliases of the session.
    pub aliases: Vec<String>,
    /// Those of them that other sessions share.
    pub shared: Vec<String>,
    /// Sessions that could share the key, and values that were normalized.
    pub notes: Vec<String>,
}

/// The members of a request.
#[derive(Default)]
struct Given<'a> {
    arrival: InboundMessage<'a>,
    parts: OwnerParts,
    key: Option<Cow<'a, str>>,
    scope: Option<&'a [u8]>,
    dimensions: Option<&'a [u8]>,
    has_values: bool,
    came_in: bool,
}

impl<'a> Given<'a> {
    fn read(&mut self, object: &'a [u8]) -> Result<()> {
        let refused = |fault: json::JsonError| {
            Error::data(format!(
                "not a JSON object: {} (byte {})",
                fault.what, fault.offset
            ))
        };
        let mut members = Members::new(object, Dialect::Strict).map_err(refused)?;
        while let Some(member) = members.next().map_err(refused)? {
            let decoded;
            let name = match member.key.contains(&b'\\') {
                true => {
                    decoded = member.name().into_owned();
                    decoded.as_bytes()
                }
                false => member.key,
            };
            self.member(name, member.value)?;
        }
        Ok(())
    }

    fn member(&mut self, name: &[u8], raw: &'a [u8]) -> Result<()> {
        let inbound = &mut self.arrival.inbound;
        let slot = match name {
            b"agent_id" | b"agent" => Some(&mut inbound.agent),
            b"channel" => Some(&mut inbound.channel),
            b"account" | b"account_id" => Some(&mut inbound.account),
            b"chat_id" | b"chat" => Some(&mut inbound.chat),
            b"chat_type" => Some(&mut inbound.chat_type),
            b"topic_id" | b"topic" => Some(&mut inbound.topic),
            b"space_id" | b"space" => Some(&mut inbound.space),
            b"space_type" => Some(&mut inbound.space_type),
            b"sender_id" | b"sender" => Some(&mut inbound.sender),
            _ => None,
        };
        let shown = || String::from_utf8_lossy(name).into_owned();
        if let Some(slot) = slot {
            if raw != b"null" {
                *slot = text(raw).ok_or_else(|| wrong(&shown(), "is neither a string nor a number"))?;
                self.came_in |= !matches!(name, b"agent_id" | b"agent" | b"account" | b"account_id");
            }
            return Ok(());
        }
        let part = match name {
            b"tenant" | b"tenant_id" => Some(&mut self.parts.tenant),
            b"user" | b"user_id" => Some(&mut self.parts.user),
            b"session" | b"session_id" => Some(&mut self.parts.session),
            _ => None,
        };
        if let Some(part) = part {
            // Invalid values are only reported if they are needed: a message may have its own member `user`.
            *part = text(raw).map(Cow::into_owned);
            return Ok(());
        }
        match name {
            b"context" if raw.first() == Some(&b'{') => self.read(raw)?,
            b"scope" if raw.first() == Some(&b'{') => self.scope = Some(raw),
            b"values" => self.has_values = true,
            b"session_key" => self.key = json::text(raw),
            b"identity_links" => self.arrival.links = Some(Links::read(raw)?),
            b"dimensions" => self.dimensions = Some(raw),
            _ => {}
        }
        Ok(())
    }
}

fn dimensions(raw: &[u8]) -> Result<Vec<Dimension>> {
    if raw == b"null" {
        return Ok(Vec::new());
    }
    let refused = || wrong("dimensions", "is not a list of strings");
    let names = json::elements(raw, Dialect::Strict).ok_or_else(refused)?;
    names
        .into_iter()
        .map(|name| Dimension::named(&json::text(name).ok_or_else(refused)?))
        .collect()
}

impl<'a> KeyRequest<'a> {
    /// Parses an object: the scope of a session; or the origin of a message, at the top level or in a member `context`;
    /// or tenant, user and session. Ignores other members.
    pub fn read(object: &'a [u8]) -> Result<KeyRequest<'a>> {
        let mut given = Given::default();
        given.read(object)?;
        if let Some(key) = given.key.filter(|key| signature::is_explicit(key)) {
            return Ok(KeyRequest::Given(key));
        }
        if let Some(scope) = given.scope {
            // This object may also be an owner.
            return match KeyRequest::read(scope)? {
                KeyRequest::Inbound(_) => Ok(KeyRequest::Scope(Scope::read(scope)?)),
                other => Ok(other),
            };
        }
        // A scope may have any dimensions.
        if given.has_values {
            return Ok(KeyRequest::Scope(Scope::read(object)?));
        }
        if given.came_in {
            given.arrival.dimensions = given.dimensions.map(dimensions).transpose()?;
            return Ok(KeyRequest::Inbound(Box::new(given.arrival)));
        }
        if given.parts != OwnerParts::default() {
            return Ok(KeyRequest::Owner(given.parts));
        }
        Err(
            Error::usage("contains no identity of a session").hint(
                "give a scope (agent_id, channel, account, dimensions, values), a message (channel, chat_id, sender_id, ...), or tenant_id, user_id and session_id",
            ),
        )
    }

    /// The key; `None` if the request names no session.
    pub fn key(&self, form: KeyForm, settings: &ScopeSettings) -> Result<Option<String>> {
        let key = match self {
            KeyRequest::Given(key) => Some(key.clone().into_owned()),
            KeyRequest::Scope(scope) if settings.inbound == Inbound::default() => Some(scope.key(form)?),
            KeyRequest::Scope(_) => return Err(opaque_key_error()),
            KeyRequest::Inbound(arrival) => Some(arrival.scope(form, settings).key(form)?),
            KeyRequest::Owner(parts) => match settings.owner(parts).owner()? {
                Some(owner) => Some(owner.key(form)?),
                None => None,
            },
        };
        key.map(one_line).transpose()
    }

    /// Warnings about lost ids and ambiguous senders.
    pub fn warnings(&self, form: KeyForm, settings: &ScopeSettings) -> Vec<String> {
        match self {
            KeyRequest::Inbound(arrival) => key_warnings::warnings(arrival, form, settings),
            _ => Vec::new(),
        }
    }

    /// The key with its derivation; `None` if the request names no session.
    pub fn answer(&self, form: KeyForm, settings: &ScopeSettings) -> Result<Option<KeyAnswer>> {
        let Some(key) = self.key(form, settings)? else {
            return Ok(None);
        };
        let mut answer = KeyAnswer {
            key,
            ..KeyAnswer::default()
        };
        match self {
            KeyRequest::Given(_) => answer.notes = key_warnings::notes_on_given_key(&answer.key),
            KeyRequest::Scope(scope) => {
                answer.signature = Some(scope.signature(form)?);
                answer.scope = Some(scope.write());
                answer.notes = key_warnings::of_scope(scope, form);
            }
            KeyRequest::Inbound(arrival) => {
                let scope = arrival.scope(form, settings);
                answer.signature = Some(scope.signature(form)?);
                answer.scope = Some(scope.write());
                answer.aliases = arrival.aliases(form, settings);
                answer.shared = answer
                    .aliases
                    .iter()
                    .filter(|alias| signature::is_main_alias(alias))
                    .cloned()
                    .collect();
                answer.notes = key_warnings::of_arrival(arrival, &scope, form, settings);
            }
            KeyRequest::Owner(parts) => {
                let Some(owner) = settings.owner(parts).owner()? else {
                    return Ok(None);
                };
                answer.signature = Some(owner.signature(form)?);
                answer.scope = Some(owner.write());
                answer.aliases = owner.aliases();
                answer.aliases.retain(|alias| *alias != answer.key);
                answer.notes = key_warnings::of_owner(&owner, form);
            }
        }
        if super::is_hashed(&answer.key) {
            answer
                .notes
                .push("too long for a readable key; the key is a hash of the signature".to_string());
        }
        Ok(Some(answer))
    }
}

fn opaque_key_error() -> Error {
    Error::usage("options of a conversation conflict with a given scope")
}

/// Rejects a key with control characters, which would break lines or move a terminal's cursor.
fn one_line(key: String) -> Result<String> {
    if key.chars().any(char::is_control) {
        return Err(Error::usage(format!(
            "invalid key '{key}': contains a control character"
        )));
    }
    Ok(key)
}
