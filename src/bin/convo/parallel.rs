//! Processes many items on several threads, and uses the results in order as they become available.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Applies a function to every item on several threads, and passes each result to `each` on the calling thread: in the
/// order of the items, or with `ordered` false as they become available. An error of `each` stops the work.
pub fn each_result<T: Sync, R: Send>(
    items: &[T],
    ordered: bool,
    work: impl Fn(&T) -> R + Sync,
    mut each: impl FnMut(&T, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len());
    if threads <= 1 {
        return items.iter().try_for_each(|item| each(item, work(item)));
    }
    let next = AtomicUsize::new(0);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, ended, work) = (&next, &ended, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index).filter(|_| !ended.load(Ordering::Relaxed)) else {
                        return;
                    };
                    if sender.send((index, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        let mut done = Ok(());
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(index) = waiting
                .keys()
                .next()
                .copied()
                .filter(|index| !ordered || *index == due)
            {
                let Some(result) = waiting.remove(&index) else {
                    break;
                };
                due += 1;
                done = each(&items[index], result);
                if done.is_err() {
                    ended.store(true, Ordering::Relaxed);
                    return done;
                }
            }
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_an_error_ends_the_work() {
        let items: Vec<u64> = (0..500).collect();
        let slow = |item: &u64| {
            if item.is_multiple_of(50) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            item * 2
        };
        let mut found = Vec::new();
        each_result(&items, true, slow, |_, result| {
            found.push(result);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, (0..500).map(|item| item * 2).collect::<Vec<_>>());
        let mut count = 0;
        let ended = each_result(&items, false, slow, |_, _| {
            count += 1;
            if count == 3 {
                anyhow::bail!("enough")
            } else {
                Ok(())
            }
        });
        assert!(ended.is_err() && count == 3);
    }
}
