//! The end of a scheduler: cancel, wait, abort, and report what is left.

use std::fmt;
use std::time::{Duration, Instant};

use filch_parker::poll_until;
use filch_process_state::Reason;
use filch_processors::Machines;
use filch_promise::{Promised, promise, take_once};
use filch_sync::Arc;
use filch_sync::atomic::Ordering;
use filch_sync::thread::Builder;
use filch_timers::{TimerThread, drop_with_timers};

use crate::observe::running::commands;
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
        write!(f, "processes: {cancelled} cancelled, {aborted} closed")?;
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
    /// `end`; then waits for the workers, if they are given. Reports what is left at the end, and
    /// returns the timers that went with the command handler.
    fn end_all(
        &self,
        patience: Option<Instant>,
        end: Option<Instant>,
        left: Option<Left>,
    ) -> (ShutdownReport, Vec<TimerThread>) {
        let shared = self.shared();
        // The first look: from here on it is known for how long something has run.
        let _ = shared.processors.running();
        let mut report = ShutdownReport {
            cancelled: self.cancel_all(),
            ..ShutdownReport::default()
        };
        let mut ended = shared.admission.wait(patience);
        if !ended {
            self.abort_all();
            ended = shared.admission.wait(end);
            // ORDERING: Relaxed: what matters was counted before the leaving that `wait` acquired.
            report.aborted = shared.aborted.load(Ordering::Relaxed);
        }
        let timers = match left {
            Some(left) if ended => poll_until(end, left),
            _ => ended.then(Vec::new),
        };
        if timers.is_none() {
            report.stuck = self.processes();
            report.running = self.running();
        }
        (report, timers.unwrap_or_default())
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

/// Tells of the end of the last worker, which drops the command handler, and of the timers that
/// went with that: only a shutdown waits for them.
pub(crate) type Left = Promised<Vec<TimerThread>>;

/// The name of the closing thread.
const NAME: &str = "filch-shutdown";

/// The extra time for the closing thread's report, which it makes when the time is over. It comes
/// at once, unless a destructor keeps the thread.
const REPORTING: Duration = Duration::from_secs(1);

/// Shuts a scheduler down; waits for the `workers`, if they are given. The user's values are
/// dropped on a thread for that alone, on which this one waits until the end, and no longer.
pub(crate) fn shut_down<P: Protocol>(
    handle: Handle<P>,
    workers: Option<(Machines, Left)>,
    patience: Duration,
) -> ShutdownReport {
    let mut since = Instant::now();
    // A deadline that the clock cannot express never comes.
    let patience = since.checked_add(patience);
    let end = patience.and_then(|patience| patience.checked_add(CLOSING));
    let reported = end.and_then(|end| end.checked_add(REPORTING));
    let calls = Arc::clone(&handle.shared().calls);
    let (tell, told) = promise();
    let (finish, finished) = promise();
    let close = move || {
        let receiver = handle.disconnect();
        let (machines, left) = workers.unzip();
        let (report, timers) = handle.end_all(patience, end, left);
        let is_clean = report.is_clean();
        tell.resolve((report, timers));
        // The workers have only destructors of thread-local values left to run.
        if is_clean && let Some(machines) = machines {
            machines.join();
        }
        finish.resolve(drop_with_timers((receiver, handle)));
    };
    let (here, there) = take_once(close);
    let thread = Builder::new().name(NAME.to_owned());
    if end.is_none() || thread.spawn(|| there.take().map(|close| close())).is_err() {
        // There is all the time in the world, or the system refuses the thread.
        here.take().into_iter().for_each(|close| close());
    }
    // No user code runs from here on.
    let told = poll_until(reported, told);
    if told.is_some() {
        since = Instant::now();
    }
    let (mut report, mut timers) = told.unwrap_or_default();
    let finished = poll_until(reported, finished);
    calls.wait(end);
    if report.running.is_empty() {
        report.running = commands(&calls);
    }
    if finished.is_none() {
        let call = RunningCall::new(NAME.to_owned(), None, CallKind::Destructor, since.elapsed());
        report.running.push(call);
    }
    timers.extend(finished.into_iter().flatten());
    report.running.extend(timers.iter().filter_map(|thread| {
        let timer = thread.wait(end).err()?;
        let (thread, kind) = (timer.thread.to_owned(), CallKind::Timer);
        Some(RunningCall::new(thread, None, kind, timer.elapsed))
    }));
    report
}
