//! The handles to processes and wakers of futures that keep a scheduler's memory when its last
//! owner has gone.

use std::future::poll_fn;
use std::sync::{Arc, Barrier, Weak, mpsc};
use std::task::{Poll, Waker};
use std::thread;

use filch_actors::prelude::*;
use filch_scheduler::{LifeCycle, ProcessHandle, Scheduler};

use crate::common::{Test, summing, until_dropped};

/// Hooks are dropped with the scheduler's memory.
struct Witness {
    _alive: Arc<()>,
}

impl LifeCycle<Test> for Witness {}

fn watched() -> (Scheduler<Test>, Weak<()>) {
    let alive = Arc::new(());
    let memory = Arc::downgrade(&alive);
    let hooks = Witness { _alive: alive };
    let scheduler = Scheduler::builder().workers(2).hooks(hooks).build();
    (scheduler.unwrap(), memory)
}

fn ends_at_once(scheduler: &Scheduler<Test>) -> ProcessHandle<Test> {
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    scheduler.send(process.pid(), (0, 1)).unwrap();
    process
}

#[test]
fn a_handle_to_a_process_keeps_the_memory() {
    let (scheduler, memory) = watched();
    let (one, other) = (ends_at_once(&scheduler), ends_at_once(&scheduler));
    drop(scheduler);
    // It has ended well, or by the shutdown.
    assert!(other.has_ended());
    drop(one.join());
    assert_eq!(memory.strong_count(), 1, "the other handle is there");
    drop(other);
    until_dropped(&memory);
}

#[test]
fn a_waker_keeps_the_memory() {
    let (scheduler, memory) = watched();
    let (give, take) = mpsc::channel::<Waker>();
    let future = scheduler.spawn(poll_fn(move |context| {
        give.send(context.waker().clone()).unwrap();
        Poll::Ready(())
    }));
    future.unwrap().join().unwrap();
    drop(scheduler);
    let waker = take.recv().unwrap();
    waker.wake_by_ref();
    assert_eq!(memory.strong_count(), 1, "the waker is there");
    waker.wake();
    until_dropped(&memory);
}

/// Three threads drop handles to processes while a fourth one drops the scheduler, or after that
/// while the workers leave: the last of them all frees its memory. A failure: it is freed twice or
/// too early, which a sanitizer sees, or never.
#[test]
fn whoever_is_last_frees_the_memory() {
    for round in 0..200 {
        let (scheduler, memory) = watched();
        let start = Barrier::new(4);
        let handles: [Vec<_>; 3] =
            [(); 3].map(|()| (0..3).map(|_| ends_at_once(&scheduler)).collect());
        thread::scope(|scope| {
            for handles in handles {
                scope.spawn(|| {
                    start.wait();
                    drop(handles);
                });
            }
            if round % 2 == 0 {
                start.wait();
                drop(scheduler);
            } else {
                drop(scheduler);
                start.wait();
            }
        });
        until_dropped(&memory);
    }
}
