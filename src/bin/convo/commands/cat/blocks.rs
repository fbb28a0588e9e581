//! Copies a record stream in blocks of lines, which other threads check while this one reads and writes.

use super::copy_records;
use crate::context::Context;
use crate::errors::named;
use convo::error::{Error, Position};
use convo::filter::materialize::LineWriter;
use convo::format::lines::{AfterBlock, BLOCK_SIZE, Block, BlockReader};
use convo::format::native::{NativeReader, sound_lines};
use convo::format::report::Report;
use convo::model::threads::cores;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Most threads that check. To read and write takes a third of the time of one of them.
const CHECKERS: usize = 3;

/// Bytes that one thread copies first: a thread has memory of its own, and is worth it for large files.
const SMALL: u64 = 6 << 20;

/// Blocks with their offsets for a thread, and the blocks that it has checked with the number of their lines if all are
/// sound.
type Checker = (Sender<(Block, u64)>, Receiver<(Block, Option<u64>)>);

/// Copies the lines of an input unchanged, and reports damage. With `reads_ahead`, reads further blocks before it writes the
/// first. The writer of a pipe may wait for output before it sends more, so pipes are not read ahead.
pub fn copy(
    context: &Context,
    label: &str,
    strict: bool,
    reads_ahead: bool,
    input: &mut dyn BlockReader,
    lines: &mut LineWriter<'_>,
) -> anyhow::Result<()> {
    let mut writer = BlockWriter {
        context,
        label,
        strict,
        lines,
        place: Position { line: 0, offset: 0 },
        is_begun: false,
        report: Report::default(),
    };
    let done = writer.copy(input, reads_ahead);
    context.output.report(label, &mut writer.report);
    done
}

struct BlockWriter<'w, 'l> {
    context: &'w Context,
    label: &'w str,
    strict: bool,
    lines: &'w mut LineWriter<'l>,
    /// Position after the written lines.
    place: Position,
    /// Whether there was a record.
    is_begun: bool,
    report: Report,
}

impl BlockWriter<'_, '_> {
    fn copy(&mut self, input: &mut dyn BlockReader, reads_ahead: bool) -> anyhow::Result<()> {
        let mut block = Block::default();
        loop {
            let after = self.read(input, &mut block)?;
            if after == AfterBlock::More && reads_ahead && self.place.offset > SMALL {
                return self.copy_on_threads(input, block);
            }
            self.write(&block, sound_lines(block.lines(), self.place.offset))?;
            if after == AfterBlock::End {
                return Ok(());
            }
        }
    }

    /// Copies a block and those after it.
    fn copy_on_threads(&mut self, input: &mut dyn BlockReader, first: Block) -> anyhow::Result<()> {
        std::thread::scope(|scope| {
            let checkers: Vec<Checker> = (0..cores().clamp(1, CHECKERS))
                .map(|_| {
                    let (to_check, blocks) = channel();
                    let (results, checked) = channel();
                    scope.spawn(move || check(&blocks, &results));
                    (to_check, checked)
                })
                .collect();
            let mut spare = Vec::new();
            // Blocks sent and received; each goes to the next thread, so they come back in order.
            let (mut sent, mut received) = (0, 0);
            // The bytes of blocks that are not written yet: a long line is written before the next one is read.
            let (mut offset, most) = (self.place.offset, (2 * checkers.len() * BLOCK_SIZE) as u64);
            let mut next = Ok(Some((first, AfterBlock::More)));
            while let Ok(Some((block, after))) = next {
                let length = block.lines().len() as u64;
                // Without its receiver, which ends with this function alone, nothing is checked.
                let _ = checkers[sent % checkers.len()].0.send((block, offset));
                sent += 1;
                offset += length;
                while received < sent
                    && (after != AfterBlock::More || offset - self.place.offset > most)
                    && let Ok((block, sound)) = checkers[received % checkers.len()].1.recv()
                {
                    received += 1;
                    self.write(&block, sound)?;
                    spare.push(block);
                }
                next = match after {
                    AfterBlock::End => Ok(None),
                    _ => {
                        let mut block = spare.pop().unwrap_or_default();
                        self.read(input, &mut block).map(|after| Some((block, after)))
                    }
                };
            }
            // After a read error, write the blocks before it first.
            while received < sent
                && let Ok((block, sound)) = checkers[received % checkers.len()].1.recv()
            {
                received += 1;
                self.write(&block, sound)?;
            }
            next.map(drop)
        })
    }

    fn read(&self, input: &mut dyn BlockReader, block: &mut Block) -> anyhow::Result<AfterBlock> {
        let after = input.next_block(block);
        Ok(after.map_err(|error| named(Error::io("cannot read", error), self.label))?)
    }

    /// Writes a block; `sound` is the number of its lines if none needs a report.
    fn write(&mut self, block: &Block, sound: Option<u64>) -> anyhow::Result<()> {
        let bytes = block.lines();
        match sound {
            Some(_) => self.lines.write(bytes)?,
            None => {
                let mut reader = NativeReader::of_block(bytes, self.place, self.is_begun);
                let (context, label, report) = (self.context, self.label, &mut self.report);
                copy_records(context, label, self.strict, &mut reader, self.lines, report)?;
            }
        }
        self.place.line += sound.unwrap_or_else(|| memchr::memchr_iter(b'\n', bytes).count() as u64);
        self.place.offset += bytes.len() as u64;
        self.is_begun |= !bytes.trim_ascii_start().is_empty();
        Ok(())
    }
}

/// Checks blocks until no more come.
fn check(blocks: &Receiver<(Block, u64)>, results: &Sender<(Block, Option<u64>)>) {
    for (block, begin) in blocks {
        let sound = sound_lines(block.lines(), begin);
        if results.send((block, sound)).is_err() {
            return;
        }
    }
}
