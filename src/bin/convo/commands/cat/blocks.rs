//! Copies a record stream: line by line, or in blocks of lines, which other threads check while this one reads and writes.

use crate::args::InputLocation;
use crate::context::Context;
use crate::errors::{named, stopped};
use crate::pipe;
use convo::error::{Error, Position};
use convo::filter::materialize::LineWriter;
use convo::format::Reader;
use convo::format::lines::{AfterBlock, BLOCK_SIZE, LineBlock};
use convo::format::native::{NativeReader, sound_lines};
use convo::format::report::Report;
use convo::model::threads::cores;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// Maximum number of threads that check. One thread reads and writes as fast as three check.
const CHECKERS: usize = 3;

/// Bytes that one thread copies first: each further thread takes memory, which only large files justify.
const SMALL: u64 = 6 << 20;

/// Findings that are printed together, so that a file full of damage takes constant memory.
const MANY: usize = 4096;

/// Copies a record stream unchanged.
pub struct StreamCopy<'c, 'l> {
    context: &'c Context,
    input: &'c InputLocation,
    label: &'c str,
    /// Whether to stop before the first damaged line.
    strict: bool,
    lines: LineWriter<'l>,
    /// Position after the written lines.
    place: Position,
    /// Whether there was a record.
    is_begun: bool,
    report: Report,
}

impl<'c, 'l> StreamCopy<'c, 'l> {
    pub fn new(
        context: &'c Context,
        input: &'c InputLocation,
        label: &'c str,
        strict: bool,
        lines: LineWriter<'l>,
    ) -> Self {
        StreamCopy {
            context,
            input,
            label,
            strict,
            lines,
            place: Position { line: 0, offset: 0 },
            is_begun: false,
            report: Report::default(),
        }
    }

    /// Copies what the reader reads, and reports damage.
    pub fn copy(mut self, reader: &mut dyn Reader) -> anyhow::Result<()> {
        let done = self.copy_blocks(reader);
        self.context.output.report(self.label, &mut self.report);
        done
    }

    fn copy_blocks(&mut self, reader: &mut dyn Reader) -> anyhow::Result<()> {
        let mut block = LineBlock::default();
        while let Some(after) = self.read(reader, &mut block)? {
            if after == AfterBlock::More && self.place.offset > SMALL && is_regular_file(self.input) {
                return self.copy_on_threads(reader, block);
            }
            self.write(&block, sound_lines(block.lines(), self.place.offset))?;
            if after == AfterBlock::End {
                return Ok(());
            }
        }
        self.copy_records(reader)
    }

    /// Copies a block and those after it.
    fn copy_on_threads(&mut self, reader: &mut dyn Reader, first: LineBlock) -> anyhow::Result<()> {
        std::thread::scope(|scope| {
            let mut checkers = Checkers::new(scope);
            let most = (2 * checkers.channels.len() * BLOCK_SIZE) as u64;
            let mut read = self.place.offset;
            let mut unused = vec![];
            let mut next = Ok(Some((first, AfterBlock::More)));
            while let Ok(Some((block, after))) = next {
                let begin = read;
                read += block.lines().len() as u64;
                checkers.send(block, begin);
                // A long line is written before the next one is read.
                while (after != AfterBlock::More || read - self.place.offset > most)
                    && let Some((block, sound)) = checkers.receive()
                {
                    self.write(&block, sound)?;
                    unused.push(block);
                }
                let mut block = unused.pop().unwrap_or_default();
                next = match after {
                    AfterBlock::End => Ok(None),
                    _ => self
                        .read(reader, &mut block)
                        .map(|after| after.map(|after| (block, after))),
                };
            }
            // After a read error, write the blocks before it first.
            while let Some((block, sound)) = checkers.receive() {
                self.write(&block, sound)?;
            }
            next.map(drop)
        })
    }

    fn read(&self, reader: &mut dyn Reader, block: &mut LineBlock) -> anyhow::Result<Option<AfterBlock>> {
        let after = reader.next_block(block);
        Ok(after.map_err(|error| named(Error::io("cannot read", error), self.label))?)
    }

    /// Writes a block; `sound` is the number of its lines if none needs a report.
    fn write(&mut self, block: &LineBlock, sound: Option<u64>) -> anyhow::Result<()> {
        let bytes = block.lines();
        match sound {
            Some(_) => self.lines.write(bytes)?,
            None => self.copy_records(&mut NativeReader::of_block(bytes, self.place, self.is_begun))?,
        }
        self.place.line += sound.unwrap_or_else(|| memchr::memchr_iter(b'\n', bytes).count() as u64);
        self.place.offset += bytes.len() as u64;
        self.is_begun |= !bytes.trim_ascii_start().is_empty();
        Ok(())
    }

    /// Copies records one by one, and adds findings to the report.
    fn copy_records(&mut self, reader: &mut dyn Reader) -> anyhow::Result<()> {
        let report = &mut self.report;
        while let Some(record) = reader.next(report).map_err(|error| named(error, self.label))? {
            if self.strict && report.is_damaged() {
                return Err(named(stopped(), self.label).into());
            }
            self.lines.write(record.full)?;
            if report.findings.len() >= MANY {
                self.context.output.report(self.label, report);
            }
        }
        Ok(())
    }
}

/// Whether reading the input never waits for another program. The writer of a pipe may wait for output before it sends more,
/// so blocks of a pipe are not read ahead.
fn is_regular_file(input: &InputLocation) -> bool {
    match input {
        InputLocation::Stdin => pipe::is_regular_file(std::io::stdin()),
        InputLocation::Path(path) => path.is_file(),
        InputLocation::Name(_) | InputLocation::Row(..) => true,
    }
}

/// A block and the number of its lines, if none needs a report.
type CountedBlock = (LineBlock, Option<u64>);

/// Sends a block with its offset to a thread, and receives it from there.
type CheckThread = (Sender<(LineBlock, u64)>, Receiver<CountedBlock>);

/// Threads that check blocks. Each block goes to the next thread, so blocks come back in order.
struct Checkers {
    channels: Vec<CheckThread>,
    sent: usize,
    received: usize,
}

impl Checkers {
    fn new<'s>(scope: &'s Scope<'s, '_>) -> Checkers {
        let start = |_| {
            let (to_check, blocks) = channel::<(LineBlock, u64)>();
            let (results, checked) = channel();
            scope.spawn(move || {
                for (block, begin) in blocks {
                    let sound = sound_lines(block.lines(), begin);
                    // Nothing receives blocks after a write error.
                    let _ = results.send((block, sound));
                }
            });
            (to_check, checked)
        };
        Checkers {
            channels: (0..cores().clamp(1, CHECKERS)).map(start).collect(),
            sent: 0,
            received: 0,
        }
    }

    fn send(&mut self, block: LineBlock, begin: u64) {
        // A thread that panicked makes the whole copy panic at its end.
        let _ = self.channels[self.sent % self.channels.len()]
            .0
            .send((block, begin));
        self.sent += 1;
    }

    /// Waits for the oldest block that was sent; returns `None` if there is none.
    fn receive(&mut self) -> Option<CountedBlock> {
        if self.received == self.sent {
            return None;
        }
        let checked = self.channels[self.received % self.channels.len()].1.recv().ok();
        self.received += 1;
        checked
    }
}
