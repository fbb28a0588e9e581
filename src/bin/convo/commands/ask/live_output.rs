//! Shows a reply on a terminal while it arrives; elsewhere the reply is printed once it is stored.

use crate::context::Context;
use crate::output::visible;
use convo::filter::reply;
use std::io::IsTerminal;

/// Shows a reply while it arrives.
pub struct LiveOutput<'c> {
    context: &'c Context,
    /// Whether standard output is a terminal and the reply is wanted.
    on: bool,
    /// Received bytes that cannot be shown yet: an incomplete line or character.
    rest: Vec<u8>,
    /// Whether the reply is text instead of records; none until known.
    is_text: Option<bool>,
    /// The last character that was shown.
    last: Option<char>,
}

impl<'c> LiveOutput<'c> {
    /// Shows nothing if standard output is not a terminal.
    pub fn new(context: &'c Context, wanted: bool, plain: bool) -> LiveOutput<'c> {
        LiveOutput {
            context,
            on: wanted && std::io::stdout().is_terminal(),
            rest: Vec::new(),
            is_text: plain.then_some(true),
            last: None,
        }
    }

    /// Whether partial replies are shown.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether something was shown.
    pub fn began(&self) -> bool {
        self.last.is_some()
    }

    /// Shows the next part of the reply.
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

    /// Shows all complete characters of a text.
    fn text(&mut self) {
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        self.show(&String::from_utf8_lossy(&text));
    }

    /// Shows the text of all complete lines.
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
        // Output errors are ignored: the reply must still be stored.
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
