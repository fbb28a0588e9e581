//! Merges the messages of a damaged file and its backups into one session.

use super::super::report::Report;
use super::document::PenguinDocument;
use super::member::without;
use super::message::identity;
use crate::error::Position;
use crate::model::json::{self, Dialect, Members, ObjectBuilder};
use crate::model::key::Derive;
use std::collections::{HashMap, HashSet};

/// Maximum number of message ids or positions to list; the rest is counted.
const NAMED: usize = 10;

/// A file to read the session from.
pub(super) struct SourceFile<'a> {
    /// Its name in messages.
    pub name: &'a str,
    pub document: PenguinDocument<'a>,
    /// The bytes of a backup; `None` for the file itself.
    pub backup: Option<&'a [u8]>,
}

impl SourceFile<'_> {
    /// The position, if it is in the file itself; positions in backups would be mistaken for it.
    fn position_in_file(&self, place: Position) -> Position {
        self.backup.map_or(place, |_| Position::default())
    }
}

/// The merged session.
pub(super) struct DocumentMerge<'c> {
    /// An object with all members except the messages.
    pub head: Vec<u8>,
    pub start: Position,
    /// Whether it is a bare list.
    pub is_list: bool,
    /// The elements of `messages`, with their positions in the file itself; elements of backups have none.
    pub elements: Vec<(Position, &'c [u8])>,
    /// Problems in the main source, although it could be read.
    pub damage: Vec<(Position, &'static str)>,
    /// The backups used.
    pub used: Vec<&'c [u8]>,
    /// Number of messages by file, if not all could be read from the file itself.
    pub salvaged: Vec<(&'c str, usize)>,
}

/// An element in the merged order.
struct MergeNode<'c> {
    file: usize,
    place: Position,
    raw: &'c [u8],
    /// Whether it is incomplete.
    cut: bool,
    next: Option<usize>,
}

/// The contribution of one file.
#[derive(Default)]
struct SharedMessages {
    messages: usize,
    /// Ids of messages that the base does not have.
    added: Vec<String>,
    /// Ids of messages whose content differs in another file.
    different: Vec<String>,
}

impl<'c> DocumentMerge<'c> {
    /// From one complete file.
    pub fn alone(document: &'c PenguinDocument<'_>) -> DocumentMerge<'c> {
        DocumentMerge {
            head: object(&document.members().collect::<Vec<_>>()),
            start: document.start(),
            is_list: document.is_list(),
            elements: document.elements().collect(),
            damage: document.damage.clone(),
            used: Vec::new(),
            salvaged: Vec::new(),
        }
    }

    /// Inserts each message that only another file has after its predecessor there, and reports the sources. `name` is
    /// the file itself, `place` and `why` its damage.
    pub fn of(
        candidates: &'c [SourceFile<'_>],
        base: usize,
        name: &str,
        (place, why): (Position, &str),
        report: &mut Report,
    ) -> DocumentMerge<'c> {
        let order: Vec<usize> = std::iter::once(base)
            .chain((0..candidates.len()).filter(|other| *other != base))
            .collect();
        let (elements, shares) = elements(candidates, &order);
        let mut merge = DocumentMerge {
            elements,
            ..DocumentMerge::alone(&candidates[base].document)
        };
        merge.start = candidates[base].position_in_file(merge.start);
        for (place, _) in &mut merge.damage {
            *place = candidates[base].position_in_file(*place);
        }
        let mut reported = Vec::new();
        for &file in &order {
            let (candidate, share) = (&candidates[file], &shares[file]);
            if share.messages == 0 && file != base {
                continue;
            }
            let whose = candidate.backup.map_or("it", |_| candidate.name);
            merge.salvaged.push((candidate.name, share.messages));
            let count = match (reported.is_empty(), share.messages) {
                (_, 0) => "no message".to_string(),
                (true, 1) => "1 message".to_string(),
                (true, count) => format!("{count} messages"),
                (false, count) => count.to_string(),
            };
            let ids = match share.added.as_slice() {
                [] => String::new(),
                ids => format!(" ({})", named(ids)),
            };
            reported.push(format!("{count} from {whose}{ids}"));
        }
        report.damage(
            place,
            format!("{name} is damaged ({why}): {}", reported.join(", ")),
        );
        let filled = merge.fill(candidates, &order, report);
        for &file in &order {
            let candidate = &candidates[file];
            if shares[file].messages > 0 || file == base || filled.contains(&file) {
                merge.used.extend(candidate.backup);
                report_omitted(candidate, report);
            }
            if !shares[file].different.is_empty() {
                let ids = named(&shares[file].different);
                let what = format!(
                    "{} has different content of these messages, not read: {ids}",
                    candidate.name
                );
                report.damage(Position::default(), what);
            }
        }
        merge
    }

    /// Adds the members that a damaged base lost from the other files, and reports their sources.
    fn fill(&mut self, candidates: &'c [SourceFile<'_>], order: &[usize], report: &mut Report) -> Vec<usize> {
        let (base, others) = (&candidates[order[0]].document, &order[1..]);
        let mut filled = Vec::new();
        if base.is_complete() || base.is_list() {
            return filled;
        }
        let mut members: Vec<&[u8]> = base.members().collect();
        let mut known: HashSet<String> = members.iter().map(|member| name_of(member)).collect();
        for &file in others {
            let candidate = &candidates[file];
            let mut names = Vec::new();
            for member in candidate.document.members() {
                let name = name_of(member);
                if known.insert(name.clone()) {
                    members.push(member);
                    names.push(name);
                }
            }
            if !names.is_empty() {
                let what = format!("members from {}: {}", candidate.name, named(&names));
                report.damage(Position::default(), what);
                filled.push(file);
            }
        }
        self.head = object(&members);
        filled
    }

    /// The number of messages by file as an object; `None` if nothing was salvaged.
    pub fn salvaged(&self) -> Option<Vec<u8>> {
        let mut built = ObjectBuilder::default();
        for (name, count) in &self.salvaged {
            built.raw(name, count.to_string());
        }
        (!built.is_empty()).then(|| built.finish())
    }
}

/// The elements of the first file in the order, and those that only the others have.
fn elements<'c>(
    candidates: &'c [SourceFile<'_>],
    order: &[usize],
) -> (Vec<(Position, &'c [u8])>, Vec<SharedMessages>) {
    let repeated = repeated(candidates);
    let mut nodes: Vec<MergeNode<'c>> = Vec::new();
    let mut first = None;
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut shares: Vec<SharedMessages> = candidates.iter().map(|_| SharedMessages::default()).collect();
    for &file in order {
        let base = file == order[0];
        let (mut derive, mut copies) = (Derive::default(), Derive::default());
        // The previous element, in the merged list and in this file.
        let mut before: Option<usize> = None;
        let document = &candidates[file].document;
        for (nth, (place, raw)) in document.elements().enumerate() {
            let is_object = raw.first() == Some(&b'{');
            if !is_object && !base {
                continue;
            }
            let id = is_object.then(|| identity(raw, &mut derive));
            // A repeated id is ambiguous, so identify the message by its content.
            let key = id.clone().map(|id| match repeated.contains(&id) {
                true => format!("{id}\n{}", copies.id(&json::compact(raw).0)),
                false => id,
            });
            let same = key.as_ref().and_then(|key| known.get(key)).copied();
            // Positions are those in the file that messages name.
            let place = candidates[file].position_in_file(place);
            let cut = document.is_cut(nth);
            if let (Some(same), false) = (same, base) {
                let node = &mut nodes[same];
                if node.cut && !cut {
                    *node = MergeNode {
                        file,
                        place,
                        raw,
                        cut,
                        next: node.next,
                    };
                    shares[file].added.extend(id);
                } else if !alike(node.raw, raw) {
                    shares[file].different.extend(id);
                }
                before = Some(same);
                continue;
            }
            let index = nodes.len();
            let link = before.map_or(&mut first, |before| &mut nodes[before].next);
            let next = link.replace(index);
            nodes.push(MergeNode {
                file,
                place,
                raw,
                cut,
                next,
            });
            before = Some(index);
            known.extend(key.map(|key| (key, index)));
            if !base {
                shares[file].added.extend(id);
            }
        }
    }
    let mut elements = Vec::with_capacity(nodes.len());
    let mut at = first;
    while let Some(node) = at.map(|index| &nodes[index]) {
        shares[node.file].messages += usize::from(node.raw.first() == Some(&b'{'));
        elements.push((node.place, node.raw));
        at = node.next;
    }
    (elements, shares)
}

/// Ids that occur more than once in one of the files.
fn repeated(candidates: &[SourceFile<'_>]) -> HashSet<String> {
    let mut repeated = HashSet::new();
    for candidate in candidates {
        let (mut seen, mut derive) = (HashSet::new(), Derive::default());
        let objects = candidate.document.elements();
        for (_, raw) in objects.filter(|(_, raw)| raw.first() == Some(&b'{')) {
            let id = identity(raw, &mut derive);
            if let Some(id) = seen.replace(id) {
                repeated.insert(id);
            }
        }
    }
    repeated
}

/// Whether two messages have the same content. Cached counts may differ, because saving adds them.
fn alike(one: &[u8], other: &[u8]) -> bool {
    let bare = |raw: &[u8]| without(&json::compact(raw).0, &["tokens"]);
    one == other || bare(one) == bare(other)
}

/// Reports the omitted ranges of a damaged file after its first fault.
fn report_omitted(candidate: &SourceFile<'_>, report: &mut Report) {
    let gaps = candidate.document.gaps();
    if let (Some(_), Some((at, why))) = (candidate.backup, candidate.document.first_fault()) {
        let what = format!("{} is also damaged, in line {}: {why}", candidate.name, at.line);
        report.damage(Position::default(), what);
    }
    let size = |from: Position, to: Position| to.offset - from.offset;
    for (from, to) in gaps.iter().take(NAMED) {
        let what = format!(
            "skipped {} bytes of {}, lines {} to {}",
            size(*from, *to),
            candidate.name,
            from.line,
            to.line
        );
        report.damage(candidate.position_in_file(*from), what);
    }
    if let Some((from, _)) = gaps.get(NAMED) {
        let rest = &gaps[NAMED..];
        let bytes: u64 = rest.iter().map(|(from, to)| size(*from, *to)).sum();
        let what = format!(
            "skipped {bytes} bytes of {} in {} more places",
            candidate.name,
            rest.len()
        );
        report.damage(candidate.position_in_file(*from), what);
    }
}

/// The first ids, and the number of others.
fn named(all: &[String]) -> String {
    let mut text = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        text.push_str(&format!(" and {} more", all.len() - NAMED));
    }
    text
}

fn object(members: &[&[u8]]) -> Vec<u8> {
    [b"{", members.join(&b","[..]).as_slice(), b"}"].concat()
}

fn name_of(member: &[u8]) -> String {
    let object = object(&[member]);
    let name = Members::new(&object, Dialect::Python).and_then(|mut members| members.next());
    name.ok()
        .flatten()
        .map(|member| member.name().into_owned())
        .unwrap_or_default()
}
