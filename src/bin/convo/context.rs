//! The state of a run: settings from options, environment and configuration file, in this order of precedence. Opens
//! the store when a command needs it.

use crate::args::Global;
use crate::config::{self, Config};
use crate::environment::{home, variable};
use crate::errors::named;
use crate::output::{Color, Output, path_name};
use crate::owner::refuse_other_owner;
use crate::programs::counter_program;
use crate::programs::database::ScratchDirectory;
use crate::programs::hooks::{self, HookRunner};
use crate::terminal::palette::Palette;
use convo::error::{Error, ErrorKind, Result};
use convo::home::RunningSign;
use convo::model::key::Chance;
use convo::model::time::Clock;
use convo::store::Store;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// The state of a run.
pub struct Context {
    pub output: Output,
    pub chance: Chance,
    pub clock: Clock,
    /// None if the environment names no directory; then only commands that use the store fail.
    store_path: Option<PathBuf>,
    /// The configuration file that is not readable, although it could name the store.
    unread_config: Option<String>,
    lock_timeout: Duration,
    /// The tokenizer named by the environment or the configuration.
    tokenizer: Option<String>,
    /// The program that replies, named by the environment or the configuration.
    ask_with: Option<String>,
    /// Configured number of messages after which a session is continued; 0: no limit.
    pub max_messages: Option<u64>,
    /// The configuration of `convo key`.
    pub key: config::Key,
    hooks: Option<Box<HookRunner>>,
    colors: Option<BTreeMap<String, String>>,
    store: OnceLock<Store>,
    /// Whether the first input that is not empty begins with a packed session.
    packed: OnceLock<bool>,
    /// Files of running sessions that were given as operands.
    running: RwLock<Vec<(PathBuf, Option<RunningSign>)>>,
    /// Files in homes that operands named.
    in_homes: RwLock<Vec<PathBuf>>,
    /// Temporary files with the records of databases, for commands that read files.
    pub scratch: ScratchDirectory,
}

impl Context {
    /// Builds the context from the options of the command line.
    pub fn new(global: &Global) -> Result<Context> {
        let (config, unread) = Config::read(global)?;
        let color = match (global.color, config.color.as_deref()) {
            (Some(color), _) => color,
            (None, None) => Color::Auto,
            (None, Some(name)) => <Color as clap::ValueEnum>::from_str(name, false).map_err(|_| {
                Error::new(
                    ErrorKind::Config,
                    format!("color in the configuration file: expected auto, always or never, got '{name}'"),
                )
            })?,
        };
        let configured = |name: &str, text: Option<&String>| {
            let wrong = |why| Error::new(ErrorKind::Config, format!("{name} in the configuration: {why}"));
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
            return Err(Error::new(ErrorKind::Config, what));
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
            hooks: hooks
                .map(|hooks| Box::new(HookRunner::new(hooks, hook_timeout.unwrap_or(hooks::TIMEOUT)))),
            colors: config.colors,
            store: OnceLock::new(),
            packed: OnceLock::new(),
            running: RwLock::default(),
            in_homes: RwLock::default(),
            scratch: ScratchDirectory::default(),
        })
    }

    /// The path of the store, which need not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if no setting names it.
    pub fn store_path(&self) -> Result<&Path> {
        if let Some(file) = &self.unread_config {
            let error = Error::new(ErrorKind::Config, "cannot read: permission denied");
            return Err(named(error, file).hint("select a store with --store DIR, or use --no-config"));
        }
        self.store_path.as_deref().ok_or_else(|| {
            Error::new(ErrorKind::Config, "neither HOME nor XDG_DATA_HOME is set")
                .hint("select a store with --store DIR or CONVO_STORE")
        })
    }

    /// Whether a setting names the store, even if it cannot be read.
    pub fn names_store(&self) -> bool {
        self.store_path.is_some() || self.unread_config.is_some()
    }

    /// Requires the path of the store, for a command that reads the store if no operand is given.
    ///
    /// # Errors
    /// As [`Self::store_path`]; the hint also names standard input if it is piped.
    pub fn require_store(&self) -> Result<()> {
        self.store_path().map(drop).map_err(|error| {
            if self.names_store() || std::io::stdin().is_terminal() {
                return error;
            }
            error.hint("read standard input with -, or select a store with --store DIR or CONVO_STORE")
        })
    }

    /// Opens the store, which must exist.
    pub fn store(&self) -> Result<&Store> {
        self.opened(Store::open)
    }

    /// Opens the store, which is created if missing.
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
                self.output.notice(
                    &path_name(path),
                    &format!("on {system}; durability is guaranteed only on local file systems (shown once)"),
                );
            }
            let _ = self.store.set(store);
        }
        self.store
            .get()
            .ok_or_else(|| Error::new(ErrorKind::InputOutput, "cannot open the store"))
    }

    /// Notes the form of an input that is not empty. The first one counts.
    pub fn note_packed(&self, packed: bool) {
        let _ = self.packed.set(packed);
    }

    /// Whether the first input is packed. Final when called, so that an output does not change its form.
    pub fn is_input_packed(&self) -> bool {
        *self.packed.get_or_init(|| false)
    }

    /// The colors of standard output.
    pub fn palette(&self) -> Result<Palette> {
        Palette::new(self.output.colored(), self.colors.as_ref())
    }

    /// The commands to run after a change.
    pub fn hooks(&self) -> Option<&HookRunner> {
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

    /// The program that replies by default, named by the environment or the configuration.
    pub fn default_program(&self) -> Option<&str> {
        self.ask_with.as_deref()
    }

    /// Notes that an operand named the file of a session in a home: a running one, or a copy in the archive.
    pub fn note_running(&self, path: PathBuf, mark: Option<RunningSign>) {
        let mut running = self.running.write().unwrap_or_else(PoisonError::into_inner);
        running.push((path, mark));
    }

    /// Notes that an operand named the file of a session in a home.
    pub fn note_in_home(&self, path: PathBuf) {
        let mut in_homes = self.in_homes.write().unwrap_or_else(PoisonError::into_inner);
        in_homes.push(path);
    }

    /// Whether an operand named a session in a home that a program may be writing to this file.
    pub fn is_running(&self, path: &Path) -> bool {
        let running = self.running.read().unwrap_or_else(PoisonError::into_inner);
        running
            .iter()
            .any(|(known, mark)| known == path && mark.is_some())
    }

    /// Refuses to change the file of a running session, or a copy in the archive. `force` permits a session that is
    /// only considered running because it changed recently.
    pub fn refuse_running(&self, path: &Path, force: bool) -> Result<()> {
        let running = self.running.read().unwrap_or_else(PoisonError::into_inner);
        let mark = running
            .iter()
            .find(|(known, _)| known == path)
            .map(|(_, mark)| *mark);
        let in_homes = self.in_homes.read().unwrap_or_else(PoisonError::into_inner);
        if in_homes.iter().any(|known| known == path) {
            refuse_other_owner(path)?;
        }
        match mark.filter(|mark| *mark != Some(RunningSign::Recent) || !force) {
            None => Ok(()),
            Some(None) => {
                let error = Error::new(ErrorKind::Unsafe, "a copy in the archive is never changed");
                Err(named(error, &path_name(path)).hint("put it back first: convo archive --give-back NAME"))
            }
            Some(Some(mark)) => {
                let error = Error::new(ErrorKind::Locked, format!("session is running: {}", mark.name()));
                Err(named(error, &path_name(path)).hint("end the program, or print the result without -i"))
            }
        }
    }
}
