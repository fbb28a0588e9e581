//! The block of standing instructions in a summary. Each line names the speaker: a summary may be sent as a system
//! message, which must not promote what a user said.

use super::frame::{Head, joined, records, role_of, speaker};
use super::handoff::Heading;
use crate::model::message::Role;

/// The heading of the block.
const HEADING: &str = "standing instructions, by speaker:";

/// The former heading, of a block without speakers.
const UNNAMED: &str = "standing instructions:";

/// A standing instruction: a rule that holds for the rest of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The speaker; none if an earlier summary does not name it, which counts as the user.
    pub speaker: Option<Role>,
    /// The text.
    pub text: String,
}

impl Instruction {
    pub(super) fn new(speaker: Option<Role>, text: &str) -> Instruction {
        // Treat every character that a reader may take for a line end as one.
        let ends = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        let text = match text.contains(ends) {
            true => text.replace("\r\n", "\n").replace(ends, "\n"),
            false => text.to_string(),
        };
        Instruction { speaker, text }
    }

    /// Encodes the instruction as lines of the block.
    pub(super) fn lines(&self) -> String {
        let speaker = speaker(self.speaker.unwrap_or(Role::User), None);
        let mut out = String::new();
        for (index, line) in self.text.split('\n').enumerate() {
            if index == 0 || !line.is_empty() {
                out.push_str(if index == 0 { "- " } else { "  " });
                out.push_str(&speaker);
            }
            out.push_str(line);
            out.push('\n');
        }
        out
    }

    /// Parses an entry of a block; `named` means that lines name the speaker.
    fn read(text: &str, named: bool) -> Instruction {
        let known = |(speaker, _): (&str, &str)| role_of(speaker);
        let Some(role) = text.split_once(": ").and_then(known).filter(|_| named) else {
            return Instruction::new(None, text);
        };
        let speaker = speaker(role, None);
        let lines = text.split('\n');
        let lines: Vec<&str> = lines
            .map(|line| line.strip_prefix(&*speaker).unwrap_or(line))
            .collect();
        Instruction::new(Some(role), &lines.join("\n"))
    }
}

/// Whether a line could be taken for the heading of a block or a record.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    [HEADING, UNNAMED].contains(&line) || Heading::from_name(line).is_some() || Head::read(line).is_some()
}

/// Encodes the block of these instructions.
pub(in crate::filter) fn instruction_block(instructions: &[Instruction]) -> String {
    let lines = instructions.iter().map(Instruction::lines);
    [format!("{HEADING}\n")].into_iter().chain(lines).collect()
}

/// Splits a text into the instructions of its initial block and the rest; none without a block.
pub(super) fn split(text: &str) -> Option<(Vec<Instruction>, &str)> {
    let (heading, rest) = text.split_once('\n')?;
    if heading != HEADING && heading != UNNAMED {
        return None;
    }
    // An empty line belongs to the block if an instruction continues after it.
    let (mut end, mut at, mut gap) = (0, 0, false);
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line == "\n" {
            gap = true;
        } else if line.starts_with("- ") && !gap || line.starts_with("  ") && end > 0 {
            (end, gap) = (at, false);
        } else {
            break;
        }
    }
    let (block, rest) = rest.split_at(end);
    let entries = joined(block.trim_end_matches('\n').split('\n'), true);
    let texts = entries.iter().filter_map(|(_, text)| text.strip_prefix("- "));
    let instructions = texts.map(|text| Instruction::read(text, heading == HEADING));
    Some((instructions.collect(), rest))
}

/// Removes the blocks of standing instructions from a summary.
pub(in crate::filter) fn without_instructions(summary: &str) -> String {
    let without = |record: &str| {
        let end = match record.lines().next().and_then(Head::read) {
            Some(_) => record.find('\n').map_or(record.len(), |at| at + 1),
            None => 0,
        };
        let (head, rest) = record.split_at(end);
        match split(rest) {
            Some((_, rest)) => format!("{head}{}", rest.trim_start_matches('\n')),
            None => record.to_string(),
        }
    };
    records(summary).into_iter().map(without).collect()
}

/// Removes from a summarizer's text the lines that would begin a block, because only messages are instructions. A
/// text of only such lines is kept.
pub(in crate::filter) fn without_headings(text: &str) -> String {
    if !text.lines().any(is_heading) {
        return text.to_string();
    }
    let kept: Vec<&str> = text.split('\n').filter(|line| !is_heading(line)).collect();
    let kept = kept.join("\n").trim().to_string();
    if kept.is_empty() { text.to_string() } else { kept }
}
