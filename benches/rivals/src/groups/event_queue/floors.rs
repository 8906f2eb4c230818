//! The least that a queue of many producers must do: a slot is claimed by one read-modify-write,
//! written by one store, and read by one load. Room for all events is there before the first; no
//! block, no hole, no end.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use super::contenders::Queue;

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

/// The slots' memory is mapped before the round.
pub(super) struct Floor;

impl Queue<u64> for Floor {
    type Sender = Arc<Shared>;
    type Receiver = Receiver;

    fn new() -> (Self::Sender, Self::Receiver) {
        let slots = (0..super::EVENTS).map(|_| AtomicU64::new(0)).collect();
        let queue = Arc::new(Shared {
            tail: CachePadded::new(AtomicUsize::new(0)),
            slots,
        });
        (Arc::clone(&queue), Receiver { queue, head: 0 })
    }

    fn push(sender: &Self::Sender, event: u64) {
        sender.slots[claim(&sender.tail)].store(event + 1, Ordering::Release);
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
