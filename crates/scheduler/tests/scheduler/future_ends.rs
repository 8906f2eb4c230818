//! Futures and outputs that come to their end in hostile ways: destructors that panic, strangers'
//! messages and signals, upgrades, and handles that are dropped at that very moment.

use std::future::{Future, pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use filch_scheduler::{
    Event, Events, ExitReason, InitError, JoinError, JoinHandle, Node, Pid, Process, ProcessError,
    Protocol, Receiver, Scheduler, SendError, StepOutput, Undelivered,
};

use crate::common::{scheduler, scripted, summing};

/// Counts when it is dropped, and then panics, if it is armed.
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

fn error<P: Protocol, T>(future: JoinHandle<P, T>) -> ProcessError<P> {
    match future.join() {
        Err(JoinError::Process(error)) => error,
        _ => panic!("it ends badly"),
    }
}

/// Pending for ever, with a bomb that goes off before the rest of it is dropped.
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
        while scheduler.live() > 0 {
            thread::yield_now();
        }
        scheduler.wait_for_standstill().unwrap();
        for count in [bomb, rest] {
            assert_eq!(count.load(Ordering::Relaxed), 1);
        }
    }
    assert_eq!(scheduler.spawn(ready(1)).unwrap().join().unwrap(), 1);
}

/// The output of a future that nobody watches is dropped by the worker. A failure: its panic ends
/// more than that, or the future, which was done, counts as failed.
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

/// The future has ended, and its handle, which has the output, is dropped: not asked before, or
/// polled while the future ran. A failure: the destructor's panic reaches the
/// thread that drops the handle.
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
    while !unasked.has_ended() {
        thread::yield_now();
    }
    drop(unasked);
    assert_eq!(count.load(Ordering::Relaxed), 1);

    let (mut polled, open) = spawn();
    let poll = Pin::new(&mut polled).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_pending());
    open.send(()).unwrap();
    while !polled.has_ended() {
        thread::yield_now();
    }
    drop(polled);
    assert_eq!(count.load(Ordering::Relaxed), 2);

    assert_eq!(scheduler.spawn(ready(1)).unwrap().join().unwrap(), 1);
    assert_eq!(scheduler.stats().total().failed, 0);
}

/// A future is replaced by a process whose output panics when it is dropped, and nobody takes it:
/// the handle has it, as it was polled before. A failure: as above.
#[test]
fn the_exit_of_a_successor_is_dropped_with_the_futures_handle() {
    let scheduler = Scheduler::<Bombs>::builder().workers(1).build().unwrap();
    let count = counter();
    let mut future = scheduler.spawn(pending::<()>()).unwrap();
    let poll = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll.is_pending());
    let successor = Box::new(Bomber(Some(Counted(Arc::clone(&count), true))));
    assert!(
        scheduler
            .upgrade(future.pid(), successor, "run", ())
            .is_ok()
    );
    while !future.has_ended() {
        thread::yield_now();
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
    drop(future);
    assert_eq!(count.load(Ordering::Relaxed), 1);
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

/// Is done with its bomb at once.
struct Bomber(Option<Counted>);

impl Process<Bombs> for Bomber {
    fn init(
        &mut self,
        _: &filch_scheduler::Context<'_, Bombs>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Bombs>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &filch_scheduler::Context<'_, Bombs>,
        _: Events<'_, Bombs>,
        out: &mut StepOutput<Bombs>,
    ) -> Result<(), String> {
        out.done(self.0.take().unwrap());
        Ok(())
    }
}

/// Ready with an output that panics when it is dropped, as does the future itself: so it ends by
/// the panic, and no thread gets the output. A failure: a thread that awaits it ends by that panic
/// too, and does not learn of the first one.
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
    assert_eq!(message, "the process panicked: bomb");
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

/// A protocol whose messages panic when they are dropped.
enum Mines {}

impl Protocol for Mines {
    type Input = ();
    type Message = Counted;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// Its PID is known to others, which send to it: by any way, while it runs and while it is pending.
/// A failure: a message is taken, and dropped; or what a stranger does ends the future.
#[test]
fn a_message_to_a_future_comes_back() {
    let scheduler = Scheduler::<Mines>::builder().workers(1).build().unwrap();
    let count = counter();
    let (say, begun) = mpsc::channel();
    let (open, opened) = mpsc::channel::<()>();
    let (give, take) = mpsc::channel::<Waker>();
    let mut first = true;
    let future = scheduler.spawn(poll_fn(move |context| {
        if !std::mem::take(&mut first) {
            return Poll::Ready(5);
        }
        say.send(()).unwrap();
        opened.recv().unwrap();
        give.send(context.waker().clone()).unwrap();
        Poll::Pending
    }));
    let future = future.unwrap();
    let pid = future.pid();
    scheduler.register("future", pid).unwrap();
    let message = || Counted(Arc::clone(&count), false);
    let refused = |outcome: Result<(), SendError<Mines>>| {
        let error = outcome.unwrap_err();
        assert_eq!((error.to, error.reason), (pid, Undelivered::Future));
        let before = count.load(Ordering::Relaxed);
        drop(error.message);
        assert_eq!(count.load(Ordering::Relaxed), before + 1, "it came back");
    };
    let all_ways = || {
        refused(scheduler.send(pid, message()));
        refused(scheduler.send(scheduler.whereis("future").unwrap(), message()));
        refused(scheduler.handle().receive(pid, message()));
        // Through the other node's scheduler, whose receiver is a handle to this one.
        let away = Scheduler::<Mines>::builder().node(Node(1)).build().unwrap();
        away.connect(Node(0), scheduler.handle()).unwrap();
        refused(away.send(pid, message()));
    };
    begun.recv().unwrap();
    all_ways();
    open.send(()).unwrap();
    let waker = take.recv().unwrap();
    all_ways();
    let info = scheduler.info(pid).unwrap();
    assert_eq!((info.messages, info.undelivered), (0, None));
    waker.wake();
    assert_eq!(future.join().unwrap(), 5);
    let gone = scheduler.send(pid, message()).unwrap_err();
    assert_eq!(gone.reason, Undelivered::Gone);
}

/// The next occupant of its slot is no future, and takes messages; and a process that sends to a
/// future from inside is refused too.
#[test]
fn only_the_future_has_no_mailbox() {
    let slot = |pid: Pid| (pid.to_bits() >> 32) as u32;
    let scheduler = scheduler(1);
    let future = scheduler.spawn(pending::<()>()).unwrap();
    let pid = future.pid();
    let sender = scripted(move |context, _, out| {
        let error = context.send(pid, (0, 3)).unwrap_err();
        assert_eq!(error.reason, Undelivered::Future);
        out.done(error.message.1);
        Ok(())
    });
    let sender = scheduler.submit(sender, "run", 0).unwrap();
    assert_eq!(sender.join().unwrap(), 3);
    future.abort();
    assert!(future.join().is_err());
    let mut occupants = Vec::new();
    let occupant = loop {
        let occupant = scheduler.submit(summing(1), "run", 0).unwrap();
        if slot(occupant.pid()) == slot(pid) {
            break occupant;
        }
        occupants.push(occupant);
    };
    scheduler.send(occupant.pid(), (0, 4)).unwrap();
    assert_eq!(occupant.join().unwrap(), 4);
}

/// A monitor, a link, an upgrade and a termination reach it as they reach any process.
#[test]
fn signals_reach_a_future() {
    let scheduler = scheduler(2);
    let watcher = scripted(|_, events, out| {
        for event in events {
            if let Event::Down(down) = event {
                assert!(matches!(down.reason, ExitReason::Terminated), "{down:?}");
                out.done(1);
            }
        }
        Ok(())
    });
    let watcher = scheduler.submit(watcher, "run", 0).unwrap();
    let (one, other) = (pending::<()>(), pending::<()>());
    let one = scheduler.spawn(one).unwrap();
    let other = scheduler.spawn(other).unwrap();
    let _monitor = scheduler.monitor(watcher.pid(), one.pid());
    let _told_in_vain = scheduler.monitor(other.pid(), one.pid());
    let _link = scheduler.link(one.pid(), other.pid());
    one.abort();
    assert_eq!(watcher.join().unwrap(), 1);
    assert!(matches!(error(one), ProcessError::Terminated));
    assert!(matches!(error(other), ProcessError::Linked { .. }));
}

/// A failure: the future is dropped twice or late, or its handle takes what is not there.
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

/// One thread wakes, one aborts, and one polls the handle once or not at all, and drops it. A
/// failure: a future or an output is lost or dropped twice, or the memory of both is used after its
/// end.
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
    while scheduler.live() > 0 {
        thread::yield_now();
    }
    scheduler.wait_for_standstill().unwrap();
    assert_eq!(futures.load(Ordering::Relaxed), ROUNDS);
    assert_eq!(
        outputs.load(Ordering::Relaxed),
        made.load(Ordering::Relaxed)
    );
}
