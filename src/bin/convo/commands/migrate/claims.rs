//! Checks links of imported sessions to the sessions that they continue. A link is kept only if both sessions are
//! imported in the same run; otherwise a file could claim to continue any stored session, so its link moves to the
//! metadata.

use super::inspect::{ExaminedFile, FoundSession};
use convo::model::json::{self, ObjectBuilder};
use convo::store::{Store, log};
use std::collections::HashMap;

/// Header members that link to the continued session.
const CLAIMS: [&str; 2] = ["continued_from", "continuation_index"];

/// Moves links to the metadata if the continued session is not imported in this run, or if the stored session of that
/// id is a different one.
pub fn move_links_to_metadata(examined: &mut [ExaminedFile], store: &Store) {
    let all = || examined.iter().flat_map(|one| one.found.iter().flatten());
    let headers: HashMap<&str, &[u8]> = all()
        .map(|found| (found.id.as_str(), &found.header[..]))
        .collect();
    let is_known = |parent: &str| {
        headers.get(parent).is_some_and(|header| {
            let there = store.first_line(parent).ok();
            there.is_none_or(|there| is_same(&there, header))
        })
    };
    let doubtful = |found: &FoundSession| parent(&found.header).is_some_and(|parent| !is_known(&parent));
    let side_branches: Vec<Option<Vec<u8>>> = all()
        .map(|found| doubtful(found).then(|| unlinked_header(&found.header)).flatten())
        .collect();
    let found = examined.iter_mut().flat_map(|one| one.found.iter_mut().flatten());
    for (found, header) in found.zip(side_branches) {
        found.instead = header;
    }
}

/// The id of the session that a header claims to continue.
fn parent(header: &[u8]) -> Option<String> {
    let parent = json::member_text(header, CLAIMS[0])?;
    Some(parent.into_owned())
}

/// Whether the header of a stored session equals that of an imported one, except for `source`, which changes when the
/// source grows.
fn is_same(there: &[u8], header: &[u8]) -> bool {
    let bare = |header: &[u8]| json::with_members(header, &[("source", None)]).ok();
    let there = log::bare(there.strip_suffix(b"\n").unwrap_or(there)).into_owned();
    let same = |header: Option<Vec<u8>>| header.is_some() && header == bare(&there);
    same(bare(header)) || same(unlinked_header(header).and_then(|header| bare(&header)))
}

/// Returns the header with its links moved to the metadata; none if the header cannot be edited.
fn unlinked_header(header: &[u8]) -> Option<Vec<u8>> {
    let mut claims = ObjectBuilder::default();
    for name in CLAIMS {
        if let Some(value) = json::member(header, name) {
            claims.raw(name, value);
        }
    }
    let claims = claims.finish();
    let metadata = json::member(header, "metadata").unwrap_or(b"{}");
    let metadata = json::with_members(metadata, &[("claims", Some(&claims))]).ok()?;
    let changes = [
        (CLAIMS[0], None),
        (CLAIMS[1], None),
        ("metadata", Some(&metadata[..])),
    ];
    json::with_members(header, &changes).ok()
}
