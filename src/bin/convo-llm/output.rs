//! The only file of the plugin that prints: records or text on standard output, messages on standard error.

use crate::terminal_filter::TerminalFilter;
use convo::error::{Error, ErrorKind, Result};
use convo::model::json::{self, ObjectBuilder};
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};

/// The form of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// Message records.
    Records,
    /// Text as it arrives, then records.
    Partial,
    /// Only text.
    Text,
}

/// Prints data and messages.
pub struct Output {
    pub shape: OutputForm,
    pub quiet: bool,
    terminal: bool,
    closed: Cell<bool>,
    /// Whether an unfinished line of text was printed.
    open: Cell<bool>,
}

impl Default for Output {
    fn default() -> Output {
        let terminal = std::io::stdout().is_terminal();
        Output {
            shape: if terminal {
                OutputForm::Text
            } else {
                OutputForm::Records
            },
            quiet: false,
            terminal,
            closed: Cell::new(false),
            open: Cell::new(false),
        }
    }
}

impl Output {
    /// Prints a piece of the reply's text at once.
    pub fn print_part(&self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match self.shape {
            OutputForm::Records => Ok(()),
            OutputForm::Partial => {
                let mut line = ObjectBuilder::default();
                line.text("type", "partial").text("text", text);
                self.line(&line.finish())
            }
            OutputForm::Text => {
                self.open.set(!text.ends_with('\n'));
                match self.terminal {
                    true => self.write(harmless(text).as_bytes()),
                    false => self.write(text.as_bytes()),
                }
            }
        }
    }

    /// Ends an unfinished line.
    pub fn end_text(&self) -> Result<()> {
        match self.open.replace(false) {
            true => self.write(b"\n"),
            false => Ok(()),
        }
    }

    /// Whether text is printed as it arrives.
    pub fn prints_on_arrival(&self) -> bool {
        self.terminal && self.shape == OutputForm::Text
    }

    /// Prints a summary: the JSON object, or only its text.
    pub fn answer(&self, answer: &[u8]) -> Result<()> {
        match self.shape {
            OutputForm::Text => {
                let text = json::member_text(answer, "summary");
                self.print_part(&text.unwrap_or_default())?;
                self.end_text()
            }
            OutputForm::Records | OutputForm::Partial => self.line(answer),
        }
    }

    /// Prints records, if requested.
    pub fn records(&self, records: &[Vec<u8>]) -> Result<()> {
        if self.shape == OutputForm::Text {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for record in records {
            bytes.extend_from_slice(record);
            bytes.push(b'\n');
        }
        self.write(&bytes)
    }

    /// Prints a line of data.
    pub fn line(&self, line: &[u8]) -> Result<()> {
        self.write(&[line, b"\n"].concat())
    }

    /// Writes and flushes.
    fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut out = std::io::stdout();
        let written = match out.is_terminal() {
            true => {
                let mut filter = TerminalFilter::new(out);
                filter.write_all(bytes).and_then(|()| filter.flush())
            }
            false => out.write_all(bytes).and_then(|()| out.flush()),
        };
        written.map_err(|error| {
            self.closed
                .set(self.closed.get() || error.kind() == io::ErrorKind::BrokenPipe);
            Error::io("standard output: cannot write", error)
        })
    }

    /// Whether the reader closed the pipe, which is not a failure.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    pub fn print_notice(&self, text: &str) {
        if !self.quiet {
            self.print_line(&format!("convo: llm: {}", in_line(text)));
        }
    }

    /// Prints an error; returns the exit status.
    pub fn error(&self, error: &Error) -> u8 {
        let place = match &error.at {
            Some((input, place)) if place.line > 0 => {
                format!("{}:{}: byte {}: ", in_line(input), place.line, place.offset)
            }
            Some((input, _)) if !input.is_empty() => format!("{}: ", in_line(input)),
            _ => String::new(),
        };
        let mut text = format!("convo: llm: {place}{}", in_line(&error.message));
        if let Some(hint) = &error.hint {
            text.push_str(&format!("\nhint: {}", in_line(hint)));
        }
        self.print_line(&text);
        error.kind.status()
    }

    /// Prints help or a usage error; returns the exit status.
    pub fn usage(&self, error: &clap::Error) -> u8 {
        let text = error.render().to_string();
        if !error.use_stderr() {
            return match self.write(text.as_bytes()) {
                Err(error) if !self.is_closed() => error.kind.status(),
                _ => 0,
            };
        }
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        self.print_line(&format!("convo: llm: {}", harmless(text.trim_end())));
        ErrorKind::Usage.status()
    }

    /// Writes in a single call, so that lines of several processes do not mix. Errors are ignored, because they
    /// cannot be reported.
    fn print_line(&self, text: &str) {
        if self.terminal {
            let _ = self.end_text();
        }
        let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
    }
}

/// Whether a character moves the cursor, changes colors or reverses the text direction.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn harmless(text: &str) -> String {
    text.replace(is_hidden, "\u{fffd}")
}

fn in_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], " ")
}
