//! Work on many things at once.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes below which one core is quick enough, and what each thread takes of memory is more than it is worth.
const SMALL: usize = 6 << 20;

/// Pieces for each core, so that one whose piece takes long does not keep the others waiting.
const PIECES: usize = 4;

/// How many things can be done at once.
pub fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Does something with each piece of `0..count`, on all cores where so many bytes of work are worth it. The results are in the order
/// of the pieces; how many there are depends on the machine.
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

/// Does something with each of `0..count`, as [`by_pieces`] does; the results are in order.
pub fn over_cores<R: Send>(count: usize, bytes: usize, each: impl Fn(usize) -> R + Sync) -> Vec<R> {
    gathered(by_pieces(count, bytes, |range| range.map(&each).collect()))
}

/// The pieces, one after the other; a single one is not copied.
pub fn gathered<R>(pieces: Vec<Vec<R>>) -> Vec<R> {
    let more = pieces.iter().skip(1).map(Vec::len).sum();
    let mut pieces = pieces.into_iter();
    let mut all = pieces.next().unwrap_or_default();
    all.reserve_exact(more);
    pieces.for_each(|mut piece| all.append(&mut piece));
    all
}

/// Does the same with every item on several threads; the results are in the order of the items.
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
        let workers: Vec<_> = (0..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
