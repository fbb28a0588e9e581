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

/// Most bytes of a remark. A longer reply may be a text that a program writes for its user.
const LONGEST: usize = 400;

/// One in this many replies of a person reports what the person did. In the dialogues of `benches/recall/dialogues` one in two
/// to four does; agents report what they did, too.
const REPORTS: usize = 5;

/// One in this many names something of the person's own life ("my sister"), and at least two do. In most of those dialogues one in
/// eight to twenty-five does, and hardly any text of a program.
const OWNS: usize = 32;

/// What people call their own: relatives, parts of the body, homes, jobs, animals.
#[rustfmt::skip]
const OF_PEOPLE: [&str; 100] = [
    "apartment", "arm", "aunt", "baby", "back", "bag", "bed", "bedroom", "bike", "birthday", "boat", "body",
    "boots", "boss", "boyfriend", "brother", "brothers", "car", "cat", "colleague", "colleagues", "cousin",
    "coworker", "coworkers", "dad", "daughter", "daughters", "doctor", "dog", "dogs", "eyes", "face",
    "family", "father", "feet", "fiance", "flat", "foot", "friend", "friends", "garage", "garden",
    "girlfriend", "gran", "grandad", "granddaughter", "grandfather", "grandma", "grandmother", "grandson",
    "hair", "hand", "hands", "head", "heart", "home", "house", "husband", "job", "kids", "kitchen", "knee",
    "knees", "landlord", "leg", "legs", "life", "mom", "mother", "mouth", "mum", "nan", "neck", "neighbor",
    "neighbour", "nephew", "niece", "nose", "parents", "partner", "phone", "room", "roommate", "school",
    "shed", "shift", "shoes", "sister", "sisters", "sofa", "son", "sons", "stomach", "street", "teacher",
    "truck", "uncle", "van", "wedding", "wife",
];

/// Whether the assistant of a session, or of an earlier summary of it, speaks of a life of its own, as programs rarely do.
pub(super) fn is_between_people(sources: &[SummarySource<'_>], earlier: &Earlier) -> bool {
    debug_assert!(OF_PEOPLE.is_sorted());
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

/// Whether one of the two words after "my" is of a person's life: "my sister", "my old car", but not `my_car`.
fn mentions_own_thing(text: &str) -> bool {
    let mut words = text.split_whitespace();
    while words.by_ref().any(|word| word.eq_ignore_ascii_case("my")) {
        let mut next = words.clone().take(2).map(|word| {
            let letters = word.split(|c: char| !c.is_ascii_alphabetic()).next();
            letters.unwrap_or_default().to_ascii_lowercase()
        });
        if next.any(|word| OF_PEOPLE.binary_search(&word.as_str()).is_ok()) {
            return true;
        }
    }
    false
}
