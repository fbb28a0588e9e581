//! Renders tool calls and their results.

use super::canvas::Canvas;
use crate::output::in_line;
use crate::terminal::palette::ColorRole;
use convo::model::calls::{CallSummary, DetailLine, has_failed, output};
use convo::model::message::{Message, MessagePart, ToolCall};

/// Lines of a result, or arguments, that are shown folded.
pub const FOLDED: usize = 4;

/// Lines of a diff that are shown folded.
const FOLDED_DIFF: usize = 8;

/// Indents of a call, its details and its result.
const INDENTS: [&str; 3] = ["  ", "      ", "    "];

/// Adds a call: name, path or command, counts; then the edit that it makes.
pub fn call(canvas: &mut Canvas, call: &ToolCall<'_>, directory: Option<&str>, full: bool, failed: bool) {
    let summary = CallSummary::of(call, directory, full);
    let name = Some(&*summary.name)
        .filter(|name| !name.is_empty())
        .unwrap_or("tool");
    let mut line = format!("• {}", canvas.paint(ColorRole::Tool, &in_line(name)));
    if !summary.subject.is_empty() {
        let subject = in_line(&summary.subject);
        let cut = subject.char_indices().nth(SUBJECT).filter(|_| !full);
        line.push(' ');
        line.push_str(cut.map_or(&*subject, |(end, _)| &subject[..end]));
        line.push_str(cut.map_or("", |_| "…"));
    }
    let (added, removed) = summary.counts.unwrap_or_default();
    for (ink, sign, count) in [(ColorRole::Added, '+', added), (ColorRole::Removed, '-', removed)] {
        if count > 0 {
            line.push_str("  ");
            line.push_str(&canvas.paint(ink, &format!("{sign}{count}")));
        }
    }
    if failed {
        line.push_str("  ");
        line.push_str(&canvas.paint(ColorRole::Error, "failed"));
    }
    canvas.wrapped(INDENTS[0], INDENTS[2], &line);
    let most = |folded| if full { usize::MAX } else { folded };
    let is_diff = summary.counts.is_some();
    let shown = most(if is_diff { FOLDED_DIFF } else { FOLDED });
    for line in summary.lines.iter().take(shown) {
        let (ink, sign, text) = match line {
            DetailLine::Text(text) => (None, "", text),
            DetailLine::Added(text) => (Some(ColorRole::Added), "+ ", text),
            DetailLine::Removed(text) => (Some(ColorRole::Removed), "- ", text),
            DetailLine::Same(text) => (None, "  ", text),
            DetailLine::Note(text) => (Some(ColorRole::Dim), "", text),
        };
        // Keep it on one line; a long line is cut as in a result.
        let text = format!("{sign}{}", text.replace('\n', "\u{240a}"));
        canvas.paragraph(INDENTS[1], &text, most(1), ink);
    }
    canvas.more(INDENTS[1], summary.lines.len().saturating_sub(shown));
    for argument in summary.arguments.iter().take(most(FOLDED)) {
        canvas.paragraph(INDENTS[1], argument, most(1), None);
    }
    let rest = summary.arguments.len().saturating_sub(most(FOLDED));
    if rest > 0 {
        let ending = if rest == 1 { "" } else { "s" };
        let text = canvas.paint(
            ColorRole::Dim,
            &format!("… {rest} more argument{ending} (--full)"),
        );
        canvas.wrapped(INDENTS[1], INDENTS[1], &text);
    }
}

/// Maximum length of a path or a command, in characters.
const SUBJECT: usize = 400;

/// Adds the result of a call below it.
pub fn result(canvas: &mut Canvas, message: &Message<'_>, full: bool) {
    let fold = if full { usize::MAX } else { FOLDED };
    let ink = has_failed(message).then_some(ColorRole::Error);
    for part in message.parts() {
        match part {
            MessagePart::Text(text) if text.is_empty() => {}
            MessagePart::Text(text) => canvas.paragraph(INDENTS[2], &output(&text).0, fold, ink),
            MessagePart::Other(kind, raw) => {
                let text = format!("[{kind}, {} bytes]", raw.len());
                canvas.paragraph(INDENTS[2], &text, 1, Some(ColorRole::Dim));
            }
        }
    }
}
