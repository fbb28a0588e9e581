//! Bare messages, one per line: the view without header and events. Messages keep all their members.

use super::report::{Loss, LossSet};
use super::{FormatSpec, ReadFn, SessionCount, WritePurpose, WriteTarget, written};
use crate::error::Result;
use crate::model::session::Session;
use crate::model::view::View;

/// Bare messages, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: "jsonl",
    about: "Bare messages, one JSON object per line",
    ending: ".jsonl",
    read: ReadFn::Records,
    session_count: SessionCount::Many,
    write: Some(write),
    concatenable: true,
    unsupported: LossSet::of(&[Loss::Summary, Loss::Event, Loss::Header, Loss::Unreadable]),
    ..FormatSpec::BLANK
};

/// Writes one session's view.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    if purpose == WritePurpose::Export {
        report.count_line_losses(session);
    }
    for item in &view.items {
        match item.summary_message(session) {
            Some(message) => {
                if purpose == WritePurpose::Export {
                    report.count_loss(Loss::Summary, 1);
                }
                written(out.write_all(&message))?;
            }
            None => written(out.write_all(item.body(session)))?,
        }
        written(out.write_all(b"\n"))?;
    }
    Ok(())
}
