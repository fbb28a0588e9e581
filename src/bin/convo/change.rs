//! What every verb that changes sessions shares: a plan is made for each session, and the lines of the plan go
//! where the session came from.

use crate::args::{Changing, Input, Reading, Writing};
use crate::context::{Context, Opened, named};
pub use crate::export::{Export, tell_dangling};
use crate::inputs::{each_input, sessions_of, tell_and_go_on};
use crate::pick::Pick;
use crate::source::has_spare;
pub use crate::stamps::{Place, Stamps};
use crate::streamed::{Done, Planner, stream};
use crate::{created, hooks, pairs, penguins, stored};
use convo::error::{Error, Kind};
use convo::filter::Plan;
use convo::filter::settle::Joined;
use convo::filter::summarize;
use convo::format::Format;
use convo::format::packed::{Objects, Packer};
use convo::format::report::Report;
use convo::model::health::is_attempt;
use convo::model::session::Session;
use convo::model::view::View;
use convo::store::{Facts, Rewrite, write_atomically};
use std::io::ErrorKind::NotFound;
use std::io::Write;

/// Plans and carries out a change of every session of the inputs.
pub fn run(
    context: &Context,
    inputs: &[Input],
    reading: &Reading,
    changing: &Changing,
    mut plan: impl FnMut(&Session, &Stamps<'_>) -> convo::Result<Plan>,
) -> anyhow::Result<()> {
    context.output.speak_json(changing.json);
    let changing = &mut changing.clone();
    changing.settle(inputs, reading)?;
    changing.writing.check()?;
    if changing.force && changing.in_place.is_none() {
        return Err(Error::new(Kind::Usage, "--force requires -i").into());
    }
    if changing.log
        && !changing.adds
        && changing
            .writing
            .to
            .is_some_and(|to| !matches!(to, Format::Native | Format::Jsonl))
    {
        let error = Error::new(Kind::Usage, "--log conflicts with --to FORMAT");
        return Err(error.hint("omit one of them").into());
    }
    let reading = &Reading {
        returns: changing.in_place.is_some() || changing.writing.to.is_some(),
        ..reading.clone()
    };
    let streams = inputs.iter().any(|input| !in_store(input, changing));
    if streams && changing.in_place.is_none() && !changing.dry_run {
        let named = inputs.iter().filter(|input| !in_store(input, changing)).count();
        if named < inputs.len() {
            return Err(Error::new(
                Kind::Usage,
                "cannot mix stored sessions with files or standard input",
            )
            .hint("use --stdout to read stored sessions as streams")
            .into());
        }
        let mut done = Vec::new();
        write_to(context, &changing.writing, |out| {
            let mut running = Done::default();
            each_input(context, inputs, reading, |opened| {
                out.separate();
                let label = opened.label.clone();
                let streamed = stream(context, opened, reading, changing, out, &mut running, &mut plan);
                done.push((label, running.split_off()));
                streamed
            })
        })?;
        // What is not written is not done.
        for (label, mut done) in done {
            done.tell(context, changing, &label);
        }
        return Ok(());
    }
    for input in inputs {
        let done = match input {
            _ if changing.dry_run => dry_run(context, input, reading, changing, &mut plan),
            Input::Name(name) if changing.in_place.is_some() => {
                let error = Error::new(Kind::Usage, "-i requires a file");
                Err(named(error, name)
                    .hint("omit -i to change the stored session")
                    .into())
            }
            Input::Name(name) if in_store(input, changing) => {
                store(context, name, reading, changing, &mut plan)
            }
            Input::Path(_) => in_place(context, input, reading, changing, &mut plan),
            _ => Err(Error::new(Kind::Usage, "-i requires a file").into()),
        };
        tell_and_go_on(context, done, inputs.len())?;
    }
    Ok(())
}

/// Reports that a session is unchanged; without a reason an error has said so.
fn unchanged(context: &Context, label: &str, why: &str) {
    if !why.is_empty() {
        context.output.tell(label, &format!("unchanged: {why}"));
    }
}

/// Whether a change of this input goes to the store.
pub fn in_store(input: &Input, changing: &Changing) -> bool {
    matches!(input, Input::Name(_)) && !changing.stdout && !changing.writing.is_elsewhere()
}

/// Whether a line is an event that moves the view.
fn moves_view(line: &[u8]) -> bool {
    let mut session = Session::default();
    session.push_new(line);
    View::is_moved_by(&session, 0)
}

/// How often a change is planned anew when the session grew meanwhile.
const TRIES: u32 = 50;

/// A session of the store: the lines are appended to its log.
fn store(
    context: &Context,
    name: &str,
    reading: &Reading,
    changing: &Changing,
    plan: Planner<'_>,
) -> anyhow::Result<()> {
    let store = context.store()?;
    let id = store.resolve(name)?;
    if changing.log && !changing.adds {
        let error = Error::new(
            Kind::Usage,
            "--log requires a stream; the store always keeps the log",
        );
        return Err(named(error, name)
            .hint("print the log with: --stdout --log")
            .into());
    }
    let mut tries = 0;
    let mut sees_view = changing.sees_view;
    let (lines, told) = loop {
        let mut report = Report::default();
        let (session, length) = match sees_view {
            true => store.load_view(&id, &mut report)?,
            false => store.load_with_length(&id, &mut report)?,
        };
        Pick::only(reading, &session).map_err(|error| named(error, name))?;
        let stamps = Stamps::new(context, &session, Place::Store);
        let made = context.chance.made();
        let planned = match plan(&session, &stamps) {
            // What cannot be done is told by who has seen everything.
            Err(_) if session.excerpt().is_some() => {
                context.chance.go_back(made);
                sees_view = false;
                continue;
            }
            planned => planned.map_err(|error| named(error, name))?,
        };
        let whole = report.findings.is_empty();
        let keep = |lines: &[Vec<u8>]| {
            if !sees_view || !whole {
                return;
            }
            // What the new lines have brought out of view need not be read again.
            let mut report = Report::default();
            match lines.iter().any(|line| moves_view(line)) {
                true => match store.load_view(&id, &mut report) {
                    Ok((session, length)) if report.findings.is_empty() => {
                        store.keep_view(&id, &session, length, &summarize::standing);
                    }
                    _ => {}
                },
                false => store.keep_view(&id, &session, length, &summarize::standing),
            }
        };
        if let Plan::Lines(lines, told) = planned {
            // What was planned holds for what was read: a message that came meanwhile is never cut off unseen.
            let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            let done = store
                .append_to(&id, &borrowed, length)
                .map_err(|error| named(error, name))?;
            tries += 1;
            if !done && tries < TRIES {
                continue;
            }
            context.output.report(name, &mut report);
            if !done {
                return Err(named(
                    Error::new(Kind::Locked, "modified by another program; nothing was changed"),
                    name,
                )
                .into());
            }
            keep(&lines);
            if !changing.json && !told.is_empty() {
                context.output.tell(name, &told);
            }
            break (lines, told);
        } else if let Plan::Nothing(why) | Plan::Refused(why) = planned {
            // It is so because of lines that perhaps nobody has synced.
            store.settle_lines(&id).map_err(|error| named(error, name))?;
            keep(&[]);
            context.output.report(name, &mut report);
            unchanged(context, name, &why);
            break (Vec::new(), why);
        }
    };
    if changing.json {
        let records: Vec<&serde_json::value::RawValue> = lines
            .iter()
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let report = serde_json::json!({
            "schema": "convo.change/1", "id": id, "changed": lines.iter().any(|line| !is_attempt(line)), "what": told, "records": records,
        });
        context.output.print_done(&report.to_string())?;
    }
    hooks::after(context, name, &id, lines.iter().map(Vec::as_slice));
    Ok(())
}

fn dry_run(
    context: &Context,
    input: &Input,
    reading: &Reading,
    changing: &Changing,
    plan: Planner<'_>,
) -> anyhow::Result<()> {
    if pair(context, input, reading, changing, plan)? {
        return Ok(());
    }
    let opened = context.open(input, reading)?;
    let label = opened.label.clone();
    let place = if in_store(input, changing) {
        Place::Store
    } else {
        Place::Stream
    };
    sessions_of(context, opened, reading, |session| {
        match plan(&session, &Stamps::new(context, &session, place)).map_err(|error| named(error, &label))? {
            Plan::Nothing(why) | Plan::Refused(why) => {
                unchanged(context, &label, &why);
            }
            Plan::Lines(lines, told) => {
                context.output.tell(&label, &crate::dry_run::would(&told));
                for line in lines.iter().filter(|_| !changing.explains) {
                    context.output.print(&String::from_utf8_lossy(line))?;
                }
            }
        }
        Ok(())
    })
}

fn in_place(
    context: &Context,
    input: &Input,
    reading: &Reading,
    changing: &Changing,
    plan: Planner<'_>,
) -> anyhow::Result<()> {
    let Input::Path(path) = input else { return Ok(()) };
    let backup = changing.in_place.clone().filter(|suffix| !suffix.is_empty());
    // What is read must be what is replaced.
    let refused = |error| named(error, &input.label());
    let about = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == NotFound && changing.creates && !has_spare(path) => {
            let opened = created::opened(context, path, &input.label(), changing.writing.to);
            return write_new(context, path, opened.map_err(refused)?, reading, changing, plan);
        }
        about => about.map_err(|error| refused(Error::io("cannot read", error)))?,
    };
    if !about.is_file() && !about.is_dir() {
        let error = Error::new(Kind::Unsafe, "not a regular file");
        return Err(refused(error.hint("symbolic links, pipes and devices are not supported")).into());
    }
    if about.is_dir() {
        return context.open(input, reading).map(drop).map_err(Into::into); // which says what to do instead
    }
    stored::refuse(path).map_err(refused)?;
    if pair(context, input, reading, changing, plan)? {
        return Ok(());
    }
    if penguins::is_session(path, reading, changing).map_err(refused)? {
        let plan = |session: &Session| plan(session, &Stamps::new(context, session, Place::Store));
        return penguins::change(context, path, reading, changing, plan)
            .map_err(|error| at(error, &input.label()));
    }
    let file = std::fs::File::open(path).and_then(|file| Facts::of(&file));
    let read = file.map_err(|error| refused(Error::io("cannot read", error)))?;
    let options = Rewrite {
        backup: backup.map(Into::into),
        read: Some(read),
        force: changing.force,
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    let opened = context.open(input, reading)?;
    let mut done = Done::default();
    let pack = changing.writing.pack || opened.packed;
    rewrite(path, &options, &input.label(), |out| {
        packing(pack, &changing.writing, out, |out| {
            stream(context, opened, reading, changing, out, &mut done, plan)
        })
    })?;
    done.tell(context, changing, &input.label());
    Ok(())
}

/// Writes a file that is not there yet, whole or not at all.
fn write_new(
    context: &Context,
    path: &std::path::Path,
    opened: Opened,
    reading: &Reading,
    changing: &Changing,
    plan: Planner<'_>,
) -> anyhow::Result<()> {
    let (label, mut done) = (opened.label.clone(), Done::default());
    let options = Rewrite {
        lock_timeout: context.lock_timeout(),
        ..Rewrite::default()
    };
    rewrite(path, &options, &label, |out| {
        packing(changing.writing.pack, &changing.writing, out, |out| {
            stream(context, opened, reading, changing, out, &mut done, plan)
        })
    })?;
    done.tell(context, changing, &label);
    Ok(())
}

/// Changes the two files of a PicoClaw session in place; false when that is not what is asked for.
fn pair(
    context: &Context,
    input: &Input,
    reading: &Reading,
    changing: &Changing,
    plan: Planner<'_>,
) -> anyhow::Result<bool> {
    let (Input::Path(path), Some(_)) = (input, &changing.in_place) else {
        return Ok(false);
    };
    if !pairs::is_pair(path, reading).map_err(|error| named(error, &input.label()))? {
        return Ok(false);
    }
    let plan = |session: &Session| plan(session, &Stamps::new(context, session, Place::Pair));
    pairs::change(context, path, reading, changing, plan).map_err(|error| at(error, &input.label()))?;
    Ok(true)
}

/// The error with the input's name in it.
fn at(error: anyhow::Error, label: &str) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) => named(error, label).into(),
        Err(error) => error,
    }
}

/// Writes a file whole or not at all.
fn rewrite(
    path: &std::path::Path,
    options: &Rewrite,
    label: &str,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // What went wrong on the way to the file, such as an input that is not there, is told as it is.
    let mut inner = None;
    let write = |out: &mut dyn Write| {
        write(out).map_err(|error| {
            let stand_in = Error::new(Kind::InputOutput, error.to_string());
            inner = Some(error);
            stand_in
        })
    };
    let done = write_atomically(path, write, options);
    if let Some(error) = inner {
        return Err(error);
    }
    // A folder that is missing is a failure to write, and not a session that was not found.
    let done = done.map_err(|error| match error.kind {
        Kind::NotFound => error.kind(Kind::InputOutput),
        _ => error,
    });
    Ok(done.map_err(|error| named(error, label))?)
}

/// Writes to standard output, or to the file of `-o`, which appears whole or not at all.
pub fn write_to(
    context: &Context,
    writing: &Writing,
    write: impl FnOnce(&mut Joined<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    writing.check()?;
    // Each input begins a line of its own, wherever the output goes.
    let write = |out: &mut dyn Write| packing(writing.pack, writing, out, |out| write(&mut Joined::new(out)));
    match &writing.output {
        None if context.output.speaks_json() && writing.to.is_none_or(Format::is_lines) => {
            context.output.stdout(|out| objects(out, write))
        }
        None => context.output.stdout(write),
        Some(path) => {
            let options = Rewrite {
                lock_timeout: context.lock_timeout(),
                ..Rewrite::default()
            };
            rewrite(path, &options, &crate::output::path_name(path), write)
        }
    }
}

/// Writes the record stream as JSON objects only, for `--json`.
pub fn objects(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut objects = Objects::new(out);
    let done = write(&mut objects);
    let finished = objects.finish().map_err(|error| Error::io("cannot write", error));
    done.and(finished.map_err(Into::into))
}

/// Writes the record stream, each session as one line where that is wanted.
fn packing(
    pack: bool,
    writing: &Writing,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if !pack {
        return write(out);
    }
    if writing.to.is_some_and(|to| to != Format::Native) {
        let error = Error::new(Kind::Usage, "--pack conflicts with --to FORMAT");
        return Err(error.hint("omit one of them").into());
    }
    let mut packer = Packer::new(out);
    let done = write(&mut packer);
    // What was written ahead of an error stands ahead of it.
    let finished = packer.finish().map_err(|error| Error::io("cannot write", error));
    done.and(finished.map_err(Into::into))
}
