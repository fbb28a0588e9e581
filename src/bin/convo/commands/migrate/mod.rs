//! `migrate`: stored sessions of any format into native ones, or into the files of another system.

mod carry;
mod claims;
mod examine;
mod foreign;
mod mark;
mod plan;
mod stored;
mod tell;
mod threads;

use super::Run;
use crate::args::{Input, Reading, writable};
use crate::change::run as filter;
use crate::context::{Context, named};
use crate::inputs::tell_and_go_on;
use crate::output::path_name;
use crate::scan;
use carry::{Recent, Target};
use clap::Args;
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::format::{Format, picoclaw};
use convo::store::make_folders;
use examine::Examined;
use foreign::Foreign;
use plan::{Outcome, Step};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use stored::Source;
use tell::{Telling, counted};
use threads::in_parallel;

/// Bring stored sessions of any format into the store, or into files
///
/// Files and directories go to the store, or with --out to a directory of native files; standard input goes to
/// standard output. Each file gets one line: what became of it, its path, the session's id, its messages. A
/// file is told only when its session is durable, so the command can be killed at any time and run again: what
/// is there already is skipped. A key in two files, or a name that exists with other content, is a conflict
/// (73): nothing is overwritten. The sources stay as they are, unless --mark renames them.
///
/// With --to and --out the sessions become the files that another system keeps: for picoclaw a .jsonl and its
/// .meta.json, named after the session's key, with what is out of view ahead in the log, under the skip; for other
/// formats one file <id>.json, and for penguin the session_index.json of all that are there. What those files cannot carry is told; --strict leaves such sessions out. Sessions of
/// the store are named like everywhere, or --all.
///
/// A damaged Penguin session is put together message by message from the file and its .bak and .temp, and the report
/// tells what came from where. Where nothing can be read of any of them, the session gets a notice that says so, under
/// its own id (outcome `notice`, status 65).
#[derive(Args, Debug)]
#[command(before_long_help = "Examples:
  convo migrate ~/.picoclaw/sessions              a directory, into the store
  convo migrate -r workspace/conversations        with the directories in it
  convo migrate --dry-run --json sessions | jq .  what would happen, for a CI job
  convo migrate --out native/ old/*.json          files to files
  convo migrate --to picoclaw --out sessions/ --all  the store, as PicoClaw keeps it
  convo migrate < old.json > new.jsonl            a pipe")]
pub struct Migrate {
    /// Files, directories, with --out names of the store; - or none: standard input to standard output
    #[arg(value_name = "INPUT", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Look into directories in directories
    #[arg(short, long, help_heading = "Input")]
    recursive: bool,
    /// With --out: every session of the store
    #[arg(long, requires = "out", help_heading = "Input")]
    all: bool,
    #[command(flatten)]
    reading: Reading,
    /// Write files to this directory instead of the store: native ones <id>.jsonl, or --to FORMAT
    #[arg(long, value_name = "DIR", help_heading = "Output", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Format of what is written [default: native]
    #[arg(short, long, value_name = "FORMAT", value_parser = writable, help_heading = "Output")]
    to: Option<Format>,
    /// Tell what would happen and write nothing
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    /// Rename each source to NAME.migrated once its sessions are durable
    #[arg(long, conflicts_with = "dry_run", help_heading = "Output")]
    mark: bool,
    /// Threads [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Output")]
    jobs: Option<u16>,
    /// One JSON object a file, and one for the whole
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Bytes of converted sessions that are kept between looking and writing; larger runs read files twice.
const MEMORY: i64 = 256 << 20;

/// Sessions that become durable together.
const GROUP: usize = 4096;

impl Run for Migrate {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.speak_json(self.json);
        let piped = self.paths.iter().any(|path| path == Path::new("-"));
        if (self.paths.is_empty() && !self.all) || piped {
            return self.pipe(context);
        }
        if self.reading.branch.is_some() {
            let error = Error::new(
                Kind::Usage,
                "--branch is not for files that are migrated: they go whole",
            );
            let error = error.hint("`convo cat --branch N FILE | convo migrate -`, or --session ID");
            return Err(error.into());
        }
        if self.out.is_none() && self.format() != Format::Native {
            return Err(
                Error::new(Kind::Usage, "--to is for a directory of files, or for a pipe")
                    .hint("--out DIR says where they go")
                    .into(),
            );
        }
        let (sources, left) = self.sources(context)?;
        let mut target = self.target(context, &sources)?;
        let memory = AtomicI64::new(MEMORY);
        let mut examined = self.examine(context, &sources, &memory);
        let store = sources.iter().any(|source| matches!(source, Source::Stored(_)));
        let recent = Recent::new(store.then(|| context.store()).transpose()?, &self.reading);
        if let Some(Target::Foreign(foreign)) = &mut target {
            foreign.make(
                &mut examined,
                &recent,
                self.reading.strict,
                self.threads(),
                &memory,
            );
        }
        if let Some(Target::Store(store)) = &target {
            claims::put_aside(&mut examined, store);
        }
        let mut steps = plan::decide(&examined, target.as_ref(), &recent);
        if !self.dry_run
            && let Some(target) = &target
        {
            self.carry(context, &examined, target, &recent, &mut steps)?;
        }
        self.mark(context, &examined, &steps, &left);
        let telling = Telling {
            context,
            json: self.json,
            dry_run: self.dry_run,
        };
        telling.all(&examined, &steps, &|step| match &target {
            Some(Target::Foreign(foreign)) => {
                foreign.made(step.file, step.nth).map_or(&[], |made| &made.names)
            }
            _ => &[],
        })
    }
}

impl Migrate {
    fn format(&self) -> Format {
        self.to.unwrap_or(Format::Native)
    }

    /// Standard input to standard output.
    fn pipe(&self, context: &Context) -> anyhow::Result<()> {
        if self.paths.len() > 1 || self.out.is_some() || self.mark {
            return Err(Error::new(
                Kind::Usage,
                "standard input goes to standard output, and nowhere else",
            )
            .hint("name files to migrate them to the store or to --out DIR")
            .into());
        }
        // Whoever moves house takes everything along, as far as there is a place for it.
        let reading = crate::args::Reading {
            takes_all: self.format() == Format::Native,
            ..self.reading.clone()
        };
        let changing = crate::args::Changing {
            writing: crate::args::Writing {
                pack: false,
                to: self.to,
                output: None,
            },
            dry_run: self.dry_run,
            json: self.json,
            log: self.format() == Format::Native,
            ..Default::default()
        };
        filter(context, &[Input::Stdin], &reading, &changing, |session, _| {
            Ok(match session.header().is_empty() && !session.is_empty() {
                true => Plan::Nothing("bare lines are a stream already".to_string()),
                false => Plan::Nothing("converted".to_string()),
            })
        })
    }

    /// What the operands name, each once, and what a killed run has left of files that it renamed.
    fn sources(&self, context: &Context) -> anyhow::Result<(Vec<Source>, Vec<PathBuf>)> {
        let (mut sources, mut left) = (Vec::new(), Vec::new());
        if self.all {
            let mut ids: Vec<String> = context
                .store()?
                .ids()?
                .into_iter()
                .map(|entry| entry.id)
                .collect();
            ids.sort();
            sources.extend(ids.into_iter().map(Source::Stored));
        }
        for path in &self.paths {
            let named_in_store = match self.out {
                Some(_) => stored::named(context, path),
                None => Ok(None),
            };
            let found = match named_in_store {
                Ok(Some(id)) => {
                    sources.push(Source::Stored(id));
                    continue;
                }
                Ok(None) => scan::files(path, self.recursive),
                Err(error) => Err(error),
            };
            match found {
                Ok(found) => {
                    sources.extend(found.sessions.into_iter().map(Source::File));
                    left.extend(found.left);
                }
                Err(error) => tell_and_go_on(context, Err(named(error, &path_name(path)).into()), 2)?,
            }
        }
        let mut seen = HashSet::new();
        sources.retain(|source| seen.insert(source.clone()));
        Ok((sources, left))
    }

    /// Where sessions go; none in a dry run without a store, for which everything is new.
    fn target<'c>(&self, context: &'c Context, sources: &[Source]) -> anyhow::Result<Option<Target<'c>>> {
        if let Some(folder) = &self.out {
            if !self.dry_run {
                make_folders(folder, 0o777).map_err(|error| Error {
                    message: format!("cannot make {}", error.message),
                    ..error
                })?;
            }
            if self.format() == Format::Native {
                return Ok(Some(Target::Folder(folder.clone())));
            }
            let store = sources.iter().any(|source| matches!(source, Source::Stored(_)));
            let store = store.then(|| context.store()).transpose()?;
            let foreign = Foreign::new(self.format(), folder.clone(), store)?;
            return Ok(Some(Target::Foreign(foreign)));
        }
        if self.dry_run && !context.store_path()?.exists() {
            return Ok(None);
        }
        let store = if self.dry_run {
            context.store()?
        } else {
            context.store_or_new()?
        };
        Ok(Some(Target::Store(store)))
    }

    fn threads(&self) -> usize {
        self.jobs.map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            usize::from,
        )
    }

    /// Looks at every source; the results are in their order.
    fn examine(&self, context: &Context, sources: &[Source], memory: &AtomicI64) -> Vec<Examined> {
        let done = AtomicUsize::new(0);
        in_parallel(self.threads(), sources, |source| {
            let strict = self.reading.strict;
            let examined = match source {
                Source::Stored(id) => stored::examine(context.store(), id, strict, memory),
                Source::File(file) => examine::examine(file, &self.reading, memory),
            };
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(100) {
                context
                    .output
                    .progress(Some(&format!("reading {done} of {}", sources.len())));
            }
            examined
        })
    }

    fn carry(
        &self,
        context: &Context,
        examined: &[Examined],
        target: &Target<'_>,
        recent: &Recent<'_>,
        steps: &mut [Step],
    ) -> anyhow::Result<()> {
        let new: Vec<usize> = (0..steps.len())
            .filter(|step| steps[*step].outcome.is_new())
            .collect();
        // What is told to be there must be there after a power cut, whoever has put it there.
        if steps.iter().any(|step| step.outcome == Outcome::Skipped) {
            target.settle()?;
        }
        let mut written = 0;
        for group in new.chunks(GROUP) {
            let batch = target.batch()?;
            let results = in_parallel(self.threads(), group, |step| {
                let Step { file, nth, .. } = steps[*step];
                match target {
                    Target::Foreign(foreign) => foreign.stage(&batch, (file, nth), &examined[file], recent),
                    _ => carry::stage(&batch, &examined[file], nth, recent),
                }
            });
            let mut staged = Vec::with_capacity(group.len());
            let mut order = Vec::with_capacity(group.len());
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
            context
                .output
                .progress(Some(&format!("stored {written} of {}", new.len())));
        }
        context.output.progress(None);
        match target {
            Target::Store(store) => self.aliases(context, store, examined, steps)?,
            // Last, so that nothing is listed that is not there.
            Target::Foreign(foreign) => foreign.list(context.lock_timeout())?,
            Target::Folder(_) => {}
        }
        Ok(())
    }

    /// Renames the sources that are safe, and what a run that was killed while it renamed has left.
    fn mark(&self, context: &Context, examined: &[Examined], steps: &[Step], left: &[PathBuf]) {
        if !self.mark {
            if !left.is_empty() {
                let note = "the session was migrated and renamed; passed over (--mark renames the rest)";
                let files = counted(left.len() as u64);
                context.output.tell("", &format!("{files}: {note}"));
            }
            return;
        }
        let tell = |path: &Path, result: convo::Result<()>| {
            if let Err(error) = result {
                context.output.error(&named(error, &path_name(path)));
            }
        };
        left.iter().for_each(|file| tell(file, mark::one(file)));
        let listed: HashSet<&Path> = examined.iter().map(|one| one.path.as_path()).collect();
        for (file, examined) in examined.iter().enumerate() {
            let mut own = plan::of_file(steps, file).iter().peekable();
            let notice = examined.found.iter().flatten().any(|found| found.notice);
            let safe = own.peek().is_some()
                && !notice // the file is all that there is
                && own.all(|step| matches!(step.outcome, Outcome::Migrated | Outcome::Skipped));
            if safe {
                let marked = mark::source(&examined.path, |path| listed.contains(path));
                tell(&examined.path, marked);
            }
        }
    }

    /// Gives the sessions the aliases that they had. One that several claim names them all, so that using it
    /// is an error that lists them.
    fn aliases(
        &self,
        context: &Context,
        store: &convo::store::Store,
        examined: &[Examined],
        steps: &[Step],
    ) -> anyhow::Result<()> {
        let mut claims: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for step in steps
            .iter()
            .filter(|step| matches!(step.outcome, Outcome::Migrated | Outcome::Skipped))
        {
            let Ok(found) = &examined[step.file].found else {
                continue;
            };
            for alias in picoclaw::aliases(&found[step.nth].header) {
                claims.entry(alias).or_default().push(found[step.nth].id.clone());
            }
        }
        for (alias, mut ids) in claims {
            ids.sort();
            ids.dedup();
            let known = store.alias_ids(&alias)?.unwrap_or_default();
            if known == ids {
                continue;
            }
            // An alias that somebody gave to another session stays theirs. One session's claim wins over the
            // session whose key it is, as it does for PicoClaw; claims of several do not.
            let own = (ids.len() > 1).then(|| store.resolve(&alias).ok()).flatten();
            if let Some(other) = known.iter().chain(&own).find(|id| !ids.contains(id)) {
                let whose = match ids.as_slice() {
                    [id] => id.clone(),
                    ids => format!("{} sessions that claim it", ids.len()),
                };
                context
                    .output
                    .tell(&alias, &format!("names {other} already, and not {whose}"));
                continue;
            }
            let done = store.alias_claim(&alias, &ids);
            if let Err(error) = done {
                context.output.error(&named(error, &alias));
            }
        }
        Ok(())
    }
}
