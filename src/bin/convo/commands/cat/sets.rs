//! `cat` for data sets: selects sessions by conditions, removes duplicates and writes training data.

use crate::args::{TokenizerArgs, tokens};
use crate::context::Context;
use clap::{Args, ValueEnum};
use convo::error::{Error, ErrorKind, Result};
use convo::filter::sieve::{Sieve, keys, longest};
use convo::format::Format;
use convo::format::training::{TrainingOptions, TrainingThinking};
use convo::model::session::Session;
use convo::model::view::View;
use convo::tokens::usage::of_item;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

// No doc comment: clap would use it as the description of the command that flattens this struct.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Data sets")]
pub struct SetArgs {
    /// Only sessions that end with an assistant message, all calls answered
    ///
    /// The other sessions are left out; the number is reported for each reason, with --diagnostics json one object per session. If no
    /// session remains, the exit status is 1.
    #[arg(long, hide_short_help = true)]
    complete: bool,
    /// Only sessions of at least N exchanges
    #[arg(long, value_name = "N", hide_short_help = true)]
    min_exchanges: Option<usize>,
    /// Only sessions of at most N tokens
    #[arg(long, value_name = "N", value_parser = tokens, hide_short_help = true)]
    max_tokens: Option<u64>,
    /// Only sessions that call this tool (repeatable)
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    has_tool: Vec<String>,
    /// Only sessions without a failed tool call
    #[arg(long, hide_short_help = true)]
    no_tool_errors: bool,
    /// Leave out sessions with the messages of another: exact, prefix
    ///
    /// prefix: also a session that is the beginning of another, so that the longer one remains. Ids and times are not
    /// compared.
    #[arg(long, value_name = "HOW", hide_possible_values = true, hide_short_help = true)]
    dedupe: Option<Dedupe>,
    /// Only a share of the sessions, e.g. 0.9, and 0.9.. for the others
    ///
    /// The hash of its id decides about a session, so that it remains in its part when others are added.
    #[arg(long, value_name = "SHARE", value_parser = share, hide_short_help = true)]
    split: Option<Range<f64>>,
    /// With --to openai-finetune, train only the newest N assistant messages
    ///
    /// The others have weight 0.
    #[arg(long, value_name = "N", hide_short_help = true)]
    train_last: Option<usize>,
    /// With --to trl, write prompt and completion
    ///
    /// The completion begins after the last message of the user; sessions without one are left out.
    #[arg(long, hide_short_help = true)]
    prompt_completion: bool,
    #[command(flatten)]
    tokenizer_args: TokenizerArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dedupe {
    Exact,
    Prefix,
}

/// Parses `0.9`, `0.9..` or `0.8..0.9`.
fn share(text: &str) -> std::result::Result<Range<f64>, &'static str> {
    const EXPECTED: &str = "expected a share such as 0.9, 0.9.. or 0.8..0.9";
    let number = |text: &str, default: f64| match text {
        "" => Ok(default),
        text => text.parse::<f64>().map_err(|_| EXPECTED),
    };
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (number(from, 0.0)?, number(to, 1.0)?),
        None if text.is_empty() => return Err(EXPECTED),
        None => (0.0, number(text, 1.0)?),
    };
    let is_share = (0.0..=1.0).contains(&from) && (0.0..=1.0).contains(&to) && from < to;
    is_share.then_some(from..to).ok_or(EXPECTED)
}

impl SetArgs {
    /// Whether an option selects sessions.
    pub fn selects_sessions(&self, to: Format) -> bool {
        let sieve = self.sieve(to);
        sieve.is_some() || self.dedupe.is_some()
    }

    /// Returns the conditions; none if there are none.
    fn sieve(&self, to: Format) -> Option<Sieve> {
        let sieve = Sieve {
            complete: self.complete,
            min_exchanges: self.min_exchanges,
            max_tokens: self.max_tokens,
            tools: self.has_tool.clone(),
            no_tool_errors: self.no_tool_errors,
            split: self.split.clone(),
            answered: self.prompt_completion || to.is_training(),
        };
        (sieve != Sieve::default()).then_some(sieve)
    }

    /// Returns the options of training data.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for an option that has no effect in this format.
    pub fn options(&self, to: Format, thinking: Option<TrainingThinking>) -> Result<TrainingOptions> {
        let given = [
            ("--train-last", self.train_last.is_some(), Format::OpenaiFinetune),
            ("--prompt-completion", self.prompt_completion, Format::Trl),
        ];
        if let Some((name, _, format)) = given.iter().find(|(_, given, format)| *given && *format != to) {
            let what = format!("{name} requires --to {}", format.name());
            return Err(Error::usage(what));
        }
        Ok(TrainingOptions {
            train_last: self.train_last,
            prompt_completion: self.prompt_completion,
            thinking: thinking.unwrap_or_default(),
        })
    }
}

/// Selection state over all sessions so far.
#[derive(Default)]
pub struct SetSelection {
    seen: HashSet<Vec<u64>>,
    /// With `--dedupe prefix`: sessions held back until all are read.
    waiting: Vec<(String, Session, Vec<u64>)>,
    left_out: BTreeMap<&'static str, u64>,
    kept: u64,
}

impl SetSelection {
    /// Returns the session if it is to be written now.
    pub fn choose(
        &mut self,
        args: &SetArgs,
        to: Format,
        context: &Context,
        label: &str,
        session: Session,
    ) -> Result<Option<Session>> {
        let view = View::replay(&session);
        let count = || -> Result<u64> {
            let counter = args.tokenizer_args.counter(context, label, &session)?;
            Ok(view
                .items
                .iter()
                .map(|item| of_item(&session, item, counter))
                .sum())
        };
        let reason = match args.sieve(to) {
            Some(sieve) => sieve.reason(&session, &view, count)?,
            None => None,
        };
        if let Some(reason) = reason {
            self.skip_session(context, label, &session, reason);
            return Ok(None);
        }
        match args.dedupe {
            None => {}
            Some(Dedupe::Exact) if self.seen.insert(keys(&session, &view)) => {}
            Some(Dedupe::Exact) => {
                self.skip_session(context, label, &session, "duplicate");
                return Ok(None);
            }
            Some(Dedupe::Prefix) => {
                let keys = keys(&session, &view);
                self.waiting.push((label.to_string(), session, keys));
                return Ok(None);
            }
        }
        self.kept += 1;
        Ok(Some(session))
    }

    /// Returns the sessions held back, without those that are the beginning of another.
    pub fn held_back_sessions(&mut self, context: &Context) -> Vec<(String, Session)> {
        let waiting = std::mem::take(&mut self.waiting);
        let keys: Vec<Vec<u64>> = waiting.iter().map(|(_, _, keys)| keys.clone()).collect();
        let mut rest = Vec::new();
        for ((label, session, _), is_kept) in waiting.into_iter().zip(longest(&keys)) {
            if is_kept {
                self.kept += 1;
                rest.push((label, session));
            } else {
                self.skip_session(context, &label, &session, "duplicate");
            }
        }
        rest
    }

    fn skip_session(&mut self, context: &Context, label: &str, session: &Session, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
        if context.output.has_json_diagnostics() {
            let row = serde_json::json!({
                "schema": "convo.left-out/1", "input": label, "session": session.header_text("id"), "reason": reason,
            });
            context.output.explain(&row.to_string());
        }
    }

    /// Reports the number of sessions left out.
    pub fn report(&self, context: &Context) {
        let total: u64 = self.left_out.values().sum();
        if self.kept == 0 && total > 0 {
            context.output.note_status(ErrorKind::No);
        }
        if total > 0 && !context.output.has_json_diagnostics() {
            let reasons = self
                .left_out
                .iter()
                .map(|(reason, count)| format!("{reason} {count}"));
            let reasons: Vec<String> = reasons.collect();
            let total = crate::output::count_of(total, "session");
            let what = format!("left out {total}: {}", reasons.join(", "));
            context.output.notice("", &what);
        }
    }
}
