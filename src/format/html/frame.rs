//! Writes everything around the messages of a page: head, security policy, navigation, header and footer.

use super::chart;
use super::escape::{self, escaped};
use super::facts::{NAME, PageData};
use super::outline::HtmlOutline;
use super::page_names::PageNames;
use crate::format::base64;
use crate::format::page::{PageOptions, Theme};
use crate::model::key;
use crate::model::visible::thousands;
use std::fmt::Write as _;

/// The style of every page.
const STYLE: &str = include_str!("style.css");

/// The script of every page; without it, only the filter is missing.
const SCRIPT: &str = include_str!("script.js");

/// Maximum questions of an outline that are not collapsed.
const QUESTIONS: usize = 12;

/// The head of a page; its policy allows only its own style and script.
pub fn head(out: &mut String, title: &str, facts: Option<&str>, options: &PageOptions) {
    let hash = |text: &str| {
        let digest = base64::encode(&key::digest([text.as_bytes()]), &base64::Base64Style::PLAIN);
        format!("'sha256-{}'", String::from_utf8_lossy(&digest))
    };
    let theme = match options.theme {
        Theme::Auto => "",
        Theme::Light => " class=\"light\"",
        Theme::Dark => " class=\"dark\"",
    };
    let script = match options.script {
        true => hash(SCRIPT),
        false => "'none'".to_string(),
    };
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"{theme}>\n<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src {}; script-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
        hash(STYLE),
        script
    );
    if let Some(facts) = facts {
        let _ = writeln!(out, "<meta name=\"{NAME}\" content=\"{}\">", escaped(facts));
    }
    // Keeps browsers from requesting an icon from the server.
    out.push_str("<link rel=\"icon\" href=\"data:,\">\n<title>");
    escape::push(out, title);
    let _ = write!(out, "</title>\n<style>{STYLE}</style>\n</head>\n<body>\n");
}

/// The end of a page.
pub fn foot(out: &mut String, options: &PageOptions) {
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(out, "<footer><p>convo {version}</p></footer>");
    if options.script {
        let _ = writeln!(out, "<script>{SCRIPT}</script>");
    }
    out.push_str("</body>\n</html>\n");
}

/// Everything before the messages of a page.
pub fn before(
    out: &mut String,
    (facts, options): (&PageData, &PageOptions),
    outline: &HtmlOutline,
    page: usize,
    names: &PageNames,
) {
    let title = match page {
        0 => facts.title.clone(),
        page => format!("{} ({} of {})", facts.title, page + 1, outline.starts.len()),
    };
    let encoded = (page == 0).then(|| facts.encoded());
    head(out, &title, encoded.as_deref(), options);
    out.push_str(
        "<a class=\"skip\" href=\"#messages\">Skip to the messages</a>\n<header>\n<h1 dir=\"auto\">",
    );
    escape::push(out, &title);
    out.push_str("</h1>\n<ul class=\"facts\">\n");
    for fact in facts.lines(outline) {
        let _ = writeln!(out, "<li>{fact}</li>");
    }
    out.push_str("</ul>\n");
    if page == 0 {
        let place = |entry: usize| {
            let anchor = &outline.entries[entry].anchor;
            match outline.page_of(entry) {
                0 => format!("#{anchor}"),
                page => format!("{}#{anchor}", names.of(page)),
            }
        };
        chart::push(out, outline, &place);
    }
    out.push_str("</header>\n");
    pages(out, outline, page, names, "Pages");
    questions(out, outline, page);
    out.push_str("<main id=\"messages\">\n");
}

/// Everything after the messages of a page.
pub fn after(out: &mut String, options: &PageOptions, outline: &HtmlOutline, page: usize, names: &PageNames) {
    out.push_str("</main>\n");
    pages(out, outline, page, names, "Pages, at the end");
    foot(out, options);
}

/// Links to the pages of a session.
fn pages(out: &mut String, outline: &HtmlOutline, page: usize, names: &PageNames, label: &str) {
    let count = outline.starts.len();
    if count < 2 {
        return;
    }
    let _ = writeln!(out, "<nav class=\"pages\" aria-label=\"{label}\"><ul>");
    if page > 0 {
        let _ = writeln!(
            out,
            "<li><a rel=\"prev\" href=\"{}\">previous</a></li>",
            names.of(page - 1)
        );
    }
    if page + 1 < count {
        let _ = writeln!(
            out,
            "<li><a rel=\"next\" href=\"{}\">next</a></li>",
            names.of(page + 1)
        );
    }
    for nth in 0..count {
        let _ = match nth == page {
            true => writeln!(out, "<li><b aria-current=\"page\">{}</b></li>", nth + 1),
            false => writeln!(out, "<li><a href=\"{}\">{}</a></li>", names.of(nth), nth + 1),
        };
    }
    out.push_str("</ul></nav>\n");
}

/// Links to the questions of a page.
fn questions(out: &mut String, outline: &HtmlOutline, page: usize) {
    let entries = &outline.entries[outline.on_page(page)];
    let requested: Vec<_> = entries
        .iter()
        .filter_map(|entry| Some((entry, entry.question.as_deref()?)))
        .collect();
    if requested.len() < 2 {
        return;
    }
    let open = if requested.len() <= QUESTIONS { " open" } else { "" };
    let count = thousands(requested.len() as u64);
    let _ = writeln!(
        out,
        "<nav aria-label=\"Questions\"><details{open}><summary>{count} questions</summary><ol>"
    );
    for (entry, question) in requested {
        let _ = write!(out, "<li><a dir=\"auto\" href=\"#{}\">", entry.anchor);
        escape::push(out, question);
        out.push_str("</a></li>\n");
    }
    out.push_str("</ol></details></nav>\n");
}
