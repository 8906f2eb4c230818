//! Futures as processes.

use std::future::{Future, pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::{JoinHandle, SpawnError};
use filch_scheduler::{JoinError, Pid, ProcessError, Scheduler};

use crate::common::{Test, scheduler, until};

fn exit<T: std::fmt::Debug + 'static>(future: JoinHandle<Test, T>) -> ProcessError<Test> {
    match future.join() {
        Err(JoinError::Process(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Tells that it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn its_output_is_of_any_type_and_is_awaited_or_joined() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let scheduler = scheduler(2);
    let number = assert_send(scheduler.spawn(async { 40_u8 }).unwrap());
    let text = scheduler
        .spawn(async move {
            let number = number.await.map_err(|error| error.to_string())?;
            Ok::<_, String>(format!("{}", number + 2))
        })
        .unwrap();
    assert_eq!(text.join().unwrap(), Ok("42".to_owned()));
    assert_eq!(scheduler.live(), 0, "who has joined finds the place free");
    let total = scheduler.stats().total();
    assert_eq!((total.ended, total.failed), (2, 0));
}

#[test]
fn joining_from_inside_is_refused_and_awaiting_is_not() {
    let scheduler = scheduler(1);
    let (handle, inner) = (scheduler.handle(), scheduler.handle());
    let outer = scheduler.spawn(async move {
        let child = handle.spawn(async { 3 }).unwrap();
        let Err(JoinError::CalledFromInside(child)) = child.join() else {
            panic!("the only worker would have waited for itself")
        };
        assert!(inner.is_worker());
        child.await.unwrap()
    });
    assert_eq!(outer.unwrap().join().unwrap(), 3);
}

#[test]
fn a_panic_ends_one_future_with_its_message() {
    let scheduler = scheduler(1);
    let bad = scheduler.spawn(async {
        if true {
            panic!("the future's message");
        }
    });
    let error = exit(bad.unwrap());
    let told = "the process panicked: the future's message (in process ";
    assert!(error.to_string().starts_with(told), "{error}");

    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("the destructor's message");
        }
    }
    let bomb = Bomb;
    let ready = poll_fn(move |_| {
        let _stays_in_the_future = &bomb;
        Poll::Ready(5)
    });
    let error = exit(scheduler.spawn(ready).unwrap());
    let told = "the process panicked: the destructor's message (in process ";
    assert!(error.to_string().starts_with(told), "{error}");
    assert_eq!(scheduler.spawn(async { 1 }).unwrap().join().unwrap(), 1);
}

#[test]
fn an_aborted_future_is_dropped_once_and_one_that_has_ended_is_not_aborted() {
    let scheduler = scheduler(2);
    let drops = Arc::new(AtomicUsize::new(0));
    let dropped = Dropped(Arc::clone(&drops));
    let future = scheduler.spawn(async move {
        let _dropped = dropped;
        pending::<()>().await;
    });
    let future = future.unwrap();
    assert!(!future.has_ended());
    future.abort();
    future.abort();
    assert!(matches!(exit(future), ProcessError::Terminated));
    assert_eq!(drops.load(Ordering::Relaxed), 1);

    let future = scheduler.spawn(async { 2 }).unwrap();
    until(|| future.has_ended());
    future.abort();
    assert_eq!(future.join().unwrap(), 2);
}

#[test]
fn a_future_without_a_handle_goes_on() {
    let scheduler = scheduler(1);
    let (give, take) = mpsc::channel();
    drop(
        scheduler
            .spawn(async move { give.send(9).unwrap() })
            .unwrap(),
    );
    assert_eq!(take.recv().unwrap(), 9);
}

#[test]
fn refused_futures_come_back() {
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .limit(1)
        .build()
        .unwrap();
    let first = scheduler.spawn(pending::<()>()).unwrap();
    let Err(SpawnError::NotAdmitted(filch_scheduler::NotAdmitted::LimitReached(limit), future)) =
        scheduler.spawn(ready(4))
    else {
        panic!("there is room for one")
    };
    assert_eq!((limit.get(), future.into_inner().into_inner()), (1, 4));
    first.abort();
    assert!(first.join().is_err());
    assert_eq!(scheduler.spawn(async { 1 }).unwrap().join().unwrap(), 1);

    let handle = scheduler.handle();
    drop(scheduler);
    let Err(SpawnError::NotAdmitted(filch_scheduler::NotAdmitted::ShutDown, future)) =
        handle.spawn(ready(4))
    else {
        panic!("nobody would run it")
    };
    assert_eq!(future.into_inner().into_inner(), 4);
}

#[test]
fn a_shutdown_waits_for_futures_and_drops_those_that_do_not_end() {
    let scheduler = scheduler(2);
    let drops = Arc::new(AtomicUsize::new(0));
    let dropped = Dropped(Arc::clone(&drops));
    let endless = scheduler.spawn(async move {
        let _dropped = dropped;
        pending::<()>().await;
    });
    let endless = endless.unwrap();
    let report = scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!((report.cancelled, report.aborted), (1, 1));
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    assert!(matches!(exit(endless), ProcessError::ShutDown));

    let scheduler = crate::common::scheduler(2);
    let (give, take) = mpsc::channel::<Waker>();
    let ready = Arc::new(AtomicBool::new(false));
    let ending = scheduler.spawn({
        let ready = Arc::clone(&ready);
        poll_fn(move |context| {
            if ready.load(Ordering::Acquire) {
                return Poll::Ready(6);
            }
            give.send(context.waker().clone()).unwrap();
            Poll::Pending
        })
    });
    let waker = take.recv().unwrap();
    let waking = std::thread::spawn(move || {
        // Whether the cancel event comes first does not matter to a future.
        ready.store(true, Ordering::Release);
        waker.wake();
    });
    let report = scheduler.shutdown(Duration::MAX).unwrap();
    assert_eq!(report.aborted, 0);
    assert_eq!(ending.unwrap().join().unwrap(), 6);
    waking.join().unwrap();
}

/// Two threads wake as soon as they get a waker: while the poll that gave it still runs, while its
/// worker lets go of the process, and after. A lost wake-up hangs.
#[test]
fn no_wake_up_is_lost() {
    const POLLS: usize = 20_000;
    let scheduler = scheduler(2);
    let mut wakers = Vec::new();
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (give, take) = mpsc::channel::<Waker>();
            wakers.push(give);
            std::thread::spawn(move || take.into_iter().for_each(Waker::wake))
        })
        .collect();
    let mut polls = 0;
    let future = scheduler.spawn(poll_fn(move |context| {
        polls += 1;
        if polls >= POLLS {
            return Poll::Ready(polls);
        }
        // One at a time: if its wake-up is lost there is no other.
        wakers[polls % 2].send(context.waker().clone()).unwrap();
        Poll::Pending
    }));
    assert_eq!(future.unwrap().join().unwrap(), POLLS);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_future_that_wakes_itself_gives_way_and_is_polled_again() {
    let scheduler = scheduler(1);
    let seen = Arc::new(AtomicBool::new(false));
    let busy = scheduler.spawn({
        let seen = Arc::clone(&seen);
        poll_fn(move |context| {
            context.waker().wake_by_ref();
            if seen.load(Ordering::Relaxed) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    });
    let other = scheduler.spawn(async move { seen.store(true, Ordering::Relaxed) });
    other.unwrap().join().unwrap();
    busy.unwrap().join().unwrap();
}

/// The waker of a future that has ended keeps its slot: nobody else is polled for it, and dropping
/// it frees the slot.
#[test]
fn waking_after_the_end_does_nothing() {
    let slot = |pid: Pid| (pid.to_bits() >> 32) as u32;
    let scheduler = scheduler(1);
    let (give, take) = mpsc::channel::<Waker>();
    let first = scheduler.spawn(poll_fn(move |context| {
        give.send(context.waker().clone()).unwrap();
        Poll::Ready(())
    }));
    let first = first.unwrap();
    let place = slot(first.pid());
    first.join().unwrap();
    let stale = take.recv().unwrap();
    for _ in 0..100 {
        let other = scheduler.spawn(ready(())).unwrap();
        assert_ne!(slot(other.pid()), place, "the waker keeps it");
        stale.wake_by_ref();
        other.join().unwrap();
    }
    stale.wake();
    let mut others = Vec::new();
    loop {
        let other = scheduler.spawn(ready(())).unwrap();
        if slot(other.pid()) == place {
            break;
        }
        // The worker that ended the first one has not left its slot yet.
        others.push(other);
        assert!(others.len() < 1_000_000, "the slot is lost");
    }
}

#[test]
fn a_dropped_handle_drops_its_waker() {
    struct Flag;
    impl std::task::Wake for Flag {
        fn wake(self: Arc<Self>) {}
    }
    let scheduler = scheduler(1);
    let mut endless = scheduler.spawn(pending::<()>()).unwrap();
    let flag = Arc::new(Flag);
    let waker = Waker::from(Arc::clone(&flag));
    let poll = Pin::new(&mut endless).poll(&mut Context::from_waker(&waker));
    assert!(poll.is_pending());
    drop((waker, endless));
    assert_eq!(Arc::strong_count(&flag), 1);
}

/// A handle polled with one waker and then with another: the last one is woken.
#[test]
fn the_last_waker_counts() {
    let scheduler = scheduler(1);
    let open = Arc::new(Mutex::new(None::<Waker>));
    let gate = scheduler.spawn({
        let open = Arc::clone(&open);
        let mut first = true;
        poll_fn(move |context| {
            if !std::mem::take(&mut first) {
                return Poll::Ready(1);
            }
            *open.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        })
    });
    let mut gate = gate.unwrap();
    struct Flag(mpsc::Sender<u8>, u8);
    impl std::task::Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.send(self.1).unwrap();
        }
    }
    let (give, take) = mpsc::channel();
    for name in [1, 2] {
        let waker = Waker::from(Arc::new(Flag(give.clone(), name)));
        let poll = Pin::new(&mut gate).poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
    }
    drop(give);
    loop {
        if let Some(waker) = open.lock().unwrap().take() {
            break waker.wake();
        }
        std::thread::yield_now();
    }
    assert_eq!(
        take.iter().collect::<Vec<_>>(),
        [2],
        "the first one was dropped"
    );
    assert!(
        Pin::new(&mut gate)
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
}
