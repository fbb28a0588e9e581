//! The two ways to say which session is meant: where a message came from, and whose session it is.

use clap::Args;
use convo::model::scope::owner::{Parts, Paths};
use convo::model::scope::{Dimension, Inbound, Links};
use std::borrow::Cow;
use std::path::PathBuf;

/// Where a message came from.
#[derive(Args, Debug)]
#[command(next_help_heading = "Where a message came from")]
pub struct Place {
    /// The agent that it is for [default: main]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// The network: telegram, slack, ...
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// The agent's account there [default: default]
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// The workspace, guild or team
    #[arg(long, value_name = "ID", hide_short_help = true)]
    space: Option<String>,
    /// What kind of space: workspace, guild, ...
    #[arg(long, value_name = "TYPE", hide_short_help = true)]
    space_type: Option<String>,
    /// The chat, channel or room
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    chat: Option<String>,
    /// What kind of chat: direct, group, channel, ...
    #[arg(long, value_name = "TYPE")]
    chat_type: Option<String>,
    /// A thread or topic of the chat
    ///
    /// In a forum of Telegram it is part of the chat; elsewhere it counts with --dimension topic only.
    #[arg(long, value_name = "ID")]
    topic: Option<String>,
    /// Who wrote it
    #[arg(long, value_name = "ID")]
    sender: Option<String>,
    /// What keeps sessions apart: space, chat, topic, sender
    ///
    /// By default what the object says, or `dimensions` of the table [key] in the configuration file, or chat. May be given more than once, or with commas; the order counts.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = ["space", "chat", "topic", "sender"])]
    #[arg(hide_possible_values = true)]
    dimension: Vec<String>,
    /// The same by PicoClaw's word for it
    ///
    /// per-channel-peer (chat and sender), per-channel (chat), per-peer (sender), global (nothing).
    #[arg(
        long,
        value_name = "WORD",
        conflicts_with = "dimension",
        hide_possible_values = true
    )]
    #[arg(value_parser = ["per-channel-peer", "per-channel", "per-peer", "global"])]
    dm_scope: Option<String>,
    /// Persons of several ids: a JSON or TOML file
    ///
    /// An object of names, each with a list of ids, as they are or as channel:id. It may be a member identity_links
    /// of the file. By default what the object says, or `identity-links` of the table [key] in the configuration file.
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = clap::ValueHint::FilePath)]
    identity_links: Option<PathBuf>,
}

impl Place {
    /// Whether one of the options says where a message came from.
    pub fn is_given(&self) -> bool {
        [&self.channel, &self.space, &self.chat, &self.topic, &self.sender]
            .iter()
            .any(|option| option.is_some())
    }

    /// The message.
    pub fn inbound(&self) -> Inbound<'static> {
        let text = |option: &Option<String>| Cow::Owned(option.clone().unwrap_or_default());
        Inbound {
            agent: text(&self.agent),
            channel: text(&self.channel),
            account: text(&self.account),
            chat: text(&self.chat),
            chat_type: text(&self.chat_type),
            topic: text(&self.topic),
            space: text(&self.space),
            space_type: text(&self.space_type),
            sender: text(&self.sender),
        }
    }

    /// What keeps sessions apart.
    pub fn dimensions(&self) -> convo::Result<Option<Vec<Dimension>>> {
        if let Some(word) = &self.dm_scope {
            return Ok(Some(Dimension::of_dm_scope(word)?.to_vec()));
        }
        let named: convo::Result<Vec<_>> = self.dimension.iter().map(|name| Dimension::named(name)).collect();
        Ok(Some(named?).filter(|named| !named.is_empty()))
    }

    /// The persons of the file.
    pub fn links(&self) -> convo::Result<Option<Links>> {
        let Some(path) = &self.identity_links else {
            return Ok(None);
        };
        crate::keyed::links_of_file(path).map(Some)
    }
}

/// Whose session it is.
#[derive(Args, Debug)]
#[command(next_help_heading = "Whose session it is")]
pub struct Whose {
    /// The customer
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Who of them
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Which of their sessions
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Find them in the context of a tool call: a file, or -
    ///
    /// At the members tenant_id, user_id and session_id, or where --tenant-path and the like say. Texts and numbers
    /// count, anything else is refused. An option above goes before what stands there.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub context: Option<PathBuf>,
    /// Where the tenant stands: names of members, joined by dots
    #[arg(long, value_name = "PATH", requires = "context", hide_short_help = true)]
    tenant_path: Option<String>,
    /// Where the user stands
    #[arg(long, value_name = "PATH", requires = "context", hide_short_help = true)]
    user_path: Option<String>,
    /// Where the session stands
    #[arg(long, value_name = "PATH", requires = "context", hide_short_help = true)]
    session_path: Option<String>,
    /// The tenant of those that name none
    #[arg(long, value_name = "ID", conflicts_with = "tenant", hide_short_help = true)]
    default_tenant: Option<String>,
    /// The user of those that name none
    #[arg(long, value_name = "ID", conflicts_with = "user", hide_short_help = true)]
    default_user: Option<String>,
    /// Where no session is named there is no key: status 1
    ///
    /// Nothing is printed then (in a stream an empty line), and whoever asks goes on without a memory. Without it that
    /// is an error of usage.
    #[arg(long)]
    pub require_explicit: bool,
}

impl Whose {
    /// Whether one of the options says whose it is.
    pub fn is_given(&self) -> bool {
        [&self.tenant, &self.user, &self.session]
            .iter()
            .any(|option| option.is_some())
    }

    /// What is given.
    pub fn given(&self) -> Parts {
        Parts {
            tenant: self.tenant.clone(),
            user: self.user.clone(),
            session: self.session.clone(),
        }
    }

    /// What stands in for what nobody gives.
    pub fn defaults(&self) -> Parts {
        Parts {
            tenant: self.default_tenant.clone(),
            user: self.default_user.clone(),
            session: None,
        }
    }

    /// Where in a context the parts stand.
    pub fn paths(&self) -> Paths {
        let default = Paths::default();
        let own = |option: &Option<String>, default: String| option.clone().unwrap_or(default);
        Paths {
            tenant: own(&self.tenant_path, default.tenant),
            user: own(&self.user_path, default.user),
            session: own(&self.session_path, default.session),
        }
    }
}
