//! What a reader sees of a reply: on a terminal as it comes, else when it is kept.

use crate::context::Context;
use crate::output::visible;
use convo::filter::reply;
use std::io::IsTerminal;

/// Shows an answer while it comes.
pub struct Shown<'c> {
    context: &'c Context,
    /// Whether anybody looks.
    on: bool,
    /// What came and is not shown yet: a line that has no end, or half a character.
    rest: Vec<u8>,
    /// Whether it is text, as far as is known.
    is_text: Option<bool>,
    /// The last character that was shown.
    last: Option<char>,
}

impl<'c> Shown<'c> {
    /// Shows nothing where standard output is no terminal.
    pub fn new(context: &'c Context, wanted: bool, plain: bool) -> Shown<'c> {
        Shown {
            context,
            on: wanted && std::io::stdout().is_terminal(),
            rest: Vec::new(),
            is_text: plain.then_some(true),
            last: None,
        }
    }

    /// Whether parts of the reply are of use.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether something was shown.
    pub fn began(&self) -> bool {
        self.last.is_some()
    }

    /// A further piece of the answer.
    pub fn part(&mut self, part: &[u8]) {
        if !self.on {
            return;
        }
        self.rest.extend_from_slice(part);
        if self.is_text.is_none() {
            self.is_text = reply::is_text(&self.rest);
        }
        match self.is_text {
            Some(true) => self.text(),
            Some(false) => self.lines(),
            None => {}
        }
    }

    /// Of a text all whole characters.
    fn text(&mut self) {
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        self.show(&String::from_utf8_lossy(&text));
    }

    /// Of lines those that are there to be shown.
    fn lines(&mut self) {
        let Some(end) = memchr::memrchr(b'\n', &self.rest) else {
            return;
        };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        for line in lines.split(|byte| *byte == b'\n') {
            if let Some(text) = reply::partial(line) {
                self.show(&text);
            }
        }
    }

    fn show(&mut self, text: &str) {
        let Some(last) = text.chars().next_back() else {
            return;
        };
        self.last = Some(last);
        // What cannot be shown is still kept.
        let _ = self
            .context
            .output
            .stdout(|out| Ok(out.write_all(visible(text).as_bytes())?));
    }

    /// Ends the last line that was shown.
    pub fn end(&mut self) {
        if self.last.is_some_and(|last| last != '\n') {
            self.show("\n");
        }
    }
}
