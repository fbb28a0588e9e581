//! Removes lines that Codex does not need to resume a session.

use super::line::{CodexLine, CodexLineKind, ItemRole};
use super::usage::CodexFigures;
use crate::format::slim::part::{PartNames, SlimPart, Slimmed, Slimmer, Slimming, digest};
use crate::model::json::{self, Dialect};
use std::borrow::Cow;
use std::collections::HashSet;

const HISTORY: &str = "replacement_history";
const COUNT: &str = "token_count";
/// Display events of messages, and the member with their text.
const DISPLAY_EVENTS: [(&str, &str); 3] = [
    ("user_message", "message"),
    ("agent_message", "message"),
    ("agent_reasoning", "text"),
];

pub const SLIMMING: Slimming = Slimming {
    parts: &[
        SlimPart::usual(HISTORY, "histories of all compactions but the last"),
        SlimPart::usual("exec_command_end", "output and status of commands on the screen"),
        SlimPart::usual(COUNT, "usage by turn; the total is kept"),
        SlimPart::named("user_message", "your messages on the screen, but the first"),
        SlimPart::named("agent_message", "replies on the screen"),
        SlimPart::named("agent_reasoning", "reasoning on the screen"),
    ],
    open: |chosen| {
        Box::new(CodexSlimmer {
            chosen,
            ..CodexSlimmer::default()
        })
    },
};

/// A log in its first pass.
#[derive(Default)]
struct CodexSlimmer {
    chosen: PartNames,
    /// The last compaction with a replacement history.
    compacted: Option<u64>,
    /// The last compaction before each session that starts in the file.
    kept: HashSet<u64>,
    /// Token counts to keep: the last one, and the last ones before the total restarts.
    counts: HashSet<u64>,
    last: Option<(u64, CodexFigures)>,
    /// The last token count without figures.
    bare: Option<u64>,
    /// Whether it starts with the lines of another session, whose total is included.
    is_fork: bool,
    /// The first display event of a user message.
    first: Option<u64>,
    /// Digests of the items' texts.
    texts: HashSet<[u8; 32]>,
}

fn texts(item: &[u8]) -> Vec<Cow<'_, str>> {
    let lists = ["content", "summary"].map(|name| json::member(item, name));
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for list in lists.into_iter().flatten() {
        match json::elements(list, Dialect::Strict) {
            Some(parts) => texts.extend(
                parts
                    .into_iter()
                    .filter_map(|part| json::member_text(part, "text")),
            ),
            None => texts.extend(json::text(list)),
        }
    }
    texts
}

impl Slimmer for CodexSlimmer {
    fn inspect(&mut self, number: u64, line: &[u8]) {
        match CodexLine::of(line).kind {
            CodexLineKind::Meta(meta) => {
                self.kept.extend(self.compacted);
                let from = json::member(meta, "forked_from_id");
                self.is_fork |= from.is_some_and(|id| id.starts_with(b"\""));
            }
            CodexLineKind::Compacted(payload)
                if json::member(payload, HISTORY).is_some_and(|list| list.starts_with(b"[")) =>
            {
                self.compacted = Some(number);
            }
            CodexLineKind::Event(name, payload) if name == COUNT => {
                match (CodexFigures::total_of_event(payload), self.last) {
                    (None, _) => self.bare = Some(number),
                    (Some(now), Some((before, then))) => {
                        // The total has restarted, so it is not an increase.
                        if now.since(then) == now && !then.is_zero() {
                            self.counts.insert(before);
                        }
                        self.last = Some((number, now));
                    }
                    (Some(now), None) => self.last = Some((number, now)),
                }
            }
            CodexLineKind::Event(name, _) if name == "user_message" => {
                self.first.get_or_insert(number);
            }
            CodexLineKind::Item(ItemRole::Reasoning | ItemRole::Reply | ItemRole::Alone, item)
                if DISPLAY_EVENTS.iter().any(|(name, _)| self.chosen.has(name)) =>
            {
                let texts = texts(item);
                self.texts
                    .extend(texts.iter().map(|text| digest(text.as_bytes())));
                self.texts.insert(digest(texts.concat().as_bytes()));
            }
            _ => {}
        }
    }

    fn end_of_scan(&mut self) {
        self.counts.extend(self.last.map(|(number, _)| number));
        self.counts.extend(self.bare);
    }

    fn slim<'l>(&mut self, number: u64, line: &'l [u8]) -> Slimmed<'l> {
        match CodexLine::of(line).kind {
            CodexLineKind::Compacted(payload) => {
                let is_last = self.compacted == Some(number) || self.kept.contains(&number);
                let is_old = self.compacted.is_some() && !is_last;
                match self.chosen.part(HISTORY) {
                    Some(part) if is_old && json::member(payload, HISTORY).is_some() => {
                        let payload = json::with_members(payload, &[(HISTORY, None)]);
                        let line = payload
                            .and_then(|payload| json::with_members(line, &[("payload", Some(&payload))]));
                        Slimmed::changed("compacted", Some(part), line)
                    }
                    _ => Slimmed::same("compacted"),
                }
            }
            CodexLineKind::Event(name, payload) => {
                let is_item_text = |member| {
                    json::member_text(payload, member)
                        .is_some_and(|text| self.texts.contains(&digest(text.as_bytes())))
                };
                let is_removed = match DISPLAY_EVENTS.iter().find(|(known, _)| *known == name) {
                    Some((_, member)) => self.first != Some(number) && is_item_text(member),
                    None if name == COUNT => !self.is_fork && !self.counts.contains(&number),
                    None => true,
                };
                match self.chosen.part(&name).filter(|_| is_removed) {
                    Some(part) => Slimmed::without(name.into_owned(), part),
                    None => Slimmed::same(name.into_owned()),
                }
            }
            CodexLineKind::Meta(_) => Slimmed::same("session_meta"),
            CodexLineKind::Turn(_) => Slimmed::same("turn_context"),
            CodexLineKind::Item(_, item) => match json::member_text(item, "type") {
                Some(name) => Slimmed::same(name.into_owned()),
                None => Slimmed::same("item"),
            },
            CodexLineKind::Other => {
                Slimmed::same(json::member_text(line, "type").map_or("other".to_string(), Cow::into_owned))
            }
            CodexLineKind::Blank | CodexLineKind::Unreadable(_) => Slimmed::same("unreadable"),
        }
    }
}
