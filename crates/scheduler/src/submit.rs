//! How a process comes to life: [`Handle::submit`] and [`Handle::execute`].

use std::num::NonZeroUsize;

use filch_sync::Arc;
use filch_sync::atomic::{Ordering, fence};

use crate::admission::Refusal;
use crate::contain::{contain, dispose};
use crate::driver::Task;
use crate::exit::ExitCell;
use crate::table::{Body, Waits};
use crate::{
    Context, ExecuteError, Handle, InitError, JoinError, Process, ProcessHandle, Protocol, Refused,
    SubmitError,
};

impl<P: Protocol> Handle<P> {
    /// Gives the process to the scheduler: calls its [`init`](Process::init) here and now, with the name of an entry
    /// point and its input, then puts it into the run queues. Lock-free, but for `init` and memory.
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
        self.submit_boxed(Box::new(process), method, input)
    }

    /// As [`submit`](Self::submit), for a process whose type was chosen while running, or that was handed back.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn submit_boxed(
        &self,
        process: Box<dyn Process<P>>,
        method: &str,
        input: P::Input,
    ) -> Result<ProcessHandle<P>, SubmitError<P>> {
        let refused = Refused { process, input };
        let submitted = self.admit(refused, |context, Refused { process, input }| {
            initialise(context, process, method, input)
        });
        submitted.map_err(|error| match error {
            NotAdmitted::ShutDown(refused) => SubmitError::ShutDown(refused),
            NotAdmitted::LimitReached { limit, refused } => {
                SubmitError::LimitReached { limit, refused }
            }
            NotAdmitted::Init(error) => SubmitError::Init(error),
        })
    }

    /// Admits a process and puts it into the run queues. `make` makes it of `parts`, when it has a place and a PID.
    pub(crate) fn admit<R>(
        &self,
        parts: R,
        make: impl FnOnce(&Context<'_, P>, R) -> Result<Box<dyn Process<P>>, InitError<P>>,
    ) -> Result<ProcessHandle<P>, NotAdmitted<P, R>> {
        if let Err(refusal) = self.shared.admission.enter() {
            return Err(match refusal {
                Refusal::Closed => NotAdmitted::ShutDown(parts),
                Refusal::Full(limit) => NotAdmitted::LimitReached {
                    limit,
                    refused: parts,
                },
            });
        }
        let Ok((pid, slot)) = self.table().move_in() else {
            self.leave();
            let limit = NonZeroUsize::new(u32::MAX as usize).unwrap_or(NonZeroUsize::MAX);
            return Err(NotAdmitted::LimitReached {
                limit,
                refused: parts,
            });
        };
        let exit = Arc::new(ExitCell::new());
        let process = match make(&Context::new(self, pid), parts) {
            Ok(process) => process,
            Err(error) => {
                // Whoever learnt the PID from `init` and sends to it is refused from here on.
                slot.events.close();
                self.table().unpin(pid.slot);
                self.leave();
                return Err(NotAdmitted::Init(error));
            }
        };
        // SAFETY: the process is not Ready yet, so no worker can have it: it is the submitter's.
        let body = unsafe { slot.body() };
        *body = Some(Body {
            process,
            exit: Arc::clone(&exit),
            outstanding: 0,
            waits: Waits::Turn,
        });
        if slot.state.submit().is_err() {
            unreachable!("the state of a slot without a tenant is Complete");
        }
        self.shared.processors.schedule(Task(pid.slot));
        // ORDERING: the fence's partner is the one in `cancel_all`. Either its walk through the table finds this
        // process, or the closed door is seen here.
        fence(Ordering::SeqCst);
        if self.shared.admission.is_closed() {
            self.cancel(pid);
        }
        Ok(ProcessHandle::new(pid, exit, self.clone()))
    }

    /// Submits the process, waits for its end, and returns its output. Blocking.
    ///
    /// # Errors
    /// As [`submit`](Self::submit) and [`ProcessHandle::join`]. On a worker of this scheduler nothing is submitted.
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
}

/// Why a process was not admitted, and what it would have been made of.
pub(crate) enum NotAdmitted<P: Protocol, R> {
    ShutDown(R),
    LimitReached { limit: NonZeroUsize, refused: R },
    Init(InitError<P>),
}

/// Runs `init`. A process that refuses is closed and gone.
fn initialise<P: Protocol>(
    context: &Context<'_, P>,
    mut process: Box<dyn Process<P>>,
    method: &str,
    input: P::Input,
) -> Result<Box<dyn Process<P>>, InitError<P>> {
    let error = match contain(|| process.init(context, method, input)) {
        Ok(Ok(())) => return Ok(process),
        Ok(Err(error)) => error,
        Err(message) => InitError::Panicked(message),
    };
    // The error of `init` is the one that tells what is wrong; one of closing after it would hide it.
    let _ = contain(|| process.close());
    dispose(process);
    Err(error)
}
