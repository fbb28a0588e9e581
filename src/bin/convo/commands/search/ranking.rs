//! `search --rank`: the sessions that match a question best.

use super::print::{Printer, SearchOutput};
use super::scan::SearchScan;
use super::sources::SearchSource;
use crate::context::Context;
use crate::errors::named;
use convo::error::Error;
use convo::format::report::Report;
use convo::model::threads::{Taking, cores, each_result};
use convo::search::{Question, TermCounts, rank};
use std::collections::HashSet;
use std::convert::Infallible;

/// A session that may contain words of the question.
struct RankingCandidate<'s> {
    source: &'s SearchSource,
    name: String,
    title: Option<String>,
}

/// Prints the ranked sessions, best first.
pub fn run(
    context: &Context,
    question: &str,
    sources: &[SearchSource],
    scan: &SearchScan<'_>,
    printer: &mut Printer<'_>,
    form: SearchOutput,
) -> anyhow::Result<()> {
    let Some(question) = Question::new(question) else {
        return Err(Error::usage("--rank: no word in the question").into());
    };
    let (mut candidates, mut counted) = (Vec::new(), Vec::new());
    let Ok(()) = each_result(
        sources.len(),
        cores(),
        Taking::InOrder,
        |place| {
            let source = &sources[place];
            let mut found: Vec<(String, Option<String>, TermCounts)> = Vec::new();
            let mut report = Report::default();
            let read = scan.each(source, None, &mut report, &mut |format, session, row| {
                if let Some(one) = scan.selected(source, format, &session, row, Vec::new()) {
                    let name = one.name.unwrap_or_else(|| source.name.clone());
                    found.push((name, one.title, question.count(&session)));
                }
                true
            });
            (found, read.err())
        },
        |place, (found, error)| {
            let source = &sources[place];
            if let Some(error) = error {
                source.report(context, &named(error, &source.label), scan.strict);
            }
            for (name, title, one) in found {
                candidates.push(RankingCandidate { source, name, title });
                counted.push(one);
            }
            Ok::<(), Infallible>(())
        },
    );
    let mut seen = HashSet::new();
    let ranked: Vec<_> = rank(&counted)
        .into_iter()
        // A session and its branches share a name.
        .filter(|one| seen.insert(candidates[one.session].name.clone()))
        .collect();
    let write = |out: &mut dyn std::io::Write| {
        for one in &ranked {
            let RankingCandidate { source, name, title } = &candidates[one.session];
            let printed = printer.ranked(&mut *out, name, source, title.as_deref(), one);
            printed.map_err(|error| Error::io("cannot write", error))?;
        }
        Ok(())
    };
    match form {
        SearchOutput::Json => context.output.stdout(write),
        _ => context.output.styled(write),
    }
}
