//! Elements that name the one before them.

use super::codec::Codec;
use super::frame::Edit;
use crate::format::request::piece::quoted;
use crate::model::json;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// These edits with elements that name others which are there: instead of a removed one its own predecessor. New elements
/// name the one before them, unless no element of the source does.
pub fn link<C: Codec>(raws: &[Vec<u8>], edits: Vec<Edit>) -> Vec<Edit> {
    let Some([id, parent]) = C::LINK else {
        return edits;
    };
    let kept: HashSet<usize> = edits.iter().filter_map(nth).collect();
    let gone = raws.iter().enumerate().filter(|(nth, _)| !kept.contains(nth));
    let gone: HashMap<Cow<'_, str>, Option<&[u8]>> = gone
        .filter_map(|(_, raw)| Some((json::member_text(raw, id)?, json::member(raw, parent))))
        .collect();
    let links_new = raws.is_empty() || raws.iter().any(|raw| json::member(raw, parent).is_some());
    let mut last = None;
    let linked = edits.into_iter().map(|edit| {
        let raw = edit.element(raws);
        let named = match &edit {
            Edit::Insert(_) => last.clone().filter(|_| links_new).map(Some),
            _ => json::member(raw, parent).and_then(|raw| present(&gone, raw)),
        };
        last = json::member_text(raw, id).map(|id| quoted(&id)).or(last.take());
        let Some(named) = named else { return edit };
        let linked = json::with_members(raw, &[(parent, named.as_deref())]);
        match (edit, linked) {
            (Edit::Keep(nth) | Edit::Replace(nth, _), Ok(raw)) => Edit::Replace(nth, raw),
            (Edit::Insert(_), Ok(raw)) => Edit::Insert(raw),
            (edit, Err(_)) => edit,
        }
    });
    linked.collect()
}

fn nth(edit: &Edit) -> Option<usize> {
    match edit {
        Edit::Keep(nth) | Edit::Replace(nth, _) => Some(*nth),
        Edit::Insert(_) => None,
    }
}

/// The nearest predecessor that is kept, or the inner none; the outer none if the named element is kept.
fn present(gone: &HashMap<Cow<'_, str>, Option<&[u8]>>, named: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut seen = HashSet::new();
    let (mut at, mut is_changed) = (Some(named), false);
    while let Some(raw) = at
        && let Some(before) = json::text(raw).and_then(|id| gone.get(&id))
        && seen.insert(raw)
    {
        at = *before;
        is_changed = true;
    }
    is_changed.then(|| at.map(<[u8]>::to_vec))
}
