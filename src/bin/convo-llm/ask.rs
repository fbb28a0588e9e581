//! Requests one reply, with retries.

use crate::http::Service;
use crate::output::Output;
use crate::reply::{self, ModelReply};
use crate::request::RequestInput;
use crate::retry::{RequestFailure, retried};
use crate::settings::LlmSettings;
use crate::stream::ReplyStream;
use crate::tools::ToolOffer;
use convo::error::Result;
use convo::format::request::Api;
use convo::model::record::without_mark;
use convo::model::session::Session;
use std::cell::Cell;

/// A model and how to request its replies.
pub struct ModelClient<'a> {
    pub settings: &'a LlmSettings,
    pub service: Service<'a>,
    pub output: &'a Output,
    /// Whether to request a stream.
    pub stream: bool,
    /// Whether to print text as it arrives.
    pub shows: bool,
    /// Whether to request encrypted reasoning; cleared when the model rejects that.
    encrypted: Cell<bool>,
}

impl<'a> ModelClient<'a> {
    /// Prepares the connection; sends nothing.
    pub fn new(
        settings: &'a LlmSettings,
        output: &'a Output,
        stream: bool,
        shows: bool,
    ) -> Result<ModelClient<'a>> {
        Ok(ModelClient {
            settings,
            service: Service::new(settings)?,
            output,
            stream,
            shows,
            encrypted: Cell::new(true),
        })
    }

    /// Requests the reply to a session.
    pub fn ask(&self, session: &Session, offers: &[ToolOffer]) -> Result<ModelReply> {
        retried(self.settings, self.output, || {
            let shown = Cell::new(false);
            match self.once(session, offers, &shown) {
                // A model without reasoning has nothing to encrypt.
                Err(failure) if self.rejects_encrypted_reasoning(&failure) => {}
                done => return done.map_err(|failure| not_retried(failure, &shown)),
            }
            self.encrypted.set(false);
            self.once(session, offers, &shown)
                .map_err(|failure| not_retried(failure, &shown))
        })
    }

    fn rejects_encrypted_reasoning(&self, failure: &RequestFailure) -> bool {
        self.settings.api == Api::OpenaiResponses
            && self.encrypted.get()
            && failure.status == Some(400)
            && failure.what.to_ascii_lowercase().contains("encrypted")
    }

    fn once(
        &self,
        session: &Session,
        offers: &[ToolOffer],
        shown: &Cell<bool>,
    ) -> std::result::Result<ModelReply, RequestFailure> {
        let request = RequestInput {
            settings: self.settings,
            offers,
            stream: self.stream,
            encrypted: self.encrypted.get(),
        };
        let body = request.body(session)?;
        let show = |text: &str| -> std::result::Result<(), RequestFailure> {
            if self.shows && !text.is_empty() {
                shown.set(true);
                self.output.print_part(text)?;
            }
            Ok(())
        };
        let mut incoming = self.service.post(&body, self.stream)?;
        let mut buffer = vec![0; 64 * 1024];
        let mut whole = Vec::new();
        let mut stream: Option<ReplyStream> = None;
        loop {
            let read = incoming.read(&mut buffer, &self.service)?;
            if read == 0 {
                break;
            }
            match &mut stream {
                Some(stream) => stream.push(&buffer[..read], show)?,
                None => {
                    whole.extend_from_slice(&buffer[..read]);
                    if is_stream(&whole) {
                        let mut begun = ReplyStream::new(self.settings.api);
                        begun.push(&whole, show)?;
                        stream = Some(begun);
                    }
                }
            }
        }
        let body = match stream {
            Some(stream) => stream.finish(show)?,
            None => whole,
        };
        let reply = reply::read(self.settings.api, &body)?;
        if !shown.get() {
            show(&reply.text)?;
        }
        Ok(reply)
    }
}

/// Prevents a retry after text was printed.
fn not_retried(mut failure: RequestFailure, shown: &Cell<bool>) -> RequestFailure {
    failure.is_retryable &= !shown.get();
    failure
}

/// Whether a body is an event stream. Services do not always send the requested form or the right content type.
fn is_stream(bytes: &[u8]) -> bool {
    let text = without_mark(bytes).trim_ascii_start();
    let names: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    names.iter().any(|name| text.starts_with(name))
}
