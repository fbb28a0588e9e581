//! The title of a session: what the user called it, else what the program made of it.

use super::line::Kind;
use super::log::Log;
use crate::model::json;

/// Looks for it among the lines that are no messages: the newest of the best kind.
pub fn of(log: &Log) -> Option<String> {
    let mut found: [Option<String>; 3] = [None, None, None];
    let mut summaries: Vec<(bool, String)> = Vec::new();
    for index in 0..log.lines.len() {
        if log.lines[index].kind != Kind::Other {
            continue;
        }
        let Some(facts) = log.facts(index) else { continue };
        let text = |name| {
            facts
                .other(name)
                .and_then(json::text)
                .map(|text| text.into_owned())
        };
        let (place, name) = match facts.name.as_ref() {
            "custom-title" => (0, "customTitle"),
            "agent-name" => (1, "agentName"),
            "ai-title" => (2, "aiTitle"),
            "summary" => {
                let leaf = facts.other("leafUuid").and_then(super::line::Id::of);
                let own = leaf.is_some_and(|leaf| log.has(leaf));
                summaries.extend(text("summary").map(|text| (own, text)));
                continue;
            }
            _ => continue,
        };
        found[place] = text(name).filter(|text| !text.is_empty()).or(found[place].take());
    }
    if let Some(title) = found.into_iter().flatten().next() {
        return Some(title);
    }
    // Logs hold the titles of other sessions too: one of a line that is here counts, or the only one.
    let alone = summaries.len() == 1;
    let own = summaries.into_iter().find(|(own, _)| *own || alone);
    own.map(|(_, title)| title)
}
