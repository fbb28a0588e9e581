//! Divides the messages for a summarizer into chunks: between exchanges if they fit, otherwise between message groups,
//! messages or sentences. Keeps all text, except that long tool results are shortened in the middle if requested.

use super::super::compact::head_tail::{TextLimit, shorten};
use super::super::compact::sources::whole_text;
use super::super::compact::state::CompactionState;
use super::super::summarize::sentence_ranges;
use crate::format::annotations;
use crate::model::json::ObjectBuilder;
use crate::model::message::{Message, Role};
use std::borrow::Cow;
use std::ops::Range;

/// Estimated tokens of a message beyond its text: role, id and time.
const AROUND: u64 = 16;

/// Encodes the items as objects, in chunks of at most `most` tokens. Tool results of more than `tool_max` bytes are
/// shortened in the middle.
pub(in crate::filter) fn chunks(
    work: &CompactionState<'_>,
    items: &[usize],
    most: Option<u64>,
    tool_max: Option<usize>,
) -> Vec<Vec<Vec<u8>>> {
    let mut packing = ChunkPacking {
        work,
        most: most.unwrap_or(u64::MAX),
        tool_max,
        done: Vec::new(),
        open: Vec::new(),
        filled: 0,
    };
    let exchange = |at: &usize| work.items[*at].atom().map(|atom| work.atoms[atom].exchange);
    for exchange in items.chunk_by(|one, other| exchange(one) == exchange(other)) {
        packing.put(exchange, ChunkBoundary::Atoms);
    }
    packing.close();
    packing.done
}

/// Where to divide messages that exceed a chunk.
#[derive(Clone, Copy)]
enum ChunkBoundary {
    Atoms,
    Messages,
    Sentences,
}

struct ChunkPacking<'w> {
    work: &'w CompactionState<'w>,
    most: u64,
    tool_max: Option<usize>,
    done: Vec<Vec<Vec<u8>>>,
    open: Vec<Vec<u8>>,
    filled: u64,
}

impl ChunkPacking<'_> {
    /// Adds messages to the current chunk, or starts a new one; messages that exceed a chunk are divided.
    fn put(&mut self, items: &[usize], cut: ChunkBoundary) {
        let tokens = items
            .iter()
            .map(|at| self.tokens(*at))
            .fold(0, u64::saturating_add);
        if tokens <= self.most {
            if self.filled.saturating_add(tokens) > self.most {
                self.close();
            }
            self.filled = self.filled.saturating_add(tokens);
            let (work, tool_max) = (self.work, self.tool_max);
            let whole = items
                .iter()
                .filter_map(|at| work.original(*at).map(|message| (at, message)));
            self.open
                .extend(whole.map(|(at, message)| encode_message(work, *at, &message, tool_max)));
            return;
        }
        match (cut, items) {
            (ChunkBoundary::Atoms, items) => {
                // Messages of two groups can alternate: a group takes the position of its first message.
                let work = self.work;
                for atom in items.chunk_by(|one, other| work.items[*one].atom() == work.items[*other].atom())
                {
                    self.put(atom, ChunkBoundary::Messages);
                }
            }
            (ChunkBoundary::Messages, items) if items.len() > 1 => {
                items
                    .iter()
                    .for_each(|at| self.put(&[*at], ChunkBoundary::Sentences));
            }
            (_, items) => items.iter().for_each(|at| self.split(*at)),
        }
    }

    /// Divides a message that exceeds a chunk into parts, each in its own chunk. Further messages can follow the last
    /// one.
    fn split(&mut self, at: usize) {
        let work = self.work;
        let Some(message) = work.original(at) else { return };
        self.close();
        let text = text_with_calls(&message, self.tool_max);
        let room = self.most.saturating_sub(AROUND).max(1);
        let count = |text: &str| work.counter.tokenizer().count(text);
        let parts = parts(&text, room, &count);
        for (nth, part) in parts.iter().enumerate() {
            self.close();
            let part = &text[part.clone()];
            self.open
                .push(part_of_message(work, at, &message, part, [nth + 1, parts.len()]));
            self.filled = count(part) + AROUND;
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
        self.filled = 0;
    }

    /// Tokens of a message as a summarizer receives it.
    fn tokens(&self, at: usize) -> u64 {
        let message = self.work.original(at);
        message.map_or(0, |message| {
            let full_text = text_with_calls(&message, self.tool_max);
            self.work.counter.tokenizer().count(&full_text) + AROUND
        })
    }
}

/// Returns the text of a message; a long tool result is shortened in the middle.
fn message_text<'m>(message: &Message<'m>, tool_max: Option<usize>) -> Cow<'m, str> {
    let text = whole_text(message);
    let Some(bytes) = tool_max.filter(|_| message.role() == Role::Tool) else {
        return text;
    };
    let limit = TextLimit {
        bytes,
        lines: usize::MAX,
    };
    shorten(&text, limit).map_or(text, Cow::Owned)
}

/// Returns the text of a message including its tool calls.
fn text_with_calls<'m>(message: &Message<'m>, tool_max: Option<usize>) -> Cow<'m, str> {
    let mut text = message_text(message, tool_max);
    for call in message.tool_calls() {
        let text = text.to_mut();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[calls {}: {}]", call.name, call.arguments));
    }
    text
}

fn encode_message(
    work: &CompactionState<'_>,
    at: usize,
    message: &Message<'_>,
    tool_max: Option<usize>,
) -> Vec<u8> {
    let mut built = head(work, at, message);
    built.text("content", &message_text(message, tool_max));
    if let Some(calls) = message.tool_calls.filter(|_| message.calls_tools()) {
        built.raw("tool_calls", calls);
    }
    built.finish()
}

fn part_of_message(
    work: &CompactionState<'_>,
    at: usize,
    message: &Message<'_>,
    text: &str,
    [part, of]: [usize; 2],
) -> Vec<u8> {
    let mut built = head(work, at, message);
    built.raw("part", format!("[{part},{of}]")).text("content", text);
    built.finish()
}

/// Starts an object with the members that identify a message, its sender and its time.
fn head(work: &CompactionState<'_>, at: usize, message: &Message<'_>) -> ObjectBuilder {
    let mut built = ObjectBuilder::default();
    built.text("id", &work.id(at)).raw("role", message.role);
    let members = [
        ("name", message.name),
        ("timestamp", message.timestamp),
        ("category", message.category),
        ("tool_call_id", message.tool_call_id),
    ];
    for (name, value) in members {
        value.map(|value| built.raw(name, value));
    }
    // If the calls themselves were never stored, the digest is all that describes them.
    annotations::tool_digest(message).map(|digest| built.raw("tool_digest", digest));
    built
}

/// Divides a text into runs of whole sentences of at most `most` tokens; a longer sentence is divided as needed. The
/// concatenated parts are the text.
fn parts(text: &str, most: u64, count: &dyn Fn(&str) -> u64) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> = sentence_ranges(text)
        .iter()
        .skip(1)
        .map(|range| range.start)
        .collect();
    ends.push(text.len());
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut start, mut filled) = (0, 0);
    let mut from = 0;
    for end in ends {
        let tokens = count(&text[from..end]);
        if filled + tokens > most && from > start {
            parts.push(start..from);
            (start, filled) = (from, 0);
        }
        if tokens > most {
            let cuts = cut(&text[from..end], most, count);
            let mut cuts = cuts.into_iter().map(|range| range.start + from..range.end + from);
            if let Some(last) = cuts.next_back() {
                parts.extend(cuts);
                (start, filled) = (last.start, count(&text[last]));
            }
        } else {
            filled += tokens;
        }
        from = end;
    }
    if start < text.len() || parts.is_empty() {
        parts.push(start..text.len());
    }
    parts
}

/// Divides a text into runs of at most `most` tokens.
fn cut(text: &str, most: u64, count: &dyn Fn(&str) -> u64) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    // Start with four bytes per token, then halve until the tokens fit.
    let longest = usize::try_from(most.saturating_mul(4)).unwrap_or(usize::MAX);
    while start < text.len() {
        let mut length = longest.min(text.len() - start);
        let end = loop {
            let mut end = start + length;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            if end > start && count(&text[start..end]) <= most {
                break end;
            }
            if length <= 1 {
                let next = text[start..].chars().next().map_or(1, char::len_utf8);
                break start + next;
            }
            length /= 2;
        };
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> u64 {
        text.split_whitespace().count() as u64
    }

    proptest! {
        #[test]
        fn parts_are_the_text(text in "[ab .!\n\u{e9}\u{6f22}]{0,200}", most in 1u64..20) {
            for count in [&words as &dyn Fn(&str) -> u64, &|text: &str| text.chars().count() as u64] {
                let parts = parts(&text, most, count);
                let joined: String = parts.iter().map(|range| &text[range.clone()]).collect();
                prop_assert_eq!(&joined, &text);
                prop_assert!(parts.iter().all(|range| count(&text[range.clone()]) <= most));
            }
        }
    }

    #[test]
    fn sentences_that_fit_are_not_split() {
        let text = "One two three. Four five. Six seven eight nine ten eleven. Twelve.";
        let parts: Vec<&str> = parts(text, 5, &words)
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(parts[0], "One two three. Four five. ");
        assert!(parts.concat() == text && parts.len() == 3, "{parts:?}");
    }
}
