//! Futures and async functions submitted as processes.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::Arc;

use filch_scheduler::{HandedBack, Handle, InitError, NotAdmitted, Protocol, Submission};
use filch_sync::panic::catch_panic;

use crate::future::inbox::Inbox;
use crate::future::join_handle::JoinHandle;
use crate::future::process::{FutureProcess, InboxProcess};

/// Submits a future as a process: see [`HandleExt::spawn`](crate::HandleExt::spawn).
pub(crate) fn spawn<P: Protocol, F>(
    scheduler: &Handle<P>,
    future: F,
) -> Result<JoinHandle<P, F::Output>, SpawnError<P, F>>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let submission = scheduler.prepare(future).without_mailbox().future();
    match submission.admit() {
        Ok((place, future)) => place
            .begin(FutureProcess(future))
            .map(JoinHandle::new)
            .map_err(SpawnError::Hook),
        Err((error, future)) => Err(SpawnError::refused(error, future)),
    }
}

/// An async function that is about to be submitted; from
/// [`HandleExt::submission_with`](crate::HandleExt::submission_with).
pub struct AsyncFn<C, F> {
    function: C,
    future: PhantomData<fn() -> F>,
}

impl<C, F> AsyncFn<C, F> {
    pub(crate) fn new(function: C) -> Self {
        Self {
            function,
            future: PhantomData,
        }
    }
}

impl<C, F> fmt::Debug for AsyncFn<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFn").finish_non_exhaustive()
    }
}

/// An async function of a protocol; its only implementor is [`AsyncFn`], whose types it names.
pub trait Function<P: Protocol> {
    /// The function itself.
    type Function: FnOnce(Inbox<P>) -> Self::Future;
    /// The future that it makes.
    type Future: Future<Output = Self::Output> + Send + 'static;
    /// The output of the future.
    type Output: Send + 'static;

    /// Returns the function.
    fn into_function(self) -> Self::Function;
}

impl<P, C, F> Function<P> for AsyncFn<C, F>
where
    P: Protocol,
    C: FnOnce(Inbox<P>) -> F,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Function = C;
    type Future = F;
    type Output = F::Output;

    fn into_function(self) -> C {
        self.function
    }
}

/// Submits an async function: see [`SubmissionExt::spawn`](crate::SubmissionExt::spawn).
pub(crate) fn spawn_with<P: Protocol, S: Function<P>>(
    submission: Submission<'_, P, S>,
) -> Result<JoinHandle<P, S::Output>, SpawnError<P, S::Function>> {
    let scheduler = submission.handle().clone();
    let (place, start) = match submission.admit() {
        Ok(admitted) => admitted,
        Err((error, start)) => return Err(SpawnError::refused(error, start.into_function())),
    };
    let inbox = Inbox::new(scheduler, place.pid(), place.policy().cloned());
    let mail = Arc::clone(&inbox.mail);
    // It may panic, and then nobody has the place.
    let future = match catch_panic(|| start.into_function()(inbox)) {
        Ok(future) => FutureProcess(future),
        Err(message) => {
            drop(place);
            resume_unwind(Box::new(message));
        }
    };
    place
        .begin(InboxProcess { future, mail })
        .map(JoinHandle::new)
        .map_err(SpawnError::Hook)
}

/// The reason why a future, or an async function, was not spawned. Unless a hook refused, the error
/// holds it, unpolled.
#[non_exhaustive]
pub enum SpawnError<P: Protocol, F> {
    /// The scheduler did not admit it.
    NotAdmitted(NotAdmitted, HandedBack<F>),
    /// The [hook](filch_scheduler::LifeCycle::on_start) refused or panicked; the future was
    /// dropped.
    Hook(InitError<P>),
}

impl<P: Protocol, F> SpawnError<P, F> {
    fn refused(error: NotAdmitted, future: F) -> Self {
        Self::NotAdmitted(error, HandedBack::new(future))
    }
}

impl<P: Protocol, F> fmt::Display for SpawnError<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAdmitted(error, _) => error.fmt(f),
            Self::Hook(error) => error.fmt(f),
        }
    }
}

impl<P: Protocol, F> fmt::Debug for SpawnError<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpawnError({self})")
    }
}

impl<P: Protocol, F> Error for SpawnError<P, F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotAdmitted(error, _) => Some(error),
            Self::Hook(error) => Some(error),
        }
    }
}
