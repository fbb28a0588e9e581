//! The other way to say which session is meant: whose it is. Tenant, user and session, given or found in the context
//! of a tool call.

use super::{Form, spelled, value};
use crate::error::{Error, Kind, Result};
use crate::model::json::{self, ObjectBuilder};

/// Whose session; no part is blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The customer.
    pub tenant: String,
    /// Who of them.
    pub user: String,
    /// Which of their sessions.
    pub session: String,
}

/// What is given for each part; what is missing is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The customer.
    pub tenant: Option<String>,
    /// Who of them.
    pub user: Option<String>,
    /// Which of their sessions.
    pub session: Option<String>,
}

/// Where in the context of a tool call the parts stand: names of members, from the outside in, joined by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Of the tenant.
    pub tenant: String,
    /// Of the user.
    pub user: String,
    /// Of the session.
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

/// White space at the ends is no part of a value; what Python strips, the separators of records too.
fn stripped(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

impl Paths {
    /// What stands there in a context: texts stripped, numbers in digits. Null and what is not there is missing;
    /// anything else is refused.
    pub fn find(&self, context: &[u8]) -> Result<Parts> {
        let part = |name: &str, path: &str| {
            let mut at = Some(context);
            for member in path.split('.') {
                at = at.and_then(|object| json::member(object, member));
            }
            match at {
                None | Some(b"null") => Ok(None),
                Some(raw) => match value::text(raw) {
                    Some(text) => Ok(Some(stripped(&text).to_string())),
                    None => Err(Error::new(
                        Kind::Usage,
                        format!("{name} ({path}) is neither a string nor a number"),
                    )),
                },
            }
        };
        Ok(Parts {
            tenant: part("tenant", &self.tenant)?,
            user: part("user", &self.user)?,
            session: part("session", &self.session)?,
        })
    }
}

impl Parts {
    /// These parts, and where one is missing that of the other.
    pub fn or(self, other: Parts) -> Parts {
        Parts {
            tenant: self.tenant.or(other.tenant),
            user: self.user.or(other.user),
            session: self.session.or(other.session),
        }
    }

    /// The owner, when every part is there. A session that is missing or blank is none: there is no key then, and
    /// nothing is made up in its place. A tenant or user that is missing or blank is an error.
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
            _ => Err(Error::new(Kind::Usage, wrong.join(", "))
                .hint("give the missing part, or a default for all sessions")),
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

    /// The parts joined by colons, as PenguiFlow does, whatever is in them.
    pub fn joined(&self) -> String {
        self.parts().map(|(_, part)| part).join(":")
    }

    /// Why the joined parts are not the key of these parts alone.
    pub fn ambiguity(&self) -> Option<String> {
        if let Some((name, part)) = self.parts().into_iter().find(|(_, part)| part.contains(':')) {
            return Some(format!(
                "{name} '{part}' contains a colon, which separates the parts of the key"
            ));
        }
        (self.tenant == "kv" && self.user == "v1")
            .then(|| "keys starting with kv:v1: are reserved for PenguiFlow's own documents".to_string())
    }

    /// What the key of this form is made of.
    pub fn signature(&self, form: Form) -> Result<String> {
        match form {
            Form::Convo => Ok(spelled::spell(self.parts())),
            Form::Penguiflow => match self.ambiguity() {
                None => Ok(self.joined()),
                Some(why) => {
                    Err(Error::new(Kind::Usage, why).hint("omit --form for a key that separates such parts"))
                }
            },
            Form::Picoclaw => Err(Error::new(
                Kind::Usage,
                "--form picoclaw requires a conversation: agent, channel and chat",
            )),
        }
    }

    /// Its key.
    pub fn key(&self, form: Form) -> Result<String> {
        let signature = self.signature(form)?;
        Ok(match form {
            Form::Convo => spelled::key(signature),
            _ => signature,
        })
    }

    /// Names of the session elsewhere: what PenguiFlow calls it, unless it calls another one so too.
    pub fn aliases(&self) -> Vec<String> {
        match self.ambiguity() {
            None => vec![self.joined()],
            Some(_) => Vec::new(),
        }
    }

    /// The owner of a key that says whose it is; none when this is no such key.
    pub fn of_key(key: &str) -> Option<Owner> {
        let parts = spelled::parts(key)?;
        let [(tenant, one), (user, other), (session, third)] = &parts[..] else {
            return None;
        };
        ([tenant.as_str(), user, session] == ["tenant", "user", "session"]).then(|| Owner {
            tenant: one.clone(),
            user: other.clone(),
            session: third.clone(),
        })
    }

    /// As JSON.
    pub fn write(&self) -> Vec<u8> {
        let mut object = ObjectBuilder::default();
        for (name, part) in self.parts() {
            object.text(name, part);
        }
        object.finish()
    }
}
