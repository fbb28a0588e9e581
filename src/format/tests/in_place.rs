//! Laws of every format that is written back into its own files, on the public files of each.

use super::bed::{cut, through_lines};
use super::truth;
use crate::error::{Kind, Result};
use crate::format::report::{Loss, Report};
use crate::format::{Format, Input, Purpose, Returned, Source, convert};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::path::PathBuf;
use std::sync::Arc;

/// The formats, and the names of files that are compared by their view after the record stream: what is written of a
/// session is not line by line what was read.
const FORMATS: [(Format, Option<&str>); 12] = [
    (Format::Aichat, Some("")),
    (Format::ClaudeCode, None),
    // Cline lists the messages that it omits in another file.
    (Format::ClineRoo, Some("cline-range")),
    (Format::Codex, None),
    (Format::Continue, None),
    // The operations of a log are written as the messages that are left.
    (Format::GeminiCli, Some("")),
    (Format::Goose, None),
    (Format::Langchain, None),
    (Format::Opencode, None),
    (Format::Pi, None),
    (Format::Sharegpt, None),
    (Format::VercelUi, None),
];

/// A file, and the sessions in it.
struct Opened {
    format: Format,
    path: PathBuf,
    bytes: Vec<u8>,
    sessions: Vec<Session>,
    /// Bytes after the last session.
    tail: Vec<u8>,
    report: Report,
}

fn open(format: Format, path: PathBuf, bytes: Vec<u8>) -> Result<Opened> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .map(str::to_string);
    let mut report = Report::default();
    let input = Input {
        name: name.clone(),
        head: bytes.clone(),
        rest: Box::new(std::io::empty()),
        returns: true,
    };
    let (sessions, tail) = match format.sessions(input)? {
        Ok(mut reader) => (truth::all(reader.as_mut(), &mut report)?, reader.tail().to_vec()),
        Err(_) => {
            let source = Source {
                name: name.as_deref(),
                bytes: &bytes,
                neighbour: &|name| Ok(std::fs::read(path.with_file_name(name)).ok()),
            };
            (convert(format, &source, &mut report)?, Vec::new())
        }
    };
    Ok(Opened {
        format,
        path,
        bytes,
        sessions,
        tail,
        report,
    })
}

/// All files of all formats.
fn files() -> Vec<Opened> {
    let of = |(format, _): &(Format, _)| {
        let files = truth::files(format.name()).into_iter();
        let files = files.filter(|truth| truth.expected["sessions"] != 0);
        let opened = files
            .map(|truth| open(*format, truth.path.clone(), std::fs::read(&truth.path).unwrap()).unwrap());
        opened.collect::<Vec<_>>()
    };
    FORMATS.iter().flat_map(of).collect()
}

impl Opened {
    fn name(&self) -> String {
        format!(
            "{}/{}",
            self.format.name(),
            self.path.file_name().unwrap().to_string_lossy()
        )
    }

    /// The file with these sessions in it, all of them changed or only the first.
    fn written(&self, sessions: &[Session], changed: impl Fn(usize) -> bool) -> Result<Vec<u8>> {
        let views: Vec<View> = sessions.iter().map(View::replay).collect();
        let returned: Vec<Returned<'_>> = sessions
            .iter()
            .zip(&views)
            .enumerate()
            .map(|(nth, (session, view))| Returned {
                session,
                view,
                changed: changed(nth),
            })
            .collect();
        let (mut out, mut report) = (Vec::new(), Report::default());
        let same =
            |one: &Returned<'_>, other: &Returned<'_>| match (one.session.origin(), other.session.origin()) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                _ => false,
            };
        for group in returned.chunk_by(same) {
            match (self.format.form().back, self.format.form().write) {
                (Some(back), _) => back(group, &mut out, &mut report)?,
                (None, Some(write)) => {
                    write(
                        group[0].session,
                        group[0].view,
                        Purpose::Return,
                        &mut out,
                        &mut report,
                    )?;
                }
                (None, None) => {}
            }
        }
        Ok([out, self.tail.clone()].concat())
    }
}

/// What a model would receive of a session, without ids and without the text of summaries.
fn shown(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    assert!(view.dangling.is_empty(), "{:?}", view.dangling);
    let item = |item: &Item| {
        let message = item
            .message(session)
            .filter(|_| item.summary(session).is_none())?;
        let body = item.body(session);
        let member =
            |name| String::from_utf8_lossy(json::member(body, name).unwrap_or_default()).into_owned();
        let calls = message.tool_calls().into_iter();
        let calls: Vec<_> = calls
            .map(|call| format!("{}({})", call.name, call.arguments))
            .collect();
        Some(format!(
            "{} {} {} {calls:?}",
            message.role_name(),
            member("content"),
            member("reasoning")
        ))
    };
    view.items.iter().filter_map(item).collect()
}

/// Whether two inputs are the same JSON, as one value or line by line.
fn same(one: &[u8], other: &[u8]) -> bool {
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.trim_ascii().to_vec());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (ours, theirs) = (lines(one), lines(other));
    let by_line = ours.len() == theirs.len()
        && ours
            .iter()
            .zip(&theirs)
            .all(|(one, other)| json::same(one, other));
    by_line || json::same(one.trim_ascii(), other.trim_ascii())
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn untouched_files_keep_their_bytes() {
    let mut wrong = Vec::new();
    let files = files();
    assert!(files.len() > 40, "{}", files.len());
    for file in files {
        for changed in [false, true] {
            match file.written(&file.sessions, |_| changed) {
                Ok(after) if after == file.bytes => {}
                Ok(_) => wrong.push(format!("{}: other bytes, changed: {changed}", file.name())),
                Err(error) => wrong.push(format!("{}: {error:?}", file.name())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn the_record_stream_restores_a_file() {
    let mut wrong = Vec::new();
    for file in files() {
        let [session] = file.sessions.as_slice() else {
            continue;
        };
        if file.format == Format::ClaudeCode {
            // Its own tests compare the logs that are written of records.
            continue;
        }
        let (_, by_view) = FORMATS.iter().find(|(format, _)| *format == file.format).unwrap();
        let by_view = by_view.is_some_and(|name| file.path.to_string_lossy().contains(name));
        let write = file.format.form().write.unwrap();
        let (after, report) = super::bed::written(write, &through_lines(session), Purpose::Export);
        let losses: Vec<_> = report.losses.keys().collect();
        let omits = file.format == Format::ClineRoo && by_view;
        if losses != if omits { vec![&Loss::Event] } else { vec![] } {
            wrong.push(format!("{}: {losses:?}", file.name()));
        }
        if by_view {
            let again = open(file.format, PathBuf::from("x.json"), after).unwrap();
            if shown(&again.sessions[0]) != shown(session) {
                wrong.push(format!("{}: another view", file.name()));
            }
        } else if !same(&after, &file.bytes) {
            wrong.push(format!("{}: other JSON", file.name()));
        }
        // Residues restore all elements of formats on the kit.
        let is_whole = |index: usize| {
            let note = json::member(session.record(index).body, "metadata");
            let note = note.and_then(|note| json::member(note, file.format.name()));
            note.is_some_and(|note| json::member(note, "raw").is_some())
        };
        let on_kit = matches!(file.format, Format::Goose | Format::Opencode);
        if on_kit && session.messages().any(|(index, _)| is_whole(index)) {
            wrong.push(format!("{}: a message is kept whole", file.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_cut_gives_the_view_that_it_planned() {
    let (mut wrong, mut cuts, mut refused) = (Vec::new(), 0, 0);
    for file in files() {
        // One cut says enough of a large file.
        let keeps: &[usize] = match file.bytes.len() > 1 << 18 {
            true => &[20],
            false => &[0, 1, 2, 3, 5, 8, 40],
        };
        for keep in keeps {
            let Some(changed) = cut(&file.sessions[0], *keep) else {
                continue;
            };
            let wanted = shown(&changed);
            let mut sessions = file.sessions.clone();
            sessions[0] = changed;
            let after = match file.written(&sessions, |nth| nth == 0) {
                Ok(after) => after,
                Err(error) if error.kind == Kind::Usage && error.hint.is_some() => {
                    refused += 1;
                    continue;
                }
                Err(error) => {
                    wrong.push(format!("{}, last {keep}: {error:?}", file.name()));
                    continue;
                }
            };
            let again = open(file.format, PathBuf::from("x.json"), after);
            let view = again.map(|again| again.sessions.first().map(shown).unwrap_or_default());
            match view {
                Ok(view) if view == wanted => cuts += 1,
                // Nothing is left that could be read.
                Err(error) if wanted.is_empty() && error.kind == Kind::Data => cuts += 1,
                view => wrong.push(format!(
                    "{}, last {keep}: {view:?} and not {wanted:?}",
                    file.name()
                )),
            }
        }
    }
    eprintln!("{cuts} cuts, {refused} refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cuts > 100, "{cuts}");
}

#[test]
#[cfg_attr(not(sample_data), ignore = "needs sample data: see tests/sample_data.rs")]
fn a_file_that_ends_early_is_read_or_refused() {
    let mut wrong = Vec::new();
    for file in files() {
        // One end says enough of a large file.
        let tenths = if file.bytes.len() > 1 << 17 { 6..7 } else { 1..10 };
        for tenth in tenths {
            let part = &file.bytes[..file.bytes.len() * tenth / 10];
            let Ok(cut) = open(file.format, file.path.clone(), part.to_vec()) else {
                continue;
            };
            if cut.sessions.is_empty() {
                continue;
            }
            for changed in [false, true] {
                match cut.written(&cut.sessions, |_| changed) {
                    Ok(after) if after == part => {}
                    Err(error) if changed && error.hint.is_some() => {}
                    // It writes a changed file without its damaged end.
                    Ok(_) if changed && file.format == Format::Aichat => {}
                    other => {
                        let other = other.map(|after| after.len());
                        wrong.push(format!("{} at {tenth}/10: {other:?}", file.name()));
                    }
                }
            }
            let ends = part.ends_with(b"\n") || file.bytes[part.len()] == b'\n';
            // The end of YAML cannot be known.
            let is_reported = cut.report.is_damaged() || ends || file.format == Format::Aichat;
            if !is_reported {
                wrong.push(format!("{} at {tenth}/10: nothing reported", file.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
