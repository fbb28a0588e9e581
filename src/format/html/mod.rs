//! HTML pages: a session as one file with its style and a small script, without any network requests.
//!
//! | Part | On the page |
//! |---|---|
//! | session | title, key data, charts, links to the questions |
//! | message | an article with a link to itself, `m` and its number in the log |
//! | text | Markdown; HTML in it is escaped, links have the schemes http, https and mailto |
//! | tool call and result | a collapsible element; a file change is a diff |
//! | reasoning | a collapsible element; encrypted reasoning is only indicated |
//! | note | a box below its message |
//! | image | shown if inline, small enough, and a PNG, JPEG, GIF or WebP by its first bytes |
//!
//! The content security policy allows the style and the script by their hashes, and inline images. The output is
//! deterministic.

mod call;
mod chart;
mod escape;
mod facts;
mod frame;
mod index;
mod media;
mod message;
mod outline;
mod page_names;
mod prose;
mod table;
#[cfg(test)]
mod tests;
mod verbatim;

use super::page::PageOptions;
use super::report::Report;
use super::{FormatSpec, WritePurpose, WriteTarget, page_losses, written};
use crate::error::Result;
use crate::model::session::Session;
use crate::model::view::View;
use facts::PageData;
pub use index::{HEAD, NAME as INDEX, index};
use message::Articles;
use outline::{HtmlOutline, PageLimit};
use page_names::PageNames;
use std::borrow::Cow;
pub use table::{BarRow, BarTable, table};

/// Pages, as a format.
pub const SPEC: FormatSpec = FormatSpec {
    name: "html",
    about: "HTML page (write-only)",
    ending: ".html",
    write: Some(|session, view, target| write_page(session, view, &PageOptions::default(), target)),
    unsupported: page_losses::LOSSES,
    note: "One self-contained page without requests; `migrate --output-dir` splits long sessions and writes an index.",
    ..FormatSpec::BLANK
};

/// Writes one session's view as one page with these options.
pub(super) fn write_page(
    session: &Session,
    view: &View,
    options: &PageOptions,
    WriteTarget(purpose, out, report): WriteTarget<'_>,
) -> Result<()> {
    page_losses::count(session, view, purpose, report);
    pages(session, view, (options, PageLimit::NONE), |_, text| {
        written(out.write_all(text.as_bytes()))
    })
}

/// The pages of a session as files: name and content. A page has at most 4 MiB.
pub fn files(
    session: &Session,
    view: &View,
    options: &PageOptions,
    report: &mut Report,
) -> Result<Vec<(String, Vec<u8>)>> {
    page_losses::count(session, view, WritePurpose::Export, report);
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let limit = PageLimit {
        messages: options.messages,
        ..PageLimit::PAGE
    };
    pages(session, view, (options, limit), |name, text| {
        match files.last_mut().filter(|(last, _)| last == name) {
            Some((_, bytes)) => bytes.extend_from_slice(text.as_bytes()),
            None => files.push((name.to_string(), text.as_bytes().to_vec())),
        }
        Ok(())
    })?;
    Ok(files)
}

/// Whether an existing page is of the same session as a new one and may be replaced.
pub fn is_older(there: &[u8], new: &[u8]) -> bool {
    let facts = |bytes: &[u8]| PageData::read(&String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]));
    match (facts(there), facts(new)) {
        (Some(there), Some(new)) => there.id == new.id && there.messages <= new.messages,
        _ => false,
    }
}

/// Produces the pages of a view with their names, in chunks.
fn pages(
    session: &Session,
    view: &View,
    (options, limit): (&PageOptions, PageLimit),
    mut write: impl FnMut(&str, &str) -> Result<()>,
) -> Result<()> {
    let mut shown = Cow::Borrowed(view);
    let mut in_view = Vec::new();
    if options.hidden {
        let items;
        (items, in_view) = view.with_hidden(session).into_iter().unzip();
        shown = Cow::Owned(View {
            items,
            ..View::default()
        });
    }
    let mut outline = HtmlOutline::of(session, &shown, limit);
    if options.hidden {
        outline.mark_changes(session, &shown, &in_view);
    }
    let facts = PageData::of(session, view, &outline);
    let names = PageNames::of_id(&facts.id);
    let directory = Some(facts.project.as_str());
    let mut articles = Articles::new(session, &shown, &outline, directory, *options);
    for page in 0..outline.starts.len() {
        let name = names.of(page);
        let mut text = String::new();
        frame::before(&mut text, (&facts, options), &outline, page, &names);
        if page == 0 {
            articles.push_notes(&mut text);
        }
        articles.push(outline.on_page(page), &mut text, |text| {
            write(&name, text)?;
            text.clear();
            Ok(())
        })?;
        frame::after(&mut text, options, &outline, page, &names);
        write(&name, &text)?;
    }
    Ok(())
}
