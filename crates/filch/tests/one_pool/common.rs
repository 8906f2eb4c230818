//! Processes whose step is a closure, a scheduler with a pool, and recursions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use filch::fork_join::{self, Pool, Worker};
use filch::prelude::*;
use filch::scheduler::{Context, Handle, Process, Protocol, Scheduler, StepOutput, from_fn};

pub(crate) enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = u64;
    type Error = String;
}

/// Makes a process of one step, which ends with the call's result.
pub(crate) fn one_step(
    call: impl FnOnce(&Context<'_, Numbers>) -> u64 + Send + 'static,
) -> impl Process<Numbers> {
    let mut call = Some(call);
    from_fn(move |context: &Context<'_, Numbers>, _, out| {
        let call = call.take().ok_or("it has one step")?;
        out.done(call(context));
        Ok(())
    })
}

/// Makes a process that is always ready to run, until it is told to end.
pub(crate) fn restless(is_to_end: Arc<AtomicBool>) -> impl Process<Numbers> {
    from_fn(move |_, _, out: &mut StepOutput<Numbers>| {
        match is_to_end.load(Ordering::Relaxed) {
            true => out.done(0),
            false => out.go_on(),
        }
        Ok(())
    })
}

pub(crate) fn scheduler(workers: usize) -> (Scheduler<Numbers>, Pool) {
    let scheduler = Scheduler::builder().workers(workers).build().unwrap();
    let pool = Pool::on(&scheduler.pool()).unwrap();
    (scheduler, pool)
}

/// Submits a process that runs that call.
pub(crate) fn submit(
    handle: &Handle<Numbers>,
    call: impl FnOnce(&Context<'_, Numbers>) -> u64 + Send + 'static,
) {
    drop(handle.submit(one_step(call), "run", ()).unwrap());
}

/// Runs that call in a process, and returns the process's output.
pub(crate) fn execute(
    handle: &Handle<Numbers>,
    call: impl FnOnce(&Context<'_, Numbers>) -> u64 + Send + 'static,
) -> u64 {
    handle.execute(one_step(call), "run", ()).unwrap()
}

pub(crate) fn is_worker_of_the_scheduler() -> bool {
    let thread = thread::current();
    let name = thread.name().unwrap_or_default();
    name.starts_with("filch-") && !name.starts_with("filch-fork-join")
}

pub(crate) fn fib(n: u64) -> u64 {
    assert!(is_worker_of_the_scheduler(), "{:?}", thread::current());
    if n < 2 {
        return n;
    }
    let (a, b) = fork_join::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

pub(crate) fn fib_by(worker: &Worker, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = worker.join(|w| fib_by(w, n - 1), |w| fib_by(w, n - 2));
    a + b
}

/// Forks and joins until the flag is up.
pub(crate) fn fork_until(worker: &Worker, flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        worker.join(|_| (), |_| ());
    }
}
