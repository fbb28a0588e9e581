//! Reads the inputs of a merge as lines.

use crate::args::{InputArgs, InputLocation};
use crate::context::Context;
use crate::errors::{named, stopped};
use crate::input::input_source::{detect_file, from_hint, stdin};
use crate::input::open::refuse_terminal;
use crate::input::{InputSettings, regular};
use crate::programs::database;
use convo::error::{Error, Result};
use convo::format::detect::HEAD;
use convo::format::lines::ByteLines;
use convo::format::report::Report;
use convo::format::{Format, Sessions};
use convo::model::record::{Record, RecordKind as Line};
use convo::model::session::Session;
use convo::store::{FileStat, log};
use std::io::{self, Read};

#[derive(Default)]
pub struct MergeInput {
    pub label: String,
    /// None if the input is empty.
    pub format: Option<Format>,
    pub sessions: Vec<Session>,
    /// The original bytes.
    pub bytes: Vec<u8>,
    /// State of the file when it was read.
    pub facts: Option<FileStat>,
    pub packed: bool,
}

/// Reads an input; with `strict`, damaged lines are an error.
pub fn read(
    context: &Context,
    input: &InputLocation,
    from: Option<Format>,
    strict: bool,
) -> Result<MergeInput> {
    let label = input.label();
    let mut report = Report::default();
    let side = side(context, input, from, &mut report).map_err(|error| named(error, &label));
    let is_damaged = report.is_damaged();
    context.output.report(&label, &mut report);
    if is_damaged && strict {
        return Err(named(stopped(), &label));
    }
    Ok(MergeInput { label, ..side? })
}

fn side(
    context: &Context,
    input: &InputLocation,
    from: Option<Format>,
    report: &mut Report,
) -> Result<MergeInput> {
    let mut side = MergeInput::default();
    match input {
        InputLocation::Name(name) => {
            let store = context.store()?;
            side.sessions = vec![store.load(&store.resolve(name)?, report)?];
            side.format = Some(Format::Native);
            let session = &side.sessions[0];
            let lines = (0..session.len()).map(|index| session.full(index));
            side.bytes = lines.collect::<Vec<_>>().concat();
            return Ok(side);
        }
        InputLocation::Path(path) => {
            let file = regular::open(path)?;
            side.facts = Some(FileStat::of(&file).map_err(|error| Error::io("cannot read", error))?);
            side.bytes = regular::read_all(file)?;
        }
        InputLocation::Row(_, path, id) => side.bytes = database::records(path, id)?,
        InputLocation::Stdin => {
            refuse_terminal()?;
            let read = stdin().read_to_end(&mut side.bytes);
            read.map_err(|error| Error::io("cannot read", error))?;
        }
    }
    if side.bytes.trim_ascii().is_empty() {
        return Ok(side);
    }
    let format = match (from, input) {
        (Some(format), _) => format,
        (None, InputLocation::Path(path)) => detected(&side.bytes, Some(path))?,
        (None, _) => detected(&side.bytes, None)?,
    };
    side.format = Some(format);
    if format.is_lines() {
        let args = InputArgs {
            from: Some(format),
            ..InputArgs::default()
        };
        let opened = context.open_bytes(input, side.bytes.clone(), InputSettings::from(&args))?;
        side.packed = opened.packed;
        let mut sessions = Sessions::new(opened.stream);
        while let Some(session) = sessions.next(report)? {
            side.sessions.push(without_checksums(session));
        }
        return Ok(side);
    }
    if format.spec().keyed.is_none() {
        let error = Error::usage(format!("cannot merge {} files", format.name()));
        return Err(error.hint("convert both to native files with: convo cat FILE > FILE.jsonl"));
    }
    let mut session = Session::default();
    let mut lines = ByteLines::new(Vec::new(), io::Cursor::new(&side.bytes));
    while let Some((full, place)) = lines
        .next_line()
        .map_err(|error| Error::io("cannot read", error))?
    {
        let record = Record::parse(full, place);
        if let Line::Unreadable(fault) = &record.kind {
            report.damage(place, fault.what);
        }
        session.push(&record);
    }
    side.sessions.push(session);
    Ok(side)
}

fn detected(bytes: &[u8], path: Option<&std::path::Path>) -> Result<Format> {
    let verdict = detect_file(&bytes[..bytes.len().min(HEAD)], bytes.len() < HEAD, path);
    verdict.format.ok_or_else(|| {
        let error = Error::data(verdict.problem());
        error.hint(verdict.hint.unwrap_or_else(from_hint))
    })
}

/// Returns the lines of a stored log without checksums, because each checksum depends on all lines before it.
fn without_checksums(session: Session) -> Session {
    let is_checked = |index| log::digits_of(session.record(index).body).is_some();
    if !(0..session.len()).any(is_checked) {
        return session;
    }
    let mut bare = Session::default();
    for index in 0..session.len() {
        let line = log::strip(session.full(index));
        bare.push(&Record::parse(&line, session.place(index)));
    }
    bare
}

/// The common format of all inputs that are not empty.
///
/// # Errors
/// A usage error if they have different formats.
pub fn common_format(sides: [&MergeInput; 3]) -> Result<Option<Format>> {
    let is_native = |format: Format| if format.is_lines() { Format::Native } else { format };
    let mut formats = sides
        .into_iter()
        .filter_map(|side| Some((side, is_native(side.format?))));
    let Some((first, format)) = formats.next() else {
        return Ok(None);
    };
    match formats.find(|(_, other)| *other != format) {
        None => Ok(Some(format)),
        Some((side, other)) => {
            let what = format!(
                "{} is {}, {} is {}",
                first.label,
                format.name(),
                side.label,
                other.name()
            );
            let hint = format!("convert one of them with: convo cat --to {}", format.name());
            Err(Error::usage(what).hint(hint))
        }
    }
}
