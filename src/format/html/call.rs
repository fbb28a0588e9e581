//! Writes a tool call and its result as one collapsible element.

use super::escape::{self, escaped};
use super::media::PageImages;
use super::verbatim::{BYTES, LINES};
use super::{media, verbatim};
use crate::model::calls::{CallSummary, DetailLine, has_failed, output};
use crate::model::message::{Message, MessagePart, ToolCall};
use crate::model::visible::thousands;

/// Writes a call; `result` is its result with the anchor, `most` the maximum lines of a result.
pub fn push(
    out: &mut String,
    call: &ToolCall<'_>,
    result: Option<(&str, &Message<'_>)>,
    (directory, most): (Option<&str>, usize),
    images: &mut PageImages,
) {
    let summary = CallSummary::of(call, directory, true);
    let failed = result.is_some_and(|(_, result)| has_failed(result));
    let name = if summary.name.is_empty() {
        "tool"
    } else {
        &summary.name
    };
    open(out, name, result.map(|(anchor, _)| anchor), failed);
    if !summary.subject.is_empty() {
        out.push_str(" <code>");
        escape::push(out, &super::outline::beginning(&summary.subject, 160));
        out.push_str("</code>");
    }
    if let Some((added, removed)) = summary.counts {
        out.push_str(&format!(" <ins>+{added}</ins> <del>-{removed}</del>"));
    }
    close_summary(out, failed);
    if summary.subject.chars().count() > 160 {
        verbatim::push(out, "call", &summary.subject, LINES);
    }
    lines(out, &summary.lines);
    if !summary.arguments.is_empty() {
        verbatim::push(out, "call", &summary.arguments.join("\n"), LINES);
    }
    if let Some((_, result)) = result {
        contents(out, result, most, images);
    }
    out.push_str("</details>\n");
}

/// Writes a result without its call.
pub fn alone(
    out: &mut String,
    message: &Message<'_>,
    (name, most): (Option<&str>, usize),
    images: &mut PageImages,
) {
    let failed = has_failed(message);
    open(out, name.unwrap_or("tool"), None, failed);
    out.push_str(" result");
    close_summary(out, failed);
    contents(out, message, most, images);
    out.push_str("</details>\n");
}

fn open(out: &mut String, name: &str, anchor: Option<&str>, failed: bool) {
    let id = anchor
        .map(|anchor| format!(" id=\"{anchor}\""))
        .unwrap_or_default();
    let open = if failed { " open" } else { "" };
    let name = escaped(name);
    out.push_str(&format!(
        "<details class=\"tool\"{id} data-tool=\"{name}\"{open}><summary><b>{name}</b>"
    ));
}

fn close_summary(out: &mut String, failed: bool) {
    out.push_str(if failed {
        " <em class=\"failed\">failed</em></summary>\n"
    } else {
        "</summary>\n"
    });
}

/// Writes a file change, or the other lines of a call.
fn lines(out: &mut String, lines: &[DetailLine]) {
    if lines.is_empty() {
        return;
    }
    out.push_str("<pre class=\"diff\">");
    let mut bytes = 0;
    for (nth, line) in lines.iter().enumerate() {
        let (element, sign, text) = match line {
            DetailLine::Added(text) => ("ins", "+ ", text),
            DetailLine::Removed(text) => ("del", "- ", text),
            DetailLine::Note(text) => ("i", "", text),
            DetailLine::Same(text) => ("", "  ", text),
            DetailLine::Text(text) => ("", "", text),
        };
        bytes += text.len();
        if bytes > BYTES || nth >= 4 * LINES {
            out.push_str("</pre>\n");
            let rest = lines.len() - nth;
            return out.push_str(&format!(
                "<p class=\"mark\">\u{2026} {} more lines</p>\n",
                thousands(rest as u64)
            ));
        }
        match element {
            "" => {
                out.push_str(sign);
                escape::push(out, text);
                out.push('\n');
            }
            element => {
                out.push_str(&format!("<{element}>{sign}"));
                escape::push(out, text);
                out.push_str(&format!("\n</{element}>"));
            }
        }
    }
    out.push_str("</pre>\n");
}

fn contents(out: &mut String, message: &Message<'_>, most: usize, images: &mut PageImages) {
    for part in message.parts() {
        match part {
            MessagePart::Text(written) if written.is_empty() => {}
            MessagePart::Text(written) => verbatim::push(out, "result", &output(&written).0, most),
            MessagePart::Other(kind, raw) => media::push(out, &kind, raw, images),
        }
    }
}
