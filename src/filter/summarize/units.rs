//! What is chosen from: messages, sentences of long ones, and the entries of an earlier summary.

use super::Source;
use super::dates;
use super::frame::speaker;
use super::sentences::sentences;
use super::text::Entry;

/// Most tokens of a message that is kept or left out as a whole.
const LONGEST: u64 = 160;

/// One thing to keep or leave out.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Index of the source, or none for a line of an earlier summary.
    pub source: Option<usize>,
    /// What is said, word for word.
    pub entry: Entry,
}

impl Unit {
    /// What is said, without who says it.
    pub fn text(&self) -> &str {
        &self.entry.text
    }

    /// The unit's line without date marks.
    pub fn line(&self) -> String {
        format!("{}{}", self.entry.speaker, self.entry.text)
    }
}

/// The units, oldest first: the earlier summary's, then the messages'.
pub(super) fn units(sources: &[Source<'_>], earlier: Vec<Entry>, count: &dyn Fn(&str) -> u64) -> Vec<Unit> {
    let mut units: Vec<Unit> = earlier
        .into_iter()
        .map(|mut entry| {
            if let Some(day) = entry.day {
                entry.text = dates::unmark(&entry.text, day);
            }
            Unit { source: None, entry }
        })
        .collect();
    for (index, source) in sources.iter().enumerate() {
        let text = source.text.trim();
        let pieces = match text {
            "" => continue,
            // A token has a byte at least: what is short is not counted.
            long if long.len() as u64 > LONGEST && count(long) > LONGEST => sentences(long),
            short => vec![short],
        };
        let day = source.timestamp.and_then(dates::day);
        let speaker = speaker(source.role, source.tool.as_deref());
        units.extend(pieces.into_iter().map(|piece| Unit {
            source: Some(index),
            entry: Entry {
                role: Some(source.role),
                speaker: speaker.clone(),
                text: piece.to_string(),
                day,
            },
        }));
    }
    units
}
