//! A standstill counts the clones of a future's waker: the shipped count, around the real state.
//! Beside it a mistake, caught.
//!
//! The race: a future is pending. A thread has a clone of its waker, calls it, and lets go of it;
//! the future's handle is dropped; a third thread seizes the future and counts. If it finds no
//! clone, it says that nobody will ever wake this future. Clones and the handle are pins on the
//! real slot.

use filch_models::{Bound, beside};
use filch_process_state::{LetGo, Reason};
use filch_scheduler::table::{Placement, Slot, Table};
use filch_scheduler::{Node, Protocol};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

const NOT_COUNTED: &str = "a clone that is there was not counted";

enum Nothing {}

impl Protocol for Nothing {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

struct Future {
    table: Table<Nothing>,
    /// The number of the future.
    index: u32,
    /// `true` once the thread with the clone has done its part, before it lets go.
    done: UnsafeCell<bool>,
}

// SAFETY: `done` is touched by the thread that has the clone, and after it by one that has seen
// that there is none any more: what the models check.
unsafe impl Sync for Future {}
// SAFETY: plain data.
unsafe impl Send for Future {}

impl Future {
    /// Makes a future with a handle, and one clone.
    fn pending() -> Arc<Self> {
        let table = Table::new(Node::default());
        let slot = table.occupy(Placement::default()).unwrap();
        slot.state.submit().unwrap();
        slot.state.start().unwrap();
        // SAFETY: this thread has the process.
        unsafe { slot.share_pin() };
        assert_eq!(slot.state.idle(), Ok(LetGo::Waits));
        let index = slot.index;
        Arc::new(Self {
            table,
            index,
            done: UnsafeCell::new(false),
        })
    }

    fn slot(&self) -> &Slot<Nothing> {
        self.table.slot(self.index)
    }

    fn unpin(&self) {
        // SAFETY: each thread gives up what it has: the clone, the handle, its own pin.
        let _ = unsafe { self.table.unpin(self.slot()) };
    }

    /// Drops the future's handle.
    fn drop_handle(&self) {
        self.slot().handle_goes();
        self.unpin();
    }

    /// Does the same in another order.
    fn drop_handle_too_early(&self) {
        self.unpin();
        self.slot().handle_goes();
    }

    /// Wakes by the only clone, and drops it.
    fn wake(&self) {
        // SAFETY: this thread has the clone.
        self.done.with_mut(|done| unsafe { *done = true });
        // Nobody runs the future here, whoever has to enqueue it.
        let _ = self.slot().state.wake(Reason::Message);
        self.unpin();
    }

    /// Clones the clone, and drops one of the two.
    fn clone_and_drop(&self) {
        // SAFETY: this thread has the clone.
        unsafe { self.slot().share_pin() };
        self.unpin();
    }

    /// Pins as `Handle::look_at_future` does, and keeps the pin.
    fn pin(&self) {
        // SAFETY: the process stays in the table.
        unsafe { self.slot().share_pin() };
    }

    fn clones(&self) -> usize {
        self.slot().waker_clones()
    }

    /// Looks as `Handle::look_at_future` does: returns the clones, and whether the future was woken
    /// meanwhile; none if it was before.
    fn look(&self) -> Option<(usize, bool)> {
        self.pin();
        let state = &self.slot().state;
        state.seize().ok()?;
        let clones = self.clones();
        if clones == 0 {
            // SAFETY: the thread with the clone does nothing any more.
            assert!(self.done.with(|done| unsafe { *done }), "nothing was done");
        }
        let let_go = state.idle().expect("this thread has seized it");
        Some((clones, let_go == LetGo::Enqueue))
    }
}

fn spawn(future: &Arc<Future>, does: fn(&Future)) -> thread::JoinHandle<()> {
    let future = Arc::clone(future);
    thread::spawn(move || does(&future))
}

/// Returns what the look found.
fn wake_beside_a_look() -> Option<(usize, bool)> {
    let future = Future::pending();
    let waker = spawn(&future, Future::wake);
    let looker = beside(&future, Future::look);
    future.drop_handle();
    waker.join().unwrap();
    let found = looker.join().unwrap();
    assert_eq!(future.clones(), 0, "nobody has one any more");
    found
}

/// Returns the number of clones that were counted, of one or two.
fn clone_beside_a_count(drop_handle: fn(&Future)) -> usize {
    let future = Future::pending();
    let cloner = spawn(&future, Future::clone_and_drop);
    let handle = spawn(&future, drop_handle);
    future.pin();
    let clones = future.clones();
    assert_ne!(clones, 0, "{NOT_COUNTED}");
    cloner.join().unwrap();
    handle.join().unwrap();
    assert_eq!(future.clones(), 1, "the cloner has kept one");
    clones
}

/// Three threads. The only clone is called and dropped, the handle is dropped, a third thread
/// looks. The claim: where it finds no clone, what was done with it has happened, and the future
/// was woken. A failure would be a future that is called stuck and runs a moment later: no clone,
/// and not woken; or a race for what was done.
#[test]
fn no_clone_and_not_woken_means_never() {
    let found = Bound::exhaustive(81_000).outcomes(
        "a future without a clone is found woken",
        wake_beside_a_look,
    );
    found.assert_exactly([
        None,
        Some((0, true)),
        Some((1, false)),
        Some((1, true)),
        Some((2, false)),
        Some((2, true)),
    ]);
}

/// Three threads. The clone is cloned and one of the two dropped, the handle is dropped, a third
/// thread counts. The claim: it counts those that are there, and at most the handle besides. A
/// failure would be a count of 0, or of more than three.
#[test]
fn a_clone_is_counted_while_the_handle_goes() {
    Bound::exhaustive(130_000)
        .outcomes("a clone is counted, whatever the handle does", || {
            clone_beside_a_count(Future::drop_handle)
        })
        .assert_exactly([1, 2, 3]);
}

#[test]
fn a_handle_that_says_too_late_that_it_goes_hides_a_clone() {
    Bound::exhaustive(1).refute(
        "the handle's reference is given up before it says so",
        NOT_COUNTED,
        || {
            clone_beside_a_count(Future::drop_handle_too_early);
        },
    );
}
