//! Invariants of every format whose files are changed in place.

use super::bed::{cut, returned, through_lines};
use super::{displayed, truth};
use crate::error::{ErrorKind, Result};
use crate::format::report::{Loss, Report};
use crate::format::{DocumentSource, Format, SessionInput, WritePurpose, convert};
use crate::model::json;
use crate::model::record::without_mark;
use crate::model::session::Session;
use crate::model::view::{Item, View};
use std::path::{Path, PathBuf};

/// Formats and file name prefixes that are compared by their view after a conversion to the record stream, because they
/// are not restored line by line.
const BY_VIEW: [(Format, &str); 5] = [
    (Format::Aichat, ""),
    // Cline lists omitted messages in another file.
    (Format::ClineRoo, "cline-range"),
    // The operations of a log are written as the remaining messages.
    (Format::GeminiCli, ""),
    // The lines of a step are written together.
    (Format::Kimi, ""),
    // Two records on one line are written as two lines.
    (Format::QwenCode, "000000000005"),
];

/// Formats whose messages can be kept whole; the others of the sample files restore elements from residues.
const KEEPS_WHOLE: [Format; 3] = [Format::Aichat, Format::ClaudeCode, Format::Codex];

/// Formats that write a document anew, so that an untouched one can have other bytes, with the reason.
const WRITTEN_ANEW: [(Format, &str); 4] = [
    (Format::Goaitools, "unknown members follow the known ones"),
    (Format::Penguin, "written as the program does"),
    (Format::Picoclaw, "the store appends to a log and its sidecar"),
    (Format::PicoclawLegacy, "written as the program does"),
];

pub(super) fn is_in(exceptions: &[(Format, &str)], format: Format) -> bool {
    exceptions.iter().any(|(known, _)| *known == format)
}

/// A file and its sessions.
pub struct Opened {
    pub(super) format: Format,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub sessions: Vec<Session>,
    /// Bytes after the last session.
    tail: Vec<u8>,
    /// Problems in the file.
    pub report: Report,
}

/// A small file with these bytes.
pub fn opened(format: Format, bytes: impl AsRef<[u8]>) -> Opened {
    open(format, PathBuf::from("some.json"), bytes.as_ref().to_vec()).unwrap()
}

/// Tests all invariants on a small file.
pub fn hold(format: Format, bytes: impl AsRef<[u8]>) {
    let wrong = restored(&opened(format, bytes.as_ref()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    hold_changes(format, bytes);
}

/// Tests the invariants of a small file that is changed in place, truncated or damaged.
pub fn hold_changes(format: Format, bytes: impl AsRef<[u8]>) {
    let (wrong, _) = changed(&opened(format, bytes));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The violated invariants of a file that is changed in place, truncated or damaged, and the number of its cuts.
pub(super) fn changed(file: &Opened) -> (Vec<String>, usize) {
    let format = file.format;
    let cuts: Vec<_> = (0..4).filter_map(|keep| cut_to(file, keep).ok()).collect();
    let count = cuts.len();
    let mut wrong: Vec<String> = cuts.into_iter().flatten().collect();
    wrong.extend(displayed::difference(file));
    if is_in(&WRITTEN_ANEW, format) {
        return (wrong, count);
    }
    wrong.extend(untouched(file));
    wrong.extend((1..10).flat_map(|tenth| early(format, &file.path, &file.bytes, tenth)));
    // Change one byte.
    for tenth in 0..10 {
        let at = file.bytes.len() * tenth / 10;
        let mut damaged = file.bytes.clone();
        damaged[at] = if matches!(damaged[at], b'{' | b'"') {
            b'~'
        } else {
            b'{'
        };
        match open(format, file.path.clone(), damaged) {
            Ok(damaged) => wrong.extend(
                untouched(&damaged)
                    .into_iter()
                    .filter(|what| !what.contains("refused")),
            ),
            Err(error) => assert_eq!(error.kind, ErrorKind::Data),
        }
    }
    (wrong, count)
}

pub(super) fn open(format: Format, path: PathBuf, bytes: Vec<u8>) -> Result<Opened> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .map(str::to_string);
    let mut report = Report::default();
    let (sessions, tail) = match format.sessions(input(&path, &bytes, true))? {
        Ok(mut reader) => (truth::all(reader.as_mut(), &mut report)?, reader.tail().to_vec()),
        Err(_) => {
            let source = DocumentSource {
                name: name.as_deref(),
                bytes: &bytes,
                neighbor: &|name| Ok(std::fs::read(path.with_file_name(name)).ok()),
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

/// An input with these bytes.
pub(super) fn input(path: &Path, bytes: &[u8], returns: bool) -> SessionInput {
    let (head, rest) = bytes.split_at(bytes.len().min(64));
    SessionInput {
        name: path
            .file_name()
            .and_then(|name| name.to_str())
            .map(str::to_string),
        head: head.to_vec(),
        rest: Box::new(std::io::Cursor::new(rest.to_vec())),
        returns,
        neighbor: Some(truth::neighbor(path)),
    }
}

impl Opened {
    /// The file with these lines added to its sessions.
    pub fn with(&self, more: &[(usize, &str)]) -> String {
        let mut sessions = self.sessions.clone();
        more.iter()
            .for_each(|(nth, line)| sessions[*nth].push_new(line.as_bytes()));
        let changed = |nth| more.iter().any(|(changed, _)| *changed == nth);
        String::from_utf8(self.written(&sessions, changed).unwrap()).unwrap()
    }

    pub(super) fn name(&self) -> String {
        format!(
            "{}/{}",
            self.format.name(),
            self.path.file_name().unwrap().to_string_lossy()
        )
    }

    /// The file written with these sessions; `changed` selects the changed ones.
    pub(super) fn written(&self, sessions: &[Session], changed: impl Fn(usize) -> bool) -> Result<Vec<u8>> {
        let out = returned(self.format, sessions, changed)?;
        Ok([out, self.tail.clone()].concat())
    }
}

/// The content that a model would receive of a session, without ids and summary texts.
pub(super) fn shown(session: &Session) -> Vec<String> {
    let view = View::replay(session);
    assert!(view.dangling.is_empty(), "{:?}", view.dangling);
    let item = |item: &Item| {
        let message = item
            .message(session)
            .filter(|_| item.summary(session).is_none())?;
        let body = item.body(session);
        let member = |name| {
            let (member, _) = json::compact(json::member(body, name).unwrap_or_default());
            String::from_utf8_lossy(&member).into_owned()
        };
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
        let lines = without_mark(bytes)
            .split(|byte| *byte == b'\n')
            .map(|line| line.trim_ascii().to_vec());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (ours, theirs) = (lines(one), lines(other));
    let by_line = ours.len() == theirs.len()
        && ours
            .iter()
            .zip(&theirs)
            .all(|(one, other)| one == other || json::same(one, other));
    by_line || json::same(one.trim_ascii(), other.trim_ascii())
}

/// The name of a repeated member in a record.
fn repeated(body: &[u8]) -> Option<String> {
    let mut names: Vec<_> = json::members(body, json::Dialect::Strict)?
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(pair[0].to_string())
}

/// An untouched file keeps its bytes.
pub(super) fn untouched(file: &Opened) -> Vec<String> {
    let wrong = |changed: bool| match file.written(&file.sessions, |_| changed) {
        Ok(after) if after == file.bytes => None,
        Ok(_) => Some(format!("{}: other bytes, changed: {changed}", file.name())),
        Err(error) if error.hint.is_some() => Some(format!("{}: refused", file.name())),
        Err(error) => Some(format!("{}: {error:?}", file.name())),
    };
    let bytes = [false, true].into_iter().filter_map(wrong);
    let bodies = file
        .sessions
        .iter()
        .flat_map(|session| (0..session.len()).map(|index| session.record(index).body));
    let repeated = bodies
        .filter_map(repeated)
        .map(|name| format!("{}: repeats {name}", file.name()));
    bytes.chain(repeated).collect()
}

/// The record stream restores a file.
pub(super) fn restored(file: &Opened) -> Vec<String> {
    let mut wrong = Vec::new();
    let [session] = file.sessions.as_slice() else {
        return wrong;
    };
    let path = file.path.to_string_lossy();
    let by_view = { BY_VIEW.iter() }.any(|(format, name)| *format == file.format && path.contains(name));
    let is_old = |session: &Session| String::from_utf8_lossy(session.full(0)).contains(r#""variant":"v4""#);
    let format = match file.format {
        Format::VercelUi if is_old(session) => Format::VercelUiV4,
        format => format,
    };
    let (after, report) = super::bed::written(format, &through_lines(session), WritePurpose::Export);
    let losses: Vec<_> = report.losses.keys().collect();
    let omits = file.format == Format::ClineRoo && by_view;
    if losses != if omits { vec![&Loss::Event] } else { vec![] } {
        wrong.push(format!("{}: {losses:?}", file.name()));
    }
    if by_view {
        let again = open(file.format, PathBuf::from("x.json"), after).unwrap();
        let (now, then) = (shown(&again.sessions[0]), shown(session));
        if now != then {
            wrong.push(format!("{}: {now:?} and not {then:?}", file.name()));
        }
    } else if !same(&after, &file.bytes) {
        wrong.push(format!("{}: other JSON", file.name()));
    }
    let is_whole = |index: usize| {
        let note = json::member(session.record(index).body, "metadata");
        let note = note.and_then(|note| json::member(note, file.format.name()));
        note.is_some_and(|note| json::member(note, "raw").is_some())
    };
    if !KEEPS_WHOLE.contains(&file.format) && session.messages().any(|(index, _)| is_whole(index)) {
        wrong.push(format!("{}: a message is kept whole", file.name()));
    }
    wrong
}

/// A cut to the last messages yields the planned view. `None` if it does; an error if there is nothing to cut, or the
/// format rejects the cut.
pub(super) fn cut_to(file: &Opened, keep: usize) -> std::result::Result<Option<String>, ()> {
    let Some(changed) = file.sessions.first().and_then(|session| cut(session, keep)) else {
        return Err(());
    };
    let wrong = |wrong: String| format!("{}, last {keep}: {wrong}", file.name());
    Ok(change(file, changed, shown)?.err().map(wrong))
}

/// Writes a changed first session in place and reads it again. Returns the file, or how its view, as `seen` returns it,
/// differs from the planned one; an outer error if the format rejects the change.
pub(super) fn change(
    file: &Opened,
    changed: Session,
    seen: impl Fn(&Session) -> Vec<String>,
) -> std::result::Result<std::result::Result<Vec<u8>, String>, ()> {
    let wanted = seen(&changed);
    let mut sessions = file.sessions.clone();
    sessions[0] = changed;
    let after = match file.written(&sessions, |nth| nth == 0) {
        Ok(after) => after,
        Err(error) if error.kind == ErrorKind::Usage && error.hint.is_some() => return Err(()),
        Err(error) => return Ok(Err(format!("{error:?}"))),
    };
    let again = open(file.format, PathBuf::from("x.json"), after.clone());
    Ok(
        match again.map(|again| again.sessions.first().map(&seen).unwrap_or_default()) {
            Ok(view) if view == wanted => Ok(after),
            // Nothing readable is left.
            Err(error) if wanted.is_empty() && error.kind == ErrorKind::Data => Ok(after),
            view => Err(format!("{view:?} and not {wanted:?}")),
        },
    )
}

/// A file whose first session is changed, for example by dropped messages, has the planned view, as `seen` returns it.
/// Returns the written file.
pub fn hold_change(file: &Opened, changed: Session, seen: impl Fn(&Session) -> Vec<String>) -> Vec<u8> {
    match change(file, changed, seen) {
        Ok(Ok(after)) => {
            opened(file.format, &after);
            after
        }
        wrong => panic!("{}: {wrong:?}", file.name()),
    }
}

/// A truncated file is read with its damage reported and its bytes kept, or it is rejected.
pub(super) fn early(format: Format, path: &Path, bytes: &[u8], tenth: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let part = &bytes[..bytes.len() * tenth / 10];
    let Ok(cut) = open(format, path.to_path_buf(), part.to_vec()) else {
        return wrong;
    };
    if cut.sessions.is_empty() {
        return wrong;
    }
    for changed in [false, true] {
        match cut.written(&cut.sessions, |_| changed) {
            Ok(after) if after == part => {}
            Err(error) if changed && error.hint.is_some() => {}
            other => {
                let other = other.map(|after| after.len());
                wrong.push(format!("{} at {tenth}/10: {other:?}", cut.name()));
            }
        }
    }
    let ends = part.ends_with(b"\n") || bytes[part.len()] == b'\n';
    // The end of a YAML document cannot be determined.
    if !cut.report.is_damaged() && !ends && format != Format::Aichat {
        wrong.push(format!("{} at {tenth}/10: nothing reported", cut.name()));
    }
    wrong
}
