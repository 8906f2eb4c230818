//! Futures and outputs that come to their end in hostile ways: destructors that panic, strangers'
//! messages and signals, upgrades, and handles that are dropped at that very moment.

use std::future::{Future, pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use filch_actors::JoinHandle;
use filch_actors::prelude::*;
use filch_scheduler::{JoinError, ProcessError, Protocol, Scheduler, StepOutput, from_fn};

use crate::common::{scheduler, summing, until};

/// Counts its drop, and then panics, if it is armed.
struct Counted(Arc<AtomicUsize>, bool);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert!(!self.1, "bomb");
    }
}

fn counter() -> Arc<AtomicUsize> {
    Arc::default()
}

fn error<P: Protocol, T: 'static>(future: JoinHandle<P, T>) -> ProcessError<P> {
    match future.join() {
        Err(JoinError::Process(error)) => error,
        _ => panic!("it ends badly"),
    }
}

/// Pending for ever; its bomb goes off before its other fields are dropped.
struct Mined {
    _bomb: Counted,
    _rest: Counted,
}

impl Future for Mined {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

/// A failure: a field is dropped again with the stage, when the handle goes; or the panic ends more
/// than the future.
#[test]
fn a_future_whose_destructor_panics_is_dropped_once() {
    let scheduler = scheduler(1);
    for keep in [true, false] {
        let (bomb, rest) = (counter(), counter());
        let future = scheduler.spawn(Mined {
            _bomb: Counted(Arc::clone(&bomb), true),
            _rest: Counted(Arc::clone(&rest), false),
        });
        let future = future.unwrap();
        future.abort();
        if keep {
            assert!(matches!(error(future), ProcessError::Terminated));
        } else {
            drop(future);
        }
        until(|| scheduler.live() == 0);
        scheduler.wait_for_standstill().unwrap();
        for count in [bomb, rest] {
            assert_eq!(count.load(Ordering::Relaxed), 1);
        }
    }
    assert_eq!(scheduler.spawn(ready(1)).unwrap().join().unwrap(), 1);
}

/// The worker drops the output of a future that nobody watches. A failure: its panic ends more than
/// the output, or the future, which was done, counts as failed.
#[test]
fn an_output_that_nobody_takes_and_that_panics() {
    let scheduler = scheduler(1);
    let count = counter();
    let output = Counted(Arc::clone(&count), true);
    let (open, opened) = mpsc::channel::<()>();
    drop(scheduler.spawn(async move {
        opened.recv().unwrap();
        output
    }));
    open.send(()).unwrap();
    assert_eq!(scheduler.spawn(ready(1)).unwrap().join().unwrap(), 1);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert_eq!(scheduler.stats().total().failed, 0);
}

/// The future has ended, and its handle, which has the output, is dropped: unpolled, or polled
/// while the future ran. A failure: the destructor's panic reaches the thread that drops the
/// handle.
#[test]
fn an_output_that_panics_is_dropped_with_its_handle() {
    let scheduler = scheduler(1);
    let count = counter();
    let spawn = || {
        let output = Counted(Arc::clone(&count), true);
        let (open, opened) = mpsc::channel::<()>();
        let future = scheduler.spawn(async move {
            opened.recv().unwrap();
            output
        });
        (future.unwrap(), open)
    };
    let (unasked, open) = spawn();
    open.send(()).unwrap();
    until(|| unasked.has_ended());
    drop(unasked);
    // Or by the worker, if that has not let go of the process yet.
    until(|| count.load(Ordering::Relaxed) == 1);

    let (mut polled, open) = spawn();
    let poll = Pin::new(&mut polled).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_pending());
    open.send(()).unwrap();
    until(|| polled.has_ended());
    drop(polled);
    until(|| count.load(Ordering::Relaxed) == 2);

    assert_eq!(scheduler.spawn(ready(1)).unwrap().join().unwrap(), 1);
    assert_eq!(scheduler.stats().total().failed, 0);
}

/// A process replaces a future, and its output, which nobody takes, panics when it is dropped: the
/// handle has it, as it was polled before. A failure: as above.
#[test]
fn the_exit_of_a_successor_is_dropped_with_the_futures_handle() {
    let scheduler = Scheduler::<Bombs>::builder().workers(1).build().unwrap();
    let count = counter();
    let mut future = scheduler.spawn(pending::<()>()).unwrap();
    let poll = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_pending());
    let mut bomb = Some(Counted(Arc::clone(&count), true));
    let successor = Box::new(from_fn(move |_, _, out: &mut StepOutput<Bombs>| {
        out.done(bomb.take().unwrap());
        Ok(())
    }));
    assert!(
        scheduler
            .upgrade(future.pid(), successor, "run", ())
            .is_ok()
    );
    until(|| future.has_ended());
    assert_eq!(count.load(Ordering::Relaxed), 0);
    drop(future);
    until(|| count.load(Ordering::Relaxed) == 1);
}

/// A protocol whose outputs panic when they are dropped.
enum Bombs {}

impl Protocol for Bombs {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = Counted;
    type Error = String;
}

/// Ready with an output that panics when it is dropped, and so does the future itself: so it ends
/// by the panic, and no thread gets the output. A failure: an awaiting thread gets that panic, too,
/// and does not learn of the first one.
#[test]
fn an_output_that_is_left_over_does_not_panic_at_who_awaits_it() {
    let scheduler = scheduler(1);
    let count = counter();
    let bomb = Counted(Arc::clone(&count), true);
    let mut output = Some(Counted(Arc::clone(&count), true));
    let future = scheduler.spawn(poll_fn(move |_| {
        let _stays_in_the_future = &bomb;
        Poll::Ready(output.take())
    }));
    let future = future.unwrap();
    let awaiting = scheduler.spawn(async move { future.await.map(drop).unwrap_err().to_string() });
    let message = awaiting.unwrap().join().unwrap();
    assert!(
        message.starts_with("the process panicked: bomb (in process "),
        "{message}"
    );
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

/// A failure: the future is dropped twice or late, or its handle takes an output that is missing.
#[test]
fn an_upgrade_drops_the_future_and_the_handle_gets_no_output() {
    let scheduler = scheduler(2);
    let count = counter();
    let kept = Counted(Arc::clone(&count), false);
    let future = scheduler.spawn(async move {
        let _kept = kept;
        pending::<u64>().await
    });
    let future = future.unwrap();
    let pid = future.pid();
    let successor = Box::new(summing(1));
    scheduler.upgrade(pid, successor, "run", 0).unwrap();
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert!(!future.has_ended());
    scheduler.send(pid, (0, 7)).unwrap();
    assert!(matches!(error(future), ProcessError::Terminated));
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// One thread wakes, one aborts, and one polls the handle once or never, and drops it. A failure: a
/// future or an output is lost or dropped twice, or memory of either is used after its end.
#[test]
fn whoever_is_last() {
    const ROUNDS: usize = 500;
    let scheduler = scheduler(2);
    let (futures, outputs, made) = (counter(), counter(), counter());
    for round in 0..ROUNDS {
        let (give, take) = mpsc::channel::<Waker>();
        let held = Counted(Arc::clone(&futures), false);
        let (outputs, made) = (Arc::clone(&outputs), Arc::clone(&made));
        let mut first = true;
        let future = scheduler.spawn(poll_fn(move |context| {
            let _held = &held;
            if std::mem::take(&mut first) {
                give.send(context.waker().clone()).unwrap();
                return Poll::Pending;
            }
            made.fetch_add(1, Ordering::Relaxed);
            Poll::Ready(Counted(Arc::clone(&outputs), false))
        }));
        let mut future = future.unwrap();
        let (handle, pid) = (scheduler.handle(), future.pid());
        thread::scope(|scope| {
            scope.spawn(move || take.into_iter().for_each(Waker::wake));
            if round % 3 == 0 {
                scope.spawn(move || handle.terminate(pid).is_ok());
            }
            if round % 2 == 0 {
                let _ = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
            }
            drop(future);
        });
    }
    until(|| scheduler.live() == 0);
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(futures.load(Ordering::Relaxed), ROUNDS);
    assert_eq!(
        outputs.load(Ordering::Relaxed),
        made.load(Ordering::Relaxed)
    );
}

/// A waker is kept for long. A failure: it keeps the output, or the output is dropped too early.
#[test]
fn an_output_goes_with_its_handle_though_a_waker_is_kept() {
    let scheduler = scheduler(1);
    for handle_goes_first in [false, true] {
        let outputs = counter();
        let (give, take) = mpsc::channel::<Waker>();
        let mut output = Some(Counted(Arc::clone(&outputs), false));
        let mut first = true;
        let future = scheduler.spawn(poll_fn(move |context| {
            if std::mem::take(&mut first) {
                give.send(context.waker().clone()).unwrap();
                return Poll::Pending;
            }
            Poll::Ready(output.take())
        }));
        let mut future = Some(future.unwrap());
        let waker = take.recv().unwrap();
        scheduler.wait_for_standstill().unwrap();
        if handle_goes_first {
            drop(future.take());
            assert_eq!(outputs.load(Ordering::Relaxed), 0);
        }
        waker.wake_by_ref();
        scheduler.wait_for_standstill().unwrap();
        let dropped = usize::from(handle_goes_first);
        assert_eq!(outputs.load(Ordering::Relaxed), dropped);
        drop(future);
        assert_eq!(outputs.load(Ordering::Relaxed), 1);
        waker.wake();
    }
}
