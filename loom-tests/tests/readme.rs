//! The model that the README shows, to the letter: a test of the facade crate compares them.
#![cfg(loom)]

use filch_deque::Worker;
use filch_sync::thread;
use loom_tests::{Bound, Outcomes, check};

/// The owner pops its last item while a thief steals it. A failure would be an item for both, or
/// for neither.
#[rustfmt::skip]
#[test]
fn the_last_item_goes_to_one() {
let outcomes = Outcomes::new();
check("a pop and a steal of the last item: one gets it", Bound::exhaustive(2), {
    let outcomes = outcomes.clone();
    move || {
        let worker = Worker::new();
        worker.push(7);
        let stealer = worker.stealer();
        let thief = thread::spawn(move || stealer.steal().success());
        outcomes.observe((worker.pop(), thief.join().unwrap()));
    }
});
outcomes.assert_exactly([(Some(7), None), (None, Some(7))]);
}
