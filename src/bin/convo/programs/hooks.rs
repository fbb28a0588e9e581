//! Hooks: configured commands that run after a change of a stored session. The change is already complete; a failed
//! hook only causes a warning.

use crate::config;
use crate::context::Context;
use crate::programs::external_program::{ExternalProgram, ProgramName, RunOptions};
use convo::error::Position;
use convo::format::report::Report;
use convo::model::event::Action;
use convo::model::health::Health;
use convo::model::json::ObjectBuilder;
use convo::model::record::Record;
use convo::model::session::Session;
use std::collections::{BTreeMap, HashSet};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Default time limit; `hook-timeout` changes it.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Set in the environment of a hook, so that its own changes run no hooks.
pub const DISABLED: &str = "CONVO_NO_HOOKS";

/// Variables that hold an API key or name its file.
const SERVICE_KEYS: [&str; 4] = [
    "CONVO_LLM_KEY",
    "CONVO_LLM_KEY_FILE",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
];

/// Maximum output of a hook in bytes; it is discarded.
const MAXIMUM: usize = 16 << 20;

/// Whether a record triggers a hook.
type HookFilter = fn(&Record<'_>) -> bool;

/// The hooks of a run.
pub struct Hooks {
    commands: config::Hooks,
    timeout: Duration,
    /// Hooks that ran; cached because a process can register signal handlers only a few times.
    programs: RwLock<BTreeMap<&'static str, ExternalProgram>>,
}

impl Hooks {
    /// Creates the hooks from the configuration.
    pub fn new(commands: config::Hooks, timeout: Duration) -> Hooks {
        Hooks {
            commands,
            timeout,
            programs: RwLock::default(),
        }
    }
}

/// Runs the hooks for lines added to a stored session; `label` is its name in messages.
pub fn after<'l>(context: &Context, label: &str, id: &str, lines: impl IntoIterator<Item = &'l [u8]>) {
    let Some(hooks) = context.hooks() else { return };
    let lines: Vec<&[u8]> = lines.into_iter().collect();
    if lines.is_empty() {
        return;
    }
    let place = Position { line: 1, offset: 1 };
    let records: Vec<Record<'_>> = lines.iter().map(|line| Record::parse(line, place)).collect();
    let commands = &hooks.commands;
    let kinds: [(&'static str, &Option<String>, HookFilter); 3] = [
        ("append", &commands.append, |record| record.message().is_some()),
        ("compact", &commands.compact, |record| {
            matches!(action(record), Some(Action::Compact(_)))
        }),
        ("summarize", &commands.summarize, |record| match action(record) {
            Some(Action::Summary(_)) => true,
            Some(Action::Compact(compact)) => matches!(compact.summary, Some(Some(_))),
            _ => false,
        }),
    ];
    for (kind, command, concerns) in kinds {
        let Some(command) = command else { continue };
        let concerned: Vec<&[u8]> = records
            .iter()
            .filter(|record| concerns(record))
            .map(|record| record.body)
            .collect();
        if concerned.is_empty() {
            continue;
        }
        let mut about = about(context, kind, id);
        about.raw("records", [&b"["[..], &concerned.join(&b','), b"]"].concat());
        hooks.run(context, label, id, (kind, command), &about.finish());
    }
    if let Some(command) = &commands.health
        && let Some(about) = health(context, id, &records)
    {
        hooks.run(context, label, id, ("health", command), &about);
    }
}

fn action<'r>(record: &'r Record<'_>) -> Option<Action<'r>> {
    record.event().map(|event| event.action())
}

fn about(context: &Context, kind: &str, id: &str) -> ObjectBuilder {
    let mut object = ObjectBuilder::default();
    object
        .text("schema", "convo.hook/1")
        .text("hook", kind)
        .text("session", id)
        .text("at", &context.clock.now());
    object
}

/// The message about a change of the session's health by these records; none without a change.
fn health(context: &Context, id: &str, added: &[Record<'_>]) -> Option<Vec<u8>> {
    let added: HashSet<String> = added.iter().filter_map(event_id).collect();
    let session = context.store().ok()?.load(id, &mut Report::default()).ok()?;
    let mut before = Session::default();
    for index in 0..session.len() {
        let record = session.record(index);
        if event_id(&record).is_none_or(|id| !added.contains(&id)) {
            before.push(&record);
        }
    }
    let now = context.clock.now();
    let after = Health::of(&session);
    let (from, to) = (Health::of(&before).state(&now), after.state(&now));
    if from == to {
        return None;
    }
    let mut about = about(context, "health", id);
    about
        .text("from", from.name())
        .text("to", to.name())
        .raw("failures", after.failures.to_string());
    if let Some(next) = &after.next_attempt_at {
        about.text("next_attempt_at", next);
    }
    if let Some(why) = &after.why {
        about.text("why", why);
    }
    Some(about.finish())
}

fn event_id(record: &Record<'_>) -> Option<String> {
    let id = match record.message() {
        Some(message) => message.id(),
        None => record.event()?.id(),
    };
    id.map(|id| id.into_owned())
}

impl Hooks {
    fn run(
        &self,
        context: &Context,
        label: &str,
        id: &str,
        (kind, command): (&'static str, &str),
        about: &[u8],
    ) {
        let failed = |why: &str| {
            let what = format!("hook '{kind}' failed: {why}; the change is stored");
            context.output.notice(label, &what);
        };
        let mut programs = self.programs.write().unwrap_or_else(PoisonError::into_inner);
        if !programs.contains_key(kind) {
            match ProgramName::Shell(command.to_string()).program(context, "hook", &[]) {
                Ok(mut program) => {
                    program.env("CONVO_HOOK", kind);
                    program.env(DISABLED, "1");
                    SERVICE_KEYS.iter().for_each(|name| program.without(name));
                    programs.insert(kind, program);
                }
                Err(error) => return failed(&error.message),
            }
        }
        let Some(program) = programs.get_mut(kind) else {
            return;
        };
        program.env("CONVO_SESSION", id);
        let requested = RunOptions {
            timeout: self.timeout,
            most: MAXIMUM,
            listen: &mut |_| {},
        };
        if let Err(failure) = program.ask(&[about, b"\n"].concat(), requested) {
            failed(&failure.why);
            if let Some(interrupted) = failure.interrupted {
                interrupted.end_program();
            }
        }
    }
}
