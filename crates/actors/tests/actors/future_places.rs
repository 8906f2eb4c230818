//! A future does not move once it has been polled, wherever it lies.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use filch_actors::prelude::*;
use filch_scheduler::Scheduler;

use crate::common::{Test, assert_terminated, scheduler, summing};

/// Checks at three polls and at its drop that it has not moved. Four words, and some more.
struct Rooted<const MORE: usize> {
    place: usize,
    polls: usize,
    /// Ready at the third poll; or pending for ever.
    ends: bool,
    drops: Arc<AtomicUsize>,
    _size: [usize; MORE],
    _pinned: PhantomPinned,
}

impl<const MORE: usize> Rooted<MORE> {
    fn place(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl<const MORE: usize> Future for Rooted<MORE> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let place = self.place();
        // SAFETY: nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        assert!(this.polls == 0 || this.place == place, "it was moved");
        this.place = place;
        this.polls += 1;
        match this.polls {
            3 if this.ends => return Poll::Ready(()),
            3 => {}
            _ => context.waker().wake_by_ref(),
        }
        Poll::Pending
    }
}

impl<const MORE: usize> Drop for Rooted<MORE> {
    fn drop(&mut self) {
        // A panic would be contained where a future is dropped.
        let moved = self.polls > 0 && self.place != self.place();
        self.drops
            .fetch_add(1 + 1000 * usize::from(moved), Ordering::Relaxed);
    }
}

/// A future that has been polled stays where it is: in its slot if it is small, else in its box. A
/// failure: an upgrade or its end moves it, and its references to itself dangle.
#[test]
fn a_future_stays_in_its_place() {
    fn check<const MORE: usize>(scheduler: &Scheduler<Test>) {
        let drops = Arc::new(AtomicUsize::new(0));
        let rooted = |ends| Rooted::<MORE> {
            place: 0,
            polls: 0,
            ends,
            drops: Arc::clone(&drops),
            _size: [0; MORE],
            _pinned: PhantomPinned,
        };
        scheduler.spawn(rooted(true)).unwrap().join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        for upgrade in [false, true] {
            let future = scheduler.spawn(rooted(false)).unwrap();
            scheduler.wait_for_standstill().unwrap();
            if upgrade {
                let successor = Box::new(summing(0));
                scheduler
                    .upgrade(future.pid(), successor, "run", 0)
                    .unwrap();
            } else {
                future.abort();
            }
            assert_terminated(future.join());
        }
        assert_eq!(
            drops.load(Ordering::Relaxed),
            3,
            "moved, or not dropped once"
        );
    }
    let scheduler = scheduler(1);
    check::<0>(&scheduler);
    check::<1>(&scheduler);
    check::<30>(&scheduler);
}
