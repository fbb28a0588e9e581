//! Updates the links from elements to their predecessors after edits.

use super::any_codec::AnyCodec;
use super::codec::lines_of;
use super::frame::ElementEdit;
use crate::model::json::{self, array, quoted};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The members of an element with its id and the id of its predecessor, if the format has them.
type LinkNames = Option<[&'static str; 2]>;

/// Links elements to predecessors that still exist: a removed predecessor is replaced by its own one. Links new
/// elements to the element before them, unless the elements of the source have no links.
pub fn link(names: LinkNames, raws: &[Vec<u8>], edits: Vec<ElementEdit>) -> Vec<ElementEdit> {
    let Some([id, parent]) = names else {
        return edits;
    };
    let links_new = raws.is_empty()
        || raws
            .iter()
            .any(|raw| json::member(lines_of(raw)[0], parent).is_some());
    let removed = removed_elements(raws, &edits, [id, parent]);
    let mut last: Option<Vec<u8>> = None;
    // The predecessor of new elements, and the id of the last of them.
    let mut new: Option<(Option<Vec<u8>>, Vec<u8>)> = None;
    let linked = edits.into_iter().map(|edit| {
        let before = last.clone();
        let own = lines_of(edit.element(raws))
            .last()
            .and_then(|line| json::member_text(line, id));
        let own = own.map(|id| quoted(&id));
        last = own.clone().or(last.take());
        match edit {
            ElementEdit::Insert(raw) if links_new => {
                if let Some(own) = own {
                    new = Some((new.take().map_or(before.clone(), |(first, _)| first), own));
                }
                let linked = before.and_then(|id| json::with_members(&raw, &[(parent, Some(&id))]).ok());
                ElementEdit::Insert(linked.unwrap_or(raw))
            }
            ElementEdit::Insert(raw) => ElementEdit::Insert(raw),
            edit => {
                let edit = relinked(raws, edit, parent, &|named| present(&removed, named));
                let named = json::member(lines_of(edit.element(raws))[0], parent).map(<[u8]>::to_vec);
                let Some((first, id)) = named.is_some().then(|| new.take()).flatten() else {
                    return edit;
                };
                // An element with the same predecessor now follows the new ones.
                match named.filter(|named| named != b"null") == first {
                    true => relinked(raws, edit, parent, &|_| Some(Some(id.clone()))),
                    false => edit,
                }
            }
        }
    });
    linked.collect()
}

/// As [`link`], for the lines of several sessions and without linking new ones.
pub fn link_preserved(names: LinkNames, raws: &[Vec<u8>], edits: Vec<ElementEdit>) -> Vec<ElementEdit> {
    let Some([id, parent]) = names else {
        return edits;
    };
    let removed = removed_elements(raws, &edits, [id, parent]);
    let linked = edits
        .into_iter()
        .map(|edit| relinked(raws, edit, parent, &|named| present(&removed, named)));
    linked.collect()
}

/// Makes one log of the elements of several that were joined: the first lines of the later logs name the line before them,
/// and all lines this session. Does nothing to elements of one log.
pub fn unite(codec: &dyn AnyCodec, raws: &mut [Vec<u8>], session: &str) {
    let Some([id, parent]) = codec.constants().link else {
        return;
    };
    let lines: Vec<&[u8]> = raws.iter().flat_map(|raw| lines_of(raw)).collect();
    let others = codec.assemble(&lines).map(|assembly| assembly.others);
    if !others.is_some_and(|others| others.iter().any(|other| other.kind == "branch")) {
        return;
    }
    let session = quoted(session);
    let mut last: Option<Vec<u8>> = None;
    for raw in raws {
        let lines = lines_of(raw).into_iter().map(|line| {
            let own = json::member_text(line, id).map(|id| quoted(&id));
            let is_first = own.is_some() && json::member_text(line, parent).is_none();
            let above = last.clone().filter(|_| is_first);
            last = own.or(last.take());
            let names_session = json::member(line, "sessionId").is_some();
            let changes = [
                above.as_deref().map(|above| (parent, Some(above))),
                names_session.then_some(("sessionId", Some(&session[..]))),
            ];
            let changes: Vec<_> = changes.into_iter().flatten().collect();
            json::with_members(line, &changes).unwrap_or_else(|_| line.to_vec())
        });
        let lines: Vec<Vec<u8>> = lines.collect();
        *raw = match raw.starts_with(b"[") {
            true => array(lines),
            false => lines.concat(),
        };
    }
}

type RemovedElements<'r> = HashMap<Cow<'r, str>, Option<&'r [u8]>>;

/// The removed elements, each with its predecessor.
fn removed_elements<'r>(
    raws: &'r [Vec<u8>],
    edits: &[ElementEdit],
    [id, parent]: [&str; 2],
) -> RemovedElements<'r> {
    let kept: HashSet<usize> = edits.iter().filter_map(nth).collect();
    let removed = raws.iter().enumerate().filter(|(nth, _)| !kept.contains(nth));
    let lines = removed.flat_map(|(_, raw)| lines_of(raw));
    lines
        .filter_map(|line| Some((json::member_text(line, id)?, json::member(line, parent))))
        .collect()
}

/// The id of a predecessor; `None` if there is none.
type NewPredecessor = Option<Vec<u8>>;

/// An element of the source with updated links, if necessary.
fn relinked(
    raws: &[Vec<u8>],
    edit: ElementEdit,
    parent: &str,
    other: &dyn Fn(&[u8]) -> Option<NewPredecessor>,
) -> ElementEdit {
    let Some(nth) = nth(&edit) else { return edit };
    let mut is_changed = false;
    let raw = edit.element(raws);
    let lines = lines_of(raw).into_iter().map(|line| {
        let named = json::member(line, parent).and_then(other);
        let linked = named.and_then(|named| json::with_members(line, &[(parent, named.as_deref())]).ok());
        is_changed |= linked.is_some();
        linked.unwrap_or_else(|| line.to_vec())
    });
    let lines: Vec<Vec<u8>> = lines.collect();
    match is_changed {
        false => edit,
        true if raw.starts_with(b"[") => ElementEdit::Replace(nth, array(lines)),
        true => ElementEdit::Replace(nth, lines.concat()),
    }
}

fn nth(edit: &ElementEdit) -> Option<usize> {
    match edit {
        ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => Some(*nth),
        ElementEdit::Insert(_) => None,
    }
}

/// The nearest predecessor that is kept, or `Some(None)` if there is none; `None` if the named element is kept.
fn present(removed: &RemovedElements<'_>, named: &[u8]) -> Option<NewPredecessor> {
    let mut seen = HashSet::new();
    let (mut at, mut is_changed) = (Some(named), false);
    while let Some(raw) = at
        && let Some(before) = json::text(raw).and_then(|id| removed.get(&id))
        && seen.insert(raw)
    {
        at = *before;
        is_changed = true;
    }
    is_changed.then(|| at.map(<[u8]>::to_vec))
}
