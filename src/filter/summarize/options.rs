//! Options of a summary.

use super::block::Instruction;
use super::dates::Dates;

/// Where the standing instructions come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Instructions {
    /// Detected in user, system and developer messages.
    #[default]
    Auto,
    /// None; those of an earlier summary become ordinary entries.
    Off,
    /// Only these.
    Given(Vec<GivenRule>),
}

/// A given standing instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenRule {
    /// A text.
    Sentence(String),
    /// The whole text of the message with this id.
    Message(String),
}

impl GivenRule {
    /// Parses a file of rules: one sentence per line, or `id: msg_...`; blank lines are skipped.
    pub fn read(file: &str) -> Vec<GivenRule> {
        let file = file.strip_prefix('\u{feff}').unwrap_or(file);
        let lines = file.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| match line.strip_prefix("id:").map(str::trim) {
                Some(id) if !id.is_empty() && !id.contains(char::is_whitespace) => {
                    GivenRule::Message(id.to_string())
                }
                _ => GivenRule::Sentence(line.to_string()),
            })
            .collect()
    }
}

/// Style options of a summary.
#[derive(Clone, Debug)]
pub struct SummaryStyle {
    /// The role of the summary message; none selects the one that fits the target format best.
    pub role: Option<String>,
    /// How dates are written.
    pub dates: Dates,
    /// Where the standing instructions come from.
    pub instructions: Instructions,
    /// Maximum share of the budget for detected instructions, in percent. Given instructions are not limited.
    pub instruction_share: u32,
    /// Expected questions: half of the quoted text is selected to answer them.
    pub questions: Vec<String>,
    /// Whether to write a handoff for a session with tools.
    pub handoff: bool,
}

impl Default for SummaryStyle {
    /// Short dates and detected instructions with at most a quarter of the budget.
    fn default() -> SummaryStyle {
        SummaryStyle {
            role: None,
            dates: Dates::default(),
            instructions: Instructions::default(),
            instruction_share: 25,
            questions: Vec::new(),
            handoff: true,
        }
    }
}

/// Options of one summary.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// Maximum tokens of the whole text.
    pub budget: u64,
    /// The style.
    pub style: SummaryStyle,
    /// Tokens of the summarized messages; none counts the source texts.
    pub covered: Option<u64>,
    /// The instructions of an earlier summary that is kept: the summary does not repeat them, but quotes what replaces
    /// one of them.
    pub kept: Vec<Instruction>,
    /// Finds where a text can be cut so that the token counts of both parts add up; 0 if it cannot. A long draft is then
    /// counted without being in memory as a whole.
    pub seam: fn(&str) -> usize,
}

impl ExtractOptions {
    /// Options with this budget and the default style.
    pub fn new(budget: u64) -> ExtractOptions {
        ExtractOptions {
            budget,
            style: SummaryStyle::default(),
            covered: None,
            kept: Vec::new(),
            seam: |_| 0,
        }
    }
}
