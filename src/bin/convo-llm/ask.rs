//! Requests one reply, with retries.

use crate::failure::{Failure, retried};
use crate::http::Service;
use crate::output::Output;
use crate::reply::{self, Reply};
use crate::request::Asking;
use crate::settings::Settings;
use crate::stream::Stream;
use crate::tools::Offer;
use convo::error::Result;
use convo::format::request::Api;
use convo::model::session::Session;
use std::cell::Cell;

/// A model and how to request its replies.
pub struct Model<'a> {
    pub settings: &'a Settings,
    pub service: Service<'a>,
    pub output: &'a Output,
    /// Whether to request a stream.
    pub stream: bool,
    /// Whether to print text as it arrives.
    pub shows: bool,
    /// Whether to request encrypted reasoning; cleared when the model rejects that.
    encrypted: Cell<bool>,
}

impl<'a> Model<'a> {
    /// Prepares the connection; sends nothing.
    pub fn new(settings: &'a Settings, output: &'a Output, stream: bool, shows: bool) -> Result<Model<'a>> {
        Ok(Model {
            settings,
            service: Service::new(settings)?,
            output,
            stream,
            shows,
            encrypted: Cell::new(true),
        })
    }

    /// Requests the reply to a session.
    pub fn ask(&self, session: &Session, offers: &[Offer]) -> Result<Reply> {
        retried(self.settings, self.output, || {
            let shown = Cell::new(false);
            match self.once(session, offers, &shown) {
                // A model without reasoning has nothing to encrypt.
                Err(failure) if self.takes_nothing_encrypted(&failure) => {}
                done => return done.map_err(|failure| unshown(failure, &shown)),
            }
            self.encrypted.set(false);
            self.once(session, offers, &shown)
                .map_err(|failure| unshown(failure, &shown))
        })
    }

    fn takes_nothing_encrypted(&self, failure: &Failure) -> bool {
        self.settings.api == Api::OpenaiResponses
            && self.encrypted.get()
            && failure.status == Some(400)
            && failure.what.to_ascii_lowercase().contains("encrypted")
    }

    fn once(
        &self,
        session: &Session,
        offers: &[Offer],
        shown: &Cell<bool>,
    ) -> std::result::Result<Reply, Failure> {
        let asking = Asking {
            settings: self.settings,
            offers,
            stream: self.stream,
            encrypted: self.encrypted.get(),
        };
        let body = asking.body(session)?;
        let show = |text: &str| -> std::result::Result<(), Failure> {
            if self.shows && !text.is_empty() {
                shown.set(true);
                self.output.piece(text)?;
            }
            Ok(())
        };
        let mut incoming = self.service.post(&body, self.stream)?;
        let mut buffer = vec![0; 64 * 1024];
        let mut whole = Vec::new();
        let mut stream: Option<Stream> = None;
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
                        let mut begun = Stream::new(self.settings.api);
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
fn unshown(mut failure: Failure, shown: &Cell<bool>) -> Failure {
    failure.again &= !shown.get();
    failure
}

/// Whether a body is an event stream. Services do not always send the requested form or the right content type.
fn is_stream(bytes: &[u8]) -> bool {
    let text = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let names: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    names.iter().any(|name| text.starts_with(name))
}
