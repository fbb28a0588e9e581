//! The report of a compaction: one record per message group, and one for the whole view.

use super::event::{Size, write_sizes};
use super::options::CompactOptions;
use super::prefix::Prefix;
use super::state::{Atom, AtomLevel, CompactionState};
use crate::model::json::{self, ObjectBuilder};
use crate::model::message::{Message, Role};
use crate::model::view::Item;

/// The change to a message group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomReport {
    /// Ids of the group's messages.
    pub ids: Vec<String>,
    /// `user`, `reply` or `record`.
    pub kind: &'static str,
    /// The level of the group.
    pub level: AtomLevel,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
    /// The step that changed the group, or why it is kept.
    pub reason: &'static str,
}

/// The changes to a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionReport {
    /// Each atom, in order; none where they are not to be explained, nor ids of messages.
    pub atoms: Vec<AtomReport>,
    /// The view before.
    pub was: Size,
    /// The view after.
    pub now: Size,
    /// Ids of dropped messages that the summary or a digest covers.
    pub summarized: Vec<String>,
    /// Ids of dropped messages that neither covers.
    pub dropped: Vec<String>,
    /// The unchanged beginning of the view, which a prompt cache can reuse; empty if it is not to be explained.
    pub prefix: Box<Prefix>,
    /// Why nothing changes; none if something does.
    pub reason: Option<String>,
}

impl CompactionReport {
    /// Of a view on the table; `reason` when it stays as it was. Without `explains`, it has neither
    /// atoms nor a prefix.
    pub(in crate::filter) fn of(
        work: &CompactionState<'_>,
        reason: Option<&str>,
        explains: bool,
    ) -> CompactionReport {
        let as_it_was = reason.is_some();
        let explained = work.atoms.iter().filter(|_| explains);
        let atoms: Vec<AtomReport> = explained.map(|atom| one(work, atom, as_it_was)).collect();
        let left = |summed: bool| {
            let left = atoms.iter().filter(move |atom| {
                let is_summarized =
                    atom.level == AtomLevel::Digest || work.summary.is_some() && atom.reason == "summary";
                atom.level >= AtomLevel::Digest && is_summarized == summed
            });
            left.flat_map(|atom| atom.ids.clone()).collect::<Vec<_>>()
        };
        CompactionReport {
            summarized: left(true),
            dropped: left(false),
            was: work.was(),
            now: if as_it_was { work.was() } else { work.now() },
            prefix: Box::new(match (explains, as_it_was) {
                (false, _) => Prefix::default(),
                (true, true) => Prefix::whole(work),
                (true, false) => Prefix::of(work),
            }),
            reason: reason.map(str::to_string),
            atoms,
        }
    }

    /// Encodes the whole as a line of JSON without its newline.
    pub fn json(&self, input: &str, tokenizer: &str) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built
            .text("schema", "convo.compact/1")
            .text("input", input)
            .raw("changed", self.reason.is_none().to_string());
        if let Some(reason) = &self.reason {
            built.text("reason", reason);
        }
        write_sizes(&mut built, tokenizer, &self.was, &self.now);
        built
            .raw("summarized", json::texts(&self.summarized))
            .raw("dropped", json::texts(&self.dropped))
            .raw("prefix_kept_bytes", self.prefix.bytes.to_string())
            .raw("prefix_kept_tokens", self.prefix.tokens.to_string());
        if let Some(id) = &self.prefix.first_changed {
            built.text("first_changed", id);
        }
        built.raw("consolidated", self.prefix.consolidated.to_string());
        built.finish()
    }
}

impl AtomReport {
    /// Encodes the group as a line of JSON without its newline.
    pub fn json(&self) -> Vec<u8> {
        let mut built = ObjectBuilder::default();
        built.text("schema", "convo.compact-atom/1");
        built.text("id", self.ids.first().map_or("", String::as_str));
        built
            .raw("ids", json::texts(&self.ids))
            .text("kind", self.kind)
            .text("level", self.level.name())
            .raw("before", self.before.to_string())
            .raw("after", self.after.to_string())
            .text("reason", self.reason);
        built.finish()
    }
}

fn one(work: &CompactionState<'_>, atom: &Atom, as_it_was: bool) -> AtomReport {
    let before = atom.items.iter().map(|at| work.items[*at].before).sum();
    let stays = match atom {
        Atom { pinned: true, .. } => "pinned",
        Atom { pending: true, .. } => "pending",
        Atom { exchange, .. } if Some(*exchange) == work.newest() => "newest",
        _ => "fits",
    };
    let changed = !as_it_was && !atom.reason.is_empty();
    AtomReport {
        ids: atom.items.iter().map(|at| work.id(*at)).collect(),
        kind: kind(work, atom.items[0]),
        level: if changed { atom.level } else { AtomLevel::Full },
        before,
        after: if as_it_was {
            before
        } else {
            atom.items.iter().map(|at| work.items[*at].now).sum()
        },
        reason: match atom.reason {
            // A summary did not fit.
            "summary" if changed && work.summary.is_none() => "drop",
            reason if changed => reason,
            _ => stays,
        },
    }
}

/// The kind of the group that begins with this item.
pub(in crate::filter) fn kind(work: &CompactionState<'_>, first: usize) -> &'static str {
    let is_record = work.items[first]
        .atom()
        .is_some_and(|atom| work.atoms[atom].record);
    match work.items[first].traits.map(|traits| traits.role) {
        _ if is_record || matches!(work.view.items[first], Item::Inserted(_)) => "record",
        Some(Role::User) => "user",
        _ => "reply",
    }
}

/// Describes the parts of the smallest size: system messages, pinned messages, the newest exchange.
pub(super) fn floor(work: &CompactionState<'_>) -> String {
    let pinned = (0..work.atoms.len()).filter(|atom| work.atoms[*atom].pinned);
    let pinned: u64 = pinned.map(|atom| work.atom_tokens(atom)).sum();
    let newest = work.newest().map_or(0, |newest| work.exchange_tokens(newest));
    format!(
        "system {}, pinned {pinned}, newest exchange {newest}",
        work.undroppable_tokens()
    )
}

/// Suggests how to get below the smallest size; first an option for a message that makes up more than half of it.
pub(super) fn remedy(work: &CompactionState<'_>, options: &CompactOptions, smallest: u64) -> String {
    let always = "raise --budget, or accept the minimum with --best-effort";
    let Some(at) = largest_item(work).filter(|at| work.items[*at].now * 2 > smallest) else {
        return always.to_string();
    };
    let (id, entry) = (work.id(at), &work.items[at]);
    let message = work.view.items[at].message(work.session);
    let calls = message.as_ref().map(Message::tool_calls).unwrap_or_default();
    let arguments: usize = calls.iter().map(|call| call.arguments.len()).sum();
    let text = message.map_or(0, |message| message.text().len());
    let pending = entry.atom().is_some_and(|atom| work.atoms[atom].pending);
    let is_result = entry.traits.is_some_and(|traits| traits.role == Role::Tool);
    let masks = if options.steps.mask { "" } else { "--mask-tools " };
    let option = if options.pins.contains(&id) {
        format!("omit --pin {id}, ")
    } else if arguments > text && !pending && !options.mask.inputs {
        format!("replace the arguments with {masks}--mask-inputs, ")
    } else if is_result && !pending && !options.steps.mask {
        "replace the result with --mask-tools --keep-tools 0, ".to_string()
    } else {
        String::new()
    };
    format!("message {id} takes {}: {option}{always}", entry.now)
}

fn largest_item(work: &CompactionState<'_>) -> Option<usize> {
    (0..work.items.len()).max_by_key(|at| (work.items[*at].now, std::cmp::Reverse(*at)))
}

/// Names the largest message in the view.
pub(super) fn largest(work: &CompactionState<'_>) -> String {
    match largest_item(work) {
        Some(at) if Some(at) == work.summary_item => {
            format!(
                "the largest message is the summary with {} tokens",
                work.items[at].now
            )
        }
        Some(at) => format!(
            "the largest message is {} with {} tokens",
            work.id(at),
            work.items[at].now
        ),
        None => "the view is empty".to_string(),
    }
}
