//! Threads that call a process: send it a message, and wait for the answer.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::common::until;
use filch_actors::{CallError, Caller, prelude::*};
use filch_scheduler::{
    Builder, Completion, Context, Event, Events, ExitReason, Handle, InitError, Pid, Process,
    Protocol, Scheduler, StepOutput, Submission, from_fn,
};

/// The protocol of processes that answer calls with an `R`.
pub(crate) struct Calls<R = u64>(PhantomData<R>);

/// The argument of a call, and the caller.
pub(crate) type Message<R = u64> = (u64, Caller<R>);

impl<R: Send + 'static> Protocol for Calls<R> {
    type Input = ();
    type Message = Message<R>;
    type Command = u64;
    type Reply = u64;
    type Output = ();
    type Error = String;
}

type Stepped = Result<(), String>;

/// Calls its first closure with each event but a cancel, which ends it, and its second one when it
/// is closed.
struct Scripted<F, C>(F, C);

impl<R, F, C> Process<Calls<R>> for Scripted<F, C>
where
    R: Send + 'static,
    F: FnMut(&Context<'_, Calls<R>>, Event<Calls<R>>, &mut StepOutput<Calls<R>>) -> Stepped + Send,
    C: FnMut() + Send,
{
    fn init(
        &mut self,
        _: &Context<'_, Calls<R>>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Calls<R>>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Calls<R>>,
        events: Events<'_, Calls<R>>,
        out: &mut StepOutput<Calls<R>>,
    ) -> Stepped {
        for event in events {
            match event {
                Event::Cancel(_) => out.done(()),
                event => (self.0)(context, event, out)?,
            }
        }
        Ok(())
    }

    fn close(&mut self, _: &ExitReason) {
        (self.1)();
    }
}

/// Makes a process that calls a closure for each call.
pub(crate) fn called<R: Send + 'static>(
    mut call: impl FnMut(&Context<'_, Calls<R>>, Message<R>, &mut StepOutput<Calls<R>>) -> Stepped
    + Send
    + 'static,
) -> impl Process<Calls<R>> + 'static {
    let step = move |context: &Context<'_, Calls<R>>,
                     event: Event<Calls<R>>,
                     out: &mut StepOutput<Calls<R>>| match event {
        Event::Message(message) => call(context, message, out),
        _ => Ok(()),
    };
    Scripted(step, || {})
}

/// Answers each call with its argument, and tells the thread.
pub(crate) fn echo() -> (impl Process<Calls> + 'static, mpsc::Receiver<ThreadId>) {
    let (ran, on) = mpsc::channel();
    let process = called(move |_, (number, caller), out| {
        // Nobody may want to know.
        let _ = ran.send(thread::current().id());
        out.answer(caller, number);
        Ok(())
    });
    (process, on)
}

pub(crate) fn builder(workers: usize) -> Builder<Calls> {
    let later = |number: u64, completion: Completion<Calls>| {
        thread::spawn(move || completion.complete(number));
    };
    Scheduler::builder().workers(workers).handler(later)
}

pub(crate) fn scheduler(workers: usize) -> Scheduler<Calls> {
    builder(workers).build().unwrap()
}

/// Waits until the process has begun and waits for a message, and all workers are idle.
pub(crate) fn settle<R: Send + 'static>(scheduler: &Scheduler<Calls<R>>, submitted: usize) {
    let has_begun = |pid: &Pid| scheduler.info(*pid).is_some_and(|info| info.steps > 0);
    until(|| {
        scheduler
            .processes()
            .iter()
            .filter(|pid| has_begun(pid))
            .count()
            >= submitted
    });
    until_idle(scheduler);
}

/// Waits until all workers are idle.
pub(crate) fn until_idle<P: Protocol>(scheduler: &Scheduler<P>) {
    let idle = format!("{} processors, {0} idle, 0 searching", scheduler.workers());
    until(|| scheduler.dump().to_string().contains(&idle));
}

/// Submits the process, and waits until it is idle.
pub(crate) fn start<R: Send + 'static>(
    scheduler: &Scheduler<Calls<R>>,
    process: impl Process<Calls<R>> + 'static,
) -> Pid {
    let pid = scheduler.submit(process, "run", ()).unwrap().pid();
    settle(scheduler, scheduler.live());
    pid
}

pub(crate) fn call(handle: &Handle<Calls>, to: Pid, number: u64) -> Result<u64, CallError<Calls>> {
    handle.call(to, |caller| (number, caller))
}

pub(crate) fn visits<P: Protocol>(handle: &Handle<P>) -> u64 {
    let workers = handle.stats().workers;
    workers.iter().map(|worker| worker.processor.visits).sum()
}

pub(crate) fn wake_ups<P: Protocol>(handle: &Handle<P>) -> u64 {
    let workers = handle.stats().workers;
    let wake_ups = workers.iter().map(|worker| worker.processor.wake_ups);
    wake_ups.sum()
}

/// A failure: a worker is woken for a step that the caller could take.
#[test]
fn the_caller_takes_the_step() {
    for workers in [1, 2, 8] {
        let scheduler = scheduler(workers);
        let (process, on) = echo();
        let pid = start(&scheduler, process);
        let before = wake_ups(&scheduler);
        for number in 0..50 {
            assert_eq!(call(&scheduler, pid, number).unwrap(), number);
            assert_eq!(on.try_recv(), Ok(thread::current().id()));
            assert!(!scheduler.is_worker());
        }
        assert_eq!((visits(&scheduler), wake_ups(&scheduler)), (50, before));
    }
}

/// The same with a limit on its mailbox; but not with idle priority, or a thread of its own. A
/// failure: the wrong thread takes the step.
#[test]
fn whose_steps_the_caller_takes() {
    let scheduler = scheduler(2);
    let bound = scheduler.reserve_thread().unwrap();
    let takes_step = |submission: Submission<'_, Calls>, on: mpsc::Receiver<ThreadId>| {
        let process = submission.submit().unwrap();
        settle(&scheduler, scheduler.live());
        assert_eq!(call(&scheduler, process.pid(), 7).unwrap(), 7);
        on.recv() == Ok(thread::current().id())
    };
    let (process, on) = echo();
    let limited = scheduler.submission(process, "run", ()).mailbox(1);
    assert!(takes_step(limited, on));
    let (process, on) = echo();
    let idle = scheduler.submission(process, "run", ()).idle_priority();
    assert!(!takes_step(idle, on));
    let (process, on) = echo();
    let there = scheduler.submission(process, "run", ()).bound_to(&bound);
    assert!(!takes_step(there, on));
}

#[test]
fn guests_can_be_forbidden() {
    let scheduler = builder(2).threads(|set| set.guests(false)).build().unwrap();
    let (process, on) = echo();
    let pid = start(&scheduler, process);
    assert_eq!(call(&scheduler, pid, 1).unwrap(), 1);
    assert_ne!(on.recv(), Ok(thread::current().id()));
    assert_eq!(visits(&scheduler), 0);
}

/// The answer comes in the step of a completion. A failure: the caller sleeps for ever, or it takes
/// that step, too.
#[test]
fn an_answer_in_a_later_step() {
    let scheduler = scheduler(1);
    let (ran, on) = mpsc::channel();
    let mut waits = None;
    let process = Scripted(
        move |_: &Context<'_, Calls>, event, out: &mut StepOutput<Calls>| {
            ran.send(thread::current().id()).unwrap();
            match event {
                Event::Message((number, caller)) => {
                    waits = Some(caller);
                    out.yield_command(0, number + 1);
                }
                Event::Completed { result, .. } => {
                    out.answer(waits.take().unwrap(), result.unwrap());
                }
                _ => unreachable!("it watches nobody"),
            }
            Ok(())
        },
        || {},
    );
    let pid = start(&scheduler, process);
    assert_eq!(call(&scheduler, pid, 6).unwrap(), 7);
    let here = thread::current().id();
    assert_eq!(on.recv(), Ok(here));
    assert_ne!(on.recv(), Ok(here));
}

/// Makes a process that passes its callers on to another one, takes one more step, and tells its
/// thread.
fn passes_on(to: Pid, ran: mpsc::Sender<ThreadId>) -> impl Process<Calls> + 'static {
    from_fn(
        move |context: &Context<'_, Calls>, events: Events<'_, Calls>, out| {
            if events.len() == 0 {
                // Nobody may want to know.
                let _ = ran.send(thread::current().id());
            }
            for event in events {
                match event {
                    Event::Message(message) => {
                        context.send(to, message).unwrap();
                        out.go_on();
                    }
                    _ => out.done(()),
                }
            }
            Ok(())
        },
    )
}

/// The answer may come from elsewhere while the process goes on. A failure: the caller takes the
/// next step, too, which may wait for the caller to use its answer; or a step of the other process.
#[test]
fn a_caller_that_is_passed_on() {
    let scheduler = builder(1).clock(stopped).build().unwrap();
    let (process, in_second) = echo();
    let second = start(&scheduler, process);
    let (ran, on) = mpsc::channel();
    let first = start(&scheduler, passes_on(second, ran));
    let here = thread::current().id();
    assert_ne!(on.recv(), Ok(here), "its first step, without a call");
    assert_eq!(call(&scheduler, first, 5).unwrap(), 5);
    assert_ne!(in_second.recv(), Ok(here));
    assert_ne!(on.recv(), Ok(here));
}

/// No visit takes too long.
fn stopped() -> Instant {
    static NOW: OnceLock<Instant> = OnceLock::new();
    *NOW.get_or_init(Instant::now)
}

/// The step answers, and then its rest is still to do, on any thread: the code after the answer,
/// its command, the end of the process. The caller keeps a lock until it has its answer. A failure:
/// it has released the lock too early: the same code would wait for ever for it if the caller's
/// thread took the step.
#[test]
fn an_answer_comes_when_all_is_over_that_belongs_to_the_step() {
    for may_visit in [false, true] {
        let lock = Arc::new(Mutex::new(()));
        let held = Arc::new(AtomicUsize::new(0));
        let looks = {
            let (lock, held) = (Arc::clone(&lock), Arc::clone(&held));
            move || {
                for _ in 0..1000 {
                    assert!(lock.try_lock().is_err(), "the caller has its answer");
                    thread::yield_now();
                }
                held.fetch_add(1, Ordering::Relaxed);
            }
        };
        let in_handler = looks.clone();
        let handler = move |_: u64, completion: Completion<Calls>| {
            in_handler();
            completion.complete(0);
        };
        let builder = Scheduler::builder().threads(|set| set.processors(1).guests(may_visit));
        let scheduler = builder.handler(handler).build().unwrap();
        let in_step = looks.clone();
        let step = move |_: &Context<'_, Calls>, event, out: &mut StepOutput<Calls>| {
            if let Event::Message((number, caller)) = event {
                out.answer(caller, number);
                in_step();
                out.yield_command(0, 0);
                out.done(());
            }
            Ok(())
        };
        let process = scheduler.submit(Scripted(step, looks.clone()), "run", ());
        let process = process.unwrap();
        let pid = process.pid();
        process.on_exit(move |_| looks());
        settle(&scheduler, 1);
        let guard = lock.lock().unwrap();
        assert_eq!(call(&scheduler, pid, 3).unwrap(), 3);
        drop(guard);
        assert_eq!(held.load(Ordering::Relaxed), 4);
    }
}

/// Several threads call two processes, beside one that never rests. A failure: a caller gets
/// another's answer, or waits for ever.
#[test]
fn many_callers_beside_a_busy_worker() {
    const CALLS: u64 = 2000;
    for workers in [1, 2] {
        let scheduler = scheduler(workers);
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let restless = from_fn(move |_, _, out: &mut StepOutput<Calls>| {
            match told.load(Ordering::Relaxed) {
                true => out.done(()),
                false => out.go_on(),
            }
            Ok(())
        });
        drop(scheduler.submit(restless, "run", ()).unwrap());
        let pids = [echo().0, echo().0].map(|process| {
            let process = scheduler.submit(process, "run", ());
            process.unwrap().pid()
        });
        thread::scope(|scope| {
            for caller in 0..4 {
                let scheduler = &scheduler;
                scope.spawn(move || {
                    for number in (0..CALLS).map(|number| number * 4 + caller) {
                        let pid = pids[(number / 4 % 2) as usize];
                        assert_eq!(call(scheduler, pid, number).unwrap(), number);
                    }
                });
            }
        });
        over.store(true, Ordering::Relaxed);
    }
}

/// A worker of another scheduler, which has a processor of its own, and waits as any thread does.
#[test]
fn a_worker_of_another_scheduler_calls() {
    let (inner, outer) = (scheduler(1), scheduler(1));
    let (process, on) = echo();
    let pid = start(&inner, process);
    let there = inner.handle();
    let process = called(move |_, (number, caller), out| {
        out.answer(caller, call(&there, pid, number).unwrap());
        Ok(())
    });
    let outer_pid = start(&outer, process);
    let answer = outer.call_timeout(outer_pid, Duration::from_secs(3600), |caller| (9, caller));
    assert_eq!(answer.unwrap(), 9);
    assert_ne!(on.recv(), Ok(thread::current().id()));
}
