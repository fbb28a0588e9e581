//! Writes a session as a history. User and model messages are restored when read again; everything else is written as
//! console output.

use super::line::{self, AiderLineKind, BEGINS, NAME, without_outer};
use crate::error::Result;
use crate::format::kit::losses;
use crate::format::kit::records::passthrough_raw;
use crate::format::report::{Loss, Report};
use crate::format::request::part_losses;
use crate::format::{WritePurpose, WriteTarget, written};
use crate::model::message::{Message, MessagePart, Role};
use crate::model::session::Session;
use crate::model::view::View;
use crate::model::{json, time};

/// The time of a session without one.
const EPOCH: &str = "1970-01-01 00:00:00";

/// Writes the view of a session.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let mut history = AiderHistory::default();
    if !has_no_start_line(session) {
        let begun = session
            .header_text("created_at")
            .or_else(|| {
                let mut messages = view.messages(session);
                messages.find_map(|message| message.timestamp().map(|time| time.into_owned()))
            })
            .and_then(|time| time::local(&time))
            .map_or(EPOCH.to_string(), |time| time[..EPOCH.len()].replace('T', " "));
        history.text.push_str(&format!("\n{BEGINS}{begun}\n"));
    }
    if purpose == WritePurpose::Export {
        let keeps_event = |index: usize| console_output(session, index).is_some();
        losses::records(session, is_lossless, keeps_event, report);
    }
    // Events of this format between messages.
    let mut between = (0..session.len())
        .filter_map(|index| Some((index, console_output(session, index)?)))
        .peekable();
    for item in &view.items {
        while let Some(line) = item.line()
            && let Some((_, output)) = between.next_if(|(index, _)| *index < line)
        {
            history.raw(&output);
        }
        if let Some(text) = item.summary(session) {
            report.count_loss(Loss::Summary, 1);
            history.console(&format!("Summary: {text}"));
        } else if let Some(message) = item.message(session) {
            if purpose == WritePurpose::Export {
                losses::members(&message, item.body(session), losses::UNNAMED_MEMBERS, &[], report);
            }
            history.message(&message, report);
        }
    }
    for (_, output) in between {
        history.raw(&output);
    }
    written(out.write_all(history.text.as_bytes()))
}

/// Whether the session consists of lines before the first start line of a file.
fn has_no_start_line(session: &Session) -> bool {
    let imported = session.metadata("imported");
    let imported = imported.as_deref().and_then(json::text);
    imported.is_some_and(|name| name == NAME) && session.header_member("created_at").is_none()
}

/// The console output in a line of a session.
fn console_output(session: &Session, index: usize) -> Option<String> {
    let record = session.record(index);
    let raw = passthrough_raw(record.event()?.raw, NAME).and_then(json::text)?;
    Some(raw.into_owned())
}

/// The kind of the last written lines.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastKind {
    #[default]
    Nothing,
    Reply,
    Console,
}

/// A history under construction.
#[derive(Default)]
struct AiderHistory {
    text: String,
    last: LastKind,
}

impl AiderHistory {
    /// Appends original console output.
    fn raw(&mut self, lines: &str) {
        if self.last != LastKind::Console {
            self.text.push('\n');
        }
        self.text.push_str(lines);
        self.text.push('\n');
        self.last = LastKind::Console;
    }

    fn console(&mut self, text: &str) {
        let lines: Vec<String> = text.split('\n').map(|line| format!("> {line}  ")).collect();
        self.raw(&lines.join("\n"));
    }

    fn message(&mut self, message: &Message<'_>, report: &mut Report) {
        part_losses::reasoning_and_name(message, report);
        let text = text(message, report);
        match message.role() {
            Role::User => self.user(&text),
            Role::Assistant => self.assistant(&text, message, report),
            Role::Tool => {
                report.count_loss(Loss::Part, 1);
                self.console(&format!("Result: {text}"));
            }
            _ => {
                report.count_missing(Loss::Message, 1);
                self.console(&format!("{}: {text}", message.role_name()));
            }
        }
    }

    fn user(&mut self, text: &str) {
        self.text.push('\n');
        for line in text.split('\n') {
            self.text.push_str(&format!("#### {line}  \n"));
        }
        self.last = LastKind::Nothing;
    }

    fn assistant(&mut self, text: &str, message: &Message<'_>, report: &mut Report) {
        let calls = message.tool_calls();
        let inner = match text.trim().is_empty() {
            true => "",
            false => without_outer(text),
        };
        if inner.is_empty() && calls.is_empty() {
            report.count_loss(Loss::Message, 1);
        } else if inner.len() < text.len() {
            // Surrounding empty lines are dropped.
            report.count_loss(Loss::Part, 1);
        }
        if !inner.is_empty() {
            // Separates the text from the previous model message.
            if self.last == LastKind::Reply {
                self.raw(">");
            }
            self.text.push('\n');
            for line in inner.split('\n') {
                if matches!(
                    line::kind(line.as_bytes()),
                    AiderLineKind::Begins | AiderLineKind::User(_) | AiderLineKind::Console(_)
                ) {
                    report.count_loss(Loss::Part, 1);
                    self.text.push(' ');
                }
                self.text.push_str(line);
                self.text.push('\n');
            }
            self.last = LastKind::Reply;
        }
        for call in calls {
            report.count_loss(Loss::Part, 1);
            self.console(&format!("Call: {}({})", call.name, call.arguments));
        }
    }
}

/// Types of media parts.
const MEDIA: [&str; 5] = ["image", "audio", "file", "video", "document"];

/// The text of a message; reports other parts as losses.
fn text(message: &Message<'_>, report: &mut Report) -> String {
    let mut texts = Vec::new();
    for part in message.parts() {
        match part {
            MessagePart::Text(text) => texts.push(text),
            MessagePart::Other(kind, _) => {
                let media = MEDIA.iter().any(|name| kind.contains(name));
                report.count_loss(if media { Loss::Attachment } else { Loss::Part }, 1);
            }
        }
    }
    texts.join("\n")
}

/// Whether a header has no data that would be lost.
fn is_lossless(header: &[u8]) -> bool {
    let members = ["type", "version", "id", "key", "source", "created_at"];
    losses::keeps_header(header, &members, &[], "imported")
}
