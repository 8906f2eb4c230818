//! Submitting a process, or a new version of one.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use filch_processors::Processors;
use filch_sync::panic::catch_panic;

use crate::handle::life_cycle::{self, init, not_started, type_name};
use crate::link::watch::{Watch, WatchKind};
use crate::process::inline_box::{NewProcess, ProcessBox, process_box};
use crate::process::output::Successor;
use crate::protocol::error_by_display;
use crate::table::body::{Body, Signal, Waits};
use crate::table::pid::Pid;
use crate::table::pinned::Pinned;
use crate::table::slot::{IDLE_PRIORITY, LIMITED, Placement, Task};
use crate::{
    Cancel, Context, ExitReason, Handle, InitError, NoSuchProcess, NotAdmitted, Process,
    ProcessHandle, Protocol, Submission,
};

impl<P: Protocol> Handle<P> {
    /// Submits the process: calls its [`init`](Process::init) here and now, with the name of an
    /// entry point and its input, then puts it into a run queue. The caller's earlier acts happen
    /// before the first step. Lock-free, except for `init` and memory.
    ///
    /// # Errors
    /// [`SubmitError`]: the scheduler is shut down or full, or has no memory for one more process,
    /// and hands the process back; or `init` or a hook refused, and the process is closed. In
    /// either case nothing stays registered.
    ///
    /// # Memory
    /// A process is refused if the table or the global run queue would have to grow, by 64 KiB at a
    /// time, and cannot. (The queue is asked before the process takes its place; other threads may
    /// use up its last block meanwhile.) A worker whose deque cannot grow puts tasks into the
    /// global queue. Without memory for small pieces the program aborts, as everywhere in Rust: for
    /// the box of a process of more than four words, and of any that is handed back, unless it came
    /// in a box; and for a block of the run queue for a process that is woken.
    #[doc(alias = "spawn")]
    pub fn submit(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        match self.occupy(Placement::default()) {
            Ok(place) => {
                let process = process_box(process);
                let init = |process: &mut dyn Process<P>, context: &Context<'_, P>| {
                    init(process, context, method, input)
                };
                self.begin(place, process, method, init, false, &[])
                    .map_err(SubmitError::Init)
            }
            Err(error) => {
                let refused = HandedBack::new((NewProcess::new(process).into_box(), input));
                Err(SubmitError::NotAdmitted(error, refused))
            }
        }
    }

    /// Replaces the live process `pid` by a new version of itself. Lock-free.
    ///
    /// The worker that has the process next calls, before its next step and the events that wait,
    /// `init` of the new version, with `method` and `input`; closes the old one, with
    /// [`ExitReason::Upgraded`](crate::ExitReason::Upgraded); and steps the new one. All else
    /// stays: the PID, the handle, events, the mailbox and its limit (a future gets one without a
    /// limit), outstanding commands, monitors and links. If that `init` refuses, the process ends
    /// with [`ProcessError::Upgrade`](crate::ProcessError::Upgrade), and both versions are closed.
    ///
    /// To hand over state, send the process a message instead: it [upgrades
    /// itself](crate::StepOutput::upgrade) with its state as the input. Upgrades from one thread
    /// take place in order. If the process ends before, the new version is dropped with it.
    ///
    /// # Errors
    /// [`SubmitError::NotAdmitted`], with the new version, and [`NoSuchProcess`] as its unmet
    /// condition: the process has ended or never was.
    pub fn upgrade(
        &self,
        pid: Pid,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<(), SubmitError<P>> {
        let signal = Signal::Upgrade(Successor::new(Box::new(process), method, input));
        match self.signal(pid, signal) {
            Ok(_) => Ok(()),
            Err(Signal::Upgrade(successor)) => {
                let Successor { process, input, .. } = *successor;
                let reason = NotAdmitted::Condition(Box::new(NoSuchProcess { pid }));
                let refused = HandedBack::new((process, input));
                Err(SubmitError::NotAdmitted(reason, refused))
            }
            Err(_) => unreachable!("the queue hands back what was pushed"),
        }
    }

    /// Takes a place for one more process, with the pin of its handle. Always inlined: else a
    /// placement would be written in pieces and read in one, for which a CPU waits.
    #[inline(always)]
    pub(crate) fn occupy(&self, placement: Placement<P>) -> Result<Pinned<P>, NotAdmitted> {
        let processors = &self.shared().processors;
        self.shared().admission.enter(processors.current())?;
        let room = processors.reserve_room(placement.kind & IDLE_PRIORITY != 0);
        match room.and_then(|()| self.table().occupy(placement)) {
            // SAFETY: the table is a scheduler's, and this is the second of the two pins.
            Ok(slot) => Ok(unsafe { Pinned::new(NonNull::from(slot)) }),
            Err(error) => {
                self.leave();
                Err(error.into())
            }
        }
    }

    /// Counts an admitted process that is gone. The last one of a closed scheduler stops the
    /// workers.
    pub(crate) fn leave(&self) {
        let worker = self.shared().processors.current();
        if self.shared().admission.leave(worker) {
            self.shared().processors.stop();
        }
    }

    /// Begins the life of the process in its place, at the entry point `method`, with `init`, and
    /// runs or enqueues it.
    #[inline]
    pub(crate) fn begin(
        &self,
        place: Pinned<P>,
        process: ProcessBox<P>,
        method: &str,
        init: impl FnOnce(&mut dyn Process<P>, &Context<'_, P>) -> Result<(), InitError<P>>,
        as_guest: bool,
        watches: &[(WatchKind, Pid)],
    ) -> Result<ProcessHandle<P>, InitError<P>> {
        let (pid, slot) = (place.pid(), place.slot());
        let body = Body {
            process,
            waits: Waits::Turn,
            allowance: self.shared().first_allowance,
            sampled: false,
            cold: None,
        };
        // SAFETY: the process is not Ready yet, so no worker can have it: it is the submitter's.
        let body = unsafe { slot.life.begin(body) };
        if self.shared().observer.is_some() {
            self.note_begin(pid, &*body.process, method);
        }
        let context = place.context(self);
        // One after the other, so that no error is moved where there is none.
        if let Err(error) = init(&mut *body.process, &context) {
            let error = not_started(&context, &*body.process, method, error);
            return Err(self.turn_away(&place, error));
        }
        if let Err(error) = life_cycle::start(&context, &*body.process, method) {
            let error = not_started(&context, &*body.process, method, error);
            return Err(self.turn_away(&place, error));
        }
        if !watches.is_empty() {
            self.tie(pid, body, watches);
        }
        if slot.state.submit().is_err() {
            unreachable!("the state of a slot without an occupant is Complete");
        }
        // No fence: either the walk of `cancel_all` through the table has found this process, or
        // this has come into its slot after the walk, and the closed admission is seen. See there.
        if self.shared().admission.is_closed() {
            let _ = self.ask_to_end(pid, Cancel::shutdown());
        }
        if as_guest {
            // Here, if a worker is idle.
            let processors = &self.shared().processors;
            processors.run_awaited(Task::of(slot), &place);
        } else {
            self.enqueue_by(slot, Processors::schedule);
        }
        Ok(ProcessHandle::new(place))
    }

    /// Tells the journal of the process. A function of its own, as most schedulers have no journal.
    #[cold]
    #[inline(never)]
    fn note_begin(&self, pid: Pid, process: &dyn Process<P>, method: &str) {
        if let Some(observer) = &self.shared().observer {
            observer.begin(pid, type_name(process), method, self.current_process());
        }
    }

    /// Ties the process to others, before it is Ready.
    #[cold]
    fn tie(&self, pid: Pid, body: &mut Body<P>, watches: &[(WatchKind, Pid)]) {
        for &(kind, other) in watches {
            let watch = Watch::new(kind, other, pid, None);
            body.cold().watches.add(watch.clone());
            if kind == WatchKind::Link {
                self.attach(other, &watch);
            }
        }
    }

    /// Ends a process that was refused, and gives its place up. The caller is the submitter.
    #[cold]
    fn turn_away(&self, place: &Pinned<P>, error: InitError<P>) -> InitError<P> {
        self.vacate(place, &ExitReason::not_started(&error));
        error
    }

    /// Gives up a place in which no process was ever Ready. The caller is the submitter.
    pub(crate) fn vacate(&self, place: &Pinned<P>, reason: &ExitReason) {
        let (pid, slot) = (place.pid(), place.slot());
        // SAFETY: the process was not Ready, so no worker can have it: it is the submitter's.
        if let Some(body) = unsafe { slot.life.body() } {
            // The error of `init` is the one that tells what is wrong; one of closing after it
            // would hide it.
            let _ = catch_panic(|| body.process.close(reason));
            // SAFETY: as above; the reference to the body is not used any more.
            let _ = unsafe { slot.life.discard() };
        }
        if let Some(observer) = &self.shared().observer {
            observer.end(pid, reason);
        }
        // It lives for an instant, as if a worker had it: in no run queue, so none will. Then it
        // ends as all processes do.
        if slot.state.submit().is_err() || slot.state.start().is_err() {
            unreachable!("the state of a slot without an occupant is Complete");
        }
        // A sender that has learnt the PID from `init` is refused from here on.
        slot.events.close();
        if slot.has(LIMITED) {
            self.close_mailbox(slot);
        }
        self.leave();
        let tell = |item| self.tell_end(item, pid, reason);
        // SAFETY: made Running just now, and it ends here, once, with its pin. The caller's pin
        // keeps the table.
        unsafe {
            self.table().complete(slot, tell);
            let _ = self.table().unpin(slot);
        }
    }
}

impl<P: Protocol> Submission<'_, P> {
    /// Submits the process. See [`Handle::submit`].
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn submit(self) -> Result<ProcessHandle<P>, SubmitError<P>> {
        match self.admit() {
            Ok((place, start)) => place.submit(start).map_err(SubmitError::Init),
            Err((error, start)) => {
                let refused = HandedBack::new((start.process.into_box(), start.input));
                Err(SubmitError::NotAdmitted(error, refused))
            }
        }
    }
}

/// A process that was not submitted, on which no method was called, and its input.
pub type Refused<P> = HandedBack<(Box<dyn Process<P>>, <P as Protocol>::Input)>;

/// The reason why a process was not submitted.
#[non_exhaustive]
pub enum SubmitError<P: Protocol> {
    /// The scheduler did not admit it; it comes back.
    NotAdmitted(NotAdmitted, Refused<P>),
    /// Its `init`, or the [hook](crate::LifeCycle::on_start), refused or panicked; the process was
    /// closed.
    Init(InitError<P>),
}

impl<P: Protocol> fmt::Display for SubmitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAdmitted(error, _) => error.fmt(f),
            Self::Init(error) => error.fmt(f),
        }
    }
}

error_by_display!(
    SubmitError<P: Protocol>,
    Self::NotAdmitted(error, _) => error,
    Self::Init(error) => error,
);

/// A value that comes back with an error. Threads may share the error, as `Box<dyn Error + Send +
/// Sync>` demands, even if the value is not Sync: nobody sees it before it is taken out. In a box,
/// so that a large value makes no large result.
pub struct HandedBack<T>(Mutex<Box<T>>);

impl<T> HandedBack<T> {
    /// Wraps a value, for errors of other crates.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(Box::new(value)))
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        // Never locked, and so never poisoned.
        *self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for HandedBack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandedBack").finish_non_exhaustive()
    }
}
