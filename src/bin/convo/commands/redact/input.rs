//! Units of redaction: a line, or a document of many lines.

use crate::args::{Input, InputArgs};
use crate::context::Context;
use crate::input::each_session;
use crate::input::source;
use convo::error::{Error, Kind, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Where the bytes come from.
pub struct Sources;

impl Sources {
    pub fn stdin() -> Result<Box<dyn BufRead>> {
        use std::io::IsTerminal;
        if io::stdin().is_terminal() {
            return Err(Error::new(Kind::Usage, "no input: standard input is a terminal")
                .hint("give a file, or pipe one in"));
        }
        Ok(Box::new(BufReader::with_capacity(1 << 16, source::stdin())))
    }

    pub fn file(file: File) -> Box<dyn BufRead> {
        Box::new(BufReader::with_capacity(1 << 16, file))
    }

    /// The lines of a stored session.
    pub fn stored(
        context: &Context,
        input: &Input,
        take: &mut dyn FnMut(u64, &[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let reading = InputArgs::default();
        each_session(context, std::slice::from_ref(input), &reading, |_, session| {
            (0..session.len()).try_for_each(|index| {
                let line = session.full(index);
                take(
                    session.place(index).line,
                    line.strip_suffix(b"\n").unwrap_or(line),
                )
            })
        })
    }
}

/// Formats that cannot be changed as text, by how they begin.
const BINARY: [(&[u8], &str, &str); 3] = [
    (
        b"\x1f\x8b",
        "is compressed",
        "decompress it first: gzip -dc FILE | convo redact",
    ),
    (b"PK\x03\x04", "is an archive", "extract it first: unzip"),
    (
        b"SQLite format 3\0",
        "is a database",
        "convert its sessions first: convo cat FILE | convo redact",
    ),
];

/// Takes a line: its number, its bytes, and what ends it.
pub type TakeLine<'t> = &'t mut dyn FnMut(u64, &[u8], &[u8]) -> anyhow::Result<()>;

/// Hands on each line and what ends it; a JSON document is handed on at once, with the number of its first line.
pub fn each_line(mut input: Box<dyn BufRead>, take: TakeLine<'_>) -> anyhow::Result<()> {
    let failed = |error| Error::io("cannot read", error);
    let head = input.fill_buf().map_err(failed)?;
    if let Some((_, what, hint)) = BINARY.iter().find(|(begins, ..)| head.starts_with(begins)) {
        return Err(Error::new(Kind::Data, *what).hint(*hint).into());
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
                return take(1, &line[..body], &line[body..]);
            }
            // Damaged: every line is text.
            for line in line.split_inclusive(|byte| *byte == b'\n') {
                let body = line.strip_suffix(b"\n").unwrap_or(line);
                take(number, body, &line[body.len()..])?;
                number += 1;
            }
            return Ok(());
        }
        let body = line.strip_suffix(b"\n").unwrap_or(&line);
        take(number, body, &line[body.len()..])?;
    }
}

fn is_complete(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}
