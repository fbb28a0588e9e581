//! Greetings, thanks and agreement, which a summary does not quote: few tokens and rare words would make them worth much.

/// Words of small talk.
const WORDS: [&str; 60] = [
    "a", "ahead", "all", "alright", "and", "awesome", "bye", "cool", "course", "do", "done", "evening",
    "excellent", "fine", "for", "glad", "go", "good", "goodbye", "got", "great", "happy", "hello", "help",
    "hey", "hi", "i", "it", "lot", "love", "morning", "much", "my", "nice", "nope", "noted", "of", "ok",
    "okay", "perfect", "please", "pleasure", "right", "see", "so", "sounds", "sure", "thank", "thanks",
    "that", "the", "this", "to", "understood", "very", "we", "welcome", "will", "wonderful", "you",
];

/// Most bytes of small talk.
const MOST: usize = 60;

/// Whether a text consists of words of small talk.
pub(super) fn is_small_talk(text: &str) -> bool {
    let mut words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    text.len() <= MOST && words.all(|word| WORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_thanks_and_agreement_are_small_talk() {
        assert!(WORDS.is_sorted());
        for text in [
            "Hi!",
            "Understood.",
            "My pleasure!",
            "Thank you so much, that sounds great!",
        ] {
            assert!(is_small_talk(text), "{text}");
        }
        for text in [
            "Yes.", "Fine, 91 guests.", "Will do. DJ Marlon.", "The pleasure of Rome.",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
    }
}
