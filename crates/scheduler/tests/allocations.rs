//! The allocations of each process and each future, counted. One test, as the counter is the
//! program's.

mod counting;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Waker};

use filch_actors::prelude::*;
use filch_scheduler::{Process, Scheduler, StepOutput, from_fn};

use counting::{CALLS, Words};

/// Makes a process that is done at once, with 1.
fn brief() -> impl Process<Words> + 'static {
    from_fn(|_, _, out: &mut StepOutput<Words>| {
        out.done(1);
        Ok(())
    })
}

const ROUNDS: usize = 1_000;

/// Counts the allocations of `life`, rounded to tenths: the run queues' blocks are shared by many.
fn allocations(what: &str, life: impl Fn()) -> f64 {
    // The slots, the queues and the threads' own things are there before.
    (0..ROUNDS).for_each(|_| life());
    let before = CALLS.load(Ordering::Relaxed);
    (0..ROUNDS).for_each(|_| life());
    let calls = CALLS.load(Ordering::Relaxed) - before;
    println!("{what}: {calls} allocations for {ROUNDS}");
    (10.0 * calls as f64 / ROUNDS as f64).round() / 10.0
}

#[test]
fn a3_a_process_none_a_small_future_none() {
    let scheduler = Scheduler::<Words>::builder().workers(1).build().unwrap();
    let quiet = || drop(scheduler.wait_for_standstill().unwrap());

    let process = allocations("a process", || {
        let process = scheduler.submit(brief(), "", ()).unwrap();
        quiet();
        assert_eq!(process.join().unwrap(), 1);
    });
    let with_options = allocations("a process with options", || {
        let process = scheduler.submission(brief(), "", ());
        let process = process.trap_exits().idle_priority().submit();
        quiet();
        assert_eq!(process.unwrap().join().unwrap(), 1);
    });
    // Its mailbox's policy, and the box that makes it one word.
    let with_limit = allocations("a process with a limited mailbox", || {
        let process = scheduler.submission(brief(), "", ()).mailbox(1).submit();
        quiet();
        assert_eq!(process.unwrap().join().unwrap(), 1);
    });
    let future = allocations("a future", || {
        let future = scheduler.spawn(async { [7; 4] }).unwrap();
        quiet();
        assert_eq!(future.join().unwrap(), [7; 4]);
    });
    let twice_polled = allocations("a future that is polled twice", || {
        let mut polls = 0;
        let future = scheduler.spawn(poll_fn(move |context| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        quiet();
        future.unwrap().join().unwrap();
    });
    let waker = Arc::new(Mutex::new(None::<Waker>));
    let awaited = allocations("a future that a thread awaits before it has ended", || {
        let open = Arc::clone(&waker);
        let mut first = true;
        let future = scheduler.spawn(poll_fn(move |context| {
            if std::mem::take(&mut first) {
                *open.lock().unwrap() = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        }));
        let mut future = future.unwrap();
        let mut context = task::Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut future).poll(&mut context).is_pending());
        // Not by a standstill, whose list of processes takes memory.
        let wake = || waker.lock().unwrap().take().map(Waker::wake);
        while wake().is_none() {
            std::thread::yield_now();
        }
        quiet();
        assert!(Pin::new(&mut future).poll(&mut context).is_ready());
    });
    let asked = Arc::new(AtomicBool::new(false));
    let by_future = allocations("a future that another awaits before it has ended", || {
        let open = Arc::clone(&waker);
        let mut first = true;
        let inner = scheduler.spawn(poll_fn(move |context| {
            if std::mem::take(&mut first) {
                *open.lock().unwrap() = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        }));
        let (mut inner, has_asked) = (inner.unwrap(), Arc::clone(&asked));
        let outer = scheduler.spawn(poll_fn(move |context| {
            let polled = Pin::new(&mut inner).poll(context);
            // ORDERING: Relaxed: the handle's own edges order the rest.
            has_asked.store(polled.is_pending(), Ordering::Relaxed);
            polled.map(|_| ())
        }));
        while !asked.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        waker.lock().unwrap().take().unwrap().wake();
        quiet();
        outer.unwrap().join().unwrap();
        assert!(!asked.load(Ordering::Relaxed));
    });
    assert_eq!((process, with_options, with_limit), (0.0, 0.0, 2.0));
    assert_eq!((future, twice_polled), (0.0, 0.0));
    assert_eq!((awaited, by_future), (1.0, 0.0));
}
