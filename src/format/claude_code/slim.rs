//! Removes lines that Claude Code does not need to resume a session.

use super::line::{LineId, LineMembers, is_uuid};
use crate::format::slim::part::{PartNames, SlimPart, Slimmed, Slimmer, Slimming, digest};
use crate::model::json;
use std::collections::{HashMap, HashSet};

/// Copies of earlier lines.
const COPY: &str = "copy";
const RESULT: &str = "toolUseResult";

pub const SLIMMING: Slimming = Slimming {
    parts: &[
        SlimPart::usual("progress", "ticks of running tools"),
        SlimPart::usual("queue-operation", "the queue of prompts"),
        SlimPart::usual(COPY, "second copies of lines"),
        SlimPart::usual(RESULT, "diffs and details of results on the screen"),
        SlimPart::named("file-history-snapshot", "/rewind of files"),
    ],
    open: |chosen| {
        Box::new(ClaudeSlimmer {
            chosen,
            ..ClaudeSlimmer::default()
        })
    },
};

/// A log in its first pass.
#[derive(Default)]
struct ClaudeSlimmer {
    chosen: PartNames,
    /// Digest of the first line with each id.
    lines: HashMap<LineId, [u8; 32]>,
    /// Line numbers of copies.
    copies: HashSet<u64>,
    /// The parents of lines whose kind is to be removed.
    above: HashMap<LineId, Option<Box<[u8]>>>,
    /// Ids that are parents of other lines.
    hung: HashSet<LineId>,
    /// Ids that lines refer to in other ways.
    named: HashSet<LineId>,
    /// The nearest kept ancestor of each line that may be removed.
    found: HashMap<LineId, Option<Box<[u8]>>>,
}

impl ClaudeSlimmer {
    fn part(&self, facts: &LineMembers<'_>) -> Option<&'static str> {
        let name = facts.name.as_ref();
        self.chosen.part(name).filter(|_| name != COPY && name != RESULT)
    }

    /// The new parent of a removed line's children; `None` if the line must be kept.
    fn above(&mut self, id: LineId) -> Option<Box<[u8]>> {
        let mut way = Vec::new();
        let mut at = id;
        let found = loop {
            if let Some(found) = self.found.get(&at) {
                break found.clone();
            }
            let Some(Some(above)) = self.above.get(&at) else {
                break None;
            };
            // Ends the search in a cycle.
            self.found.insert(at, None);
            way.push(at);
            match LineId::of(above) {
                Some(above) if self.above.contains_key(&above) && !self.named.contains(&above) => at = above,
                Some(id) if self.lines.contains_key(&id) => break Some(above.clone()),
                _ => break None,
            }
        };
        for id in way {
            self.found.insert(id, found.clone());
        }
        found
    }

    /// Whether a line of a kind to be removed can be removed, because its children can get another parent.
    fn is_removed(&mut self, id: LineId) -> bool {
        !self.named.contains(&id) && (!self.hung.contains(&id) || self.above(id).is_some())
    }
}

impl Slimmer for ClaudeSlimmer {
    fn inspect(&mut self, number: u64, line: &[u8]) {
        let Ok(facts) = LineMembers::of(line) else { return };
        for name in ["parentUuid", "logicalParentUuid"] {
            self.hung.extend(json::member(line, name).and_then(LineId::of));
        }
        self.named.extend(facts.get("leafUuid").and_then(LineId::of));
        if let Some(about) = facts.get("compactMetadata") {
            let texts = about
                .split_inclusive(|byte| *byte == b'"')
                .map(|text| [b"\"", text].concat());
            self.named.extend(
                texts
                    .filter(|text| is_uuid(text))
                    .filter_map(|text| LineId::of(&text)),
            );
        }
        let Some(id) = facts.uuid().and_then(LineId::of) else {
            return;
        };
        if self.chosen.has(COPY) {
            match self.lines.get(&id) {
                Some(first) if *first == digest(line) => {
                    self.copies.insert(number);
                    return;
                }
                Some(_) => {}
                None => {
                    self.lines.insert(id, digest(line));
                }
            }
        } else {
            self.lines.entry(id).or_default();
        }
        if self.part(&facts).is_some() {
            self.above.insert(id, facts.parent().map(Into::into));
        }
    }

    fn slim<'l>(&mut self, number: u64, line: &'l [u8]) -> Slimmed<'l> {
        let facts = match LineMembers::of(line) {
            Ok(facts) => facts,
            Err(_) => return Slimmed::same("unreadable"),
        };
        let part = self.part(&facts);
        if let Some(part) = part
            && facts
                .uuid()
                .and_then(LineId::of)
                .is_none_or(|id| self.is_removed(id))
        {
            return Slimmed::without(facts.name, part);
        }
        if self.copies.contains(&number) {
            return Slimmed::without(facts.name, COPY);
        }
        let mut changes: Vec<(&str, Option<Box<[u8]>>)> = Vec::new();
        for name in ["parentUuid", "logicalParentUuid"] {
            let above = json::member(line, name).and_then(LineId::of);
            let above = above.filter(|id| self.above.contains_key(id) && !self.named.contains(id));
            changes.extend(
                above
                    .and_then(|id| self.above(id))
                    .map(|above| (name, Some(above))),
            );
        }
        let result = match facts.name.as_ref() {
            "user" => self
                .chosen
                .part(RESULT)
                .filter(|_| json::member(line, RESULT).is_some()),
            _ => None,
        };
        changes.extend(result.map(|name| (name, None)));
        if changes.is_empty() {
            return Slimmed::same(facts.name);
        }
        let changes: Vec<(&str, Option<&[u8]>)> = changes
            .iter()
            .map(|(name, value)| (*name, value.as_deref()))
            .collect();
        Slimmed::changed(facts.name, result, json::with_members(line, &changes))
    }
}
