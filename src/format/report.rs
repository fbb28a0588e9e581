//! What reading and writing has to tell: damage, notes, and what a format cannot carry.

use crate::error::Place;
use crate::model::session::{Class, Session};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a format cannot carry; the words are the same for all formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// Ids of messages.
    Id,
    /// Times.
    Timestamp,
    /// Counts as a provider reported them.
    Usage,
    /// The model's name.
    Model,
    /// Thinking.
    Reasoning,
    /// A signature of thinking.
    Signature,
    /// Arguments of a tool call.
    Arguments,
    /// An image, a file, audio.
    Attachment,
    /// Another piece of content.
    Part,
    /// A name.
    Name,
    /// A category.
    Category,
    /// Free members.
    Metadata,
    /// A summary as such.
    Summary,
    /// A message as such.
    Message,
    /// Half of a tool exchange.
    Orphan,
    /// An event.
    Event,
    /// A member of the header.
    Header,
    /// A line that could not be read.
    Unreadable,
    /// A number that JSON does not have.
    Number,
    /// A course that was left.
    Branch,
    /// What another model did meanwhile.
    Sidechain,
    /// The order in which those who speak take turns.
    Order,
}

impl Loss {
    /// The word in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Loss::Id => "id",
            Loss::Timestamp => "timestamp",
            Loss::Usage => "usage",
            Loss::Model => "model",
            Loss::Reasoning => "reasoning",
            Loss::Signature => "signature",
            Loss::Arguments => "arguments",
            Loss::Attachment => "attachment",
            Loss::Part => "part",
            Loss::Name => "name",
            Loss::Category => "category",
            Loss::Metadata => "metadata",
            Loss::Summary => "summary",
            Loss::Message => "message",
            Loss::Orphan => "orphan",
            Loss::Event => "event",
            Loss::Header => "header",
            Loss::Unreadable => "unreadable",
            Loss::Number => "number",
            Loss::Branch => "branch",
            Loss::Sidechain => "sidechain",
            Loss::Order => "order",
        }
    }

    /// The word for several, in messages.
    fn plural(self) -> String {
        match self {
            Loss::Category => "categories".to_string(),
            Loss::Summary => "summaries".to_string(),
            Loss::Branch => "branches".to_string(),
            Loss::Unreadable => "damaged lines".to_string(),
            Loss::Usage | Loss::Reasoning | Loss::Arguments | Loss::Metadata | Loss::Header | Loss::Order => {
                self.name().to_string()
            }
            _ => format!("{}s", self.name()),
        }
    }
}

/// Losses in one line; the format that has them is named if it is known.
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

/// Something worth telling about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where; line 0 for the input as a whole.
    pub place: Place,
    /// What.
    pub what: Cow<'static, str>,
    /// Whether it is damage (status 65) or merely good to know.
    pub damage: bool,
}

/// What was found on the way; taken out and told by whoever prints.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order in which they were met.
    pub findings: Vec<Finding>,
    /// How often each kind of loss occurred.
    pub losses: BTreeMap<Loss, u64>,
    /// The format that has them, if one is written.
    pub target: Option<&'static str>,
    /// Whether what was read is more, or otherwise, than its bytes alone say: a sidecar or a spare copy counted too,
    /// or what was torn was put together. Such a document is no value that may come out as it went in.
    pub mended: bool,
}

impl Report {
    /// For a conversion to the format of this name.
    pub fn to_format(name: &'static str) -> Report {
        Report {
            target: Some(name),
            ..Report::default()
        }
    }

    /// Tells of damage: the line or document was read as far as possible.
    pub fn damage(&mut self, place: Place, what: impl Into<Cow<'static, str>>) {
        self.findings.push(Finding {
            place,
            what: what.into(),
            damage: true,
        });
    }

    /// Tells of something that is no damage.
    pub fn note(&mut self, place: Place, what: impl Into<Cow<'static, str>>) {
        self.findings.push(Finding {
            place,
            what: what.into(),
            damage: false,
        });
    }

    /// Tells of lines that are objects and none of what is read; once, for a whole log of another kind may follow.
    pub fn strange(&mut self, mut places: impl Iterator<Item = Place>, what: &str) {
        let Some(first) = places.next() else { return };
        let more = match places.count() {
            0 => String::new(),
            1 => " (1 more like this)".to_string(),
            more => format!(" ({more} more like this)"),
        };
        self.damage(first, format!("not a record of {what}; kept unchanged{more}"));
    }

    /// Counts a loss.
    pub fn lose(&mut self, loss: Loss, times: u64) {
        if times > 0 {
            *self.losses.entry(loss).or_default() += times;
        }
    }

    /// Counts the lines of a session that a format of bare messages has no place for.
    pub fn lose_lines(&mut self, session: &Session) {
        for index in 0..session.len() {
            match session.class(index) {
                Class::Event => self.lose(Loss::Event, 1),
                Class::Header => self.lose(Loss::Header, 1),
                Class::Unreadable => self.lose(Loss::Unreadable, 1),
                Class::Message(_) | Class::Blank => {}
            }
        }
    }

    /// Whether damage was met.
    pub fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.damage)
    }
}
