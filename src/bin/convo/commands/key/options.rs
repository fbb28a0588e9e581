//! Options of the two identities: a conversation, and an owner.

use clap::Args;
use convo::model::scope::tenant_scope::{OwnerParts, Paths};
use convo::model::scope::{Dimension, Inbound, Links};
use std::borrow::Cow;
use std::path::PathBuf;

/// A conversation.
#[derive(Args, Debug)]
#[command(next_help_heading = "Conversation")]
pub struct ConversationArgs {
    /// Agent [default: main]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Network: telegram, slack, ...
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// Account of the agent [default: default]
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Workspace, guild or team
    #[arg(long, value_name = "ID", hide_short_help = true)]
    space: Option<String>,
    /// Type of space: workspace, guild, ...
    #[arg(long, value_name = "TYPE", hide_short_help = true)]
    space_type: Option<String>,
    /// Chat, channel or room
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    chat: Option<String>,
    /// Type of chat: direct, group, channel, ...
    #[arg(long, value_name = "TYPE")]
    chat_type: Option<String>,
    /// Thread or topic in the chat
    ///
    /// Part of the chat in Telegram forums; elsewhere used only with --dimension topic.
    #[arg(long, value_name = "ID")]
    topic: Option<String>,
    /// Sender of the message
    #[arg(long, value_name = "ID")]
    sender: Option<String>,
    /// Separate sessions by: space, chat, topic, sender
    ///
    /// Repeatable or comma-separated; the order matters. Default: the dimensions of the object, `dimensions` of the table
    /// [key] in the configuration file, or chat.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = ["space", "chat", "topic", "sender"])]
    #[arg(hide_possible_values = true)]
    dimension: Vec<String>,
    /// PicoClaw name of a set of dimensions
    ///
    /// per-channel-peer (chat and sender), per-channel (chat), per-peer (sender), global (none).
    #[arg(
        long,
        value_name = "WORD",
        conflicts_with = "dimension",
        hide_possible_values = true,
        hide_short_help = true
    )]
    #[arg(value_parser = ["per-channel-peer", "per-channel", "per-peer", "global"])]
    dm_scope: Option<String>,
    /// Map several ids to one person, from JSON or TOML
    ///
    /// An object from names to lists of ids, plain or channel:id, at the top level or in identity_links. Default: the links
    /// of the object, or `identity-links` of the table [key] in the configuration file.
    #[arg(long, value_name = "FILE", hide_short_help = true, value_hint = clap::ValueHint::FilePath)]
    identity_links: Option<PathBuf>,
}

impl ConversationArgs {
    /// Whether an option identifies a conversation.
    pub fn is_given(&self) -> bool {
        [&self.channel, &self.space, &self.chat, &self.topic, &self.sender]
            .iter()
            .any(|option| option.is_some())
    }

    /// Returns the inbound message that the options describe.
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

    /// Parses the dimensions that separate sessions.
    pub fn dimensions(&self) -> convo::Result<Option<Vec<Dimension>>> {
        if let Some(word) = &self.dm_scope {
            return Ok(Some(Dimension::of_dm_scope(word)?.to_vec()));
        }
        let named: convo::Result<Vec<_>> = self.dimension.iter().map(|name| Dimension::named(name)).collect();
        Ok(Some(named?).filter(|named| !named.is_empty()))
    }

    /// Reads the identity links of the file.
    pub fn links(&self) -> convo::Result<Option<Links>> {
        let Some(path) = &self.identity_links else {
            return Ok(None);
        };
        crate::key_args::links_of_file(path).map(Some)
    }
}

/// An owner.
#[derive(Args, Debug)]
#[command(next_help_heading = "Owner")]
pub struct OwnerArgs {
    /// Tenant
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// User of the tenant
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Session of the user
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Read tenant, user and session from a tool-call context
    ///
    /// From a file, or - for standard input; from tenant_id, user_id and session_id or the paths below. Values must be
    /// strings or numbers. Options take precedence.
    #[arg(long, alias = "context", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub tool_context: Option<PathBuf>,
    /// Member names of the tenant, joined by dots
    #[arg(long, value_name = "PATH", requires = "tool_context", hide_short_help = true)]
    tenant_path: Option<String>,
    /// Member names of the user, joined by dots
    #[arg(long, value_name = "PATH", requires = "tool_context", hide_short_help = true)]
    user_path: Option<String>,
    /// Member names of the session, joined by dots
    #[arg(long, value_name = "PATH", requires = "tool_context", hide_short_help = true)]
    session_path: Option<String>,
    /// Tenant if none is given
    #[arg(long, value_name = "ID", conflicts_with = "tenant", hide_short_help = true)]
    default_tenant: Option<String>,
    /// User if none is given
    #[arg(long, value_name = "ID", conflicts_with = "user", hide_short_help = true)]
    default_user: Option<String>,
    /// Exit with 1 if no session is given
    ///
    /// Prints nothing, or an empty line per object. Otherwise this is a usage error.
    #[arg(long)]
    pub require_explicit: bool,
}

impl OwnerArgs {
    /// Whether an option identifies an owner.
    pub fn is_given(&self) -> bool {
        [&self.tenant, &self.user, &self.session]
            .iter()
            .any(|option| option.is_some())
    }

    /// The parts given on the command line.
    pub fn given(&self) -> OwnerParts {
        OwnerParts {
            tenant: self.tenant.clone(),
            user: self.user.clone(),
            session: self.session.clone(),
        }
    }

    /// The defaults of parts that neither the options nor the input give.
    pub fn defaults(&self) -> OwnerParts {
        OwnerParts {
            tenant: self.default_tenant.clone(),
            user: self.default_user.clone(),
            session: None,
        }
    }

    /// The paths of the parts in the context of a tool call.
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
