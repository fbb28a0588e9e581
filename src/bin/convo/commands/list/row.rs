//! A session of the list.

use super::home_facts::HomeFacts;
use crate::args::{of_format, project_of};
use crate::terminal::session_tree::SessionNode;
use crate::terminal::time_format::machine;
use convo::filter::overview::Overview;
use convo::model::health::HealthState;
use convo::model::time;

/// Formats that many programs write, so that they do not identify the program.
const COMMON: [&str; 11] = [
    "native", "jsonl", "openai-chat", "openai-responses", "anthropic", "gemini", "langchain", "vercel-ui",
    "vercel-ui-v4", "sharegpt", "markdown",
];

/// A session and its position in the list.
pub struct ListRow {
    pub id: String,
    /// Boxed, since rows are sorted and arranged.
    pub overview: Box<Overview>,
    /// Size of a stored log.
    pub bytes: Option<u64>,
    /// The short id, and the length of its unique prefix in bytes.
    pub short: String,
    pub unique: usize,
    /// Its mark on a terminal.
    pub mark: &'static str,
    /// Depth in the tree.
    pub depth: usize,
    /// Position in the chain.
    pub index: Option<u64>,
    pub aliases: Vec<String>,
    /// Format of the input.
    pub input: &'static str,
    /// Set for a session in the home of another program.
    pub home: Option<Box<HomeFacts>>,
}

impl ListRow {
    /// Creates the row of a session in an input of this format; `label` is its id if it has none.
    pub fn new(overview: Box<Overview>, label: &str, input: &'static str) -> ListRow {
        ListRow {
            id: overview.id.clone().unwrap_or_else(|| label.to_string()),
            index: overview.chain.index,
            overview,
            bytes: None,
            short: String::new(),
            unique: 0,
            mark: "",
            depth: 0,
            aliases: Vec::new(),
            input,
            home: None,
        }
    }

    /// Returns the last component of the working directory.
    pub fn project(&self) -> Option<&str> {
        project_of(self.overview.cwd.as_deref())
    }

    /// Returns the format of the session before it was imported, or the format of the input.
    pub fn format(&self) -> &str {
        self.overview.format.as_deref().unwrap_or(self.input)
    }

    /// Returns the program that wrote the session, if its format records it.
    pub fn program(&self) -> Option<&str> {
        if let Some(home) = &self.home {
            return Some(home.program);
        }
        let format = Some(self.format()).filter(|format| !COMMON.contains(format))?;
        Some(of_format(format))
    }

    /// Returns the session that contains this one as a branch, a subagent or a part.
    pub fn parent(&self) -> Option<&str> {
        let lineage = self.overview.lineage.as_deref();
        let parent = self.overview.parent.as_deref();
        parent.filter(|_| lineage != Some("fork"))
    }

    /// Returns the status of the summarizer, unless it is healthy.
    pub fn unhealthy_state(&self, now: &str) -> Option<HealthState> {
        Some(self.overview.health.state(now)).filter(|state| *state != HealthState::Healthy)
    }

    /// Returns the name that commands accept; on a terminal with a short id and a mark if the session is running or
    /// about to be deleted.
    pub fn name(&self, is_terminal: bool) -> String {
        match &self.home {
            Some(home) if is_terminal => format!("{}:{}{}", home.program, self.short, self.mark),
            Some(home) => home.name.clone(),
            None if is_terminal => self.short.clone(),
            None => self.id.clone(),
        }
    }

    /// Returns the number of messages: those of the view, or all messages of a session in a home.
    pub fn messages(&self) -> u64 {
        match &self.home {
            Some(home) => home.session.overview.messages,
            None => self.overview.view,
        }
    }

    /// Returns the title; in a tree on a terminal, with its relation to the session above.
    pub fn title(&self, is_terminal: bool) -> String {
        let title = self.overview.title.as_ref();
        let title = title.map_or("", |title| title.text.as_str());
        let kind = match self.overview.lineage.as_deref() {
            Some("sidechain" | "child") => "subagent: ",
            Some("branch") => "branch: ",
            Some("split") => "part: ",
            _ => "",
        };
        match is_terminal && self.depth > 0 {
            true => format!("{kind}{title}"),
            false => title.to_string(),
        }
    }

    /// Returns the node of the tree.
    pub fn node(&self) -> SessionNode {
        SessionNode {
            id: self.id.clone(),
            continued_from: self.overview.continued_from.clone(),
            branched_from: self.overview.parent.clone(),
            newest: self.overview.updated.as_deref().and_then(time::seconds),
        }
    }

    /// Returns the session as a JSON object.
    pub fn object(&self, now: &str) -> String {
        if let Some(home) = &self.home {
            return home.object();
        }
        let overview = &self.overview;
        let time = |time: &Option<String>| time.as_deref().map(machine);
        let title = overview.title.as_ref();
        serde_json::json!({
            "schema": "convo.list/1", "id": self.id, "title": title.map(|title| &title.text),
            "title_from": title.map(|title| title.from.name()), "key": overview.key,
            "messages": overview.messages, "view": overview.view,
            "tokens": overview.tokens.as_ref().map(|(tokens, _)| tokens), "bytes": self.bytes,
            "cwd": overview.cwd, "program": self.program(), "format": self.format(), "model": overview.model,
            "tags": overview.tags, "aliases": self.aliases,
            "created_at": time(&overview.created), "updated_at": time(&overview.updated),
            "continued_from": overview.continued_from, "continued_to": overview.continued_to,
            "continuation_index": self.index, "original_created_at": time(&overview.chain.original),
            "source_tokens": overview.chain.source_tokens, "chain_tokens": overview.chain.tokens,
            "depth": self.depth, "damaged": overview.damaged,
            "health": overview.health.state(now).name(), "failures": overview.health.failures,
            "next_attempt_at": time(&overview.health.next_attempt_at),
            "pending": overview.waiting.map(|(pending, _)| pending),
            "backlog": overview.waiting.map(|(_, backlog)| backlog),
        })
        .to_string()
    }
}
