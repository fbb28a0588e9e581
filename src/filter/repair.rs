//! Makes a session's view valid for a provider's API. Repairs of request elements are mapped back to their messages,
//! as one `compact` event.

mod align;
mod call_ids;
mod edit_script;
mod groups;
#[cfg(test)]
mod tests;

use super::compact::event::{CompactionInfo, ItemChange, ViewEdit};
use super::{Plan, Stamp};
use crate::check::{self, Api, CheckOptions, Fixed, Repair, RepairMode, message_id};
use crate::error::{Error, ErrorKind, Result};
use crate::format::report::Report;
use crate::format::request::{self, ProviderRequest};
use crate::model::json::{self, ObjectBuilder, quoted};
use crate::model::session::Session;
use crate::model::view::View;
use align::{AlignStep, RepairedMessage};
use std::collections::{HashMap, HashSet};

/// Options of a repair.
#[derive(Clone, Copy, Debug)]
pub struct RepairOptions<'a> {
    /// The API.
    pub api: Api,
    /// Properties of the request.
    pub check: &'a CheckOptions,
    /// Repair mode; none selects the first that the rule table lists.
    pub mode: Option<RepairMode>,
    /// Whether to repair warnings too.
    pub warnings: bool,
}

/// A planned repair.
#[derive(Debug)]
pub struct Repaired {
    /// The lines for the log, with a short description.
    pub plan: Plan,
    /// Repairs of the elements, and remaining findings.
    pub fixed: Fixed,
}

/// Options for a session's own request: cache markers on its instructions count too.
pub fn options_for(request: &ProviderRequest, options: &CheckOptions) -> CheckOptions {
    let blocks = request
        .system
        .as_deref()
        .and_then(|raw| json::elements(raw, json::Dialect::Python));
    let marked = blocks.unwrap_or_default().into_iter();
    CheckOptions {
        marks: options.marks
            + marked
                .filter(|block| json::member(block, "cache_control").is_some())
                .count(),
        ..options.clone()
    }
}

/// Maximum number of passes. One repair can cause another finding, because positions affect the encoding:
/// instructions, for example, are sent separately only at the head of the history.
const ROUNDS: usize = 8;

/// Plans the repair of a session's view as one event, however many passes it takes.
pub fn plan(
    session: &Session,
    options: &RepairOptions<'_>,
    stamp: impl FnOnce(&str) -> Result<Stamp>,
) -> Result<Repaired> {
    let view = View::replay(session);
    let id = session.header_text("id").unwrap_or_default();
    let (mut reshaping, mut fixed) = once(session, &view, options, &id)?;
    if fixed.changes.is_empty() {
        let plan = Plan::Nothing("nothing to repair".to_string());
        return Ok(Repaired { plan, fixed });
    }
    let about = CompactionInfo {
        strategy: "check".to_string(),
        ..CompactionInfo::default()
    };
    for _ in 1..ROUNDS {
        let between = Stamp {
            id: "evt_0".to_string(),
            at: String::new(),
        };
        let mut after = session.clone();
        after.push_new(&reshaping.event(session, &view, &about, &between)?);
        let shown = View::replay(&after);
        let (more, next) = once(&after, &shown, options, &id)?;
        fixed.left = next.left;
        if next.changes.is_empty() || more.is_empty() {
            break;
        }
        fixed.changes.extend(next.changes);
        let again = Stamp {
            id: "evt_1".to_string(),
            at: String::new(),
        };
        let line = more.event(&after, &shown, &about, &again)?;
        after.push_new(&line);
        let shown = View::replay(&after);
        reshaping = edit_script::reshaping((session, &view), (&after, &shown));
    }
    let reported = describe_repairs(&fixed);
    if reshaping.is_empty() {
        return Err(Error::new(
            ErrorKind::No,
            format!("the session cannot represent this repair: {reported}"),
        ));
    }
    let event = reshaping.event(session, &view, &about, &stamp(&reported)?)?;
    let plan = Plan::Lines(vec![event], reported);
    Ok(Repaired { plan, fixed })
}

/// Makes one pass over a view.
fn once(session: &Session, view: &View, options: &RepairOptions<'_>, id: &str) -> Result<(ViewEdit, Fixed)> {
    let request = request::elements(options.api, session, view, &mut Report::default())?;
    let raws: Vec<&[u8]> = request
        .elements
        .iter()
        .map(|element| element.raw.as_slice())
        .collect();
    let repair = Repair {
        mode: options.mode,
        warnings: options.warnings,
        session: id,
    };
    let fixed = check::fix(options.api, &raws, &options_for(&request, options.check), &repair);
    if fixed.changes.is_empty() {
        return Ok((ViewEdit::of(view), fixed));
    }
    if fixed.elements.is_empty() {
        let error = Error::new(
            ErrorKind::No,
            "the repair would drop every message; nothing was changed",
        );
        return Err(error.hint("insert the missing parts with --fix=stub"));
    }
    let reshaping = reshaping(options.api, session, view, &request, &fixed, id);
    Ok((reshaping, fixed))
}

/// Describes how often each rule was repaired.
fn describe_repairs(fixed: &Fixed) -> String {
    let mut rules: Vec<(&str, usize)> = Vec::new();
    for change in &fixed.changes {
        match rules.iter_mut().find(|(id, _)| *id == change.rule.id) {
            Some((_, count)) => *count += 1,
            None => rules.push((change.rule.id, 1)),
        }
    }
    let count = fixed.changes.len();
    let rules: Vec<String> = rules.iter().map(|(id, count)| format!("{id} {count}")).collect();
    format!(
        "{count} {} ({})",
        if count == 1 { "repair" } else { "repairs" },
        rules.join(", ")
    )
}

/// Maps the repairs to the items of the view.
fn reshaping(
    api: Api,
    session: &Session,
    view: &View,
    request: &ProviderRequest,
    fixed: &Fixed,
    id: &str,
) -> ViewEdit {
    let mut reshaping = ViewEdit::of(view);
    let behind = request
        .system_items
        .iter()
        .map(|item| item + 1)
        .max()
        .unwrap_or(0);
    let mut puts: Vec<(usize, RepairedMessage)> = Vec::new();
    for raw in &fixed.system {
        puts.push((behind, RepairedMessage::from(request::system_record(api, raw))));
    }
    for group in groups::of(api, (session, view), request, fixed) {
        for step in align::steps(group) {
            match step {
                AlignStep::Drop(item) => reshaping.changes[item] = ItemChange::Drop,
                AlignStep::Replace(item, before, after) => {
                    let body = repaired_body(view.items[item].body(session), &before, &after.body);
                    reshaping.changes[item] = ItemChange::Replace(noted(body, &after.notes));
                }
                AlignStep::Insert(place, built) => puts.push((place.unwrap_or(behind), built)),
            }
        }
    }
    for item in separators((session, view), request, fixed) {
        reshaping.changes[item] = ItemChange::Drop;
    }
    puts.sort_by_key(|(place, _)| *place);
    let mut taken = None;
    for (place, built) in puts {
        let taken = taken.get_or_insert_with(|| ids(session, view));
        let body = named(noted(built.body, &built.notes), built.id, id, taken);
        reshaping.inserts.push((place, body));
    }
    reshaping
}

/// Empty messages between the messages of a merged element: they have no element of their own, and would separate the
/// element again at the next encoding.
fn separators((session, view): (&Session, &View), request: &ProviderRequest, fixed: &Fixed) -> Vec<usize> {
    let merged = fixed
        .elements
        .iter()
        .filter(|element| element.changed && element.from.len() > 1);
    let mut between = vec![false; view.items.len()];
    for element in merged {
        let own = || {
            element
                .from
                .iter()
                .flat_map(|from| &request.elements[*from].items)
        };
        if let (Some(first), Some(last)) = (own().min(), own().max()) {
            between[*first..*last].fill(true);
        }
    }
    let encoded = request.elements.iter().flat_map(|element| &element.items);
    for item in encoded.chain(&request.system_items) {
        between[*item] = false;
    }
    let is_empty = |item: &usize| {
        view.items[*item].message(session).is_some_and(|message| {
            let body = view.items[*item].body(session);
            let has_text = |raw| json::text(raw).is_none_or(|text| !text.is_empty());
            let content = message.content.filter(|raw| *raw != b"null");
            !content.is_some_and(has_text) && json::list(body, "reasoning").is_empty()
        })
    };
    (0..view.items.len())
        .filter(|item| between[*item])
        .filter(is_empty)
        .collect()
}

/// The ids of all messages.
fn ids(session: &Session, view: &View) -> HashSet<String> {
    let lines = session.messages().filter_map(|(index, _)| {
        let record = session.record(index);
        Some(record.message()?.id()?.into_owned())
    });
    let shown = view
        .messages(session)
        .filter_map(|message| Some(message.id()?.into_owned()));
    lines.chain(shown).collect()
}

/// Gives a new message a unique id.
fn named(body: Vec<u8>, wanted: Option<String>, session: &str, taken: &mut HashSet<String>) -> Vec<u8> {
    let about = ["tool_call_id", "role"]
        .iter()
        .find_map(|name| json::member(&body, name));
    let about = about.and_then(json::text).unwrap_or_default().into_owned();
    let mut ids = wanted
        .into_iter()
        .chain((0..).map(|nth| message_id(session, &about, nth)));
    let Some(id) = ids.find(|id| !taken.contains(id)) else {
        return body;
    };
    let raw = quoted(&id);
    taken.insert(id);
    json::with_members(&body, &[("id", Some(&raw))]).unwrap_or(body)
}

/// Applies to a message the members that a repair changed in its encoding; the id, time and other members are kept.
fn repaired_body(body: &[u8], before: &[u8], after: &[u8]) -> Vec<u8> {
    let old = members(before);
    let new = members(after);
    let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    for (name, value) in &new {
        match old.get(name) {
            Some(known) if known == value => {}
            known if name == "metadata" => {
                let own = json::member(body, "metadata").unwrap_or(b"{}");
                changes.push((
                    "metadata",
                    Some(repaired_body(own, known.unwrap_or(&&b"{}"[..]), value)),
                ));
            }
            _ => changes.push((name, Some(value.to_vec()))),
        }
    }
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    changes.extend(removed.map(|name| (name.as_str(), None)));
    // The stored token count and the category derived from the role are now wrong.
    changes.push(("tokens", None));
    if old.get("role") != new.get("role") {
        changes.push(("category", None));
    }
    changes.sort_by_key(|(name, _)| *name);
    let borrowed: Vec<_> = changes
        .iter()
        .map(|(name, value)| (*name, value.as_deref()))
        .collect();
    json::with_members(body, &borrowed).unwrap_or_else(|_| after.to_vec())
}

fn members(object: &[u8]) -> HashMap<String, &[u8]> {
    let members = json::members(object, json::Dialect::Python).unwrap_or_default();
    members
        .into_iter()
        .map(|(name, value)| (name.into_owned(), value))
        .collect()
}

/// Preserves data without a place in an element: arguments that were not JSON, by the id of their call.
fn noted(body: Vec<u8>, notes: &[(String, String)]) -> Vec<u8> {
    if notes.is_empty() {
        return body;
    }
    let mut arguments = ObjectBuilder::default();
    for (call, text) in notes {
        arguments.text(call, text);
    }
    let mut own = ObjectBuilder::default();
    own.raw("arguments", arguments.finish());
    let metadata = json::member(&body, "metadata")
        .filter(|raw| raw.starts_with(b"{"))
        .unwrap_or(b"{}");
    let metadata = json::with_members(metadata, &[("convo", Some(&own.finish()))]).unwrap_or_default();
    json::with_members(&body, &[("metadata", Some(&metadata))]).unwrap_or(body)
}
