//! The block of standing instructions in a summary. Each of its lines names who said it: a summary may be shown under the role of a
//! system message, and what a user said is not to rise to that.

use super::frame::{Head, joined, records, role_of, speaker};
use super::handoff::Heading;
use crate::model::message::Role;

/// Begins the block.
const HEADING: &str = "standing instructions, by speaker:";

/// Began a block whose lines name nobody.
const UNNAMED: &str = "standing instructions:";

/// A rule that holds from when it was said on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Who said it; none where an earlier summary does not tell, which counts as a user.
    pub speaker: Option<Role>,
    /// What was said.
    pub text: String,
}

impl Instruction {
    pub(super) fn new(speaker: Option<Role>, text: &str) -> Instruction {
        // Whatever a reader could take for the end of a line is one here.
        let ends = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        let text = match text.contains(ends) {
            true => text.replace("\r\n", "\n").replace(ends, "\n"),
            false => text.to_string(),
        };
        Instruction { speaker, text }
    }

    /// Its lines in the block.
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

    /// From the text of an entry of a block, whose lines name the speaker or not.
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

/// Whether a line would begin a block where one may stand, or a record.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    [HEADING, UNNAMED].contains(&line) || Heading::of(line).is_some() || Head::read(line).is_some()
}

/// The block of these instructions.
pub(in crate::filter) fn instruction_block(instructions: &[Instruction]) -> String {
    let lines = instructions.iter().map(Instruction::lines);
    [format!("{HEADING}\n")].into_iter().chain(lines).collect()
}

/// The instructions of the block that a text begins with, and the rest of the text; none without a block.
pub(super) fn split(text: &str) -> Option<(Vec<Instruction>, &str)> {
    let (heading, rest) = text.split_once('\n')?;
    if heading != HEADING && heading != UNNAMED {
        return None;
    }
    // An empty line is of the block where a further line of an instruction follows.
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

/// A summary without its blocks of standing instructions.
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

/// A text by somebody else without the lines that would begin a block: only what was said is an instruction. One of nothing else stays.
pub(in crate::filter) fn without_headings(text: &str) -> String {
    if !text.lines().any(is_heading) {
        return text.to_string();
    }
    let kept: Vec<&str> = text.split('\n').filter(|line| !is_heading(line)).collect();
    let kept = kept.join("\n").trim().to_string();
    if kept.is_empty() { text.to_string() } else { kept }
}
