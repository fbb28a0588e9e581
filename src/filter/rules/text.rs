//! Expected texts and arguments.

use crate::model::calls;
use crate::model::json::{self, Dialect};
use regex::Regex;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// The prefix of a regular expression.
const PATTERN: &str = "re:";

/// A text, or a regular expression that matches somewhere.
#[derive(Clone, Debug)]
pub enum RuleText {
    Exact(String),
    Pattern(Regex),
}

impl RuleText {
    fn of(text: &str) -> Result<RuleText, String> {
        match text.strip_prefix(PATTERN) {
            Some(pattern) => self::pattern(pattern).map(RuleText::Pattern),
            None => Ok(RuleText::Exact(text.to_string())),
        }
    }

    /// Whether the whole text is the expected one, or the expression matches.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            RuleText::Exact(own) => own == text,
            RuleText::Pattern(pattern) => pattern.is_match(text),
        }
    }
}

/// A regular expression.
fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        format!(
            "invalid regular expression '{text}': {}",
            reason.trim_start_matches("error: ")
        )
    })
}

impl fmt::Display for RuleText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleText::Exact(text) => f.write_str(text),
            RuleText::Pattern(pattern) => write!(f, "{PATTERN}{pattern}"),
        }
    }
}

impl<'de> Deserialize<'de> for RuleText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleText, D::Error> {
        let text = String::deserialize(deserializer)?;
        RuleText::of(&text).map_err(D::Error::custom)
    }
}

/// A regular expression without a prefix.
#[derive(Clone, Debug)]
pub struct TextPattern(pub Regex);

impl<'de> Deserialize<'de> for TextPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextPattern, D::Error> {
        let text = String::deserialize(deserializer)?;
        pattern(&text).map(TextPattern).map_err(D::Error::custom)
    }
}

/// An expected value: of tables the listed members, of arrays the listed elements.
#[derive(Clone, Debug)]
pub enum ExpectedValue {
    Text(RuleText),
    Number(f64),
    Bool(bool),
    List(Vec<ExpectedValue>),
    Table(BTreeMap<String, ExpectedValue>),
}

impl ExpectedValue {
    /// Whether a value of JSON is the expected one.
    pub fn matches(&self, raw: &[u8]) -> bool {
        match self {
            ExpectedValue::Text(RuleText::Exact(text)) => calls::words(raw).is_some_and(|own| own == *text),
            ExpectedValue::Text(pattern) => match calls::words(raw) {
                Some(own) => pattern.matches(&own),
                None => pattern.matches(&String::from_utf8_lossy(&json::compact(raw).0)),
            },
            ExpectedValue::Number(number) => {
                std::str::from_utf8(raw).is_ok_and(|own| own.parse::<f64>() == Ok(*number))
            }
            ExpectedValue::Bool(value) => raw == value.to_string().as_bytes(),
            ExpectedValue::List(values) => json::elements(raw, Dialect::Python).is_some_and(|own| {
                values
                    .iter()
                    .all(|value| own.iter().any(|element| value.matches(element)))
            }),
            ExpectedValue::Table(values) => values
                .iter()
                .all(|(name, value)| json::member(raw, name).is_some_and(|own| value.matches(own))),
        }
    }
}

impl fmt::Display for ExpectedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedValue::Text(text) => text.fmt(f),
            ExpectedValue::Number(number) => number.fmt(f),
            ExpectedValue::Bool(value) => value.fmt(f),
            ExpectedValue::List(values) => {
                let values: Vec<String> = values.iter().map(ExpectedValue::to_string).collect();
                write!(f, "[{}]", values.join(", "))
            }
            ExpectedValue::Table(values) => {
                let member = |(name, value): (&String, &ExpectedValue)| format!("{name}: {value}");
                let members: Vec<String> = values.iter().map(member).collect();
                write!(f, "{{{}}}", members.join(", "))
            }
        }
    }
}

impl<'de> Deserialize<'de> for ExpectedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExpectedValue, D::Error> {
        deserializer.deserialize_any(ValueReader)
    }
}

struct ValueReader;

impl<'de> Visitor<'de> for ValueReader {
    type Value = ExpectedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, number, boolean, array or table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ExpectedValue, E> {
        RuleText::of(text).map(ExpectedValue::Text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ExpectedValue, E> {
        Ok(ExpectedValue::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<ExpectedValue, E> {
        Ok(ExpectedValue::Number(number))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ExpectedValue, E> {
        Ok(ExpectedValue::Bool(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<ExpectedValue, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(ExpectedValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<ExpectedValue, A::Error> {
        let mut table = BTreeMap::new();
        while let Some((name, value)) = members.next_entry()? {
            table.insert(name, value);
        }
        Ok(ExpectedValue::Table(table))
    }
}
