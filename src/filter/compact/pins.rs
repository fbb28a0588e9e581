//! The items of a view that no compaction drops.

use super::options::CompactOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::filter::summarize::{GivenRule, Instructions};
use crate::model::exchange::Cuts;
use crate::model::message::{Category, Role};
use crate::model::session::Session;
use crate::model::view::View;
use std::borrow::Cow;
use std::collections::HashSet;

/// Finds the items that the options pin.
pub(super) fn pins(session: &Session, view: &View, options: &CompactOptions) -> Result<HashSet<usize>> {
    let mut pins = HashSet::new();
    let mut wanted: HashSet<&str> = options.pins.iter().map(String::as_str).collect();
    if !wanted.is_empty() {
        for (at, item) in view.items.iter().enumerate() {
            let own = item.message(session).and_then(|message| message.id());
            let id = match (own, item.line()) {
                (Some(id), _) => id,
                (None, Some(line)) => Cow::Owned(session.derived_id(line).unwrap_or_default()),
                (None, None) => continue,
            };
            if options.pins.iter().any(|pin| *pin == id) {
                pins.insert(at);
                wanted.remove(id.as_ref());
            }
        }
    }
    if let Some(missing) = options.pins.iter().find(|pin| wanted.contains(pin.as_str())) {
        return Err(Error::new(
            ErrorKind::No,
            format!("--pin {missing}: no such message in the view"),
        ));
    }
    given_rules(session, options)?;
    if options.pin_first_user {
        let is_user = |item: &crate::model::view::Item| {
            let traits = item.traits(session);
            traits.is_some_and(|traits| traits.role == Role::User && traits.category != Category::Context)
        };
        pins.extend(view.items.iter().position(is_user));
    }
    if let Some(unseen) = (options.unseen)(session) {
        pins.extend(exchange_of_line(session, view, unseen)..view.items.len());
    }
    Ok(pins)
}

/// The first item of the exchange that contains this line; the number of items if no exchange does.
fn exchange_of_line(session: &Session, view: &View, line: usize) -> usize {
    let after = |item: &crate::model::view::Item| item.line().is_some_and(|own| own >= line);
    let Some(first) = view.items.iter().position(after) else {
        return view.items.len();
    };
    let starts = Cuts::of(session, view).exchange_starts();
    let begun = starts.partition_point(|start| *start <= first);
    begun.checked_sub(1).map_or(first, |nth| starts[nth])
}

/// Checks that the messages named in a rules file exist.
fn given_rules(session: &Session, options: &CompactOptions) -> Result<()> {
    let Instructions::Given(rules) = &options.style.instructions else {
        return Ok(());
    };
    for rule in rules {
        if let GivenRule::Message(id) = rule
            && session.all_of(id).is_empty()
        {
            let what = format!("--pin-rules: no such message in the log: {id}");
            return Err(Error::new(ErrorKind::No, what));
        }
    }
    Ok(())
}
