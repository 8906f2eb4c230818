//! How a process comes to life.

use std::fmt;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use filch_process_table::{Closed, Pid, Refusal};
use filch_sync::panic::catch_panic;

use crate::api::life_cycle;
use crate::api::pinned::Pinned;
use crate::api::submission::Options;
use crate::protocol::error_by_display;
use crate::table::body::{Body, ProcessBox, Slot, Waits, process_box};
use crate::table::item::{Item, Signal};
use crate::worker::start::init;
use crate::{
    CalledFromInside, Context, ExitReason, Handle, HookError, InitError, JoinError, Process,
    ProcessError, ProcessHandle, Protocol, Submission,
};

impl<P: Protocol> Handle<P> {
    /// Gives the process to the scheduler: calls its [`init`](Process::init) here and now, with the
    /// name of an entry point and its input, then puts it into the run queues. What the caller did
    /// before happens before the first step. Lock-free, except for `init` and memory.
    ///
    /// # Errors
    /// [`SubmitError`]: the scheduler is shut down or full, or has no memory for one more process,
    /// and hands the process back; or `init` or a hook refused, and the process is closed. In
    /// either case nothing stays registered.
    ///
    /// # Memory
    /// What is refused is a process for which the table or the global run queue would have to grow,
    /// by 64 KiB at a time. (The queue is asked before the process takes its place; threads that
    /// submit or wake at that moment may use its last block up.) A worker's deque that cannot grow
    /// leaves its tasks to the global queue. The small pieces abort the program where there is no
    /// memory, as everywhere in Rust: the box of a process of more than four words, and of any
    /// process that is handed back, which [`submit_boxed`](Self::submit_boxed) does without; and a
    /// block of the run queue for a process that is woken.
    pub fn submit(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        let options = Options::default();
        match self.admit(&options) {
            Ok(place) => {
                let process = process_box(process);
                let init = |process: &mut dyn Process<P>, context: &Context<'_, P>| {
                    init(process, context, method, input)
                };
                self.begin(&place, process, init, &options)?;
                Ok(ProcessHandle::new(place))
            }
            Err(refusal) => Err(hand_back(refusal, Box::new(process), input)),
        }
    }

    /// As [`submit`](Self::submit), for a process whose type was chosen at run time, or that was
    /// handed back.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn submit_boxed(
        &self,
        process: Box<dyn Process<P>>,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        self.submission_boxed(process, method, input).submit()
    }

    /// Submits the process, waits for its end, and returns its output. Blocking.
    ///
    /// If a worker is idle, it is not woken: the calling thread takes the process's steps itself,
    /// as a *guest*, for as long as they come one after the other, and about 100 µs at most beside
    /// the last one. It runs no other process. The steps run **on the caller's stack**, with its
    /// priority and beside its thread-local values, and count as a worker's: see
    /// [`is_worker`](Self::is_worker). What the process waits for, the caller waits for: so a lock
    /// that the caller holds does no harm that it would not do anyway.
    /// [`Builder::guests`](crate::Builder::guests) forbids it, and a scheduler that lends its
    /// workers to a [pool](Self::pool) has none.
    ///
    /// # Errors
    /// As [`submit`](Self::submit) and [`ProcessHandle::join`].
    pub fn execute(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<P::Output, ExecuteError<P>> {
        if self.is_worker() {
            return Err(ExecuteError::CalledFromInside(Refused {
                process: Box::new(process),
                input,
            }));
        }
        let options = Options::default();
        let place = match self.admit(&options) {
            Ok(place) => place,
            Err(refusal) => {
                let refused = hand_back(refusal, Box::new(process), input);
                return Err(ExecuteError::Submit(refused));
            }
        };
        let started = self.make_ready(
            &place,
            process_box(process),
            |process, context| init(process, context, method, input),
            &options,
        );
        started.map_err(ExecuteError::Submit)?;
        place.run_here();
        let process = ProcessHandle::new(place);
        process.join().map_err(|error| match error {
            JoinError::Process(error) => ExecuteError::Process(error),
            JoinError::CalledFromInside(_) | JoinError::NotYet(_) => {
                unreachable!("this thread was no worker a moment ago, and waits without a deadline")
            }
        })
    }

    /// A place for one more process, with the pin of its handle.
    #[inline]
    pub(crate) fn admit(&self, options: &Options) -> Result<Pinned<P>, Refusal> {
        let slot = self.occupy(options)?;
        // SAFETY: the slot is of this scheduler's table, and this is the second of the two pins.
        Ok(unsafe { Pinned::new(NonNull::from(slot)) })
    }

    /// See [`Table::occupy`](filch_process_table::Table::occupy).
    fn occupy(&self, options: &Options) -> Result<&Slot<P>, Refusal> {
        let processors = &self.shared.processors;
        self.shared.admission.enter(processors.current())?;
        let room = processors.reserve_room(options.placement.idle_priority);
        let slot = room.and_then(|()| self.table().occupy(&options.placement));
        slot.map_err(|error| {
            self.leave();
            error.into()
        })
    }

    /// Has the process begin its life in the place that it was given, with `init`.
    pub(crate) fn begin(
        &self,
        place: &Pinned<P>,
        process: ProcessBox<P>,
        init: impl FnOnce(&mut dyn Process<P>, &Context<'_, P>) -> Result<(), InitError<P>>,
        options: &Options,
    ) -> Result<(), SubmitError<P>> {
        self.make_ready(place, process, init, options)?;
        self.enqueue_new(place.slot());
        Ok(())
    }

    /// The same, for a caller that then puts it into a run queue, or runs it.
    fn make_ready(
        &self,
        place: &Pinned<P>,
        process: ProcessBox<P>,
        init: impl FnOnce(&mut dyn Process<P>, &Context<'_, P>) -> Result<(), InitError<P>>,
        options: &Options,
    ) -> Result<(), SubmitError<P>> {
        let (pid, slot) = (place.pid(), place.slot());
        let body = Body {
            process,
            waits: Waits::Turn,
            trap_exits: options.trap_exits,
            allowance: self.shared.first_allowance,
            sampled: false,
            cold: None,
        };
        // SAFETY: the process is not Ready yet, so no worker can have it: it is the submitter's.
        let body = unsafe { slot.life.begin(body) };
        let context = Context::new(self, pid);
        // One after the other, so that no error is moved where there is none.
        if let Err(error) = init(&mut *body.process, &context) {
            return Err(self.turn_away(pid, slot, SubmitError::Init(error)));
        }
        if let Err(error) = life_cycle::start(&context) {
            return Err(self.turn_away(pid, slot, SubmitError::Hook(error)));
        }
        if slot.state.submit().is_err() {
            unreachable!("the state of a slot without an occupant is Complete");
        }
        // No fence: either the walk of `cancel_all` through the table has found this process, or
        // this has come into its slot after the walk, and the closed admission is seen. See there.
        if self.shared.admission.is_closed() {
            self.cancel(pid);
        }
        Ok(())
    }

    /// Ends a process that was refused, and gives its place up. The caller is the submitter.
    #[cold]
    fn turn_away(&self, pid: Pid, slot: &Slot<P>, error: SubmitError<P>) -> SubmitError<P> {
        let reason = &ExitReason::not_started(&error);
        // SAFETY: the process was not Ready, so no worker can have it: it is the submitter's.
        if let Some(body) = unsafe { slot.life.body() } {
            // The error of `init` is the one that tells what is wrong; one of closing after it
            // would hide it.
            let _ = catch_panic(|| body.process.close(reason));
            // SAFETY: as above; the reference to the body is not used any more.
            let _ = catch_panic(|| unsafe { slot.life.drop_body() });
        }
        // It lives for an instant, as if a worker had it: in no run queue, so none will. Then it
        // ends as all processes do.
        if slot.state.submit().is_err() || slot.state.start().is_err() {
            unreachable!("the state of a slot without an occupant is Complete");
        }
        // A sender that has learnt the PID from `init` is refused from here on.
        // SAFETY: made Running just now, and it ends here, once, with its pin.
        let closed = unsafe { Closed::begin(self.table(), slot) };
        let completed = closed.complete(|item| {
            if let Item::Signal(Signal::Attach(watch)) = item {
                self.fire(pid, &watch, reason);
            }
        });
        completed.leave();
        self.leave();
        error
    }
}

impl<P: Protocol> Submission<'_, P> {
    /// Submits it. See [`Handle::submit`].
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn submit(self) -> Result<ProcessHandle<P>, SubmitError<P>> {
        let Self {
            handle,
            process,
            method,
            input,
            options,
        } = self;
        match handle.admit(&options) {
            Ok(place) => {
                let init = |process: &mut dyn Process<P>, context: &Context<'_, P>| {
                    init(process, context, method, input)
                };
                handle.begin(&place, process, init, &options)?;
                Ok(ProcessHandle::new(place))
            }
            Err(refusal) => Err(hand_back(refusal, process.into_boxed(), input)),
        }
    }
}

impl<P: Protocol> Context<'_, P> {
    /// Submits a process. See [`Handle::submit`].
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn submit(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        self.handle().submit(process, method, input)
    }
}

/// The error for the submitter of a process that was not admitted.
fn hand_back<P: Protocol>(
    refusal: Refusal,
    process: Box<dyn Process<P>>,
    input: P::Input,
) -> SubmitError<P> {
    let refused = Refused { process, input };
    match refusal {
        Refusal::Closed => SubmitError::ShutDown(refused),
        Refusal::Full(limit) => SubmitError::LimitReached { limit, refused },
        Refusal::NoMemory => SubmitError::NoMemory(refused),
    }
}

/// A process that was not submitted, and its input.
pub struct Refused<P: Protocol> {
    /// The process, on which nothing has been called.
    pub process: Box<dyn Process<P>>,
    /// Its input.
    pub input: P::Input,
}

crate::protocol::debug_fields!(Refused<P>, "Refused");

/// Why a process was not submitted. Unless its `init` or a hook refused, it comes back.
#[non_exhaustive]
pub enum SubmitError<P: Protocol> {
    /// The scheduler is shutting down, or has.
    ShutDown(Refused<P>),
    /// As many processes live as the scheduler was built to admit.
    LimitReached {
        /// The limit.
        limit: NonZeroUsize,
        /// What was not submitted.
        refused: Refused<P>,
    },
    /// There is no memory for one more process.
    NoMemory(Refused<P>),
    /// `init` returned an error or panicked; the process was closed.
    Init(InitError<P>),
    /// The [hook](crate::LifeCycle::on_start) refused or panicked; the process was closed.
    Hook(HookError<P>),
}

impl<P: Protocol> fmt::Display for SubmitError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShutDown(_) => {
                f.write_str("the scheduler is shutting down and takes no more processes")
            }
            Self::LimitReached { limit, .. } => write!(
                f,
                "the limit of {limit} live processes is reached: wait until one ends, or build the \
                 scheduler with a higher limit"
            ),
            Self::NoMemory(_) => f.write_str("there is no memory for one more process"),
            Self::Init(error) => error.fmt(f),
            Self::Hook(error) => error.fmt(f),
        }
    }
}

/// Why [`execute`](Handle::execute) has no output.
#[non_exhaustive]
pub enum ExecuteError<P: Protocol> {
    /// It was not even submitted.
    Submit(SubmitError<P>),
    /// It ran and did not end well.
    Process(ProcessError<P>),
    /// Called on a worker of the same scheduler, which would wait for itself; nothing was
    /// submitted.
    CalledFromInside(Refused<P>),
}

impl<P: Protocol> fmt::Display for ExecuteError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submit(error) => error.fmt(f),
            Self::Process(error) => error.fmt(f),
            Self::CalledFromInside(_) => CalledFromInside.fmt(f),
        }
    }
}

error_by_display!(SubmitError<P: Protocol>, ExecuteError<P: Protocol>);
