//! Opens an input (a stored session, a file or standard input) as records or sessions of its format.

use super::input_settings::InputSettings;
use super::input_source::{
    convert, detect_file, from_hint, has_backup, neighbor, source_name, stdin, unwrapped, with_path_hint,
};
use super::opencode_dir;
use crate::args::{InputArgs, InputLocation};
use crate::context::Context;
use crate::errors::named;
use crate::pipe;
use crate::programs::database;
use convo::error::{Error, Result};
use convo::format::compression::Wrapped;
use convo::format::native::NativeReader;
use convo::format::packed::begins_packed;
use convo::format::report::Report;
use convo::format::{self, Format, Stream, annotations};
use convo::model::session::Session;
use convo::store::foreign::has_sidecar;
use convo::store::{FileStat, length_before_write, truncated_line};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

pub struct OpenInput {
    /// Its name in messages.
    pub label: String,
    pub format: Format,
    /// Its records or sessions.
    pub stream: Stream<'static>,
    /// The original document, if the records represent it completely; none for a file of lines or a document
    /// assembled from several files.
    pub value: Option<Vec<u8>>,
    /// Its compression or envelope.
    pub wrapped: Option<Wrapped>,
    /// Whether it begins with a session on one line, which the output keeps.
    pub packed: bool,
    /// Whether more of it can be read without waiting for another program.
    pub never_waits: bool,
}

impl Context {
    /// Opens an input as a stream of records.
    pub fn open<'r>(
        &self,
        input: &InputLocation,
        reading: impl Into<InputSettings<'r>>,
    ) -> Result<OpenInput> {
        let reading = reading.into();
        let label = input.label();
        let opened = match input {
            InputLocation::Name(name) => {
                let reader = self
                    .store()
                    .and_then(|store| store.reader(&store.resolve(name)?))
                    .map_err(|error| with_path_hint(error, name))?;
                self.note_packed(false);
                return Ok(OpenInput {
                    label,
                    format: Format::Native,
                    stream: Stream::Records(Box::new(reader)),
                    value: None,
                    wrapped: None,
                    packed: false,
                    never_waits: true,
                });
            }
            InputLocation::Stdin => {
                refuse_terminal()?;
                self.open_stream(&label, stdin(), None, reading)
            }
            InputLocation::Path(path) => self.open_path(&label, path, reading),
            InputLocation::Row(_, path, id) => {
                database::records(path, id).and_then(|records| self.open_row(&label, records, reading))
            }
        };
        let mut opened = opened.map_err(|error| named(error, &label))?;
        opened.never_waits = match input {
            InputLocation::Stdin => pipe::is_regular_file(io::stdin()),
            // A named pipe.
            InputLocation::Path(path) if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) => false,
            _ => true,
        };
        Ok(opened)
    }

    /// Opens the bytes of a file or of standard input.
    pub fn open_bytes(
        &self,
        input: &InputLocation,
        bytes: Vec<u8>,
        reading: InputSettings<'_>,
    ) -> Result<OpenInput> {
        let label = input.label();
        let path = match input {
            InputLocation::Path(path) => Some((path.as_path(), None)),
            _ => None,
        };
        let opened = self.open_stream(&label, io::Cursor::new(bytes), path, reading);
        opened.map_err(|error| named(error, &label))
    }

    /// Opens the records of a session in a database.
    fn open_row(&self, label: &str, records: Vec<u8>, reading: InputSettings<'_>) -> Result<OpenInput> {
        let args = InputArgs {
            from: Some(Format::Native),
            ..reading.args.clone()
        };
        let reading = InputSettings {
            args: &args,
            ..reading
        };
        self.open_stream(label, io::Cursor::new(records), None, reading)
    }

    fn open_path(&self, label: &str, path: &Path, reading: InputSettings<'_>) -> Result<OpenInput> {
        match File::open(path) {
            Ok(file) => {
                let about = file.metadata().map_err(|error| Error::io("cannot read", error))?;
                if about.is_dir() {
                    return Err(Error::usage("is a directory").hint("import it with: convo migrate DIR"));
                }
                let facts = FileStat::of(&file).ok();
                let length = length_before_write(&file).or_else(|| self.length_of_running(path, &file));
                match length {
                    Some(length) => self.open_stream(label, file.take(length), Some((path, facts)), reading),
                    None => self.open_stream(label, file, Some((path, facts)), reading),
                }
            }
            // An interrupted write may have left only backup files.
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_backup(path) => {
                self.open_stream(label, io::empty(), Some((path, None)), reading)
            }
            Err(error) => Err(Error::open(error)),
        }
    }

    /// The length of a running session's log without its last line, if its program is writing that.
    fn length_of_running(&self, path: &Path, file: &File) -> Option<u64> {
        let is_log = path.extension().is_some_and(|ending| ending == "jsonl");
        if !is_log || !self.is_running(path) {
            return None;
        }
        truncated_line(file).ok().flatten()
    }

    fn open_stream<R: Read + 'static>(
        &self,
        label: &str,
        mut input: R,
        file: Option<(&Path, Option<FileStat>)>,
        reading: InputSettings<'_>,
    ) -> Result<OpenInput> {
        let path = file.map(|(path, _)| path);
        let (head, whole, wrapped) = unwrapped(&mut input)?;
        if let (Some(path), None, None | Some(Format::Opencode)) = (path, &wrapped, reading.args.from)
            && opencode_dir::is_session(path, &head)
        {
            let document = opencode_dir::document(path, &head)?;
            let args = InputArgs {
                from: Some(Format::Opencode),
                ..reading.args.clone()
            };
            let reading = InputSettings {
                args: &args,
                ..reading
            };
            return self.open_stream(label, io::Cursor::new(document), None, reading);
        }
        let is_blank = head.trim_ascii().is_empty();
        // An empty pipe contains no session, unless the first message is to be added to it.
        let starts = reading.creates || reading.args.expect_provider.is_some();
        if is_blank && file.is_none() && !starts {
            // Otherwise a cron command without an operand would silently do nothing.
            self.output.notice(
                label,
                "empty input; give a session, or @all for all sessions of the store",
            );
        }
        let format = match reading.args.from {
            Some(_) if is_blank && whole && path.is_none() && !starts => Format::Native,
            Some(format) => format,
            None if is_blank && path.is_none() => Format::Native, // an empty pipe is not an error
            None => self.detected(label, &head, whole, path, reading.args.strict)?,
        };
        if reading.args.expect_provider.is_some() && format != annotations::WITH_PROVIDER {
            let state = annotations::WITH_PROVIDER.name();
            let what = format!("not a {state} state, but {}", format.name());
            return Err(Error::data(what).hint(format!("--expect-provider requires a {state} state")));
        }
        let packed = format.is_lines() && begins_packed(&head);
        if !is_blank {
            self.note_packed(packed);
        }
        if format.is_lines() {
            let reader = Box::new(NativeReader::new(head, input));
            return Ok(OpenInput {
                label: label.to_string(),
                format,
                stream: Stream::Records(reader),
                value: None,
                wrapped,
                packed,
                never_waits: true,
            });
        }
        let name = path.and_then(source_name).map(str::to_string);
        let input = format::SessionInput {
            name,
            head,
            rest: Box::new(input),
            returns: reading.returns,
            neighbor: path.map(|path| Box::new(neighbor(path)) as _),
        };
        let bytes = match format.sessions(input)? {
            Ok(sessions) => {
                return Ok(OpenInput {
                    label: label.to_string(),
                    format,
                    stream: Stream::Sessions(sessions),
                    value: None,
                    wrapped,
                    packed: false,
                    never_waits: true,
                });
            }
            Err(input) => input.whole()?,
        };
        let bytes = match &reading.args.expect_provider {
            Some(provider) if bytes.is_empty() => annotations::new_state(provider),
            _ => bytes,
        };
        let mut report = Report::default();
        let sessions = convert(format, path, &bytes, &mut report)?;
        if let Some(expected) = &reading.args.expect_provider {
            for session in &sessions {
                expect_provider(session, expected)?;
            }
        }
        // The sidecar may belong to a newer log if the log was replaced meanwhile.
        if let Some((path, Some(facts))) = file
            && has_sidecar(format)
            && File::open(path)
                .and_then(|file| FileStat::of(&file))
                .is_ok_and(|now| !now.is_same_file(&facts))
        {
            return self.open_path(label, path, reading);
        }
        if reading.args.strict && report.is_damaged() {
            self.output.report(label, &mut report);
            return Err(Error::data("stopped at a damaged line (--strict)"));
        }
        self.output.report(label, &mut report);
        Ok(OpenInput {
            label: label.to_string(),
            format: format.of(&bytes),
            stream: Stream::from(sessions),
            value: (!report.differs_from_input).then_some(bytes),
            wrapped,
            packed: false,
            never_waits: true,
        })
    }

    fn detected(
        &self,
        label: &str,
        head: &[u8],
        whole: bool,
        path: Option<&Path>,
        strict: bool,
    ) -> Result<Format> {
        let verdict = detect_file(head, whole, path);
        let Some(format) = verdict.format else {
            let error = Error::data(verdict.problem());
            return Err(error.hint(verdict.hint.unwrap_or_else(from_hint)));
        };
        if !verdict.others.is_empty() {
            let message = format!(
                "ambiguous format: reading {}, also matches {} ({}); give the format with --from",
                format.name(),
                verdict.others.join(", "),
                verdict.evidence
            );
            if strict {
                return Err(Error::data(message));
            }
            self.output.notice(label, &message);
        }
        Ok(format)
    }
}

/// Rejects a session written for another provider.
fn expect_provider(session: &Session, expected: &str) -> Result<()> {
    let format = annotations::WITH_PROVIDER.name();
    let what = match annotations::provider(session) {
        Some(provider) if provider == expected => return Ok(()),
        Some(provider) => format!("{format} state of provider '{provider}', expected '{expected}'"),
        None => format!("{format} state without provider, expected '{expected}'"),
    };
    Err(Error::data(what).hint("omit --expect-provider to read the state of any provider"))
}

/// The error of a command that would wait for a person to type a session.
pub fn refuse_terminal() -> Result<()> {
    match io::stdin().is_terminal() {
        false => Ok(()),
        true => Err(Error::usage("no input: standard input is a terminal")
            .hint("give a session or file, or pipe one in")),
    }
}
