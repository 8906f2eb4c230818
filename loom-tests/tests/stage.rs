//! Models of the cell in which a spawned future lives and leaves its output. It is handed from
//! worker to worker by the process's state, and to the handle by the process's exit; its own word
//! says only which of the two ends has left it. So it is modelled between the shipped table and
//! exit, as the models of `occupants` are.
//!
//! loom sees two threads that touch the cell at once, or one that has not acquired what the other
//! did, as a race, and what is dropped twice or never by its `Arc`.
#![cfg(loom)]

#[path = "occupants/processes.rs"]
mod processes;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use filch_process_table::Pid;
use filch_promise::{Output, Stage};
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::{Arc, thread};
use loom_tests::{Bound, Outcomes, check, refute};
use processes::Processes;

/// Ready with what it was given, after `left` polls in vain.
struct Steps {
    left: usize,
    output: Option<Arc<usize>>,
}

impl Future for Steps {
    type Output = Arc<usize>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Arc<usize>> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Poll::Pending
            }
            None => Poll::Ready(self.output.take().unwrap()),
        }
    }
}

/// The process of a future, which the thread has started, as `FutureProcess` and its worker have
/// it.
#[derive(Clone)]
struct Process {
    table: Arc<Processes<usize, ()>>,
    pid: Pid,
    stage: Arc<Stage<Steps>>,
}

impl Process {
    /// One that is ready after `left` polls in vain, and what it will be ready with.
    fn begin(left: usize) -> (Self, Arc<usize>) {
        let output = Arc::new(7);
        let table = Arc::new(Processes::new());
        let pid = table.submit();
        table.start(pid);
        let stage = Stage::new(Steps {
            left,
            output: Some(output.clone()),
        });
        let process = Self {
            table,
            pid,
            stage: Arc::new(stage),
        };
        (process, output)
    }

    /// As a step. Whether the future is ready.
    fn step(&self) -> bool {
        // SAFETY: the worker that has the process.
        let polled = unsafe { self.stage.poll(&mut Context::from_waker(Waker::noop())) };
        polled.is_ready()
    }

    /// As the end: first the process is dropped, then the handle is told.
    fn end(self) {
        let Self { table, pid, stage } = self;
        // SAFETY: the worker that has the process, for the last time.
        unsafe { stage.give_up() };
        drop(stage);
        // SAFETY: started, and ended once.
        unsafe { table.end(pid, ()) };
    }

    /// A worker that takes these steps, each of which is the last one or not, and ends the process.
    fn worker<const STEPS: usize>(&self, steps: [bool; STEPS]) -> thread::JoinHandle<()> {
        let process = self.clone();
        thread::spawn(move || {
            assert_eq!(steps.map(|_| process.step()), steps);
            process.end();
        })
    }

    /// As a handle that waits for the end. The output, if it has come.
    fn join(self) -> Option<Arc<usize>> {
        // SAFETY: the caller has the handle, and asks once.
        let exit = unsafe { self.table.join(self.pid, None) };
        assert_eq!(exit, Some(()), "it waits as long as it takes");
        self.table.drop_handle(self.pid);
        // SAFETY: that was the exit; this is the handle, which goes.
        unsafe {
            let output = self.stage.take();
            self.stage.let_go();
            output
        }
    }

    /// As a handle that is dropped.
    fn drop_handle(self) {
        self.table.drop_handle(self.pid);
        // SAFETY: this is the handle, and it has not asked.
        unsafe { self.stage.let_go() };
    }
}

/// Two threads: a worker has polled the future once in vain, polls it again and ends its process;
/// the handle is joined before, meanwhile or after. Failure: a race on the cell, or no output.
#[test]
fn an_output_goes_to_the_join() {
    let outcomes = Outcomes::new();
    check("a join takes the output", Bound::exhaustive(6_000), {
        let outcomes = outcomes.clone();
        move || {
            let (process, output) = Process::begin(1);
            let worker = process.worker([false, true]);
            let had_ended = process.table.has_ended(process.pid);
            assert_eq!(process.join().as_deref(), Some(&7));
            worker.join().unwrap();
            assert_eq!(Arc::strong_count(&output), 1, "kept");
            outcomes.observe(had_ended);
        }
    });
    outcomes.assert_exactly([false, true]);
}

/// Two threads: a worker ends the process of a future that is not ready, as after an abort.
/// Failure: a future that is there when its end has been told of, or is dropped by the handle; a
/// race; an output out of nothing.
#[test]
fn an_aborted_future_goes_before_its_end_is_told() {
    check(
        "an aborted future is dropped",
        Bound::exhaustive(100),
        || {
            let (process, output) = Process::begin(1);
            let worker = process.worker([false]);
            let left = process.stage.clone();
            assert!(process.join().is_none());
            assert_eq!(Arc::strong_count(&output), 1, "it outlives its process");
            drop(left);
            worker.join().unwrap();
        },
    );
}

/// Two threads: a worker ends the process of a future that is ready, the handle is dropped, and
/// with it the output or not; somebody keeps a waker, and so the cell. Failure: an output that is
/// dropped twice, or stays when both have left, or is dropped by one who has not acquired it.
#[test]
fn an_output_that_nobody_takes_goes_with_the_last() {
    let outcomes = Outcomes::new();
    check("the last one drops the output", Bound::exhaustive(40), {
        let outcomes = outcomes.clone();
        move || {
            let (process, output) = Process::begin(0);
            let worker = process.worker([true]);
            let in_a_waker = process.stage.clone();
            process.drop_handle();
            outcomes.observe(Arc::strong_count(&output));
            worker.join().unwrap();
            assert_eq!(Arc::strong_count(&output), 1, "kept");
            drop(in_a_waker);
        }
    });
    // Gone with the handle; still there when that goes.
    outcomes.assert_exactly([1, 2]);
}

/// Two threads: a worker ends the process of a future that is ready, the handle leaves a call,
/// which takes the output: as an await does. Failure: a race between the call and the worker; no
/// call, or one without the output.
#[test]
fn an_output_goes_to_the_call() {
    let outcomes = Outcomes::new();
    check("a call takes the output", Bound::exhaustive(20), {
        let outcomes = outcomes.clone();
        move || {
            let (process, output) = Process::begin(0);
            let worker = process.worker([true]);
            let (seen, caller) = (Arc::new(AtomicUsize::new(0)), thread::current().id());
            let Process { table, pid, stage } = process;
            let call = {
                let seen = seen.clone();
                move |()| {
                    let here = usize::from(thread::current().id() == caller);
                    // SAFETY: this has got the exit, and is the handle's.
                    let output = unsafe { stage.take() }.map_or(0, |output| *output);
                    // SAFETY: as above.
                    unsafe { stage.let_go() };
                    // ORDERING: Relaxed: looked at when the threads are joined.
                    seen.fetch_add(output + 100 * here, Ordering::Relaxed);
                }
            };
            // SAFETY: this is the handle, and it is given up.
            unsafe { table.on_exit(pid, call) };
            worker.join().unwrap();
            assert_eq!(Arc::strong_count(&output), 1, "kept");
            // ORDERING: Relaxed: the threads are joined.
            outcomes.observe(seen.load(Ordering::Relaxed));
        }
    });
    // Called by the worker; called by the handle.
    outcomes.assert_exactly([7, 107]);
}

/// As a worker whose process has been woken: polls it again, and ends it.
fn again(process: Process) {
    process.table.start(process.pid);
    // SAFETY: started just now.
    let woken = unsafe { process.table.receive(process.pid) };
    assert_eq!(woken.len(), 1);
    assert!(process.step());
    process.end();
}

/// A worker polls in vain and then lets go, in the order that `turn` has; main wakes the process,
/// and if it is told to, has its second turn; else the worker has that, too. Whether main had it.
fn woken(turn: fn(&Process) -> bool) -> bool {
    let (process, output) = Process::begin(1);
    let worker = thread::spawn({
        let process = process.clone();
        move || {
            if turn(&process) {
                again(process);
            }
        }
    });
    let mine = process.table.send(process.pid, 1).unwrap();
    if mine {
        again(process.clone());
    }
    assert_eq!(process.join().as_deref(), Some(&7));
    worker.join().unwrap();
    assert_eq!(Arc::strong_count(&output), 1, "kept");
    mine
}

/// Two threads: one worker polls the future in vain and lets go; main wakes it, as a waker does,
/// and is another worker if it is told to. Failure: both poll at once, or neither; a second poll
/// that does not see the first.
#[test]
fn a_future_goes_from_worker_to_worker() {
    let outcomes = Outcomes::new();
    check("two workers poll in turn", Bound::preemptions(3, 600), {
        let outcomes = outcomes.clone();
        move || {
            outcomes.observe(woken(|process| {
                assert!(!process.step());
                process.table.let_go(process.pid)
            }));
        }
    });
    outcomes.assert_exactly([false, true]);
}

/// The mistake: the worker lets go of the process before it has done with the future. Its sound
/// twin is `a_future_goes_from_worker_to_worker`.
#[test]
fn a_worker_that_polls_after_it_has_let_go() {
    refute(
        "let go, then poll",
        "Concurrent write accesses",
        Bound::preemptions(3, 2),
        || {
            woken(|process| {
                let again = process.table.let_go(process.pid);
                let _ready = process.step();
                again
            });
        },
    );
}

/// The mistake: the handle is told of the end before the process is dropped. Its sound twin
/// is `an_output_goes_to_the_join`.
#[test]
fn a_process_that_is_dropped_after_its_end_is_told() {
    refute(
        "tell, then drop",
        "Concurrent write accesses",
        Bound::preemptions(3, 2),
        || {
            let (process, _output) = Process::begin(0);
            let worker = thread::spawn({
                let process = process.clone();
                move || {
                    assert!(process.step());
                    let stage = process.stage.clone();
                    // SAFETY: started, and ended once.
                    unsafe { process.table.end(process.pid, ()) };
                    // SAFETY: none: it is the handle's by now.
                    unsafe { stage.give_up() };
                }
            });
            let _output = process.join();
            worker.join().unwrap();
        },
    );
}
