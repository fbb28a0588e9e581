//! Merges into the store: appends missing records to the session, and stores other branches as sessions of their own.

use super::MergeCommand;
use super::sides::{MergeInput, common_format};
use crate::context::Context;
use crate::errors::named;
use crate::output::count_of;
use crate::programs::change_hooks;
use convo::error::{Error, ErrorKind, Result};
use convo::filter::merge::{LineSource, MergeOptions, MergedLine, merge, with_id_of};
use convo::format::report::Report;
use convo::format::{Format, native};
use convo::model::json;
use convo::model::lineage::{Lineage, SideBranch};
use convo::model::session::Session;
use convo::store::Store;

/// How often a merge is retried because the session grew.
const TRIES: u32 = 50;

impl MergeCommand {
    pub(super) fn store(
        &self,
        context: &Context,
        name: &str,
        base: &MergeInput,
        b: &MergeInput,
    ) -> anyhow::Result<()> {
        let usage = |what: &str| Error::usage(what.to_string()).hint("merge into a file with: -o FILE");
        let given = [
            (
                self.deciding.deletions,
                "--deletions requires a file: a stored session keeps its records",
            ),
            (
                self.deciding.interleave,
                "--interleave requires a file: a stored session keeps its order",
            ),
            (self.writing.in_place.is_some(), "-i requires a file"),
        ];
        if let Some((_, what)) = given.into_iter().find(|(is_given, _)| *is_given) {
            return Err(named(usage(what), name).into());
        }
        let format = common_format([base, b, &MergeInput::default()])?;
        if let Some(format) = format.filter(|format| *format != Format::Native) {
            let error = Error::usage(format!("{} is {}", b.label, format.name()));
            return Err(error
                .hint(format!(
                    "convert it with: convo cat {} | convo merge {name} -",
                    b.label
                ))
                .into());
        }
        self.append(context, name, base, b)
            .map_err(|error| match error.downcast::<Error>() {
                Ok(error) => named(error, name).into(),
                Err(error) => error,
            })
    }

    fn append(&self, context: &Context, name: &str, base: &MergeInput, b: &MergeInput) -> anyhow::Result<()> {
        let store = context.store()?;
        let id = store.resolve(name)?;
        let now = context.clock.now();
        let options = MergeOptions {
            appends: true,
            ..self.options(Some(Format::Native), Some(&now))
        };
        for _ in 0..TRIES {
            let mut report = Report::default();
            let (session, length) = store.load_with_length(&id, &mut report)?;
            let own = [session];
            let [base, other] = [base, b].map(|input| with_id_of(&own, &input.sessions));
            let mut merged = merge(&base, &own, &other, &options)?;
            let (mut lines, mut branches, mut others) = (Vec::new(), Vec::new(), 0);
            for session in &merged.sessions {
                let header = session.first().and_then(|line| Lineage::of_header(&line.bytes));
                let is_branch = header.and_then(|lineage| lineage.side_branch()) == Some(SideBranch::Branch);
                match (session.first().map(|line| line.from), is_branch) {
                    (Some(LineSource::A), _) => lines = new_lines(session),
                    (_, true) => branches.push(session),
                    (Some(_), _) => others += 1,
                    (None, _) => {}
                }
            }
            // Store branches first: they link to the session and must exist before it changes.
            let mut totals = merged.totals;
            for branch in &branches {
                let had = keep_branch(store, branch, self.writing.dry_run)?;
                totals.from_b = totals.from_b.saturating_sub(had);
                totals.branches -= u64::from(had > 0 && totals.branches > 0);
            }
            if !self.writing.dry_run {
                let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
                if borrowed.is_empty() {
                    // An earlier run may have stored the branches already.
                    let synced = store.sync_lines(&id);
                    synced.map_err(|error| error.kind(ErrorKind::Unsure))?;
                } else if !store.append_to(&id, &borrowed, length)? {
                    continue;
                }
                change_hooks::after(context, name, &id, borrowed);
            }
            context.output.report(name, &mut report);
            if others > 0 {
                let what = format!(
                    "skipped {}; import with: convo migrate",
                    count_of(others, "other session")
                );
                context.output.notice(&b.label, &what);
            }
            merged.totals = totals;
            return self.report(context, name, &merged);
        }
        let what = "modified by another program; nothing was changed";
        Err(Error::new(ErrorKind::Locked, what).into())
    }
}

/// Returns the lines that the first side lacks, without newlines.
fn new_lines(lines: &[MergedLine<'_>]) -> Vec<Vec<u8>> {
    let new = lines.iter().filter(|line| line.from != LineSource::A);
    let bodies = new.map(|line| line.bytes.trim_ascii_end().to_vec());
    bodies.filter(|line| !line.is_empty()).collect()
}

/// Creates a branch, or appends the records it lacks, since the same merge may have created it before. Returns how many
/// records it had.
fn keep_branch(store: &Store, branch: &[MergedLine<'_>], dry_run: bool) -> Result<u64> {
    let mut session = Session::default();
    for line in branch {
        session.push_new(line.bytes.trim_ascii_end());
    }
    let header = session.record(0).body;
    native::check(&session.record(0), &mut Report::default())?;
    let id = json::member_text(header, "id").unwrap_or_default();
    let is_there = store.has(&id)?;
    if !is_there && !dry_run {
        let bodies = (0..session.len()).map(|index| session.record(index).body.to_vec());
        store.create_session(&id, &bodies.collect::<Vec<_>>())?;
    }
    if !is_there {
        return Ok(0);
    }
    let synced = store.sync_names().and_then(|()| store.sync_lines(&id));
    synced.map_err(|error| error.kind(ErrorKind::Unsure))?;
    let (own, length) = store.load_with_length(&id, &mut Report::default())?;
    let (own, other) = ([own], [session.clone()]);
    let options = MergeOptions {
        appends: true,
        ..MergeOptions::default()
    };
    let merged = merge(&[], &own, &other, &options)?;
    let lines: Vec<Vec<u8>> = merged
        .sessions
        .iter()
        .flat_map(|lines| new_lines(lines))
        .collect();
    let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    if !borrowed.is_empty() && !dry_run && !store.append_to(&id, &borrowed, length)? {
        let what = format!("{id}: modified by another program");
        return Err(Error::new(ErrorKind::Locked, what));
    }
    // The header does not count.
    Ok((session.len() - 1).saturating_sub(lines.len()) as u64)
}
