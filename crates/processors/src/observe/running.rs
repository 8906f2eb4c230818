//! The user code that threads are in, for a caller that waits for them no longer.

use std::io;
use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::time::Duration;

use filch_parker::{Parker, Unparker};
use filch_sync::panic::catch_panic;
use filch_sync::{Arc, lock, thread};

use crate::pool::processors::Processors;
use crate::protocol::state::grant::{A_PIECE, Activity, task_label};

/// Looks that the watchdog takes in each limit.
const LOOKS: u32 = 4;

/// A thread of a pool that is in user code; from [`Processors::running`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningTask {
    /// The thread's name, as a debugger shows it; of a [guest](Processors::run_awaited), which is
    /// none of the pool's threads, the name of the one that it stands in for.
    pub thread: String,
    /// The kind of user code.
    pub inside: Inside,
    /// The [label](crate::Runner::label) of the task, if it is one that has one.
    pub label: Option<NonZeroU64>,
    /// The time in it: exact in a blocking call, else a lower bound.
    pub elapsed: Duration,
}

/// The kind of user code that a thread of a pool is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inside {
    /// A task.
    Task,
    /// A piece of the pool's [source](crate::Source).
    Piece,
    /// A [`blocking`](Processors::blocking) call of a task or a piece.
    BlockingCall,
    /// The end of the thread, of a pool that is over: the destructors of its scratch and, in the
    /// last one, of the [runner](crate::Runner).
    End,
}

impl<T: Send + 'static> Processors<T> {
    /// The threads that are in the middle of a task or a piece, of a blocking call, or of their
    /// last destructors. Takes some locks for a moment, and disturbs nothing else.
    ///
    /// The time of a task is known from the first look on that found it: call this, or
    /// [`dump`](Self::dump), twice.
    pub fn running(&self) -> Vec<RunningTask> {
        let is_over = self.shared.coordinator.is_over();
        let running = self.look_at_all().into_iter().filter_map(|look| {
            let inside = match look.activity {
                Activity::Gone | Activity::Parked | Activity::Waits => return None,
                Activity::Blocks => Inside::BlockingCall,
                Activity::Runs if look.is_guest => Inside::Task,
                Activity::Runs if is_over => Inside::End,
                Activity::Runs => match look.shown {
                    // It searches, or is between two tasks.
                    0 => return None,
                    A_PIECE => Inside::Piece,
                    _ => Inside::Task,
                },
            };
            let name = self.name(look.machine);
            Some(RunningTask {
                thread: match look.is_guest {
                    true => format!("a guest of {name}"),
                    false => name,
                },
                inside,
                label: task_label(look.shown),
                elapsed: look.since.unwrap_or_default(),
            })
        });
        running.collect()
    }

    /// Starts one more thread, which calls `call` once for each task that has lasted longer than
    /// `limit`, while it still runs. Tasks pay nothing: the thread looks at [what is
    /// running](Self::running) four times in each limit, and so comes up to half a limit late. A
    /// task that [blocks](Self::blocking) has given its processor away, and counts anew when it is
    /// back; one that forks counts anew with each piece that its thread runs. Pieces and tasks
    /// without a label are not reported. A panic in `call` is contained.
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
        let mut told: Vec<String> = Vec::new();
        Self::start_lookout(pool, "watchdog", &pool.watchdog, move |pool, parker| {
            let mut overdue = pool.running();
            overdue.retain(|task| {
                task.inside == Inside::Task && task.label.is_some() && task.elapsed >= limit
            });
            let names = overdue.iter().map(|task| task.thread.clone()).collect();
            // A task that has taken its place on the thread since is not overdue yet.
            let before = std::mem::replace(&mut told, names);
            overdue.retain(|task| !before.contains(&task.thread));
            for task in overdue {
                // It is the user's, and what it says is lost.
                let _ = catch_panic(|| call(task));
            }
            parker.park_timeout(limit / LOOKS);
        })
    }

    /// Starts a thread of the pool that runs no tasks, but calls `look` again and again, until the
    /// pool is over, when its `unparker` is used. Does nothing if there is one, or the pool is
    /// over.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(crate) fn start_lookout(
        pool: &Arc<Self>,
        name: &str,
        unparker: &OnceLock<Unparker>,
        mut look: impl FnMut(&Self, &Parker) + Send + 'static,
    ) -> io::Result<()> {
        let _one_at_a_time = lock(&pool.handles.resizing);
        if unparker.get().is_some() || pool.shared.coordinator.is_over() {
            return Ok(());
        }
        let parker = Parker::new();
        let to_wake = parker.unparker();
        let name = format!("{}-{name}", pool.config.thread_name);
        let main = {
            let pool = Arc::clone(pool);
            move || {
                while !pool.shared.coordinator.is_over() {
                    look(&pool, &parker);
                }
            }
        };
        let start = || thread::Builder::new().name(name).spawn(main);
        pool.handles.start(start)?;
        let to_wake = unparker.get_or_init(|| to_wake);
        // It may have been over before there was anybody to be woken.
        if pool.shared.coordinator.is_over() {
            let _ = to_wake.unpark();
        }
        Ok(())
    }
}
