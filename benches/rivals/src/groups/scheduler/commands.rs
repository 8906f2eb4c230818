//! Processes whose commands are completed from outside, by this thread: those with state in the
//! cache, sixteen at a time, like a device that coalesces interrupts; and those that get messages
//! meanwhile, which are kept and do not wake them. And processes that this thread executes, one
//! after the other, whose command a task of the same scheduler completes.

use std::hint::black_box;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{Completion, Context, Event, Events, Scheduler, StepOutput, from_fn};
use futures_lite::future::block_on;
use tokio::sync::{mpsc as mailbox, oneshot};

use crate::clock::{cost, per_operation, time};
use crate::harness::keeping;
use crate::pools::{Filch, Of, Threads, Tokio, start};
use crate::work::workers;

/// Processes with state: with 48 KiB each, more than the private caches of one core hold, and less
/// than those of two.
const PROCESSES: usize = 64;

/// Commands that are completed at a time.
const BATCH: usize = 16;

/// Messages to a process that waits for its command.
const KEPT: u64 = 10_000;

/// One step's work.
fn work(state: &mut [u64]) {
    for word in &mut *state {
        *word = word.wrapping_add(1);
    }
    black_box(state);
}

/// A scheduler, and the commands that its processes have outstanding.
fn scheduler() -> (Filch, Receiver<Completion<Of<u64>>>) {
    let (sender, commands) = mpsc::channel();
    let scheduler = Scheduler::builder().workers(workers());
    let scheduler = scheduler.handler(move |(), completion| drop(sender.send(completion)));
    let scheduler = scheduler.build().expect("the system gives threads");
    (scheduler, commands)
}

/// Processes that yield one command after another, and read and write their whole state in each
/// step.
pub(super) fn filch_steps(bytes: usize, steps: u64) -> impl FnMut() -> f64 {
    let processes = move || {
        let (scheduler, commands) = scheduler();
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
        let runtime = Tokio::here();
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

/// Waits for one command, then for its messages.
pub(super) fn filch_keeps(waiters: u64) -> impl FnMut() -> f64 {
    kept(waiters, scheduler, |(scheduler, commands)| {
        let (mut started, mut missing) = (false, KEPT);
        let process = start(scheduler, move |_, events, out| {
            if !started {
                started = true;
                out.yield_command(0, ());
                return out.wait();
            }
            for event in events {
                missing -= u64::from(matches!(event, Event::Message(_)));
            }
            if missing == 0 {
                out.done(0);
            }
        });
        let command = commands.recv().expect("the process lives");
        let (scheduler, to) = (scheduler.handle(), process.pid());
        let send = move |message| scheduler.send(to, message).expect("it waits");
        let release = move || {
            command.complete(0);
            process.join().expect("it gets its messages");
        };
        (send, release)
    })
}

pub(super) fn tokio_keeps(waiters: u64) -> impl FnMut() -> f64 {
    kept(waiters, Tokio::here, |runtime| {
        let (address, mut mailbox) = mailbox::unbounded_channel();
        let (command, completed) = oneshot::channel();
        let task = runtime.spawn(async move {
            completed.await.expect("it is completed");
            for _ in 0..KEPT {
                mailbox.recv().await.expect("as many were sent");
            }
        });
        let send = move |message: u64| address.send(message).expect("it waits");
        let release = move || {
            command.send(()).expect("it waits");
            block_on(task).expect("it gets its messages");
        };
        (send, release)
    })
}

/// The time of the sends alone, to one process after the other.
fn kept<P, S: Fn(u64), R: FnOnce()>(
    waiters: u64,
    pool: impl FnOnce() -> P,
    waiter: impl Fn(&P) -> (S, R),
) -> impl FnMut() -> f64 {
    keeping(pool, move |pool| {
        let mut elapsed = Duration::ZERO;
        for _ in 0..waiters {
            let (send, release) = waiter(pool);
            elapsed += time(|| (0..KEPT).for_each(&send));
            release();
        }
        per_operation(elapsed, waiters * KEPT)
    })
}

pub(super) fn filch_executes(workers: usize, executions: u64) -> impl FnMut() -> f64 {
    let scheduler = move || {
        let scheduler = Scheduler::builder().workers(workers);
        let scheduler = scheduler.handler(|(), completion: Completion<Of<u64>>| {
            let scheduler = completion.handle().clone();
            drop(scheduler.spawn(async move { completion.complete(0) }));
        });
        scheduler.build().expect("the system gives threads")
    };
    keeping(scheduler, move |scheduler: &Filch| {
        cost(executions, || {
            for number in 0..executions {
                let process = from_fn(
                    move |_: &Context<'_, _>, events: Events<'_, _>, out: &mut StepOutput<_>| {
                        if events.len() > 0 {
                            out.done(number);
                        } else {
                            out.yield_command(0, ());
                            out.wait();
                        }
                        Ok(())
                    },
                );
                let executed = (**scheduler).execute(process, "run", ());
                assert_eq!(executed.ok(), Some(number));
            }
        })
    })
}

pub(super) fn tokio_executes(workers: usize, executions: u64) -> impl FnMut() -> f64 {
    let runtime = move || Tokio::with_workers(workers);
    keeping(runtime, move |runtime| {
        cost(executions, || {
            for _ in 0..executions {
                let task = runtime.spawn(async {
                    let (command, completed) = oneshot::channel();
                    drop(tokio::spawn(async { command.send(()) }));
                    completed.await
                });
                block_on(task).expect("it ends").expect("it is completed");
            }
        })
    })
}
