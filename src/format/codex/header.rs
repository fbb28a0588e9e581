//! The header of a session, and the number of lines that a fork copies from its parent.

use super::line::{CodexLine, CodexLineKind, NAME};
use super::uuid;
use crate::error::Position;
use crate::format::native::{self, HeaderBuilder, HeaderSource};
use crate::format::object::filled;
use crate::format::workspace::Workspace;
use crate::format::{DocumentSource, Format};
use crate::model::json::{self, ObjectBuilder};
use crate::model::time;
use std::borrow::Cow;

/// The session line: the first of its kind. Later ones belong to other sessions.
pub fn meta(lines: &[CodexLine<'_>]) -> Option<usize> {
    lines
        .iter()
        .position(|line| matches!(line.kind, CodexLineKind::Meta(_)))
}

fn payload<'a>(lines: &[CodexLine<'a>], meta: Option<usize>) -> &'a [u8] {
    meta.and_then(|nth| lines[nth].payload()).unwrap_or(b"{}")
}

/// The header of a session.
pub fn header(source: &DocumentSource<'_>, lines: &[CodexLine<'_>], meta: Option<usize>) -> Vec<u8> {
    let reported = payload(lines, meta);
    let mut header = HeaderBuilder::default();
    let created = filled(reported, "timestamp").filter(|time| time::is_rfc3339(time));
    header
        .text("created_at", created.as_deref())
        .text("title", title(lines).as_deref());
    let source = HeaderSource::of(Format::Codex, source);
    let id = header.named(&source, filled(reported, "id").as_deref(), 0);
    let mut metadata = ObjectBuilder::default();
    let branch = json::member(reported, "git").and_then(|git| json::member(git, "branch"));
    Workspace::new(json::member(reported, "cwd"), branch, None).add_to(&mut metadata);
    metadata.optional("lineage", lineage(reported));
    let mut own = ObjectBuilder::default();
    if let Some(nth) = meta {
        own.raw("session_meta", reported);
        match lines[nth].envelope_object() {
            Some(envelope) => own.raw("envelope", envelope),
            None => own.raw("bare", "true"),
        };
    }
    metadata.members(NAME, own);
    header.metadata(metadata);
    header.finish(&id)
}

/// The last name given to the session.
fn title<'a>(lines: &[CodexLine<'a>]) -> Option<Cow<'a, str>> {
    lines.iter().rev().find_map(|line| match &line.kind {
        CodexLineKind::Event(name, payload) if name == "thread_name_updated" => {
            filled(payload, "thread_name")
        }
        _ => None,
    })
}

fn lineage(reported: &[u8]) -> Option<Vec<u8>> {
    let fork = filled(reported, "forked_from_id").map(|parent| ("fork", parent));
    let child = || Some(("child", filled(reported, "parent_thread_id")?));
    let (kind, parent) = fork.or_else(child)?;
    Some(native::lineage(kind, &parent, None))
}

/// The number of lines that a fork copied from its parent. The copies have the time of the fork and are only
/// recognizable by their turn ids: the session's own turns are not older than the session.
pub fn inherited(lines: &[CodexLine<'_>], meta: Option<usize>) -> usize {
    let reported = payload(lines, meta);
    let (Some(id), Some(parent)) = (filled(reported, "id"), filled(reported, "forked_from_id")) else {
        return 0;
    };
    let begun = uuid::time(&id);
    let own = |payload: &[u8]| {
        let turn = filled(payload, "turn_id");
        let turn = turn.and_then(|turn| uuid::time(&turn));
        turn.is_some_and(|turn| begun.is_some_and(|begun| turn >= begun))
    };
    let after = meta.map_or(0, |nth| nth + 1);
    let mut replayed = false;
    for (nth, line) in lines.iter().enumerate().skip(after) {
        match &line.kind {
            CodexLineKind::Meta(payload) if filled(payload, "id") == Some(Cow::Borrowed(&*id)) => return nth,
            CodexLineKind::Meta(payload) => {
                replayed |= filled(payload, "id") == Some(Cow::Borrowed(&*parent))
            }
            CodexLineKind::Turn(payload) if own(payload) => return nth,
            CodexLineKind::Event(name, payload) if name == "task_started" && own(payload) => return nth,
            _ => {}
        }
    }
    // Either no own lines yet, or no copied ones.
    if replayed { lines.len() } else { 0 }
}

/// Detects where another log begins in concatenated logs. The session line of a fork is directly followed by those of
/// its ancestors; a later session line of another session starts another log.
#[derive(Debug, Default)]
pub struct Beginning {
    id: Option<String>,
    /// Whether a line other than a session line was seen.
    has_content: bool,
}

impl Beginning {
    /// Whether a line starts another log; must be called for every line.
    pub fn is_another(&mut self, line: &[u8]) -> bool {
        let likely = |word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
        if !likely("session_meta") && !likely("\"instructions\"") {
            self.has_content |= !line.trim_ascii().is_empty();
            return false;
        }
        // The line may have a byte order mark.
        let kind = CodexLine::parse(line, Position::default()).kind;
        let CodexLineKind::Meta(meta) = kind else {
            self.has_content |= !matches!(kind, CodexLineKind::Blank);
            return false;
        };
        let id = filled(meta, "id").map(Cow::into_owned);
        match &self.id {
            Some(own) => self.has_content && id.is_some_and(|id| id != *own),
            None => {
                self.id = id;
                false
            }
        }
    }
}
