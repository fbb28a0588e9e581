//! Copies standing messages to the beginning of later parts; each copy names its original.

use super::options::CopyPolicy;
use crate::filter::copies::copy_message;
use crate::model::message::{Category, Message, Role};
use crate::model::session::Session;
use crate::model::view::{Item, View};
use crate::model::{chain, key};
use crate::tokens::Counter;

/// A message that is copied into later parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopiedMessage {
    /// Its item of the view.
    pub item: usize,
    /// Its tokens and those of the messages before it.
    pub tokens: u64,
}

/// Collects the messages to copy, in order. A message equal to the one before it is skipped.
pub(super) fn collect(
    session: &Session,
    view: &View,
    carry: CopyPolicy,
    counter: Option<Counter>,
) -> Vec<CopiedMessage> {
    let is_standing = |item: &Item| match item.traits(session) {
        Some(traits) if traits.is_system() => carry != CopyPolicy::None,
        // A reply or a result belongs to its exchange.
        Some(traits) if matches!(traits.role, Role::Assistant | Role::Tool) => false,
        Some(traits) => traits.category == Category::Context && carry == CopyPolicy::Context,
        None => false,
    };
    let mut found: Vec<CopiedMessage> = Vec::new();
    let mut tokens = 0;
    for (at, item) in view
        .items
        .iter()
        .enumerate()
        .filter(|(_, item)| is_standing(item))
    {
        let Some(message) = item.message(session) else {
            continue;
        };
        let before = found
            .last()
            .and_then(|last| view.items[last.item].message(session));
        // A continuation marker applies only to this session.
        if chain::marks(&message).is_some()
            || before.is_some_and(|before| has_equal_content(&before, &message))
        {
            continue;
        }
        tokens += counter.map_or(0, |counter| counter.message(&message));
        found.push(CopiedMessage { item: at, tokens });
    }
    found
}

fn has_equal_content(one: &Message<'_>, other: &Message<'_>) -> bool {
    one.role == other.role && one.content == other.content && one.name == other.name
}

/// Copies a message as number `nth` of the part `id`.
pub(super) fn copy(body: &[u8], of: &str, id: &str, nth: usize) -> Vec<u8> {
    let own = key::id_from("msg_", format!("{id}\n{nth}\n{of}"));
    copy_message(body, of, &own, &[]).unwrap_or_else(|| body.to_vec())
}
