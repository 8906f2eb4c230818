//! Races of the worker that ends a process with its handle.

use std::time::Instant;

use filch_models::{Bound, Crossing};
use filch_scheduler::Pid;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::thread::JoinHandle;
use filch_sync::{Arc, thread};

use super::{Table, assert_given_back, next_occupant, one_occupant};

/// A process whose end is near: a worker has it, and will end it with `output`.
pub(crate) struct Ending {
    pub(crate) table: Table,
    pub(crate) pid: Pid,
    output: Arc<usize>,
    /// The deed of the process in its life.
    deed: Arc<AtomicUsize>,
    /// The worker passes it when it is done.
    crossing: Crossing,
    worker: JoinHandle<()>,
}

impl Ending {
    pub(crate) fn begin() -> Self {
        let (table, pid) = one_occupant();
        let (output, deed) = (Arc::new(7), Arc::new(AtomicUsize::new(0)));
        let crossing = Crossing::new();
        let worker = thread::spawn({
            let (table, output, deed) = (table.clone(), output.clone(), deed.clone());
            let crossing = crossing.clone();
            move || {
                // ORDERING: Relaxed: the end is to publish it.
                deed.store(1, Ordering::Relaxed);
                // SAFETY: `one_occupant` has started it, and this is its end.
                unsafe { table.end(pid, output) };
                crossing.pass();
            }
        });
        Self {
            table,
            pid,
            output,
            deed,
            crossing,
            worker,
        }
    }

    fn join(&self, deadline: Option<Instant>) -> Option<Arc<usize>> {
        // SAFETY: the test has the handle; those that have got the exit do not ask again.
        let output = unsafe { self.table.join(self.pid, deadline) };
        if output.is_some() {
            self.assert_published();
        }
        output
    }

    pub(crate) fn assert_published(&self) {
        // ORDERING: Relaxed: see `begin`.
        assert_eq!(self.deed.load(Ordering::Relaxed), 1, "not published");
    }

    /// All is over, and the handle dropped.
    pub(crate) fn finish(self) {
        self.worker.join().unwrap();
        assert_eq!(Arc::strong_count(&self.output), 1, "the output was kept");
        assert_given_back(&self.table, 1);
    }
}

/// Two threads: the worker ends the process, its handle is joined: before the end, in the middle of
/// it, after. Failure: a deadlock, as the joiner was not woken; an exit that is taken while it is
/// written; a deed unseen; a place lost, or let twice.
#[test]
fn an_end_meets_a_join() {
    Bound::exhaustive(1_000)
        .outcomes("a join gets the exit", || {
            let ending = Ending::begin();
            let had_ended = ending.table.has_ended(ending.pid);
            if had_ended {
                ending.assert_published();
            }
            assert_eq!(*ending.join(None).unwrap(), 7);
            ending.table.drop_handle(ending.pid);
            ending.finish();
            had_ended
        })
        .assert_exactly([false, true]);
}

/// Two threads: the worker ends the process, its handle leaves a call. Failure: neither calls, or
/// both; a call that does not see the process's deeds; an exit, or a call, that is lost.
#[test]
fn an_end_meets_a_call() {
    Bound::exhaustive(19)
        .outcomes("a call is called once", || {
            let ending = Ending::begin();
            // A panic in the call would be contained: it only takes notes.
            let (seen, caller) = (Arc::new(AtomicUsize::new(0)), thread::current().id());
            let call = {
                let (seen, deed) = (seen.clone(), ending.deed.clone());
                move |output: Arc<usize>| {
                    let here = usize::from(thread::current().id() == caller);
                    // ORDERING: Relaxed, all: looked at when the threads are joined, except
                    // the deed: see `begin`.
                    let note = *output + 10 * deed.load(Ordering::Relaxed) + 100 * here;
                    seen.fetch_add(note, Ordering::Relaxed);
                }
            };
            // SAFETY: this is the handle, and it is given up.
            unsafe { ending.table.on_exit(ending.pid, call) };
            ending.finish();
            assert_eq!(Arc::strong_count(&seen), 1, "the call was kept");
            // ORDERING: Relaxed: the threads are joined.
            seen.load(Ordering::Relaxed)
        })
        // Called by the worker; called by the handle.
        .assert_exactly([17, 117]);
}

/// Two threads: the worker ends the process, its handle lets go of the exit, while a waker keeps
/// the place. Failure: an exit that stays as long as the waker; one that is dropped while it is
/// written, or twice, or never.
#[test]
fn an_end_meets_a_handle_that_lets_go() {
    Bound::exhaustive(83)
        .outcomes("an exit that nobody wants does not stay", || {
            let ending = Ending::begin();
            // SAFETY: the handle has a pin; and it has not asked, and does not.
            unsafe {
                ending.table.share_pin(ending.pid);
                ending.table.let_go_of_exit(ending.pid);
            }
            let at_once = Arc::strong_count(&ending.output) == 1;
            ending.table.drop_handle(ending.pid);
            let Ending {
                table,
                pid,
                output,
                worker,
                ..
            } = ending;
            worker.join().unwrap();
            assert_eq!(Arc::strong_count(&output), 1, "it stays with the waker");
            // The waker's pin.
            table.drop_handle(pid);
            assert_given_back(&table, 1);
            at_once
        })
        .assert_exactly([false, true]);
}

/// Two threads: the worker ends the process, its handle is dropped. The last thread out
/// drops the exit. Failure: an exit that is dropped while it is written, or never.
#[test]
fn an_end_meets_no_join() {
    Bound::exhaustive(4)
        .outcomes("an exit that nobody takes is dropped", || {
            let ending = Ending::begin();
            ending.table.drop_handle(ending.pid);
            let dropped = Arc::strong_count(&ending.output) == 1;
            ending.finish();
            dropped
        })
        .assert_exactly([false, true]);
}

/// Two threads: the worker ends the process, a join gives up whenever loom likes, and then either
/// waits for ever after all, or leaves. Failure: a waiter that is freed twice, or never; an end
/// that is overlooked.
#[test]
fn an_end_meets_a_join_that_gives_up() {
    for returns in [true, false] {
        Bound::exhaustive(1_600)
            .outcomes("a join may give up", move || {
                let ending = Ending::begin();
                let first = ending.join(Some(Instant::now()));
                let gave_up = first.is_none();
                let second = (gave_up && returns).then(|| ending.join(None));
                let output = first.or(second.flatten());
                assert_eq!(output.is_none(), gave_up && !returns);
                drop(output);
                ending.table.drop_handle(ending.pid);
                ending.finish();
                gave_up
            })
            .assert_exactly([false, true]);
    }
}

/// Two threads: the handle is joined, and that thread submits the next process at once: in
/// another place, or, if the worker has let go, in the same. Failure: an end that is found in the
/// cell before it has come, or the exit of another process.
#[test]
fn the_next_occupant_has_another_end() {
    Bound::exhaustive(5_400)
        .outcomes("exits are not mixed up", || {
            let ending = Ending::begin();
            assert_eq!(*ending.join(None).unwrap(), 7);
            ending.table.drop_handle(ending.pid);
            ending.crossing.pass();
            let second = next_occupant(&ending.table);
            let place = second.slot();
            assert!(!ending.table.has_ended(second), "it lives");
            // SAFETY: started by `next_occupant`; then its one handle is joined.
            let output = unsafe {
                ending.table.end(second, Arc::new(8));
                ending.table.join(second, None)
            };
            assert_eq!(output.as_deref(), Some(&8));
            ending.table.drop_handle(second);
            ending.worker.join().unwrap();
            assert_given_back(&ending.table, 1 + place);
            place
        })
        .assert_exactly([0, 1]);
}
