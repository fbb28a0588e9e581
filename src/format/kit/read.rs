//! Inputs as sessions.

use super::codec::Codec;
use super::parse::{document, is_lines, lines};
use super::session::session;
use super::source::Source;
use super::values::Values;
use crate::error::{Error, Kind, Place, Result};
use crate::format::pieces::Pieces;
use crate::format::report::Report;
use crate::format::{Input, SessionReader};
use crate::model::origin::Origin;
use crate::model::session::Session;
use std::ops::Range;
use std::sync::Arc;

/// Opens an input of sessions, usually one.
pub fn open<C: Codec>(codec: &'static C, mut input: Input) -> Result<Box<dyn SessionReader>> {
    let lines = is_lines(codec, &mut input)?;
    Ok(Box::new(Sessions {
        codec,
        name: input.name.clone(),
        returns: input.returns,
        inputs: match lines {
            true => Inputs::Lines(Pieces::new(input)),
            false => Inputs::Values(Values::new(input)),
        },
        count: 0,
        tail: Vec::new(),
    }))
}

enum Inputs {
    Lines(Pieces),
    Values(Values),
}

struct Sessions<C: 'static> {
    codec: &'static C,
    inputs: Inputs,
    name: Option<String>,
    returns: bool,
    /// Sessions so far.
    count: usize,
    /// Bytes after the last session.
    tail: Vec<u8>,
}

impl<C: Codec> SessionReader for Sessions<C> {
    fn next(&mut self, report: &mut Report) -> Result<Option<Session>> {
        let codec = self.codec;
        loop {
            let (parsed, bytes) = match &mut self.inputs {
                Inputs::Lines(pieces) => {
                    let Some(piece) = pieces.next(|line| codec.begins(line))? else {
                        return Ok(None);
                    };
                    let parsed = lines(codec, &piece.bytes, piece.start);
                    (
                        Some(session(
                            codec,
                            self.name.as_deref(),
                            self.count,
                            &piece.bytes,
                            parsed,
                            report,
                        )),
                        piece.bytes,
                    )
                }
                Inputs::Values(values) => {
                    let Some(value) = values.next()? else {
                        return match self.count {
                            0 => Err(Error::new(Kind::Data, format!("contains no {}", noun(C::WHAT)))),
                            _ => Ok(None),
                        };
                    };
                    if let Some(strange) = value.strange {
                        report.damage(value.places().at(strange), "not valid JSON");
                    }
                    let parsed = document(codec, &value, report);
                    let session = parsed.map(|parsed| {
                        session(
                            codec,
                            self.name.as_deref(),
                            self.count,
                            &value.bytes,
                            parsed,
                            report,
                        )
                    });
                    (session, value.bytes)
                }
            };
            let lead = std::mem::take(&mut self.tail);
            let Some((mut session, _)) = parsed else {
                self.tail = [lead, bytes].concat();
                continue;
            };
            self.count += 1;
            if self.returns {
                session.set_origin(Arc::new(Origin { lead, bytes }));
            }
            return Ok(Some(session));
        }
    }

    fn tail(&self) -> &[u8] {
        &self.tail
    }
}

/// A term without its article.
fn noun(what: &str) -> &str {
    what.split_once(' ').map_or(what, |(_, noun)| noun)
}

/// An origin that was parsed again.
pub struct Reparsed {
    /// Its elements.
    pub source: Source,
    /// The members next to the list.
    pub about: Option<Vec<u8>>,
    /// Where the document is in it; none for JSON Lines.
    pub document: Option<Range<usize>>,
}

/// Parses an origin again.
pub fn reparse<C: Codec>(codec: &C, origin: &Origin) -> Option<Reparsed> {
    let input = || Input {
        name: None,
        head: origin.bytes.clone(),
        rest: Box::new(std::io::empty()),
        returns: false,
    };
    let mut report = Report::default();
    let value = match is_lines(codec, &mut input()).ok()? {
        true => None,
        false => Some(Values::new(input()).next().ok()??),
    };
    let parsed = match &value {
        None => lines(codec, &origin.bytes, Place::default()),
        Some(value) => document(codec, value, &mut report)?,
    };
    let about = parsed.about.clone();
    let (_, source) = session(codec, None, 0, &origin.bytes, parsed, &mut report);
    Some(Reparsed {
        source,
        about,
        document: value.map(|value| value.value),
    })
}
