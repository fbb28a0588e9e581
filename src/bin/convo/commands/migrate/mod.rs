//! `migrate`: imports sessions of any format, or converts files in bulk.

mod aliases;
mod archived;
mod candidates;
mod claims;
mod export_dir;
mod growth;
mod inspect;
mod mark_source;
mod outside_log;
mod pages;
mod pipe;
mod plan;
mod report;
mod session_lines;
mod stored;
mod target;
mod target_state;
mod transfer;
mod update;

use super::Run;
use crate::args::{ALL, InputArgs, PackArgs, PageArgs, writable};
use crate::context::Context;
use crate::errors::named;
use crate::input::file_discovery::{self, Follow};
use crate::input::{operands, report_and_continue};
use crate::output::path_name;
use crate::writing::secrets;
use clap::Args;
use convo::error::Error;
use convo::format::Format;
use convo::format::page::PageOptions;
use convo::model::threads::{cores, in_parallel};
use convo::store::make_dirs;
use export_dir::Foreign;
use inspect::ExaminedFile;
use plan::{MigrationOutcome, MigrationStep};
use report::{ReportOptions, file_count, report_empty_directory};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use stored::SessionSource;
use target::MigrationTarget;
use transfer::RecentFiles;

/// Import sessions into the store, or convert files in bulk
///
/// Reads files and directories, stores every session, and prints one line per file: outcome, path, session id, number
/// of messages. With --output-dir, writes files in the --to format instead. Can be interrupted and repeated: existing
/// sessions are skipped and nothing is overwritten. If a source has grown since it was stored, its new messages are
/// appended (outcome `updated`); a session that exists with different content is a conflict (status 73). Sources are
/// unchanged unless --mark is given. Standard input is converted to standard output.
///
/// An update preserves changes made in the store: new messages follow the existing log. If messages were appended in the
/// store and the source has grown as well, that is a conflict. Messages that the source has rewritten, such as an answer
/// that was incomplete or a branch that was abandoned, are replaced by an event that `restore` undoes.
///
/// Directories are read with their subdirectories: files named *.json, *.jsonl, *.ndjson or *.json.gz. Symbolic links,
/// pipes and devices below an operand are skipped and reported.
///
/// For picoclaw, each session becomes a .jsonl and its .meta.json, named after the session's key, with hidden messages
/// under the skip; for penguin, a file <id>.json and the session_index.json of all sessions of the directory; for html,
/// pages of at most 1,000 messages and index.html; for other formats, one file. Losses are reported; --strict leaves such sessions out.
///
/// Damaged Penguin sessions are recovered message by message from the file, its .bak and its .temp. If nothing is
/// recoverable, a notice takes the session's place (outcome `notice`, status 65).
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo migrate ~/.claude/projects                      a directory, into the store
  convo migrate --dry-run --json sessions | jq .        what would happen, for a CI job
  convo migrate --output-dir native/ old/*.json         files to files
  convo migrate --to html --output-dir pages/ @all      the store, as pages with an index
  convo migrate --to picoclaw --output-dir pico/ @all   the store, as PicoClaw keeps it
  convo migrate < old.json > new.jsonl                  a pipe")]
pub struct MigrateCommand {
    /// Files, directories, or (with --output-dir) stored sessions [default: -]
    ///
    /// With --output-dir, a session name selects a stored session, and @all selects the whole store.
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Do not read subdirectories
    #[arg(long, help_heading = "Input")]
    no_recursive: bool,
    // The default; accepted for compatibility.
    #[arg(short, long, hide = true, conflicts_with = "no_recursive")]
    recursive: bool,
    // The former name of the operand @all.
    #[arg(long, hide = true, requires = "out")]
    all: bool,
    /// Follow symbolic links in directories
    #[arg(long, help_heading = "Input")]
    follow: bool,
    #[command(flatten)]
    reading: InputArgs,
    /// Write files to DIR instead of the store
    #[arg(long = "output-dir", alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    #[arg(help_heading = "Output")]
    out: Option<PathBuf>,
    /// Output format [default: native]
    #[arg(short, long, value_name = "FORMAT", value_parser = writable, help_heading = "Output")]
    to: Option<Format>,
    #[command(flatten)]
    packing: PackArgs,
    #[command(flatten)]
    page: PageArgs,
    /// Messages of a page; more are on further pages [default: 1000]
    #[arg(long = "page", value_name = "MESSAGES", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(hide_short_help = true, help_heading = "Pages (--to html)")]
    page_messages: Option<u32>,
    /// Report what would happen; write nothing
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    /// Do not append to stored sessions whose source has grown (status 73)
    #[arg(long, help_heading = "Output")]
    no_update: bool,
    /// Rename each source to NAME.migrated when stored
    #[arg(long, conflicts_with = "dry_run", help_heading = "Output")]
    mark: bool,
    /// Threads [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Output")]
    jobs: Option<u16>,
    /// End each line with NUL
    #[arg(
        short = '0',
        long,
        conflicts_with = "json",
        help_heading = "Output",
        hide_short_help = true
    )]
    null: bool,
    /// Print one object per file and a final summary
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Bytes of converted sessions that are held between reading and writing; larger runs read files twice.
const MEMORY: i64 = 256 << 20;

/// Sessions that are synced together.
const GROUP: usize = 4096;

impl Run for MigrateCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.json);
        let all = self.all || self.paths.iter().any(|path| path == Path::new(ALL));
        if all && self.out.is_none() {
            let error = Error::usage(format!("{ALL} requires --output-dir"));
            return Err(error.into());
        }
        self.page()?;
        let piped = self.paths.iter().any(|path| path == Path::new("-"));
        if (self.paths.is_empty() && !self.all) || piped {
            return self.pipe(context);
        }
        if self.reading.branch.is_some() {
            let error = Error::usage("--branch requires standard input");
            let error = error.hint("use convo cat --branch N FILE | convo migrate -, or --session ID");
            return Err(error.into());
        }
        if self.out.is_none() && self.format() != Format::Native {
            return Err(Error::usage("--to requires --output-dir or standard input").into());
        }
        if let Some(option) = self.packing.option() {
            let what = match self.format() {
                Format::Native if self.out.is_some() => None,
                Format::Native => Some("requires --output-dir or standard input"),
                _ => Some("conflicts with --to FORMAT"),
            };
            if let Some(what) = what {
                return Err(Error::usage(format!("{option} {what}")).into());
            }
        }
        let (sources, left) = self.sources(context)?;
        let mut target = self.target(context, &sources)?;
        let memory = AtomicI64::new(MEMORY);
        let mut examined = self.examine(context, &sources, &memory);
        let store = sources.iter().any(SessionSource::is_stored);
        let recent = RecentFiles::new(store.then(|| context.store()).transpose()?, &self.reading);
        let strict = self.reading.strict;
        match &mut target {
            Some(MigrationTarget::Foreign(foreign)) => {
                foreign.make(&mut examined, &recent, strict, self.threads(), &memory);
            }
            _ => outside_log::report_losses(&mut examined, recent.store, strict)?,
        }
        if let Some(MigrationTarget::Store(store)) = &target {
            claims::move_links_to_metadata(&mut examined, store);
        }
        let mut steps = plan::decide(&examined, target.as_ref(), &recent, context, !self.no_update);
        if !self.dry_run
            && let Some(target) = &target
        {
            self.carry(context, &examined, target, &recent, &mut steps)?;
        }
        self.mark(context, &examined, &steps, &left);
        if let Some(MigrationTarget::Foreign(foreign)) = &target {
            secrets::warn(
                context,
                &foreign.dir.display().to_string(),
                foreign.secrets.load(Ordering::Relaxed),
            );
        }
        let reports = ReportOptions {
            context,
            json: self.json,
            null: self.null,
            dry_run: self.dry_run,
            stores: self.out.is_none(),
        };
        reports.all(&examined, &steps, &|step| match &target {
            Some(MigrationTarget::Foreign(foreign)) => foreign
                .generated_files(step.file, step.nth)
                .map_or(&[], |built| &built.names),
            _ => &[],
        })
    }
}

impl MigrateCommand {
    fn format(&self) -> Format {
        self.to.unwrap_or(Format::Native)
    }

    /// Returns the options of HTML pages.
    fn page(&self) -> convo::Result<PageOptions> {
        let mut page = self.page.options(self.format())?;
        let given = self.page.given().or(self.page_messages.map(|_| "--page"));
        let pages = self.format() == Format::Html && self.out.is_some();
        if let Some(name) = given.filter(|_| !pages) {
            let error = Error::usage(format!("{name} requires --to html and --output-dir"));
            return Err(error.hint("write one page with: convo cat --to html INPUT"));
        }
        page.messages = self.page_messages.map_or(page.messages, |most| most as usize);
        Ok(page)
    }

    /// Returns the sources of all operands without duplicates, and files that a killed run did not rename.
    fn sources(&self, context: &Context) -> anyhow::Result<(Vec<SessionSource>, Vec<PathBuf>)> {
        let (mut sources, mut left) = (Vec::new(), Vec::new());
        if self.all || self.paths.iter().any(|path| path == Path::new(ALL)) {
            let mut ids: Vec<String> = context
                .store()?
                .ids()?
                .into_iter()
                .map(|entry| entry.id)
                .collect();
            ids.sort();
            sources.extend(ids.into_iter().map(SessionSource::Stored));
        }
        let follow = if self.follow { Follow::All } else { Follow::None };
        for path in self.paths.iter().filter(|path| *path != Path::new(ALL)) {
            let named_in_store = match self.out {
                Some(_) => stored::named(context, path),
                None => Ok(None),
            };
            let found = match named_in_store {
                Ok(Some(id)) => {
                    sources.push(SessionSource::Stored(id));
                    continue;
                }
                Ok(None) => operands::path(context, path)
                    .and_then(|path| file_discovery::files(&path, !self.no_recursive, follow)),
                Err(error) => Err(error),
            };
            match found {
                Ok(found) => {
                    for (file, why) in &found.skipped {
                        context.output.notice(&path_name(file), why);
                    }
                    if found.sessions.is_empty() && found.left.is_empty() {
                        report_empty_directory(context, path, found.marked, !self.no_recursive);
                    }
                    sources.extend(found.sessions.into_iter().map(SessionSource::File));
                    left.extend(found.left);
                }
                Err(error) => report_and_continue(context, Err(named(error, &path_name(path)).into()), 2)?,
            }
        }
        let mut seen = HashSet::new();
        sources.retain(|source| seen.insert(source.clone()));
        Ok((sources, left))
    }

    /// Opens the target; none in a dry run without a store, where every session is new.
    fn target<'c>(
        &self,
        context: &'c Context,
        sources: &[SessionSource],
    ) -> anyhow::Result<Option<MigrationTarget<'c>>> {
        if let Some(dir) = &self.out {
            if !self.dry_run {
                make_dirs(dir, 0o777).map_err(|error| Error {
                    message: format!("cannot create {}", error.message),
                    ..error
                })?;
            }
            if self.format() == Format::Native {
                return Ok(Some(MigrationTarget::Directory {
                    path: dir.clone(),
                    packs: self.packing.pack,
                }));
            }
            let store = sources.iter().any(SessionSource::is_stored);
            let store = store.then(|| context.store()).transpose()?;
            let foreign = Foreign::new(self.format(), dir.clone(), self.page()?, store)?;
            return Ok(Some(MigrationTarget::Foreign(foreign)));
        }
        if self.dry_run && !context.store_path()?.exists() {
            return Ok(None);
        }
        let store = if self.dry_run {
            context.store()?
        } else {
            context.store_or_new()?
        };
        Ok(Some(MigrationTarget::Store(store)))
    }

    fn threads(&self) -> usize {
        self.jobs.map_or_else(cores, usize::from)
    }

    /// Reads every source; the results are in the order of the sources.
    fn examine(&self, context: &Context, sources: &[SessionSource], memory: &AtomicI64) -> Vec<ExaminedFile> {
        let done = AtomicUsize::new(0);
        in_parallel(self.threads(), sources, |source| {
            let strict = self.reading.strict;
            let examined = match source {
                SessionSource::Stored(id) => stored::examine(context.store(), id, strict, memory),
                SessionSource::File(file) => inspect::examine(file, &self.reading, memory),
            };
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(100) {
                let progress = format!("reading {done} of {}", sources.len());
                context.output.progress(Some(&progress));
            }
            examined
        })
    }

    fn carry(
        &self,
        context: &Context,
        examined: &[ExaminedFile],
        target: &MigrationTarget<'_>,
        recent: &RecentFiles<'_>,
        steps: &mut [MigrationStep],
    ) -> anyhow::Result<()> {
        let new: Vec<usize> = (0..steps.len())
            .filter(|step| steps[*step].outcome.is_new())
            .collect();
        // Sessions reported as present must be durable, whichever program wrote them.
        if steps.iter().any(|step| step.outcome == MigrationOutcome::Skipped) {
            target.sync()?;
        }
        let mut written = 0;
        for group in new.chunks(GROUP) {
            let batch = target.batch()?;
            let results = in_parallel(self.threads(), group, |step| {
                let MigrationStep { file, nth, .. } = steps[*step];
                target.stage(&batch, (file, nth), &examined[file], recent)
            });
            let (mut staged, mut order) = (Vec::new(), Vec::new());
            for (step, result) in group.iter().zip(results) {
                match result {
                    Ok(file) => {
                        staged.push(file);
                        order.push(*step);
                    }
                    Err(error) => steps[*step].fail(error),
                }
            }
            for (step, (_, result)) in order.into_iter().zip(batch.commit(staged)) {
                if let Err(error) = result {
                    steps[step].fail(error);
                }
            }
            written += group.len();
            let progress = format!("stored {written} of {}", new.len());
            context.output.progress(Some(&progress));
        }
        let grown = |step: &usize| steps[*step].outcome == MigrationOutcome::Updated;
        let grown: Vec<usize> = (0..steps.len()).filter(grown).collect();
        let results = in_parallel(self.threads(), &grown, |step| {
            let MigrationStep {
                file, nth, update, ..
            } = &steps[*step];
            match (target, update) {
                (MigrationTarget::Foreign(foreign), _) => {
                    foreign.update((*file, *nth), &examined[*file], recent, context.lock_timeout())
                }
                (_, Some(update)) => {
                    update::apply(update, target, &transfer::of(&examined[*file], *nth)?.id, context)
                }
                (_, None) => Ok(()),
            }
        });
        for (step, result) in grown.into_iter().zip(results) {
            if let Err(error) = result {
                steps[step].fail(error);
            }
        }
        context.output.progress(None);
        match target {
            MigrationTarget::Store(store) => aliases::claim(context, store, examined, steps)?,
            // Write the index last, so that it lists only existing files.
            MigrationTarget::Foreign(foreign) => foreign.list(context.lock_timeout())?,
            MigrationTarget::Directory { .. } => {}
        }
        Ok(())
    }

    /// Renames the sources whose sessions are complete in the target, and files that a killed run did not rename.
    fn mark(&self, context: &Context, examined: &[ExaminedFile], steps: &[MigrationStep], left: &[PathBuf]) {
        if !self.mark {
            if !left.is_empty() {
                let note = "already imported and renamed; skipped (rename the rest with --mark)";
                let files = file_count(left.len() as u64);
                context.output.notice("", &format!("{files}: {note}"));
            }
            return;
        }
        let report = |path: &Path, result: convo::Result<()>| {
            if let Err(error) = result {
                context.output.error(&named(error, &path_name(path)));
            }
        };
        left.iter().for_each(|file| report(file, mark_source::one(file)));
        let listed: HashSet<&Path> = examined.iter().map(|one| one.path.as_path()).collect();
        for (file, examined) in examined.iter().enumerate() {
            let mut own = plan::of_file(steps, file).iter().peekable();
            let notice = examined.found.iter().flatten().any(|found| found.notice);
            let safe = own.peek().is_some()
                && !notice // the source is the only copy
                && own.all(|step| step.outcome.is_complete());
            if safe {
                let marked = mark_source::source(&examined.path, |path| listed.contains(path));
                report(&examined.path, marked);
            }
        }
    }
}
