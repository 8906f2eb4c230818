//! The promise and the stage beside destructors that panic.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use filch_promise::{Output, Stage, promise};
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

#[test]
fn the_output_survives_the_destructor_of_its_future() {
    let squad = Squad::new([0]);
    let before = held();
    let mut owned = (squad.bomb(0), Some(squad.bomb(1)));
    let stage = Box::new(Stage::new(poll_fn(move |_| {
        let (_kept, output) = &mut owned;
        Poll::Ready(output.take())
    })));
    let mut context = Context::from_waker(Waker::noop());
    // SAFETY: this thread runs the future, in a box.
    let poll = || assert!(unsafe { stage.poll(&mut context) }.is_pending());
    assert_eq!(explosion_of(poll), Some(0));
    // SAFETY: the future is over, and no other thread has the stage.
    let output = unsafe { stage.take() }.flatten();
    assert_eq!(output.map(|bomb| bomb.number()), Some(1));
    drop(stage);
    squad.assert_dropped(2);
    assert_eq!(held(), before, "memory is left behind");
}

#[test]
fn a_future_that_is_given_up_is_dropped_once() {
    let squad = Squad::new([0]);
    let bomb = squad.bomb(0);
    let stage = Box::new(Stage::new(async move {
        std::future::pending::<()>().await;
        drop(bomb);
    }));
    // SAFETY: this thread has the future, which it does not poll.
    assert_eq!(explosion_of(|| unsafe { stage.give_up() }), Some(0));
    drop(stage);
    squad.assert_dropped(1);
}
