//! Codecs as one type, so that the compiler translates the kit once, and not once for each format.

use super::codec::{Assembly, Codec, Decoded, DocumentLayout, Draft, SessionInfo};
use super::frame::ElementEdit;
use super::part::{Parsed, SideSession};
use super::sidecar::Sidecar;
use super::source::SourceElements;
use crate::error::{Position, Result};
use crate::format::report::Report;
use crate::format::request::draft::AnnotatedDraft;
use crate::format::request::request_part::AnnotatedMessage;
use crate::format::workspace::WorkspaceMember;
use crate::format::{EditedSession, Format, SessionInput, WritePurpose};
use crate::model::message::Role;
use crate::model::session::Session;
use crate::model::view::View;

macro_rules! constants {
    ($($field:ident: $type:ty = $constant:ident,)*) => {
        /// The constants of a [`Codec`], which describes them.
        pub struct CodecConstants {
            $(pub $field: $type,)*
        }

        impl CodecConstants {
            /// Those of a codec.
            pub const fn of<C: Codec>() -> CodecConstants {
                CodecConstants { $($field: C::$constant,)* }
            }
        }
    };
}

constants! {
    format: Format = FORMAT,
    name: &'static str = NAME,
    phrase: &'static str = PHRASE,
    list: &'static str = LIST,
    count_member: Option<&'static str> = COUNT_MEMBER,
    lines: bool = LINES,
    may_be_collection: bool = MAY_BE_COLLECTION,
    is_collection: bool = IS_COLLECTION,
    layout: DocumentLayout = LAYOUT,
    ids: bool = IDS,
    copies_layout: bool = COPIES_LAYOUT,
    groups_elements: bool = GROUPS_ELEMENTS,
    summaries: bool = SUMMARIES,
    quotes_summaries: bool = QUOTES_SUMMARIES,
    results_follow_calls: bool = RESULTS_FOLLOW_CALLS,
    several_per_line: bool = SEVERAL_PER_LINE,
    indents: bool = INDENTS,
    header: &'static [&'static str] = HEADER,
    has_title: bool = HAS_TITLE,
    represented: &'static [WorkspaceMember] = REPRESENTED,
    link: Option<[&'static str; 2]> = LINK,
}

macro_rules! forwarded {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        /// The methods of a [`Codec`] that need none of its types; it describes them.
        pub trait ForwardedCodec {
            $(fn $name(&self $(, $argument: $type)*) $(-> $result)?;)*
        }

        impl<C: Codec> ForwardedCodec for C {
            $(fn $name(&self $(, $argument: $type)*) $(-> $result)? {
                Codec::$name(self $(, $argument)*)
            })*
        }
    };
}

forwarded! {
    fn variant(&self) -> &'static str;
    fn list(&self) -> &'static str;
    fn has_variant(&self, element: &[u8]) -> bool;
    fn row(&self, element: &[u8]) -> Option<(String, Vec<u8>)>;
    fn with_row(&self, row: &[u8], element: &[u8], is_new: bool) -> Vec<u8>;
    fn group_length(&self, elements: &[Vec<u8>]) -> usize;
    fn replay(&self, bytes: &[u8], start: Position) -> Option<Parsed>;
    fn assemble(&self, lines: &[&[u8]]) -> Option<Assembly>;
    fn begins(&self, line: &[u8]) -> bool;
    fn is_line(&self, line: &[u8]) -> bool;
    fn info(&self, about: &[u8]) -> SessionInfo;
    fn instructions(&self, about: &[u8]) -> Option<AnnotatedDraft>;
    fn sidecar(&self, input: &SessionInput, neighbor: &dyn Fn(&str) -> Option<Vec<u8>>) -> Sidecar;
    fn complete(&self, sidecar: &Sidecar, element: &[u8], messages: &mut [Draft]);
    fn nested(&self, about: &[u8], elements: &[&[u8]]) -> Vec<(SideSession, Vec<u8>)>;
    fn fault(&self, element: &[u8]) -> Option<String>;
    fn id(&self, element: &[u8]) -> Option<String>;
    fn time(&self, element: &[u8]) -> Option<String>;
    fn encode(&self, messages: &[AnnotatedMessage<'_>], report: &mut Report) -> Option<Vec<u8>>;
}

/// Any [`Codec`] and [`Editor`](super::Editor), which describe the methods of the same name.
pub trait AnyCodec: ForwardedCodec + Sync {
    fn constants(&self) -> &'static CodecConstants;
    fn variants(&self) -> Vec<&'static dyn AnyCodec>;
    fn further_id(&self, id: &str, nth: usize) -> String;
    /// The decoder of the elements of the session with this number in its input, from 1.
    fn decoder<'d>(&'d self, number: usize, elements: &[Vec<u8>]) -> Box<dyn ElementDecoder + 'd>;
    fn appended(&self, source: &SourceElements, edits: &[ElementEdit]) -> Option<Vec<Vec<u8>>>;
    fn joins(&self, before: Role, role: Role) -> bool;
    fn check_lines(&self, lines: &[Vec<u8>], report: &mut Report);
    /// The edits that give a source its new view, for a program that keeps the other bytes.
    fn edits_in_place(
        &self,
        about: Option<&[u8]>,
        source: &SourceElements,
        returned: &EditedSession<'_>,
        report: &mut Report,
    ) -> Result<EditsInPlace>;
    /// The edits that give a source its new view.
    fn edits(
        &self,
        about: Option<&[u8]>,
        source: &SourceElements,
        write: NewElements<'_>,
        report: &mut Report,
    ) -> Result<NewEdits>;
    /// Elements for these items of the view of another format.
    fn converted(&self, items: &[usize], write: NewElements<'_>, report: &mut Report) -> NewEdits;
}

/// A codec and its outline of the elements of a session.
pub trait ElementDecoder {
    fn remarks(&self, about: &[u8], elements: &[Vec<u8>]) -> Vec<String>;
    fn add_info(&self, info: &mut SessionInfo);
    fn decode(&self, nth: usize, element: &[u8]) -> Decoded;
}

/// A member and its new value; `None` removes it.
pub type MemberChange = (&'static str, Option<Vec<u8>>);

/// Edits of elements, and the change of a member next to their list.
pub type EditsInPlace = (Vec<ElementEdit>, Option<MemberChange>);

/// A session to be written as elements.
#[derive(Clone, Copy)]
pub struct NewElements<'n> {
    pub session: &'n Session,
    pub view: &'n View,
    pub purpose: WritePurpose,
    /// The layout of new members next to the list; `None` if there are none.
    pub about: Option<DocumentLayout>,
}

/// Edits of elements.
pub struct NewEdits {
    pub edits: Vec<ElementEdit>,
    /// The change of a member next to the list.
    pub instructions: Option<MemberChange>,
    /// New members next to the list.
    pub about: Option<Vec<u8>>,
}
