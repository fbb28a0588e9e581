//! Scope by owner: tenant, user and session, given directly or read from the context of a tool call.

use super::{KeyForm, key_codec, value};
use crate::error::{Error, Result};
use crate::model::json::{self, ObjectBuilder};

/// The owner of a session; no part is blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The customer.
    pub tenant: String,
    /// The user of that tenant.
    pub user: String,
    /// The session of that user.
    pub session: String,
}

/// The given parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerParts {
    /// The customer.
    pub tenant: Option<String>,
    /// The user of that tenant.
    pub user: Option<String>,
    /// The session of that user.
    pub session: Option<String>,
}

/// Paths of the parts in the context of a tool call: member names joined by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Path of the tenant.
    pub tenant: String,
    /// Path of the user.
    pub user: String,
    /// Path of the session.
    pub session: String,
}

impl Default for Paths {
    fn default() -> Self {
        Paths {
            tenant: "tenant_id".to_string(),
            user: "user_id".to_string(),
            session: "session_id".to_string(),
        }
    }
}

/// Strips the white space that Python strips, which includes the record separators.
fn stripped(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

impl Paths {
    /// Reads the parts from a context: strings are stripped, numbers become digits. Null and absent members are
    /// missing; other values are rejected.
    pub fn find(&self, context: &[u8]) -> Result<OwnerParts> {
        let part = |name: &str, path: &str| {
            let mut at = Some(context);
            for member in path.split('.') {
                at = at.and_then(|object| json::member(object, member));
            }
            match at {
                None | Some(b"null") => Ok(None),
                Some(raw) => match value::text(raw) {
                    Some(text) => Ok(Some(stripped(&text).to_string())),
                    None => Err(Error::usage(format!(
                        "{name} ({path}) is neither a string nor a number"
                    ))),
                },
            }
        };
        Ok(OwnerParts {
            tenant: part("tenant", &self.tenant)?,
            user: part("user", &self.user)?,
            session: part("session", &self.session)?,
        })
    }
}

impl OwnerParts {
    /// These parts, with missing ones taken from `other`.
    pub fn or(self, other: OwnerParts) -> OwnerParts {
        OwnerParts {
            tenant: self.tenant.or(other.tenant),
            user: self.user.or(other.user),
            session: self.session.or(other.session),
        }
    }

    /// The owner. `None` if the session is missing or blank, because no key is invented. An error if tenant or user is
    /// missing or blank.
    pub fn owner(self) -> Result<Option<Owner>> {
        let given = |part: Option<String>| part.map(|part| stripped(&part).to_string());
        let Some(session) = given(self.session).filter(|session| !session.is_empty()) else {
            return Ok(None);
        };
        let (tenant, user) = (given(self.tenant), given(self.user));
        let mut wrong = Vec::new();
        for (name, part) in [("tenant", &tenant), ("user", &user)] {
            match part.as_deref() {
                None => wrong.push(format!("no {name} given")),
                Some("") => wrong.push(format!("blank {name}")),
                Some(_) => {}
            }
        }
        match (tenant, user) {
            (Some(tenant), Some(user)) if wrong.is_empty() => Ok(Some(Owner {
                tenant,
                user,
                session,
            })),
            _ => {
                Err(Error::usage(wrong.join(", "))
                    .hint("give the missing part, or a default for all sessions"))
            }
        }
    }
}

impl Owner {
    fn parts(&self) -> [(&'static str, &str); 3] {
        [
            ("tenant", &self.tenant),
            ("user", &self.user),
            ("session", &self.session),
        ]
    }

    /// The parts joined by colons, as in PenguiFlow, without escapes.
    pub fn joined(&self) -> String {
        self.parts().map(|(_, part)| part).join(":")
    }

    /// Why other owners could have the same joined parts; `None` if they are unambiguous.
    pub fn ambiguity(&self) -> Option<String> {
        if let Some((name, part)) = self.parts().into_iter().find(|(_, part)| part.contains(':')) {
            return Some(format!(
                "{name} '{part}' contains a colon, which separates the parts of the key"
            ));
        }
        (self.tenant == "kv" && self.user == "v1")
            .then(|| "keys starting with kv:v1: are reserved for PenguiFlow's own documents".to_string())
    }

    /// The text that the key of this form encodes.
    pub fn signature(&self, form: KeyForm) -> Result<String> {
        match form {
            KeyForm::Convo => Ok(key_codec::encode(self.parts())),
            KeyForm::Penguiflow => match self.ambiguity() {
                None => Ok(self.joined()),
                Some(why) => Err(Error::usage(why).hint("omit --form for a key that separates such parts")),
            },
            KeyForm::Picoclaw => Err(Error::usage(
                "--form picoclaw requires a conversation: agent, channel and chat",
            )),
        }
    }

    /// The key of the owner's session.
    pub fn key(&self, form: KeyForm) -> Result<String> {
        let signature = self.signature(form)?;
        Ok(match form {
            KeyForm::Convo => key_codec::key(signature),
            _ => signature,
        })
    }

    /// PenguiFlow's name of the session, unless it is ambiguous.
    pub fn aliases(&self) -> Vec<String> {
        match self.ambiguity() {
            None => vec![self.joined()],
            Some(_) => Vec::new(),
        }
    }

    /// Decodes the owner of a readable key; `None` if the key is not one.
    pub fn of_key(key: &str) -> Option<Owner> {
        let parts = key_codec::parts(key)?;
        let [(tenant, one), (user, other), (session, third)] = &parts[..] else {
            return None;
        };
        ([tenant.as_str(), user, session] == ["tenant", "user", "session"]).then(|| Owner {
            tenant: one.clone(),
            user: other.clone(),
            session: third.clone(),
        })
    }

    /// Encodes the owner as JSON.
    pub fn write(&self) -> Vec<u8> {
        let mut object = ObjectBuilder::default();
        for (name, part) in self.parts() {
            object.text(name, part);
        }
        object.finish()
    }
}
