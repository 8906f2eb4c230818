//! Calls that fail: the caller is always told, in whatever way the process or the message ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;
use std::{future::Future, pin::Pin};

use crate::common::until;
use filch_actors::prelude::*;
use filch_actors::{CallError, Caller, NoAnswer};
use filch_scheduler::{Scheduler, StepOutput};

use crate::calls::{Calls, builder, call, called, scheduler, start};

/// The way in which a step ends after it has dealt with its caller.
#[derive(Clone, Copy)]
enum End {
    Fails,
    Panics,
    Done,
    Idle,
}

/// A failure: an answer is lost with the step that gave it, or a caller without an answer waits for
/// ever.
#[test]
fn however_the_step_ends() {
    for may_visit in [false, true] {
        for answers in [false, true] {
            for end in [End::Fails, End::Panics, End::Done, End::Idle] {
                let scheduler = builder(2)
                    .threads(|set| set.guests(may_visit))
                    .build()
                    .unwrap();
                let process = called(move |_, (number, caller), out| {
                    if answers {
                        out.answer(caller, number);
                    } else if matches!(end, End::Idle) {
                        drop(caller);
                    } else {
                        // The panic, or the end of the step, drops it.
                        let _caller = caller;
                    }
                    match end {
                        End::Fails => return Err("it does not want to".to_owned()),
                        End::Panics => panic!("the step's message"),
                        End::Done => out.done(()),
                        End::Idle => {}
                    }
                    Ok(())
                });
                let pid = start(&scheduler, process);
                match call(&scheduler, pid, 4) {
                    Ok(answer) => assert!(answers && answer == 4),
                    Err(CallError::Abandoned) => assert!(!answers),
                    Err(error) => panic!("{error}"),
                }
                // The answer comes behind the end.
                let lives = matches!(end, End::Idle);
                assert!(!answers || scheduler.live() == usize::from(lives));
            }
        }
    }
}

/// Calls that the process keeps end with it, and so do those it has not read. A failure: a caller
/// waits for a process that is over.
#[test]
fn a_process_that_ends_fails_the_calls_that_it_keeps() {
    let scheduler = builder(1).threads(|set| set.guests(false)).build().unwrap();
    let (gate, is_open) = mpsc::channel::<()>();
    let (told, kept) = mpsc::channel();
    let mut keeps = Vec::new();
    let process = called(move |_, (_, caller), _| {
        keeps.push(caller);
        told.send(()).unwrap();
        if keeps.len() == 2 {
            is_open.recv().unwrap();
            return Err("it keeps two".to_owned());
        }
        Ok(())
    });
    let submission = scheduler.submission(process, "run", ()).mailbox(3);
    let pid = submission.submit().unwrap().pid();
    thread::scope(|scope| {
        let callers = [1, 2, 3].map(|number| {
            let scheduler = &scheduler;
            let caller = scope.spawn(move || call(scheduler, pid, number));
            if number < 3 {
                kept.recv().unwrap();
            }
            caller
        });
        until(|| scheduler.info(pid).unwrap().undelivered == Some(1));
        gate.send(()).unwrap();
        for caller in callers {
            let missing = caller.join().unwrap().unwrap_err();
            assert!(matches!(missing, CallError::Abandoned), "{missing}");
        }
    });
}

/// A failure: a deadlock, as the step waits for itself.
#[test]
fn from_inside() {
    let scheduler = scheduler(2);
    let process = called(move |context, (number, caller), out| {
        let inside = context
            .handle()
            .call(context.pid(), |caller| (number + 1, caller));
        match inside {
            Err(CallError::CalledFromInside((number, _))) => out.answer(caller, number),
            other => panic!("{other:?}"),
        }
        Ok(())
    });
    let pid = start(&scheduler, process);
    assert_eq!(call(&scheduler, pid, 6).unwrap(), 7);
    let timed = scheduler.call_timeout(pid, Duration::from_secs(3600), |caller| (7, caller));
    assert_eq!(timed.unwrap(), 8);
}

/// Tells that it is dropped, and panics.
struct Loud(Arc<AtomicUsize>);

impl Drop for Loud {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("the answer's destructor");
    }
}

/// A waker that panics.
struct LoudWaker;

impl Wake for LoudWaker {
    fn wake(self: Arc<Self>) {
        panic!("the caller's waker");
    }
}

/// A step drops its caller, or unwinds with it in hand. A failure: the waker's panic ends the step,
/// or, as the second panic of the thread, the program.
#[test]
fn a_waker_that_panics_when_its_caller_is_dropped() {
    let scheduler = scheduler(1);
    for unwinds in [false, true] {
        let (caller, mut answer) = Caller::new();
        let waker = Waker::from(Arc::new(LoudWaker));
        let polled = Pin::new(&mut answer).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let process = called(move |_, (number, caller), out| {
            if number > 0 {
                out.answer(caller, number);
                return Ok(());
            }
            let _caller = caller;
            assert!(!unwinds, "the step's message");
            Ok(())
        });
        let pid = start(&scheduler, process);
        scheduler.send(pid, (0, caller)).unwrap();
        assert_eq!(call(&scheduler, pid, 7).is_ok(), !unwinds);
        assert_eq!(answer.wait(), Err(NoAnswer));
    }
}

/// The caller has gone when the answer comes. A failure: the answer is lost, or its destructor
/// takes the worker along.
#[test]
fn an_answer_that_comes_too_late() {
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    let (gate, is_open) = mpsc::channel::<()>();
    let process = called({
        let dropped = Arc::clone(&dropped);
        move |_, (_, caller), out: &mut StepOutput<Calls<Loud>>| {
            is_open.recv().unwrap();
            out.answer(caller, Loud(Arc::clone(&dropped)));
            Ok(())
        }
    });
    let pid = start(&scheduler, process);
    for _ in 0..2 {
        let late = scheduler.call_timeout(pid, Duration::ZERO, |caller| (0, caller));
        assert!(matches!(late, Err(CallError::NotYet)));
        gate.send(()).unwrap();
    }
    until(|| dropped.load(Ordering::Relaxed) >= 2 || scheduler.live() == 0);
    let panicked = scheduler.stats().workers[0].processor.panicked;
    assert_eq!((scheduler.live(), panicked), (1, 0));
}

/// A failure: the caller waits for a process that is not there any more.
#[test]
fn a_shutdown_while_a_caller_waits() {
    for may_visit in [false, true] {
        let scheduler = builder(2)
            .threads(|set| set.guests(may_visit))
            .build()
            .unwrap();
        let mut keeps = Vec::new();
        let (told, kept) = mpsc::channel();
        let process = called(move |_, (_, caller), _| {
            keeps.push(caller);
            told.send(()).unwrap();
            Ok(())
        });
        let pid = start(&scheduler, process);
        let handle = scheduler.handle();
        let caller = thread::spawn(move || call(&handle, pid, 0));
        kept.recv().unwrap();
        let report = scheduler.shutdown(Duration::MAX).unwrap();
        assert!(report.is_clean());
        assert!(matches!(caller.join().unwrap(), Err(CallError::Abandoned)));
    }
}

/// The process keeps its caller, and the call has a short limit. A failure: it takes the step, for
/// as long as that lasts, or waits on.
#[test]
fn a_call_for_a_moment() {
    let scheduler = scheduler(2);
    let here = thread::current().id();
    let mut keeps = Vec::new();
    let process = called(move |_, (_, caller), _| {
        assert_ne!(thread::current().id(), here);
        keeps.push(caller);
        Ok(())
    });
    let pid = start(&scheduler, process);
    let late = scheduler.call_timeout(pid, Duration::from_millis(1), |caller| (0, caller));
    assert!(matches!(late, Err(CallError::NotYet)));
    // It has panicked, if it has taken the step here.
    assert!(scheduler.info(pid).is_some());
}
