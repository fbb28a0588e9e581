//! A conversation, questions about it, and the result of a method.

use convo::model::message::Role;
use convo::tokens::Tokenizer;

pub struct Turn {
    pub id: String,
    pub role: Role,
    pub speaker: String,
    pub text: String,
    /// RFC 3339, or empty.
    pub time: String,
    pub tokens: u64,
}

impl Turn {
    /// Counts the tokens of `speaker: text` plus four for the message.
    pub fn new(id: String, role: Role, speaker: &str, text: String, time: String) -> Turn {
        let tokens = count(&format!("{speaker}: {text}")) + 4;
        Turn {
            id,
            role,
            speaker: speaker.to_string(),
            text,
            time,
            tokens,
        }
    }
}

pub struct Dialogue {
    pub turns: Vec<Turn>,
    /// For each question, the indexes of the turns with its answer.
    pub questions: Vec<Vec<usize>>,
}

impl Dialogue {
    pub fn tokens(&self) -> u64 {
        self.turns.iter().map(|turn| turn.tokens).sum()
    }

    pub fn budget(&self, percent: u64) -> u64 {
        self.tokens() * percent / 100
    }

    /// Inserts turns that answer no question.
    pub fn with(&self, at: usize, texts: &[String]) -> Dialogue {
        let time = self
            .turns
            .get(at.saturating_sub(1))
            .map(|turn| turn.time.clone())
            .unwrap_or_default();
        let speaker = self.turns.iter().find(|turn| turn.role == Role::User);
        let speaker = speaker.map_or("user", |turn| turn.speaker.as_str());
        let planted = texts.iter().enumerate().map(|(index, text)| {
            Turn::new(
                format!("planted{index}"),
                Role::User,
                speaker,
                text.clone(),
                time.clone(),
            )
        });
        let copy = |turn: &Turn| Turn {
            id: turn.id.clone(),
            speaker: turn.speaker.clone(),
            text: turn.text.clone(),
            time: turn.time.clone(),
            ..*turn
        };
        let (before, after) = self.turns.split_at(at.min(self.turns.len()));
        Dialogue {
            turns: before
                .iter()
                .map(copy)
                .chain(planted)
                .chain(after.iter().map(copy))
                .collect(),
            questions: Vec::new(),
        }
    }
}

/// The result of a method.
pub struct Kept {
    /// The share of each turn's text that is kept, from 0 to 1.
    pub shares: Vec<f64>,
    /// Its tokens.
    pub tokens: u64,
    /// The whole text that a model would receive.
    pub text: String,
}

impl Kept {
    /// Keeps turns unchanged.
    pub fn of(dialogue: &Dialogue, mut turns: Vec<usize>) -> Kept {
        turns.sort_unstable();
        let lines: Vec<&str> = turns
            .iter()
            .map(|turn| dialogue.turns[*turn].text.as_str())
            .collect();
        let tokens = turns.iter().map(|turn| dialogue.turns[*turn].tokens).sum();
        Kept::quoted(dialogue, lines.join("\n"), tokens)
    }

    /// Keeps the sentences that occur in a text. Those of one or two words may occur by chance; they do not count, except in turns
    /// without longer ones.
    pub fn quoted(dialogue: &Dialogue, text: String, tokens: u64) -> Kept {
        let share = |turn: &Turn| {
            let sentences = turn.text.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
            let long = sentences.filter(|sentence| sentence.split_whitespace().count() > 2);
            let lengths = |sentence: &str| {
                let bytes = sentence.len();
                [bytes, if text.contains(sentence) { bytes } else { 0 }]
            };
            let [all, kept] = long.map(lengths).fold([0, 0], |sums, lengths| {
                [sums[0] + lengths[0], sums[1] + lengths[1]]
            });
            match all {
                0 => f64::from(u8::from(text.contains(turn.text.trim()))),
                _ => kept as f64 / all as f64,
            }
        };
        Kept {
            shares: dialogue.turns.iter().map(share).collect(),
            tokens,
            text,
        }
    }
}

pub fn count(text: &str) -> u64 {
    Tokenizer::DEFAULT.count(text)
}
