//! A pick that is under way, and its canceller.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::{fmt, mem};

use filch_parker::block_on;
use filch_promise::answer;

use crate::error::{Answer, PickError};
use crate::job::{Content, Id, Job, Outcome};
use crate::machine::{Granted, Machine, PickName};
use crate::planner::WorkerId;
use crate::shared::Shared;

/// A pick: await it in a task, or [wait](Self::wait) for it in a thread. Dropping it cancels the
/// pick; a job that it got and nobody has seen is given back.
#[must_use = "dropping it cancels the pick"]
pub struct Picking<I: Id, S: Content, R: Outcome> {
    shared: Weak<Shared<I, S, R>>,
    worker: WorkerId,
    stage: Stage<I, S>,
}

enum Stage<I, S> {
    /// There is a job, which nobody has seen.
    Granted(Granted<I, S>),
    Refused(PickError),
    /// Another thread applies the pick, or it waits.
    Pending(PickName, Answer<Granted<I, S>, PickError>),
    /// The answer was seen.
    Seen,
}

impl<I: Id, S: Content, R: Outcome> Picking<I, S, R> {
    pub(crate) fn start(shared: &Arc<Shared<I, S, R>>, worker: WorkerId) -> Self {
        let pick_now = |machine: &mut Machine<I, S, R>| {
            machine.enter(|machine| {
                if let Some(granted) = machine.try_pick(worker)? {
                    return Ok(Stage::Granted(granted));
                }
                let (reply, answer) = answer();
                let name = PickName::default();
                machine.wait(worker, reply, &name)?;
                Ok(Stage::Pending(name, answer))
            })
        };
        let stage = match shared.run_now(pick_now) {
            Ok(stage) => stage.unwrap_or_else(Stage::Refused),
            Err(_) => pick_later(shared, worker),
        };
        Self {
            shared: Arc::downgrade(shared),
            worker,
            stage,
        }
    }

    /// Returns a canceller, to end the pick from elsewhere.
    pub fn canceller(&self) -> Canceller {
        let Stage::Pending(name, _) = &self.stage else {
            return Canceller { cancel: None };
        };
        let (shared, name) = (Weak::clone(&self.shared), Arc::clone(name));
        let cancel = move || {
            if let Some(shared) = shared.upgrade() {
                let name = Arc::clone(&name);
                shared.tell(move |machine| machine.cancel(&name));
            }
        };
        Canceller {
            cancel: Some(Arc::new(cancel)),
        }
    }

    /// Returns whether the answer is there. Wait-free.
    pub fn is_ready(&self) -> bool {
        match &self.stage {
            Stage::Pending(_, answer) => answer.is_ready(),
            _ => true,
        }
    }

    /// Waits for a job. Blocking; a waker that the scheduler calls must not call it.
    ///
    /// # Errors
    /// If the pick was cancelled, there is no such worker, or the scheduler was stopped.
    pub fn wait(self) -> Result<Arc<Job<I, S>>, PickError> {
        block_on(self)
    }
}

/// Leaves the pick to the thread that is at the machine.
fn pick_later<I: Id, S: Content, R: Outcome>(
    shared: &Shared<I, S, R>,
    worker: WorkerId,
) -> Stage<I, S> {
    let (reply, answer) = answer();
    let name = PickName::default();
    let noted = Arc::clone(&name);
    shared.tell(move |machine| {
        match machine.try_pick(worker) {
            Ok(None) => machine.wait(worker, reply, &noted)?,
            Ok(Some(granted)) => reply.tell(Ok(granted)),
            Err(error) => reply.tell(Err(error)),
        }
        Ok::<_, PickError>(())
    });
    Stage::Pending(name, answer)
}

impl<I: Id, S: Content, R: Outcome> Future for Picking<I, S, R> {
    type Output = Result<Arc<Job<I, S>>, PickError>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Stage::Pending(_, answer) = &mut self.stage {
            let Poll::Ready(answer) = Pin::new(answer).poll(context) else {
                return Poll::Pending;
            };
            self.stage = Stage::Seen;
            return Poll::Ready(answer.map(|granted| granted.job));
        }
        Poll::Ready(match mem::replace(&mut self.stage, Stage::Seen) {
            Stage::Granted(granted) => Ok(granted.job),
            Stage::Refused(error) => Err(error),
            Stage::Pending(..) | Stage::Seen => panic!("polled again after it was ready"),
        })
    }
}

impl<I: Id, S: Content, R: Outcome> Drop for Picking<I, S, R> {
    fn drop(&mut self) {
        let worker = self.worker;
        match mem::replace(&mut self.stage, Stage::Seen) {
            Stage::Refused(_) | Stage::Seen => {}
            Stage::Granted(granted) => {
                if let Some(shared) = self.shared.upgrade() {
                    shared.tell(move |machine| machine.abandon(worker, granted));
                }
            }
            Stage::Pending(name, mut answer) => {
                let Some(shared) = self.shared.upgrade() else {
                    return;
                };
                shared.tell(move |machine| {
                    machine.cancel(&name)?;
                    // The pick was applied before, and waits no longer: there is an answer.
                    let mut context = Context::from_waker(Waker::noop());
                    match Pin::new(&mut answer).poll(&mut context) {
                        Poll::Ready(Ok(granted)) => machine.abandon(worker, granted),
                        _ => Ok(()),
                    }
                });
            }
        }
    }
}

impl<I: Id, S: Content, R: Outcome> fmt::Debug for Picking<I, S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picking")
            .field("worker", &self.worker)
            .field("ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}

/// Ends a pick from elsewhere. Any number of threads may have a clone.
#[derive(Clone)]
pub struct Canceller {
    /// `None` if the pick waits no longer.
    cancel: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Canceller {
    /// Ends the pick with [`PickError::Cancelled`] at once, if it waits. Otherwise nothing happens:
    /// a job that it got stays got.
    ///
    /// Like every call, it may leave the work to another thread that is at the scheduler, which
    /// does it soon.
    pub fn cancel(&self) {
        if let Some(cancel) = &self.cancel {
            cancel();
        }
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
