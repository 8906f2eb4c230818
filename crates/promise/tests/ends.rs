//! What is let go at an end: the waker with the future that awaits, a future that is given up.

use std::future::{Future, pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use filch_promise::{Output, Stage, promise};

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_goes_with_the_future_that_awaits() {
    let nobody = Arc::new(Nobody);
    let waker = Waker::from(Arc::clone(&nobody));
    let (resolver, promised) = promise::<u32>();
    {
        let awaiting = pin!(promised);
        assert!(awaiting.poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(Arc::strong_count(&nobody), 3, "it is kept while it waits");
    }
    assert_eq!(Arc::strong_count(&nobody), 2, "the resolver may take long");
    resolver.resolve(1);
}

#[test]
fn a_future_that_is_given_up_is_dropped_at_once() {
    let held = Arc::new(());
    let stage = Box::new(Stage::new({
        let held = Arc::clone(&held);
        async move {
            pending::<()>().await;
            drop(held);
        }
    }));
    // SAFETY: one thread has the stage, gives its future up once, and does not poll it.
    unsafe { stage.give_up() };
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn an_output_outlives_the_end_of_its_future() {
    let stage = Box::new(Stage::new(ready(7)));
    // SAFETY: one thread has the stage, in a box; it polls the future, and then gives it up, once.
    unsafe {
        assert_eq!(
            stage.poll(&mut Context::from_waker(Waker::noop())),
            Poll::Ready(())
        );
        stage.give_up();
    }
    // SAFETY: the future was given up by this thread, which alone has the stage.
    assert_eq!(unsafe { stage.take() }, Some(7));
}

/// A waker may keep the stage for long. A failure: the output stays with it, or is dropped too
/// early, or twice.
#[test]
fn an_output_that_nobody_takes_goes_with_the_second_end() {
    for runner_first in [true, false] {
        let output = Arc::new(());
        let stage = Arc::new(Stage::new(ready(Arc::clone(&output))));
        let in_a_waker = Arc::clone(&stage);
        let mut context = Context::from_waker(Waker::noop());
        // SAFETY: one thread is both ends, polls the future once, and leaves by each of them once.
        unsafe {
            assert!(stage.poll(&mut context).is_ready());
            if runner_first {
                stage.give_up();
            } else {
                assert!(stage.has_taker());
                stage.let_go();
                assert!(!stage.has_taker());
            }
            assert_eq!(Arc::strong_count(&output), 2, "the other end is there");
            if runner_first {
                stage.let_go();
            } else {
                stage.give_up();
            }
        }
        assert_eq!(Arc::strong_count(&output), 1);
        drop(in_a_waker);
    }
}
