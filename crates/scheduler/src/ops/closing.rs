//! How a shutdown stays within its time, whatever the user's code does.
//!
//! A shutdown may come to run destructors: of receivers, of outputs that nobody takes, of the
//! hooks. And it waits for the workers, which run others. So all of that is done on a thread of its
//! own. The thread that shuts the scheduler down waits for that one until its time is over, and
//! then takes the lists of what runs, for which it calls nothing of the user's.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use filch_blocking::Calls;
use filch_processors::Machines;
use filch_sync::thread::Builder;
use filch_sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait_until};

use crate::api::left_timers::LeftTimers;
use crate::api::running_call::CommandLabel;
use crate::ops::running::commands;
use crate::ops::shutdown::Times;
use crate::{CallKind, Handle, Protocol, RunningCall, ShutdownReport};

/// A shutdown under way: what its two threads share.
pub(crate) struct Closing<P: Protocol> {
    progress: Mutex<Progress<P>>,
    changed: Condvar,
    calls: Arc<Calls<CommandLabel>>,
    left_timers: Arc<LeftTimers>,
    times: Times,
    /// Whether the workers are waited for.
    joins: bool,
}

struct Progress<P: Protocol> {
    /// Until it is dropped, which may be the end of the hooks.
    handle: Option<Handle<P>>,
    machines: Option<Machines>,
    /// What became of the processes, once that is known.
    report: Option<ShutdownReport>,
    phase: Phase,
}

/// What the closing thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It ends the processes, since then. It may drop what is the user's, and what else it waits
    /// for, it waits for within the time.
    Ending(Instant),
    /// It waits for the workers.
    Joining,
    /// It drops the handle, since then.
    Dropping(Instant),
    Over,
}

/// The name of the thread.
const NAME: &str = "filch-shutdown";

/// How much longer the closing thread is given for its report, which it makes when the time is
/// over. It comes at once, unless a destructor keeps the thread.
const REPORTING: Duration = Duration::from_secs(1);

impl<P: Protocol> Closing<P> {
    /// Shuts a scheduler down. With `joins`, its workers are waited for.
    pub(crate) fn shut_down(
        handle: Handle<P>,
        machines: Machines,
        patience: Duration,
        joins: bool,
    ) -> ShutdownReport {
        let times = Times::from_now(patience);
        let closing = Arc::new(Self {
            calls: Arc::clone(&handle.shared.calls),
            left_timers: Arc::clone(&handle.shared.left_timers),
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

    /// The closing thread's part.
    fn run(&self) {
        let Some(handle) = self.lock().handle.clone() else {
            unreachable!("this takes it out, at the end, and is called once");
        };
        handle.disconnect_all();
        let report = handle.end_all(self.times);
        let all_ended = handle.live() == 0;
        if all_ended {
            handle.shared.processors.stop();
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

    /// Waits until the end, and says what is left then. No code of the user's runs in here.
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

    /// What the timers fire that went with the handler or the hooks, and that does not return.
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

    /// Waits until the phase `is` such, or the `deadline` has come, if there is one.
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
