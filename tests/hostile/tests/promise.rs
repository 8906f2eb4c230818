//! The promise with panicking destructors.

use filch_promise::promise;
use hostile_tests::{Squad, explosion_of, held};

#[test]
fn a_value_that_nobody_takes_panics_where_it_is_dropped() {
    let squad = Squad::new([0, 1]);
    let before = held();
    // The future is gone: the resolver drops the value.
    let (resolver, promised) = promise();
    drop(promised);
    assert_eq!(explosion_of(|| resolver.resolve(squad.bomb(0))), Some(0));
    // The value is there: the future drops it.
    let (resolver, promised) = promise();
    resolver.resolve(squad.bomb(1));
    assert_eq!(explosion_of(|| drop(promised)), Some(1));
    squad.assert_dropped(2);
    assert_eq!(held(), before, "memory is left behind");
}
