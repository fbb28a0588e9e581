//! `check`: is a session valid for a provider's interface.

mod options;

use super::Run;
use crate::args::{Changing, Input, Reading};
use crate::change::{self, tell_dangling};
use crate::context::Context;
use crate::inputs::each_session;
use crate::output::{counted, in_line};
use crate::sending;
use clap::Args;
use convo::check::{Api, Change, Finding, Mode, Options, check};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::repair::{self, How, Repaired};
use convo::format::report::Report;
use convo::format::request;
use convo::model::session::Session;
use convo::model::view::{Item, View};
use options::RequestOptions;
use std::collections::HashMap;

/// Look whether a provider would take a session; --fix repairs it
///
/// Looks at the view as `context --to` would send it, and at a file of that interface as it is. Prints one line a
/// finding: where, which rule, how grave, what is wrong, and what a repair does. Ends with 1 if there was an error;
/// with --strict a warning counts as one. The rules are in convo(1).
///
/// With --fix only what breaks a rule is changed, warnings included. In the store that is one event that `restore`
/// takes back; a stream comes out repaired. What cannot be repaired is told, with status 1.
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo check --for anthropic chat                       a session of the store
  convo check --for openai-chat request.json             a file, as it is
  convo check --for gemini --json chat | jq -r .rule     which rules it breaks
  convo check --for openai-chat --fix chat               repair it; convo restore chat takes it back
  convo check --for openai-chat --fix=drop -i log.jsonl  in place, calls without a result go")]
pub struct Check {
    /// Sessions: names, files, or - for standard input [default: -]
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Whose rules: openai-chat, openai-responses, anthropic, gemini
    #[arg(long = "for", value_name = "API", value_parser = sending::api, help_heading = "How")]
    api: Api,
    /// Repair it: drop, stub or text
    ///
    /// drop takes out the smallest piece that breaks a rule, stub puts in what is missing, text makes words of a result
    /// that has lost its call. Without a mode each rule is repaired in the way that keeps most: a call without a result gets one that says
    /// `aborted`, a result without its call goes.
    #[arg(long, value_name = "MODE", value_parser = mode, help_heading = "How")]
    #[arg(num_args = 0..=1, require_equals = true)]
    fix: Option<Option<Mode>>,
    #[command(flatten)]
    request: RequestOptions,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    changing: Changing,
}

fn mode(name: &str) -> Result<Mode, String> {
    let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
    mode.ok_or_else(|| "a repair is drop, stub or text".to_string())
}

impl Run for Check {
    fn run(mut self, context: &Context) -> anyhow::Result<()> {
        self.changing.tells = true;
        context.output.speak_json(self.changing.json);
        let options = self.request.options(self.api)?;
        let inputs = Input::all(&self.inputs);
        match self.fix {
            Some(mode) => self.fix(context, &inputs, &options, mode),
            None => self.check(context, &inputs, &options),
        }
    }
}

impl Check {
    fn check(&self, context: &Context, inputs: &[Input], options: &Options) -> anyhow::Result<()> {
        let Changing {
            in_place,
            stdout,
            dry_run,
            writing,
            ..
        } = &self.changing;
        if in_place.is_some() || *stdout || *dry_run || writing.to.is_some() || writing.output.is_some() {
            let error = Error::new(Kind::Usage, "-i, -n, -o, --to and --stdout are for --fix");
            return Err(error.hint("without --fix nothing is changed").into());
        }
        context.output.stdout(|out| {
            each_session(context, inputs, &self.reading, |label, session| {
                let view = View::replay(&session);
                tell_dangling(context, label, &session, &view);
                let request = request::elements(self.api, &session, &view, &mut Report::default())?;
                let raws: Vec<&[u8]> = request
                    .elements
                    .iter()
                    .map(|element| element.raw.as_slice())
                    .collect();
                let findings = check(self.api, &raws, &repair::options_for(&request, options));
                let mut places = Places::new(&session, &view);
                for finding in &findings {
                    let items = request
                        .elements
                        .get(finding.index)
                        .map(|element| element.items.as_slice());
                    let place = places.of(items.and_then(|items| items.get(finding.part()).or(items.last())));
                    let line = if self.changing.json {
                        object(label, &session, finding, place)
                    } else {
                        line(label, finding, place)
                    };
                    out.write_all(line.as_bytes())
                        .map_err(|error| Error::io("cannot write", error))?;
                }
                self.tell(context, label, raws.len(), &findings);
                Ok(())
            })
        })
    }

    fn tell(&self, context: &Context, label: &str, elements: usize, findings: &[Finding]) {
        let errors = findings.iter().filter(|finding| finding.is_error()).count();
        let warnings = findings.len() - errors;
        if errors > 0 || self.reading.strict && warnings > 0 {
            context.output.note_status(Kind::No);
        }
        let mut words = format!("{}, {}: ", self.api.name(), counted(elements as u64, "element"));
        words.push_str(&match (errors, warnings) {
            (0, 0) => "valid".to_string(),
            (0, _) => format!("valid, {}", counted(warnings as u64, "warning")),
            _ => {
                let errors = counted(errors as u64, "error");
                let hint = "convo check --fix repairs what can be repaired";
                format!("{errors}, {} ({hint})", counted(warnings as u64, "warning"))
            }
        });
        context.output.tell(label, &words);
    }

    fn fix(
        &self,
        context: &Context,
        inputs: &[Input],
        options: &Options,
        mode: Option<Mode>,
    ) -> anyhow::Result<()> {
        let how = How {
            api: self.api,
            options,
            mode,
            warnings: true,
        };
        change::run(
            context,
            inputs,
            &self.reading,
            &self.changing,
            |session, stamps| {
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
            },
        )
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

/// Where the items of a view are, and what they are called.
struct Places<'s> {
    session: &'s Session,
    view: &'s View,
    /// Made when it is asked for.
    derived: Option<HashMap<usize, String>>,
}

impl<'s> Places<'s> {
    fn new(session: &'s Session, view: &'s View) -> Self {
        Places {
            session,
            view,
            derived: None,
        }
    }

    /// Line of the input, 0 when it has none there, and id.
    fn of(&mut self, item: Option<&usize>) -> (u64, Option<String>) {
        let Some(item) = item.and_then(|item| self.view.items.get(*item)) else {
            return (0, None);
        };
        let session = self.session;
        let line = match item {
            Item::Line(index) | Item::Edited(index, _) | Item::Summary(index) => Some(*index),
            Item::Inserted(_) => None,
        };
        let own = match item {
            Item::Summary(index) => session
                .record(*index)
                .event()
                .and_then(|event| event.id())
                .map(|id| id.into_owned()),
            _ => item
                .message(session)
                .and_then(|message| Some(message.id()?.into_owned())),
        };
        let id = own.or_else(|| {
            let derived = self
                .derived
                .get_or_insert_with(|| session.derived_ids().collect());
            derived.get(&line?).cloned()
        });
        (line.map_or(0, |line| session.record(line).place.line), id)
    }
}

fn line(label: &str, finding: &Finding, (line, id): (u64, Option<String>)) -> String {
    let place = if line > 0 {
        format!("{line}:")
    } else {
        String::new()
    };
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    let Finding {
        rule, level, message, ..
    } = finding;
    let text = format!(
        "{label}:{place} {} {}: {message}{id}; fix: {}",
        rule.id,
        level.name(),
        rule.fix
    );
    format!("{}\n", in_line(&text))
}

fn object(label: &str, session: &Session, finding: &Finding, (line, id): (u64, Option<String>)) -> String {
    let mut row = serde_json::json!({
        "schema": "convo.check/1", "input": label, "session": session.header_text("id"), "rule": finding.rule.id,
        "level": finding.level.name(), "api": finding.api.name(), "index": finding.index, "id": id,
        "message": finding.message, "fix": finding.rule.fix,
    });
    if line > 0 {
        row["line"] = line.into();
    }
    format!("{row}\n")
}
