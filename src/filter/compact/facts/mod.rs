//! The facts of a session with tools for its next agent: found in calls and results of any format, in one pass.

mod arguments;
mod file_error;
mod files;
pub(super) mod line;
mod near_path;
mod note_units;
pub(in crate::filter) mod outcome;
mod patch;
mod plan;
mod shell_changes;
mod test_report;
pub(in crate::filter) mod tool;
mod tool_name;

use super::placeholders;
use super::state::{CompactionState, ViewEntry};
use crate::filter::summarize::handoff::{AssistantNote, Command, SessionError, SessionFacts, Success};
use crate::filter::summarize::{own_message_text, recorded_facts, without_list_mark};
use crate::model::json::{self, Dialect};
use crate::model::message::{Category, Message, Role, ToolCall};
use crate::model::session::Session;
pub(in crate::filter) use near_path::near;
use note_units::note_units;
use outcome::CallOutcome;
use std::borrow::Cow;
use std::collections::HashMap;
use tool::CallSubject;

/// Fewest and most characters of a sentence that is worth a note.
const NOTE: std::ops::RangeInclusive<usize> = 20..=400;

/// Leading sentences of a message that count as its conclusion.
const CONCLUDING: usize = 3;

/// Most characters of an error's line.
const ERROR: usize = 240;

/// The facts that the view will not show in full; `stays` returns whether an item is kept.
pub fn of<'w>(work: &'w CompactionState<'_>, stays: &dyn Fn(usize) -> bool) -> SessionFacts<'w> {
    read(work, stays, u64::MAX)
}

/// Like [`of`], but stops when requests and notes have this many bytes.
fn read<'w>(work: &'w CompactionState<'_>, stays: &dyn Fn(usize) -> bool, enough: u64) -> SessionFacts<'w> {
    let mut reading = FactReader {
        work,
        facts: SessionFacts::default(),
        results: first_results(work),
        place: working_directory(work.session),
        stays,
        running: HashMap::new(),
        recorded: SessionFacts::default(),
        was_recorded: false,
        has_kept_request: false,
        newest_reply: 0,
        bytes: 0,
    };
    let summary = work
        .summary_item
        .and_then(|at| work.view.items[at].summary(work.session));
    if let Some(summary) = summary {
        reading.recorded = recorded_facts(&summary);
    }
    // Without a call there is nothing to hand over.
    let calls = |entry: &ViewEntry| entry.traits.is_some_and(|traits| traits.calls);
    let end = if work.items.iter().any(calls) {
        work.items.len()
    } else {
        0
    };
    for at in (0..end).filter(|at| work.items[*at].atom().is_some()) {
        let Some(message) = work.view.items[at].message(work.session) else {
            continue;
        };
        reading.take(at, &message, &|at| stays(at) && is_original(work, at));
        if reading.bytes >= enough {
            break;
        }
    }
    reading.conclude();
    reading.facts
}

/// The result of each call, by caller and index among its calls; the first if there are several.
fn first_results(work: &CompactionState<'_>) -> HashMap<(usize, usize), usize> {
    let mut results = HashMap::new();
    for (at, owner) in &work.owners {
        let first = results.entry((owner.caller, owner.nth)).or_insert(*at);
        *first = (*first).min(*at);
    }
    results
}

/// Whether there are facts to hand over: a file, a command or a plan.
pub fn hands_over(work: &CompactionState<'_>) -> bool {
    let calls = |at: &usize| {
        let entry = &work.items[*at];
        entry.atom().is_some() && entry.traits.is_some_and(|traits| traits.calls)
    };
    let mut calling = (0..work.items.len()).filter(calls);
    calling.any(|at| {
        let message = work.view.items[at].message(work.session);
        let calls = message.map(|message| message.tool_calls()).unwrap_or_default();
        calls.iter().any(|call| match tool::read(call).1 {
            CallSubject::Files(files) => !files.is_empty(),
            CallSubject::Command(_) => true,
            CallSubject::Plan(steps) => !steps.is_empty(),
            CallSubject::Other => false,
        })
    })
}

/// Bytes of all facts that could be handed over; stops counting at about `enough`.
pub fn bytes(work: &CompactionState<'_>, enough: u64) -> u64 {
    read(work, &|_| false, enough).bytes()
}

/// Whether an item has its original text and calls.
fn is_original(work: &CompactionState<'_>, at: usize) -> bool {
    let (Some(now), Some(was)) = (work.message(at), work.view.items[at].message(work.session)) else {
        return true;
    };
    !work.is_changed(at) || (now.content == was.content && now.tool_calls == was.tool_calls)
}

/// The working directory of the session, from its metadata.
pub(in crate::filter) fn working_directory(session: &Session) -> Option<String> {
    let metadata = session.header_member("metadata")?;
    let own = |raw: &[u8]| json::member_string(raw, "cwd");
    own(metadata).or_else(|| {
        let members = json::members(metadata, Dialect::Strict)?;
        members.into_iter().find_map(|(_, value)| own(value))
    })
}

struct FactReader<'w, 's, 'f> {
    work: &'w CompactionState<'s>,
    /// Whether the view keeps an item, at least in part.
    stays: &'f dyn Fn(usize) -> bool,
    facts: SessionFacts<'w>,
    /// The result of each call.
    results: HashMap<(usize, usize), usize>,
    place: Option<String>,
    /// Tool name and text of each command that is still running, by the id of its process.
    running: HashMap<String, (String, String)>,
    /// The facts of an earlier summary.
    recorded: SessionFacts<'static>,
    /// Whether the summary may include the current call: an earlier compaction shortened it or its result.
    was_recorded: bool,
    /// Whether a request is kept, at least in part.
    has_kept_request: bool,
    /// The index of the newest reply's first note.
    newest_reply: usize,
    /// Bytes of requests and notes.
    bytes: u64,
}

/// Beginning of a summary that Claude Code writes as a message.
const CONTINUED: &str = "This session is being continued";

impl<'w> FactReader<'w, '_, '_> {
    fn take(&mut self, at: usize, message: &Message<'w>, shows: &dyn Fn(usize) -> bool) {
        match message.role() {
            Role::User => {
                // The output of a command that the user ran asks for nothing.
                if matches!(message.category(), Category::Context | Category::SystemOutput) {
                    return;
                }
                for part in message.texts() {
                    if part.trim_start().starts_with(CONTINUED) && !shows(at) {
                        self.facts.add_lines_of_summary(&part);
                    }
                }
                let own = own_message_text(message);
                if own.trim().is_empty() {
                    return;
                }
                self.conclude();
                self.has_kept_request |= (self.stays)(at);
                if !shows(at) {
                    self.bytes += own.len() as u64;
                    self.facts.requests.push(own);
                }
            }
            Role::Assistant => {
                self.facts.continues_request |= self.has_kept_request && !(self.stays)(at);
                self.reply(at, message.text(), shows(at));
                for (nth, call) in message.tool_calls().iter().enumerate() {
                    if let Some(text) = tool::reply(call) {
                        self.reply(at, Cow::Owned(text.into_owned()), shows(at));
                        continue;
                    }
                    let result = self.results.get(&(at, nth)).copied();
                    self.was_recorded = [Some(at), result]
                        .into_iter()
                        .flatten()
                        .any(|at| self.was_shortened(at));
                    if !self.continues(call, result, shows(at), shows) {
                        self.call(call, result, shows(at), shows);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an item was shortened before this compaction.
    fn was_shortened(&self, at: usize) -> bool {
        let body = self.work.view.items[at].body(self.work.session);
        memchr::memmem::find(body, placeholders::BEGINNING.as_bytes()).is_some()
    }

    /// Adds a text of the assistant.
    fn reply(&mut self, at: usize, text: Cow<'w, str>, is_shown: bool) {
        if text.trim().is_empty() {
            return;
        }
        self.newest_reply = self.facts.notes.len();
        if !is_shown {
            self.note(at, text.clone());
        }
        // A kept reply shows its beginning and end even if it is shortened.
        self.facts.reply = (!(self.stays)(at)).then_some(text);
    }

    /// Marks the first notes of the newest reply as conclusions: a request follows, or the session ends.
    fn conclude(&mut self) {
        let notes = self.facts.notes.iter_mut().skip(self.newest_reply);
        notes.take(CONCLUDING).for_each(|note| note.concludes = true);
    }

    /// Adds the sentences of a message, except those that its shortened form in the view shows.
    fn note(&mut self, at: usize, text: Cow<'w, str>) {
        let known = self.facts.notes.len();
        let message = (self.stays)(at).then(|| self.work.message(at)).flatten();
        let shown = message.map_or_else(String::new, |message| {
            let mut shown = message.text().into_owned();
            let calls = message.tool_calls();
            shown.extend(calls.iter().filter_map(tool::reply));
            shown
        });
        let sentences = note_units(&text, *NOTE.end()).into_iter().filter_map(|range| {
            let sentence = &text[range.clone()];
            let bare = without_list_mark(sentence);
            let says = NOTE.contains(&bare.chars().count())
                && !bare.starts_with(placeholders::BEGINNING)
                && !shown.contains(bare);
            says.then_some(range.end - bare.len()..range.end)
        });
        self.facts.notes.extend(sentences.map(|range| AssistantNote {
            text: match &text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
                Cow::Owned(text) => Cow::Owned(text[range].to_string()),
            },
            concludes: false,
        }));
        let notes = self.facts.notes[known..]
            .iter()
            .map(|note| note.text.len() as u64);
        self.bytes += notes.sum::<u64>();
    }

    /// Attributes the result of a call that reads from a running process to its command; returns false for any other
    /// call.
    fn continues(
        &mut self,
        call: &ToolCall<'w>,
        result: Option<usize>,
        is_call_shown: bool,
        shows: &dyn Fn(usize) -> bool,
    ) -> bool {
        if self.running.is_empty() {
            return false;
        }
        let process = tool::process(call);
        let Some((process, (name, text))) = process.and_then(|id| self.running.remove_entry(&id)) else {
            return false;
        };
        let message = result.and_then(|at| self.work.described(at));
        let outcome = message
            .as_ref()
            .map(|message| CallOutcome::of_command(message, &text));
        let outcome = outcome.unwrap_or_default();
        let is_result_shown = result.is_none_or(shows);
        let is_shown = is_call_shown && is_result_shown;
        if !is_shown || self.facts.commands.known(&text).is_some() {
            let known = self.facts.commands.seen(&text);
            if outcome.has_ended() || outcome.process.is_some() {
                let last = outcome.last_line();
                if !last.is_empty() {
                    known.last_line = Cow::Owned(last.to_string());
                }
            }
            if outcome.has_ended() {
                known.failure = outcome.result(ERROR);
            }
        }
        if !outcome.has_ended() {
            self.running.insert(process, (name, text));
        } else if outcome.failed {
            self.fail(&name, &text, &outcome, is_result_shown);
        } else {
            self.succeed(Success::Command(text), is_shown);
        }
        true
    }

    /// Adds an error with the tool, its subject and the line that explains the failure.
    fn fail(&mut self, name: &str, subject: &str, outcome: &CallOutcome<'_>, is_shown: bool) {
        if !is_shown && outcome.explains_failure() {
            let error = SessionError::new(name, subject, outcome.failure(ERROR));
            self.facts.errors.push(error);
        }
    }

    /// Resolves the errors before a successful call.
    fn succeed(&mut self, success: Success, is_shown: bool) {
        self.facts.errors.resolve(&success);
        if is_shown {
            self.facts.kept_successes.push(success);
        }
    }

    fn call(
        &mut self,
        call: &ToolCall<'w>,
        result: Option<usize>,
        is_call_shown: bool,
        shows: &dyn Fn(usize) -> bool,
    ) {
        let message = result.and_then(|at| self.work.described(at));
        let (name, subject) = tool::read(call);
        let outcome = message
            .as_ref()
            .map(|message| CallOutcome::of_call(message, &subject));
        let is_result_shown = result.is_none_or(shows);
        let is_shown = is_call_shown && is_result_shown;
        let done = outcome.as_ref().filter(|outcome| !outcome.failed);
        if let Some(step) = done.and_then(|outcome| tool::step(call, outcome.text())) {
            self.facts.step(step);
            return;
        }
        match subject {
            CallSubject::Files(files) => {
                let files = files.into_iter();
                let files =
                    files.map(|(change, path)| (change, near(self.place.as_deref(), &path).to_string()));
                let files: Vec<_> = files.collect();
                if let Some(outcome) = outcome.as_ref().filter(|outcome| outcome.failed) {
                    // The output of a patch names the file that it does not apply to.
                    let named = files
                        .iter()
                        .find(|(_, path)| outcome.text().contains(path.as_str()));
                    let subject = named.or(files.first()).map_or("", |(_, path)| path);
                    self.fail(&name, subject, outcome, is_result_shown);
                }
                let failed = outcome.map(|outcome| outcome.failed);
                files
                    .into_iter()
                    .for_each(|(change, path)| self.file(change, path, failed, is_shown));
            }
            CallSubject::Command(text) => {
                self.command(&name, text.trim(), outcome, is_shown, is_result_shown);
            }
            CallSubject::Plan(steps) => {
                self.fail_if(&name, outcome, is_result_shown);
                // The calls of a kept message show the newest plan instead of an older one.
                self.facts.plan = Some(if is_call_shown { Vec::new() } else { steps });
            }
            CallSubject::Other => {
                self.fail_if(&name, outcome, is_result_shown);
                if !is_shown && !name.is_empty() {
                    *self.facts.tools.seen(&name) += 1;
                }
            }
        }
    }

    /// Adds the error of a tool without a subject.
    fn fail_if(&mut self, name: &str, outcome: Option<CallOutcome<'_>>, is_shown: bool) {
        if let Some(outcome) = outcome.filter(|outcome| outcome.failed) {
            self.fail(name, "", &outcome, is_shown);
        }
    }

    fn command(
        &mut self,
        name: &str,
        text: &str,
        outcome: Option<CallOutcome<'_>>,
        is_shown: bool,
        is_result_shown: bool,
    ) {
        let has_result = outcome.is_some();
        let outcome = outcome.unwrap_or_default();
        if let Some(process) = &outcome.process {
            let command = (name.to_string(), text.to_string());
            self.running.insert(process.clone(), command);
        } else if outcome.failed && !outcome.only_looks() {
            self.fail(name, text, &outcome, is_result_shown);
        } else if has_result && !outcome.failed {
            self.succeed(Success::Command(text.to_string()), is_shown);
        }
        for change in shell_changes::changes(text, outcome.failed) {
            self.shell_change(change, is_shown);
        }
        let failure = outcome.result(ERROR);
        let includes_run = || {
            self.recorded
                .include_run(text, failure.as_deref(), outcome.last_line())
        };
        let is_recorded = self.was_recorded && includes_run();
        if !is_shown && !is_recorded {
            let known = self.facts.commands.seen(text);
            *known = Command {
                runs: known.runs + 1,
                failure,
                last_line: Cow::Owned(outcome.last_line().to_string()),
                changes_before: self.facts.changes,
                is_resolved: false,
            };
        }
    }
}
