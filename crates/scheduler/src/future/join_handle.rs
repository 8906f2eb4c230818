//! The handle to a spawned future: join it, or await it.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use filch_promise::{Promised, promise};
use filch_sync::panic::drop_contained;

use crate::api::joins::WakerId;
use crate::api::pinned::Pinned;
use crate::api::process_error::{Exit, Outcome};
use crate::api::wait::poll_until;
use crate::{JoinError, Pid, ProcessError, Protocol};

/// The handle to a [spawned](crate::Handle::spawn) future: await it, or [`join`](Self::join) it.
/// Dropping it lets the future go on unwatched.
///
/// An output that nobody takes is dropped with the handle, or at the end of the future if that
/// comes later. A panic of its destructor is contained, as it is for a
/// [`ProcessHandle`](crate::ProcessHandle).
///
/// What the future did happens before its output is seen. This keeps the process's place in the
/// table until it is dropped; so do clones of the future's waker.
#[must_use = "dropping it is fine, but says that nobody will learn how the future ended"]
pub struct JoinHandle<P: Protocol, T> {
    state: JoinState<P>,
    process: Pinned<P>,
    output: PhantomData<fn() -> T>,
}

/// How the handle learns of the end.
enum JoinState<P: Protocol> {
    /// It has not asked, and has the right to.
    Asks,
    /// It is awaited.
    Awaited(Awaited<P>),
    /// It has been told.
    Told,
}

/// The end of a process, which a future awaits.
struct Awaited<P: Protocol> {
    /// Of the future, while the scheduler knows that it waits.
    known: Option<WakerId>,
    promised: Promised<Exit<P>>,
}

impl<P: Protocol> Awaited<P> {
    /// # Safety
    /// The caller has the right to the process's exit, and gives it up.
    unsafe fn new(process: &Pinned<P>) -> Self {
        let (resolver, promised) = promise();
        // SAFETY: the caller's.
        unsafe { process.watch(|exit| resolver.resolve(exit)) };
        Self {
            known: None,
            promised,
        }
    }

    fn poll(&mut self, process: &Pinned<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        let waker = WakerId::of(context.waker());
        if self.known != Some(waker) {
            // Before the promise lets go of that waker.
            self.forget(process);
        }
        let exit = Pin::new(&mut self.promised).poll(context);
        if exit.is_ready() {
            self.forget(process);
        } else if self.known.is_none() {
            let scheduler = process.scheduler();
            scheduler.shared.joins.insert(process.pid(), waker);
            self.known = Some(waker);
        }
        exit
    }

    /// The scheduler does not know any more that the future waits.
    fn forget(&mut self, process: &Pinned<P>) {
        if self.known.take().is_some() {
            process.scheduler().shared.joins.remove(process.pid());
        }
    }
}

impl<P: Protocol> JoinState<P> {
    /// The exit; or leaves the waker for it, for which the first such poll allocates.
    ///
    /// # Safety
    /// It is the state of the handle to that process.
    unsafe fn poll(&mut self, process: &Pinned<P>, context: &mut Context<'_>) -> Poll<Exit<P>> {
        if let Self::Asks = self {
            if process.life().is_set() {
                // SAFETY: the right to the exit is given up.
                let exit = unsafe { self.ask(process) };
                return Poll::Ready(exit);
            }
            // SAFETY: as above.
            *self = Self::Awaited(unsafe { Awaited::new(process) });
        }
        let Self::Awaited(awaited) = self else {
            panic!("polled again after it was ready");
        };
        let exit = ready!(awaited.poll(process, context));
        *self = Self::Told;
        Poll::Ready(exit)
    }

    /// Waits for the exit, as long as it takes.
    ///
    /// # Safety
    /// It is the state of the handle to that process, and has the right to ask.
    unsafe fn ask(&mut self, process: &Pinned<P>) -> Exit<P> {
        *self = Self::Told;
        // SAFETY: the caller's.
        match unsafe { process.exit_until(None) } {
            Some(exit) => exit,
            None => unreachable!("it waits without a deadline"),
        }
    }
}

impl<P: Protocol, T> JoinHandle<P, T> {
    /// There is one handle to a future, whose output is a `T`.
    pub(crate) fn new(process: Pinned<P>) -> Self {
        Self {
            state: JoinState::Asks,
            process,
            output: PhantomData,
        }
    }

    /// The PID of the future's process.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Whether the future has ended, so that awaiting it would not wait.
    pub fn has_ended(&self) -> bool {
        match &self.state {
            JoinState::Asks => self.process.life().is_set(),
            JoinState::Awaited(awaited) => awaited.promised.is_resolved(),
            JoinState::Told => true,
        }
    }

    /// Has the future dropped, where it is suspended, and its process end with
    /// [`ProcessError::Terminated`], as if [terminated](crate::Handle::terminate). Lock-free.
    pub fn abort(&self) {
        // Refused: it has ended.
        let process = &self.process;
        let _ = process.scheduler().terminate(process.pid());
    }
}

impl<P: Protocol, T: 'static> JoinHandle<P, T> {
    /// Waits until the future has ended, and returns its output. Blocking.
    ///
    /// # Errors
    /// [`JoinError::Process`] if it did not end well; [`JoinError::CalledFromInside`], with the
    /// handle, on a worker of the same scheduler when it has not ended: await it there.
    ///
    /// # Panics
    /// If it was polled to its end before.
    pub fn join(mut self) -> Result<T, JoinError<P, Self>> {
        if self.process.scheduler().is_worker() && !self.has_ended() {
            return Err(JoinError::CalledFromInside(self));
        }
        let Self { state, process, .. } = &mut self;
        let exit = if let JoinState::Asks = state {
            // SAFETY: this is the handle, and asks once.
            unsafe { state.ask(process) }
        } else {
            // SAFETY: this is the handle.
            let exit = poll_until(None, |context| unsafe { state.poll(process, context) });
            exit.unwrap_or_else(|| unreachable!("there is no deadline"))
        };
        output(exit).map_err(JoinError::Process)
    }
}

/// The output that is in the exit of a future's process.
fn output<P: Protocol, T: 'static>(exit: Exit<P>) -> Result<T, ProcessError<P>> {
    match exit {
        Ok(Outcome::Future(output)) => match output.downcast() {
            Ok(output) => Ok(output),
            Err(_) => unreachable!("the output of this future is a `T`"),
        },
        // The future was replaced by another process: see `Handle::upgrade`. Its output is dropped
        // here, but is not the caller's: a panic in there must not hide how it ended.
        Ok(Outcome::Process(another)) => {
            drop_contained(another);
            Err(ProcessError::Terminated)
        }
        Err(error) => Err(*error),
    }
}

impl<P: Protocol, T> Drop for JoinHandle<P, T> {
    /// What is the user's, and nobody will take, goes with the process, or now. (A waker may keep
    /// the process's place for long.)
    fn drop(&mut self) {
        match mem::replace(&mut self.state, JoinState::Told) {
            // SAFETY: this is the handle, which has the right to the exit, and goes.
            JoinState::Asks if mem::needs_drop::<T>() => unsafe { self.process.life().let_go() },
            JoinState::Asks | JoinState::Told => {}
            JoinState::Awaited(mut awaited) => {
                awaited.forget(&self.process);
                drop_contained(awaited.promised);
            }
        }
        self.process.slot().handle_goes();
    }
}

impl<P: Protocol, T: 'static> Future for JoinHandle<P, T> {
    type Output = Result<T, ProcessError<P>>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { state, process, .. } = &mut *self;
        // SAFETY: this is the handle.
        let exit = ready!(unsafe { state.poll(process, context) });
        Poll::Ready(output(exit))
    }
}

impl<P: Protocol, T> fmt::Debug for JoinHandle<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("pid", &self.pid())
            .field("ended", &self.has_ended())
            .finish_non_exhaustive()
    }
}
