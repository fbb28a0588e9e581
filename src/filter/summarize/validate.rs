//! Validates summaries. An invalid summary counts as a failed attempt, and nothing is dropped.

use std::fmt;

/// Why a summary is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryFailure {
    /// Blank: no letter or digit outside tags, or nothing to summarize.
    Blank,
    /// Over the budget.
    OverBudget {
        /// Tokens of the summary.
        tokens: u64,
        /// The budget in tokens.
        budget: u64,
    },
    /// Not shorter than the messages that it replaces.
    NotShorter {
        /// Tokens of the summary.
        tokens: u64,
        /// Tokens of those messages.
        covered: u64,
    },
    /// A rule refers to an unknown message.
    NoSuchMessage(String),
}

impl fmt::Display for SummaryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SummaryFailure::Blank => f.write_str("the summary is blank"),
            SummaryFailure::OverBudget { tokens, budget } => {
                write!(f, "the summary has {tokens} tokens, more than {budget}")
            }
            SummaryFailure::NotShorter { tokens, covered } => {
                write!(
                    f,
                    "the summary has {tokens} tokens, the summarized messages {covered}"
                )
            }
            SummaryFailure::NoSuchMessage(id) => write!(f, "--pin-rules: no such message: {id}"),
        }
    }
}

impl std::error::Error for SummaryFailure {}

/// Returns the tokens of a summary that replaces a range of `covered` tokens, if valid.
pub fn accept(
    summary: &str,
    budget: u64,
    covered: u64,
    count: &dyn Fn(&str) -> u64,
) -> Result<u64, SummaryFailure> {
    if is_blank(summary) {
        return Err(SummaryFailure::Blank);
    }
    let tokens = count(summary);
    if tokens > budget {
        return Err(SummaryFailure::OverBudget { tokens, budget });
    }
    if tokens >= covered {
        return Err(SummaryFailure::NotShorter { tokens, covered });
    }
    Ok(tokens)
}

/// Whether a text has no letter or digit outside tags.
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
            // Not a tag: `a < b`.
            _ => &rest[1..],
        };
    }
}
