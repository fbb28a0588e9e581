//! Helpers for running work on several threads.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Below this many bytes, one core is fast enough and further threads are not worth their start.
const SMALL: usize = 6 << 20;

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
