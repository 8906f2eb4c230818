//! Processes with state in the cache, whose commands are completed from outside: by this thread,
//! sixteen at a time, like a device that coalesces interrupts.

use std::hint::black_box;
use std::sync::mpsc::{self, Receiver};

use filch_scheduler::{Completion, Scheduler};
use tokio::sync::oneshot;

use crate::clock::cost;
use crate::harness::keeping;
use crate::pools::{Filch, Of, Tokio, start, tokio_runtime};
use crate::workers::workers;

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

impl Stateful for Filch {
    type Command = Completion<Of<u64>>;

    fn new(bytes: usize, commands: mpsc::Sender<Self::Command>) -> Self {
        let scheduler = Scheduler::builder()
            .workers(workers())
            .handler(move |(), completion| drop(commands.send(completion)))
            .build()
            .expect("the system gives threads");
        for _ in 0..PROCESSES {
            let mut state = vec![0; bytes / 8];
            drop(start(&scheduler, move |_, _, out| {
                work(&mut state);
                out.yield_command(0, ());
                out.wait();
            }));
        }
        scheduler
    }

    fn complete(command: Self::Command) {
        command.complete(0);
    }
}

impl Stateful for Tokio {
    type Command = oneshot::Sender<()>;

    fn new(bytes: usize, commands: mpsc::Sender<Self::Command>) -> Self {
        let runtime = tokio_runtime(workers());
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
    let processes = move || {
        let (sender, commands) = mpsc::channel();
        let processes = S::new(bytes, sender);
        (processes, commands)
    };
    let mut waiting = Vec::with_capacity(PROCESSES);
    keeping(processes, move |(_, commands)| {
        collect(commands, &mut waiting, PROCESSES);
        cost(steps, || {
            let mut done = 0;
            while done < steps {
                done += waiting.len() as u64;
                waiting.drain(..).for_each(S::complete);
                collect(commands, &mut waiting, BATCH);
            }
            collect(commands, &mut waiting, PROCESSES);
        })
    })
}

fn collect<C>(commands: &Receiver<C>, into: &mut Vec<C>, count: usize) {
    while into.len() < count {
        into.push(commands.recv().expect("the processes live"));
    }
}
