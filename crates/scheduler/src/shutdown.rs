//! The end of a scheduler: cancel, wait, abort, and report what is left.

use std::fmt;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use filch_blocking::Calls;
use filch_process_state::Reason;
use filch_processors::Machines;
use filch_sync::atomic::Ordering;
use filch_sync::thread::Builder;
use filch_sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait_until};

use crate::handle::handle::LeftTimers;
use crate::observe::running::commands;
use crate::process::command::CommandLabel;
use crate::{CallKind, Cancel, Handle, Pid, Protocol, RunningCall};

/// The report of a shutdown. Its [`Display`](fmt::Display) is for the log: a line, and one more for
/// each call that still runs.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The number of processes that lived when it began, and were sent a cancel event.
    pub cancelled: usize,
    /// The number that had not ended when the patience had, and were closed instead of stepped.
    pub aborted: usize,
    /// Processes that had still not ended at the very end: in the middle of user code, perhaps in
    /// `init` on the thread that submits, or queued behind such a process. They end, and their
    /// threads leave, when that code returns.
    pub stuck: Vec<Pid>,
    /// The calls of the user's code that had not returned at the very end, even of processes that
    /// have ended. Their threads are left to themselves. If there are none, all workers have left.
    pub running: Vec<RunningCall>,
}

impl ShutdownReport {
    /// Checks if nothing was left: no process, and no call on any thread.
    pub fn is_clean(&self) -> bool {
        self.stuck.is_empty() && self.running.is_empty()
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cancelled, aborted) = (self.cancelled, self.aborted);
        write!(f, "{cancelled} processes cancelled, {aborted} closed")?;
        if self.is_clean() {
            return f.write_str(", nothing left");
        }
        let (stuck, running) = (self.stuck.len(), self.running.len());
        write!(f, ", {stuck} have not ended, {running} calls still run")?;
        for call in &self.running {
            write!(f, "\n  {call}")?;
        }
        let runs = |pid: &&Pid| self.running.iter().any(|call| call.process == Some(**pid));
        for pid in self.stuck.iter().filter(|pid| !runs(pid)).take(MAX_PIDS) {
            write!(f, "\n  process {pid} waits for a worker, or is in `init`")?;
        }
        Ok(())
    }
}

/// The most processes named of those that wait for a worker.
const MAX_PIDS: usize = 16;

/// The time limits of a shutdown.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// The time for processes to end by themselves.
    patience: Duration,
    /// The end of all waiting. `None`, if the clock cannot express it, never comes.
    pub(crate) end: Option<Instant>,
}

impl Times {
    pub(crate) fn from_now(patience: Duration) -> Self {
        let end = patience
            .checked_add(CLOSING)
            .and_then(|all| Instant::now().checked_add(all));
        Self { patience, end }
    }

    fn left(&self) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.end.map_or(Duration::MAX, left)
    }
}

/// The workers' time to close processes that only wait, and to leave: it does not count as patience
/// with processes.
const CLOSING: Duration = Duration::from_secs(3);

impl<P: Protocol> Handle<P> {
    /// Closes the admission and asks all live processes to end. Returns the number of those asked.
    pub(crate) fn cancel_all(&self) -> usize {
        if self.shared().admission.close() {
            // As `leave` does for the last process.
            self.shared().processors.stop();
        }
        // A process that the walk below does not find has come into its slot after the walk has
        // been there, so that its submitter sees the closed admission, and cancels it: see
        // `Table::iter`.
        let mut asked = 0;
        for process in self.pin_all() {
            let _ = self.ask_to_end(process.pid(), Cancel::shutdown());
            asked += 1;
        }
        asked
    }

    /// Ends all processes, by asking and then by closing them, and reports those that are left.
    pub(crate) fn end_all(&self, times: Times) -> ShutdownReport {
        // The first look: from here on it is known for how long something has run.
        let _ = self.shared().processors.running();
        let cancelled = self.cancel_all();
        if self.shared().admission.wait(times.patience) {
            return ShutdownReport {
                cancelled,
                ..ShutdownReport::default()
            };
        }
        self.abort_all();
        let all_ended = self.shared().admission.wait(times.left());
        let mut report = ShutdownReport {
            cancelled,
            // ORDERING: Relaxed: what matters was counted before the leaving that `wait` acquired.
            aborted: self.shared().aborted.load(Ordering::Relaxed),
            ..ShutdownReport::default()
        };
        if !all_ended {
            report.stuck = self.processes();
            report.running = self.running();
        }
        report
    }

    /// Closes every process instead of stepping it, the next time that a worker has it.
    fn abort_all(&self) {
        // ORDERING: Relaxed: ordered by the RMWs on each process's state; see `Driver::end_asked`.
        self.shared().aborting.store(true, Ordering::Relaxed);
        for process in self.pin_all() {
            self.wake(process.slot(), Reason::Cancel);
        }
    }
}

/// A shutdown under way, shared by its two threads.
pub(crate) struct Closing<P: Protocol> {
    progress: Mutex<Progress<P>>,
    changed: Condvar,
    calls: Arc<Calls<CommandLabel>>,
    left_timers: Arc<LeftTimers>,
    times: Times,
    /// Set if the shutdown waits for the workers.
    joins: bool,
}

struct Progress<P: Protocol> {
    /// `None` once it is dropped, which may drop the hooks.
    handle: Option<Handle<P>>,
    machines: Option<Machines>,
    /// The report on the processes, once it is made.
    report: Option<ShutdownReport>,
    phase: Phase,
}

/// The work of the closing thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It ends the processes, since then. It may drop the user's values; all its other waits end
    /// with the time limit.
    Ending(Instant),
    /// It waits for the workers.
    Joining,
    /// It drops the handle, since then.
    Dropping(Instant),
    Over,
}

/// The name of the closing thread.
const NAME: &str = "filch-shutdown";

/// The extra time for the closing thread's report, which it makes when the time is over. It comes
/// at once, unless a destructor keeps the thread.
const REPORTING: Duration = Duration::from_secs(1);

impl<P: Protocol> Closing<P> {
    /// Shuts a scheduler down; waits for its workers if `joins`.
    pub(crate) fn shut_down(
        handle: Handle<P>,
        machines: Machines,
        patience: Duration,
        joins: bool,
    ) -> ShutdownReport {
        let times = Times::from_now(patience);
        let closing = Arc::new(Self {
            calls: Arc::clone(&handle.shared().calls),
            left_timers: Arc::clone(&handle.shared().left_timers),
            progress: Mutex::new(Progress {
                handle: Some(handle),
                machines: Some(machines),
                report: None,
                phase: Phase::Ending(Instant::now()),
            }),
            changed: Condvar::new(),
            times,
            joins,
        });
        let started = times.end.is_some() && {
            let closing = Arc::clone(&closing);
            let thread = Builder::new().name(NAME.to_owned());
            thread.spawn(move || closing.run()).is_ok()
        };
        if !started {
            // There is all the time in the world, or the system refuses the thread.
            closing.run();
        }
        closing.report()
    }

    /// Does the closing thread's part.
    fn run(&self) {
        let Some(handle) = self.lock().handle.clone() else {
            unreachable!("this takes it out, at the end, and is called once");
        };
        handle.disconnect_all();
        let report = handle.end_all(self.times);
        let all_ended = handle.live() == 0;
        if all_ended {
            handle.shared().processors.stop();
        }
        drop(handle);
        let joins = all_ended && self.joins;
        let machines = self.advance(|progress| {
            progress.report = Some(report);
            if joins {
                progress.phase = Phase::Joining;
            }
            progress.machines.take()
        });
        let end: fn(Machines) = if joins {
            Machines::join
        } else {
            Machines::detach
        };
        machines.into_iter().for_each(end);
        let handle = self.advance(|progress| {
            progress.phase = Phase::Dropping(Instant::now());
            progress.handle.take()
        });
        self.left_timers.drop_owner(handle);
        self.advance(|progress| progress.phase = Phase::Over);
    }

    /// Waits until the end, and reports what is left then. No user code runs in here.
    fn report(&self) -> ShutdownReport {
        let end = self.times.end;
        self.wait(end, |phase| phase == Phase::Over);
        self.calls.wait(end);
        let mut timers = self.running_timers();
        let reported = end.map(|end| end.checked_add(REPORTING).unwrap_or(end));
        self.wait(reported, |phase| {
            matches!(phase, Phase::Joining | Phase::Over)
        });
        let mut progress = self.lock();
        let mut report = progress.report.take().unwrap_or_default();
        match &progress.handle {
            Some(handle) => report.running = handle.running(),
            // All workers have left, or the report says already what keeps them.
            None if report.running.is_empty() => report.running = commands(&self.calls),
            None => {}
        }
        report.running.append(&mut timers);
        let since = match progress.phase {
            Phase::Over => return report,
            // If nothing is known to run, the workers have come to their thread-local values.
            Phase::Joining if !report.is_clean() => return report,
            Phase::Joining => Instant::now(),
            Phase::Ending(since) | Phase::Dropping(since) => since,
        };
        report.running.push(RunningCall {
            thread: NAME.to_owned(),
            process: None,
            type_name: None,
            kind: CallKind::Destructor,
            elapsed: since.elapsed(),
        });
        report
    }

    /// Returns calls that do not return, of timers that were dropped with the handler or the hooks.
    fn running_timers(&self) -> Vec<RunningCall> {
        let timers = self.left_timers.take();
        let running = timers.iter().filter_map(|thread| {
            let timer = thread.wait(self.times.end).err()?;
            Some(RunningCall {
                thread: timer.thread.to_owned(),
                process: None,
                type_name: None,
                kind: CallKind::Timer,
                elapsed: timer.elapsed,
            })
        });
        running.collect()
    }

    /// Waits for a phase that `is` accepts, or until the `deadline`, if there is one.
    fn wait(&self, deadline: Option<Instant>, is: impl Fn(Phase) -> bool) {
        let mut progress = self.lock();
        let mut over = false;
        while !is(progress.phase) && !over {
            (progress, over) = match deadline {
                Some(deadline) => wait_until(&self.changed, &self.progress, progress, deadline),
                None => {
                    let woken = self.changed.wait(progress);
                    (woken.unwrap_or_else(PoisonError::into_inner), false)
                }
            };
        }
    }

    fn advance<R>(&self, change: impl FnOnce(&mut Progress<P>) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    fn lock(&self) -> MutexGuard<'_, Progress<P>> {
        lock(&self.progress)
    }
}
