//! Lazy greedy selection: repeatedly takes the offer with the greatest gain per token, for gains that only decrease.
//! Offers are bucketed by their last known density; only the best bucket is sorted, and an offer that decreased moves
//! to its new bucket. The result equals that of comparing all offers in each step.

use crate::model::threads::{self, gathered};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::hint::black_box;

/// An offer of one candidate.
#[derive(Clone, Copy, Debug)]
pub struct GreedyOffer {
    gain: u128,
    /// Its cost in tokens.
    pub tokens: u64,
    /// Approximate gain per token.
    density: f64,
    /// The candidate.
    pub of: u32,
    /// The amount of the candidate.
    pub to: u32,
}

/// Relative difference above which two densities certainly differ: each is within a few roundings of the exact value,
/// and a rounding is 2^-53.
const SURE: f64 = 1e-14;

/// Low bits of a density that a bucket ignores: a bucket spans a sixteenth of its lower bound.
const BELOW: u32 = 48;

/// Number of candidates whose memory is prefetched together.
const TOUCHED: usize = 16;

/// Number of candidates that are evaluated together, over all cores.
const EVALUATED: usize = 1 << 15;

/// The work of an offer for [`gathered`], in bytes: with 2,000 offers, further threads are worth their start.
const OFFER_BYTES: usize = if cfg!(test) { threads::SMALL } else { 3000 };

impl GreedyOffer {
    /// Creates an offer with a gain and a cost; a cost of 0 counts as 1.
    pub fn new((of, to): (usize, usize), gain: u128, tokens: u64) -> GreedyOffer {
        let tokens = tokens.max(1);
        GreedyOffer {
            gain,
            tokens,
            density: gain as f64 / tokens as f64,
            of: of as u32,
            to: to as u32,
        }
    }

    /// The bucket: any offer of a lower bucket is worth less than all offers at or above this one's lower bound.
    fn class(&self) -> u64 {
        (self.density * (1.0 + 2.0 * SURE)).to_bits() >> BELOW
    }
}

impl Ord for GreedyOffer {
    fn cmp(&self, other: &GreedyOffer) -> Ordering {
        // Avoid 128-bit multiplication, which would dominate the running time.
        if (self.density - other.density).abs() > self.density * SURE
            && let Some(order) = self.density.partial_cmp(&other.density)
        {
            return order;
        }
        let own = self.gain.saturating_mul(other.tokens.into());
        let others = other.gain.saturating_mul(self.tokens.into());
        // On ties prefer the earlier candidate and the smaller amount.
        own.cmp(&others)
            .then(other.of.cmp(&self.of))
            .then(other.to.cmp(&self.to))
    }
}

impl PartialOrd for GreedyOffer {
    fn partial_cmp(&self, other: &GreedyOffer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for GreedyOffer {
    fn eq(&self, other: &GreedyOffer) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for GreedyOffer {}

/// The candidates.
pub trait OfferSource: Sync {
    /// Reads the memory that an offer needs: many independent reads take the time of one.
    fn touch(&self, of: usize) -> u32;
    /// The current offer of a candidate; none when it cannot offer. Those of different candidates are computed at the same
    /// time; no candidate may be queued twice.
    fn offer(&self, of: usize) -> Option<GreedyOffer>;
    /// Takes an offer; returns whether more are possible.
    fn take(&mut self, offer: GreedyOffer) -> bool;
    /// Whether a candidate without an offer may have one when there is more room.
    fn is_postponed(&self, _of: usize) -> bool {
        false
    }
}

/// Candidates by the bucket of their last known offer, the highest bucket first.
#[derive(Default)]
struct Classes {
    /// The number of the first bucket.
    highest: u64,
    /// Further ones, each by one lower.
    buckets: VecDeque<Vec<u32>>,
    /// The number of candidates.
    len: usize,
}

impl Classes {
    fn push(&mut self, offer: &GreedyOffer) {
        self.push_into(offer.class(), offer.of);
    }

    fn push_into(&mut self, class: u64, of: u32) {
        if self.buckets.is_empty() {
            self.highest = class;
        }
        while self.highest < class {
            self.buckets.push_front(Vec::new());
            self.highest += 1;
        }
        let nth = (self.highest - class) as usize;
        if self.buckets.len() <= nth {
            self.buckets.resize_with(nth + 1, Vec::new);
        }
        self.buckets[nth].push(of);
        self.len += 1;
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes the highest bucket with candidates.
    fn pop_highest(&mut self) -> Option<(u64, Vec<u32>)> {
        while let Some(bucket) = self.buckets.pop_front() {
            let class = self.highest;
            self.highest = class.saturating_sub(1);
            if !bucket.is_empty() {
                self.len -= bucket.len();
                return Some((class, bucket));
            }
        }
        None
    }
}

/// Takes the best offers of these candidates until there are none.
pub fn take_best(from: &mut impl OfferSource, things: impl Iterator<Item = usize>) {
    GreedyQueue::of(from, things).take_best(from);
}

/// The candidates of a selection that continues when there is more room. Their last offers are known, so that it does
/// not begin again.
#[derive(Default)]
pub struct GreedyQueue {
    waiting: Classes,
    postponed: Classes,
}

impl GreedyQueue {
    /// Asks for the first offers of these candidates.
    pub fn of(from: &impl OfferSource, things: impl Iterator<Item = usize>) -> GreedyQueue {
        let mut queue = GreedyQueue::default();
        for offer in things.filter_map(|of| from.offer(of)) {
            queue.waiting.push(&offer);
        }
        queue
    }

    /// Takes the best offers until there are none.
    pub fn take_best(&mut self, from: &mut impl OfferSource) {
        while let Some((class, postponed)) = self.postponed.pop_highest() {
            postponed
                .into_iter()
                .for_each(|of| self.waiting.push_into(class, of));
        }
        let mut heap: BinaryHeap<GreedyOffer> = BinaryHeap::new();
        while let Some((class, waiting)) = self.waiting.pop_highest() {
            let begins = f64::from_bits(class << BELOW);
            for some in waiting.chunks(EVALUATED) {
                for (of, offer) in some.iter().zip(current_offers(from, some)) {
                    match offer {
                        Some(offer) if offer.class() >= class => heap.push(offer),
                        Some(offer) => self.waiting.push(&offer),
                        None => self.postpone(from, *of, class),
                    }
                }
            }
            while let Some(best) = heap.peek().copied() {
                // Below the lower bound, an offer of a lower bucket may be worth as much.
                if best.density < begins && !self.waiting.is_empty() {
                    break;
                }
                let now = self.offer(from, best.of, best.class());
                if let Some(now) = now.filter(|now| *now < best && now.class() >= class) {
                    heap.peek_mut().into_iter().for_each(|mut top| *top = now);
                    continue;
                }
                heap.pop();
                match now {
                    None => {}
                    Some(now) if now < best => self.waiting.push(&now),
                    Some(now) => {
                        if !from.take(now) {
                            heap.iter().for_each(|offer| self.waiting.push(offer));
                            return;
                        }
                        heap.extend(self.offer(from, now.of, class));
                    }
                }
            }
        }
    }

    /// The current offer of a candidate whose last one was of this class.
    fn offer(&mut self, from: &impl OfferSource, of: u32, class: u64) -> Option<GreedyOffer> {
        let offer = from.offer(of as usize);
        if offer.is_none() {
            self.postpone(from, of, class);
        }
        offer
    }

    /// Keeps a candidate without an offer if it may have one later.
    fn postpone(&mut self, from: &impl OfferSource, of: u32, class: u64) {
        if from.is_postponed(of as usize) {
            self.postponed.push_into(class, of);
        }
    }
}

/// The current offers of these candidates.
fn current_offers(from: &impl OfferSource, candidates: &[u32]) -> Vec<Option<GreedyOffer>> {
    gathered(candidates.len(), candidates.len() * OFFER_BYTES, |range| {
        let mut offers = Vec::with_capacity(range.len());
        for some in candidates[range].chunks(TOUCHED) {
            black_box(some.iter().fold(0, |read, of| read ^ from.touch(*of as usize)));
            offers.extend(some.iter().map(|of| from.offer(*of as usize)));
        }
        offers
    })
}
