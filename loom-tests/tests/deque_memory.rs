//! The deque's memory: a thief that stops in the middle of a steal keeps one ring alive, and not
//! one more each time that the ring comes full circle. Every ring is freed once.
//!
//! loom does not see plain allocations, so the allocator counts the rings. Their slots are aligned
//! to 512 bytes, and nothing else is. loom runs a model's threads on one thread of the process, so
//! the counts are thread-local, one set per model.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use filch_deque::{Request, Worker};
use filch_models::Bound;
use filch_sync::{Arc, thread};

/// An item that gives the slots their alignment.
#[repr(align(512))]
struct Wide(u32);

/// An item that is one more thing on the heap: loom fails the model if one is leaked.
#[repr(align(512))]
struct Boxed {
    number: u32,
    _alive: Arc<()>,
}

impl Boxed {
    fn new(number: u32) -> Self {
        Self {
            number,
            _alive: Arc::new(()),
        }
    }
}

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts.
pub(crate) struct RingCounter;

impl RingCounter {
    fn count(layout: Layout, by: isize) {
        if layout.align() == align_of::<Wide>() {
            let live = LIVE.get() + by;
            LIVE.set(live);
            PEAK.set(PEAK.get().max(live));
        }
    }
}

// SAFETY: it passes every call on to the system's allocator, and allocates nothing while it counts.
unsafe impl GlobalAlloc for RingCounter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout, 1);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::count(layout, -1);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.dealloc(block, layout) };
    }
}

/// Runs one execution and returns the most rings that were alive in it. Panics unless all are gone
/// afterwards.
fn most_rings(execution: impl FnOnce()) -> isize {
    assert_eq!(LIVE.get(), 0);
    PEAK.set(0);
    execution();
    assert_eq!(LIVE.get(), 0, "rings leaked, or freed twice");
    PEAK.get()
}

/// Two threads: a thief claims one item and may stop before it says `done`, for as long as the
/// owner runs. The owner's ring of two slots comes full circle four times; the owner takes from the
/// top itself, so that nothing piles up. Claim: one replacement at most, two rings at any time. A
/// failure: a ring per turn, so that a thief that never comes back would make memory grow without
/// bound; or a ring freed under the thief.
#[test]
fn a_stalled_thief_keeps_one_ring() {
    Bound::preemptions(3, 16_000)
        .outcomes("two rings under a stalled thief", || {
            most_rings(|| {
                let worker = Worker::with_capacity(2);
                let own = worker.stealer();
                let stealer = worker.stealer();
                let thief =
                    thread::spawn(move || stealer.steal().success().map(|item: Wide| item.0));
                let mut taken = Vec::new();
                for item in 0..8 {
                    worker.push(Wide(item));
                    taken.extend(own.steal().success().map(|item| item.0));
                }
                assert_eq!(worker.capacity(), 2, "a slow thief is no reason to grow");
                taken.extend(thief.join().unwrap());
                taken.extend(std::iter::from_fn(|| worker.pop()).map(|item| item.0));
                taken.sort_unstable();
                assert!(taken.into_iter().eq(0..8));
                // The thief has finished. The next time that the ring is full, nothing grows.
                for item in 0..4 {
                    worker.push(Wide(item));
                    assert!(own.steal().is_success());
                }
                assert_eq!(LIVE.get(), 1, "an older ring is left");
            })
        })
        .assert_exactly([1, 2]);
}

/// Two threads: a ring grows from one slot to four under a thief that takes one item. Claim: three
/// rings are alive at most (the thief's, the one being replaced, the new one). Once the thief has
/// finished, one is left after the next time that room runs out. A failure: a leak, a double free,
/// or a ring freed under the thief.
#[test]
fn outgrown_rings_are_freed() {
    Bound::preemptions(3, 4_200)
        .outcomes("outgrown rings are freed", || {
            most_rings(|| {
                let worker = Worker::with_capacity(1);
                let stealer = worker.stealer();
                let thief = thread::spawn(move || stealer.steal().is_success());
                for item in 0..3 {
                    worker.push(Wide(item));
                }
                let held = 3 - usize::from(thief.join().unwrap());
                assert_eq!(worker.len(), held);
                for item in 0..8 {
                    worker.push(Wide(item));
                }
                assert_eq!(LIVE.get(), 1, "an older ring is left");
            })
        })
        .assert_exactly([2, 3]);
}

/// Two threads: a deque that is its owner's grows from two slots to four, where tag and index wrap,
/// under a thief that insists and takes half into a biased deque of its own, which grows, too.
/// Claim as above: three rings of the victim's and two of the thief's at most, and one of each when
/// both have finished. A failure: a ring that an owner frees although it was revoked, or a leak.
#[test]
fn outgrown_rings_of_a_biased_deque_are_freed() {
    Bound::preemptions(3, 5_300)
        .outcomes("biased: outgrown rings are freed", || {
            most_rings(|| {
                let biased = |start| {
                    let worker = Worker::starting_at(1, start, true);
                    worker.push(Boxed::new(9));
                    assert!(worker.pop().is_some_and(|item| item.number == 9));
                    worker
                };
                let worker = biased(u32::MAX - 2);
                let stealer = worker.stealer();
                let thief = thread::spawn(move || {
                    let own = biased(u32::MAX);
                    if let Some(request) = stealer.ask() {
                        Request::revoke_all(&[request]).unwrap();
                    }
                    let oldest = stealer.steal_half_into(&own, 8).success();
                    usize::from(oldest.is_some()) + own.len()
                });
                for number in 0..3 {
                    worker.push(Boxed::new(number));
                }
                let held = 3 - thief.join().unwrap();
                assert_eq!(worker.len(), held);
                for number in 0..8 {
                    worker.push(Boxed::new(number));
                }
                assert_eq!(LIVE.get(), 1, "an older ring is left");
            })
        })
        .assert_exactly([3, 4]);
}
