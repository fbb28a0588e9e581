//! Parses token counts and shares of a context window.

use clap::Args;
use convo::error::Error;

/// Token limit of the view.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Budget")]
pub struct BudgetArgs {
    /// Token limit: 32000, 32k, or a share such as 60%
    #[arg(long, value_name = "TOKENS", value_parser = amount)]
    budget: Option<TokenAmount>,
    /// Context window: tokens, or a model name
    #[arg(long, value_name = "TOKENS|MODEL", value_parser = window)]
    pub window: Option<Window>,
    /// Tokens to reserve for the reply
    ///
    /// Subtracted from --budget.
    #[arg(long, value_name = "TOKENS", requires = "budget", hide_short_help = true)]
    reserve: Option<u64>,
}

impl BudgetArgs {
    pub fn window(&self) -> Option<u64> {
        self.window.map(|Window(tokens)| tokens)
    }

    /// Whether the budget is a share of the window.
    pub fn is_share(&self) -> bool {
        matches!(self.budget, Some(TokenAmount::PerMille(_)))
    }

    /// The budget in tokens, without the reserve. An error if it is 0, because no view fits.
    pub fn budget(&self) -> convo::Result<Option<u64>> {
        match self.limit()? {
            Some(0) => Err(Error::usage("--budget 0: expected at least 1 token")),
            budget => Ok(budget),
        }
    }

    /// The budget for systems in which 0 is a valid limit.
    pub fn limit(&self) -> convo::Result<Option<u64>> {
        let budget = match self.budget {
            None => return Ok(None),
            Some(TokenAmount::Tokens(tokens)) => tokens,
            Some(TokenAmount::PerMille(share)) => {
                let Some(window) = self.window() else {
                    let error = Error::usage("a percentage in --budget requires --window");
                    return Err(error.hint("add --window gpt-4o or --window 128000"));
                };
                u64::try_from(u128::from(window) * u128::from(share) / 1000).unwrap_or(u64::MAX)
            }
        };
        let reserve = self.reserve.unwrap_or(0);
        if reserve > 0 && budget <= reserve {
            let what = format!("--reserve {reserve} must be smaller than the budget of {budget} tokens");
            return Err(Error::usage(what));
        }
        Ok(Some(budget - reserve))
    }
}

/// A number of tokens, or a share of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenAmount {
    Tokens(u64),
    PerMille(u64),
}

fn amount(text: &str) -> Result<TokenAmount, String> {
    if text.ends_with('%') {
        return per_cent(text).map(TokenAmount::PerMille);
    }
    match thousands(text) {
        Some(tokens) => Ok(TokenAmount::Tokens(tokens)),
        None => Err("expected a number of tokens or a percentage, e.g. 32000, 60%".to_string()),
    }
}

/// Parses a percentage such as 12.5% to thousandths.
pub fn per_cent(text: &str) -> Result<u64, String> {
    let wrong = || "expected a percentage from 0% to 100%, e.g. 25%".to_string();
    let number = text.strip_suffix('%').ok_or_else(wrong)?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 1 {
        return Err(wrong());
    }
    let share = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(10));
    let share = share.and_then(|share| Some(share + decimals.parse::<u64>().ok()?));
    share.filter(|share| *share <= 1000).ok_or_else(wrong)
}

/// Parses a number such as 32000, or thousands such as 32k.
fn thousands(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1000),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Parses a number of tokens such as 32000 or 32k.
pub fn tokens(text: &str) -> Result<u64, String> {
    let tokens = thousands(text).filter(|tokens| *tokens > 0);
    tokens.ok_or_else(|| "expected a number of tokens, e.g. 32000, 32k".to_string())
}

/// A context window in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub u64);

/// Parses a number of tokens, or the name of a model with a known window.
pub fn window(text: &str) -> Result<Window, String> {
    let number = thousands(text);
    if number == Some(0) {
        return Err("expected at least 1 token".to_string());
    }
    let tokens = number.or_else(|| convo::tokens::window(text)).map(Window);
    tokens.ok_or_else(|| "expected a number of tokens or a known model, e.g. 128000, gpt-4o".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_numbers_or_models() {
        assert_eq!(window("32000"), Ok(Window(32_000)));
        assert_eq!(window("200k"), Ok(Window(200_000)));
        assert_eq!(window("gpt-4o"), Ok(Window(128_000)));
        for wrong in [
            "0", "0k", "k", "", "-1", "1.5", "llama", "99999999999999999999", "99999999999999999k",
        ] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
    }
}
