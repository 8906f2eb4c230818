//! How a process comes to life: [`Handle::submit`] and [`Handle::execute`].

use std::num::NonZeroUsize;

use filch_sync::atomic::{Ordering, fence};

use crate::body::Slot;
use crate::body::{Body, Waits};
use crate::hooks;
use crate::options::Options;
use crate::resident::Resident;
use crate::signal::{Item, Signal};
use crate::{
    Context, ExecuteError, ExitReason, Handle, InitError, JoinError, Pid, Process, ProcessHandle,
    Protocol, Refused, SubmitError,
};
use filch_process_table::Refusal;
use filch_process_table::panic::{catch_panic, drop_contained};

impl<P: Protocol> Handle<P> {
    /// Gives the process to the scheduler: calls its [`init`](Process::init) here and now, with the
    /// name of an entry point and its input, then puts it into the run queues. Lock-free, but for
    /// `init` and memory.
    ///
    /// What the caller did before happens before the first step.
    ///
    /// # Errors
    /// [`SubmitError`]: the scheduler is shut down or full, and hands the process back, or `init` refused, and the process
    /// is closed. In either case nothing stays registered.
    pub fn submit(
        &self,
        process: impl Process<P> + 'static,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        let options = Options::default();
        match self.admit(&options) {
            Ok(place) => self.begin(
                place,
                Resident::new(process),
                |process, context| init(process, context, method, input),
                &options,
            ),
            Err(refusal) => Err(hand_back(refusal, Box::new(process), input)),
        }
    }

    /// As [`submit`](Self::submit), for a process whose type was chosen while running, or that was
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
        let process = Resident::boxed(process);
        self.submit_with(process, method, input, &Options::default())
    }

    pub(crate) fn submit_with(
        &self,
        process: Resident<P>,
        method: &str,
        input: P::Input,
        options: &Options,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        match self.admit(options) {
            Ok(place) => self.begin(
                place,
                process,
                |process, context| init(process, context, method, input),
                options,
            ),
            Err(refusal) => Err(hand_back(refusal, process.into_boxed(), input)),
        }
    }

    /// A place for one more process. See [`Table::occupy`](crate::table::Table::occupy).
    pub(crate) fn admit(&self, options: &Options) -> Result<(Pid, &Slot<P>), Refusal> {
        self.shared
            .admission
            .enter(self.shared.processors.current())?;
        self.table().occupy(&options.placement()).map_err(|_full| {
            self.leave();
            Refusal::Full(NonZeroUsize::new(u32::MAX as usize).unwrap_or(NonZeroUsize::MAX))
        })
    }

    /// Has the process begin its life in the place that it was given, with `init`.
    pub(crate) fn begin(
        &self,
        (pid, slot): (Pid, &Slot<P>),
        process: Resident<P>,
        init: impl FnOnce(&mut dyn Process<P>, &Context<'_, P>) -> Result<(), InitError<P>>,
        options: &Options,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        let body = Body {
            process,
            waits: Waits::Turn,
            trap_exits: options.trap_exits,
            held: None,
        };
        // SAFETY: the process is not Ready yet, so no worker can have it: it is the submitter's.
        let body = unsafe { slot.life.begin(body) };
        if let Err(error) = self.initialise(pid, &mut *body.process, init) {
            self.turn_away(pid, slot, &ExitReason::not_started(&error));
            return Err(error);
        }
        if slot.state.submit().is_err() {
            unreachable!("the state of a slot without an occupant is Complete");
        }
        self.enqueue(slot);
        // No fence: either the walk of `cancel_all` through the table has found this process, or
        // this has come into its slot after the walk, and the closed doors are seen. See there.
        if self.shared.admission.is_closed() {
            self.cancel(pid);
        }
        Ok(ProcessHandle::new(pid, self.clone()))
    }

    /// Submits the process, waits for its end, and returns its output. Blocking.
    ///
    /// # Errors
    /// As [`submit`](Self::submit) and [`ProcessHandle::join`]. On a worker of this scheduler
    /// nothing is submitted.
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
        let handle = self
            .submit(process, method, input)
            .map_err(ExecuteError::Submit)?;
        handle.join().map_err(|error| match error {
            JoinError::Process(error) => ExecuteError::Process(error),
            JoinError::CalledFromInside(_) | JoinError::NotYet(_) => {
                unreachable!("this thread was no worker a moment ago, and had all the time")
            }
        })
    }

    /// Ends a process that was refused, and gives its place up. The caller is the submitter.
    #[cold]
    fn turn_away(&self, pid: Pid, slot: &Slot<P>, reason: &ExitReason) {
        // SAFETY: the process was not Ready, so no worker can have it: it is the submitter's.
        if let Some(mut body) = unsafe { slot.life.take_body() } {
            // The error of `init` is the one that tells what is wrong; one of closing after it
            // would hide it.
            let _ = catch_panic(|| body.process.close(reason));
            drop_contained(body);
        }
        // Whoever learnt the PID from `init` and sends to it is refused from here on.
        slot.events.close();
        // ORDERING: partner of the fence in `Handle::signal`: either that one sees the closed
        // queue, or the drain below finds the signal.
        fence(Ordering::SeqCst);
        // SAFETY: as above: the submitter is the queue's consumer.
        unsafe {
            slot.discard_events(|item| {
                if let Item::Signal(Signal::Tie(bond)) = item {
                    self.release(pid, &bond, reason);
                }
            });
        }
        // SAFETY: the submitter has both: the process's pin, and that of the handle which it will
        // never have.
        unsafe {
            self.table().unpin(pid.slot());
            self.table().unpin(pid.slot());
        }
        self.leave();
    }

    /// Runs `init` and the start hook.
    fn initialise(
        &self,
        pid: Pid,
        process: &mut dyn Process<P>,
        init: impl FnOnce(&mut dyn Process<P>, &Context<'_, P>) -> Result<(), InitError<P>>,
    ) -> Result<(), SubmitError<P>> {
        let context = Context::new(self, pid);
        init(process, &context)
            .map_err(SubmitError::Init)
            .and_then(|()| hooks::start(&context).map_err(SubmitError::Hook))
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
        Refusal::Full(limit) => SubmitError::LimitReached { limit, refused },
        Refusal::Closed => SubmitError::ShutDown(refused),
    }
}

/// Runs `init`.
pub(crate) fn init<P: Protocol>(
    process: &mut dyn Process<P>,
    context: &Context<'_, P>,
    method: &str,
    input: P::Input,
) -> Result<(), InitError<P>> {
    match catch_panic(|| process.init(context, method, input)) {
        Ok(outcome) => outcome,
        Err(message) => Err(InitError::Panicked(message)),
    }
}
