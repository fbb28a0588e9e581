//! The report of reading and writing: damage, notes, and losses.

use crate::error::Position;
use crate::model::json::JsonError;
use crate::model::named_enum::named_enum;
use crate::model::session::{Class, Session};
use std::borrow::Cow;
use std::collections::BTreeMap;

named_enum! {
    /// A kind of data that a format cannot represent; the same for all formats.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Loss {
        /// Ids of messages.
        Id = "id",
        /// Times.
        Timestamp = "timestamp",
        /// Token usage as reported by a provider.
        Usage = "usage",
        /// The model's name.
        Model = "model",
        /// Reasoning.
        Reasoning = "reasoning",
        /// A signature of reasoning.
        Signature = "signature",
        /// Arguments of a tool call.
        Arguments = "arguments",
        /// An image, a file or audio.
        Attachment = "attachment",
        /// Any other content part.
        Part = "part",
        /// A name.
        Name = "name",
        /// A category.
        Category = "category",
        /// Custom members.
        Metadata = "metadata",
        /// A summary; its text may remain as a message.
        Summary = "summary",
        /// A whole message.
        Message = "message",
        /// A tool call without its result, or the reverse.
        Orphan = "orphan",
        /// An event.
        Event = "event",
        /// A member of the header.
        Header = "header",
        /// A line that could not be parsed.
        Unreadable = "unreadable",
        /// A number that is invalid in JSON.
        Number = "number",
        /// An inactive branch.
        Branch = "branch",
        /// The messages of a subagent.
        Sidechain = "sidechain",
        /// The order of messages, where a format requires roles to alternate.
        Order = "order",
        /// A line in the archive of a store.
        Archived = "archived",
        /// An alias of a stored session.
        Alias = "alias",
    }
}

/// Kinds of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossSet(u32);

impl LossSet {
    /// No losses.
    pub const NONE: LossSet = LossSet(0);

    /// The losses of a writer for most programs, which name the model and keep calls, results and whole messages. Every
    /// writer that states this set can lose a kind that is added.
    pub const USUAL: LossSet = LossSet::of(&Loss::ALL).without(&[
        Loss::Model,
        Loss::Summary,
        Loss::Message,
        Loss::Orphan,
        Loss::Number,
        Loss::Branch,
        Loss::Sidechain,
        Loss::Order,
        Loss::Archived,
        Loss::Alias,
    ]);

    /// These kinds.
    pub const fn of(losses: &[Loss]) -> LossSet {
        LossSet::NONE.with(losses)
    }

    /// This set and these kinds.
    pub const fn with(mut self, losses: &[Loss]) -> LossSet {
        let mut nth = 0;
        while nth < losses.len() {
            self.0 |= 1 << losses[nth] as u32;
            nth += 1;
        }
        self
    }

    /// This set without these kinds.
    pub const fn without(self, losses: &[Loss]) -> LossSet {
        LossSet(self.0 & !LossSet::of(losses).0)
    }

    /// Whether the set has this kind.
    pub const fn contains(self, loss: Loss) -> bool {
        self.0 & (1 << loss as u32) != 0
    }

    /// The kinds in the order of reports.
    pub fn iter(self) -> impl Iterator<Item = Loss> {
        Loss::ALL.into_iter().filter(move |loss| self.contains(*loss))
    }
}

impl Loss {
    /// Plural for messages.
    fn plural(self) -> String {
        match self {
            Loss::Category => "categories".to_string(),
            Loss::Summary => "summaries".to_string(),
            Loss::Branch => "branches".to_string(),
            Loss::Unreadable => "damaged lines".to_string(),
            Loss::Archived => "archived lines".to_string(),
            Loss::Alias => "aliases".to_string(),
            Loss::Usage | Loss::Reasoning | Loss::Arguments | Loss::Metadata | Loss::Header | Loss::Order => {
                self.name().to_string()
            }
            _ => format!("{}s", self.name()),
        }
    }
}

/// Formats a count: `1 line`, `2000 lines`.
pub fn count_of(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Losses on one line, with the name of the target format if known.
pub fn describe_losses(losses: &BTreeMap<Loss, u64>, format: Option<&str>) -> Option<String> {
    if losses.is_empty() {
        return None;
    }
    let kind = |(loss, count): (&Loss, &u64)| format!("{} ({count})", loss.plural());
    let kinds = losses.iter().map(kind).collect::<Vec<_>>().join(", ");
    Some(match format {
        Some(format) => format!("{format} cannot represent: {kinds}"),
        None => format!("not represented: {kinds}"),
    })
}

/// A message about a position in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFinding {
    /// The position; line 0 for the input as a whole.
    pub place: Position,
    /// The message.
    pub what: Cow<'static, str>,
    /// Whether it is damage (status 65) or only a note.
    pub damage: bool,
}

/// Findings and losses, collected while reading and writing, and printed by the caller.
#[derive(Debug, Default)]
pub struct Report {
    /// Findings in input order.
    pub findings: Vec<ReadFinding>,
    /// Number of losses of each kind.
    pub losses: BTreeMap<Loss, u64>,
    /// Number of messages among them that are not written at all.
    pub missing: u64,
    /// The target format, if one is written.
    pub target: Option<&'static str>,
    /// Whether the session is not determined by the input bytes alone, because a sidecar or backup was read too, or
    /// damage was repaired. Such a document is not passed through unchanged.
    pub differs_from_input: bool,
}

impl Report {
    /// A report for a conversion to this format.
    pub fn to_format(name: &'static str) -> Report {
        Report {
            target: Some(name),
            ..Report::default()
        }
    }

    /// Reports damage; the line or document was read as far as possible.
    pub fn damage(&mut self, place: Position, what: impl Into<Cow<'static, str>>) {
        self.findings.push(ReadFinding {
            place,
            what: what.into(),
            damage: true,
        });
    }

    /// Reports why a line at this position could not be parsed.
    pub fn damage_in_line(&mut self, mut place: Position, fault: JsonError) {
        place.offset += fault.offset as u64;
        self.damage(place, fault.what);
    }

    /// Reports a note.
    pub fn note(&mut self, place: Position, what: impl Into<Cow<'static, str>>) {
        self.findings.push(ReadFinding {
            place,
            what: what.into(),
            damage: false,
        });
    }

    /// Reports objects that are not records of this format. They share one finding, because a whole log of another
    /// format may follow.
    pub fn report_unrecognized(&mut self, mut places: impl Iterator<Item = Position>, what: &str) {
        let Some(first) = places.next() else { return };
        let more = match places.count() {
            0 => String::new(),
            1 => " (1 more like this)".to_string(),
            more => format!(" ({more} more like this)"),
        };
        self.damage(first, format!("not a record of {what}; kept unchanged{more}"));
    }

    /// Counts a loss.
    pub fn count_loss(&mut self, loss: Loss, times: u64) {
        if times > 0 {
            *self.losses.entry(loss).or_default() += times;
        }
    }

    /// Counts messages that are not written.
    pub fn count_missing(&mut self, loss: Loss, times: u64) {
        self.count_loss(loss, times);
        self.missing += times;
    }

    /// Counts the lines of a session that a format of bare messages cannot represent.
    pub fn count_line_losses(&mut self, session: &Session) {
        for index in 0..session.len() {
            match session.class(index) {
                Class::Event => self.count_loss(Loss::Event, 1),
                Class::Header => self.count_loss(Loss::Header, 1),
                Class::Unreadable => self.count_loss(Loss::Unreadable, 1),
                Class::Message(_) | Class::Blank => {}
            }
        }
    }

    /// Whether damage was reported.
    pub fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.damage)
    }
}
