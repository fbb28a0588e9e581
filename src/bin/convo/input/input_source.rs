//! Detects the format of a file by its first bytes and by neighboring files; reads a document together with those.

use crate::input::{opencode_dir, regular};
use crate::pipe::Stdin;
use convo::error::{Error, ErrorKind, Result};
use convo::format::compression::{self, Wrapped};
use convo::format::detect::{self, Detection, Hints};
use convo::format::report::Report;
use convo::format::{self, DocumentSource, Format};
use convo::model::session::Session;
use convo::store::foreign;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads up to `most` bytes; returns whether that was the whole input.
pub fn head(input: &mut impl Read, most: usize) -> Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::with_capacity(most);
    let read = input
        .take(most as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io("cannot read", error))?;
    Ok((bytes, read < most))
}

/// The head of an input, whether that was all, and the compression; compressed input is decompressed completely.
pub fn unwrapped(input: &mut impl Read) -> Result<(Vec<u8>, bool, Option<Wrapped>)> {
    let (mut head, whole) = head(input, detect::HEAD)?;
    if !compression::is_likely(&head) {
        return Ok((head, whole, None));
    }
    if !whole {
        input
            .read_to_end(&mut head)
            .map_err(|error| Error::io("cannot read", error))?;
    }
    Ok(match Wrapped::of(head)? {
        Ok(wrapped) => (wrapped.inner().to_vec(), true, Some(wrapped)),
        Err(plain) => (plain, true, None),
    })
}

thread_local! {
    /// The bytes of standard input that were read for detection.
    static UNREAD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Standard input, including the bytes read for detection.
pub fn stdin() -> impl Read {
    io::Cursor::new(UNREAD.take()).chain(Stdin::default())
}

/// The head of standard input, and whether that is all of it; [`stdin`] still returns everything.
pub fn peek_stdin() -> Result<(Vec<u8>, bool)> {
    let mut input = Recorded::default();
    let (head, whole, _) = unwrapped(&mut input)?;
    UNREAD.set(input.bytes);
    Ok((head, whole))
}

/// Standard input, with a copy of the bytes read.
#[derive(Default)]
struct Recorded {
    bytes: Vec<u8>,
}

impl Read for Recorded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = io::stdin().read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// Detects the format of a file by its head and neighboring files.
pub fn detect_file(head: &[u8], whole: bool, path: Option<&Path>) -> Detection {
    let name = path
        .and_then(|path| path.file_name())
        .and_then(|name| name.to_str());
    let sidecar = match (path, name.and_then(|name| name.strip_suffix(".jsonl"))) {
        (Some(path), Some(stem)) => path.with_file_name(format!("{stem}.meta.json")).exists(),
        _ => false,
    };
    let hints = Hints { name, sidecar };
    // Decompressed input is complete.
    let whole = whole && head.len() < detect::HEAD;
    let head = &head[..head.len().min(detect::HEAD)];
    if path.is_some_and(|path| opencode_dir::is_session(path, head)) {
        return Detection::certain(Format::Opencode, "a session in opencode's storage directory");
    }
    let mut verdict = detect::detect(head, whole, hints);
    // If a document is too damaged to be recognized, its backups may identify the format.
    if let (None, Some(path), Some(name)) = (verdict.format, path, name)
        && (head.is_empty() || (name.ends_with(".json") && foreign::is_lost(head)))
    {
        for ending in BACKUP_SUFFIXES {
            if let Ok(mut backup) = regular::open(&path.with_file_name(format!("{name}{ending}")))
                && let Ok((copy, whole)) = self::head(&mut backup, detect::HEAD)
                && !copy.is_empty()
            {
                let copied = detect::detect(&copy, whole, hints);
                if copied.format.is_some_and(foreign::keeps_copies)
                    || (head.is_empty() && copied.format.is_some())
                {
                    return copied;
                }
                if head.is_empty() {
                    verdict = copied;
                }
            }
        }
    }
    verdict
}

/// The hint for an unknown format.
pub const fn from_hint() -> &'static str {
    "give the format with --from; list formats with: convo detect --help"
}

/// Suffixes of backup files that an interrupted write leaves next to a file.
pub const BACKUP_SUFFIXES: [&str; 2] = [".bak", ".temp"];

pub fn has_backup(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        BACKUP_SUFFIXES
            .iter()
            .any(|ending| path.with_file_name(format!("{name}{ending}")).is_file())
    })
}

/// The name of a file without directory and compression suffix.
pub fn source_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let plain = [".gz", ".zst"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    Some(plain.unwrap_or(name))
}

/// The format of a regular file if it is given or certain from the content, and whether the file is compressed.
pub fn certain_format(path: &Path, given: Option<Format>) -> Result<(Option<Format>, bool)> {
    match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("cannot read", error));
        }
        _ => return Ok((None, false)),
    }
    if given.is_some() {
        return Ok((given, false));
    }
    let mut file = File::open(path).map_err(Error::open)?;
    let (head, whole, wrapped) = unwrapped(&mut file)?;
    let verdict = detect_file(&head, whole, Some(path));
    let certain = verdict.format.filter(|_| verdict.others.is_empty());
    Ok((certain, wrapped.is_some()))
}

/// Reads other files in a file's directory; none for a missing one.
pub fn neighbor(path: &Path) -> impl Fn(&str) -> io::Result<Option<Vec<u8>>> + use<> {
    let directory = path.parent().map(Path::to_path_buf);
    move |name| {
        let Some(directory) = &directory else {
            return Ok(None);
        };
        match regular::read(&directory.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.source.unwrap_or_else(|| io::Error::other(error.message))),
        }
    }
}

/// Reads a whole document together with its neighboring files.
pub fn convert(
    format: Format,
    path: Option<&Path>,
    bytes: &[u8],
    report: &mut Report,
) -> Result<Vec<Session>> {
    if let Some(path) =
        path.filter(|path| format == Format::Opencode && opencode_dir::is_session(path, bytes))
    {
        return format::convert(
            format,
            &DocumentSource::alone(&opencode_dir::document(path, bytes)?),
            report,
        );
    }
    let Some(path) = path else {
        return format::convert(format, &DocumentSource::alone(bytes), report);
    };
    let source = DocumentSource {
        name: source_name(path),
        bytes,
        neighbor: &neighbor(path),
    };
    format::convert(format, &source, report)
}

/// Adds a hint if an unknown session name is the name of an existing file.
pub fn with_path_hint(error: Error, name: &str) -> Error {
    match (error.kind, std::fs::metadata(name)) {
        (ErrorKind::NotFound, Ok(about)) if about.is_dir() => error.hint(format!(
            "import the directory of this name with: convo migrate ./{name}"
        )),
        (ErrorKind::NotFound, Ok(_)) => error.hint(format!("read the file of this name with: ./{name}")),
        _ => error,
    }
}
