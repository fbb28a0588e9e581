//! The only file of the plugin that prints: records to standard output, diagnostics to standard error.

use crate::terminal_filter::TerminalFilter;
use convo::error::{Error, ErrorKind, Result};
use convo::format::report::{Loss, Report, describe_losses};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufWriter, IsTerminal, Write};

/// The output and the exit status of a run.
pub struct Output {
    out: RefCell<Box<dyn Write>>,
    worst: Cell<u8>,
    closed: Cell<bool>,
    /// Notices already printed; one of them usually applies to all sessions.
    printed: RefCell<HashSet<String>>,
    /// Losses of the printed sessions, by kind.
    lost: RefCell<BTreeMap<Loss, u64>>,
}

impl Default for Output {
    fn default() -> Self {
        Output {
            out: RefCell::new(match std::io::stdout().is_terminal() {
                true => Box::new(TerminalFilter::new(std::io::stdout())),
                false => Box::new(BufWriter::with_capacity(64 * 1024, std::io::stdout())),
            }),
            worst: Cell::new(0),
            closed: Cell::new(false),
            printed: RefCell::default(),
            lost: RefCell::default(),
        }
    }
}

impl Output {
    /// Writes a record, with a newline at its end.
    pub fn line(&self, line: &[u8]) -> Result<()> {
        let mut out = self.out.borrow_mut();
        let ended = line.ends_with(b"\n");
        let written = out
            .write_all(line)
            .and_then(|()| if ended { Ok(()) } else { out.write_all(b"\n") });
        drop(out);
        self.checked(written)
    }

    pub fn flush(&self) -> Result<()> {
        let flushed = self.out.borrow_mut().flush();
        self.checked(flushed)
    }

    fn checked(&self, written: std::io::Result<()>) -> Result<()> {
        written.map_err(|error| {
            self.closed
                .set(self.closed.get() || error.kind() == io::ErrorKind::BrokenPipe);
            Error::io("standard output: cannot write", error)
        })
    }

    /// Whether the reader of the output closed it, which is not an error.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Returns the exit status: the highest one reported.
    pub fn status(&self) -> u8 {
        if self.closed.get() { 0 } else { self.worst.get() }
    }

    /// Reports an error.
    pub fn error(&self, label: &str, error: &Error) {
        self.ended(error.kind);
        let mut text = format!("convo: {label}: {}", error.message);
        if let Some(hint) = &error.hint {
            text.push_str(&format!("\nhint: {hint}"));
        }
        self.print_diagnostic(&text);
    }

    /// Reports damage and notices of a session.
    pub fn report(&self, label: &str, id: &str, report: Report) {
        for finding in report.findings {
            if finding.damage {
                self.ended(ErrorKind::Data);
                self.print_diagnostic(&format!("convo: {label}: {id}: {}", finding.what));
            } else {
                self.note(label, &finding.what);
            }
        }
        let mut lost = self.lost.borrow_mut();
        for (loss, times) in report.losses {
            *lost.entry(loss).or_default() += times;
        }
    }

    /// Prints a notice once.
    pub fn note(&self, label: &str, what: &str) {
        if self.printed.borrow_mut().insert(what.to_string()) {
            self.print_diagnostic(&format!("convo: {label}: {what}"));
        }
    }

    /// Reports the losses.
    pub fn losses(&self, label: &str) {
        let lost = self.lost.take();
        if let Some(what) = describe_losses(&lost, None) {
            self.print_diagnostic(&format!("convo: {label}: {what}"));
        }
    }

    /// Prints help or a usage error; returns the exit status.
    pub fn usage(&self, error: &clap::Error) -> u8 {
        if !error.use_stderr() {
            let text = error.render().to_string();
            let _ = self.out.borrow_mut().write_all(text.as_bytes());
            return match self.flush() {
                Err(error) if !self.is_closed() => error.kind.status(),
                _ => 0,
            };
        }
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        self.print_diagnostic(&format!("convo: {}", text.trim_end()));
        ErrorKind::Usage.status()
    }

    fn ended(&self, kind: ErrorKind) {
        self.worst.set(self.worst.get().max(kind.status()));
    }

    /// Prints a diagnostic in one write and ignores failures. Replaces control characters, which may come from the
    /// database.
    fn print_diagnostic(&self, text: &str) {
        let shown = text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}");
        let _ = std::io::stderr().write_all(format!("{shown}\n").as_bytes());
    }
}
