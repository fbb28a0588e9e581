//! Byte pair merging: the number of tokens of a piece that is not a token itself.

use super::table::{NONE, RankTable};
use super::word_cache;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pieces up to this size are merged in arrays, longer ones in a heap. There are two array sizes, because most pieces
/// are small.
const SMALL: usize = BLOCK;
const MIDDLE: usize = 8 * BLOCK;

/// Number of pairs that are compared in parallel.
const BLOCK: usize = 16;

/// Maximum bytes that are merged at once; longer pieces are split. Offsets must fit into 32 bits.
const MAXIMUM: usize = 1 << 30;

/// Tokens of the piece of a text between two offsets: repeatedly merges the adjacent pair with the lowest rank, the
/// leftmost first, until no pair is a token.
#[inline(always)]
pub fn tokens(table: &RankTable, text: &[u8], from: usize, to: usize) -> u64 {
    if table.rank(text, from, to) != NONE {
        return 1;
    }
    match to - from {
        length @ 0..=2 => length as u64,
        3..=SMALL => word_cache::tokens(table, text, from, to, || in_blocks::<1>(table, text, from, to)),
        17..=MIDDLE => in_blocks::<8>(table, text, from, to),
        _ => text[from..to]
            .chunks(MAXIMUM)
            .map(|piece| in_heap(table, piece))
            .sum(),
    }
}

/// No pair, in blocks.
const NOTHING: i32 = i32::MAX;

/// Bits of an offset in a piece that is merged in blocks.
const PLACE: u32 = MIDDLE.ilog2();

/// A pair as one number: the minimum is the leftmost of the lowest rank.
#[inline(always)]
fn number(rank: u32, at: usize) -> i32 {
    if rank == NONE {
        NOTHING
    } else {
        (rank << PLACE | at as u32) as i32
    }
}

#[inline(always)]
fn minimum(block: &[i32; BLOCK]) -> i32 {
    block.iter().fold(NOTHING, |least, pair| least.min(*pair))
}

/// Merges with pairs in blocks, indexed by their first byte, and the minimum of each block.
fn in_blocks<const BLOCKS: usize>(table: &RankTable, text: &[u8], from: usize, to: usize) -> u64 {
    let mut pairs = [[NOTHING; BLOCK]; BLOCKS];
    let mut leasts = [NOTHING; BLOCKS];
    // The end of the token that starts here, and the start of the previous one.
    let (mut ends, mut befores) = ([[0u8; BLOCK]; BLOCKS], [[0u8; BLOCK]; BLOCKS]);
    let (ends, befores) = (ends.as_flattened_mut(), befores.as_flattened_mut());
    let length = to - from;
    for at in 0..length {
        ends[at] = at as u8 + 1;
        befores[at] = (at as u8).saturating_sub(1);
    }
    for (at, two) in text[from..to].windows(2).enumerate() {
        pairs[at / BLOCK][at % BLOCK] = number(table.pair(two[0], two[1]), at);
    }
    for (block, least_of) in pairs.iter().zip(&mut leasts) {
        *least_of = minimum(block);
    }
    let mut count = length as u64;
    loop {
        let least_of_all = leasts.iter().fold(NOTHING, |least, one| least.min(*one));
        if least_of_all == NOTHING {
            return count;
        }
        count -= 1;
        let at = least_of_all as usize & (MIDDLE - 1);
        let next = usize::from(ends[at]);
        let end = usize::from(ends[next]);
        ends[at] = end as u8;
        pairs[next / BLOCK][next % BLOCK] = NOTHING;
        pairs[at / BLOCK][at % BLOCK] = if end < length {
            befores[end] = at as u8;
            number(table.rank(text, from + at, from + usize::from(ends[end])), at)
        } else {
            NOTHING
        };
        let before = usize::from(befores[at]);
        if at > 0 {
            pairs[before / BLOCK][before % BLOCK] =
                number(table.rank(text, from + before, from + end), before);
        }
        for block in before / BLOCK..=next / BLOCK {
            leasts[block] = minimum(&pairs[block]);
        }
    }
}

/// A token of a long piece, indexed by its first byte.
struct MergeLink {
    /// Start of the previous token; its own start for the first.
    before: u32,
    /// Its end, which is the start of the next.
    end: u32,
    /// Rank of the pair of it and the next.
    rank: u32,
}

/// Merges with a linked list of tokens and a heap of pairs; outdated pairs are skipped when popped.
fn in_heap(table: &RankTable, piece: &[u8]) -> u64 {
    let mut count = piece.len() as u64;
    let mut heap = BinaryHeap::new();
    let mut links: Vec<MergeLink> = (0..piece.len() as u32)
        .map(|at| MergeLink {
            before: at.saturating_sub(1),
            end: at + 1,
            rank: NONE,
        })
        .collect();
    let pair = |links: &[MergeLink], at: u32| {
        let end = links[at as usize].end as usize;
        links
            .get(end)
            .map_or(NONE, |next| table.rank(piece, at as usize, next.end as usize))
    };
    let mut first = Vec::new();
    for at in 0..links.len() as u32 {
        let rank = pair(&links, at);
        links[at as usize].rank = rank;
        if rank != NONE {
            first.push(Reverse((rank, at)));
        }
    }
    heap.extend(first);
    while let Some(Reverse((rank, at))) = heap.pop() {
        if links[at as usize].rank != rank {
            continue;
        }
        count -= 1;
        let next = links[at as usize].end as usize;
        let end = links[next].end;
        links[next].rank = NONE;
        links[at as usize].end = end;
        if let Some(after) = links.get_mut(end as usize) {
            after.before = at;
        }
        let before = links[at as usize].before;
        let changed = if before == at { &[at][..] } else { &[at, before] };
        for &at in changed {
            let rank = pair(&links, at);
            links[at as usize].rank = rank;
            if rank != NONE {
                heap.push(Reverse((rank, at)));
            }
        }
    }
    count
}
