//! The sentences of a reply that may become notes. A heading is never the end of a note, where it would head the next
//! one: it belongs to the sentence after it.

use crate::filter::summarize::{sentence_ranges, sentence_units, without_list_mark};
use std::ops::Range;

/// The units of a text, each with the heading directly before it if both have at most `most` characters.
pub fn note_units(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut heading: Option<usize> = None;
    for (unit, _) in sentence_units(text) {
        let content = &text[unit.clone()];
        let sentences = sentence_ranges(content);
        let is_content = |range: &Range<usize>| {
            let sentence = &content[range.clone()];
            !is_heading(sentence) && !is_separator(sentence)
        };
        let end = sentences.iter().rposition(is_content).map_or(0, |last| last + 1);
        if let Some(last) = sentences[..end].last() {
            let end = unit.start + last.end;
            let start = heading.take().unwrap_or(unit.start);
            let fits = text[start..end].chars().count() <= most;
            found.push(if fits { start } else { unit.start }..end);
        }
        if let Some(last) = sentences[end..].last() {
            heading = is_heading(&content[last.clone()]).then_some(unit.start + last.start);
        }
    }
    found
}

/// Whether a sentence heads the text after it: one that ends with a colon, a bold line, or a heading of Markdown.
fn is_heading(sentence: &str) -> bool {
    let bare = without_list_mark(sentence);
    let is_marked = sentence.trim_start_matches('#').starts_with(' ') && sentence.starts_with('#');
    let bold = bare.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    let is_bold = bold.is_some_and(|text| !text.contains("**") && !text.ends_with(['.', '!', '?']));
    is_marked || is_bold || bare.trim_end_matches(['*', '_']).ends_with([':', '\u{ff1a}'])
}

/// Whether a line only separates parts of a text.
fn is_separator(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<&str> {
        let units = note_units(text, 70).into_iter();
        units.map(|range| &text[range]).collect()
    }

    #[test]
    fn a_heading_belongs_to_the_sentence_after_it() {
        assert_eq!(
            units(
                "I read all of the files. Here is what I found:\n## Insights\n**What we do not control:**\n\
                 - The order of the events in the log.\n- **Recency:** a later event counts more.\n\
                 **All of the tests pass now.**\n---\n### Next\nLet me fix it:"
            ),
            [
                "I read all of the files.",
                "**What we do not control:**\n- The order of the events in the log.",
                "- **Recency:** a later event counts more.",
                "**All of the tests pass now.**",
            ]
        );
    }

    #[test]
    fn code_and_tables_end_before_a_heading() {
        for block in [
            "```\n# One\nlet x = 1; let y = 2;\n```",
            "| a | b |\n|---|---|\n| 1 | 2 |",
        ] {
            let after = "The next part is about something else.";
            let before = "Here is one of them.";
            let text = format!("{before}\n{block}\n---\n## Next\n{after}");
            assert_eq!(units(&text), [before, block, &format!("## Next\n{after}")]);
        }
    }

    #[test]
    fn a_heading_that_makes_a_note_too_long_is_omitted() {
        let long = "The cause is that every one of the messages is counted twice in the view.";
        assert_eq!(units(&format!("## Cause\n{long}")), [long]);
    }
}
