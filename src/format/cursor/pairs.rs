//! Matches tool calls and results, which a transcript does not connect.

use crate::model::json::{self, Dialect, ObjectBuilder, array, quoted};
use std::collections::{HashMap, HashSet, VecDeque};

/// Types of call and result blocks in transcripts.
const CALLS: [&[u8]; 2] = [b"\"tool_use\"", b"\"tool_call\""];
const RESULTS: [&[u8]; 2] = [b"\"tool_result\"", b"\"tool-result\""];

/// Generated ids for the calls and results of a line, in order; `None` for one with its own id.
pub type CallPairs = Vec<Option<String>>;

/// Generates ids for all calls without one, and for their results, by line.
pub fn pairs(lines: &[Vec<u8>]) -> HashMap<usize, CallPairs> {
    let mut pairs = HashMap::new();
    let mut named: HashSet<String> = HashSet::new();
    let mut open: VecDeque<String> = VecDeque::new();
    for (nth, line) in lines.iter().enumerate() {
        let mut given = CallPairs::new();
        for block in blocks(line) {
            let id = |name| json::member_text(block, name);
            match (json::member(block, "type"), id("id"), id("tool_use_id")) {
                (Some(kind), own, _) if CALLS.contains(&kind) => match own {
                    Some(own) => {
                        named.insert(own.into_owned());
                        given.push(None);
                    }
                    None => {
                        let built = format!("call_{}_{}", nth + 1, given.len() + 1);
                        open.push_back(built.clone());
                        given.push(Some(built));
                    }
                },
                (Some(kind), _, own) if RESULTS.contains(&kind) => {
                    let is_named = own.is_some_and(|own| named.contains(own.as_ref()));
                    given.push(if is_named { None } else { open.pop_front() });
                }
                _ => {}
            }
        }
        if given.iter().any(Option::is_some) {
            pairs.insert(nth, given);
        }
    }
    pairs
}

/// The message of a line with these ids, in Anthropic form.
pub fn message(line: &[u8], given: Option<&CallPairs>) -> Option<Vec<u8>> {
    let role = json::string_member(line, "role")?;
    let content = json::member(json::member(line, "message")?, "content")?;
    let mut given = given.into_iter().flatten();
    let blocks = json::elements(content, Dialect::Strict).map(|blocks| {
        array(blocks.into_iter().map(|block| {
            let kind = json::member(block, "type");
            let is = |names: [&'static [u8]; 2]| kind.is_some_and(|kind| names.contains(&kind));
            let (kind, member) = match (is(CALLS), is(RESULTS)) {
                (true, _) => (CALLS[0], "id"),
                (_, true) => (RESULTS[0], "tool_use_id"),
                _ => return block.to_vec(),
            };
            let id = given.next().and_then(Option::as_ref).map(|id| quoted(id));
            let mut changes = vec![("type", Some(kind))];
            changes.extend(id.as_deref().map(|id| (member, Some(id))));
            json::with_members(block, &changes).unwrap_or_else(|_| block.to_vec())
        }))
    });
    let mut built = ObjectBuilder::default();
    built
        .raw("role", role)
        .raw("content", blocks.as_deref().unwrap_or(content));
    Some(built.finish())
}

fn blocks(line: &[u8]) -> Vec<&[u8]> {
    let content = json::member(line, "message").and_then(|message| json::member(message, "content"));
    json::items(content)
}
