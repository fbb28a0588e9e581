//! Parses standard input: a summary request or a session.

use crate::output::Output;
use convo::error::{Error, Result};
use convo::format::compression::{self, Wrapped};
use convo::format::detect::{self, Hints};
use convo::format::native::NativeReader;
use convo::format::report::Report;
use convo::format::{self, DocumentSource, Format, Sessions, Stream};
use convo::model::json;
use convo::model::lineage::Lineage;
use convo::model::session::Session;
use std::io::{IsTerminal, Read};

pub enum RequestKind {
    /// A summary; a long request has several chunks.
    Summary(Vec<Vec<u8>>),
    Reply(Session),
}

/// Reads all of standard input.
pub fn read(from: Option<&str>, output: &Output) -> Result<RequestKind> {
    let mut input = std::io::stdin();
    if input.is_terminal() {
        return Err(Error::usage("no input: standard input is a terminal")
            .hint("pipe a session in: convo context NAME | convo llm"));
    }
    let mut bytes = Vec::new();
    input
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io("cannot read standard input", error))?;
    let pieces = summary_request(&bytes);
    if !pieces.is_empty() {
        return Ok(RequestKind::Summary(pieces));
    }
    if compression::is_likely(&bytes) {
        bytes = match Wrapped::of(bytes)? {
            Ok(wrapped) => wrapped.inner().to_vec(),
            Err(plain) => plain,
        };
    }
    if bytes.trim_ascii().is_empty() {
        return Err(Error::data("standard input contains no session"));
    }
    let format = match from {
        Some(name) => Format::from_name(name)
            .filter(|format| format.is_read())
            .ok_or_else(|| Error::usage(format!("--from '{name}': unknown format")))?,
        None => detected(&bytes, output)?,
    };
    session(format, bytes, output).map(RequestKind::Reply)
}

/// The chunks of a summary request; empty for any other input.
fn summary_request(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    let asks = |line: &&[u8]| {
        line.starts_with(b"{") && json::member(line, "schema") == Some(br#""convo.summary-request/1""#)
    };
    if asks(&bytes.trim_ascii()) {
        return vec![bytes.trim_ascii().to_vec()];
    }
    match lines.first().is_some_and(asks) {
        true => lines.into_iter().map(<[u8]>::to_vec).collect(),
        false => Vec::new(),
    }
}

fn detected(bytes: &[u8], output: &Output) -> Result<Format> {
    let head = &bytes[..bytes.len().min(detect::HEAD)];
    let verdict = detect::detect(head, bytes.len() < detect::HEAD, Hints::default());
    let Some(format) = verdict.format else {
        let error = Error::data(verdict.problem());
        return Err(match verdict.hint {
            Some(hint) => error.hint(hint),
            None => error.hint("give the format with --from"),
        });
    };
    // Plain messages are read alike in each of these formats.
    if !verdict.others.is_empty() && format.api().is_none() {
        output.print_notice(&format!(
            "ambiguous format: reading {}, also matches {}; give the format with --from",
            format.name(),
            verdict.others.join(", ")
        ));
    }
    Ok(format)
}

/// Reads the only session of the input.
fn session(format: Format, bytes: Vec<u8>, output: &Output) -> Result<Session> {
    let mut report = Report::default();
    let stream = if format.is_lines() {
        Stream::Records(Box::new(NativeReader::new(bytes, std::io::empty())))
    } else {
        Stream::from(format::convert(format, &DocumentSource::alone(&bytes), &mut report).map_err(named)?)
    };
    let mut sessions = Sessions::new(stream);
    let first = sessions.next(&mut report).map_err(named)?;
    let mut others = 0;
    while let Some(other) = sessions.next(&mut report).map_err(named)? {
        // Branches and sidechains follow their session.
        others += usize::from(!is_side_branch(&other));
    }
    for finding in &report.findings {
        if finding.damage {
            let error = Error::data(finding.what.clone()).at("-", finding.place);
            return Err(error.hint("a damaged session is not sent to a model; repair it first"));
        }
        output.print_notice(&finding.what);
    }
    let Some(first) = first else {
        return Err(Error::data("standard input contains no session"));
    };
    if others > 0 {
        let error = Error::data("standard input contains more than one session");
        return Err(error.hint("send one session at a time"));
    }
    Ok(first)
}

/// Whether a session is a branch or a sidechain of another.
fn is_side_branch(session: &Session) -> bool {
    Lineage::of(session).is_some_and(|lineage| lineage.side_branch().is_some())
}

fn named(mut error: Error) -> Error {
    if let Some((input, _)) = &mut error.at {
        *input = "-".to_string();
    }
    error
}
