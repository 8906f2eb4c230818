//! The end of a scheduler: cancel, wait, abort, and report what is left.

use std::fmt;
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

    /// Ends all processes, by asking until `patience` is over, and then by closing them until the
    /// `end`, and reports those that are left.
    fn end_all(&self, patience: Option<Instant>, end: Option<Instant>) -> ShutdownReport {
        let shared = self.shared();
        // The first look: from here on it is known for how long something has run.
        let _ = shared.processors.running();
        let cancelled = self.cancel_all();
        let mut report = ShutdownReport {
            cancelled,
            ..ShutdownReport::default()
        };
        if !shared.admission.wait(patience) {
            self.abort_all();
            if !shared.admission.wait(end) {
                report.stuck = self.processes();
                report.running = self.running();
            }
            // ORDERING: Relaxed: what matters was counted before the leaving that `wait` acquired.
            report.aborted = shared.aborted.load(Ordering::Relaxed);
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
    /// The end of the patience with processes. `None`, if the clock cannot express it, never comes.
    patience: Option<Instant>,
    /// The end of all waiting.
    end: Option<Instant>,
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
    /// The beginning of the phase.
    since: Instant,
}

/// The work of the closing thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It ends the processes. It may drop the user's values; all its other waits end with the time
    /// limit.
    Ending,
    /// It waits for the workers.
    Joining,
    /// It drops the handle.
    Dropping,
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
        let since = Instant::now();
        let patience = since.checked_add(patience);
        let closing = Arc::new(Self {
            calls: Arc::clone(&handle.shared().calls),
            left_timers: Arc::clone(&handle.shared().left_timers),
            progress: Mutex::new(Progress {
                handle: Some(handle),
                machines: Some(machines),
                report: None,
                phase: Phase::Ending,
                since,
            }),
            changed: Condvar::new(),
            patience,
            end: patience.and_then(|patience| patience.checked_add(CLOSING)),
            joins,
        });
        let started = closing.end.is_some() && {
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
        let Some(handle) = lock(&self.progress).handle.clone() else {
            unreachable!("this takes it out, at the end, and is called once");
        };
        handle.disconnect_all();
        let report = handle.end_all(self.patience, self.end);
        let joins = self.joins && handle.live() == 0;
        drop(handle);
        let mut progress = lock(&self.progress);
        progress.report = Some(report);
        let machines = progress.machines.take();
        drop(progress);
        match machines {
            Some(machines) if joins => {
                drop(self.enter(Phase::Joining));
                machines.join();
            }
            Some(machines) => machines.detach(),
            None => {}
        }
        let handle = self.enter(Phase::Dropping).handle.take();
        self.left_timers.drop_owner(handle);
        drop(self.enter(Phase::Over));
    }

    /// Enters the phase, and tells the other thread.
    fn enter(&self, phase: Phase) -> MutexGuard<'_, Progress<P>> {
        let mut progress = lock(&self.progress);
        (progress.phase, progress.since) = (phase, Instant::now());
        self.changed.notify_all();
        progress
    }

    /// Waits until the end, and reports what is left then. No user code runs in here.
    fn report(&self) -> ShutdownReport {
        drop(self.wait(self.end, |phase| phase == Phase::Over));
        self.calls.wait(self.end);
        let mut timers = self.running_timers();
        let reported = self
            .end
            .map(|end| end.checked_add(REPORTING).unwrap_or(end));
        let mut progress = self.wait(reported, |phase| {
            matches!(phase, Phase::Joining | Phase::Over)
        });
        let mut report = progress.report.take().unwrap_or_default();
        match &progress.handle {
            Some(handle) => report.running = handle.running(),
            // All workers have left, or the report says already what keeps them.
            None if report.running.is_empty() => report.running = commands(&self.calls),
            None => {}
        }
        report.running.append(&mut timers);
        // If nothing is known to run, the workers have come to their thread-local values.
        let destructs = match progress.phase {
            Phase::Over => false,
            Phase::Joining => report.is_clean(),
            Phase::Ending | Phase::Dropping => true,
        };
        if destructs {
            let (kind, elapsed) = (CallKind::Destructor, progress.since.elapsed());
            let call = RunningCall::new(NAME.to_owned(), None, kind, elapsed);
            report.running.push(call);
        }
        report
    }

    /// Returns calls that do not return, of timers that were dropped with the handler or the hooks.
    fn running_timers(&self) -> Vec<RunningCall> {
        let timers = self.left_timers.take();
        let running = timers.iter().filter_map(|thread| {
            let timer = thread.wait(self.end).err()?;
            let (thread, kind) = (timer.thread.to_owned(), CallKind::Timer);
            Some(RunningCall::new(thread, None, kind, timer.elapsed))
        });
        running.collect()
    }

    /// Waits for a phase that `is` accepts, or until the `deadline`, if there is one.
    fn wait(
        &self,
        deadline: Option<Instant>,
        is: impl Fn(Phase) -> bool,
    ) -> MutexGuard<'_, Progress<P>> {
        let mut progress = lock(&self.progress);
        let mut over = false;
        while !is(progress.phase) && !over {
            (progress, over) = wait_until(&self.changed, &self.progress, progress, deadline);
        }
        progress
    }
}
