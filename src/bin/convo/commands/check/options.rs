//! Options of the request that a session is checked for.

use clap::Args;
use convo::check::{Api, CheckOptions, HistoryRule, Severity};
use convo::error::Error;

// No doc comment: clap would use it as the description of the command that flattens this struct.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Request")]
pub struct RequestOptions {
    /// openai-responses: the provider stores no state (store is false)
    #[arg(long, hide_short_help = true)]
    stateless: bool,
    /// openai-responses: calls may be in the previous response
    #[arg(long, hide_short_help = true)]
    previous_response_id: bool,
    /// anthropic: extended thinking is enabled
    #[arg(long, alias = "thinking", hide_short_help = true)]
    extended_thinking: bool,
    /// anthropic: the request defines no tools
    #[arg(long, hide_short_help = true)]
    no_tools: bool,
    /// anthropic, gemini: allow a final message of the model
    #[arg(long, hide_short_help = true)]
    prefill: bool,
    /// gemini: model version; 3 and later require signatures [default: 3]
    #[arg(long, alias = "gemini", value_name = "VERSION", value_parser = version, hide_short_help = true)]
    gemini_version: Option<u32>,
    /// anthropic, gemini: accept this role too (repeatable)
    #[arg(long, alias = "role", value_name = "ROLE", hide_short_help = true)]
    allow_role: Vec<String>,
    /// Report an unanswered final call as a warning, and keep it
    #[arg(long, alias = "open-end", hide_short_help = true)]
    allow_open_call: bool,
    /// Require alternating roles, as chat templates of open models do
    #[arg(long, hide_short_help = true)]
    alternate: bool,
    /// Set the level of a rule: off, warn, error (repeatable)
    #[arg(long, value_name = "RULE=LEVEL", value_parser = rule)]
    rule: Vec<(&'static HistoryRule, Severity)>,
}

/// Parses the first number of a version.
fn version(text: &str) -> Result<u32, String> {
    let major = text.split('.').next().unwrap_or_default();
    major
        .parse()
        .map_err(|_| "expected a version, e.g. 3, 2.5".to_string())
}

fn rule(text: &str) -> Result<(&'static HistoryRule, Severity), String> {
    let (id, level) = text.split_once('=').ok_or("expected RULE=LEVEL")?;
    let rule = HistoryRule::of(id).ok_or("no such rule; see convo(1)")?;
    let level = Severity::from_name(level).ok_or("expected off, warn or error")?;
    Ok((rule, level))
}

impl RequestOptions {
    /// Refuses options that have no effect for the API; without an API, options of a single API.
    pub fn check(&self, api: Option<Api>) -> convo::Result<()> {
        let given = [
            ("--stateless", self.stateless, &[Api::OpenaiResponses][..]),
            (
                "--previous-response-id",
                self.previous_response_id,
                &[Api::OpenaiResponses],
            ),
            ("--extended-thinking", self.extended_thinking, &[Api::Anthropic]),
            ("--no-tools", self.no_tools, &[Api::Anthropic]),
            ("--prefill", self.prefill, &[Api::Anthropic, Api::Gemini]),
            ("--gemini-version", self.gemini_version.is_some(), &[Api::Gemini]),
            (
                "--allow-role",
                !self.allow_role.is_empty(),
                &[Api::Anthropic, Api::Gemini],
            ),
        ];
        let Some(api) = api else {
            let given = given.iter().find(|(_, given, _)| *given);
            return given.map_or(Ok(()), |(name, _, apis)| {
                let hint = format!("name the API with --for {}", apis[0].name());
                Err(usage(format!("{name} requires --for")).hint(hint))
            });
        };
        let foreign = |(_, given, apis): &&(&str, bool, &[Api])| *given && !apis.contains(&api);
        if let Some((name, _, apis)) = given.iter().find(foreign) {
            let names: Vec<_> = apis.iter().map(|api| api.name()).collect();
            return Err(usage(format!(
                "{name} requires --for {}, not {}",
                names.join(" and "),
                api.name()
            )));
        }
        let other = self
            .rule
            .iter()
            .find(|(rule, _)| rule.api.is_some_and(|own| own != api));
        match other {
            Some((rule, _)) => Err(usage(format!(
                "--rule: {} is not a rule of {}",
                rule.id,
                api.name()
            ))),
            None => Ok(()),
        }
    }

    /// Returns the options for the rules.
    pub fn options(&self) -> CheckOptions {
        CheckOptions {
            stateless: self.stateless,
            previous_response: self.previous_response_id,
            thinking: self.extended_thinking,
            no_tools: self.no_tools,
            prefill: self.prefill,
            gemini: self.gemini_version.unwrap_or(3),
            open_end: self.allow_open_call,
            alternate: self.alternate,
            roles: self.allow_role.clone(),
            marks: 0,
            levels: self.rule.clone(),
        }
    }
}

fn usage(what: String) -> Error {
    Error::usage(what)
}
