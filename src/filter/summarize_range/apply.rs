//! Replaces messages with a summary that was requested for them, if they have not changed since.

use super::super::compact::state::{CompactionState, framed_tokens};
use super::super::summarize::{Instruction, SummaryFailure, is_blank};
use super::super::{Plan, Stamp};
use super::ChunkedRequest;
use super::base_view::BaseView;
use super::event::{RangeSummary, plan};
use super::options::SummaryOptions;
use super::range::{self, CoveredRange};
use super::request::SEAM;
use super::standing_instructions::{instruction_share, pins, with_pins, without_headings};
use crate::error::{Error, ErrorKind, Result};
use crate::model::event::Action;
use crate::model::session::Session;
use crate::model::{json, key};
use crate::tokens::Counter;
use sha2::Digest;

/// A finished summary, and the request that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryAnswer {
    /// The text.
    pub text: String,
    /// The author of the text.
    pub by: String,
    /// Fingerprint of the summarized messages.
    pub sha256: String,
    /// Ids of the first and the last message that it covers; none: located by the fingerprint.
    pub covers: Option<[String; 2]>,
    /// Maximum tokens of the text; none: the limit of the options.
    pub budget: Option<u64>,
    /// Standing instructions to keep next to the text; none: determined again.
    pub pins: Option<Vec<Instruction>>,
}

impl SummaryAnswer {
    /// The answer to a request.
    pub fn to(request: &ChunkedRequest, text: String, by: String) -> SummaryAnswer {
        SummaryAnswer {
            text,
            by,
            sha256: request.sha256.clone(),
            covers: Some(request.covers.clone()),
            budget: Some(request.budget),
            pins: Some(request.pins.clone()),
        }
    }
}

/// Plans the summary. Messages appended since the request remain in view after it.
///
/// # Errors
/// [`ErrorKind::Locked`] if the summarized messages have changed; [`ErrorKind::Unavailable`] if the text is blank, too long, or
/// not shorter than the messages.
pub fn apply(
    session: &Session,
    counter: Counter,
    options: &SummaryOptions,
    answer: &SummaryAnswer,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    accept(&answer.text, answer.budget.map(|budget| budget + SEAM), counter)?;
    if let Some(content) = applied(session, &answer.sha256) {
        return match content.ends_with(&without_headings(&answer.text)) {
            true => Ok(Plan::Nothing("the summary is already applied".to_string())),
            false => Err(changed("another summary already replaces the messages")),
        };
    }
    // The request can be based on either view; the fingerprint shows which one.
    let mut found = None;
    for rolling in [true, false] {
        let base_view = BaseView::of(session, rolling);
        let work = base_view.work(session, counter);
        let items = located(session, &base_view, &work, answer);
        if let Some(items) = items {
            found = Some((base_view, items));
            break;
        }
    }
    let Some((base_view, mut items)) = found else {
        return Err(changed("the summarized messages have changed"));
    };
    let work = base_view.work(session, counter);
    let pins = match &answer.pins {
        Some(pins) => pins.clone(),
        None => {
            let budget = range::maximum_text(&work, &items, options);
            let span = CoveredRange { items, budget };
            let previous = work
                .summary_item
                .and_then(|at| work.view.items[at].summary(session));
            let room = (budget, instruction_share(&options.style, options.budget, budget));
            let pins = pins(
                &work,
                &span.is_never_dropped(),
                room,
                previous.as_deref(),
                &options.style,
            )?;
            items = span.items;
            pins
        }
    };
    let content = with_pins(&answer.text, &pins);
    if answer.budget.is_none() {
        accept(&content, Some(options.maximum_tokens()), counter)?;
    }
    let written = RangeSummary {
        items: &items,
        content: &content,
        by: &answer.by,
        sha256: answer.sha256.clone(),
    };
    plan(session, &base_view, &work, &written, options, stamp)
}

/// Refuses a text that is blank or too long.
///
/// # Errors
/// [`ErrorKind::Unavailable`].
pub fn accept(text: &str, budget: Option<u64>, counter: Counter) -> Result<()> {
    let failure = if is_blank(text) {
        SummaryFailure::Blank
    } else {
        // A text that is far too long is not counted.
        let least = text.len() as u64 / LONGEST_TOKEN;
        let tokens = match budget {
            Some(budget) if least > budget => least,
            _ => framed_tokens(counter, text),
        };
        match budget {
            Some(budget) if tokens > budget => SummaryFailure::OverBudget { tokens, budget },
            _ => return Ok(()),
        }
    };
    Err(Error::new(ErrorKind::Unavailable, failure.to_string()))
}

/// More bytes than any token of any tokenizer has.
const LONGEST_TOKEN: u64 = 512;

pub(super) fn changed(what: &str) -> Error {
    Error::new(ErrorKind::Locked, format!("the summary is outdated: {what}"))
        .hint("nothing was changed; request a new summary with: convo summarize --request")
}

/// The text of an active summary with this fingerprint.
fn applied(session: &Session, sha256: &str) -> Option<String> {
    session.live_events().into_iter().rev().find_map(|index| {
        let record = session.record(index);
        let event = record.event()?;
        let Action::Summary(summary) = event.action() else {
            return None;
        };
        let own = json::member_text(event.raw, "sha256")?;
        (own == sha256).then(|| summary.content.into_owned())
    })
}

/// Finds the items with the fingerprint of the answer: between the ends that it names, otherwise from the first item
/// that can be summarized.
fn located(
    session: &Session,
    base_view: &BaseView,
    work: &CompactionState<'_>,
    answer: &SummaryAnswer,
) -> Option<Vec<usize>> {
    let mut sha = base_view.begin(session);
    let movable = (0..work.items.len()).filter(|at| work.items[*at].atom().is_some());
    let mut items: Vec<usize> = Vec::new();
    for at in movable {
        if let Some([first, _]) = &answer.covers
            && items.is_empty()
            && work.id(at) != *first
        {
            continue;
        }
        base_view.take(&mut sha, session, at);
        items.push(at);
        let ends = match &answer.covers {
            Some([_, last]) => work.id(at) == *last,
            None => true,
        };
        if ends && key::hex(&sha.clone().finalize()) == answer.sha256 {
            return Some(items);
        }
    }
    None
}
