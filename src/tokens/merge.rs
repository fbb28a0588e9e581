//! Byte pairs: how many tokens a piece has that is no token itself.

use super::table::Table;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Up to this many bytes looking through all pairs for the lowest rank is quicker than keeping them in a heap.
const SHORT: usize = 48;

/// Bytes that are merged at once; what is longer is cut. Places must fit 32 bits with room to spare.
const MOST: usize = 1 << 30;

/// No rank: the pair is no token.
const NONE: u32 = u32::MAX;

/// Tokens of a piece: the pair of neighbours with the lowest rank becomes one, the leftmost first, until none of
/// them is a token.
pub fn tokens(table: &Table, piece: &[u8]) -> u64 {
    if table.rank(piece).is_some() {
        return 1;
    }
    match piece.len() {
        0..=2 => piece.len() as u64,
        3..=SHORT => short(table, piece),
        _ => piece.chunks(MOST).map(|part| long(table, part)).sum(),
    }
}

fn rank(table: &Table, bytes: &[u8]) -> u32 {
    table.rank(bytes).unwrap_or(NONE)
}

/// Neighbours in two arrays, from which what was merged is taken out.
fn short(table: &Table, piece: &[u8]) -> u64 {
    // Where each token begins; rank of the pair of it and the next.
    let mut begins = [0u8; SHORT + 1];
    let mut ranks = [NONE; SHORT + 1];
    let mut count = piece.len();
    for at in 0..=count {
        begins[at] = at as u8;
    }
    for at in 0..count - 1 {
        ranks[at] = rank(table, &piece[at..at + 2]);
    }
    loop {
        let mut least = (NONE, 0);
        for (at, &rank) in ranks[..count - 1].iter().enumerate() {
            if rank < least.0 {
                least = (rank, at);
            }
        }
        let (rank_here, at) = least;
        if rank_here == NONE {
            return count as u64;
        }
        begins.copy_within(at + 2..=count, at + 1);
        ranks.copy_within(at + 2..count, at + 1);
        count -= 1;
        if count == 1 {
            return 1;
        }
        let pair = |at: usize| {
            rank(
                table,
                &piece[usize::from(begins[at])..usize::from(begins[at + 2])],
            )
        };
        ranks[at] = if at + 1 < count { pair(at) } else { NONE };
        if at > 0 {
            ranks[at - 1] = pair(at - 1);
        }
    }
}

/// A token of a long piece, under the place of its first byte.
struct Link {
    /// Where the token before it begins; its own place for the first.
    before: u32,
    /// Where it ends, which is where the next begins.
    end: u32,
    /// Rank of the pair of it and the next.
    rank: u32,
}

/// Neighbours as a chain, pairs in a heap; pairs that are no more are passed over when their turn comes.
fn long(table: &Table, piece: &[u8]) -> u64 {
    let mut count = piece.len() as u64;
    let mut heap = BinaryHeap::new();
    let mut links: Vec<Link> = (0..piece.len() as u32)
        .map(|at| Link {
            before: at.saturating_sub(1),
            end: at + 1,
            rank: NONE,
        })
        .collect();
    let pair = |links: &[Link], at: u32| {
        let end = links[at as usize].end as usize;
        links
            .get(end)
            .map_or(NONE, |next| rank(table, &piece[at as usize..next.end as usize]))
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
        if let Some(behind) = links.get_mut(end as usize) {
            behind.before = at;
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
