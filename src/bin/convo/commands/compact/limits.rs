//! The ordered limits of goaitools.

use super::given::Given;
use clap::Args;
use convo::filter::compat::goaitools::Limit;

#[derive(Args, Clone, Debug)]
pub struct Limits {
    /// goaitools: keep the newest N messages if there are more
    ///
    /// Limits apply in the given order.
    #[arg(
        long,
        value_name = "N",
        requires = "compat",
        hide_short_help = true,
        help_heading = "Compatibility"
    )]
    message_limit: Vec<u32>,
    /// goaitools: drop the oldest third if the last prompt exceeded MAX
    ///
    /// Nothing is dropped if that prompt is within TARGET, by default three quarters of MAX.
    #[arg(long, value_name = "MAX[:TARGET]", value_parser = token_limit, requires_all = ["compat", "prompt_tokens"], hide_short_help = true, help_heading = "Compatibility")]
    token_limit: Vec<TokenLimit>,
    /// goaitools, with --token-limit: reported tokens of the last prompt
    #[arg(
        long,
        value_name = "TOKENS",
        requires = "token_limit",
        hide_short_help = true,
        help_heading = "Compatibility"
    )]
    prompt_tokens: Option<u32>,
}

/// `MAX` or `MAX:TARGET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLimit {
    max: u32,
    target: u32,
}

impl Limits {
    /// The limits in the order in which they stand on the command line.
    pub fn in_order(&self, given: &Given) -> Vec<Limit> {
        let messages = self
            .message_limit
            .iter()
            .map(|most| Limit::Messages(i64::from(*most)));
        let tokens = self.token_limit.iter().map(|limit| Limit::Tokens {
            max: i64::from(limit.max),
            target: i64::from(limit.target),
            prompt: self.prompt_tokens.map(i64::from),
        });
        let messages = given.places("message_limit").iter().zip(messages);
        let tokens = given.places("token_limit").iter().zip(tokens);
        let mut all: Vec<(&usize, Limit)> = messages.chain(tokens).collect();
        all.sort_by_key(|(place, _)| **place);
        all.into_iter().map(|(_, limit)| limit).collect()
    }
}

fn token_limit(text: &str) -> Result<TokenLimit, String> {
    let (max, target) = text.split_once(':').unwrap_or((text, "0"));
    match (max.parse(), target.parse()) {
        (Ok(max), Ok(target)) => Ok(TokenLimit { max, target }),
        _ => Err("this must be MAX or MAX:TARGET, such as 100000:75000".to_string()),
    }
}
