//! Processes with state in the cache, whose commands are completed from outside: by this thread,
//! sixteen at a time, like a device that coalesces interrupts.

use std::hint::black_box;
use std::sync::mpsc::{self, Receiver};

use filch_scheduler::{Completion, Scheduler};
use tokio::sync::oneshot;

use crate::clock::cost;
use crate::harness::keeping;
use crate::pools::{Of, Threads, Tokio, start};
use crate::workers::workers;

/// Processes with state: with 48 KiB each, more than the private caches of one core hold, and less
/// than those of two.
const PROCESSES: usize = 64;

/// Commands that are completed at a time.
const BATCH: usize = 16;

/// One step's work.
fn work(state: &mut [u64]) {
    for word in &mut *state {
        *word = word.wrapping_add(1);
    }
    black_box(state);
}

/// Processes that yield one command after another, and read and write their whole state in each
/// step.
pub(super) fn filch_steps(bytes: usize, steps: u64) -> impl FnMut() -> f64 {
    let processes = move || {
        let (sender, commands) = mpsc::channel();
        let scheduler = Scheduler::builder()
            .workers(workers())
            .handler(move |(), completion: Completion<Of<u64>>| drop(sender.send(completion)));
        let scheduler = scheduler.build().expect("the system gives threads");
        for _ in 0..PROCESSES {
            let mut state = vec![0; bytes / 8];
            drop(start(&scheduler, move |_, _, out| {
                work(&mut state);
                out.yield_command(0, ());
                out.wait();
            }));
        }
        (scheduler, commands)
    };
    completed_outside(steps, processes, |command| command.complete(0))
}

pub(super) fn tokio_steps(bytes: usize, steps: u64) -> impl FnMut() -> f64 {
    let tasks = move || {
        let (sender, commands) = mpsc::channel();
        let runtime = Tokio::with_workers(workers());
        for _ in 0..PROCESSES {
            let sender = sender.clone();
            let mut state = vec![0; bytes / 8];
            drop(runtime.spawn(async move {
                loop {
                    work(&mut state);
                    let (command, completed) = oneshot::channel();
                    if sender.send(command).is_err() || completed.await.is_err() {
                        return;
                    }
                }
            }));
        }
        (runtime, commands)
    };
    completed_outside(steps, tasks, |command| {
        command.send(()).expect("the task waits");
    })
}

/// All wait for this thread when a round begins, and when it ends.
fn completed_outside<P, C>(
    steps: u64,
    processes: impl FnOnce() -> (P, Receiver<C>),
    complete: impl Fn(C),
) -> impl FnMut() -> f64 {
    let collect = |commands: &Receiver<C>, into: &mut Vec<C>, count| {
        while into.len() < count {
            into.push(commands.recv().expect("the processes live"));
        }
    };
    let mut waiting = Vec::with_capacity(PROCESSES);
    keeping(processes, move |(_, commands)| {
        collect(commands, &mut waiting, PROCESSES);
        cost(steps, || {
            let mut done = 0;
            while done < steps {
                done += waiting.len() as u64;
                waiting.drain(..).for_each(&complete);
                collect(commands, &mut waiting, BATCH);
            }
            collect(commands, &mut waiting, PROCESSES);
        })
    })
}
