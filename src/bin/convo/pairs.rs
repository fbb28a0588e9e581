//! The files of a PicoClaw session, changed in place: what is added goes to the log, a cut to the sidecar.

use crate::args::{Changing, Reading};
use crate::context::{Context, detect_file, head, stopped};
use crate::output::counted;
use crate::pick::Pick;
use convo::error::{Error, Kind, Place};
use convo::filter::Plan;
use convo::format::Format;
use convo::format::detect::HEAD;
use convo::format::picoclaw::{LOG, SIDECAR, log_lines};
use convo::format::report::Report;
use convo::model::session::Session;
use convo::store::pair::Pair;
use std::fs::File;
use std::io;
use std::path::Path;

/// Whether this file is the log of a PicoClaw session, beyond doubt or because `--from` says so.
pub fn is_pair(path: &Path, reading: &Reading) -> convo::Result<bool> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let sidecar = name.strip_suffix(SIDECAR);
    if sidecar.is_none() && !name.ends_with(LOG) {
        return Ok(false);
    }
    match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("cannot read", error)),
        _ => return Ok(false),
    }
    let is_ours = match reading.from {
        Some(format) => format == Format::Picoclaw,
        None => {
            let mut file = File::open(path).map_err(|error| Error::io("cannot open", error))?;
            let (head, whole) = head(&mut file, HEAD)?;
            let verdict = detect_file(&head, whole, Some(path));
            verdict.format == Some(Format::Picoclaw) && verdict.others.is_empty()
        }
    };
    if let (true, Some(stem)) = (is_ours, sidecar) {
        let what = "is the sidecar of a session";
        return Err(Error::new(Kind::Usage, what).hint(format!("give the log: {stem}{LOG}")));
    }
    Ok(is_ours)
}

/// Plans a change of the session whose log this is, and carries it out under its lock.
pub fn change(
    context: &Context,
    path: &Path,
    reading: &Reading,
    changing: &Changing,
    mut plan: impl FnMut(&Session) -> convo::Result<Plan>,
) -> anyhow::Result<()> {
    refuse(changing)?;
    let label = crate::output::path_name(path);
    let mut pair = Pair::open(path, context.lock_timeout())?;
    pair.force = changing.force;
    let mut report = Report::default();
    // Whoever adds a message need not know the others.
    let session = if changing.adds {
        tell_end(&pair, &mut report);
        Session::default()
    } else {
        pair.session(&mut report)?
    };
    let damaged = report.is_damaged();
    context.output.report(&label, &mut report);
    if reading.strict && damaged {
        return Err(stopped().into());
    }
    Pick::only(reading, &session)?;
    let (lines, told) = match plan(&session)? {
        Plan::Lines(lines, told) => (lines, told),
        Plan::Nothing(why) | Plan::Refused(why) => {
            pair.settle()?;
            changing.describe(context, &label, &format!("unchanged: {why}"));
            return Ok(());
        }
    };
    let now = context.clock.now();
    if changing.adds {
        let written = log_lines(&lines, &now, &mut report);
        let lost = !report.losses.is_empty();
        context.output.report(&label, &mut report);
        let written = written?;
        if reading.strict && lost {
            let what = "lossy conversion; nothing was written (--strict)";
            return Err(Error::new(Kind::Data, what).into());
        }
        if changing.dry_run {
            return dry(context, &label, &written, &told);
        }
        if let Some(error) = pair.append(&written, &now)?.books {
            let what = format!("stored the lines, but could not update the sidecar: {error}");
            context.output.tell(&label, &what);
        }
    } else {
        let applied = pair.apply(&session, &lines, &now, changing.dry_run, &mut report);
        context.output.report(&label, &mut report);
        let applied = applied?;
        if changing.dry_run {
            return dry(context, &label, &lines, &told);
        }
        if applied.archived > 0 {
            let lines = counted(applied.archived, "line");
            let what = format!("{told}; moved {lines} to .convo/archive next to the log");
            context.output.tell(&label, &what);
            return Ok(());
        }
    }
    changing.describe(context, &label, &told);
    Ok(())
}

fn dry(context: &Context, label: &str, lines: &[Vec<u8>], told: &str) -> anyhow::Result<()> {
    context.output.tell(label, &crate::dry_run::would(told));
    for line in lines {
        context.output.print(&String::from_utf8_lossy(line))?;
    }
    Ok(())
}

/// Refuses what makes no sense for two files that are changed in place.
fn refuse(changing: &Changing) -> convo::Result<()> {
    if changing
        .in_place
        .as_ref()
        .is_some_and(|suffix| !suffix.is_empty())
    {
        let what = "-i=SUFFIX cannot back up the two files of a PicoClaw session";
        return Err(Error::new(Kind::Usage, what).hint("copy both files, then use -i alone"));
    }
    if changing.writing.to.is_some() {
        let what = "-i with --to cannot convert a PicoClaw session";
        return Err(Error::new(Kind::Usage, what).hint("omit one of them"));
    }
    if changing.log && !changing.adds {
        let what = "--log conflicts with -i: PicoClaw files keep no events";
        return Err(Error::new(Kind::Usage, what).hint("omit one of them"));
    }
    Ok(())
}

/// Tells what is odd about the end of a log that is appended to.
fn tell_end(pair: &Pair, report: &mut Report) {
    let whole = Place::default();
    if pair.surplus() > 0 {
        let what = format!(
            "the sidecar skips {} lines more than the log has, which would hide new messages; corrected",
            pair.surplus()
        );
        report.damage(whole, what);
    }
    if pair.is_torn() {
        report.note(whole, "the last line is truncated; kept as a separate line");
    }
}
