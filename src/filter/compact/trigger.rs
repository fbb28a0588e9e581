//! Triggers: the condition that starts a compaction, and the goal that follows from it.

use crate::error::{Error, Result};
use crate::model::named_enum::named_enum;

named_enum! {
    /// A quantity that a trigger tests.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Term {
        /// Tokens of the view.
        Tokens = "tokens",
        /// Messages of the view.
        Messages = "messages",
        /// Exchanges of the view.
        Exchanges = "exchanges",
        /// Tokens of tool results.
        ToolTokens = "tool_tokens",
        /// Tokens as a share of the window.
        Fraction = "fraction",
        /// Summaries that failed in a row.
        Failures = "failures",
    }
}

/// The comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    Over,
    AtMost,
    Under,
    Equal,
}

/// One comparison. Values are in millionths, so that a fraction is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    term: Term,
    comparison: Comparison,
    value: u64,
}

/// Tests joined by `&&`, and groups of them by `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerExpression {
    groups: Vec<Vec<Test>>,
}

/// The measured quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Tokens.
    pub tokens: u64,
    /// Messages.
    pub messages: u64,
    /// Exchanges.
    pub exchanges: u64,
    /// Tokens of tool results.
    pub tool_tokens: u64,
    /// The context window of the model.
    pub window: Option<u64>,
    /// Summaries that failed in a row.
    pub failures: u64,
}

const MILLION: u64 = 1_000_000;

impl Measures {
    /// The value of a term in millionths; none for a fraction without a window.
    fn of(&self, term: Term) -> Option<u128> {
        let whole = |number: u64| u128::from(number) * u128::from(MILLION);
        Some(match term {
            Term::Tokens => whole(self.tokens),
            Term::Messages => whole(self.messages),
            Term::Exchanges => whole(self.exchanges),
            Term::ToolTokens => whole(self.tool_tokens),
            Term::Failures => whole(self.failures),
            Term::Fraction => whole(self.tokens) / u128::from(self.window.filter(|window| *window > 0)?),
        })
    }
}

/// The goal: the most of each quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Messages.
    pub messages: Option<u64>,
    /// Exchanges.
    pub exchanges: Option<u64>,
    /// Tokens of tool results.
    pub tool_tokens: Option<u64>,
}

impl TriggerExpression {
    /// Parses `tokens>=100000 && messages>=10 || fraction>=0.8`: `&&` binds tighter, and there are no parentheses.
    pub fn read(text: &str) -> Result<TriggerExpression> {
        let group = |text: &str| text.split("&&").map(test).collect::<Result<Vec<_>>>();
        let groups = text.split("||").map(group).collect::<Result<Vec<_>>>()?;
        Ok(TriggerExpression { groups })
    }

    /// Whether a test uses the context window.
    pub fn needs_window(&self) -> bool {
        self.groups
            .iter()
            .flatten()
            .any(|test| test.term == Term::Fraction)
    }

    /// The tests that fired: those of the first group that holds.
    pub fn fired(&self, measures: &Measures) -> Option<&[Test]> {
        let holds = |test: &Test| {
            measures.of(test.term).is_some_and(|measured| {
                let value = u128::from(test.value);
                match test.comparison {
                    Comparison::AtLeast => measured >= value,
                    Comparison::Over => measured > value,
                    Comparison::AtMost => measured <= value,
                    Comparison::Under => measured < value,
                    Comparison::Equal => measured == value,
                }
            })
        };
        let group = self.groups.iter().find(|group| group.iter().all(holds))?;
        Some(group)
    }

    /// The goal after these tests fired: below their values by the hysteresis, per mille. Undoing one of several tests
    /// would suffice; the goal undoes all of them, so that none fires on the next turn.
    pub fn goal(fired: &[Test], hysteresis: u64, window: Option<u64>) -> Goal {
        let mut goal = Goal::default();
        let least = |known: Option<u64>, new: u64| Some(known.map_or(new, |known| known.min(new)));
        for test in fired {
            if matches!(test.comparison, Comparison::AtMost | Comparison::Under) {
                continue; // a smaller view does not undo this test
            }
            let target = u128::from(test.value) * u128::from(1000 - hysteresis.min(1000)) / 1000;
            // Without hysteresis, the value itself would fire again.
            let target = target.min(u128::from(test.value).saturating_sub(1));
            let whole = u64::try_from(target / u128::from(MILLION)).unwrap_or(u64::MAX);
            match test.term {
                Term::Tokens => goal.tokens = least(goal.tokens, whole),
                Term::Messages => goal.messages = least(goal.messages, whole),
                Term::Exchanges => goal.exchanges = least(goal.exchanges, whole),
                Term::ToolTokens => goal.tool_tokens = least(goal.tool_tokens, whole),
                Term::Failures => {} // no size undoes this test
                Term::Fraction => {
                    let tokens = target * u128::from(window.unwrap_or(0)) / u128::from(MILLION);
                    goal.tokens = least(goal.tokens, u64::try_from(tokens).unwrap_or(u64::MAX));
                }
            }
        }
        goal
    }
}

fn test(text: &str) -> Result<Test> {
    let wrong = |what: String| {
        let names = Term::ALL.map(Term::name).join(", ");
        Err(Error::usage(what).hint(format!(
            "use e.g. 'tokens>=100000 && messages>=10 || fraction>=0.8', with {names}"
        )))
    };
    let text = text.trim();
    let Some(at) = text.find(['>', '<', '=']) else {
        return wrong(format!("'{text}': expected a comparison"));
    };
    let (name, rest) = text.split_at(at);
    let comparisons = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        ("==", Comparison::Equal),
        (">", Comparison::Over),
        ("<", Comparison::Under),
    ];
    let found = comparisons.into_iter().find(|(sign, _)| rest.starts_with(sign));
    let Some((sign, comparison)) = found else {
        return wrong(format!("'{text}': expected a comparison such as >="));
    };
    let Some(term) = Term::from_name(name.trim()) else {
        return wrong(format!("unknown value '{}'", name.trim()));
    };
    match millionths(rest[sign.len()..].trim()) {
        Some(value) => Ok(Test {
            term,
            comparison,
            value,
        }),
        None => wrong(format!("expected a number, got '{}'", rest[sign.len()..].trim())),
    }
}

/// A number with at most six decimals, in millionths.
fn millionths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 6 {
        return None;
    }
    let decimals: u64 = format!("{decimals:0<6}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(MILLION)?
        .checked_add(decimals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn measured(tokens: u64, messages: u64) -> Measures {
        Measures {
            tokens,
            messages,
            exchanges: 3,
            tool_tokens: 50,
            window: Some(1000),
            failures: 3,
        }
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let when = TriggerExpression::read("tokens >= 100 && messages>10||fraction>=0.8").unwrap();
        assert!(when.fired(&measured(100, 10)).is_none());
        assert_eq!(when.fired(&measured(100, 11)).unwrap().len(), 2);
        assert_eq!(when.fired(&measured(800, 0)).unwrap().len(), 1);
        assert!(when.fired(&measured(799, 0)).is_none());
        assert!(
            TriggerExpression::read("exchanges==3")
                .unwrap()
                .fired(&measured(0, 0))
                .is_some()
        );
        assert!(
            TriggerExpression::read("tool_tokens<50")
                .unwrap()
                .fired(&measured(0, 0))
                .is_none()
        );
        assert!(when.needs_window());
        assert!(
            TriggerExpression::read("failures>=3")
                .unwrap()
                .fired(&measured(0, 0))
                .is_some()
        );
        assert!(
            TriggerExpression::read("failures>3")
                .unwrap()
                .fired(&measured(0, 0))
                .is_none()
        );
    }

    #[test]
    fn the_goal_is_below_the_trigger() {
        let goal = |text: &str, hysteresis| {
            let when = TriggerExpression::read(text).unwrap();
            TriggerExpression::goal(when.fired(&measured(900, 20)).unwrap(), hysteresis, Some(1000))
        };
        assert_eq!(goal("tokens>=500", 200).tokens, Some(400));
        assert_eq!(goal("tokens>=500", 0).tokens, Some(499));
        assert_eq!(goal("fraction>=0.8", 200).tokens, Some(640));
        assert_eq!(goal("tokens>=500 && messages>=10", 200).messages, Some(8));
        assert_eq!(goal("tokens<=1000", 200), Goal::default());
    }

    #[test]
    fn invalid_triggers_are_reported() {
        for bad in [
            "", "tokens", "tokens>", "tokens=>5", "tokens=5", "words>=5", "tokens>=-1", "tokens>=1.5.2",
            "a>=1 &&",
        ] {
            let error = TriggerExpression::read(bad).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{bad}");
            assert!(error.hint.is_some());
        }
    }
}
