//! `merge`: merges two copies of a session that were changed independently.

mod git;
mod report;
mod sides;
mod store;

use super::Run;
use crate::args::{DamageArgs, EditArgs, InputArgs, InputLocation, OutputArgs, PackArgs, readable};
use crate::context::Context;
use crate::edit::{self, EditRequest};
use crate::errors::named;
use crate::input::operands;
use crate::output::path_name;
use crate::writing::{packing, rewrite};
use clap::{Args, ValueEnum};
use convo::error::{Error, ErrorKind, Result};
use convo::filter::Plan;
use convo::filter::merge::{self, MergeOptions, Merged, Prefer, Version};
use convo::format::Format;
use convo::store::{Rewrite, sync_file};
use sides::MergeInput;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Merge two copies of a session that were changed apart
///
/// The result has every record of A and B. Records are paired by id, otherwise by their bytes; unchanged lines keep their
/// bytes. A record that one side changed is taken from it, a redacted one always. Where both sides continue after the same
/// record, the messages of B become a branch session after A's. A record that both changed is a conflict: A's version keeps
/// its place, B's is kept in a `conflict` event, and the status is 1. BASE is the common ancestor; without it, the common
/// records are.
///
/// Prints the result; with -o or -i, writes a file. If A is a stored session, appends its missing records. Files of Claude Code
/// and pi are merged in their own format, where both courses are branches of one tree.
#[derive(Args, Debug)]
#[command(
    override_usage = "convo merge [OPTIONS] [BASE] A B\n       convo merge --resolve ID ours|theirs INPUT"
)]
#[command(before_long_help = "Examples:
  convo merge mine.jsonl theirs.jsonl > merged.jsonl
  convo merge -i base.jsonl mine.jsonl theirs.jsonl        change mine.jsonl
  convo merge chat laptop.jsonl                            add missing records to a stored session
  convo merge --resolve msg_41d07ab3e6559f2c theirs -i merged.jsonl
  convo merge --git-config >> .git/config                  let git merge and compare sessions
  echo '*.jsonl diff=convo merge=convo' >> .gitattributes")]
pub struct MergeCommand {
    /// [BASE] A B: files, session names, or - for standard input
    #[arg(value_name = "INPUT", num_args = 0..=4)]
    inputs: Vec<String>,
    /// Input format [default: detected]
    #[arg(short, long, value_name = "FORMAT", value_parser = readable, help_heading = "Input")]
    from: Option<Format>,
    /// Fail on damaged lines
    #[arg(
        long,
        hide_short_help = true,
        help_heading = "Input",
        conflicts_with = "damage_ok"
    )]
    strict: bool,
    #[command(flatten)]
    _damage: DamageArgs,
    #[command(flatten)]
    deciding: ConflictArgs,
    #[command(flatten)]
    git: Git,
    #[command(flatten)]
    writing: MergeDestination,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Decisions")]
struct ConflictArgs {
    /// Keep A's version where both changed a record
    #[arg(long, conflicts_with = "theirs")]
    ours: bool,
    /// Take B's version where both changed a record
    #[arg(long)]
    theirs: bool,
    /// Leave out records that one side deleted
    ///
    /// Requires BASE. By default, a record that one side lacks is kept: its absence may have other reasons.
    #[arg(long)]
    deletions: bool,
    /// Order exchanges by time; make no branch
    ///
    /// For group chats. Exchanges are not divided.
    #[arg(long)]
    interleave: bool,
    /// Decide a conflict that an earlier merge left
    ///
    /// ID is that of the conflict event or of its record.
    #[arg(long, num_args = 2, value_names = ["ID", "SIDE"])]
    resolve: Option<Vec<String>>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Git")]
struct Git {
    /// Take %O %A %B %P of a git merge driver
    ///
    /// These are three files and a path. Writes the result to %A. Status 0: merged; 1: conflicts. With any other status, %A is unchanged.
    #[arg(long, conflicts_with_all = ["in_place", "output", "resolve", "git_config"])]
    driver: bool,
    /// Print the configuration for git
    ///
    /// The merge driver, and the text of sessions for `git diff`.
    #[arg(long, conflicts_with_all = ["inputs", "resolve"])]
    git_config: bool,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
struct MergeDestination {
    #[command(flatten)]
    packing: PackArgs,
    /// Write to FILE, replacing it atomically
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Rewrite A; keep the original as FILE+SUFFIX
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["output", "damage_ok"])]
    in_place: Option<String>,
    /// With -i, rewrite a file that is open elsewhere, hard-linked or not yours
    #[arg(long, requires = "in_place", hide_short_help = true)]
    force: bool,
    /// Print the result; do not change the store
    #[arg(long, conflicts_with_all = ["in_place", "output"])]
    stdout: bool,
    /// Print what would be merged; change nothing
    #[arg(short = 'n', long, conflicts_with_all = ["output", "stdout"])]
    dry_run: bool,
    /// Print an object per conflict, and the totals
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Winner {
    Ours,
    Theirs,
}

/// The sides, in the order of the operands.
struct Operands {
    base: Option<InputLocation>,
    a: InputLocation,
    b: InputLocation,
    /// Label of A in messages.
    label: String,
}

impl Run for MergeCommand {
    fn run(self, context: &Context) -> anyhow::Result<()> {
        context.output.set_json_diagnostics(self.writing.json);
        if self.git.git_config {
            return context.output.print(git::CONFIG);
        }
        if let Some(decision) = &self.deciding.resolve {
            return self.resolve(context, &decision[0], &decision[1]);
        }
        let operands = self.operands(context)?;
        let is_stored = matches!(operands.a, InputLocation::Name(_))
            && !self.writing.stdout
            && self.writing.output.is_none()
            && self.writing.packing.option().is_none();
        let is_shown = !(is_stored || self.git.driver || self.writing.dry_run)
            && self.writing.in_place.is_none()
            && self.writing.output.is_none();
        if self.writing.json && is_shown {
            let error = Error::usage("--json requires -o, -i, -n or a stored session");
            return Err(error.hint("the result is printed to standard output").into());
        }
        if self.deciding.deletions && operands.base.is_none() {
            return Err(Error::usage("--deletions requires BASE")
                .hint("convo merge --deletions BASE A B")
                .into());
        }
        let read =
            |input: &InputLocation| sides::read(context, input, self.from, self.strict || self.git.driver);
        let base = operands.base.as_ref().map(read).transpose()?.unwrap_or_default();
        let b = read(&operands.b)?;
        match &operands.a {
            InputLocation::Name(name) if is_stored => self.store(context, name, &base, &b),
            _ => {
                let a = read(&operands.a)?;
                self.file(context, &operands, [&base, &a, &b])
            }
        }
    }
}

impl MergeCommand {
    fn operands(&self, context: &Context) -> Result<Operands> {
        if self.git.driver {
            let [base, a, b, label] = self.inputs.as_slice() else {
                let error = Error::usage("--driver takes the files %O %A %B and the path %P");
                return Err(error.hint("print the configuration with: convo merge --git-config"));
            };
            // Git passes names of temporary files, which need not look like paths.
            let [base, a, b] = [base, a, b].map(|path| InputLocation::Path(path.into()));
            return Ok(Operands {
                base: Some(base),
                a,
                b,
                label: label.clone(),
            });
        }
        let inputs: Vec<InputLocation> = self
            .inputs
            .iter()
            .map(|operand| operands::input(context, operand))
            .collect::<Result<_>>()?;
        if inputs
            .iter()
            .filter(|input| **input == InputLocation::Stdin)
            .count()
            > 1
        {
            return Err(Error::usage("standard input can be read only once"));
        }
        let (base, a, b) = match inputs.as_slice() {
            [a, b] => (None, a, b),
            [base, a, b] => (Some(base.clone()), a, b),
            several => {
                let what = format!("merge takes two or three inputs, not {}", several.len());
                return Err(Error::usage(what).hint("convo merge [BASE] A B"));
            }
        };
        Ok(Operands {
            base,
            a: a.clone(),
            b: b.clone(),
            label: a.label(),
        })
    }

    fn options<'o>(&self, format: Option<Format>, now: Option<&'o str>) -> MergeOptions<'o> {
        MergeOptions {
            keyed: format.and_then(|format| format.spec().keyed),
            prefer: match (self.deciding.ours, self.deciding.theirs) {
                (true, _) => Prefer::Ours,
                (_, true) => Prefer::Theirs,
                _ => Prefer::Neither,
            },
            deletions: self.deciding.deletions,
            interleave: self.deciding.interleave,
            appends: false,
            now,
        }
    }

    /// Merges files or streams.
    fn file(
        &self,
        context: &Context,
        operands: &Operands,
        [base, a, b]: [&MergeInput; 3],
    ) -> anyhow::Result<()> {
        let format = sides::common_format([base, a, b])?;
        let now = context.clock.is_fixed().then(|| context.clock.now());
        let options = self.options(format, now.as_deref());
        let [base, other] = [base, b].map(|input| merge::with_id_of(&a.sessions, &input.sessions));
        let merged = merge::merge(&base, &a.sessions, &other, &options)
            .map_err(|error| named(error, &operands.label))?;
        if let Some(format) = format.filter(|_| merged.conflicts.iter().any(|conflict| conflict.id.is_none()))
        {
            return Err(named(report::refused(&merged, format), &operands.label).into());
        }
        // The result has the form of A.
        let packs = self.writing.packing.or(a.packed);
        if let (Some(option), Some(format)) = (self.writing.packing.option(), format)
            && !format.is_lines()
        {
            let what = format!("{option} requires native files, not {}", format.name());
            return Err(Error::usage(what).into());
        }
        let is_unchanged = merged.is_unchanged() && packs == a.packed;
        let write = |out: &mut dyn Write| -> anyhow::Result<()> {
            let failed = |error| Error::io("cannot write", error);
            if is_unchanged {
                return Ok(out.write_all(&a.bytes).map_err(failed)?);
            }
            packing(context, packs.into(), out, |out| {
                Ok(merged.write(out).map_err(failed)?)
            })
        };
        let mut rewriting = Rewrite {
            lock_timeout: context.lock_timeout(),
            force: self.writing.force,
            ..Rewrite::default()
        };
        match (&self.writing.output, &operands.a) {
            _ if self.writing.dry_run => {}
            (Some(path), _) => rewrite(path, &rewriting, &path_name(path), write)?,
            (None, InputLocation::Path(path)) if self.git.driver || self.writing.in_place.is_some() => {
                self.check_rewritable(context, path)?;
                rewriting.read = a.facts;
                let suffix = self.writing.in_place.as_ref().filter(|suffix| !suffix.is_empty());
                rewriting.backup = suffix.map(Into::into);
                match is_unchanged {
                    // A killed run may have written the file without syncing it.
                    true => sync_file(path).map_err(|error| named(error, &operands.label))?,
                    false => rewrite(path, &rewriting, &operands.label, write)?,
                }
            }
            (None, _) if self.writing.in_place.is_some() => {
                return Err(Error::usage("-i requires a file").into());
            }
            (None, _) => context.output.stdout(write)?,
        }
        self.report(context, &operands.label, &merged)
    }

    fn check_rewritable(&self, context: &Context, path: &Path) -> Result<()> {
        if path.is_symlink() {
            let error = Error::new(ErrorKind::Unsafe, "not a regular file");
            return Err(named(
                error.hint("symbolic links, pipes and devices are not supported"),
                &path_name(path),
            ));
        }
        context.refuse_running(path, self.writing.force)
    }

    /// Reports the result; conflicts are status 1.
    fn report(&self, context: &Context, label: &str, merged: &Merged<'_>) -> anyhow::Result<()> {
        report::report_merge(context, label, merged, self.writing.dry_run);
        if self.writing.json {
            context.output.rows(false, report::lines(merged))?;
        }
        if !merged.conflicts.is_empty() {
            context.output.note_status(ErrorKind::No);
        }
        Ok(())
    }

    fn resolve(&self, context: &Context, id: &str, side: &str) -> anyhow::Result<()> {
        let version = match Winner::from_str(side, false) {
            Ok(Winner::Ours) => Version::Ours,
            Ok(Winner::Theirs) => Version::Theirs,
            Err(_) => {
                let what = format!("expected ours or theirs, not '{side}'");
                return Err(Error::usage(what)
                    .hint("convo merge --resolve ID ours INPUT")
                    .into());
            }
        };
        let reading = InputArgs {
            from: self.from,
            strict: self.strict,
            ..InputArgs::default()
        };
        let writing = &self.writing;
        let edit_args = EditArgs {
            writing: OutputArgs {
                packing: writing.packing,
                output: writing.output.clone(),
                ..OutputArgs::default()
            },
            in_place: writing.in_place.clone(),
            force: writing.force,
            stdout: writing.stdout,
            dry_run: writing.dry_run,
            json: writing.json,
        };
        let inputs = operands::inputs(context, &self.inputs)?;
        let mut is_found = false;
        let request = EditRequest::new(&reading, &edit_args);
        edit::run(context, &inputs, request, |session, event_ids| {
            let plan = merge::resolve(session, id, version, |content| event_ids.event(content));
            is_found |= !matches!(plan, Ok(Plan::Nothing(_)));
            plan
        })?;
        match is_found {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::No, format!("no unresolved conflict {id}")).into()),
        }
    }
}
