//! The only file that prints: data on standard output, messages on standard error.

use crate::pipe::{self, Pipe};
use crate::terminal::pager;
pub use crate::terminal::visible::{in_line, visible};
use crate::usage_errors;
use crate::written_value::{WriteOut, returned, write_filtered};
use anyhow::Context as _;
use convo::error::{Error, ErrorKind, Position};
pub use convo::format::report::count_of;
use convo::format::report::{Report, describe_losses};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Diagnostics {
    Text,
    Json,
}

/// Writes data and messages as the global options request.
#[derive(Debug)]
pub struct Output {
    quiet: bool,
    pub verbose: bool,
    json: AtomicBool,
    diagnostics: Option<Diagnostics>,
    color: Color,
    worst: AtomicU8,
    failed: AtomicBool,
    accepts_damage: AtomicBool,
    pages: bool,
    muted: AtomicBool,
}

/// The name of standard output in messages.
const STDOUT: &str = "standard output";

/// Maximum number of findings listed per input; the others are counted.
const MAX_LISTED: usize = 20;

impl Output {
    /// Creates the output from the global options.
    pub fn new(quiet: bool, verbose: bool, color: Color) -> Self {
        Output {
            quiet,
            verbose,
            json: AtomicBool::new(false),
            diagnostics: None,
            color,
            worst: AtomicU8::new(0),
            failed: AtomicBool::new(false),
            accepts_damage: AtomicBool::new(false),
            pages: true,
            muted: AtomicBool::new(false),
        }
    }

    /// Disables the pager.
    pub fn without_pager(self, without: bool) -> Self {
        Output {
            pages: !without,
            ..self
        }
    }

    /// Prints messages as JSON objects, for `--json`, unless `--diagnostics` selects a format.
    pub fn set_json_diagnostics(&self, json: bool) {
        if self.diagnostics.is_none() {
            self.json.store(json, Ordering::Relaxed);
        }
    }

    /// Sets the format requested with `--diagnostics`.
    pub fn with_diagnostics(mut self, form: Option<Diagnostics>) -> Self {
        self.diagnostics = form;
        self.json = AtomicBool::new(form == Some(Diagnostics::Json));
        self
    }

    /// Suppresses messages while an input is read again.
    pub fn set_muted(&self, muted: bool) {
        self.muted.store(muted, Ordering::Relaxed);
    }

    /// Whether messages are JSON objects, for `--json`.
    pub fn has_json_diagnostics(&self) -> bool {
        self.json.load(Ordering::Relaxed)
    }

    /// Whether `-q` suppresses messages.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether to color standard output.
    pub fn colored(&self) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                set("CLICOLOR_FORCE") || (!set("NO_COLOR") && !is_dumb && io::stdout().is_terminal())
            }
        }
    }

    /// The exit status so far: the worst one noted.
    pub fn status(&self) -> u8 {
        self.worst.load(Ordering::Relaxed)
    }

    /// Excludes damage from the exit status, for `--damage-ok`. Errors keep their status: the rest of the input is lost.
    pub fn accept_damage(&self) {
        self.accepts_damage.store(true, Ordering::Relaxed);
    }

    /// Notes that a part of an input is damaged.
    pub fn note_damage(&self) {
        if !self.accepts_damage.load(Ordering::Relaxed) {
            self.note_status(ErrorKind::Data);
        }
    }

    /// Notes a status; the process exits with the worst one.
    pub fn note_status(&self, kind: ErrorKind) {
        self.worst.fetch_max(kind.status(), Ordering::Relaxed);
    }

    /// Reports a change, unless `-q` is given.
    pub fn notice(&self, input: &str, what: &str) {
        if !self.quiet {
            self.message("note", input, Position::default(), what, None);
        }
    }

    /// Reports a finding with a hint, unless `-q` is given.
    pub fn report_with_hint(&self, input: &str, what: &str, hint: &str) {
        if !self.quiet {
            self.message("note", input, Position::default(), what, Some(hint));
        }
    }

    /// Reports a detail, only with `-v`.
    pub fn detail(&self, input: &str, what: &str) {
        if self.verbose {
            self.message("detail", input, Position::default(), what, None);
        }
    }

    /// Prints a line of a requested explanation.
    pub fn explain(&self, line: &str) {
        if !self.quiet {
            self.line(&visible(line));
        }
    }

    /// Reports an error and notes its status.
    pub fn error(&self, error: &Error) {
        self.note_status(error.kind);
        let (input, place) = error.at.clone().unwrap_or_default();
        self.message("error", &input, place, &error.message, error.hint.as_deref());
    }

    /// Prints and clears the findings and losses of an input.
    pub fn report(&self, input: &str, report: &mut Report) {
        let findings = std::mem::take(&mut report.findings);
        if findings.iter().any(|finding| finding.damage) {
            self.note_damage();
        }
        let mut reported = 0;
        for finding in findings.iter().filter(|finding| finding.damage || !self.quiet) {
            reported += 1;
            if reported > MAX_LISTED && !self.verbose && !self.has_json_diagnostics() {
                continue;
            }
            let level = if finding.damage { "damage" } else { "note" };
            self.message(level, input, finding.place, &finding.what, None);
        }
        if reported > MAX_LISTED && !self.verbose && !self.has_json_diagnostics() {
            let more = format!("{} more (show them with -v)", reported - MAX_LISTED);
            self.message("note", input, Position::default(), &more, None);
        }
        let losses = std::mem::take(&mut report.losses);
        if !self.has_json_diagnostics() {
            let what = describe_losses(&losses, report.target);
            return what.iter().for_each(|what| self.notice(input, what));
        }
        for (loss, count) in losses {
            let line = serde_json::json!({
                "schema": "convo.loss/1", "input": input, "loss": loss.name(), "count": count,
            });
            self.line(&line.to_string());
        }
    }

    fn message(&self, level: &str, input: &str, place: Position, what: &str, hint: Option<&str>) {
        if self.muted.load(Ordering::Relaxed) {
            return;
        }
        if self.has_json_diagnostics() {
            let mut line = serde_json::json!({
                "schema": "convo.message/1", "level": level, "input": input, "message": what,
            });
            if place.line > 0 {
                line["line"] = place.line.into();
                line["offset"] = place.offset.into();
            }
            if let Some(hint) = hint {
                line["hint"] = hint.into();
            }
            self.line(&line.to_string());
            return;
        }
        let mut text = String::from("convo: ");
        if !input.is_empty() {
            text.push_str(&in_line(input));
            if place.line > 0 {
                let _ = write!(text, ":{}: byte {}", place.line, place.offset);
            }
            text.push_str(": ");
        }
        text.push_str(&in_line(what));
        if let Some(hint) = hint {
            let _ = write!(text, "\nhint: {}", in_line(hint));
        }
        self.line(&text);
    }

    /// Writes in a single call, so that lines of several processes do not mix. Errors are ignored, because they
    /// cannot be reported.
    fn line(&self, text: &str) {
        let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
    }

    /// Shows progress on a terminal: each line overwrites the previous one, and `None` removes it.
    pub fn progress(&self, text: Option<&str>) {
        if self.quiet || self.has_json_diagnostics() || !io::stderr().is_terminal() {
            return;
        }
        let _ = io::stderr().write_all(format!("\r\x1b[K{}", text.unwrap_or_default()).as_bytes());
    }

    /// Writes data to standard output; on a terminal, without control and direction characters. A write error carries
    /// an exit status; [`closed`] detects a reader that closed the pipe.
    pub fn stdout<T>(&self, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let is_terminal = io::stdout().is_terminal();
        returned(write, |write| self.write_buffered(is_terminal, write))
    }

    /// Writes text with our own colors; text of sessions must be filtered with [`visible`].
    pub fn styled<T>(&self, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>) -> anyhow::Result<T> {
        returned(write, |write| self.write_buffered(false, write))
    }

    fn write_buffered(&self, filters: bool, write: &mut WriteOut<'_>) -> anyhow::Result<()> {
        let mut out = io::BufWriter::with_capacity(64 * 1024, Unlocked(&self.failed, Pipe::default()));
        let done = match filters {
            true => write_filtered(&mut out, write),
            false => write(&mut out),
        };
        // Flush first, so that an error follows the data before it.
        let flushed = if self.stdout_failed() { Ok(()) } else { out.flush() };
        let done = done.and_then(|()| Ok(flushed.map_err(|error| Error::io("cannot write", error))?));
        // Prevent another write attempt when the buffer is dropped.
        let _ = out.into_parts();
        match self.stdout_failed() {
            true => done.context(STDOUT),
            false => done,
        }
    }

    /// Whether standard output is closed, so that reading further input is useless.
    pub fn stdout_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Writes one line of data.
    pub fn print(&self, line: &str) -> anyhow::Result<()> {
        self.stdout(|out| Ok(writeln!(out, "{line}").map_err(|error| Error::io("cannot write", error))?))
    }

    /// Writes lines of data; with `null`, each ends with NUL.
    pub fn rows(&self, null: bool, rows: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
        let end = if null { '\0' } else { '\n' };
        self.stdout(|out| {
            let written = rows.into_iter().try_for_each(|row| write!(out, "{row}{end}"));
            Ok(written.map_err(|error| Error::io("cannot write", error))?)
        })
    }

    /// Writes one line about a finished change. A write error says that the change was made.
    pub fn print_done(&self, line: &str) -> anyhow::Result<()> {
        self.done(self.print(line))
    }

    /// The same for data printed in another way.
    pub fn done<T>(&self, printed: anyhow::Result<T>) -> anyhow::Result<T> {
        printed.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => anyhow::Error::from(error.kind(ErrorKind::Unsure)).context(STDOUT),
            Err(error) => error,
        })
    }

    /// Prints text for people, with a pager if the terminal is too small.
    pub fn page(&self, text: &str) -> anyhow::Result<()> {
        let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
        let (rows, width) = size.map_or((0, 0), |size| (size.ws_row.into(), size.ws_col.into()));
        if self.pages
            && rows > 0
            && io::stdout().is_terminal()
            && pager::is_longer(text, rows, width)
            && pager::named().is_some_and(|pager| pager::show(&pager, text))
        {
            return Ok(());
        }
        self.styled(|out| {
            let written = out.write_all(text.as_bytes());
            Ok(written.map_err(|error| Error::io("cannot write", error))?)
        })
    }
}

/// Standard output without the standard library's line buffer.
struct Unlocked<'f>(&'f AtomicBool, Pipe);

impl Write for Unlocked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = rustix::io::write(rustix::stdio::stdout(), bytes).map_err(io::Error::from);
        match &written {
            Ok(bytes) => self.1.passed(rustix::stdio::stdout(), *bytes),
            // The caller repeats an interrupted write.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.0.store(true, Ordering::Relaxed),
        }
        written
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether an error only means that the reader closed the pipe.
pub fn closed(error: &anyhow::Error) -> bool {
    error.to_string() == STDOUT
        && error
            .downcast_ref::<Error>()
            .and_then(|error| error.source.as_ref())
            .is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}

/// Whether standard output is a pipe without a reader.
pub fn is_pipe_closed() -> bool {
    pipe::is_closed(rustix::stdio::stdout())
}

/// Columns of the terminal on standard output; none without a terminal.
pub fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    let known = size.map_or(0, |size| usize::from(size.ws_col));
    let given = || std::env::var("COLUMNS").ok()?.parse().ok();
    // A terminal of unknown size reports 0.
    Some(known)
        .filter(|columns| *columns > 0)
        .or_else(given)
        .or(Some(80))
}

/// The name of a path in messages.
pub fn path_name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Output {
    /// Reports the error that ended a command; returns the exit status.
    pub fn fail(&self, error: &anyhow::Error) -> u8 {
        match error.downcast_ref::<Error>() {
            Some(inner) if error.to_string() == inner.to_string() => self.error(inner),
            Some(inner) => {
                // The context of the error, such as "standard output", names its input.
                let outer =
                    Error::new(inner.kind, inner.message.clone()).at(error.to_string(), Position::default());
                self.error(&Error {
                    hint: inner.hint.clone(),
                    ..outer
                });
            }
            None => self.error(&Error::new(ErrorKind::InputOutput, format!("{error:#}"))),
        }
        self.status()
    }

    /// Prints help or a usage error of `command` (empty for the program itself). Help goes to standard output, an
    /// error to standard error.
    pub fn usage(error: &clap::Error, command: &str) -> anyhow::Result<u8> {
        if !error.use_stderr() {
            // The short help fits on a screen.
            let no_pager = std::env::args_os().any(|argument| argument == "--no-pager" || argument == "-h");
            let output = Output::new(false, false, Color::Auto).without_pager(no_pager);
            let text = error.render();
            let text = if output.colored() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            output.page(&text)?;
            return Ok(0);
        }
        let text = usage_errors::text(error);
        let space = if command.is_empty() { "" } else { " " };
        let hint = match usage_errors::hint(error) {
            Some(hint) => format!("\nhint: {hint}"),
            None => format!("\nhint: see: convo {command}{space}--help"),
        };
        let text = text
            .replace("\n\nFor more information, try '--help'.", &hint)
            .replace("\n  tip: ", "\nhint: ");
        let _ = io::stderr().write_all(format!("convo: {}\n", text.trim_end()).as_bytes());
        Ok(ErrorKind::Usage.status())
    }

    /// Prints the short help on standard error, for a call without arguments.
    pub fn short_help(command: &mut clap::Command) -> anyhow::Result<u8> {
        let _ = io::stderr().write_all(command.render_help().to_string().as_bytes());
        Ok(ErrorKind::Usage.status())
    }
}
