//! A process that is about to be submitted, and its options.

use std::fmt;

use filch_process_table::{Placement, WatchKind};
use filch_processors::BoundId;

use crate::api::ties::Ties;
use crate::table::body::{ProcessBox, process_box};
use crate::{Handle, Pid, Process, Protocol};

/// A process that is about to be submitted, and how it is to be treated; from
/// [`Handle::submission`], or for an [async function](Handle::submission_with).
///
/// All that is asked for here happens in one act: there is no moment at which the process runs and
/// has no name yet, or is not watched.
///
/// ```
/// # enum Any {}
/// # impl filch_scheduler::Protocol for Any {
/// #     type Input = (); type Message = (); type Command = (); type Reply = ();
/// #     type Output = (); type Error = String;
/// # }
/// # use filch_scheduler::{Event, Scheduler, from_fn};
/// # let scheduler = Scheduler::<Any>::builder().workers(1).build()?;
/// let watcher = scheduler.spawn_with(|mut inbox| async move { inbox.next().await })?;
/// let task = from_fn(|_, _, _| Err("no luck".to_owned()));
/// let task = scheduler
///     .submission(task, "run", ())
///     .name("task")
///     .monitored_by(watcher.pid())
///     .submit()?;
/// let Event::Down(down) = watcher.join()? else { panic!("the task has ended") };
/// assert_eq!(down.pid, task.pid());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the process is not submitted before `submit` is called"]
pub struct Submission<'a, P: Protocol, S = Start<'a, P>> {
    pub(crate) handle: &'a Handle<P>,
    pub(crate) start: S,
    pub(crate) options: Options,
    pub(crate) ties: Ties<'a, P>,
}

/// A process, and how it starts.
pub struct Start<'a, P: Protocol> {
    pub(crate) process: ProcessBox<P>,
    pub(crate) method: &'a str,
    pub(crate) input: P::Input,
}

/// How a process is treated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    pub(crate) placement: Placement,
    pub(crate) trap_exits: bool,
    /// See [`Body::reads_later`](crate::table::body::Body::reads_later).
    pub(crate) reads_later: bool,
    /// Of its messages, so many of the latest are kept: instead of what the placement says.
    pub(crate) latest: Option<usize>,
}

impl<'a, P: Protocol, S> Submission<'a, P, S> {
    /// It runs only when there is nothing else to do: whenever it becomes runnable, it comes after
    /// every process that is runnable and not of its kind. Under lasting load it may never run.
    pub fn idle_priority(mut self) -> Self {
        self.options.placement.idle_priority = true;
        self
    }

    /// The end of a process that it is [linked](Handle::link) to is an
    /// [`Event::Exited`](crate::Event::Exited) for it, be it a normal end or not, and does not end
    /// it.
    pub fn trap_exits(mut self) -> Self {
        self.options.trap_exits = true;
        self
    }

    /// Gives it that name, before its [`init`](Process::init) runs: see [`Handle::register`]. If a
    /// live process has it, the submission is refused.
    pub fn name(mut self, name: &'a str) -> Self {
        self.ties.name = Some(name);
        self
    }

    /// Has `watcher` told of its end, as by [`Handle::monitor`]. May be said for several.
    pub fn monitored_by(mut self, watcher: Pid) -> Self {
        self.ties.watches.push((WatchKind::Monitor, watcher));
        self
    }

    /// Links it to `other`, as by [`Handle::link`]: if that one has ended, this one does, after it
    /// has started. May be said for several.
    pub fn linked_to(mut self, other: Pid) -> Self {
        self.ties.watches.push((WatchKind::Link, other));
        self
    }

    /// It runs on that thread alone.
    pub(crate) fn bound_to(mut self, thread: BoundId) -> Self {
        self.options.placement.bound_to = thread.to_bits();
        self
    }
}

impl<P: Protocol> Handle<P> {
    /// Prepares to submit a process with options:
    /// `handle.submission(process, "run", input).trap_exits().submit()`.
    pub fn submission<'a>(
        &'a self,
        process: impl Process<P> + 'static,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(Start {
            process: process_box(process),
            method,
            input,
        })
    }

    /// As [`submission`](Self::submission), for a process whose type was chosen at run time, or
    /// that was handed back.
    pub fn submission_boxed<'a>(
        &'a self,
        process: Box<dyn Process<P>>,
        method: &'a str,
        input: P::Input,
    ) -> Submission<'a, P> {
        self.prepare(Start {
            process: ProcessBox::boxed(process),
            method,
            input,
        })
    }

    pub(crate) fn prepare<'a, S>(&'a self, start: S) -> Submission<'a, P, S> {
        Submission {
            handle: self,
            start,
            options: Options::default(),
            ties: Ties::default(),
        }
    }
}

impl<P: Protocol, S> fmt::Debug for Submission<'_, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission")
            .field("name", &self.ties.name)
            .field("watches", &self.ties.watches)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

crate::protocol::debug_fields!(Start<'_, P>, "Start", method);
