//! Reads the sessions of many files in parallel for display, without messages and without input options.

use super::input_source::{convert, detect_file, neighbor, source_name, unwrapped};
use super::{opencode_dir, regular};
use convo::error::{Error, Result};
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::format::short_strings::ShortStrings;
use convo::format::{self, Format, Neighbor, Sessions, Stream};
use convo::model::session::Session;
use convo::store::length_before_write;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::rc::Rc;

/// Inspects a file before it is read; false skips the file.
pub type InspectFn<'l> = &'l dyn Fn(&mut dyn Read) -> io::Result<bool>;

/// Reads the sessions of a regular file, branches and sidechains included. `each` gets the format and each session
/// and returns whether to continue. With `look`, a text file is read only if that returns true. Returns whether the
/// file was self-contained, i.e. no other file was read.
///
/// # Errors
/// A data error if the format is not detected.
pub fn sessions(
    path: &Path,
    given: Option<Format>,
    look: Option<InspectFn<'_>>,
    report: &mut Report,
    each: &mut dyn FnMut(Format, Session) -> bool,
) -> Result<bool> {
    let mut file = regular::open(path)?;
    if let Some(look) = look
        && may_contain_text(path, &mut file).map_err(unread)?
    {
        if !look(&mut file).map_err(unread)? {
            return Ok(true);
        }
        file.rewind().map_err(unread)?;
    }
    let length = length_before_write(&file).unwrap_or(u64::MAX);
    read(Some(path), file.take(length), given, report, each)
}

/// Lines of smaller files take little memory.
const SMALL: u64 = 8 << 20;

/// Reads the sessions of a file for a list, like [`sessions`]; the rest of very long strings in JSON is left out.
///
/// # Errors
/// A data error if the format is not detected.
pub fn outlines(
    path: &Path,
    given: Option<Format>,
    report: &mut Report,
    each: &mut dyn FnMut(Format, Session) -> bool,
) -> Result<bool> {
    let mut file = regular::open(path)?;
    let is_large = file.metadata().map_err(unread)?.len() > SMALL;
    let is_shortened = is_large && is_json(&head(&mut file).map_err(unread)?);
    let length = length_before_write(&file).unwrap_or(u64::MAX);
    let input = file.take(length);
    match is_shortened {
        true => read(Some(path), ShortStrings::new(input), given, report, each),
        false => read(Some(path), input, given, report, each),
    }
}

fn unread(error: io::Error) -> Error {
    Error::io("cannot read", error)
}

/// Whether the text of the sessions can be found in the file's bytes: not compressed, not in other files, not folded
/// as in YAML.
fn may_contain_text(path: &Path, file: &mut File) -> io::Result<bool> {
    let head = head(file)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let has_sidecar = || path.with_file_name(format!("{stem}.meta.json")).exists();
    Ok(is_json(&head) && !has_sidecar() && !opencode_dir::is_session(path, &head))
}

/// Returns the first bytes of a file.
fn head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = vec![0; 4096];
    let read = file.read(&mut head)?;
    file.rewind()?;
    head.truncate(read);
    Ok(head)
}

fn is_json(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Whether these bytes contain no session. After a crash, some file systems leave zeros.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0)
}

/// Whether a file contains no session, and no damage either; false if it cannot be read.
pub fn is_blank_file(path: &Path) -> bool {
    let Ok(mut file) = regular::open(path) else {
        return false;
    };
    let mut block = vec![0; 4096];
    loop {
        match file.read(&mut block) {
            Ok(0) => return true,
            Ok(read) if is_blank(&block[..read]) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return false,
        }
    }
}

/// Reads sessions from memory, like [`sessions`].
pub fn bytes(
    bytes: Vec<u8>,
    report: &mut Report,
    each: &mut dyn FnMut(Format, Session) -> bool,
) -> Result<()> {
    read(None, io::Cursor::new(bytes), None, report, each).map(drop)
}

fn read(
    path: Option<&Path>,
    mut input: impl Read + 'static,
    given: Option<Format>,
    report: &mut Report,
    each: &mut dyn FnMut(Format, Session) -> bool,
) -> Result<bool> {
    let (head, whole, _) = unwrapped(&mut input)?;
    if is_blank(&head) && whole {
        return Ok(true);
    }
    let format = match given {
        Some(format) => format,
        None => {
            let verdict = detect_file(&head, whole, path);
            // search and agents have no option --from.
            let hint = verdict
                .hint
                .unwrap_or("list the supported formats with: convo detect --help");
            let unknown = || Error::data(verdict.problem()).hint(hint);
            verdict.format.ok_or_else(unknown)?
        }
    };
    let is_alone = Rc::new(Cell::new(true));
    let extra = |path: &Path| -> Neighbor {
        let (read, requested) = (neighbor(path), Rc::clone(&is_alone));
        Box::new(move |name| {
            requested.set(false);
            read(name)
        })
    };
    let is_directory = path.is_some_and(|path| opencode_dir::is_session(path, &head));
    let stream = if let (Some(path), true) = (path, is_directory) {
        is_alone.set(false);
        Stream::from(convert(Format::Opencode, Some(path), &head, report)?)
    } else if format.is_lines() {
        Stream::Records(Box::new(NativeReader::new(head, input)))
    } else {
        let input = format::SessionInput {
            name: path.and_then(source_name).map(str::to_string),
            head,
            rest: Box::new(input),
            returns: false,
            neighbor: path.map(extra),
        };
        match format.displayed(input)? {
            Ok(sessions) => Stream::Sessions(sessions),
            Err(input) => {
                is_alone.set(false);
                Stream::from(convert(format, path, &input.whole()?, report)?)
            }
        }
    };
    let mut sessions = Sessions::new(stream);
    while let Some(session) = sessions.next(report)? {
        if !each(format, session) {
            break;
        }
    }
    Ok(is_alone.get())
}
