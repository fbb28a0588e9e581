//! Assembles a streamed reply into the response that the API would have sent without streaming, so that one parser
//! handles both.

mod chat;
mod events;
mod messages;
mod responses;

use crate::failure::Failure;
use crate::said;
use convo::format::request::Api;
use convo::model::json::{self, Dialect};
use events::Events;

/// A reply being received.
pub struct Stream {
    events: Events,
    pieces: Pieces,
    /// Whether the API signaled the end.
    done: bool,
}

/// The assembler of an API.
enum Pieces {
    Chat(chat::Pieces),
    Messages(messages::Pieces),
    Responses(responses::Pieces),
}

/// The effect of an event.
#[derive(Debug, Default, PartialEq, Eq)]
struct Step {
    /// Text to print.
    text: String,
    /// Whether the reply is complete.
    done: bool,
}

impl Step {
    /// A step with a piece of text, given as JSON.
    fn of(raw: Option<&[u8]>) -> Step {
        Step {
            text: raw.and_then(json::text).unwrap_or_default().into_owned(),
            done: false,
        }
    }

    fn done() -> Step {
        Step {
            done: true,
            ..Step::default()
        }
    }
}

/// A string received in pieces, kept JSON-encoded because a character may be split across pieces.
#[derive(Debug, Default)]
struct Text(Vec<u8>);

impl Text {
    /// Appends a JSON string; ignores any other value.
    fn push(&mut self, raw: Option<&[u8]>) {
        if let Some([b'"', inside @ .., b'"']) = raw {
            self.0.extend_from_slice(inside);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The JSON string.
    fn raw(&self) -> Vec<u8> {
        [b"\"", self.0.as_slice(), b"\""].concat()
    }

    /// The decoded text.
    fn said(&self) -> String {
        json::text(&self.raw()).unwrap_or_default().into_owned()
    }
}

impl Stream {
    /// Creates an empty stream for an API.
    pub fn new(api: Api) -> Stream {
        Stream {
            events: Events::default(),
            pieces: match api {
                Api::Anthropic => Pieces::Messages(messages::Pieces::default()),
                Api::OpenaiResponses => Pieces::Responses(responses::Pieces::default()),
                _ => Pieces::Chat(chat::Pieces::default()),
            },
            done: false,
        }
    }

    /// Parses received bytes and passes their text to `show`.
    pub fn push(
        &mut self,
        bytes: &[u8],
        mut show: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.events.push(bytes);
        while let Some(data) = self.events.next() {
            self.event(&data, &mut show)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        data: &[u8],
        show: &mut impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        if json::value_end(data, 0, Dialect::Strict) != Ok(data.len()) || std::str::from_utf8(data).is_err() {
            return Err(Failure::again(
                "the stream is damaged: an event is not valid JSON",
            ));
        }
        if is_error(data) {
            let what = said::message(data).unwrap_or_default();
            return Err(Failure::again(format!(
                "the service failed within the reply: {}",
                said::short(&what)
            )));
        }
        let step = match &mut self.pieces {
            Pieces::Chat(pieces) => pieces.push(data),
            Pieces::Messages(pieces) => pieces.push(data),
            Pieces::Responses(pieces) => pieces.push(data)?,
        };
        self.done |= step.done;
        show(&step.text)
    }

    /// Returns the complete reply; fails if the stream ended early.
    pub fn finish(mut self, mut show: impl FnMut(&str) -> Result<(), Failure>) -> Result<Vec<u8>, Failure> {
        if let Some(data) = self.events.rest() {
            self.event(&data, &mut show)
                .map_err(|failure| match failure.again {
                    true => cut(),
                    false => failure,
                })?;
        }
        let (whole, body) = match self.pieces {
            Pieces::Chat(pieces) => (pieces.is_whole(), pieces.body()),
            Pieces::Messages(pieces) => (self.done, pieces.body()),
            Pieces::Responses(pieces) => (self.done, pieces.body()),
        };
        match whole {
            true => Ok(body),
            false => Err(cut()),
        }
    }
}

fn cut() -> Failure {
    Failure::again("the reply was cut off")
}

/// Whether an event reports an error.
fn is_error(data: &[u8]) -> bool {
    json::member(data, "error").is_some_and(|error| error != b"null")
        || json::member(data, "type") == Some(br#""error""#)
}
