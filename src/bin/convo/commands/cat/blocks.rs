//! Copies a file of records in blocks of lines, which other threads check while this one reads and writes.

use super::copy_records;
use crate::context::Context;
use crate::errors::named;
use convo::error::{Error, Position};
use convo::filter::materialize::LineWriter;
use convo::format::lines::{AfterBlock, Block, BlockReader};
use convo::format::native::{NativeReader, sound_lines};
use convo::model::threads::cores;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Most threads that check. To read and write takes a third of the time of one of them.
const CHECKERS: usize = 3;

/// Blocks with their offsets for a thread, and the blocks that it has checked with the number of their lines if all are
/// sound.
type Checker = (Sender<(Block, u64)>, Receiver<(Block, Option<u64>)>);

/// Copies the lines of an input unchanged, and reports damage.
pub fn copy(
    context: &Context,
    label: &str,
    strict: bool,
    input: &mut dyn BlockReader,
    lines: &mut LineWriter<'_>,
) -> anyhow::Result<()> {
    let mut place = Position { line: 0, offset: 0 };
    let mut is_begun = false;
    let mut write = |block: &Block, sound: Option<u64>| -> anyhow::Result<()> {
        match sound {
            Some(_) => lines.write(block.lines())?,
            None => {
                let mut reader = NativeReader::of_block(block.lines(), place, is_begun);
                copy_records(context, label, strict, &mut reader, lines)?;
            }
        }
        place.line += sound.unwrap_or_else(|| memchr::memchr_iter(b'\n', block.lines()).count() as u64);
        place.offset += block.lines().len() as u64;
        is_begun |= !block.lines().trim_ascii_start().is_empty();
        Ok(())
    };
    let mut offset = 0;
    let mut read = |block: &mut Block| -> anyhow::Result<(AfterBlock, u64)> {
        let begin = offset;
        let after = input.next_block(block);
        let after = after.map_err(|error| named(Error::io("cannot read", error), label))?;
        offset += block.lines().len() as u64;
        Ok((after, begin))
    };
    // One block is no work for two threads, and what comes in pieces is passed on at once.
    let mut block = Block::default();
    let more = loop {
        let (after, begin) = read(&mut block)?;
        if after == AfterBlock::More {
            break begin;
        }
        write(&block, sound_lines(block.lines(), begin))?;
        if after == AfterBlock::End {
            return Ok(());
        }
    };
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
        let mut next = Some((block, AfterBlock::More, more));
        let mut failed = None;
        while let Some((block, after, begin)) = next {
            // Without its receiver, which ends with this function alone, nothing is checked.
            let _ = checkers[sent % checkers.len()].0.send((block, begin));
            sent += 1;
            let allowed = if after == AfterBlock::More {
                2 * checkers.len()
            } else {
                0
            };
            while sent - received > allowed
                && let Ok((block, sound)) = checkers[received % checkers.len()].1.recv()
            {
                received += 1;
                write(&block, sound)?;
                spare.push(block);
            }
            next = match after {
                AfterBlock::End => None,
                _ => {
                    let mut block = spare.pop().unwrap_or_default();
                    match read(&mut block) {
                        Ok((after, begin)) => Some((block, after, begin)),
                        Err(error) => {
                            failed = Some(error);
                            None
                        }
                    }
                }
            };
        }
        // What was read before an error comes before it.
        while received < sent
            && let Ok((block, sound)) = checkers[received % checkers.len()].1.recv()
        {
            received += 1;
            write(&block, sound)?;
        }
        failed.map_or(Ok(()), Err)
    })
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
