//! Every codec with an editor as an [`AnyCodec`].

use super::any_codec::{AnyCodec, CodecConstants, EditsInPlace, ElementDecoder, NewEdits, NewElements};
use super::changes::ElementChange;
use super::codec::{Codec, Decoded, SessionInfo};
use super::editor::{Editor, ElementEdits, Writer, new_elements};
use super::frame::ElementEdit;
use super::link::link;
use super::source::SourceElements;
use crate::error::{Error, Result};
use crate::format::report::Report;
use crate::format::{EditedSession, WritePurpose};
use crate::model::message::Role;

impl<C: Editor> AnyCodec for C {
    fn constants(&self) -> &'static CodecConstants {
        const { &CodecConstants::of::<C>() }
    }
    fn variants(&self) -> Vec<&'static dyn AnyCodec> {
        C::VARIANTS.iter().map(|codec| codec as &dyn AnyCodec).collect()
    }
    fn further_id(&self, id: &str, nth: usize) -> String {
        <C as Codec>::further_id(id, nth)
    }
    fn decoder<'d>(&'d self, number: usize, elements: &[Vec<u8>]) -> Box<dyn ElementDecoder + 'd> {
        Box::new(OutlinedCodec {
            codec: self,
            outline: self.numbered_outline(number, elements),
        })
    }
    fn appended(&self, source: &SourceElements, edits: &[ElementEdit]) -> Option<Vec<Vec<u8>>> {
        Editor::appended(self, source, edits)
    }
    fn joins(&self, before: Role, role: Role) -> bool {
        Editor::joins(self, before, role)
    }
    fn check_lines(&self, lines: &[Vec<u8>], report: &mut Report) {
        Editor::check_lines(self, lines, report);
    }
    fn edits_in_place(
        &self,
        about: Option<&[u8]>,
        source: &SourceElements,
        returned: &EditedSession<'_>,
        report: &mut Report,
    ) -> Result<EditsInPlace> {
        let edits = ElementEdits::new(self, returned.session, returned.view, source);
        let instructions = edits.instructions(report)?;
        let mut writer = Writer {
            purpose: WritePurpose::Return,
            context: &mut self.context(about, source),
            report,
        };
        let list = Editor::edit(self, &edits, &mut writer);
        let list = arranged(self, source, &edits.changes, list)?;
        self.check(&edits, &list)?;
        Ok((list, instructions))
    }
    fn edits(
        &self,
        about: Option<&[u8]>,
        source: &SourceElements,
        write: NewElements<'_>,
        report: &mut Report,
    ) -> Result<NewEdits> {
        let mut context = self.context(about, source);
        let edits = ElementEdits::new(self, write.session, write.view, source);
        let instructions = edits.instructions(report)?;
        let mut writer = Writer {
            purpose: write.purpose,
            context: &mut context,
            report,
        };
        Ok(NewEdits {
            edits: Editor::edit(self, &edits, &mut writer),
            instructions,
            about: new_about(self, write, &context),
        })
    }
    fn converted(&self, items: &[usize], write: NewElements<'_>, report: &mut Report) -> NewEdits {
        let mut context = self.new_context(write.session, write.view);
        let mut writer = Writer {
            purpose: write.purpose,
            context: &mut context,
            report,
        };
        let elements = new_elements(self, (write.session, write.view), items, &mut writer);
        NewEdits {
            edits: elements.into_iter().map(ElementEdit::Insert).collect(),
            instructions: None,
            about: new_about(self, write, &context),
        }
    }
}

/// The new members next to the list, if there are any.
fn new_about<C: Editor>(codec: &C, write: NewElements<'_>, context: &C::EditContext) -> Option<Vec<u8>> {
    let layout = write.about?;
    Some(
        codec
            .new_about(write.session, write.view, context, layout)
            .finish(),
    )
}

struct OutlinedCodec<'c, C: Codec> {
    codec: &'c C,
    outline: C::ElementOutline,
}

impl<C: Codec> ElementDecoder for OutlinedCodec<'_, C> {
    fn remarks(&self, about: &[u8], elements: &[Vec<u8>]) -> Vec<String> {
        self.codec.remarks(&self.outline, about, elements)
    }
    fn add_info(&self, info: &mut SessionInfo) {
        self.codec.add_info(&self.outline, info);
    }
    fn decode(&self, nth: usize, element: &[u8]) -> Decoded {
        self.codec.decode(&self.outline, nth, element)
    }
}

/// Edits in place with updated links; an error if they do not represent all changes.
fn arranged(
    codec: &dyn AnyCodec,
    source: &SourceElements,
    changes: &[ElementChange],
    mut list: Vec<ElementEdit>,
) -> Result<Vec<ElementEdit>> {
    if source.is_side_session {
        move_after_messages(source, &mut list);
    }
    let is_kept = |edit: &ElementEdit| matches!(edit, ElementEdit::Keep(_));
    let keeps_all = list.len() == source.raws.len() && list.iter().all(is_kept);
    let constants = codec.constants();
    if keeps_all && changes.iter().any(|change| *change != ElementChange::None) {
        return Err(Error::not_in_place(format!(
            "the change cannot be written to {}",
            constants.phrase
        )));
    }
    Ok(link(constants.link, &source.raws, list))
}

/// Moves new elements from the end to the last message, because the last line of a log decides which branch is the main
/// session.
fn move_after_messages(source: &SourceElements, list: &mut [ElementEdit]) {
    let first = source.elements.first_lines();
    let nth = |edit: &ElementEdit| match edit {
        ElementEdit::Keep(nth) | ElementEdit::Replace(nth, _) => Some(*nth),
        ElementEdit::Insert(_) => None,
    };
    let end = list.iter().rposition(|edit| nth(edit).is_some());
    let last = list
        .iter()
        .rposition(|edit| nth(edit).is_some_and(|nth| first.contains_key(&nth)));
    if let (Some(end), Some(last)) = (end, last) {
        let count = list.len() - 1 - end;
        list[last + 1..].rotate_right(count);
    }
}
