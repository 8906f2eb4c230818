//! Events whose destructors panic: each is dropped once, its block is freed, and the first panic
//! goes on when all is done.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_event_queue::{EventQueue, channel};

struct Counting;

thread_local! {
    /// Bytes that this thread has asked for, and not given back.
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as i64);
        // SAFETY: as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as i64);
        // SAFETY: as ours.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An event that counts how often events are dropped, and panics with its number then, if it is
/// one of those that do. (Without the hook, which would allocate for its message.)
struct Event {
    dropped: Rc<Cell<usize>>,
    bomb: Option<usize>,
    _held: [u64; 8],
}

impl Drop for Event {
    fn drop(&mut self) {
        self.dropped.set(self.dropped.get() + 1);
        if let Some(number) = self.bomb {
            resume_unwind(Box::new(number));
        }
    }
}

const EVENTS: usize = 500;

/// Which events are bombs.
type Bombs = fn(usize) -> bool;

const SOME: [Bombs; 6] = [
    |number| number == 0,
    |number| number == 1,
    |number| number == 250,
    |number| number == EVENTS - 1,
    |number| number % 7 == 3,
    |_| true,
];

/// Fills queues with events by `fill`, which returns what to drop. Asks that the drop is complete,
/// and that the first panic comes out of it.
fn all_are_dropped<Q>(fill: impl Fn(&mut dyn Iterator<Item = Event>) -> Q) {
    for bombs in SOME {
        let dropped = Rc::new(Cell::new(0));
        let before = BYTES.get();
        let mut events = (0..EVENTS).map(|number| Event {
            dropped: Rc::clone(&dropped),
            bomb: bombs(number).then_some(number),
            _held: [7; 8],
        });
        let queue = fill(&mut events);
        let panic = catch_unwind(AssertUnwindSafe(|| drop(queue))).unwrap_err();
        assert_eq!(
            panic.downcast_ref(),
            (0..EVENTS).find(|n| bombs(*n)).as_ref()
        );
        drop(panic);
        assert_eq!(dropped.get(), EVENTS);
        assert_eq!(BYTES.get() - before, 0, "bytes are left");
    }
}

#[test]
fn of_a_queue() {
    all_are_dropped(|events| {
        let queue = EventQueue::new();
        events.for_each(|event| queue.push(event).unwrap());
        queue
    });
}

#[test]
fn of_a_queue_with_a_spare() {
    all_are_dropped(|events| {
        let queue = EventQueue::with_blocks(1, 3);
        for _ in 0..200 {
            queue.push(None).unwrap();
        }
        // SAFETY: nobody else consumes.
        assert_eq!(unsafe { queue.drain(drop) }, 200);
        events.for_each(|event| queue.push(Some(event)).unwrap());
        queue
    });
}

/// `Event` is not `Send`, and a channel's is: this one never leaves the thread.
struct Sent(#[expect(dead_code, reason = "dropped with it")] Event);

// SAFETY: these tests have one thread.
unsafe impl Send for Sent {}

#[test]
fn of_the_receiver() {
    all_are_dropped(|events| {
        let (sender, receiver) = channel();
        events.for_each(|event| sender.push(Sent(event)).unwrap());
        drop(sender);
        receiver
    });
}

/// A queue that is dropped because its thread panics. Its own panic would be the second, and end
/// the program.
#[test]
fn while_the_thread_unwinds() {
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Loud(Arc<AtomicUsize>);
    impl Drop for Loud {
        fn drop(&mut self) {
            // ORDERING: Relaxed: a counter of one thread.
            self.0.fetch_add(1, Ordering::Relaxed);
            resume_unwind(Box::new("of an event"));
        }
    }
    let queue = EventQueue::new();
    for _ in 0..EVENTS {
        queue.push(Loud(Arc::clone(&dropped))).unwrap();
    }
    let panic = catch_unwind(AssertUnwindSafe(move || {
        let _queue = queue;
        resume_unwind(Box::new("of the thread"));
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"of the thread"));
    // ORDERING: Relaxed: as above.
    assert_eq!(dropped.load(Ordering::Relaxed), EVENTS);
}
