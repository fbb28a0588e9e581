//! Recognizes a dialogue between people, in which hardly any sentence is a standing instruction.

use super::prior_weight::WordMarks;
use super::sentences::ranges;
use super::text::Earlier;
use super::text_units::SummarySource;
use crate::model::message::Role;

/// Fewest replies that show who speaks.
const FEWEST: usize = 8;

/// Most replies that are read, evenly spaced, and most entries of an earlier summary.
const MOST: usize = 64;

/// Most bytes of a remark. What is longer may be a text that a program was asked to write.
const LONGEST: usize = 400;

/// One in this many replies of a person reports what the person did. In the dialogues of `benches/recall/dialogues` one in two
/// to four does; agents report what they did, too.
const REPORTS: usize = 5;

/// One in this many mentions something of the person's own ("my sister"), and at least two do. In those dialogues one in four to
/// ten does, in texts of programs one in twenty.
const OWNS: usize = 12;

/// What programs call their own.
const OF_PROGRAMS: [&str; 33] = [
    "advice", "answer", "answers", "apologies", "apology", "bad", "best", "change", "changes", "code",
    "earlier", "edit", "edits", "end", "error", "fault", "first", "fix", "guess", "knowledge", "last",
    "message", "mistake", "opinion", "pleasure", "previous", "reply", "response", "suggestion",
    "suggestions", "understanding", "view", "work",
];

/// Whether the assistant of a session, or of an earlier summary of it, speaks of a life of its own, as programs rarely do.
pub(super) fn is_between_people(sources: &[SummarySource<'_>], earlier: &Earlier) -> bool {
    let replies = sources.iter().filter(|source| source.role == Role::Assistant);
    let step = replies.clone().count().div_ceil(MOST).max(1);
    let replies = replies.step_by(step).map(SummarySource::decoded);
    let entries = earlier.entries.iter();
    let quoted = entries.filter(|entry| entry.role == Some(Role::Assistant));
    let quoted = quoted.take(MOST).map(|entry| entry.text.as_ref().into());
    let (mut read, mut reports, mut owns) = (0, 0, 0);
    for text in replies.chain(quoted) {
        read += 1;
        if text.len() <= LONGEST {
            reports += usize::from(reports_own_action(&text));
            owns += usize::from(mentions_own_thing(&text));
        }
    }
    read >= FEWEST && reports * REPORTS >= read && owns >= 2 && owns * OWNS >= read
}

/// Whether a sentence in the first person reports what happened.
fn reports_own_action(text: &str) -> bool {
    ranges(text).into_iter().any(|range| {
        let marks = WordMarks::of(&text[range]);
        marks.has(WordMarks::FIRST_PERSON) && marks.has(WordMarks::REPORTS)
    })
}

/// Whether a text has "my" before a word that is not of a program's work.
fn mentions_own_thing(text: &str) -> bool {
    let mut words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    while words.by_ref().any(|word| word.eq_ignore_ascii_case("my")) {
        let is_of_programs = |word: &str| OF_PROGRAMS.iter().any(|known| known.eq_ignore_ascii_case(word));
        if words.clone().next().is_some_and(|word| !is_of_programs(word)) {
            return true;
        }
    }
    false
}
