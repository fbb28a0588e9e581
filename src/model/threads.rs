//! Helpers for running work on several threads.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Below this many bytes, one core is fast enough and further threads are not worth their start.
pub const SMALL: usize = 6 << 20;

/// From this many bytes on, there are more chunks, so that few results wait for others.
const LARGE: usize = 32 << 20;

/// Chunks per core, so that a slow chunk does not hold up the others.
const PIECES: usize = 4;

/// The bytes of a chunk from which there are several per core: each one begins without any known words.
const PIECE: usize = 1 << 20;

/// Number of threads that can run in parallel.
pub fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

/// Calls `each` for chunks of `0..count`, on as many cores as there is work for, and passes the results to
/// `take` in chunk order, each as soon as it is complete, so that few of them are in memory at once. The number of chunks
/// depends on the machine.
pub fn each_piece<R: Send>(
    count: usize,
    bytes: usize,
    each: impl Fn(Range<usize>) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let threads = if bytes < SMALL {
        1
    } else {
        cores().min(bytes / PIECE)
    };
    if threads <= 1 || count < 2 {
        return take(each(0..count));
    }
    let for_each = (bytes / threads / PIECE).clamp(1, PIECES) * (1 + bytes / LARGE);
    let pieces = (threads * for_each).min(count);
    let piece = |nth: usize| each(count * nth / pieces..count * (nth + 1) / pieces);
    let Ok(()) = each_result(pieces, threads, Taking::BetweenWork, piece, |_, result| {
        take(result);
        Ok::<(), Infallible>(())
    });
}

/// Calls `each` for every number in `0..count`, as [`each_piece`] does; results are in order.
pub fn over_cores<R: Send>(count: usize, bytes: usize, each: impl Fn(usize) -> R + Sync) -> Vec<R> {
    gathered(count, bytes, |range| range.map(&each).collect())
}

/// Concatenates the results of [`each_piece`]; a single one is not copied.
pub fn gathered<R: Send>(count: usize, bytes: usize, each: impl Fn(Range<usize>) -> Vec<R> + Sync) -> Vec<R> {
    let mut all = Vec::new();
    let piece = |range: Range<usize>| (range.len(), each(range));
    each_piece(count, bytes, piece, |(of, mut piece)| {
        if all.is_empty() {
            all = piece;
            // Reserved memory that is not used costs nothing; moving a large list does.
            let more = count - of;
            all.reserve_exact(all.len() * more / of.max(1) + more / 8);
        } else {
            all.append(&mut piece);
        }
    });
    all
}

/// Calls `each` for every item on this thread and others; results are in item order.
pub fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if threads <= 1 || items.len() < 2 {
        return items.iter().map(each).collect();
    }
    let mut results = Vec::with_capacity(items.len());
    let each = |nth: usize| each(&items[nth]);
    let Ok(()) = each_result(items.len(), threads, Taking::BetweenWork, each, |_, result| {
        results.push(result);
        Ok::<(), Infallible>(())
    });
    results
}

/// When [`each_result`] takes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// In order, between two calls of `each`: the calling thread works too.
    BetweenWork,
    /// In order, each as soon as possible: the calling thread only takes results.
    InOrder,
    /// Like `InOrder`, but in the order in which they become available.
    AsCompleted,
}

/// Calls `each` for every number in `0..count` on several threads, and passes each number with its result to `take` on the
/// calling thread. An error of `take` stops the work.
pub fn each_result<R: Send, E>(
    count: usize,
    threads: usize,
    taking: Taking,
    each: impl Fn(usize) -> R + Sync,
    mut take: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).try_for_each(|nth| take(nth, each(nth)));
    }
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let result = |nth: usize| results[nth].lock().unwrap_or_else(PoisonError::into_inner);
    let mut done = Ok(());
    let each = |nth: usize| {
        let made = each(nth);
        *result(nth) = Some(made);
    };
    each_number(count, threads, taking, &each, &mut |nth| {
        let taken = result(nth).take();
        done = taken.map_or(Ok(()), |taken| take(nth, taken));
        done.is_ok()
    });
    done
}

/// Calls `each` and `take` as [`each_result`] does, until `take` returns `false`. Does not depend on the type of the
/// results, so that the compiler translates it once.
fn each_number(
    count: usize,
    threads: usize,
    taking: Taking,
    each: &(dyn Fn(usize) + Sync),
    take: &mut dyn FnMut(usize) -> bool,
) {
    let works = taking == Taking::BetweenWork;
    let next = &AtomicUsize::new(0);
    let next = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < count);
    let (sender, receiver) = channel();
    let work = |sender: Sender<usize>| {
        while let Some(nth) = next() {
            each(nth);
            // After an error, nothing receives results.
            if sender.send(nth).is_err() {
                return;
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let receiver = receiver; // Dropped after an error, which ends the other threads.
        let others: Vec<_> = std::iter::repeat_n(sender, threads - usize::from(works))
            .map(|sender| scope.spawn(move || work(sender)))
            .collect();
        let (mut early, mut due) = (BTreeSet::new(), 0);
        let mut is_done = false;
        while !is_done {
            let own = works.then(next).flatten().inspect(|nth| each(*nth));
            is_done = own.is_none();
            early.extend(own);
            loop {
                while let Some(nth) = early.first().copied()
                    && (taking == Taking::AsCompleted || nth == due)
                {
                    early.remove(&nth);
                    if !take(nth) {
                        return;
                    }
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

    #[test]
    fn results_come_in_order_and_an_error_ends_the_work() {
        let slow = |nth: usize| {
            if nth.is_multiple_of(50) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            nth * 2
        };
        let mut found = Vec::new();
        let done = each_result(500, 4, Taking::InOrder, slow, |_, result| {
            found.push(result);
            Ok::<(), ()>(())
        });
        assert_eq!(
            (done, found),
            (Ok(()), (0..500).map(|nth| nth * 2).collect::<Vec<_>>())
        );
        for taking in [Taking::AsCompleted, Taking::BetweenWork] {
            let mut count = 0;
            let ended = each_result(500, 4, taking, slow, |_, _| {
                count += 1;
                if count == 3 { Err("enough") } else { Ok(()) }
            });
            assert_eq!((ended, count), (Err("enough"), 3));
        }
    }

    #[test]
    fn each_number_is_completed_once_and_a_panic_reaches_the_caller() {
        for taking in [Taking::AsCompleted, Taking::BetweenWork, Taking::InOrder] {
            let mut found = vec![0; 300];
            let done = each_result(
                300,
                4,
                taking,
                |nth| nth,
                |nth, result| {
                    found[result] += usize::from(nth == result);
                    Ok::<(), ()>(())
                },
            );
            assert_eq!((done, found), (Ok(()), vec![1; 300]));
            let panics = || {
                let each = |nth: usize| assert!(nth != 250, "one number");
                each_result(300, 4, taking, each, |_, ()| Ok::<(), ()>(()))
            };
            assert!(std::panic::catch_unwind(panics).is_err(), "{taking:?}");
        }
    }
}
