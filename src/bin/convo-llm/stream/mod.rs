//! Assembles a streamed reply into the response that the API would have sent without streaming, so that one parser
//! handles both.

mod chat;
mod events;
mod messages;
mod responses;
mod step;

use crate::retry::RequestFailure;
use crate::service_error;
use convo::format::request::Api;
use convo::model::json::{self, Dialect};
use events::Events;

/// A reply being received.
pub struct ReplyStream {
    events: Events,
    pieces: Assembler,
    /// Whether the API signaled the end.
    done: bool,
}

/// The assembler of an API.
enum Assembler {
    Chat(chat::ChatAssembler),
    Messages(messages::MessagesAssembler),
    Responses(responses::ResponsesAssembler),
}

impl ReplyStream {
    /// Creates an empty stream for an API.
    pub fn new(api: Api) -> ReplyStream {
        ReplyStream {
            events: Events::default(),
            pieces: match api {
                Api::Anthropic => Assembler::Messages(messages::MessagesAssembler::default()),
                Api::OpenaiResponses => Assembler::Responses(responses::ResponsesAssembler::default()),
                _ => Assembler::Chat(chat::ChatAssembler::default()),
            },
            done: false,
        }
    }

    /// Parses received bytes and passes their text to `show`.
    pub fn push(
        &mut self,
        bytes: &[u8],
        mut show: impl FnMut(&str) -> Result<(), RequestFailure>,
    ) -> Result<(), RequestFailure> {
        self.events.push(bytes);
        while let Some(data) = self.events.next() {
            self.event(&data, &mut show)?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        data: &[u8],
        show: &mut impl FnMut(&str) -> Result<(), RequestFailure>,
    ) -> Result<(), RequestFailure> {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        if json::value_end(data, 0, Dialect::Strict) != Ok(data.len()) || std::str::from_utf8(data).is_err() {
            return Err(RequestFailure::retryable(
                "the stream is damaged: an event is not valid JSON",
            ));
        }
        if is_error(data) {
            let what = service_error::message(data).unwrap_or_default();
            return Err(RequestFailure::retryable(format!(
                "the service failed within the reply: {}",
                service_error::short(&what)
            )));
        }
        let step = match &mut self.pieces {
            Assembler::Chat(pieces) => pieces.push(data),
            Assembler::Messages(pieces) => pieces.push(data),
            Assembler::Responses(pieces) => pieces.push(data)?,
        };
        self.done |= step.done;
        show(&step.text)
    }

    /// Returns the complete reply; fails if the stream ended early.
    pub fn finish(
        mut self,
        mut show: impl FnMut(&str) -> Result<(), RequestFailure>,
    ) -> Result<Vec<u8>, RequestFailure> {
        if let Some(data) = self.events.take_unfinished() {
            self.event(&data, &mut show)
                .map_err(|failure| if failure.is_retryable { cut() } else { failure })?;
        }
        let (whole, body) = match self.pieces {
            Assembler::Chat(pieces) => (pieces.is_complete(), pieces.body()),
            Assembler::Messages(pieces) => (self.done, pieces.body()),
            Assembler::Responses(pieces) => (self.done, pieces.body()),
        };
        if whole { Ok(body) } else { Err(cut()) }
    }
}

fn cut() -> RequestFailure {
    RequestFailure::retryable("the reply was cut off")
}

/// Whether an event reports an error.
fn is_error(data: &[u8]) -> bool {
    json::member(data, "error").is_some_and(|error| error != b"null")
        || json::member(data, "type") == Some(br#""error""#)
}
