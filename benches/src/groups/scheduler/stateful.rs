//! Processes with state in the cache, whose commands are completed from outside: by this thread,
//! sixteen at a time, like a device that coalesces interrupts.

use std::cell::LazyCell;
use std::hint::black_box;
use std::sync::mpsc::{self, Receiver};

use filch_actors::prelude::*;
use filch_scheduler::{Completion, ProcessHandle, Scheduler};
use tokio::sync::oneshot;

use super::contenders::{Numbers, Tokio, start};
use crate::harness::{per_operation, time};
use crate::rivals::{WORKERS, tokio_runtime};

/// Processes: with 48 KiB each, more than the private caches of one core hold, and less than those
/// of two.
const PROCESSES: usize = 64;

/// Commands that are completed at a time.
const BATCH: usize = 16;

/// Processes that yield one command after another, and read and write their whole state in each
/// step.
pub(super) trait Stateful: Sized + 'static {
    /// Completes a command.
    type Command: Send + 'static;

    fn new(bytes: usize, commands: mpsc::Sender<Self::Command>) -> Self;
    fn complete(command: Self::Command);
}

/// One step's work.
fn work(state: &mut [u64]) {
    for word in &mut *state {
        *word = word.wrapping_add(1);
    }
    black_box(state);
}

pub(super) struct Filch {
    _scheduler: Scheduler<Numbers>,
    _processes: Vec<ProcessHandle<Numbers>>,
}

impl Stateful for Filch {
    type Command = Completion<Numbers>;

    fn new(bytes: usize, commands: mpsc::Sender<Self::Command>) -> Self {
        let scheduler = Scheduler::builder()
            .workers(WORKERS)
            .handler(move |(), completion| drop(commands.send(completion)))
            .build()
            .expect("the system gives threads");
        let process = |_| {
            let mut state = vec![0; bytes / 8];
            start(&scheduler, move |_, out| {
                work(&mut state);
                out.yield_command(0, ());
                out.wait();
            })
        };
        Self {
            _processes: (0..PROCESSES).map(process).collect(),
            _scheduler: scheduler,
        }
    }

    fn complete(command: Self::Command) {
        command.complete(());
    }
}

impl Stateful for Tokio {
    type Command = oneshot::Sender<()>;

    fn new(bytes: usize, commands: mpsc::Sender<Self::Command>) -> Self {
        let runtime = tokio_runtime();
        for _ in 0..PROCESSES {
            let commands = commands.clone();
            let mut state = vec![0; bytes / 8];
            drop(runtime.spawn(async move {
                loop {
                    work(&mut state);
                    let (command, completed) = oneshot::channel();
                    if commands.send(command).is_err() || completed.await.is_err() {
                        return;
                    }
                }
            }));
        }
        runtime
    }

    fn complete(command: Self::Command) {
        command.send(()).expect("the task waits");
    }
}

/// All wait for this thread when a round begins, and when it ends.
pub(super) fn completed_outside<S: Stateful>(bytes: usize, steps: u64) -> impl FnMut() -> f64 {
    let processes = LazyCell::new(move || {
        let (sender, commands) = mpsc::channel();
        let processes = S::new(bytes, sender);
        (processes, commands)
    });
    let mut waiting = Vec::with_capacity(PROCESSES);
    move || {
        let (_, commands) = &*processes;
        collect(commands, &mut waiting, PROCESSES);
        let elapsed = time(|| {
            let mut done = 0;
            while done < steps {
                done += waiting.len() as u64;
                waiting.drain(..).for_each(S::complete);
                collect(commands, &mut waiting, BATCH);
            }
            collect(commands, &mut waiting, PROCESSES);
        });
        per_operation(elapsed, steps)
    }
}

fn collect<C>(commands: &Receiver<C>, into: &mut Vec<C>, count: usize) {
    while into.len() < count {
        into.push(commands.recv().expect("the processes live"));
    }
}
