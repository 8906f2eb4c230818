//! The number of idle processors, which stands beside the word and is written at each push.

use filch_models::{Bound, beside};

use super::pool::Pool;

/// Two processors; both have been idle, one above the other. Now the upper one goes idle alone. The
/// number beneath it is written beside the word: an observer must not read what was written the
/// last time.
#[test]
fn not_by_an_old_count() {
    Bound::exhaustive(4).check(
        "the number of idle processors is that of the last push",
        || {
            let pool = Pool::idle::<2>();
            let (upper, _) = pool.coordinator.take_idle().expect("both are idle");
            let (lower, _) = pool.coordinator.take_idle().expect("the other one is, too");
            assert_eq!((upper.processor(), lower.processor()), (1, 0));
            let machine = beside(&pool, |pool| pool.go_idle(upper, 1));
            assert!(!pool.is_quiescent(), "the other one runs");
            machine.join().unwrap();
            drop(lower);
        },
    );
}

/// The same two, and the lower one goes idle upon the upper one: it must add to the new number, or
/// the two are never counted right again, and no observer hears of the end.
#[test]
fn not_upon_an_old_count() {
    Bound::exhaustive(10).check(
        "the number of idle processors is one more than that beneath",
        || {
            let pool = Pool::idle::<2>();
            let (upper, _) = pool.coordinator.take_idle().expect("both are idle");
            let (lower, _) = pool.coordinator.take_idle().expect("the other one is, too");
            let machine = beside(&pool, |pool| pool.go_idle(upper, 1));
            pool.go_idle(lower, 0);
            machine.join().unwrap();
            assert!(pool.is_quiescent(), "both are idle, and nothing is left");
        },
    );
}
