//! The core of every command that changes sessions, in these steps:
//!
//! 1. [`run`] opens the [`Destination`](destination::Destination) of each input: a stream or a file in place
//!    (`stream`), a stored session (`stored`), a file that another system keeps together with others (`foreign`), or,
//!    for a dry run, standard output (`dry_run`).
//! 2. [`change`] pulls the sessions one by one, asks the command for a plan, and returns the
//!    plan: `while let Some(session) = destination.next()? { destination.accept(session, plan(..))? }`.
//! 3. The destination writes the change: records at the end of a log, or the changed session. The change is reported
//!    when it is complete.

pub mod alias_conflicts;
mod change;
pub mod continuation;
mod destination;
mod dry_run;
mod event_ids;
mod foreign;
mod new_file;
pub mod processed;
mod recognized;
mod reports;
mod request;
pub mod retention;
mod stored;
mod stream;
pub mod streaming;

pub use event_ids::{EventIds, LineDestination};
pub use request::EditRequest;

use crate::args::InputLocation;
use crate::context::Context;
use crate::errors::{mixed, named};
use crate::input::input_source::{certain_format, neighbor};
use crate::input::open::OpenInput;
use crate::input::{opencode_dir as opencode, report_and_continue};
use crate::programs::database;
use crate::writing::{rewrite, write_to};
use change::change;
use convo::error::{Error, ErrorKind};
use convo::filter::Plan;
use convo::model::key::Chance;
use convo::model::session::Session;
use convo::store::foreign::FileOptions;
use convo::store::{FileStat, Rewrite};
use destination::Planner;
use dry_run::DryRun;
use foreign::ForeignFile;
use recognized::HeadWriter;
use std::io::ErrorKind::NotFound;
use std::path::Path;
use stored::StoredSession;
use stream::{WrittenOutput, stream};

/// Plans and applies a change of every session of the inputs.
pub fn run(
    context: &Context,
    inputs: &[InputLocation],
    edit: EditRequest<'_>,
    mut plan: impl FnMut(&Session, &EventIds<'_>) -> convo::Result<Plan>,
) -> anyhow::Result<()> {
    let mut planner = Planner {
        parallel: None,
        plan: &mut |session, event_ids, _| plan(session, event_ids),
    };
    run_planner(context, inputs, edit, &mut planner)
}

/// Like [`run`], for plans that do not depend on each other: small sessions of a stream are planned on several threads.
/// `report` gets each plan in order, and completes it.
pub fn run_in_parallel(
    context: &Context,
    inputs: &[InputLocation],
    edit: EditRequest<'_>,
    plan: impl Fn(&Session, &EventIds<'_>) -> convo::Result<Plan> + Sync,
    mut report: impl FnMut(&Session, &EventIds<'_>, convo::Result<Plan>) -> convo::Result<Plan>,
) -> anyhow::Result<()> {
    let mut planner = Planner {
        // Ids that are made from a seed depend on their order.
        parallel: match context.chance {
            Chance::System(_) => Some(&plan),
            Chance::Seed(..) => None,
        },
        plan: &mut |session, event_ids, planned| {
            let planned = planned.unwrap_or_else(|| plan(session, event_ids));
            report(session, event_ids, planned)
        },
    };
    run_planner(context, inputs, edit, &mut planner)
}

fn run_planner(
    context: &Context,
    inputs: &[InputLocation],
    edit: EditRequest<'_>,
    planner: &mut Planner<'_>,
) -> anyhow::Result<()> {
    context.output.set_json_diagnostics(edit.args.json);
    let mut edit = edit.resolve(inputs, edit.reading.args)?;
    edit.check()?;
    edit.reading.returns = edit.in_place() || edit.to.is_some();
    if edit.in_place() {
        inputs
            .iter()
            .try_for_each(|input| replaced_file(input).map(drop))?;
    }
    let streams = inputs.iter().filter(|input| !edit.in_store(input)).count();
    if streams == 0 || edit.in_place() || edit.args.dry_run {
        for input in inputs {
            let done = one(context, input, &edit, planner);
            report_and_continue(context, done, inputs.len())?;
        }
        return Ok(());
    }
    if streams < inputs.len() {
        return Err(mixed().into());
    }
    let mut written = WrittenOutput::default();
    write_to(context, edit.writing(), |out| {
        for input in inputs {
            let opened = context.open(input, edit.reading).map_err(Into::into);
            let done = opened.and_then(|opened| {
                out.separate();
                stream(context, opened, &edit, out, &mut written, planner)
            });
            report_and_continue(context, done, inputs.len())?;
        }
        Ok(())
    })?;
    written.report(context, &edit);
    Ok(())
}

/// Changes the sessions of an input that has its own destination.
fn one(
    context: &Context,
    input: &InputLocation,
    edit: &EditRequest<'_>,
    planner: &mut Planner<'_>,
) -> anyhow::Result<()> {
    match input {
        _ if edit.args.dry_run => {
            if let (InputLocation::Path(path), true) = (input, edit.in_place())
                && change_foreign_file(context, path, edit, planner)?
            {
                return Ok(());
            }
            change(context, &mut DryRun::open(context, input, edit)?, planner)
        }
        InputLocation::Name(name) => change(context, &mut StoredSession::open(context, name, edit)?, planner),
        InputLocation::Path(path) => in_place(context, path, edit, planner),
        InputLocation::Row(..) | InputLocation::Stdin => Ok(replaced_file(input).map(drop)?),
    }
}

/// The file that `-i` replaces. An input without one is refused before any other is changed.
pub fn replaced_file(input: &InputLocation) -> convo::Result<&Path> {
    let error = Error::usage("-i requires a file");
    match input {
        InputLocation::Path(path) => Ok(path),
        InputLocation::Name(name) => Err(named(error, name).hint("omit -i to change the stored session")),
        InputLocation::Row(name, ..) => Err(database::unchanged(name)),
        InputLocation::Stdin => Err(named(error, &input.label()).hint("omit -i and redirect the output")),
    }
}

/// Replaces a file with its changed sessions, or creates it.
fn in_place(
    context: &Context,
    path: &Path,
    edit: &EditRequest<'_>,
    planner: &mut Planner<'_>,
) -> anyhow::Result<()> {
    let input = InputLocation::Path(path.to_path_buf());
    let label = input.label();
    let refused = |error| named(error, &label);
    context.refuse_running(path, edit.args.force)?;
    let mut options = Rewrite {
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    let about = match std::fs::symlink_metadata(path) {
        Err(error)
            if error.kind() == NotFound && edit.creates && !crate::input::input_source::has_backup(path) =>
        {
            let opened = new_file::opened(context, path, &label, edit.to).map_err(refused)?;
            return replace(context, path, opened, edit, &options, planner);
        }
        about => about.map_err(|error| refused(Error::io("cannot read", error)))?,
    };
    if about.is_dir() {
        return context.open(&input, edit.reading).map(drop).map_err(Into::into); // reports the alternative
    }
    if !about.is_file() {
        let error = Error::new(ErrorKind::Unsafe, "not a regular file");
        return Err(refused(error.hint("symbolic links, pipes and devices are not supported")).into());
    }
    opencode::refuse(path).map_err(refused)?;
    if change_foreign_file(context, path, edit, planner)? {
        return Ok(());
    }
    // The file that is replaced must be the one that was read.
    let file = std::fs::File::open(path).and_then(|file| FileStat::of(&file));
    options.read = Some(file.map_err(|error| refused(Error::io("cannot read", error)))?);
    options.backup = edit.backup().map(Into::into);
    options.force = edit.args.force;
    let opened = context.open(&input, edit.reading)?;
    replace(context, path, opened, edit, &options, planner)
}

fn replace(
    context: &Context,
    path: &Path,
    opened: OpenInput,
    edit: &EditRequest<'_>,
    options: &Rewrite,
    planner: &mut Planner<'_>,
) -> anyhow::Result<()> {
    let label = opened.label.clone();
    let format = edit.to.unwrap_or(opened.format);
    let mut written = WrittenOutput::default();
    rewrite(path, options, &label, |out| {
        let mut out = HeadWriter::new(out);
        stream(context, opened, edit, &mut out, &mut written, planner)?;
        let given = edit.reading.args.from.is_some();
        let other = out.check(path, format, given);
        if let Some(other) = other.map_err(|error| named(error, &label))? {
            let (other, format) = (other.name(), format.name());
            let message =
                format!("the remaining file would be read as {other}; read it with --from {format}");
            context.output.notice(&label, &message);
        }
        Ok(())
    })?;
    written.report(context, edit);
    Ok(())
}

/// Changes a file that another system stores together with others; false if it is not such a file.
fn change_foreign_file(
    context: &Context,
    path: &Path,
    edit: &EditRequest<'_>,
    planner: &mut Planner<'_>,
) -> anyhow::Result<bool> {
    let label = crate::output::path_name(path);
    let named = |error| named(error, &label);
    let (Some(format), compressed) = certain_format(path, edit.reading.args.from).map_err(named)? else {
        return Ok(false);
    };
    let options = FileOptions {
        format,
        compressed,
        backup: edit.backup(),
        to: edit.to,
        full_log: edit.full_log && !edit.append_only,
        dry_run: edit.args.dry_run,
        force: edit.args.force,
        lock_timeout: context.lock_timeout(),
        neighbor: &neighbor(path),
    };
    let Some(file) = convo::store::foreign::open(path, &options).map_err(named)? else {
        return Ok(false);
    };
    change(
        context,
        &mut ForeignFile::new(context, edit, label.clone(), file),
        planner,
    )?;
    Ok(true)
}
