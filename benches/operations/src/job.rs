//! Jobs that need a worker's thread, done many times: they are counted only.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::{calls, engine, fork_join, primitives, processors, scheduler, supervisor};

/// Something that one worker does many times.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The name in the table.
    pub name: &'static str,
    /// Starts a worker, does the job so many times, and ends the worker.
    pub run: fn(u64),
}

const fn job(name: &'static str, run: fn(u64)) -> Job {
    Job { name, run }
}

impl Job {
    /// All jobs, in the order of the table.
    pub const ALL: [Self; 12] = [
        job("engine: a task, sent and run", engine::task),
        job("fork-join: join", fork_join::tree),
        job(
            "fork-join: join, thread-local",
            fork_join::tree_without_worker,
        ),
        job("fork-join: join, stolen", fork_join::stolen),
        job("fork-join: spawn into a scope, and run", fork_join::spawned),
        job("processors: task of a tree", processors::tree),
        job("scheduler: spawn, run and end a process", scheduler::spawn),
        job(
            "scheduler: spawn, send to and end a process",
            scheduler::spawn_and_send,
        ),
        job(
            "scheduler: spawn, send 32 to and end a process",
            scheduler::spawn_and_burst,
        ),
        job("scheduler: hop of a message", scheduler::hop),
        job("scheduler: call of another process", calls::call),
        job(
            "supervisor: end of a child, and its restart",
            supervisor::restart,
        ),
    ];

    /// Jobs that take more than one thread, or a primitive: their roads are shown, not counted.
    pub const ROADS: [Self; 3] = [
        job("event queue: push and receive", primitives::one_by_one),
        job("processors: injected task", processors::injected),
        job(
            "fork-join: join, stolen by another",
            fork_join::stolen_by_another,
        ),
    ];
}

/// The time, which does not depend on how fast instructions are counted: or else a worker would
/// look around more often under a slow tool.
pub(crate) fn standing_still() -> Instant {
    static NOW: OnceLock<Instant> = OnceLock::new();
    *NOW.get_or_init(Instant::now)
}

/// After so long without work a thread sleeps, also under a slow tool.
pub(crate) const BEDTIME: Duration = Duration::from_millis(20);

/// A call that no compiler leaves out: its line is found among the instructions.
#[inline(never)]
pub(crate) fn mark() {
    black_box(());
}
