//! Compacts a session with a summary from an external program, in two steps. [`draft`] decides which messages to drop,
//! reserves tokens for the summary and returns the request, which contains all dropped messages. [`finish`] inserts the
//! answer if those messages have not changed. If no summary fits, nothing is dropped.

use super::super::compact::event::{CompactionInfo, Size, ViewEdit};
use super::super::compact::state::{CompactionState, summary_cost};
use super::super::compact::summary::MINIMUM;
use super::super::compact::{
    self, ChosenChange, CompactionOutcome, CompactionReport, LevelAlgorithm, NO_GAIN, build_event,
    choose_changes, describe_change,
};
use super::super::summarize::SummaryFailure;
use super::super::{Plan, Stamp};
use super::apply::{SummaryAnswer, accept, changed};
use super::request::{ChunkedRequest, MessagesToSummarize, SEAM, SummaryRequestOptions};
use super::standing_instructions::with_pins;
use crate::error::{Error, ErrorKind, Result};
use crate::model::exchange::Cuts;
use crate::model::key;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::tokens::Counter;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The result of the first step.
#[derive(Clone, Debug)]
pub enum DraftResult {
    /// No summary is needed.
    Done(CompactionOutcome),
    /// A summary of the dropped messages is needed.
    Asks(Box<CompactionDraft>),
}

/// A planned compaction that waits for its summary.
#[derive(Clone, Debug)]
pub struct CompactionDraft {
    /// The request for the summary.
    pub request: ChunkedRequest,
    /// The change to each message group; sizes assume a summary of maximum length.
    pub report: CompactionReport,
    /// The smallest size that can be reached, if the budget cannot.
    pub smallest: Option<u64>,
    reshaping: ViewEdit,
    strategy: &'static str,
    /// Fingerprint of the compacted view.
    print: String,
    /// Tokens reserved for the summary, including its frame.
    room: u64,
    /// Tokens of the messages that it replaces.
    covered: u64,
}

impl CompactionDraft {
    /// Describes the largest possible result, for a dry run.
    pub fn largest_result(&self) -> CompactionOutcome {
        let what = describe_change(&self.report.was, &self.report.now);
        let ids = self.request.ids.len();
        CompactionOutcome {
            plan: Plan::Lines(
                Vec::new(),
                format!("{what} at most; would request a summary of {ids} messages"),
            ),
            report: self.report.clone(),
            smallest: self.smallest,
        }
    }
}

/// Plans the compaction, step by step, and the request for its summary.
///
/// # Errors
/// See [`compact::plan`]; also [`ErrorKind::No`] if messages must be dropped but no summary of them fits, and
/// [`ErrorKind::Usage`] if a chunk is too small for messages.
pub fn draft(
    session: &Session,
    counter: Counter,
    options: &compact::CompactOptions,
    asking: &SummaryRequestOptions,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<DraftResult> {
    let options = &compact::CompactOptions {
        asks: true,
        choice: LevelAlgorithm::Tiered,
        ..options.clone()
    };
    let view = View::replay(session);
    let (mut work, smallest) = match choose_changes(session, &view, counter, options)? {
        ChosenChange::Nothing(outcome) => return Ok(DraftResult::Done(outcome)),
        ChosenChange::Change(work, smallest) => (*work, smallest),
    };
    let left: Vec<usize> = (0..work.items.len())
        .filter(|at| work.is_dropped(*at) && !work.is_digested(*at))
        .collect();
    let Some((summary, room)) = &mut work.summary else {
        if left.is_empty() && !work.has_lost_summary() {
            return build_event(work, smallest, options, stamp).map(DraftResult::Done);
        }
        return Err(no_space_for_summary(&work));
    };
    // The request also covers messages dropped after the old summary.
    summary.covers = work
        .summary_item
        .into_iter()
        .chain(left.iter().copied())
        .collect();
    let (covers, room) = (summary.covers.clone(), *room);
    let mut sha = Sha256::new();
    covers
        .iter()
        .for_each(|at| hash_item(&mut sha, session, &view.items[*at]));
    let wanted = MessagesToSummarize {
        items: &left,
        stays: &|at| !work.is_dropped(at),
        sha256: key::hex(&sha.finalize()),
        budget: room - summary_cost(counter, "").min(room),
        whole: options.budget,
        style: &options.style,
    };
    let request = ChunkedRequest::new(session, &work, wanted, asking)?;
    if request.budget < MINIMUM {
        return Err(no_space_for_summary(&work));
    }
    Ok(DraftResult::Asks(Box::new(CompactionDraft {
        request,
        report: CompactionReport::of(&work, None, options.explains),
        smallest,
        strategy: options.name(),
        print: print(session, &view, view.items.len()),
        room,
        covered: covers.iter().map(|at| work.items[*at].before).sum(),
        reshaping: work.into_reshaping(),
    })))
}

/// Inserts the answer. Messages appended since the request remain in view after everything else.
///
/// # Errors
/// [`ErrorKind::Locked`] if the compacted messages have changed; [`ErrorKind::Unavailable`] if the text is blank, too long, or
/// not shorter than the messages that it replaces.
pub fn finish(
    session: &Session,
    counter: Counter,
    options: &compact::CompactOptions,
    draft: &CompactionDraft,
    answer: &SummaryAnswer,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<CompactionOutcome> {
    accept(&answer.text, Some(draft.request.budget + SEAM), counter)?;
    let view = View::replay(session);
    let known = draft.reshaping.changes.len();
    if view.items.len() < known || print(session, &view, known) != draft.print {
        return Err(changed("the compacted messages have changed"));
    }
    let mut reshaping = draft.reshaping.clone();
    let Some(summary) = &mut reshaping.summary else {
        return Err(changed("the summary belongs to another compaction"));
    };
    summary.content = with_pins(&answer.text, &draft.request.pins);
    summary.by.clone_from(&answer.by);
    let tokens = summary_cost(counter, &summary.content);
    let failure = if tokens > draft.room {
        let budget = draft.room;
        Some(SummaryFailure::OverBudget { tokens, budget })
    } else if tokens >= draft.covered {
        let covered = draft.covered;
        Some(SummaryFailure::NotShorter { tokens, covered })
    } else {
        None
    };
    if let Some(failure) = failure {
        return Err(Error::new(ErrorKind::Unavailable, failure.to_string()));
    }
    let work = CompactionState::new(session, &view, counter, &HashSet::new());
    if parts(session, &view, &reshaping, known) {
        return Err(changed("a summarized call received a result"));
    }
    let new = Size {
        messages: (work.items.len() - known) as u64,
        tokens: work.items[known..].iter().map(|entry| entry.now).sum(),
    };
    let with_new = |size: Size| Size {
        messages: size.messages + new.messages,
        tokens: size.tokens + new.tokens,
    };
    let (was, mut now) = (with_new(draft.report.was), with_new(draft.report.now));
    now.tokens = now.tokens - draft.room + tokens;
    let mut report = CompactionReport {
        was,
        now,
        ..draft.report.clone()
    };
    if !options.gains(was.tokens, now.tokens, || 0) {
        report.reason = Some(NO_GAIN.to_string());
        return Ok(CompactionOutcome {
            plan: Plan::Nothing(NO_GAIN.to_string()),
            report,
            smallest: draft.smallest,
        });
    }
    reshaping
        .changes
        .resize(view.items.len(), compact::event::ItemChange::Keep);
    let about = CompactionInfo {
        strategy: draft.strategy.to_string(),
        sizes: Some((counter.tokenizer().name().to_string(), was, now)),
    };
    let stamp = stamp(&about.strategy)?;
    let line = reshaping.event(session, &view, &about, &stamp)?;
    Ok(CompactionOutcome {
        plan: Plan::Lines(vec![line], describe_change(&was, &now)),
        report,
        smallest: draft.smallest,
    })
}

/// The error if messages must be dropped but no summary of them fits.
fn no_space_for_summary(work: &CompactionState<'_>) -> Error {
    let frame = summary_cost(work.counter, "");
    let what = format!(
        "the budget is too small for a summary of the dropped messages: expected at least {} tokens",
        frame + MINIMUM
    );
    Error::new(ErrorKind::No, what)
        .hint("raise --budget, or drop the messages without a summary with --with none")
}

/// Fingerprint of the first items of a view: their line numbers and contents.
fn print(session: &Session, view: &View, items: usize) -> String {
    let mut sha = Sha256::new();
    for item in &view.items[..items] {
        sha.update(item.line().map_or(u64::MAX, |line| line as u64).to_le_bytes());
        hash_item(&mut sha, session, item);
    }
    key::hex(&sha.finalize())
}

fn hash_item(sha: &mut Sha256, session: &Session, item: &Item) {
    sha.update(item.body(session));
    sha.update(b"\n");
}

/// Whether an appended message belongs to a message group that is dropped.
fn parts(session: &Session, view: &View, reshaping: &ViewEdit, known: usize) -> bool {
    let cuts = Cuts::of(session, view);
    let goes = |at: &usize| reshaping.changes[*at] == compact::event::ItemChange::Drop;
    let leaving: HashSet<usize> = (0..known).filter(goes).filter_map(|at| cuts.atom(at)).collect();
    (known..view.items.len())
        .filter_map(|at| cuts.atom(at))
        .any(|atom| leaving.contains(&atom))
}
