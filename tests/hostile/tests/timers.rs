//! The timers with panicking destructors.

use std::time::Duration;

use filch_timers::Timers;
use hostile_tests::{Squad, explosion_of};

const NEVER: Duration = Duration::from_secs(1 << 30);

#[test]
fn what_is_cancelled_or_left_is_dropped_and_its_panics_end_there() {
    let squad = Squad::new(0..4);
    let timers = Timers::new().unwrap();
    let keys: Vec<_> = squad
        .bombs(0..8)
        .map(|bomb| timers.call_after(NEVER, move || drop(bomb)).unwrap())
        .collect();
    assert_eq!(explosion_of(|| assert!(timers.cancel(keys[0]))), None);
    assert_eq!(squad.dropped(), [0]);
    assert_eq!(explosion_of(|| timers.shutdown()), None);
    // A timer that is set too late comes back.
    let late = squad.bomb(8);
    drop(timers.call_after(NEVER, move || drop(late)).unwrap_err());
    drop(timers);
    squad.assert_dropped(9);
}

#[test]
fn a_call_whose_destructor_panics_costs_no_other() {
    let squad = Squad::new([0]);
    let timers = Timers::new().unwrap();
    let (told, hears) = std::sync::mpsc::channel();
    for bomb in squad.bombs(0..3) {
        let told = told.clone();
        timers
            .call_after(Duration::ZERO, move || told.send(bomb.number()).unwrap())
            .unwrap();
    }
    assert_eq!([(); 3].map(|()| hears.recv().unwrap()), [0, 1, 2]);
    timers.shutdown();
    squad.assert_dropped(3);
}
