//! Writes the index of a directory of pages from the data in the pages, so that it lists every existing session.

use super::escape::{self, escaped};
use super::facts::PageData;
use super::{chart, frame};
use crate::format::page::PageOptions;
use crate::model::time;
use crate::model::visible::thousands;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// File name of the index.
pub const NAME: &str = "index.html";

/// Number of bytes at the start of a page that contain its data.
pub const HEAD: usize = 64 << 10;

/// A row: the file and its data.
struct IndexRow {
    name: String,
    facts: PageData,
    start: i64,
}

/// The index of these pages, given by file name and first bytes; other files are not listed.
pub fn index<'p>(pages: impl IntoIterator<Item = (&'p str, &'p [u8])>, options: &PageOptions) -> Vec<u8> {
    let mut rows: Vec<IndexRow> = pages
        .into_iter()
        .filter_map(|(name, head)| {
            let facts = PageData::read(&String::from_utf8_lossy(head))?;
            Some(IndexRow {
                name: name.to_string(),
                start: time::seconds(&facts.start).unwrap_or(i64::MIN),
                facts,
            })
        })
        .collect();
    rows.sort_by(|one, other| {
        other
            .start
            .cmp(&one.start)
            .then_with(|| one.name.cmp(&other.name))
    });
    let count = thousands(rows.len() as u64);
    let title = format!("{count} session{}", if rows.len() == 1 { "" } else { "s" });
    let mut out = String::new();
    frame::head(&mut out, &title, None, options);
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#sessions\">Skip to the sessions</a>\n<header>\n<h1>{title}</h1>\n</header>\n<main id=\"sessions\">\n"
    );
    let mut projects: BTreeMap<&str, Vec<&IndexRow>> = BTreeMap::new();
    for row in &rows {
        projects.entry(&row.facts.project).or_default().push(row);
    }
    let named = projects.len() > 1 || projects.keys().any(|project| !project.is_empty());
    for (project, rows) in projects {
        if named {
            let project = if project.is_empty() {
                "other sessions"
            } else {
                project
            };
            let _ = writeln!(out, "<h2>{}</h2>", escaped(project));
        }
        table(&mut out, &rows);
    }
    out.push_str("</main>\n");
    frame::foot(&mut out, options);
    out.into_bytes()
}

fn table(out: &mut String, rows: &[&IndexRow]) {
    out.push_str(
        "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"sessions\"><table><thead><tr><th>title</th>\
         <th>program</th><th>model</th><th>start (UTC)</th><th>length</th><th class=\"right\">messages</th>\
         <th class=\"right\">tokens</th></tr></thead>\n",
    );
    let ids: BTreeMap<&str, usize> = rows
        .iter()
        .enumerate()
        .map(|(nth, row)| (row.facts.id.as_str(), nth))
        .collect();
    let parent = |nth: usize| {
        ids.get(rows[nth].facts.parent.as_str())
            .copied()
            .filter(|found| *found != nth)
    };
    let mut is_listed = vec![false; rows.len()];
    // Nested branches, and those in a cycle, get rows of their own.
    for nth in 0..rows.len() {
        if parent(nth).is_some_and(|found| parent(found).is_none()) {
            continue;
        }
        is_listed[nth] = true;
        push(out, rows[nth], "");
        for child in 0..rows.len() {
            if !is_listed[child] && parent(child) == Some(nth) && parent(nth).is_none() {
                is_listed[child] = true;
                push(out, rows[child], " class=\"child\"");
            }
        }
    }
    out.push_str("</table></div>\n");
}

fn push(out: &mut String, row: &IndexRow, class: &str) {
    let facts = &row.facts;
    let start = time::seconds(&facts.start);
    let end = time::seconds(&facts.end);
    let _ = write!(
        out,
        "<tr{class}><td dir=\"auto\"><a href=\"{}\">",
        escaped(&row.name)
    );
    escape::push(out, &facts.title);
    let _ = writeln!(
        out,
        "</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"right\">{}</td><td class=\"right\">{}</td></tr>",
        escaped(&facts.program),
        escaped(&facts.model),
        start.map(chart::moment).unwrap_or_default(),
        start
            .zip(end)
            .map(|(start, end)| chart::duration(end - start))
            .unwrap_or_default(),
        thousands(facts.messages),
        facts.size(),
    );
}
