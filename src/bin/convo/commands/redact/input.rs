//! Splits inputs into units of redaction: lines, or a document of many lines.

use crate::args::{InputArgs, InputLocation};
use crate::context::Context;
use crate::input::{each_session, input_source};
use convo::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Opens and reads inputs.
pub struct RedactSources;

impl RedactSources {
    pub fn stdin() -> Result<Box<dyn BufRead>> {
        use std::io::IsTerminal;
        if io::stdin().is_terminal() {
            return Err(
                Error::usage("no input: standard input is a terminal").hint("give a file, or pipe one in")
            );
        }
        Ok(Box::new(BufReader::with_capacity(1 << 16, input_source::stdin())))
    }

    pub fn file(file: File) -> Box<dyn BufRead> {
        Box::new(BufReader::with_capacity(1 << 16, file))
    }

    /// Reads the lines of a stored session.
    pub fn stored(context: &Context, input: &InputLocation, take: LineVisitor<'_>) -> anyhow::Result<()> {
        let reading = InputArgs::default();
        each_session(context, std::slice::from_ref(input), &reading, |_, session| {
            (0..session.len()).try_for_each(|index| {
                let line = session.full(index);
                take(&InputLine {
                    number: session.place(index).line,
                    bytes: line.strip_suffix(b"\n").unwrap_or(line),
                    end: b"\n",
                })
            })
        })
    }
}

/// Input that cannot be edited as text: first bytes, problem and hint.
const BINARY: [(&[u8], &str, &str); 10] = [
    (
        b"\x1f\x8b",
        "is compressed",
        "decompress it first: gzip -dc FILE | convo redact",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "is compressed",
        "decompress it first: zstd -dc FILE | convo redact",
    ),
    (
        b"\xfd7zXZ\0",
        "is compressed",
        "decompress it first: xz -dc FILE | convo redact",
    ),
    (
        b"BZh91AY&SY",
        "is compressed",
        "decompress it first: bzip2 -dc FILE | convo redact",
    ),
    (b"PK\x03\x04", "is an archive", "extract it first: unzip"),
    (
        b"SQLite format 3\0",
        "is a database",
        "convert its sessions first: convo cat FILE | convo redact",
    ),
    (b"\xff\xfe\0\0", "is UTF-32", UTF_32),
    (b"\0\0\xfe\xff", "is UTF-32", UTF_32),
    (b"\xff\xfe", "is UTF-16", UTF_16),
    (b"\xfe\xff", "is UTF-16", UTF_16),
];

const UTF_16: &str = "convert it first: iconv -f UTF-16 -t UTF-8 FILE | convo redact";
const UTF_32: &str = "convert it first: iconv -f UTF-32 -t UTF-8 FILE | convo redact";

/// A line of an input, or a JSON document of many lines.
pub struct InputLine<'l> {
    /// Number of the first line, from 1.
    pub number: u64,
    pub bytes: &'l [u8],
    pub end: &'l [u8],
}

impl InputLine<'_> {
    fn of(number: u64, line: &[u8]) -> InputLine<'_> {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        InputLine {
            number,
            bytes,
            end: &line[bytes.len()..],
        }
    }
}

/// Called with each line.
pub type LineVisitor<'t> = &'t mut dyn FnMut(&InputLine<'_>) -> anyhow::Result<()>;

/// Passes on each line; passes a JSON document on as one.
pub fn each_line(mut input: Box<dyn BufRead>, take: LineVisitor<'_>) -> anyhow::Result<()> {
    let failed = |error| Error::io("cannot read", error);
    while let Err(error) = input.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(failed(error).into());
        }
    }
    let head = input.fill_buf().map_err(failed)?;
    if let Some((_, what, hint)) = BINARY.iter().find(|(begins, ..)| head.starts_with(begins)) {
        return Err(Error::data(*what).hint(*hint).into());
    }
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(());
        }
        number += 1;
        let text = line.trim_ascii();
        if number == 1 && matches!(text.first(), Some(b'{' | b'[')) && !is_complete(text) {
            input.read_to_end(&mut line).map_err(failed)?;
            let body = line.trim_ascii_end().len();
            if is_complete(&line) {
                let (bytes, end) = line.split_at(body);
                return take(&InputLine { number, bytes, end });
            }
            // Damaged: treat every line as text.
            let mut lines = (1..).zip(line.split_inclusive(|byte| *byte == b'\n'));
            return lines.try_for_each(|(number, line)| take(&InputLine::of(number, line)));
        }
        let first = number;
        // A private key that spans lines is one value.
        for _ in 0..KEY_LINES {
            if !begins_key(&line) || input.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            number += 1;
        }
        take(&InputLine::of(first, &line))?;
    }
}

/// Maximum number of lines of a private key.
const KEY_LINES: usize = 400;

/// Whether a private key begins in this text and does not end in it.
fn begins_key(text: &[u8]) -> bool {
    let key = memchr::memmem::rfind(text, b"PRIVATE KEY").filter(|_| !text.starts_with(b"{"));
    let key = key.filter(|at| {
        memchr::memmem::rfind(&text[..*at], b"-----BEGIN ").is_some_and(|begin| begin + 60 > *at)
    });
    key.is_some_and(|at| memchr::memmem::find(&text[at..], b"-----END ").is_none())
}

fn is_complete(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}
