//! Writes a session as one output: the log of its view, or a legacy document.

use super::layout::{count_event_losses, layout};
use super::pair::SidecarHeader;
use super::write::LogEncoder;
use crate::error::Result;
use crate::format::report::{Loss, Report};
use crate::format::{WritePurpose, WriteTarget, go_json, written};
use crate::model::session::Session;
use crate::model::view::View;

/// Writes the view as a log, and reports data that only a sidecar can represent.
pub fn write(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let mut writing = LogEncoder::new(None, purpose);
    let laid = layout(session, view, false, &mut writing, report)?;
    let mut heading = Report::default();
    let sidecar = SidecarHeader::of(session, None, &mut heading);
    match purpose {
        WritePurpose::Export => {
            count_event_losses(session, view, false, report);
            report.count_loss(
                Loss::Header,
                heading.losses.remove(&Loss::Header).unwrap_or_default(),
            );
            sidecar.report_sidecar_losses(laid.summary.is_some(), report);
        }
        WritePurpose::Return => sidecar.report_sidecar_losses(laid.summary.is_some(), report),
        // A model needs the summary, too; otherwise the covered messages are lost.
        WritePurpose::Context => report.count_loss(Loss::Summary, u64::from(laid.summary.is_some())),
    }
    for line in &laid.lines {
        written(out.write_all(line).and_then(|()| out.write_all(b"\n")))?;
    }
    Ok(())
}

/// Writes the view as a document of older PicoClaw versions, with key, summary and times.
pub fn write_document(
    session: &Session,
    view: &View,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    let mut writing = LogEncoder::in_document(purpose);
    let laid = layout(session, view, false, &mut writing, report)?;
    let mut heading = Report::default();
    let sidecar = SidecarHeader::of(session, None, &mut heading);
    if purpose == WritePurpose::Export {
        count_event_losses(session, view, false, report);
        let extra = usize::from(sidecar.scope.is_some()) + usize::from(!sidecar.aliases.is_empty());
        report.count_loss(Loss::Header, extra as u64);
        report.count_loss(
            Loss::Header,
            heading.losses.remove(&Loss::Header).unwrap_or_default(),
        );
    }
    let mut members = vec![("key", go_json::quoted(&sidecar.key))];
    let mut messages = b"[".to_vec();
    for (nth, line) in laid.lines.iter().enumerate() {
        messages.extend_from_slice(if nth == 0 { b"\n    " } else { b",\n    " });
        messages.extend_from_slice(line);
    }
    messages.extend_from_slice(if laid.lines.is_empty() { b"]" } else { b"\n  ]" });
    members.push(("messages", messages));
    if let Some(summary) = &laid.summary {
        members.push(("summary", go_json::quoted(summary)));
    }
    let zero = || super::encode::ZERO_TIME.to_vec();
    let time =
        |time: Option<String>| time.map_or_else(zero, |time| go_json::quoted(&super::encode::time(&time)));
    members.push(("created", time(sidecar.created.clone())));
    members.push(("updated", time(sidecar.updated(session))));
    let mut document = b"{".to_vec();
    for (nth, (name, value)) in members.iter().enumerate() {
        document.extend_from_slice(if nth == 0 { b"\n  " } else { b",\n  " });
        document.extend_from_slice(format!("\"{name}\": ").as_bytes());
        document.extend_from_slice(value);
    }
    document.extend_from_slice(b"\n}");
    written(out.write_all(&document))
}
