//! `check`: checks whether a session is valid for a provider's API.

mod junit;
mod options;
mod problem;
mod report;
mod rules;

use super::Run;
use crate::args::{EditArgs, InputArgs, InputLocation};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::errors::named;
use crate::flat_tables::SessionOrigin;
use crate::input::{each_session_and_format, operands, report_and_continue};
use crate::output::in_line;
use crate::prices::PriceArgs;
use crate::provider_request;
use crate::writing::report_dangling;
use clap::Args;
use convo::check::{Api, ApiViolation, CheckOptions, HistoryRule, RepairChange, RepairMode, Severity};
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::filter::repair::{self, RepairOptions, Repaired};
use convo::filter::rules::SessionRule;
use convo::filter::usage::Prices;
use convo::format::{Format, native};
use convo::model::session::Session;
use convo::model::view::View;
use junit::Junit;
use options::RequestOptions;
use problem::CheckProblem;
use report::{CheckedSession, ItemLocations};
use rules::{RuleCheck, RuleOptions};
use std::io::Write;
use std::path::PathBuf;

/// Check sessions against the rules of a provider's API
///
/// Checks the view as `context --to` would send it, or a file of that API as it is. Prints one violation per line:
/// location, rule, level, problem, repair. Exits with 1 if there are errors; with --strict, also if there are warnings.
/// convo(1) lists the rules.
///
/// Without --for, checks the structure of the session (calls and results, ids, roles) and the rules of the API of the
/// input's format: anthropic for claude-code and cline-roo, openai-responses for codex, gemini for gemini-cli. An
/// unanswered final call and a missing signature are then warnings.
///
/// With --fix, repairs violations, including warnings, and nothing else: in the store as one event that `restore` undoes,
/// otherwise on standard output. Violations that cannot be repaired are reported with status 1.
///
/// With --rules, checks assertions about sessions, such as tools that must be called; --junit writes the results for CI.
#[derive(Args, Debug)]
#[command(mut_arg("force", |option| option.hide_short_help(true)))]
#[command(mut_arg("stdout", |option| option.hide_short_help(true)))]
#[command(mut_arg("prices", |option| option.hide_short_help(true).requires("rules").help_heading("Rules")))]
#[command(before_long_help = "Examples:
  convo check session.jsonl                              structure, and the API of the format
  convo check --for anthropic chat                       a stored session
  convo check --for openai-chat request.json             a request, without conversion
  convo check --for gemini --json chat | jq -r '.rule // empty'   ids of the violated rules
  convo check --for openai-chat --fix chat               repair; undo with: convo restore chat
  convo check --for openai-chat --fix=drop -i log.jsonl  in place, dropping unanswered calls
  convo check --rules rules.toml --junit junit.xml *.jsonl   rules for sessions, in CI
  convo check --flat *.jsonl > checks.jsonl              a table for DuckDB or Spark")]
pub struct CheckCommand {
    /// Session names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// API: openai-chat, openai-responses, anthropic, gemini [default: from the format]
    ///
    /// openai and claude are accepted for openai-chat and anthropic. Without this option, the structure of the session is
    /// checked too.
    #[arg(long = "for", value_name = "API", value_parser = provider_request::api, help_heading = "Check")]
    api: Option<Api>,
    /// Repair violations: drop, stub or text
    ///
    /// drop removes the smallest offending part, stub inserts the missing part, text converts an unmatched result to text.
    /// Without MODE, the repair that preserves most is used: an unanswered call gets the result `aborted`, an unmatched
    /// result is dropped.
    #[arg(long, value_name = "MODE", value_parser = mode, help_heading = "Check")]
    #[arg(num_args = 0..=1, require_equals = true)]
    fix: Option<Option<RepairMode>>,
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    prices: PriceArgs,
    /// Also write the results to FILE as JUnit XML
    ///
    /// A session is a test suite; an API, the structure, and each rule is a test case. With -, the results go to standard
    /// output in place of the violations.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fix", "json"], value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    junit: Option<PathBuf>,
    /// Print one object without nested members per session, for tables
    ///
    /// In place of the violations. The same members with the same types for every session; an absent value is null.
    /// `generate tables` prints the members.
    #[arg(long, conflicts_with_all = ["fix", "junit"], help_heading = "Output", hide_short_help = true)]
    flat: bool,
    #[command(flatten)]
    request: RequestOptions,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    edit_args: EditArgs,
}

/// Returns the API of the input's format; for a native session, that of the file it was imported from.
fn api_of(format: Format, session: &Session) -> Option<Api> {
    match format {
        Format::Native => Format::from_name(&native::source_format(session)?)?.sent_to(),
        format => format.sent_to(),
    }
}

fn mode(name: &str) -> Result<RepairMode, String> {
    RepairMode::from_name(name).ok_or_else(|| "expected drop, stub or text".to_string())
}

/// Options of the check.
struct Against<'a> {
    options: &'a CheckOptions,
    rules: Option<&'a [SessionRule]>,
    prices: &'a Prices,
}

impl Run for CheckCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context
            .output
            .set_json_diagnostics(self.edit_args.json || self.flat);
        self.request.check(self.api)?;
        let options = self.request.options();
        let inputs = operands::inputs(context, &self.inputs)?;
        match (self.fix, self.api) {
            (Some(mode), Some(api)) => self.fix(context, &inputs, api, &options, mode),
            (Some(_), None) => {
                let error = Error::usage("--fix requires --for");
                Err(error.hint("name the API with --for anthropic").into())
            }
            (None, _) => self.check(context, &inputs, options),
        }
    }
}

impl CheckCommand {
    fn check(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        mut options: CheckOptions,
    ) -> anyhow::Result<()> {
        let EditArgs {
            in_place,
            stdout,
            dry_run,
            writing,
            ..
        } = &self.edit_args;
        if in_place.is_some() || *stdout || *dry_run || writing.to.is_some() || writing.output.is_some() {
            let error = Error::usage("-i, -n, -o, --to and --stdout require --fix");
            return Err(error.hint("repair violations with --fix").into());
        }
        if self.api.is_none() {
            // A stored session may end with a call, and its next model is unknown.
            options.open_end = true;
            let signatures = HistoryRule::of("GE07").map(|rule| (rule, Severity::Warn));
            options.levels.splice(0..0, signatures);
        }
        let rules = self.rules.read()?;
        let against = Against {
            options: &options,
            rules: rules.as_deref(),
            prices: &self.prices.read(context)?,
        };
        let mut junit = Junit::default();
        let checked = context.output.stdout(|out| {
            for input in inputs {
                let one = std::slice::from_ref(input);
                let mut is_empty = true;
                let done = each_session_and_format(context, one, &self.reading, |label, format, session| {
                    is_empty = false;
                    self.check_one(context, (label, format, &session), &against, out, &mut junit)
                });
                // If nothing was checked against the rules, they are not met.
                let done = done.and_then(|()| match is_empty && against.rules.is_some() {
                    true => {
                        Err(named(Error::new(ErrorKind::No, "no session to check"), &input.label()).into())
                    }
                    false => Ok(()),
                });
                if let Err(error) = &done {
                    junit.error(&input.label(), error);
                }
                report_and_continue(context, done, inputs.len())?;
            }
            Ok(())
        });
        match &self.junit {
            Some(path) if !context.output.stdout_failed() => junit.write(context, path).and(checked),
            _ => checked,
        }
    }

    fn check_one(
        &self,
        context: &Context,
        (label, format, session): (&str, Format, &Session),
        against: &Against<'_>,
        out: &mut dyn Write,
        junit: &mut Junit,
    ) -> anyhow::Result<()> {
        let view = match self.rules.log {
            true => View::whole(session),
            false => View::replay(session),
        };
        report_dangling(context, label, session, &view);
        let apis = match (self.api, against.rules) {
            (Some(api), _) => vec![Some(api)],
            (None, Some(_)) => Vec::new(),
            (None, None) => [None]
                .into_iter()
                .chain(api_of(format, session).map(Some))
                .collect(),
        };
        let checked = apis
            .into_iter()
            .map(|api| CheckedSession::new(api, session, &view, against.options));
        let mut checked = checked.collect::<convo::Result<Vec<_>>>()?;
        let rules = against
            .rules
            .map(|rules| RuleCheck::new(rules, session, &view, against.prices));
        let mut places = ItemLocations::new(session, &view);
        let mut print = |problem: &CheckProblem<'_>| match self.edit_args.json {
            true => report::finding(label, session, problem, places.of(problem.item)),
            false => report::line(label, problem, places.of(problem.item)),
        };
        if !self.flat && self.junit.as_ref().is_none_or(|path| path.as_os_str() != "-") {
            let of_apis = checked.iter().flat_map(CheckedSession::each);
            for problem in of_apis.chain(rules.iter().flat_map(RuleCheck::each)) {
                out.write_all(print(&problem).as_bytes())
                    .map_err(|error| Error::io("cannot write", error))?;
            }
        }
        let strict = self.reading.strict;
        if self.junit.is_some() {
            junit.session(label, session.header_text("id").as_deref());
            for checked in &checked {
                let counts = |problem: &CheckProblem<'_>| strict || problem.level == Severity::Error;
                junit.case(
                    checked.name(),
                    junit::lines(checked.each().filter(counts), &mut print),
                );
            }
            for (rule, problems) in rules.iter().flat_map(RuleCheck::each_rule) {
                junit.case(rule, junit::lines(problems, &mut print));
            }
        }
        let is_valid = checked.iter().all(|checked| checked.is_valid(strict));
        if !is_valid || rules.as_ref().is_some_and(|rules| rules.errors() > 0) {
            context.output.note_status(ErrorKind::No);
        }
        for checked in &mut checked {
            context.output.report(label, &mut checked.losses);
        }
        if self.flat || self.edit_args.json {
            let line = match self.flat {
                true => {
                    let origin = SessionOrigin::of(label, format, session);
                    report::row(&origin, &checked, rules.as_ref(), strict, &mut places)
                }
                false => report::summary(label, session, &checked, rules.as_ref(), strict),
            };
            return Ok(out
                .write_all(line.as_bytes())
                .map_err(|error| Error::io("cannot write", error))?);
        }
        let reported = checked.iter().map(CheckedSession::describe);
        for reported in reported.chain(rules.iter().map(RuleCheck::describe)) {
            context.output.notice(label, &reported);
        }
        Ok(())
    }

    fn fix(
        &self,
        context: &Context,
        inputs: &[InputLocation],
        api: Api,
        options: &CheckOptions,
        mode: Option<RepairMode>,
    ) -> anyhow::Result<()> {
        let options = RepairOptions {
            api,
            check: options,
            mode,
            warnings: true,
        };
        let edit = EditRequest {
            reports: true,
            ..EditRequest::new(&self.reading, &self.edit_args)
        };
        edit::run(context, inputs, edit, |session, event_ids| {
            let Repaired { plan, fixed } =
                repair::plan(session, &options, |content| event_ids.event(content))?;
            let left: Vec<&ApiViolation> = fixed.errors().collect();
            if !left.is_empty() {
                context.output.note_status(ErrorKind::No);
            }
            let left: Vec<String> = left
                .iter()
                .map(|finding| format!("; left: {}: {}", finding.rule.id, finding.message))
                .collect();
            let reported = |words: String| in_line(&format!("{words}{}", left.concat()));
            Ok(match plan {
                Plan::Nothing(why) | Plan::Refused(why) => Plan::Nothing(reported(why)),
                Plan::Lines(lines, words) => Plan::Lines(
                    lines,
                    reported(format!("{words}: {}", describe_changes(&fixed.changes))),
                ),
            })
        })
    }
}

/// Maximum number of changes that are listed.
const MAX_LISTED: usize = 10;

fn describe_changes(changes: &[RepairChange]) -> String {
    let mut words: Vec<String> = changes
        .iter()
        .take(MAX_LISTED)
        .map(|change| format!("{} {}", change.rule.id, change.what))
        .collect();
    if changes.len() > MAX_LISTED {
        words.push(format!("and {} more", changes.len() - MAX_LISTED));
    }
    words.join("; ")
}
