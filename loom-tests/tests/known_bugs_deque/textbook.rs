//! The deque of Chase and Lev, and what becomes of it when a thief claims half.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering, fence};
use loom_tests::{Bound, beside};

use super::assert_each_once;

/// The deque of Chase and Lev, with the orderings of Lê and others (`PPoPP` 2013), in a ring that
/// does not grow.
struct ChaseLev {
    top: AtomicU32,
    bottom: AtomicU32,
    slots: [AtomicU32; 4],
}

impl ChaseLev {
    fn with_items(count: u32) -> Self {
        Self {
            top: AtomicU32::new(0),
            bottom: AtomicU32::new(count),
            slots: std::array::from_fn(|item| AtomicU32::new(item as u32)),
        }
    }

    fn slot(&self, index: u32) -> u32 {
        self.slots[index as usize].load(Ordering::Relaxed)
    }

    fn pop(&self) -> Option<u32> {
        let last = self.bottom.load(Ordering::Relaxed).checked_sub(1)?;
        self.bottom.store(last, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let top = self.top.load(Ordering::Relaxed);
        if top < last {
            // More than one item: the textbook owner takes the last without a compare-and-swap.
            return Some(self.slot(last));
        }
        self.bottom.store(last + 1, Ordering::Relaxed);
        let won = top == last && self.claim(top, 1);
        won.then(|| self.slot(last))
    }

    /// Takes `share` of the number of items that the thief sees.
    fn steal(&self, share: impl FnOnce(u32) -> u32) -> Vec<u32> {
        let top = self.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let bottom = self.bottom.load(Ordering::Acquire);
        let count = share(bottom.saturating_sub(top));
        let copies = (top..top + count).map(|index| self.slot(index)).collect();
        if count > 0 && self.claim(top, count) {
            copies
        } else {
            Vec::new()
        }
    }

    fn claim(&self, top: u32, count: u32) -> bool {
        self.top
            .compare_exchange(top, top + count, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

/// Four items. The owner pops them all while a thief takes its share once.
fn textbook(share: fn(u32) -> u32) {
    let deque = Arc::new(ChaseLev::with_items(4));
    let thief = beside(&deque, move |deque| deque.steal(share));
    let own: Vec<_> = std::iter::from_fn(|| deque.pop()).collect();
    assert_each_once(4, own.into_iter().chain(thief.join().unwrap()));
}

/// The thief sees four items and copies items 0 and 1. The owner pops 3, 2 and then 1: `top` is
/// still 0, below 1, so it needs no compare-and-swap. The thief's one from 0 to 2 succeeds: item 1
/// has two takers. Nothing here is reordered, so sequential consistency does not help.
#[test]
fn textbook_half_by_one_cas_hands_an_item_out_twice() {
    Bound::preemptions(3, 1).refute(
        "Chase-Lev whose thief claims half by one CAS",
        "handed out twice",
        || textbook(|count| count / 2),
    );
}

/// The twin: one item per compare-and-swap, as Chase and Lev wrote it.
#[test]
fn textbook_one_by_one_is_sound() {
    Bound::exhaustive(1_300).check("Chase-Lev whose thief claims one item", || {
        textbook(|count| count.min(1));
    });
}
