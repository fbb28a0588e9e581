//! Runs the hooks of a stored session after messages were appended to it. The change is already complete.

use crate::context::Context;
use crate::programs::hooks::ChangedSession;
use convo::error::Position;
use convo::format::report::Report;
use convo::model::event::Action;
use convo::model::health::Health;
use convo::model::json::ObjectBuilder;
use convo::model::record::Record;
use convo::model::session::Session;
use std::collections::HashSet;

/// Whether a record triggers a hook.
type HookFilter = fn(&Record<'_>) -> bool;

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
    let session = ChangedSession {
        output: &context.output,
        label,
        store: context.store_path().ok(),
        id,
    };
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
        hooks.run(&session, (kind, command), &about.finish());
    }
    if let Some(command) = &commands.health
        && let Some(about) = health(context, id, &records)
    {
        hooks.run(&session, ("health", command), &about);
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
