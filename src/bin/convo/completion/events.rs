//! Completes ids within the session that the command line names; `at` is the index of the word to complete.

use crate::args::Global;
use crate::context::Context;
use clap_complete::engine::CompletionCandidate as Candidate;
use convo::filter::restore;
use convo::format::report::Report;
use convo::model::event::Action;
use convo::model::session::Session;
use std::ffi::OsString;

/// Loads the session that another word of the line names.
fn session(global: &Global, words: &[OsString], at: usize) -> Option<Session> {
    let context = Context::new(global).ok()?;
    let store = context.store().ok()?;
    let others = words.iter().enumerate().skip(2);
    let others = others.filter(|(nth, _)| *nth != at);
    let mut names = others.filter_map(|(_, word)| word.to_str().filter(|word| !word.starts_with('-')));
    let id = names.find_map(|name| store.resolve(name).ok())?;
    store.load(&id, &mut Report::default()).ok()
}

/// Ids whose originals `expand` can print: events, and messages with a placeholder.
pub fn elided(global: &Global, words: &[OsString], at: usize) -> Vec<Candidate> {
    let Some(session) = session(global, words, at) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for index in session.live_events() {
        let record = session.record(index);
        let Some(event) = record.event() else { continue };
        let edited: Vec<String> = match event.action() {
            Action::Compact(compact) => compact.edit.iter().map(|edit| edit.of.id.to_string()).collect(),
            Action::Summary(_) => Vec::new(),
            _ => continue,
        };
        let help = |what: &str| Some(what.to_string().into());
        let own = event
            .id()
            .map(|id| Candidate::new(id.into_owned()).help(help(&event.name())));
        found.extend(own);
        found.extend(
            edited
                .into_iter()
                .map(|id| Candidate::new(id).help(help("message"))),
        );
    }
    found
}

/// Events that can be undone, newest first.
pub fn undoable(global: &Global, words: &[OsString], at: usize) -> Vec<Candidate> {
    let changes = session(global, words, at).map(|session| restore::changes(&session));
    let changes = changes.into_iter().flatten().rev();
    changes
        .map(|(id, kind)| Candidate::new(id).help(Some(kind.into())))
        .collect()
}
