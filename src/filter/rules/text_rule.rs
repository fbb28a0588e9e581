//! `says`: expected texts in messages.

use super::amount::MatchLimits;
use super::subject::{Subject, SubjectMessage};
use super::text::TextPattern;
use super::violation::Violation;
use serde::Deserialize;

/// A text, or a regular expression, and the messages that contain it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct TextRule {
    role: Option<String>,
    text: Option<String>,
    re: Option<TextPattern>,
    min: Option<usize>,
    max: Option<usize>,
    #[serde(default, rename = "where")]
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    #[default]
    Any,
    First,
    Last,
}

impl TextRule {
    fn amount(&self) -> MatchLimits {
        MatchLimits {
            min: self.min,
            max: self.max,
        }
    }

    pub fn fault(&self) -> Option<String> {
        if self.text.is_some() == self.re.is_some() {
            return Some("says requires text or re".to_string());
        }
        self.amount().fault()
    }

    pub fn check(&self, subject: &Subject<'_>) -> Option<Violation> {
        let is_candidate = |message: &&SubjectMessage<'_>| {
            self.role.as_ref().is_none_or(|role| *role == message.role) && !message.text.is_empty()
        };
        let mut candidates = subject.messages.iter().filter(is_candidate);
        let candidates: Vec<_> = match self.place {
            Place::Any => candidates.collect(),
            Place::First => candidates.next().into_iter().collect(),
            Place::Last => candidates.next_back().into_iter().collect(),
        };
        let contains = |message: &&&SubjectMessage<'_>| match (&self.text, &self.re) {
            (Some(text), _) => message.text.contains(text.as_str()),
            (None, Some(TextPattern(pattern))) => pattern.is_match(&message.text),
            (None, None) => false,
        };
        let found = candidates.iter().filter(contains);
        let items: Vec<usize> = found.map(|message| message.item).collect();
        let role = self.role.as_deref().unwrap_or("any role");
        let text = match (&self.text, &self.re) {
            (Some(text), _) => format!("'{text}'"),
            (None, pattern) => pattern
                .as_ref()
                .map_or(String::new(), |TextPattern(re)| format!("re:{re}")),
        };
        let place = match self.place {
            Place::Any => {
                let of = format!("of {role} with {text}");
                return self.amount().violation(&items, "message", &of);
            }
            Place::First => "first",
            Place::Last => "last",
        };
        let mut violation = self.amount().violation(&items, "match", "")?;
        violation.item = candidates.first().map(|message| message.item);
        let found = if items.is_empty() { "no " } else { "" };
        violation.message = format!("{found}{text} in the {place} message of {role}");
        Some(violation)
    }
}
