//! The file of a Penguin session, changed in place: what stays is copied byte by byte, and the file as it was is the
//! new `.bak`, from which Penguin itself restores.

use crate::args::{Changing, Reading};
use crate::change::tell_dangling;
use crate::context::{Context, convert, detect_file, stopped, unwrapped};
use crate::output::path_name;
use crate::pick::Pick;
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::format::penguin::{self, Condition, Save};
use convo::format::report::Report;
use convo::format::{Format, Purpose, Source};
use convo::model::json;
use convo::model::session::Session;
use convo::model::view::View;
use convo::store::{Facts, Rewrite, settle, write_atomically};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Where Penguin keeps a session as it was before the last change.
const SPARE: &str = ".bak";

/// Whether this file is a Penguin session that stays one, beyond doubt or because `--from` says so.
pub fn is_session(path: &Path, reading: &Reading, changing: &Changing) -> convo::Result<bool> {
    if changing.writing.to.is_some_and(|to| to != Format::Penguin) {
        return Ok(false);
    }
    let mut file = File::open(path).map_err(|error| Error::io("cannot open", error))?;
    let (head, whole, wrapped) = unwrapped(&mut file)?;
    let verdict = detect_file(&head, whole, Some(path));
    let is = match reading.from {
        Some(format) => format == Format::Penguin,
        None => verdict.format == Some(Format::Penguin) && verdict.others.is_empty(),
    };
    if is && wrapped.is_some() {
        refuse_checkpoint(&head)?;
    }
    Ok(is && wrapped.is_none())
}

fn refuse_checkpoint(bytes: &[u8]) -> convo::Result<()> {
    if !penguin::is_checkpoint(|name| json::member(bytes, name)) {
        return Ok(());
    }
    let error = Error::new(Kind::Usage, "Penguin checkpoints cannot be rewritten in place");
    Err(error.hint("convert the checkpoint first: convo cat FILE | convo cat --to penguin"))
}

/// Plans a change of the session in this file, and carries it out. A session that needs none is not written.
pub fn change(
    context: &Context,
    path: &Path,
    reading: &Reading,
    changing: &Changing,
    plan: impl FnOnce(&Session) -> convo::Result<Plan>,
) -> anyhow::Result<()> {
    let label = path_name(path);
    let (bytes, facts) = read(path)?;
    let suffix = changing.in_place.as_deref().filter(|suffix| !suffix.is_empty());
    refuse_checkpoint(&bytes)?;
    let whole = check(path, &bytes, suffix)?;
    let mut report = Report::to_format(Format::Penguin.name());
    let sessions = convert(Format::Penguin, Some(path), &bytes, &mut report);
    penguin::tell_own(&mut report);
    let damaged = report.is_damaged();
    context.output.report(&label, &mut report);
    if reading.strict && damaged {
        return Err(stopped().into());
    }
    let mut session = sessions?.into_iter().next().unwrap_or_default();
    Pick::only(reading, &session)?;
    let lines = session.len();
    let told = match plan(&session)? {
        Plan::Nothing(why) | Plan::Refused(why) => {
            // It is so because of a change that perhaps nobody has synced.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            settle(folder.unwrap_or(Path::new(".")))?;
            changing.describe(context, &label, &format!("unchanged: {why}"));
            return Ok(());
        }
        Plan::Lines(lines, told) => {
            lines.iter().for_each(|line| session.push_new(line));
            told
        }
    };
    let view = View::replay(&session);
    tell_dangling(context, &label, &session, &view);
    let now = context.clock.now();
    let save = Save {
        now: Some(&now),
        source: whole.then_some((bytes.as_slice(), lines)),
    };
    let mut text = Vec::with_capacity(bytes.len());
    penguin::write(&session, &view, Purpose::Return, &save, &mut text, &mut report)?;
    let options = Rewrite {
        backup: suffix.filter(|suffix| *suffix != SPARE || !whole).map(Into::into),
        spare: whole.then(|| SPARE.into()),
        read: Some(facts),
        force: changing.force,
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    write_atomically(
        path,
        |out| {
            out.write_all(&text)
                .map_err(|error| Error::io("cannot write", error))
        },
        &options,
    )?;
    context.output.report(&label, &mut report);
    changing.describe(context, &label, &told);
    Ok(())
}

fn read(path: &Path) -> convo::Result<(Vec<u8>, Facts)> {
    let failed = |error| Error::io("cannot read", error);
    let mut file = File::open(path).map_err(failed)?;
    let facts = Facts::of(&file).map_err(failed)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes, facts))
}

/// Whether Penguin's own parser reads the file. What it stops at is not written over, unless it is kept under another
/// name.
fn check(path: &Path, bytes: &[u8], suffix: Option<&str>) -> convo::Result<bool> {
    let source = Source {
        name: path.file_name().and_then(|name| name.to_str()),
        ..Source::alone(bytes)
    };
    match penguin::condition(&source) {
        Condition::Whole => Ok(true),
        Condition::Older => {
            let what = "older Penguin conversations cannot be rewritten in place";
            Err(Error::new(Kind::Usage, what)
                .hint("convert the conversation first: convo cat --to penguin -o FILE"))
        }
        Condition::Damaged if suffix.is_none() => {
            let what = "damaged; the rewrite would lose the damaged bytes";
            Err(Error::new(Kind::Data, what).hint("keep a copy of the original with -i=.damaged"))
        }
        Condition::Damaged => Ok(false),
    }
}
