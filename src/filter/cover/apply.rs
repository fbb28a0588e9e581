//! Replaces messages with a summary that was requested for them, if they have not changed since.

use super::super::compact::work::{Work, shown_cost};
use super::super::summarize::{Failure, Instruction, is_blank};
use super::super::{Plan, Stamp};
use super::event::{Written, plan};
use super::ground::Ground;
use super::pins::{own, pins, share_beside, with_pins};
use super::request::SEAM;
use super::span::{self, Span};
use super::{Options, Request};
use crate::error::{Error, Kind, Result};
use crate::model::event::Action;
use crate::model::json;
use crate::model::key;
use crate::model::session::Session;
use crate::tokens::Counter;
use sha2::Digest;

/// A finished summary, and the request that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
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

impl Answer {
    /// The answer to a request.
    pub fn to(request: &Request, text: String, by: String) -> Answer {
        Answer {
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
/// [`Kind::Locked`] if the summarized messages have changed; [`Kind::Unavailable`] if the text is blank, too long, or
/// not shorter than the messages.
pub fn apply(
    session: &Session,
    counter: Counter,
    options: &Options,
    answer: &Answer,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Plan> {
    accept(&answer.text, answer.budget.map(|budget| budget + SEAM), counter)?;
    if let Some(content) = applied(session, &answer.sha256) {
        return match content.ends_with(&own(&answer.text)) {
            true => Ok(Plan::Nothing("the summary is already applied".to_string())),
            false => Err(changed("another summary already replaces the messages")),
        };
    }
    // The request can be based on either view; the fingerprint shows which one.
    let mut found = None;
    for rolling in [true, false] {
        let ground = Ground::of(session, rolling);
        let work = ground.work(session, counter);
        let items = located(session, &ground, &work, answer);
        if let Some(items) = items {
            found = Some((ground, items));
            break;
        }
    }
    let Some((ground, mut items)) = found else {
        return Err(changed("the summarized messages have changed"));
    };
    let work = ground.work(session, counter);
    let pins = match &answer.pins {
        Some(pins) => pins.clone(),
        None => {
            let budget = span::room_for_text(&work, &items, options);
            let span = Span { items, budget };
            let previous = work
                .summary_item
                .and_then(|at| work.view.items[at].summary(session));
            let room = (budget, share_beside(options, budget));
            let pins = pins(&work, &span.stays(), room, previous.as_deref(), options)?;
            items = span.items;
            pins
        }
    };
    let content = with_pins(&answer.text, &pins);
    if answer.budget.is_none() {
        accept(&content, Some(options.most()), counter)?;
    }
    let written = Written {
        items: &items,
        content: &content,
        by: &answer.by,
        sha256: answer.sha256.clone(),
    };
    plan(session, &ground, &work, &written, options, stamp)
}

/// Refuses a text that is blank or too long.
///
/// # Errors
/// [`Kind::Unavailable`].
pub fn accept(text: &str, budget: Option<u64>, counter: Counter) -> Result<()> {
    let failure = if is_blank(text) {
        Failure::Blank
    } else {
        // A text that is far too long is not counted.
        let least = text.len() as u64 / LONGEST_TOKEN;
        let tokens = match budget {
            Some(budget) if least > budget => least,
            _ => shown_cost(counter, text),
        };
        match budget {
            Some(budget) if tokens > budget => Failure::OverBudget { tokens, budget },
            _ => return Ok(()),
        }
    };
    Err(Error::new(Kind::Unavailable, failure.to_string()))
}

/// More bytes than any token of any tokenizer has.
const LONGEST_TOKEN: u64 = 512;

pub(super) fn changed(what: &str) -> Error {
    Error::new(Kind::Locked, format!("the summary is outdated: {what}"))
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
        let own = json::member(event.raw, "sha256").and_then(json::text)?;
        (own == sha256).then(|| summary.content.into_owned())
    })
}

/// Finds the items with the fingerprint of the answer: between the ends that it names, otherwise from the first item
/// that can be summarized.
fn located(session: &Session, ground: &Ground, work: &Work<'_>, answer: &Answer) -> Option<Vec<usize>> {
    let mut sha = ground.begin(session);
    let movable = (0..work.items.len()).filter(|at| work.items[*at].atom.is_some());
    let mut items: Vec<usize> = Vec::new();
    for at in movable {
        if let Some([first, _]) = &answer.covers
            && items.is_empty()
            && work.id(at) != *first
        {
            continue;
        }
        ground.take(&mut sha, session, at);
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
