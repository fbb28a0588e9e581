//! Copies a file of records in blocks of lines, which a second thread checks while this one reads and writes.

use super::copy_records;
use crate::context::Context;
use crate::errors::named;
use convo::error::{Error, Position};
use convo::filter::materialize::LineWriter;
use convo::format::lines::{AfterBlock, Block, BlockReader};
use convo::format::native::{NativeReader, sound_lines};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Blocks that are being checked while another one is read.
const AHEAD: usize = 3;

/// Copies the lines of an input unchanged, and reports damage.
pub fn copy(
    context: &Context,
    label: &str,
    strict: bool,
    input: &mut dyn BlockReader,
    lines: &mut LineWriter<'_>,
) -> anyhow::Result<()> {
    let mut place = Position { line: 0, offset: 0 };
    let mut write = |block: &Block, sound: Option<u64>| -> anyhow::Result<()> {
        match sound {
            Some(_) => lines.write(block.lines())?,
            None => {
                let mut reader = NativeReader::of_block(block.lines(), place);
                copy_records(context, label, strict, &mut reader, lines)?;
            }
        }
        place.line += sound.unwrap_or_else(|| memchr::memchr_iter(b'\n', block.lines()).count() as u64);
        place.offset += block.lines().len() as u64;
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
        let (to_check, blocks) = channel();
        let (results, checked) = channel();
        scope.spawn(move || check(&blocks, &results));
        let mut spare = Vec::new();
        let (mut waiting, mut next) = (0, Some((block, AfterBlock::More, more)));
        let mut failed = None;
        while let Some((block, after, begin)) = next {
            // Without its receiver, which ends with this function alone, nothing is checked.
            let _ = to_check.send((block, begin));
            waiting += 1;
            let allowed = if after == AfterBlock::More { AHEAD } else { 0 };
            while waiting > allowed {
                let Ok((block, sound)) = checked.recv() else { break };
                write(&block, sound)?;
                spare.push(block);
                waiting -= 1;
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
        while waiting > 0
            && let Ok((block, sound)) = checked.recv()
        {
            write(&block, sound)?;
            waiting -= 1;
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
