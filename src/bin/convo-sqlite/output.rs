//! The only file of the plugin that prints: a stream on standard output, messages on standard error.

use crate::terminal_filter::TerminalFilter;
use convo::error::{Error, Kind, Result};
use convo::format::report::{Loss, Report, describe_losses};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};

/// Where data and messages go, and how the run ends.
pub struct Output {
    out: RefCell<Box<dyn Write>>,
    worst: Cell<u8>,
    closed: Cell<bool>,
    /// Notes that were told: what is true of one session is likely true of all.
    told: RefCell<HashSet<String>>,
    /// What the sessions that were printed have lost, by kind.
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
            told: RefCell::default(),
            lost: RefCell::default(),
        }
    }
}

impl Output {
    /// Writes a line of data; a newline is put behind it where there is none.
    pub fn line(&self, line: &[u8]) -> Result<()> {
        let mut out = self.out.borrow_mut();
        let ended = line.ends_with(b"\n");
        let written = out.write_all(line).and_then(|()| match ended {
            true => Ok(()),
            false => out.write_all(b"\n"),
        });
        drop(out);
        self.checked(written)
    }

    /// Writes what is waiting.
    pub fn flush(&self) -> Result<()> {
        let flushed = self.out.borrow_mut().flush();
        self.checked(flushed)
    }

    fn checked(&self, written: std::io::Result<()>) -> Result<()> {
        written.map_err(|error| {
            self.closed
                .set(self.closed.get() || error.kind() == ErrorKind::BrokenPipe);
            Error::io("standard output: cannot write", error)
        })
    }

    /// Whether the reader of our output went away, which is no failure.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// The status of the run: the worst that was met.
    pub fn status(&self) -> u8 {
        match self.closed.get() {
            true => 0,
            false => self.worst.get(),
        }
    }

    /// Tells of an error.
    pub fn error(&self, label: &str, error: &Error) {
        self.ended(error.kind);
        let mut text = format!("convo: {label}: {}", error.message);
        if let Some(hint) = &error.hint {
            text.push_str(&format!("\nhint: {hint}"));
        }
        self.tell(&text);
    }

    /// Tells what reading a session found.
    pub fn report(&self, label: &str, id: &str, report: Report) {
        for finding in report.findings {
            if finding.damage {
                self.ended(Kind::Data);
                self.tell(&format!("convo: {label}: {id}: {}", finding.what));
            } else {
                self.note(label, &finding.what);
            }
        }
        let mut lost = self.lost.borrow_mut();
        for (loss, times) in report.losses {
            *lost.entry(loss).or_default() += times;
        }
    }

    /// Tells something that is good to know, once.
    pub fn note(&self, label: &str, what: &str) {
        if self.told.borrow_mut().insert(what.to_string()) {
            self.tell(&format!("convo: {label}: {what}"));
        }
    }

    /// Tells what did not come along.
    pub fn losses(&self, label: &str) {
        let lost = self.lost.take();
        if let Some(what) = describe_losses(&lost, None) {
            self.tell(&format!("convo: {label}: {what}"));
        }
    }

    /// Prints help, or a wrong usage; the status.
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
        self.tell(&format!("convo: {}", text.trim_end()));
        Kind::Usage.status()
    }

    fn ended(&self, kind: Kind) {
        self.worst.set(self.worst.get().max(kind.status()));
    }

    /// One write; nobody can be told that telling failed. Control characters of a database do nothing.
    fn tell(&self, text: &str) {
        let shown = text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}");
        let _ = std::io::stderr().write_all(format!("{shown}\n").as_bytes());
    }
}
