//! The origin of an incoming message, and the scope of the session that it belongs to.

use super::identity::Links;
use super::picoclaw_normalize::{self, folded};
use super::{CHANNEL, Scope, signature};
use crate::error::{Error, Result};
use crate::model::named_enum::named_enum;
use std::borrow::Cow;

/// Origin of a message; unknown members are blank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbound<'a> {
    /// The receiving agent.
    pub agent: Cow<'a, str>,
    /// The network: `telegram`, `slack`, ...
    pub channel: Cow<'a, str>,
    /// The agent's account there.
    pub account: Cow<'a, str>,
    /// The chat, channel or room.
    pub chat: Cow<'a, str>,
    /// Type of chat: `direct`, `group`, `channel`, ...
    pub chat_type: Cow<'a, str>,
    /// A thread or topic of the chat.
    pub topic: Cow<'a, str>,
    /// The space that contains the chat.
    pub space: Cow<'a, str>,
    /// Type of space: `workspace`, `guild`, ...
    pub space_type: Cow<'a, str>,
    /// The sender.
    pub sender: Cow<'a, str>,
}

named_enum! {
    /// A dimension that separates sessions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Dimension {
        /// The space.
        Space = "space",
        /// The chat.
        Chat = "chat",
        /// The topic in it.
        Topic = "topic",
        /// The sender.
        Sender = "sender",
    }
}

impl Dimension {
    /// Default dimensions.
    pub const DEFAULT: [Dimension; 1] = [Dimension::Chat];

    /// The dimension with this name. Rejects unknown names: PicoClaw would ignore them and merge sessions that should
    /// be separate.
    pub fn named(name: &str) -> Result<Dimension> {
        Dimension::from_name(name).ok_or_else(|| {
            let names = Dimension::ALL.map(Dimension::name).join(", ");
            let error = Error::usage(format!("unknown dimension '{name}'; expected one of {names}"));
            match Dimension::from_name(&folded(name)) {
                Some(near) => error.hint(format!("use {}", near.name())),
                None => error,
            }
        })
    }

    /// The dimensions of PicoClaw's `dm_scope`.
    pub fn of_dm_scope(name: &str) -> Result<&'static [Dimension]> {
        Ok(match name {
            "per-channel-peer" => &[Dimension::Chat, Dimension::Sender],
            "per-channel" => &[Dimension::Chat],
            "per-peer" => &[Dimension::Sender],
            "global" => &[],
            _ => {
                let names = "per-channel-peer, per-channel, per-peer, global";
                let what = format!("unknown dm-scope '{name}'; expected one of {names}");
                return Err(Error::usage(what));
            }
        })
    }
}

/// Encodes a type of chat or space as the prefix of a value, with colons escaped.
fn word(text: &str, default: &str) -> String {
    let word = folded(text);
    if word.is_empty() {
        return default.to_string();
    }
    word.replace('%', "%25").replace(':', "%3a")
}

fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    let text = text.trim();
    if text.is_empty() { default } else { text }
}

impl Inbound<'_> {
    /// The scope without collisions: ids keep their case, persons and senders are distinct, topics are separate values.
    /// Names of channels and types are converted to lower case.
    pub fn exact(&self, dimensions: &[Dimension], links: &Links) -> Scope {
        let channel = folded(or(&self.channel, CHANNEL)).into_owned();
        let mut values: Vec<(String, String)> = Vec::new();
        let mut put = |name: &str, value: String| {
            if !values.iter().any(|(known, _)| known == name) {
                values.push((name.to_string(), value));
            }
        };
        for dimension in dimensions {
            match dimension {
                Dimension::Space if !self.space.trim().is_empty() => {
                    put(
                        "space",
                        format!("{}:{}", word(&self.space_type, "space"), self.space.trim()),
                    );
                }
                Dimension::Chat if !self.chat.trim().is_empty() => {
                    put(
                        "chat",
                        format!("{}:{}", word(&self.chat_type, "direct"), self.chat.trim()),
                    );
                    if self.is_forum(dimensions) {
                        put("topic", self.topic.trim().to_string());
                    }
                }
                Dimension::Topic if !self.topic.trim().is_empty() => {
                    put("topic", self.topic.trim().to_string());
                }
                Dimension::Sender if !self.sender.trim().is_empty() => {
                    match links.find(&channel, &self.sender, false) {
                        Some(person) => put("person", person.name.to_string()),
                        None => put("sender", self.sender.trim().to_string()),
                    }
                }
                _ => {}
            }
        }
        Scope {
            agent: or(&self.agent, picoclaw_normalize::AGENT).to_string(),
            account: or(&self.account, picoclaw_normalize::ACCOUNT).to_string(),
            channel,
            values,
        }
    }

    /// The scope as PicoClaw computes it: all values in lower case, agent and account in the reduced alphabet.
    pub fn folded(&self, dimensions: &[Dimension], links: &Links) -> Scope {
        let channel = folded(or(&self.channel, CHANNEL)).into_owned();
        let mut values = Vec::new();
        for dimension in dimensions {
            let (value, id) = match dimension {
                Dimension::Space => {
                    let kind = folded(or(&self.space_type, "space"));
                    (format!("{kind}:{}", folded(&self.space)), &self.space)
                }
                Dimension::Chat => {
                    let kind = folded(or(&self.chat_type, "direct"));
                    let chat = folded(&self.chat);
                    let value = match self.is_forum(dimensions) {
                        true => format!("{kind}:{chat}/{}", folded(&self.topic)),
                        false => format!("{kind}:{chat}"),
                    };
                    (value, &self.chat)
                }
                Dimension::Topic => (format!("topic:{}", folded(&self.topic)), &self.topic),
                Dimension::Sender => (self.identity(&channel, links), &self.sender),
            };
            if !id.trim().is_empty() {
                values.push((dimension.name().to_string(), value));
            }
        }
        Scope {
            agent: picoclaw_normalize::agent(&self.agent).into_owned(),
            account: picoclaw_normalize::account(&self.account).into_owned(),
            channel,
            values,
        }
    }

    /// These members, with blank ones taken from `other`.
    pub fn or<'d>(&'d self, other: &'d Inbound<'_>) -> Inbound<'d> {
        let first =
            |one: &'d str, other: &'d str| Cow::Borrowed(if one.trim().is_empty() { other } else { one });
        Inbound {
            agent: first(&self.agent, &other.agent),
            channel: first(&self.channel, &other.channel),
            account: first(&self.account, &other.account),
            chat: first(&self.chat, &other.chat),
            chat_type: first(&self.chat_type, &other.chat_type),
            topic: first(&self.topic, &other.topic),
            space: first(&self.space, &other.space),
            space_type: first(&self.space_type, &other.space_type),
            sender: first(&self.sender, &other.sender),
        }
    }

    /// Whether the topic is part of the chat: in a Telegram forum, unless topics are a dimension.
    pub fn is_forum(&self, dimensions: &[Dimension]) -> bool {
        folded(&self.channel) == "telegram"
            && !self.topic.trim().is_empty()
            && !dimensions.contains(&Dimension::Topic)
    }

    /// The sender's identity in PicoClaw's encoding.
    fn identity(&self, channel: &str, links: &Links) -> String {
        match links.find(channel, &self.sender, true) {
            Some(person) => folded(person.name).into_owned(),
            None => folded(&self.sender).into_owned(),
        }
    }

    /// PicoClaw's legacy names of the session. The first one, that of the agent's main session, is shared by all
    /// sessions of the agent.
    pub fn aliases(&self, links: &Links) -> Vec<String> {
        let agent = picoclaw_normalize::agent(&self.agent);
        let channel = folded(or(&self.channel, CHANNEL));
        let mut aliases = vec![signature::main_alias(&agent)];
        let mut add = |alias: String| {
            let alias = folded(&alias).into_owned();
            if !aliases.contains(&alias) {
                aliases.push(alias);
            }
        };
        let chat = folded(&self.chat);
        if folded(&self.chat_type) == "direct" {
            let account = picoclaw_normalize::account(&self.account);
            let sender = folded(&self.sender).into_owned();
            for peer in [sender, self.identity(&channel, links), chat.into_owned()] {
                if !peer.is_empty() {
                    add(format!("agent:{agent}:direct:{peer}"));
                    add(format!("agent:{agent}:{channel}:direct:{peer}"));
                    add(format!("agent:{agent}:{channel}:{account}:direct:{peer}"));
                }
            }
        } else if !chat.is_empty() {
            let kind = folded(or(&self.chat_type, "unknown"));
            let topic = folded(&self.topic);
            let slash = if topic.is_empty() { "" } else { "/" };
            add(format!("agent:{agent}:{channel}:{kind}:{chat}{slash}{topic}"));
        }
        aliases
    }
}
