//! What a run of the program knows: flags before environment before config file; inputs, outputs and the store
//! are opened here, when a verb asks for them.

use crate::args::{ALL, Global, Input, InputArgs};
use crate::config::{self, Config, home, variable};
use crate::counter_program;
use crate::hooks::{self, Hooks};
use crate::input::Reading;
use crate::output::{Color, Output, path_name};
use crate::palette::Palette;
pub use crate::source::{
    SPARES, certain_format, convert, detect_file, from_hint, head, neighbor, source_name, unwrapped,
};
use crate::source::{has_spare, meant_as_path, stdin};
use crate::stored;
use convo::error::{Error, Kind, Place, Result};
use convo::format::native::NativeReader;
use convo::format::packed::is_packed;
use convo::format::report::Report;
use convo::format::wrapping::Wrapped;
use convo::format::{self, Format, Stream, goaitools};
use convo::model::key::Chance;
use convo::model::session::Session;
use convo::model::time::Clock;
use convo::store::foreign::has_sidecar;
use convo::store::{EXACTLY, Facts, Store, length_before_write};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// What a run knows.
pub struct Context {
    pub output: Output,
    pub chance: Chance,
    pub clock: Clock,
    /// Absent where the environment names no directory: only what needs the store fails then.
    store_path: Option<PathBuf>,
    /// The configuration file that may not be read, where it could name the store.
    unread_config: Option<String>,
    lock_timeout: Duration,
    /// What environment and config file name.
    tokenizer: Option<String>,
    /// Who answers, by environment or config file.
    ask_with: Option<String>,
    /// Most messages of a session before it is continued, by the configuration; 0: no limit.
    pub max_messages: Option<u64>,
    /// What `convo key` takes by the configuration.
    pub key: config::Key,
    hooks: Option<Box<Hooks>>,
    colors: Option<BTreeMap<String, String>>,
    store: OnceLock<Store>,
}

/// An input that is open.
pub struct Opened {
    /// Its name in messages.
    pub label: String,
    /// What it is read as.
    pub format: Format,
    /// Its records or sessions.
    pub stream: Stream<'static>,
    /// The document as it came, when the records are what it says: none of a file of lines, nor of what was put
    /// together from several files.
    pub value: Option<Vec<u8>>,
    /// What it came wrapped in.
    pub wrapped: Option<Wrapped>,
    /// Whether it begins with a session on one line, so that it is to stay like that.
    pub packed: bool,
}

impl Context {
    /// From the options of the command line.
    pub fn new(global: &Global) -> Result<Context> {
        let (config, unread) = Config::read(global)?;
        let color = match (global.color, config.color.as_deref()) {
            (Some(color), _) => color,
            (None, None) => Color::Auto,
            (None, Some(name)) => <Color as clap::ValueEnum>::from_str(name, false).map_err(|_| {
                Error::new(
                    Kind::Config,
                    format!("color in the configuration file: expected auto, always or never, got '{name}'"),
                )
            })?,
        };
        let configured = |name: &str, text: Option<&String>| {
            let wrong = |why| Error::new(Kind::Config, format!("{name} in the configuration: {why}"));
            let read = text.map(|text| crate::args::duration(text));
            read.transpose().map_err(wrong)
        };
        let lock_timeout = configured("lock-timeout", config.lock_timeout.as_ref())?;
        let lock_timeout = global
            .lock_timeout
            .or(lock_timeout)
            .unwrap_or(Duration::from_secs(10));
        if let Some(1 | 2) = config.max_messages {
            let what = "max-messages in the configuration file: expected 0 (no limit) or a number from 3";
            return Err(Error::new(Kind::Config, what));
        }
        let timeout = variable("CONVO_TOKENIZER_TIMEOUT").or(config.tokenizer_timeout);
        if let Some(timeout) = configured("tokenizer-timeout", timeout.as_ref())? {
            counter_program::set_timeout(timeout);
        }
        let hook_timeout = configured("hook-timeout", config.hook_timeout.as_ref())?;
        let hooks = config.hooks.filter(|_| variable(hooks::DISABLED).is_none());
        let given = global.store.clone();
        let given = given.or_else(|| variable("CONVO_STORE").map(PathBuf::from));
        let unread_config = unread.filter(|_| given.is_none());
        let default = || home("XDG_DATA_HOME", ".local/share").map(|data| data.join("convo"));
        let store_path = given.or(config.store).or_else(default);
        Ok(Context {
            output: Output::new(global.quiet, global.verbose, color)
                .with_diagnostics(global.diagnostics)
                .without_pager(global.no_pager),
            chance: Chance::new(variable("CONVO_SEED")),
            clock: Clock::new(variable("CONVO_NOW").as_deref())?,
            store_path,
            unread_config,
            lock_timeout,
            tokenizer: variable("CONVO_TOKENIZER").or(config.tokenizer),
            ask_with: variable("CONVO_ASK_WITH").or(config.ask_with),
            max_messages: config.max_messages,
            key: config.key,
            hooks: hooks.map(|hooks| Box::new(Hooks::new(hooks, hook_timeout.unwrap_or(hooks::TIMEOUT)))),
            colors: config.colors,
            store: OnceLock::new(),
        })
    }

    /// Where the store is, or would be.
    ///
    /// # Errors
    /// [`Kind::Config`] where nothing says so.
    pub fn store_path(&self) -> Result<&Path> {
        if let Some(file) = &self.unread_config {
            let error = Error::new(Kind::Config, "cannot read: permission denied");
            return Err(named(error, file).hint("select a store with --store DIR, or use --no-config"));
        }
        self.store_path.as_deref().ok_or_else(|| {
            Error::new(Kind::Config, "neither HOME nor XDG_DATA_HOME is set")
                .hint("select a store with --store DIR")
        })
    }

    /// The store, which must be there.
    pub fn store(&self) -> Result<&Store> {
        self.opened(Store::open)
    }

    /// The store, made when it is not there yet.
    pub fn store_or_new(&self) -> Result<&Store> {
        self.opened(Store::create)
    }

    fn opened(&self, open: fn(&Path) -> Result<Store>) -> Result<&Store> {
        if self.store.get().is_none() {
            let path = self.store_path()?;
            let mut store = open(path)?;
            store.lock_timeout = self.lock_timeout;
            if let Some(system) = store.network()
                && store.is_first_notice("network")
            {
                self.output.tell(
                    &path_name(path),
                    &format!("on {system}; durability is guaranteed only on local file systems (shown once)"),
                );
            }
            let _ = self.store.set(store);
        }
        self.store
            .get()
            .ok_or_else(|| Error::new(Kind::InputOutput, "cannot open the store"))
    }

    /// The colors of standard output.
    pub fn palette(&self) -> Result<Palette> {
        Palette::new(self.output.colored(), self.colors.as_ref())
    }

    /// Commands that run after a change.
    pub fn hooks(&self) -> Option<&Hooks> {
        self.hooks.as_deref()
    }

    /// How long to wait for a lock.
    pub fn lock_timeout(&self) -> Duration {
        self.lock_timeout
    }

    /// The configured tokenizer.
    pub fn tokenizer(&self) -> Option<&str> {
        self.tokenizer.as_deref()
    }

    /// Who answers where the command line does not say, by environment or config file.
    pub fn ask_with(&self) -> Option<&str> {
        self.ask_with.as_deref()
    }

    /// Classifies operands; none is standard input, and `@all` every session of the store.
    pub fn inputs(&self, operands: &[String]) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        for input in Input::all(operands) {
            match input {
                Input::Name(name) if name == ALL => {
                    let store = self.store()?;
                    let mut ids: Vec<String> = store.ids()?.into_iter().map(|entry| entry.id).collect();
                    ids.sort();
                    for id in ids {
                        // An id that is also the key of a chain means its newest session.
                        let is_own = store.exactly(&id).is_ok_and(|own| own.as_ref() == Some(&id));
                        inputs.push(Input::Name(if is_own { id } else { format!("{EXACTLY}{id}") }));
                    }
                }
                input => inputs.push(input),
            }
        }
        Ok(inputs)
    }

    /// Opens an input as a stream of records.
    pub fn open<'r>(&self, input: &Input, reading: impl Into<Reading<'r>>) -> Result<Opened> {
        let reading = reading.into();
        let label = input.label();
        let opened = match input {
            Input::Name(name) => {
                let reader = self
                    .store()
                    .and_then(|store| store.reader(&store.resolve(name)?))
                    .map_err(|error| meant_as_path(error, name))?;
                return Ok(Opened {
                    label,
                    format: Format::Native,
                    stream: Stream::Records(Box::new(reader)),
                    value: None,
                    wrapped: None,
                    packed: false,
                });
            }
            Input::Stdin => {
                refuse_terminal()?;
                self.open_stream(&label, stdin(), None, reading)
            }
            Input::Path(path) => self.open_path(&label, path, reading),
        };
        opened.map_err(|error| named(error, &label))
    }

    /// Opens what was read of a file or of standard input.
    pub fn open_bytes(&self, input: &Input, bytes: Vec<u8>, reading: Reading<'_>) -> Result<Opened> {
        let label = input.label();
        let path = match input {
            Input::Path(path) => Some((path.as_path(), None)),
            _ => None,
        };
        let opened = self.open_stream(&label, io::Cursor::new(bytes), path, reading);
        opened.map_err(|error| named(error, &label))
    }

    fn open_path(&self, label: &str, path: &Path, reading: Reading<'_>) -> Result<Opened> {
        match File::open(path) {
            Ok(file) => {
                let about = file.metadata().map_err(|error| Error::io("cannot read", error))?;
                if about.is_dir() {
                    return Err(
                        Error::new(Kind::Usage, "is a directory").hint("import it with: convo migrate DIR")
                    );
                }
                let facts = Facts::of(&file).ok();
                match length_before_write(&file) {
                    Some(length) => self.open_stream(label, file.take(length), Some((path, facts)), reading),
                    None => self.open_stream(label, file, Some((path, facts)), reading),
                }
            }
            // A save that was cut off may have left only its spare files.
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_spare(path) => {
                self.open_stream(label, io::empty(), Some((path, None)), reading)
            }
            Err(error) => Err(Error::io("cannot open", error)),
        }
    }

    fn open_stream<R: Read + 'static>(
        &self,
        label: &str,
        mut input: R,
        file: Option<(&Path, Option<Facts>)>,
        reading: Reading<'_>,
    ) -> Result<Opened> {
        let path = file.map(|(path, _)| path);
        let (head, whole, wrapped) = unwrapped(&mut input)?;
        if let (Some(path), None, None | Some(Format::Opencode)) = (path, &wrapped, reading.args.from)
            && stored::is_session(path, &head)
        {
            let document = stored::document(path, &head)?;
            let args = InputArgs {
                from: Some(Format::Opencode),
                ..reading.args.clone()
            };
            let reading = Reading {
                args: &args,
                ..reading
            };
            return self.open_stream(label, io::Cursor::new(document), None, reading);
        }
        let is_blank = head.trim_ascii().is_empty();
        // An empty pipe holds no session in any format, unless it is the state to which the first message is added.
        let starts = reading.creates || reading.args.expect_provider.is_some();
        if is_blank && file.is_none() && !starts {
            // A command of cron without an operand would else do nothing, and say nothing, for years.
            self.output.tell(
                label,
                "empty input; give a session, or @all for all sessions of the store",
            );
        }
        let format = match reading.args.from {
            Some(_) if is_blank && whole && path.is_none() && !starts => Format::Native,
            Some(format) => format,
            None if is_blank && path.is_none() => Format::Native, // an empty pipe: no session, no error
            None => self.detected(label, &head, whole, path, reading.args.strict)?,
        };
        if reading.args.expect_provider.is_some() && format != Format::Goaitools {
            let what = format!("not a goaitools state, but {}", format.name());
            return Err(Error::new(Kind::Data, what).hint("--expect-provider requires a goaitools state"));
        }
        if format.is_lines() {
            let packed = is_packed(&head);
            let reader = Box::new(NativeReader::new(head, input));
            return Ok(Opened {
                label: label.to_string(),
                format,
                stream: Stream::Records(reader),
                value: None,
                wrapped,
                packed,
            });
        }
        let name = path.and_then(source_name).map(str::to_string);
        let input = format::Input {
            name,
            head,
            rest: Box::new(input),
            returns: reading.returns,
        };
        let bytes = match format.sessions(input)? {
            Ok(sessions) => {
                return Ok(Opened {
                    label: label.to_string(),
                    format,
                    stream: Stream::Sessions(sessions),
                    value: None,
                    wrapped,
                    packed: false,
                });
            }
            Err(input) => input.whole()?,
        };
        let bytes = match &reading.args.expect_provider {
            Some(provider) if bytes.is_empty() => goaitools::new_state(provider),
            _ => bytes,
        };
        let mut report = Report::default();
        let sessions = convert(format, path, &bytes, &mut report)?;
        if let Some(expected) = &reading.args.expect_provider {
            for session in &sessions {
                expect_provider(session, expected)?;
            }
        }
        // The sidecar that was read belongs to a newer log when this one was replaced meanwhile.
        if let Some((path, Some(facts))) = file
            && has_sidecar(format)
            && File::open(path)
                .and_then(|file| Facts::of(&file))
                .is_ok_and(|now| !now.is_same_file(&facts))
        {
            return self.open_path(label, path, reading);
        }
        if reading.args.strict && report.is_damaged() {
            self.output.report(label, &mut report);
            return Err(Error::new(Kind::Data, "stopped at a damaged line (--strict)"));
        }
        self.output.report(label, &mut report);
        Ok(Opened {
            label: label.to_string(),
            format: format.of(&bytes),
            stream: Stream::from(sessions),
            value: (!report.mended).then_some(bytes),
            wrapped,
            packed: false,
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
            let error = Error::new(Kind::Data, verdict.problem());
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
                return Err(Error::new(Kind::Data, message));
            }
            self.output.tell(label, &message);
        }
        Ok(format)
    }
}

/// Refuses a session that is not in the words of this provider.
fn expect_provider(session: &Session, expected: &str) -> Result<()> {
    let what = match goaitools::provider(session) {
        Some(provider) if provider == expected => return Ok(()),
        Some(provider) => format!("goaitools state of provider '{provider}', expected '{expected}'"),
        None => format!("goaitools state without provider, expected '{expected}'"),
    };
    Err(Error::new(Kind::Data, what).hint("omit --expect-provider to read the state of any provider"))
}

/// The error of a command that would wait for a person to type a session.
pub fn refuse_terminal() -> Result<()> {
    match io::stdin().is_terminal() {
        false => Ok(()),
        true => Err(Error::new(Kind::Usage, "no input: standard input is a terminal")
            .hint("give a session or file, or pipe one in")),
    }
}

/// The error with which `--strict` stops.
pub fn stopped() -> Error {
    Error::new(Kind::Data, "stopped at a damaged line (--strict)")
}

/// The error with the input's name in it.
pub fn named(mut error: Error, label: &str) -> Error {
    match &mut error.at {
        Some((input, _)) if input.is_empty() => *input = label.to_string(),
        Some(_) => {}
        None => error.at = Some((label.to_string(), Place::default())),
    }
    error
}
