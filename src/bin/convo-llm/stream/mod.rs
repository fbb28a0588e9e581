//! A reply that comes in pieces: events, put together to what the interface would have sent as a whole, so that one reader
//! serves both.

mod chat;
mod events;
mod messages;
mod responses;

use crate::failure::Failure;
use crate::said;
use convo::format::request::Api;
use convo::model::json::{self, Dialect};
use events::Events;

/// A reply in the making.
pub struct Stream {
    events: Events,
    pieces: Pieces,
    /// Whether the interface has said that this was all.
    done: bool,
}

/// The pieces of an interface.
enum Pieces {
    Chat(chat::Pieces),
    Messages(messages::Pieces),
    Responses(responses::Pieces),
}

/// What a piece did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Step {
    /// Text to show.
    text: String,
    /// Whether the reply is whole.
    done: bool,
}

impl Step {
    /// A piece of text, as JSON.
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

/// A string that comes in pieces. They are kept as they are spelled: half of a character at the end of one piece is made
/// whole by the next.
#[derive(Debug, Default)]
struct Text(Vec<u8>);

impl Text {
    /// Adds a JSON string; anything else is none.
    fn push(&mut self, raw: Option<&[u8]>) {
        if let Some([b'"', inside @ .., b'"']) = raw {
            self.0.extend_from_slice(inside);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As a JSON string.
    fn raw(&self) -> Vec<u8> {
        [b"\"", self.0.as_slice(), b"\""].concat()
    }

    /// What it says.
    fn said(&self) -> String {
        json::text(&self.raw()).unwrap_or_default().into_owned()
    }
}

impl Stream {
    /// Of an interface; nothing has come yet.
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

    /// Takes bytes as they come, and hands out the text in them.
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

    /// The reply as it would have come as a whole, when all of it has come.
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

/// Whether an event tells of an error.
fn is_error(data: &[u8]) -> bool {
    json::member(data, "error").is_some_and(|error| error != b"null")
        || json::member(data, "type") == Some(br#""error""#)
}
