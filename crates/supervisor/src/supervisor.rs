//! A supervisor before it runs: its rules and its first children.

use std::fmt;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_promise::{Answer, answer};
use filch_scheduler::{ExitReason, Handle, Pid, Protocol};

use crate::child::{Address, Child, Maker, Newborn, NotMade};
use crate::driver::{Driver, supervise};
use crate::handle::{SupervisorError, SupervisorHandle};
use crate::mail::{Mail, Reply, mailbox};
use crate::plan::child::{ChildId, Life, Spec};
use crate::plan::machine::{Plan, Rules};
use crate::settings::{Backoff, Intensity, Shutdown, Strategy};

/// A supervisor before it runs: its rules and its first children.
///
/// It owns its children, and a child that is a supervisor owns its own: so there are no cycles.
#[must_use = "a supervisor does nothing before it is started"]
pub struct Supervisor<P: Protocol> {
    rules: Rules,
    children: Vec<Child<P>>,
    name: Option<Box<str>>,
}

impl<P: Protocol> Supervisor<P> {
    /// Makes a childless supervisor, which allows a failure in five seconds, and restarts at once.
    pub fn new(strategy: Strategy) -> Self {
        Self {
            rules: Rules {
                strategy,
                intensity: Intensity::default(),
                backoff: Backoff::NONE,
            },
            children: Vec::new(),
            name: None,
        }
    }

    /// Sets how many failures of children it survives within any such period. At one more failure
    /// it ends all of them, and itself.
    #[doc(alias = "max_restarts")]
    pub fn intensity(mut self, failures: usize, period: Duration) -> Self {
        self.rules.intensity = Intensity {
            restarts: failures,
            period,
        };
        self
    }

    /// Sets the pause of a failed child before its next life.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.rules.backoff = backoff;
        self
    }

    /// Gives its own process a [name](Handle::register). One that is a child has the child's name.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a child, which is started after the others and ended before them.
    pub fn child(mut self, child: Child<P>) -> Self {
        self.children.push(child);
        self
    }

    /// Starts a process for the supervisor, which starts its children, one after another. It is
    /// answered when all have been started.
    ///
    /// It outlives the handle. It ends when it is asked to ([`SupervisorHandle::stop`],
    /// [`Handle::cancel`], the scheduler's shutdown), or when its children fail too often: then its
    /// process *fails* with the [`Failure`](crate::Failure), which monitors and linked processes
    /// get. The time for pauses and limits comes from `timers`. If these are shut down, a
    /// supervisor that needs them ends instead, and waits for no child.
    ///
    /// # Errors
    /// [`SupervisorError::NameTaken`], [`SupervisorError::NotStarted`]. The answer:
    /// [`SupervisorError::Failed`] with [`Failure::NotStarted`](crate::Failure::NotStarted), once
    /// the children that had been started have been ended, last first, and its name is free;
    /// [`SupervisorError::Stopped`], [`SupervisorError::Terminated`].
    pub fn start(
        mut self,
        scheduler: &Handle<P>,
        timers: &Timers,
    ) -> Result<Answer<SupervisorHandle<P>, SupervisorError>, SupervisorError> {
        let name = self.name.take();
        let plan = self.plan()?;
        let (reply, answer) = answer();
        let cradle = Cradle {
            scheduler,
            timers,
            name: name.as_deref(),
            above: None,
        };
        match cradle.spawn(plan, Begun::Answer(reply)) {
            Ok(_) => Ok(answer),
            Err(error) => Err(SupervisorError::NotStarted(error.to_string().into())),
        }
    }

    fn plan(self) -> Result<Plan<Maker<P>>, SupervisorError> {
        let mut plan = Plan::new(self.rules);
        for Child(spec) in self.children {
            if let Err(Spec { name, .. }) = plan.add(spec) {
                let name = name.as_deref().unwrap_or_default();
                return Err(SupervisorError::NameTaken(name.into()));
            }
        }
        Ok(plan)
    }
}

/// The place where a supervisor's process is made.
struct Cradle<'a, P: Protocol> {
    scheduler: &'a Handle<P>,
    timers: &'a Timers,
    name: Option<&'a str>,
    /// The supervisor above.
    above: Option<Pid>,
}

impl<P: Protocol> Cradle<'_, P> {
    fn spawn(self, plan: Plan<Maker<P>>, begun: Begun<P>) -> Result<Newborn<P>, NotMade> {
        let (address, mailbox) = mailbox();
        let below = address.clone();
        let timers = self.timers.clone();
        let submission = self.scheduler.submission_with(|inbox| {
            let mail = (address, mailbox);
            supervise(Driver::new(inbox, mail, timers, plan, self.above, begun))
        });
        // It reads no messages: they come back to their senders, also if these would wait.
        let mut submission = submission.trap_exits().without_mailbox();
        if let Some(name) = self.name {
            submission = submission.name(name);
        }
        if let Some(above) = self.above {
            submission = submission.linked_to(above);
        }
        Ok(Newborn {
            pid: submission.spawn()?.pid(),
            below: Some(below),
        })
    }
}

/// The receiver of the news that all children have been started.
pub(crate) enum Begun<P: Protocol> {
    /// The caller that starts it.
    Answer(Reply<SupervisorHandle<P>, SupervisorError>),
    /// The supervisor above, and the child and the life that this supervisor is.
    Above(Address<P>, ChildId, Life),
}

impl<P: Protocol> Begun<P> {
    pub(crate) fn tell(self, address: &Address<P>) {
        match self {
            Self::Answer(reply) => reply.tell(Ok(SupervisorHandle::new(address.clone()))),
            Self::Above(above, child, life) => {
                // If the supervisor above has ended, it ends this one.
                above.send(Mail::Begun(child, life));
            }
        }
    }
}

/// Ends the process of a supervisor with its driver: an upgrade would have it go on, and nobody
/// look after the children.
pub(crate) struct EndsProcess<P: Protocol>(pub(crate) Handle<P>, pub(crate) Pid);

impl<P: Protocol> Drop for EndsProcess<P> {
    fn drop(&mut self) {
        // Refused if it is ending anyway.
        let _ = self.0.terminate(self.1);
    }
}

// Not in `child`, which must not know of supervisors.
impl<P: Protocol> Child<P> {
    /// Makes a child that is a supervisor: `Child::supervisor("workers", || Supervisor::new(…))`.
    /// `make` is called for each life; the child counts as started when all of its own children do.
    ///
    /// By default it is permanent, and its end has no [limit](Shutdown::Unlimited).
    pub fn supervisor<F>(name: &str, mut make: F) -> Self
    where
        F: FnMut() -> Supervisor<P> + Send + 'static,
    {
        let child = Self::with_maker(move |birth| {
            let plan = make().plan();
            let plan = plan.map_err(|error| NotMade::Because(ExitReason::not_started(&error)))?;
            let cradle = Cradle {
                scheduler: &birth.scheduler,
                timers: &birth.timers,
                name: birth.name.as_deref(),
                above: Some(birth.supervisor),
            };
            let begun = Begun::Above(birth.above.clone(), birth.child, birth.life);
            cradle.spawn(plan, begun)
        });
        let mut child = child.named(name).shutdown(Shutdown::Unlimited);
        child.0.make.is_supervisor = true;
        child
    }
}

impl<P: Protocol> fmt::Debug for Supervisor<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("rules", &self.rules)
            .field("children", &self.children)
            .finish_non_exhaustive()
    }
}
