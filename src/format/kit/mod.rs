//! The kit for formats whose sessions are lists of elements. A format implements [`Codec`]; the kit reads, writes,
//! edits
//! in place and counts losses.
//!
//! | `metadata.NAME` of | contents |
//! |---|---|
//! | the first message of an element: `residue` | data that [`Codec::encode`] does not reproduce, see [`residue`] |
//! | the first message of an element: `raw` | the element, if a residue does not restore it |
//! | every other message of an element: `of` | the id of the first one |
//! | a message that is a member next to the list: `about` | `true` |
//! | a summary event: `raw` | the element of the summary |
//! | the header: `form` | whether the source is a document, a list or lines |
//! | the header: `variant` | the variant of its elements, unless it is the default |
//! | the header: `session` | the members next to the list |
//!
//! An element that is not a message is a passthrough record. One `compact` event after the last message hides the
//! messages that the program does not send to the model.

mod any_codec;
mod any_editor;
pub mod changes;
pub mod codec;
mod editor;
pub mod frame;
mod info;
mod link;
pub mod losses;
mod new_ids;
mod parse;
mod part;
mod read;
pub mod records;
pub mod residue;
mod session;
mod sidecar;
mod source;
mod tree;
mod values;
mod write;
mod write_back;

pub use any_codec::{AnyCodec, MemberChange};
pub use changes::{ElementChange, NextElement};
pub use codec::{
    Assembly, Codec, Decoded, DocumentLayout, Draft, LineageInfo, SessionInfo, SummaryDraft, Visible,
    lines_of,
};
pub use editor::{Editor, ElementEdits, Writer};
pub use frame::ElementEdit;
pub use new_ids::NewIds;
pub use part::{ElementPart, ElementState, Parsed, SideSession};
pub use read::{open, open_displayed, read_document};
pub use sidecar::Sidecar;
pub use source::SourceElements;
pub use tree::Tree;
pub use write::{write, write_as, write_whole};
pub use write_back::write_back;

/// The name of a codec's format.
pub const fn name<C: Codec>(_: &C) -> &'static str {
    C::NAME
}

/// Members of `FormatSpec` that all formats on the kit share: a codec names the format, and reads, writes and writes
/// back its sessions.
macro_rules! spec {
    ($codec:expr) => {
        $crate::format::FormatSpec {
            name: $crate::format::kit::name($codec),
            read: $crate::format::ReadFn::Sessions(|input| $crate::format::kit::open($codec, input)),
            display: Some(|input| $crate::format::kit::open_displayed($codec, input)),
            write: Some(|session, view, target| $crate::format::kit::write($codec, session, view, target)),
            write_back: Some(|sessions, out, report| {
                $crate::format::kit::write_back($codec, sessions, out, report)
            }),
            ..$crate::format::FormatSpec::BLANK
        }
    };
}
pub(super) use spec;
