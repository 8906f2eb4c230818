//! The thread that tells of tasks that last long.

use std::io;
use std::time::{Duration, Instant};

use filch_parker::Parker;
use filch_sync::panic::catch_panic;
use filch_sync::{Arc, lock, thread};

use crate::pool::processors::Processors;
use crate::pool::running::{Inside, RunningTask};
use crate::pool::sighting::{Look, Sighting};
use crate::protocol::state::grant::{A_PIECE, task_label};

/// So many looks in each limit.
const LOOKS: u32 = 4;

/// What a processor does ever since.
struct Seen {
    sighting: Sighting,
    since: Instant,
    is_told: bool,
}

impl<T: Send + 'static> Processors<T> {
    /// From now on the pool has one thread more, which calls `call` once for each task that has
    /// lasted longer than `limit`, while it still does. A task costs nothing for it: the thread
    /// looks at counters that are there, four times in each limit, and so comes up to half a limit
    /// late. A task that [blocks](Self::blocking) has given its processor away, and begins anew
    /// when it is back; one that forks begins anew with each piece that its thread runs. Pieces are
    /// not told of. A panic in `call` is contained.
    ///
    /// The thread ends with the pool. Blocking, while it is started; does nothing if there is one.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub fn watch_tasks(
        pool: &Arc<Self>,
        limit: Duration,
        mut call: impl FnMut(RunningTask) + Send + 'static,
    ) -> io::Result<()> {
        let _one_at_a_time = lock(&pool.handles.resizing);
        if pool.watchdog.get().is_some() || pool.shared.coordinator.is_over() {
            return Ok(());
        }
        let parker = Parker::new();
        let unparker = parker.unparker();
        let name = format!("{}-watchdog", pool.config.thread_name);
        let main = {
            let pool = Arc::clone(pool);
            move || {
                let mut seen = Vec::new();
                while !pool.shared.coordinator.is_over() {
                    for task in pool.overdue(&mut seen, limit) {
                        // It is the user's, and what it says is lost.
                        let _ = catch_panic(|| call(task));
                    }
                    parker.park_timeout(limit / LOOKS);
                }
            }
        };
        let start = || thread::Builder::new().name(name).spawn(main);
        pool.handles.start(usize::MAX, start)?;
        let unparker = pool.watchdog.get_or_init(|| unparker);
        // It may have been over before there was anybody to be woken.
        if pool.shared.coordinator.is_over() {
            let _ = unparker.unpark();
        }
        Ok(())
    }

    /// The tasks that have lasted longer than `limit` since they were seen first, and have not been
    /// told of.
    fn overdue(&self, seen: &mut Vec<Option<Seen>>, limit: Duration) -> Vec<RunningTask> {
        let processors = self.shared.queues.in_reach().len();
        seen.resize_with(processors.max(seen.len()), || None);
        let mut overdue = Vec::new();
        for (number, seen) in seen.iter_mut().enumerate().take(processors) {
            let is_task = |look: &Look| look.runs && look.shown != 0 && look.shown != A_PIECE;
            let Some(look) = self.look_at(number).filter(is_task) else {
                *seen = None;
                continue;
            };
            let now = Instant::now();
            let same = seen.take().filter(|seen| seen.sighting == look.sighting);
            let mut same = same.unwrap_or(Seen {
                sighting: look.sighting,
                since: now,
                is_told: false,
            });
            let elapsed = now.saturating_duration_since(same.since);
            if elapsed >= limit && !same.is_told {
                same.is_told = true;
                let machine = self.name(look.sighting.machine);
                overdue.push(RunningTask {
                    thread: match look.is_guest {
                        true => format!("a guest of {machine}"),
                        false => machine,
                    },
                    inside: Inside::Task,
                    label: task_label(look.shown),
                    elapsed,
                });
            }
            *seen = Some(same);
        }
        overdue
    }
}
