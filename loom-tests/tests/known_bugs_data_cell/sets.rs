//! Mistakes in a set of two locks.

use filch_models::{Bound, beside};
use filch_sync::Arc;

use super::toy::{Bug, Toy};

/// The order in which a set takes its two locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// In memory order: the real set.
    #[default]
    Sorted,
    /// In the order in which they were named.
    AsNamed,
    /// In memory order, but keeping the first lock if the second is refused.
    KeptIfRefused,
}

/// Locks both, or returns false if it could not.
fn try_lock_both(toys: &[Toy; 2], named: [usize; 2], order: Order) -> bool {
    let mut places = named;
    if order != Order::AsNamed {
        places.sort_unstable();
    }
    for (index, &place) in places.iter().enumerate() {
        if !toys[place].try_lock_to_write() {
            if order != Order::KeptIfRefused {
                places[..index]
                    .iter()
                    .for_each(|&held| toys[held].unlock_from_writing());
            }
            return false;
        }
    }
    true
}

/// Two threads want the same two locks, and name them in reverse order. If `is_second_held`, a
/// third party has the second lock meanwhile.
fn two_sets(order: Order, is_second_held: bool) {
    let toys = Arc::new([Toy::new(Bug::None), Toy::new(Bug::None)]);
    if is_second_held {
        assert!(toys[1].try_lock_to_write());
    }
    let task = move |toys: &[Toy; 2], named: [usize; 2]| {
        let has_both = try_lock_both(toys, named, order);
        if has_both {
            toys.iter().for_each(Toy::unlock_from_writing);
        }
        has_both
    };
    let other = beside(&toys, move |toys| task(toys, [1, 0]));
    let mine = task(&toys, [0, 1]);
    let others = other.join().unwrap();
    if is_second_held {
        toys[1].unlock_from_writing();
    } else {
        assert!(mine || others, "each refused the other");
    }
    assert!(task(&toys, [0, 1]), "left locked");
}

#[test]
fn two_sets_in_any_order() {
    Bound::exhaustive(20).check_and_refute(
        "two sets lock in one order",
        |order| two_sets(order, false),
        // Each has one lock and is refused the other. Both give back, and may meet again.
        &[(Order::AsNamed, "each refused the other")],
    );
}

#[test]
fn two_refused_sets() {
    Bound::exhaustive(10).check_and_refute(
        "a set gives back what it has if it is refused",
        |order| two_sets(order, true),
        // The first lock stays locked when the second is refused.
        &[(Order::KeptIfRefused, "left locked")],
    );
}
