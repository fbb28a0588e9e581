//! Sources of summaries: messages with their times, and messages that set standing instructions.

use super::facts::line;
use super::head_tail::{TextLimit, shorten};
use super::placeholders;
use super::state::CompactionState;
use crate::filter::summarize::{InstructionSource, Instructions, SummarySource, SummaryStyle};
use crate::model::json;
use crate::model::message::{Message, MessagePart, Role};
use crate::model::view::Item;
use jiff::civil::Date;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The day of each item: its own, or that of the messages with times before and after if these share a day.
pub fn days(work: &CompactionState<'_>) -> Vec<Option<Date>> {
    let mut days: Vec<Option<Date>> = work.items.iter().map(|entry| entry.day).collect();
    let mut before: Option<usize> = None;
    for at in 0..days.len() {
        let Some(day) = days[at] else { continue };
        if let Some(before) = before
            && days[before] == Some(day)
        {
            days[before + 1..at].fill(Some(day));
        }
        before = Some(at);
    }
    days
}

/// What a summary quotes of its sources.
#[derive(Clone, Copy, Debug)]
pub enum Quoting<'p> {
    /// Nothing: it consists of facts.
    Nothing,
    /// Their texts; of a tool result, one line with paths relative to this directory.
    Texts(Option<&'p str>),
}

/// A message as the source of a summary.
pub fn source<'w>(
    work: &'w CompactionState<'_>,
    at: usize,
    day: Option<Date>,
    quoting: Quoting<'_>,
) -> Option<SummarySource<'w>> {
    let message = work.original(at)?;
    let mut is_escaped = false;
    let (tool, text) = match quoting {
        Quoting::Nothing => (None, Cow::Borrowed("")),
        Quoting::Texts(place) if message.role() == Role::Tool => {
            let line = line::of(work, at, place);
            (line.tool, Cow::Owned(line.text))
        }
        Quoting::Texts(_) => match message.content.and_then(json::plain) {
            Some(text) => {
                is_escaped = memchr::memchr(b'\\', text.as_bytes()).is_some();
                (None, Cow::Borrowed(text))
            }
            None => (None, whole_text(&message)),
        },
    };
    Some(SummarySource {
        role: message.role(),
        tool,
        day,
        text,
        is_escaped,
        tokens: text_tokens(work, at, &message),
    })
}

/// The tokens of the text of a user or an assistant without a name who neither calls nor reasons, if they are known.
pub fn text_tokens(work: &CompactionState<'_>, at: usize, message: &Message<'_>) -> Option<u32> {
    let says = matches!(message.role(), Role::User | Role::Assistant) && message.name.is_none();
    let tokens = says.then(|| content_tokens(work, at, message)).flatten()?;
    u32::try_from(tokens).ok()
}

/// The tokens of a message's content, if it is a text that was counted: the tokens of the message minus those of
/// everything else. Calls and reasoning would take as long to count as the text.
pub fn content_tokens(work: &CompactionState<'_>, at: usize, message: &Message<'_>) -> Option<u64> {
    let is_text = message.content?.starts_with(b"\"");
    let is_line = matches!(work.view.items[at], Item::Line(_));
    let tokenizer = work.counter.tokenizer();
    let has_more = message.tool_calls.is_some() || message.reasoning.is_some();
    if !is_text || !is_line || has_more || !tokenizer.is_exact() || message.tokens.is_some() {
        return None;
    }
    let rest = Message {
        content: None,
        ..*message
    };
    work.items[at].before.checked_sub(tokenizer.message(&rest))
}

/// The whole text of a message, with placeholders for media.
pub(in crate::filter) fn whole_text<'m>(message: &Message<'m>) -> Cow<'m, str> {
    let mut text = message.text();
    if message.content.is_some_and(|content| content.starts_with(b"\"")) {
        return text;
    }
    let media = message.parts().into_iter().filter_map(|part| match part {
        MessagePart::Other(kind, _) => Some(format!(" [{}]", kind.split('_').next().unwrap_or("part"))),
        MessagePart::Text(_) => None,
    });
    let media: String = media.collect();
    if !media.is_empty() {
        text.to_mut().push_str(&media);
    }
    text
}

/// The part of a result that is searched: head and tail if it is long, without placeholders.
pub fn searched_text(text: &str) -> Cow<'_, str> {
    let short = shorten(text, SEARCH_LIMIT).map_or(Cow::Borrowed(text), Cow::Owned);
    if !short.contains(placeholders::BEGINNING) {
        return short;
    }
    let kept: Vec<&str> = short
        .lines()
        .filter(|line| !placeholders::is_mark(line))
        .collect();
    Cow::Owned(kept.join("\n"))
}

/// The limit of the searched part of a result.
const SEARCH_LIMIT: TextLimit = TextLimit {
    bytes: 10_240,
    lines: 256,
};

/// Sources of standing instructions: user, system and developer messages of the log that the view does not show
/// afterwards. With given instructions, all of those messages.
pub(in crate::filter) fn rules<'w>(
    work: &'w CompactionState<'_>,
    style: &SummaryStyle,
    stays: impl Fn(usize) -> bool,
) -> Vec<InstructionSource<'w>> {
    let items = work.view.items.iter().enumerate();
    let items = items.filter(|(at, _)| stays(*at)).map(|(_, item)| item);
    let shown: HashSet<usize> = items.clone().filter_map(Item::line).collect();
    // Copies that a compaction inserted in place of hidden messages.
    let inserted = items.filter(|item| matches!(item, Item::Inserted(_)));
    let inserted = inserted.filter_map(|item| item.message(work.session));
    let copies: HashSet<String> = inserted.map(|message| message.text().into_owned()).collect();
    let is_copied = |line| {
        let record = work.session.record(line);
        let text = record.message().map(|message| message.text());
        text.is_some_and(|text| copies.contains(&*text))
    };
    let is_copied = |line| !copies.is_empty() && is_copied(line);
    rules_from(work, style, &stays, |line| !shown.contains(&line), is_copied)
}

/// The sources of standing instructions among these items, and those that this compaction removes from kept messages.
pub fn rules_in<'w>(
    work: &'w CompactionState<'_>,
    style: &SummaryStyle,
    items: &[usize],
    stays: impl Fn(usize) -> bool,
) -> Vec<InstructionSource<'w>> {
    let items = items.iter().filter_map(|at| work.view.items[*at].line());
    let lines: HashSet<usize> = items.collect();
    rules_from(work, style, stays, |line| lines.contains(&line), |_| false)
}

fn rules_from<'w>(
    work: &'w CompactionState<'_>,
    style: &SummaryStyle,
    stays: impl Fn(usize) -> bool,
    is_searched: impl Fn(usize) -> bool,
    is_copied: impl Fn(usize) -> bool,
) -> Vec<InstructionSource<'w>> {
    match style.instructions {
        Instructions::Off => Vec::new(),
        Instructions::Auto => {
            let shortened = shortened_requests(work, stays);
            let lines = work.instructing(|line| is_searched(line) || shortened.contains_key(&line));
            let sources = lines.filter_map(|(line, detected)| match shortened.get(&line) {
                _ if is_searched(line) && !is_copied(line) => Some(Cow::Borrowed(detected)),
                Some((before, now)) => {
                    let is_lost = |text: &str| before.contains(text) && !now.contains(text);
                    // An instruction is taken with the one that it refers to.
                    let refers = |nth: usize| detected.get(nth).filter(|found| found.refers_back);
                    let is_taken = |nth: usize| {
                        is_lost(detected[nth].text())
                            || refers(nth + 1).is_some_and(|next| is_lost(next.text()))
                    };
                    let lost = (0..detected.len()).filter(|nth| is_taken(*nth));
                    Some(Cow::Owned(lost.map(|nth| detected[nth].clone()).collect()))
                }
                None => None,
            });
            sources.map(InstructionSource::Detected).collect()
        }
        // A given instruction may name any message.
        Instructions::Given(_) => {
            let sources = work.speaking().into_iter().filter_map(|line| {
                let record = work.session.record(line);
                let message = record.message()?;
                Some(InstructionSource::Message {
                    role: message.role(),
                    id: work.line_id(line, message).into(),
                    text: message.text(),
                })
            });
            sources.collect()
        }
    }
}

/// The texts of the kept user messages that this compaction shortens, before and after it, by line.
fn shortened_requests<'w>(
    work: &'w CompactionState<'_>,
    stays: impl Fn(usize) -> bool,
) -> HashMap<usize, (Cow<'w, str>, Cow<'w, str>)> {
    let items = (0..work.items.len()).filter(|at| work.items[*at].is_user() && work.is_changed(*at));
    let texts = items.filter(|at| stays(*at)).filter_map(|at| {
        let before = work.view.items[at].message(work.session)?.text();
        Some((work.view.items[at].line()?, (before, work.message(at)?.text())))
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::super::state::read;
    use super::*;

    #[test]
    fn media_without_a_name_are_named_by_their_kind() {
        let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}"#;
        let line = format!(r#"{{"role":"user","content":[{{"type":"text","text":"And this?"}},{image}]}}"#);
        assert_eq!(whole_text(&read(line.as_bytes()).unwrap()), "And this? [image]");
    }
}
