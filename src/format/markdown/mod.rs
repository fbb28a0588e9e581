//! Sessions as people paste and keep them: Markdown (CommonMark, with the `<details>` that every reader of it knows).
//!
//! | what | becomes |
//! |---|---|
//! | a session | its title as a heading `#`, and a line of facts |
//! | a message | a heading `##` of its role and name, with time and model below it |
//! | what was said | itself, as the Markdown that it is as a rule |
//! | reasoning | folded, named `thinking` |
//! | a call, a result | a fence that is longer than any inside; a long one folded |
//! | an image, a file | a link; an image shows where its bytes are there, or where remote images are asked for |
//! | any other part | its kind, and its JSON in a fence |
//!
//! No content can leave its place or run anything, in CommonMark readers and in Python-Markdown: tags are shown as text, links of other
//! schemes than http, https and mailto are not links, and a text with an open fence, or with a heading that looks like one of those
//! here, is put into a fence itself.

mod fence;
mod page;
mod prose;
mod target;
#[cfg(test)]
mod tests;

use super::report::Report;
use super::{Form, Purpose, unshown, written};
use crate::error::Result;
use crate::model::session::Session;
use crate::model::view::View;
use prose::Images;
use std::io::Write;

/// Markdown, as a format.
pub const FORM: Form = Form {
    name: "markdown",
    about: "Markdown page (write-only)",
    ending: ".md",
    write: Some(write),
    joins: true,
    loses: &unshown::LOSSES,
    note: "Roles are headings; calls and results are fenced, as is text that would break the page.",
    ..Form::BLANK
};

/// Writes one session's view with images that a page loads from the web when somebody opens it.
pub(super) fn write_with_images(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let page = page::of(session, view, (purpose, Images::Remote), report);
    written(out.write_all(page.as_bytes()))
}

/// Writes one session's view.
fn write(
    session: &Session,
    view: &View,
    purpose: Purpose,
    out: &mut dyn Write,
    report: &mut Report,
) -> Result<()> {
    let page = page::of(session, view, (purpose, Images::Embedded), report);
    written(out.write_all(page.as_bytes()))
}
