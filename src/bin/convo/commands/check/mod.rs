//! `check`: whether a session is valid for a provider's API.

mod options;
mod report;

use super::Run;
use crate::args::{EditArgs, Input, InputArgs};
use crate::context::Context;
use crate::edit::{self, Edit};
use crate::input::each_session_and_format;
use crate::output::in_line;
use crate::provider_request;
use crate::writing::tell_dangling;
use clap::Args;
use convo::check::{Api, Change, Finding, Level, Mode, Options, Rule};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::repair::{self, How, Repaired};
use convo::format::Format;
use convo::model::json;
use convo::model::session::Session;
use convo::model::view::View;
use options::RequestOptions;
use report::{Checked, Places};

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
#[derive(Args, Debug)]
#[command(mut_arg("force", |option| option.hide_short_help(true)))]
#[command(before_long_help = "Examples:
  convo check session.jsonl                              structure, and the API of the format
  convo check --for anthropic chat                       a stored session
  convo check --for openai-chat request.json             a request, without conversion
  convo check --for gemini --json chat | jq -r '.rule // empty'   ids of the violated rules
  convo check --for openai-chat --fix chat               repair; undo with: convo restore chat
  convo check --for openai-chat --fix=drop -i log.jsonl  in place, dropping unanswered calls")]
pub struct Check {
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
    fix: Option<Option<Mode>>,
    #[command(flatten)]
    request: RequestOptions,
    #[command(flatten)]
    reading: InputArgs,
    #[command(flatten)]
    changing: EditArgs,
}

/// The API that the input's format belongs to; a native session has the one of the file that it was read from.
fn api_of(format: Format, session: &Session) -> Option<Api> {
    let source = || {
        let (_, source) = session.header().into_iter().find(|(name, _)| name == "source")?;
        let name = json::member(&source, "format").and_then(json::text)?;
        Format::from_name(&name)
    };
    match format {
        Format::Native => source()?.sent_to(),
        format => format.sent_to(),
    }
}

fn mode(name: &str) -> Result<Mode, String> {
    let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
    mode.ok_or_else(|| "expected drop, stub or text".to_string())
}

impl Run for Check {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.changing.json);
        self.request.check(self.api)?;
        let options = self.request.options();
        let inputs = context.inputs(&self.inputs)?;
        match (self.fix, self.api) {
            (Some(mode), Some(api)) => self.fix(context, &inputs, api, &options, mode),
            (Some(_), None) => {
                let error = Error::new(Kind::Usage, "--fix requires --for");
                Err(error.hint("name the API with --for anthropic").into())
            }
            (None, _) => self.check(context, &inputs, options),
        }
    }
}

impl Check {
    fn check(&self, context: &Context, inputs: &[Input], mut options: Options) -> anyhow::Result<()> {
        let EditArgs {
            in_place,
            stdout,
            dry_run,
            writing,
            ..
        } = &self.changing;
        if in_place.is_some() || *stdout || *dry_run || writing.to.is_some() || writing.output.is_some() {
            let error = Error::new(Kind::Usage, "-i, -n, -o, --to and --stdout require --fix");
            return Err(error.hint("repair violations with --fix").into());
        }
        if self.api.is_none() {
            // A session at rest may end with a call, and which model it goes to is not known.
            options.open_end = true;
            let signatures = Rule::of("GE07").map(|rule| (rule, Level::Warn));
            options.levels.splice(0..0, signatures);
        }
        context.output.stdout(|out| {
            each_session_and_format(context, inputs, &self.reading, |label, format, session| {
                let view = View::replay(&session);
                tell_dangling(context, label, &session, &view);
                let apis = match self.api {
                    Some(api) => vec![Some(api)],
                    None => [None]
                        .into_iter()
                        .chain(api_of(format, &session).map(Some))
                        .collect(),
                };
                let checked = apis
                    .into_iter()
                    .map(|api| Checked::new(api, &session, &view, &options));
                let mut checked = checked.collect::<convo::Result<Vec<_>>>()?;
                let mut places = Places::new(&session, &view);
                for (checked, finding) in checked.iter().flat_map(Checked::each) {
                    let place = places.of(checked.item(finding));
                    let line = if self.changing.json {
                        report::finding(label, &session, finding, place)
                    } else {
                        report::line(label, finding, place)
                    };
                    out.write_all(line.as_bytes())
                        .map_err(|error| Error::io("cannot write", error))?;
                }
                if checked
                    .iter()
                    .any(|checked| !checked.is_valid(self.reading.strict))
                {
                    context.output.note_status(Kind::No);
                }
                for checked in &mut checked {
                    context.output.report(label, &mut checked.losses);
                }
                if self.changing.json {
                    let line = report::summary(label, &session, &checked, self.reading.strict);
                    return Ok(out
                        .write_all(line.as_bytes())
                        .map_err(|error| Error::io("cannot write", error))?);
                }
                for checked in &checked {
                    context.output.tell(label, &checked.told());
                }
                Ok(())
            })
        })
    }

    fn fix(
        &self,
        context: &Context,
        inputs: &[Input],
        api: Api,
        options: &Options,
        mode: Option<Mode>,
    ) -> anyhow::Result<()> {
        let how = How {
            api,
            options,
            mode,
            warnings: true,
        };
        let edit = Edit {
            reports: true,
            ..Edit::new(&self.reading, &self.changing)
        };
        edit::run(context, inputs, edit, |session, stamps| {
            let Repaired { plan, fixed } = repair::plan(session, &how, |content| stamps.event(content))?;
            let left: Vec<&Finding> = fixed.errors().collect();
            if !left.is_empty() {
                context.output.note_status(Kind::No);
            }
            let left: Vec<String> = left
                .iter()
                .map(|finding| format!("; left: {}: {}", finding.rule.id, finding.message))
                .collect();
            let told = |words: String| in_line(&format!("{words}{}", left.concat()));
            Ok(match plan {
                Plan::Nothing(why) | Plan::Refused(why) => Plan::Nothing(told(why)),
                Plan::Lines(lines, words) => {
                    Plan::Lines(lines, told(format!("{words}: {}", whats(&fixed.changes))))
                }
            })
        })
    }
}

/// Most changes that are told one by one.
const TOLD: usize = 10;

fn whats(changes: &[Change]) -> String {
    let mut words: Vec<String> = changes
        .iter()
        .take(TOLD)
        .map(|change| format!("{} {}", change.rule.id, change.what))
        .collect();
    if changes.len() > TOLD {
        words.push(format!("and {} more", changes.len() - TOLD));
    }
    words.join("; ")
}
