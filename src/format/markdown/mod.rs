//! Markdown pages for human readers (CommonMark with `<details>`).
//!
//! | data | Markdown |
//! |---|---|
//! | a session | its title as a heading `#`, and a line of key data |
//! | a message | a heading `##` of its role and name, with time and model below it |
//! | its text | unchanged, because it usually is Markdown |
//! | reasoning | collapsed, named `thinking` |
//! | a call, a result | a fence that is longer than any inside; a long one is collapsed |
//! | an image, a file | a link; an image is shown if inline, or if remote images are enabled |
//! | any other part | its type, and its JSON in a fence |
//!
//! No content can break out of its position or run scripts, in CommonMark and Python-Markdown renderers: tags are
//! escaped, links of schemes other than http, https and mailto are disabled, and a text with an open fence, or with a
//! heading that resembles one of the page, is put into a fence.

mod fence;
mod page;
mod prose;
mod target;
#[cfg(test)]
mod tests;

use super::{FormatSpec, WriteTarget, page_losses, written};
use crate::error::Result;
use crate::model::session::Session;
use crate::model::view::View;
pub(super) use prose::ImagePolicy;

pub const SPEC: FormatSpec = FormatSpec {
    name: "markdown",
    about: "Markdown page (write-only)",
    ending: ".md",
    write: Some(|session, view, target| write(session, view, ImagePolicy::Embedded, target)),
    concatenable: true,
    unsupported: page_losses::LOSSES,
    note: "Roles are headings; calls and results are fenced, as is text that would break the page.",
    ..FormatSpec::BLANK
};

/// Writes one session's view.
pub(super) fn write(
    session: &Session,
    view: &View,
    images: ImagePolicy,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    written(out.write_all(page::of(session, view, (purpose, images), report).as_bytes()))
}
