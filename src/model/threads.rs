//! Helpers for running work on several threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Below this many bytes, one core is fast enough and further threads are not worth their start.
const SMALL: usize = 512 << 10;

/// From this many bytes on, there are more chunks, so that few results wait for others.
const LARGE: usize = 32 << 20;

/// Chunks per core, so that a slow chunk does not hold up the others.
const PIECES: usize = 4;

/// Number of threads that can run in parallel.
pub fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Calls `each` for chunks of `0..count`, on all cores if there are enough bytes of work. Results are in chunk order;
/// the number of chunks depends on the machine.
pub fn by_pieces<R: Send>(count: usize, bytes: usize, each: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let threads = match bytes < SMALL {
        true => 1,
        false => cores(),
    };
    if threads <= 1 || count < 2 {
        return vec![each(0..count)];
    }
    let pieces = (threads * PIECES).min(count);
    let ranges: Vec<Range<usize>> = (0..pieces)
        .map(|nth| count * nth / pieces..count * (nth + 1) / pieces)
        .collect();
    in_parallel(threads, &ranges, |range| each(range.clone()))
}

/// Calls `each` for chunks of `0..count` as [`by_pieces`] does, and passes the results to `take` in chunk order, each as
/// soon as it is complete, so that few of them are in memory at once.
pub fn each_piece<R: Send>(
    count: usize,
    bytes: usize,
    each: impl Fn(Range<usize>) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let threads = match bytes < SMALL {
        true => 1,
        false => cores(),
    };
    if threads <= 1 || count < 2 {
        return take(each(0..count));
    }
    let pieces = (threads * PIECES * (1 + bytes / LARGE)).min(count);
    let piece = |nth: usize| each(count * nth / pieces..count * (nth + 1) / pieces);
    let next = &AtomicUsize::new(0);
    let next = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < pieces);
    let (sender, receiver) = channel();
    let work = |sender: Sender<(usize, R)>| {
        while let Some(nth) = next() {
            // The receiver lives until all results are sent.
            let _ = sender.send((nth, piece(nth)));
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(pieces))
            .map(|_| sender.clone())
            .map(|sender| scope.spawn(move || work(sender)))
            .collect();
        drop(sender);
        let (mut early, mut due) = (BTreeMap::new(), 0);
        let mut is_done = false;
        while !is_done {
            let own = next().map(|nth| (nth, piece(nth)));
            is_done = own.is_none();
            early.extend(own);
            loop {
                while let Some(result) = early.remove(&due) {
                    take(result);
                    due += 1;
                }
                let other = match is_done {
                    true => receiver.recv().ok(),
                    false => receiver.try_recv().ok(),
                };
                let Some(other) = other else { break };
                early.extend([other]);
            }
        }
        for other in others {
            other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// Calls `each` for every number in `0..count`, as [`by_pieces`] does; results are in order.
pub fn over_cores<R: Send>(count: usize, bytes: usize, each: impl Fn(usize) -> R + Sync) -> Vec<R> {
    gathered(by_pieces(count, bytes, |range| range.map(&each).collect()))
}

/// Concatenates the chunks; a single one is not copied.
pub fn gathered<R>(pieces: Vec<Vec<R>>) -> Vec<R> {
    let more = pieces.iter().skip(1).map(Vec::len).sum();
    let mut pieces = pieces.into_iter();
    let mut all = pieces.next().unwrap_or_default();
    all.reserve_exact(more);
    pieces.for_each(|mut piece| all.append(&mut piece));
    all
}

/// Calls `each` for every item on this thread and others; results are in item order.
pub fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if threads <= 1 || items.len() < 2 {
        return items.iter().map(each).collect();
    }
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let work = || {
            let mut own = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return own };
                own.push((index, each(item)));
            }
        };
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            let found = other.join();
            results.extend(found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_taken_in_order_whatever_their_number() {
        for (count, bytes) in [
            (0, 0),
            (1, usize::MAX / 2),
            (7, SMALL),
            (1000, SMALL),
            (1000, 0),
            (1000, 3 * LARGE),
        ] {
            let mut taken = Vec::new();
            each_piece(
                count,
                bytes,
                |range| range.collect::<Vec<_>>(),
                |piece| taken.extend(piece),
            );
            assert_eq!(taken, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "the last number")]
    fn a_panic_in_a_piece_ends_the_caller() {
        let each = |range: Range<usize>| assert!(!range.contains(&999), "the last number");
        each_piece(1000, SMALL, each, drop);
    }
}
