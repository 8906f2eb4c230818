//! Models of a value with two owners, of which the first to take it gets it: a deadline and an
//! answer race for a call in this way. loom reports a read or a free of what the other still writes
//! as a race, and a value that nobody drops as a leak.

use filch_models::{Bound, Outcomes};
use filch_promise::{TakeOnce, take_once_with};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

/// The part that both owners share. One writes to it, as a call's caller does.
struct Place(UnsafeCell<u32>);

// SAFETY: in the models only one owner writes there, before it goes.
unsafe impl Sync for Place {}

impl Place {
    fn write(&self) {
        // SAFETY: see above.
        self.0.with_mut(|place| unsafe { *place += 1 });
    }
}

impl Drop for Place {
    /// Writes, when the second owner drops it: loom then sees if the first still writes.
    fn drop(&mut self) {
        self.write();
    }
}

/// The way in which an owner goes. Returns true if it gets the value.
type Go = fn(TakeOnce<Arc<u32>, Place>) -> bool;

fn take(owner: TakeOnce<Arc<u32>, Place>) -> bool {
    owner.take().is_some()
}

fn write_and_take(owner: TakeOnce<Arc<u32>, Place>) -> bool {
    owner.shared().write();
    take(owner)
}

fn leave(owner: TakeOnce<Arc<u32>, Place>) -> bool {
    drop(owner);
    false
}

fn go_together(name: &str, at_least: u64, first: Go, second: Go) -> Outcomes<(bool, bool)> {
    Bound::exhaustive(at_least).outcomes(name, move || {
        let value = Arc::new(7);
        let (one, other) = take_once_with(Arc::clone(&value), Place(UnsafeCell::new(0)));
        let other = thread::spawn(move || second(other));
        let one = first(one);
        let other = other.join().unwrap();
        assert_eq!(Arc::strong_count(&value), 1, "it is gone, with both");
        (one, other)
    })
}

/// Two threads. Failure: both get it, or neither; a race on what they share, or a free while the
/// other reads; a leak, or a double drop.
#[test]
fn one_of_two_that_take_it_has_it() {
    let outcomes = go_together("two takes race", 4, write_and_take, take);
    outcomes.assert_exactly([(true, false), (false, true)]);
}

/// Two threads. Failure: the one that takes it does not get it, though the other leaves it; and as
/// above.
#[test]
fn what_one_leaves_the_other_has() {
    let outcomes = go_together("a take and a leave race", 4, write_and_take, leave);
    outcomes.assert_exactly([(true, false)]);
}

/// Two threads. Failure: the value is not dropped, or twice; and as above.
#[test]
fn what_both_leave_is_dropped_once() {
    let outcomes = go_together(
        "two leaves race",
        4,
        |owner| {
            owner.shared().write();
            leave(owner)
        },
        leave,
    );
    outcomes.assert_exactly([(false, false)]);
}
