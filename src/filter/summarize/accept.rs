//! What every summary must pass, whoever wrote it: a bad one is a failed attempt, and nothing is dropped for it.

use std::fmt;

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It says nothing: no letter or digit besides tags, or nothing to sum up.
    Blank,
    /// It does not fit.
    OverBudget {
        /// What it has.
        tokens: u64,
        /// What it may have.
        budget: u64,
    },
    /// It is no shorter than what it stands for.
    NotShorter {
        /// What it has.
        tokens: u64,
        /// What it stands for has.
        covered: u64,
    },
    /// A rule names a message that is not there.
    NoSuchMessage(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Blank => f.write_str("the summary is blank"),
            Failure::OverBudget { tokens, budget } => {
                write!(f, "the summary has {tokens} tokens, more than {budget}")
            }
            Failure::NotShorter { tokens, covered } => {
                write!(
                    f,
                    "the summary has {tokens} tokens, the summarized messages {covered}"
                )
            }
            Failure::NoSuchMessage(id) => write!(f, "--pin-rules: no such message: {id}"),
        }
    }
}

impl std::error::Error for Failure {}

/// The tokens of a summary that may stand for a span of `covered` tokens.
pub fn accept(summary: &str, budget: u64, covered: u64, count: &dyn Fn(&str) -> u64) -> Result<u64, Failure> {
    if is_blank(summary) {
        return Err(Failure::Blank);
    }
    let tokens = count(summary);
    if tokens > budget {
        return Err(Failure::OverBudget { tokens, budget });
    }
    if tokens >= covered {
        return Err(Failure::NotShorter { tokens, covered });
    }
    Ok(tokens)
}

/// Whether there is no letter or digit outside tags.
pub fn is_blank(text: &str) -> bool {
    let mut rest = text;
    loop {
        let open = rest.find('<').unwrap_or(rest.len());
        if rest[..open].chars().any(char::is_alphanumeric) {
            return false;
        }
        rest = &rest[open..];
        if rest.is_empty() {
            return true;
        }
        let inside = rest[1..].find(['<', '>']).map(|length| length + 1);
        rest = match inside {
            Some(end) if rest[end..].starts_with('>') => &rest[end + 1..],
            // No tag: `a < b`.
            _ => &rest[1..],
        };
    }
}
