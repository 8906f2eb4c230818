//! The least that a queue of many producers must do: a slot is claimed by one read-modify-write,
//! written by one store, and read by one load. Room for all events is there before the first; no
//! block, no hole, no end.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use super::contenders::Queue;

/// The most events that a round may have.
pub(super) const ROOM: usize = 1_000_000;

/// The pause of a consumer that took events, and the longest of a producer that lost.
const PAUSES: u32 = 256;

/// One compare-exchange; after a failed one, a pause, twice as long each time.
fn claim(tail: &AtomicUsize) -> usize {
    let mut pauses = 32;
    let mut at = tail.load(Ordering::Acquire);
    while let Err(now) = tail.compare_exchange_weak(at, at + 1, Ordering::AcqRel, Ordering::Acquire)
    {
        at = now;
        pause(pauses);
        pauses = PAUSES.min(2 * pauses);
    }
    at
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

/// The slots' memory is mapped before the round if it `IS_TOUCHED`, and is used for the first time
/// otherwise, as a backlog's is. A slot is [claimed](claim); or by one fetch-and-add, if it `ADDS`:
/// that never fails, so no producer learns to leave the line to others.
pub(super) struct Floor<const IS_TOUCHED: bool, const ADDS: bool>;

impl<const IS_TOUCHED: bool, const ADDS: bool> Queue<u64> for Floor<IS_TOUCHED, ADDS> {
    type Sender = Arc<Shared>;
    type Receiver = Receiver;

    fn new() -> (Self::Sender, Self::Receiver) {
        // Zeroed memory of this size comes from the system, which maps each page at its first
        // write.
        let zeroes = vec![0_u64; ROOM].into_boxed_slice();
        // SAFETY: an `AtomicU64` is represented as a `u64`.
        let slots = unsafe { Box::from_raw(Box::into_raw(zeroes) as *mut [AtomicU64]) };
        if IS_TOUCHED {
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
        let slot = match ADDS {
            true => sender.tail.fetch_add(1, Ordering::AcqRel),
            false => claim(&sender.tail),
        };
        sender.slots[slot].store(event + 1, Ordering::Release);
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
