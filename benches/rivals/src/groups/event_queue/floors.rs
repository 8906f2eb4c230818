//! The least that a queue of many producers must do: a slot is claimed by one read-modify-write,
//! written by one store, and read by one load. Room for all events is there before the first; no
//! block, no hole, no end.

use std::hint;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use super::contenders::Queue;

/// How many events a round may have.
pub(super) const ROOM: usize = 1_000_000;

/// The pause of a consumer that took events, and the longest of a producer that lost.
const PAUSES: u32 = 256;

/// How the floors differ.
pub(super) trait Kind: 'static {
    /// Whether the slots' memory is mapped before the round.
    const TOUCHED: bool;
    fn claim(tail: &AtomicUsize) -> usize;
}

/// One compare-exchange; after a failed one, a pause, twice as long each time.
pub(super) struct Claim;

impl Kind for Claim {
    const TOUCHED: bool = true;

    fn claim(tail: &AtomicUsize) -> usize {
        let mut pauses = 32;
        let mut at = tail.load(Ordering::Acquire);
        while let Err(now) =
            tail.compare_exchange_weak(at, at + 1, Ordering::AcqRel, Ordering::Acquire)
        {
            at = now;
            pause(pauses);
            pauses = PAUSES.min(2 * pauses);
        }
        at
    }
}

/// The same, in memory that is used for the first time, as a backlog's is.
pub(super) struct Fresh;

impl Kind for Fresh {
    const TOUCHED: bool = false;

    fn claim(tail: &AtomicUsize) -> usize {
        Claim::claim(tail)
    }
}

/// One fetch-and-add: it never fails, so no producer learns to leave the line to others.
pub(super) struct Add;

impl Kind for Add {
    const TOUCHED: bool = true;

    fn claim(tail: &AtomicUsize) -> usize {
        tail.fetch_add(1, Ordering::AcqRel)
    }
}

fn pause(times: u32) {
    (0..times).for_each(|_| hint::spin_loop());
}

pub(super) struct Shared {
    tail: CachePadded<AtomicUsize>,
    /// An event plus 1; 0 while there is none.
    slots: Box<[AtomicU64]>,
}

pub(super) struct Receiver {
    queue: Arc<Shared>,
    head: usize,
}

pub(super) struct Floor<K>(PhantomData<K>);

impl<K: Kind> Queue<u64> for Floor<K> {
    type Sender = Arc<Shared>;
    type Receiver = Receiver;

    fn new() -> (Self::Sender, Self::Receiver) {
        // Zeroed memory of this size comes from the system, which maps each page at its first
        // write.
        let zeroes = vec![0_u64; ROOM].into_boxed_slice();
        // SAFETY: an `AtomicU64` is represented as a `u64`.
        let slots = unsafe { Box::from_raw(Box::into_raw(zeroes) as *mut [AtomicU64]) };
        if K::TOUCHED {
            slots
                .iter()
                .for_each(|slot| slot.store(0, Ordering::Relaxed));
        }
        let queue = Arc::new(Shared {
            tail: CachePadded::new(AtomicUsize::new(0)),
            slots,
        });
        (Arc::clone(&queue), Receiver { queue, head: 0 })
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.slots[K::claim(&sender.tail)].store(event + 1, Ordering::Release);
    }

    fn pop(receiver: &mut Self::Receiver) -> Option<u64> {
        let full = receiver
            .queue
            .slots
            .get(receiver.head)?
            .load(Ordering::Acquire);
        let event = full.checked_sub(1)?;
        receiver.head += 1;
        Some(event)
    }

    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(u64)) -> u64 {
        let before = receiver.head;
        while let Some(event) = Self::pop(receiver) {
            sink(event);
        }
        let taken = receiver.head - before;
        if taken > 0 {
            pause(PAUSES);
        }
        taken as u64
    }
}
