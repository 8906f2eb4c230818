//! Timing, by the clock and by the time that processors spend, and what timed work shares: threads
//! that start together, and how a consumer waits.

use std::hint::{self, black_box};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, LazyLock};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Nanoseconds per operation of `work`, which does so many.
pub(crate) fn cost(operations: u64, work: impl FnOnce()) -> f64 {
    per_operation(time(work), operations)
}

/// Nanoseconds per operation.
pub(crate) fn per_operation(elapsed: Duration, operations: u64) -> f64 {
    elapsed.as_secs_f64() * 1e9 / operations as f64
}

/// A floor: `rmws` read-modify-writes an operation, on a word that no other thread touches.
pub(crate) fn uncontended_rmws(rmws: u32, operations: u64) -> impl FnMut() -> f64 {
    let word = AtomicU64::new(0);
    move || {
        cost(operations, || {
            for _ in 0..operations {
                for _ in 0..rmws {
                    black_box(word.fetch_add(1, Ordering::AcqRel));
                }
            }
        })
    }
}

/// Times `work` on this thread.
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// Runs `tasks` on a thread each, and times them from the first one's start to the last one's end.
///
/// Each thread is pinned to another core if there are enough; otherwise the system places them.
/// They start together; creating them is not part of the time. The tasks themselves read the clock:
/// on a busy machine the caller may be woken only after all is done.
pub(crate) fn time_together(tasks: Vec<Box<dyn FnOnce() + Send + '_>>) -> Duration {
    let ready = Barrier::new(tasks.len());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let placed = tasks.len() <= cores;
    let (started, ended): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let ready = &ready;
        let mut threads = Vec::new();
        for (core, task) in tasks.into_iter().enumerate() {
            threads.push(scope.spawn(move || {
                if placed {
                    pin(core);
                }
                ready.wait();
                let started = Instant::now();
                task();
                (started, Instant::now())
            }));
        }
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|stretch| stretch.expect("a contender panicked"))
            .unzip()
    });
    let ends = started.into_iter().min().zip(ended.into_iter().max());
    ends.map_or(Duration::ZERO, |(first, last)| last - first)
}

/// Keeps the calling thread on the core of that number, if there is one and the system allows it.
pub(crate) fn pin(core: usize) {
    // Asked once, before any thread is pinned: a pinned thread sees only its own core.
    static CORES: LazyLock<Vec<core_affinity::CoreId>> =
        LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());
    if let Some(&core) = CORES.get(core) {
        core_affinity::set_for_current(core);
    }
}

/// The wait of every contender's consumer when there is nothing to take: it pauses, twice as long
/// each time, and then yields its core. A handful of items does not reset the pauses: a consumer
/// that looks again at once finds a single item, and takes the cache line from the producer each
/// time.
#[derive(Default)]
pub(crate) struct Backoff {
    rounds: u32,
}

impl Backoff {
    /// Rounds of pauses: 1, 2, 4, … 64 of them.
    const PAUSING: u32 = 7;

    /// Items found at once that reset the pauses.
    const WORTH: u64 = 16;

    pub(crate) fn wait(&mut self) {
        if self.rounds < Self::PAUSING {
            (0..1 << self.rounds).for_each(|_| hint::spin_loop());
            self.rounds += 1;
        } else {
            thread::yield_now();
        }
    }

    pub(crate) fn found(&mut self, items: u64) {
        if items >= Self::WORTH {
            self.reset();
        }
    }

    /// Resets the pauses; a consumer that takes one item at a time does so for each.
    pub(crate) fn reset(&mut self) {
        self.rounds = 0;
    }
}

/// The processor time that the process uses during `work`, in per cent of what one core has.
pub(crate) fn load(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    let used = used(work);
    100.0 * used.as_secs_f64() / started.elapsed().as_secs_f64()
}

/// The processor time that the process uses during `work`.
pub(crate) fn used(work: impl FnOnce()) -> Duration {
    let before = processor_time_of("self");
    work();
    processor_time_of("self").saturating_sub(before)
}

/// The processor time of all present threads of that process, as far as the kernel tells it.
pub(crate) fn processor_time_of(process: &str) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let threads = threads.into_iter().flatten().flatten();
    // A thread that has just ended has no file.
    threads.filter_map(|thread| time_of(&thread.path())).sum()
}

/// The processor time of the calling thread; none where the kernel does not tell it.
pub(crate) fn time_of_this_thread() -> Duration {
    time_of(Path::new("/proc/thread-self")).unwrap_or_default()
}

fn time_of(thread: &Path) -> Option<Duration> {
    let text = fs::read_to_string(thread.join("schedstat")).ok()?;
    let nanos = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
