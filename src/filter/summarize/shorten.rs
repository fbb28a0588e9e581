//! Shortens another program's summary to whole sentences and keeps its tags.

use super::prior_weight::Prior;
use super::selection::{UnitCandidate, choose};
use super::sentences::ranges;
use super::validate::SummaryFailure;
use std::collections::HashSet;
use std::ops::Range;

/// Selects the sentences with the most information per token, in order and word for word. Paired tags are kept. A
/// text that fits is unchanged.
pub fn shorten(summary: &str, budget: u64, count: &dyn Fn(&str) -> u64) -> Result<String, SummaryFailure> {
    if count(summary) <= budget {
        return Ok(summary.to_string());
    }
    let pieces = sentences_and_tags(summary);
    let sentences: Vec<usize> = (0..pieces.len()).filter(|piece| !pieces[*piece].tag).collect();
    let tags = write(summary, &pieces, &[]);
    let room = budget.saturating_sub(count(&tags));
    let candidates: Vec<UnitCandidate<'_>> = sentences
        .iter()
        .enumerate()
        .map(|(index, piece)| {
            let text = &summary[pieces[*piece].range.clone()];
            UnitCandidate {
                text,
                prior: Prior::of(text).recency(index, sentences.len()).product(),
                // Plus one for the separator.
                tokens: count(text) + 1,
            }
        })
        .collect();
    let mut picked: Vec<usize> = choose(&candidates, room)
        .into_iter()
        .map(|at| sentences[at])
        .collect();
    loop {
        if picked.is_empty() {
            let tokens = count(&tags);
            return Err(match tokens > budget {
                true => SummaryFailure::OverBudget { tokens, budget },
                false => SummaryFailure::Blank,
            });
        }
        let mut kept = picked.clone();
        kept.sort_unstable();
        let text = write(summary, &pieces, &kept);
        if count(&text) <= budget {
            return Ok(text);
        }
        picked.pop();
    }
}

/// A sentence or a tag.
struct SentenceOrTag {
    range: Range<usize>,
    tag: bool,
}

fn sentences_and_tags(text: &str) -> Vec<SentenceOrTag> {
    let mut found = Vec::new();
    let mut after = 0;
    let mut add = |sentences: Range<usize>, tag: Option<Range<usize>>| {
        found.extend(
            ranges(&text[sentences.clone()])
                .into_iter()
                .map(|range| SentenceOrTag {
                    range: sentences.start + range.start..sentences.start + range.end,
                    tag: false,
                }),
        );
        found.extend(tag.map(|range| SentenceOrTag { range, tag: true }));
    };
    for tag in tags(text) {
        add(after..tag.start, Some(tag.clone()));
        after = tag.end;
    }
    add(after..text.len(), None);
    found
}

/// The ranges of paired tags, `<name ...>` and `</name>`. An unpaired one, as in `Vec<u8>`, is ordinary text.
fn tags(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<(bool, &str, Range<usize>)> = Vec::new();
    let (mut opened, mut closed) = (HashSet::new(), HashSet::new());
    for (start, _) in text.match_indices('<') {
        let inside = &text[start + 1..];
        let Some(end) = inside
            .find(['<', '>', '\n'])
            .filter(|end| inside[*end..].starts_with('>'))
        else {
            continue;
        };
        let (closes, rest) = match inside[..end].strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, &inside[..end]),
        };
        let name = rest.split_whitespace().next().unwrap_or_default();
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            if closes { &mut closed } else { &mut opened }.insert(name);
            found.push((closes, name, start..start + end + 2));
        }
    }
    let paired = |closes: &bool, name: &&str| if *closes { &opened } else { &closed }.contains(*name);
    let tags = found.into_iter().filter(|(closes, name, _)| paired(closes, name));
    tags.map(|(.., range)| range).collect()
}

/// Writes the tags and the kept pieces with the separator before each piece; if omitted text contained a line break,
/// one is inserted.
fn write(text: &str, pieces: &[SentenceOrTag], kept: &[usize]) -> String {
    let mut out = String::new();
    let mut kept = kept.iter().peekable();
    let mut after = 0;
    let mut broken = false;
    for (index, piece) in pieces.iter().enumerate() {
        let space = &text[after..piece.range.start];
        after = piece.range.end;
        if !piece.tag && kept.next_if(|at| **at == index).is_none() {
            broken |= space.contains('\n');
            continue;
        }
        match broken && !space.contains('\n') && !out.is_empty() {
            true => out.push('\n'),
            false if out.is_empty() => {}
            false => out.push_str(space),
        }
        broken = false;
        out.push_str(&text[piece.range.clone()]);
    }
    out
}
