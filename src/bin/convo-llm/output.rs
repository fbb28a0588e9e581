//! The only file of the plugin that prints: records or text on standard output, messages on standard error.

use crate::terminal_filter::TerminalFilter;
use convo::error::{Error, Kind, Result};
use convo::model::json::{self, ObjectBuilder};
use std::cell::Cell;
use std::io::{ErrorKind, IsTerminal, Write};

/// What standard output gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Message records.
    Records,
    /// The text as it comes, then the records.
    Partial,
    /// The text alone.
    Text,
}

/// Where data and messages go.
pub struct Output {
    pub shape: Shape,
    pub quiet: bool,
    terminal: bool,
    closed: Cell<bool>,
    /// Whether a line of text was begun and not ended.
    open: Cell<bool>,
}

impl Default for Output {
    fn default() -> Output {
        let terminal = std::io::stdout().is_terminal();
        Output {
            shape: if terminal { Shape::Text } else { Shape::Records },
            quiet: false,
            terminal,
            closed: Cell::new(false),
            open: Cell::new(false),
        }
    }
}

impl Output {
    /// A piece of the reply's text, as soon as it is there.
    pub fn piece(&self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match self.shape {
            Shape::Records => Ok(()),
            Shape::Partial => {
                let mut line = ObjectBuilder::default();
                line.text("type", "partial").text("text", text);
                self.line(&line.finish())
            }
            Shape::Text => {
                self.open.set(!text.ends_with('\n'));
                match self.terminal {
                    true => self.write(harmless(text).as_bytes()),
                    false => self.write(text.as_bytes()),
                }
            }
        }
    }

    /// Ends a text that has no newline at its end.
    pub fn end_text(&self) -> Result<()> {
        match self.open.replace(false) {
            true => self.write(b"\n"),
            false => Ok(()),
        }
    }

    /// Whether somebody reads the text as it comes.
    pub fn shows_as_it_comes(&self) -> bool {
        self.terminal && self.shape == Shape::Text
    }

    /// A summary: the object for programs, its text for people.
    pub fn answer(&self, answer: &[u8]) -> Result<()> {
        match self.shape {
            Shape::Text => {
                let text = json::member(answer, "summary").and_then(json::text);
                self.piece(&text.unwrap_or_default())?;
                self.end_text()
            }
            Shape::Records | Shape::Partial => self.line(answer),
        }
    }

    /// Records, where they are wanted.
    pub fn records(&self, records: &[Vec<u8>]) -> Result<()> {
        if self.shape == Shape::Text {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for record in records {
            bytes.extend_from_slice(record);
            bytes.push(b'\n');
        }
        self.write(&bytes)
    }

    /// A line of data.
    pub fn line(&self, line: &[u8]) -> Result<()> {
        self.write(&[line, b"\n"].concat())
    }

    /// Written at once: somebody waits for it.
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
                .set(self.closed.get() || error.kind() == ErrorKind::BrokenPipe);
            Error::io("standard output: cannot write", error)
        })
    }

    /// Whether the reader of our output went away, which is no failure.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Tells something that is no error.
    pub fn tell(&self, text: &str) {
        if !self.quiet {
            self.say(&format!("convo: llm: {}", in_line(text)));
        }
    }

    /// Tells of an error; its status.
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
        self.say(&text);
        error.kind.status()
    }

    /// Prints help, or a wrong usage; the status.
    pub fn usage(&self, error: &clap::Error) -> u8 {
        let text = error.render().to_string();
        if !error.use_stderr() {
            return match self.write(text.as_bytes()) {
                Err(error) if !self.is_closed() => error.kind.status(),
                _ => 0,
            };
        }
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        self.say(&format!("convo: llm: {}", harmless(text.trim_end())));
        Kind::Usage.status()
    }

    /// One write, so that lines of several processes do not mix. Nobody can be told that telling failed.
    fn say(&self, text: &str) {
        if self.terminal {
            let _ = self.end_text();
        }
        let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
    }
}

/// Characters that move the cursor, change colours or turn the direction of text around.
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
