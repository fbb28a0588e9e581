//! Recognizes a dialogue between people, in which hardly any sentence is a standing instruction.

use super::prior_weight::WordMarks;
use super::sentences::ranges;
use super::text::Earlier;
use super::text_units::SummarySource;
use crate::model::message::Role;

/// Fewest messages of the assistant that show who speaks.
const FEWEST: usize = 8;

/// Most messages that are read, evenly spaced.
const MOST: usize = 64;

/// Most bytes of a remark. What is longer may be a text that a program was asked to write.
const LONGEST: usize = 400;

/// One in this many messages of a person reports what the person did, and one mentions something of the person's own. In the
/// dialogues of `benches/recall/dialogues` at least one in four does. Agents report what they did, but own nothing.
const ONE_IN: usize = 6;

/// Whether the assistant speaks of its own life, as programs rarely do.
pub(super) fn is_between_people(sources: &[SummarySource<'_>], earlier: &Earlier) -> bool {
    let replies: Vec<&SummarySource<'_>> = sources
        .iter()
        .filter(|source| source.role == Role::Assistant)
        .collect();
    let quoted = earlier
        .entries
        .iter()
        .filter(|entry| entry.role == Some(Role::Assistant));
    let step = replies.len().div_ceil(MOST).max(1);
    let (mut read, mut reports, mut owns) = (0, 0, 0);
    let texts = replies
        .iter()
        .step_by(step)
        .map(|source| source.decoded())
        .chain(quoted.take(MOST).map(|entry| entry.text.as_ref().into()));
    for text in texts {
        read += 1;
        if text.len() <= LONGEST {
            reports += usize::from(reports_own_action(&text));
            owns += usize::from(text.split(|c: char| !c.is_alphanumeric()).any(is_possessive));
        }
    }
    read >= FEWEST && reports.min(owns) * ONE_IN >= read
}

/// Whether a sentence in the first person reports what happened.
fn reports_own_action(text: &str) -> bool {
    ranges(text).into_iter().any(|range| {
        let marks = WordMarks::of(&text[range]);
        marks.has(WordMarks::FIRST_PERSON) && marks.has(WordMarks::REPORTS)
    })
}

fn is_possessive(word: &str) -> bool {
    word.eq_ignore_ascii_case("my") || word.eq_ignore_ascii_case("our")
}
