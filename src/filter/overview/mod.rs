//! The overview of a session in a list: its title, counts, links and origin.

mod encoded;

use super::retention;
use crate::format::workspace::Workspace;
use crate::model::chain::ChainLinks;
use crate::model::header;
use crate::model::health::Health;
use crate::model::json;
use crate::model::lineage::Lineage;
use crate::model::session::Session;
pub use crate::model::title::{Title, TitleSource};
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use crate::tokens::usage::of_item;
use serde::{Deserialize, Serialize};

/// The header member that holds the tags of a session.
pub const TAGS: &str = "tags";

/// The facts of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Overview {
    /// The id in the header.
    pub id: Option<String>,
    /// The title, complete.
    pub title: Option<Title>,
    /// The key in the header.
    pub key: Option<String>,
    /// Messages in the log.
    pub messages: u64,
    /// Messages in the view.
    pub view: u64,
    /// Tokens of the view, and the tokenizer that was requested for them; none if they were not counted.
    pub tokens: Option<(u64, String)>,
    /// Time of creation, as written.
    pub created: Option<String>,
    /// Time of the newest record that has one, as written.
    pub updated: Option<String>,
    /// The session that this one continues.
    pub continued_from: Option<String>,
    /// The sessions that continue this one.
    pub continued_to: Vec<String>,
    /// The links of the header.
    pub chain: ChainFacts,
    /// The kind of lineage: `branch`, `sidechain`, `fork`, `child`, `split`.
    pub lineage: Option<String>,
    /// The session of which this one is a branch, a copy or a part.
    pub parent: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The Git branch.
    pub branch: Option<String>,
    /// The model of the session, else the one of the newest reply.
    pub model: Option<String>,
    /// The format from which the session was converted.
    pub format: Option<String>,
    /// Its tags, in order.
    pub tags: Vec<String>,
    /// Whether records are damaged.
    pub damaged: bool,
    /// Status of the summarizer.
    pub health: Health,
    /// Exchanges that wait for a summary: pending, backlog.
    pub waiting: Option<(u64, u64)>,
}

/// Members of the header about the chain of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ChainFacts {
    /// Position in the chain.
    pub index: Option<u64>,
    /// Creation time of the first session.
    pub original: Option<String>,
    /// Tokens of the session that this one continues.
    pub source_tokens: Option<u64>,
    /// Tokens of the chain.
    pub tokens: Option<u64>,
}

impl Overview {
    /// Computes the overview of a session. With a counter, also counts tokens, stored under the given tokenizer name.
    pub fn of(session: &Session, damaged: bool, counter: Option<(Counter, &str)>) -> Overview {
        let view = View::replay(session);
        let header = session.header();
        let raw = |name: &str| header::member(header, name);
        let text = |name: &str| Some(json::text(raw(name)?)?.into_owned());
        let number = |name: &str| json::number(raw(name)?);
        let count = |number: usize| number as u64;
        let links = ChainLinks::of(session);
        let lineage = Lineage::of(session);
        let workspace = Workspace::of(session);
        let plain = |raw: Option<Vec<u8>>| Some(json::text(&raw?)?.into_owned());
        let source = raw("source").and_then(|source| json::member(source, "format"));
        let tokens = |(counter, name): (Counter, &str)| {
            let items = view.items.iter();
            let sum = items.map(|item| of_item(session, item, counter)).sum();
            (sum, name.to_string())
        };
        Overview {
            id: text("id"),
            title: Title::of(session, text("title"), &view),
            key: text("key"),
            messages: count(session.messages().count()),
            view: count(
                view.items
                    .iter()
                    .filter(|item| !matches!(item, Item::Summary(_)))
                    .count(),
            ),
            tokens: counter.map(tokens),
            created: text("created_at"),
            updated: session.newest_time(),
            continued_from: links.continued_from,
            continued_to: links.continued_to,
            chain: ChainFacts {
                index: number("continuation_index"),
                original: text("original_created_at"),
                source_tokens: number("source_tokens"),
                tokens: number("chain_tokens"),
            },
            parent: lineage.as_ref().and_then(|lineage| lineage.parent.clone()),
            lineage: lineage.map(|lineage| lineage.kind),
            model: plain(workspace.last_model(session, &view)),
            cwd: plain(workspace.cwd),
            branch: plain(workspace.branch),
            format: source.and_then(json::text).map(|name| name.into_owned()),
            tags: tags(raw(TAGS)),
            damaged,
            health: Health::of(session),
            waiting: retention::waiting_turns(session)
                .ok()
                .flatten()
                .map(|(pending, backlog)| (count(pending), count(backlog))),
        }
    }
}

/// The tags of a session.
pub fn tags_of(session: &Session) -> Vec<String> {
    tags(session.header_member(TAGS))
}

fn tags(raw: Option<&[u8]>) -> Vec<String> {
    let texts = json::items(raw).into_iter().filter_map(json::text);
    texts.map(|tag| tag.into_owned()).collect()
}
