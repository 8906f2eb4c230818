//! Futures as processes: wake-ups against polls, the end against a waiter, aborts against
//! everything.

use std::future::poll_fn;
use std::task::Poll;

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use shuttle_tests::{explore, explore_each};

use super::{FOR_EVER, prompt_scheduler};
use filch_actors::prelude::*;
use filch_scheduler::{JoinError, Pid, ProcessError};

/// Another thread wakes the waker of each of two polls: while the poll still runs, while the worker
/// lets go of the process, or when it is idle. A failure: a deadlock in `join`, as the wake-up was
/// lost; or a fourth poll without a wake-up.
#[test]
fn wake_ups_from_other_threads() {
    explore_each("every wake-up leads to a poll", 1_500, [1, 2], |workers| {
        let scheduler = prompt_scheduler(workers);
        let mut polls = 0;
        let future = scheduler.spawn(poll_fn(move |context| {
            polls += 1;
            if polls == 3 {
                return Poll::Ready(polls);
            }
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        }));
        assert_eq!(future.unwrap().join().unwrap(), 3);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// One future awaits another, which ends before, while, or after it is asked; a thread joins the
/// first. A failure: a deadlock, when the end comes between the look and the waker; or a place that
/// is not free after `join`.
#[test]
fn a_future_awaits_a_future() {
    explore("an awaited end is heard of", 1_500, || {
        let scheduler = prompt_scheduler(2);
        let inner = scheduler.spawn(async { 20 }).unwrap();
        let outer = scheduler.spawn(async move { 1 + inner.await.unwrap() });
        assert_eq!(outer.unwrap().join().unwrap(), 21);
        assert_eq!(scheduler.live(), 0, "joined, and still counted");
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Counts its drop.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A future that is woken once is aborted before its first poll, during a poll, while it waits, or
/// after its end. It ends in one of two ways, and is dropped once. A failure: a deadlock in `join`,
/// as the abort was not seen.
#[test]
fn an_abort_races_with_the_end() {
    explore("an abort ends the future, or it has ended", 2_000, || {
        let scheduler = prompt_scheduler(2);
        let drops = Arc::new(AtomicUsize::new(0));
        let dropped = Dropped(Arc::clone(&drops));
        let mut woken = false;
        let future = scheduler.spawn(poll_fn(move |context| {
            let _in_the_future = &dropped;
            if std::mem::replace(&mut woken, true) {
                return Poll::Ready(8);
            }
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        }));
        let future = future.unwrap();
        future.abort();
        match future.join() {
            Ok(8) | Err(JoinError::Process(ProcessError::Terminated)) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A waker outlives its future, and is woken while another process moves into the slot. A failure:
/// the second future is polled because of the first one's waker.
#[test]
fn a_stale_waker_wakes_nobody() {
    explore("a stale waker wakes nobody", 2_000, || {
        let scheduler = prompt_scheduler(2);
        let (give, wakers) = shuttle::sync::mpsc::channel();
        let first = scheduler.spawn(poll_fn(move |context| {
            give.send(context.waker().clone()).unwrap();
            Poll::Ready(())
        }));
        let first = first.unwrap();
        let stale = wakers.recv().unwrap();
        let slot = |pid: Pid| (pid.to_bits() >> 32) as u32;
        let place = slot(first.pid());
        first.join().unwrap();
        let waking = thread::spawn(move || stale.wake());
        // One of these gets the slot, if the worker has left it.
        let next = [0; 2].map(|_| {
            let polls = Arc::new(AtomicUsize::new(0));
            let future = scheduler.spawn({
                let polls = Arc::clone(&polls);
                poll_fn(move |_| {
                    polls.fetch_add(1, Ordering::SeqCst);
                    Poll::<()>::Pending
                })
            });
            (future.unwrap(), polls)
        });
        waking.join().unwrap();
        for (future, polls) in next {
            let heir = slot(future.pid()) == place;
            future.abort();
            assert!(matches!(
                future.join(),
                Err(JoinError::Process(ProcessError::Terminated))
            ));
            assert!(polls.load(Ordering::SeqCst) <= 1, "heir: {heir}");
        }
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
