//! The model that the README shows, to the letter: a test in `tests/book` compares them.

use filch_deque::Worker;
use filch_sync::thread;
use loom_tests::Bound;

/// The owner pops its last item while a thief steals it. A failure would be an item for both, or
/// for neither.
#[rustfmt::skip]
#[test]
fn the_last_item_goes_to_one() {
let claim = "a pop and a steal of the last item: one gets it";
let outcomes = Bound::exhaustive(2).outcomes(claim, || {
    let worker = Worker::new();
    worker.push(7);
    let stealer = worker.stealer();
    let thief = thread::spawn(move || stealer.steal().success());
    (worker.pop(), thief.join().unwrap())
});
outcomes.assert_exactly([(Some(7), None), (None, Some(7))]);
}
