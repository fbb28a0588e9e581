//! Writes histories with the kit: Roo tags hidden messages; without tags, only visible messages are written.

use super::codec::ClineRoo;
use super::element::{elements, is_tagged, milliseconds};
use super::encode::{self, CallIds};
use super::tags;
use crate::error::{Error, Result};
use crate::format::WritePurpose;
use crate::format::kit::{
    Codec, Editor, ElementChange, ElementEdit, ElementEdits, SourceElements, Writer, losses,
};
use crate::format::report::{Loss, Report};
use crate::format::request::Api;
use crate::format::request::request_part::AnnotatedMessage;
use crate::model::json::array;
use crate::model::message::Role;

impl Editor for ClineRoo {
    type EditContext = CallIds;

    fn edit(&self, edits: &ElementEdits<'_, Self>, writer: &mut Writer<'_, Self>) -> Vec<ElementEdit> {
        if is_roo(edits.source) {
            return tags::tagged(edits, writer);
        }
        let list = edits.rewritten(writer);
        if writer.purpose == WritePurpose::Return {
            return list;
        }
        // The list of omitted messages is in another file.
        let shown = edits.shown();
        let count = list.len();
        let is_shown = |edit: &ElementEdit| !matches!(edit, ElementEdit::Keep(nth) if edits.has_messages(*nth) && !shown.contains(nth));
        let list: Vec<ElementEdit> = list.into_iter().filter(is_shown).collect();
        writer.report.count_loss(
            Loss::Event,
            u64::from(list.len() < count || edits.changes.contains(&ElementChange::Removed)),
        );
        list
    }

    fn check(&self, edits: &ElementEdits<'_, ClineRoo>, list: &[ElementEdit]) -> Result<()> {
        let kept = (0..edits.source.raws.len()).map(ElementEdit::Keep);
        let is_appended = list.len() >= kept.len()
            && kept.eq(list[..edits.source.raws.len()].iter().cloned())
            && !edits.changes.contains(&ElementChange::Restored)
            && edits.summary(&[]).is_none();
        if is_roo(edits.source) || is_appended {
            return Ok(());
        }
        let what = "Cline records omitted messages in other files; only appending is supported";
        let hint = "write a new history: convo COMMAND ... FILE | convo cat --to cline-roo > NEW";
        Err(Error::usage(what).hint(hint))
    }

    fn joins(&self, before: Role, role: Role) -> bool {
        before == Role::Tool && role == Role::Tool
    }

    fn new_element(&self, messages: &[AnnotatedMessage<'_>], out: &mut Writer<'_, Self>) -> Option<Vec<u8>> {
        encode::group(messages, Some(out.context), out.report)
    }

    fn new_summary(&self, text: &str, body: &[u8], _: &[Vec<u8>], _: &mut CallIds) -> Option<Vec<Vec<u8>>> {
        Some(vec![array([tags::summary(text, body).0])])
    }

    fn losses(&self, annotated: &AnnotatedMessage<'_>, joined: bool, report: &mut Report) {
        let mut lost = vec![Loss::Id, Loss::Usage, Loss::Model, Loss::Category];
        let time = annotated.message.timestamp;
        let is_lost = time.is_some_and(|time| joined || milliseconds(time).is_none());
        lost.extend(is_lost.then_some(Loss::Timestamp));
        let known = ["is_error", "from", Self::NAME, Api::Anthropic.name()];
        losses::of(annotated, &lost, &known, report);
        let is_known = matches!(
            annotated.message.role(),
            Role::User | Role::Assistant | Role::Tool
        );
        report.count_loss(Loss::Category, u64::from(!is_known));
    }
}

/// Whether a history has Roo's tags.
fn is_roo(source: &SourceElements) -> bool {
    let mut elements = source.raws.iter().flat_map(|group| elements(group));
    elements.any(is_tagged)
}
