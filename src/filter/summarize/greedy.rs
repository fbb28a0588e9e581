//! Again and again the offer that gains most for its tokens, of many whose gains only fall. Offers wait in classes of
//! what they gained when they were looked at last; only the best class is in order, and what has fallen meanwhile
//! goes to the class where it belongs by then. The choice is that of looking at all of them each time.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::hint::black_box;

/// What one of the things that are chosen from offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    gain: u128,
    /// What it costs.
    pub tokens: u64,
    /// Gain by tokens, as near as a number with a point comes to it.
    density: f64,
    /// The thing.
    pub of: u32,
    /// How much of it.
    pub to: u32,
}

/// Two densities that differ by more than this share of one of them differ in truth: each is a few roundings away from it, and a
/// rounding is a 2^-53rd.
const SURE: f64 = 1e-14;

/// Bits of a density that are below its class: a class spans a sixteenth of what it begins with.
const BELOW: u32 = 48;

/// Things whose memory is read at once.
const TOUCHED: usize = 16;

impl Offer {
    /// So much of a thing, for this gain and so many tokens; no tokens count as one.
    pub fn new((of, to): (usize, usize), gain: u128, tokens: u64) -> Offer {
        let tokens = tokens.max(1);
        Offer {
            gain,
            tokens,
            density: gain as f64 / tokens as f64,
            of: of as u32,
            to: to as u32,
        }
    }

    /// Its class: whatever is in a lower one is worth less than all that reaches the beginning of this.
    fn class(&self) -> u64 {
        (self.density * (1.0 + 2.0 * SURE)).to_bits() >> BELOW
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> Ordering {
        // Multiplying numbers of 128 bits is what a choice would spend its time with.
        if (self.density - other.density).abs() > self.density * SURE
            && let Some(order) = self.density.partial_cmp(&other.density)
        {
            return order;
        }
        let own = self.gain.saturating_mul(other.tokens.into());
        let others = other.gain.saturating_mul(self.tokens.into());
        // Of equals the earlier thing, and less of it.
        own.cmp(&others)
            .then(other.of.cmp(&self.of))
            .then(other.to.cmp(&self.to))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Offer) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

/// The candidates.
pub trait Offers {
    /// Reads what an offer of a thing looks at: memory answers many such reads in the time of one.
    fn touch(&self, of: usize) -> u32;
    /// What a thing offers by now; none when it never will offer anything again.
    fn offer(&mut self, of: usize) -> Option<Offer>;
    /// Takes an offer; whether there may be more.
    fn take(&mut self, offer: Offer) -> bool;
}

/// What terms are worth together, of which the first `left` are worth anything; those that no longer are go behind them.
pub fn sum(terms: &mut [u32], left: &mut u32, worth: &[u64]) -> u64 {
    let terms = &mut terms[..*left as usize];
    let (mut sum, mut kept) = (0, 0);
    for term in &*terms {
        let now = worth[*term as usize];
        sum += now;
        kept += u32::from(now > 0);
    }
    if kept < *left {
        *left = kept;
        let mut end = 0;
        for nth in 0..terms.len() {
            terms.swap(end, nth);
            end += usize::from(worth[terms[end] as usize] > 0);
        }
    }
    sum
}

/// Takes offers of these things, the best first, until there are none.
pub fn take_best(from: &mut impl Offers, things: impl Iterator<Item = usize>) {
    let mut classes: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for offer in things.filter_map(|of| from.offer(of)) {
        classes.entry(offer.class()).or_default().push(offer.of);
    }
    let mut heap: BinaryHeap<Offer> = BinaryHeap::new();
    while let Some((class, waiting)) = classes.pop_last() {
        let begins = f64::from_bits(class << BELOW);
        for some in waiting.chunks(TOUCHED) {
            black_box(some.iter().fold(0, |read, of| read ^ from.touch(*of as usize)));
            for offer in some.iter().filter_map(|of| from.offer(*of as usize)) {
                match offer.class() >= class {
                    true => heap.push(offer),
                    false => classes.entry(offer.class()).or_default().push(offer.of),
                }
            }
        }
        while let Some(best) = heap.peek().copied() {
            // Of what begins below, something in a lower class may be worth as much.
            if best.density < begins && !classes.is_empty() {
                break;
            }
            let now = from.offer(best.of as usize);
            if let Some(now) = now.filter(|now| *now < best && now.class() >= class) {
                heap.peek_mut().into_iter().for_each(|mut top| *top = now);
                continue;
            }
            heap.pop();
            match now {
                None => {}
                Some(now) if now < best => classes.entry(now.class()).or_default().push(now.of),
                Some(now) => {
                    if !from.take(now) {
                        return;
                    }
                    heap.extend(from.offer(now.of as usize));
                }
            }
        }
    }
}
