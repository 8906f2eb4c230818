//! The process of a supervisor: it carries out the plan.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use filch_actors::timers::{Sleep, Timers};
use filch_actors::{HandleExt, Inbox};
use filch_scheduler::{Event as Told, ExitReason, HandedBack, Pid, Protocol};

use crate::child::{Address, Birth, Child, Maker, Newborn, NotMade};
use crate::handle::{ChildInfo, ChildState, NotAdded, SupervisorError};
use crate::mail::{Change, Mail, Mailbox, Reply};
use crate::plan::child::{ChildId, ChildRef, Life};
use crate::plan::event::{Action, Answer, ChildError, Event, Failure, Request, RequestId};
use crate::plan::machine::Plan;
use crate::supervisor::{Begun, EndsProcess};

/// The process of a supervisor.
pub(crate) struct Driver<P: Protocol> {
    /// The first to be dropped: before anyone is told.
    _guard: EndsProcess<P>,
    inbox: Inbox<P>,
    mail: Mailbox<Child<P>>,
    /// The address to which children that are supervisors send their mail.
    address: Address<P>,
    timers: Timers,
    /// Lasts until the plan's deadline, if that was waited for.
    sleep: Option<Sleep>,
    plan: Plan<Maker<P>>,
    /// The child and the life of each process.
    lives: BTreeMap<Pid, (ChildId, Life)>,
    /// The process of the last start.
    starting: Option<Pid>,
    /// The supervisor above.
    above: Option<Pid>,
    /// Taken when it has begun.
    begun: Option<Begun<P>>,
    requests: u64,
    replies: BTreeMap<RequestId, Requested<P>>,
}

/// A request that has not been answered.
enum Requested<P: Protocol> {
    Start(Reply<ChildId, NotAdded<Child<P>>>),
    Change(Reply<ChildId, ChildError>),
}

/// The outcome of a start; the address of a child that is a supervisor.
type Made<P> = Result<Option<Address<P>>, NotMade>;

/// The reason given to a child that is asked to end.
const REASON: &str = "its supervisor ends it";

/// Carries out the plan to its end. If that is a [`Failure`], the process fails with it.
pub(crate) async fn supervise<P: Protocol>(mut driver: Driver<P>) {
    driver.tell(Event::Begin);
    let outcome = loop {
        if let Some(outcome) = driver.carry_out() {
            break outcome;
        }
        poll_fn(|context| driver.poll(context)).await;
    };
    driver.end(outcome);
}

impl<P: Protocol> Driver<P> {
    pub(crate) fn new(
        inbox: Inbox<P>,
        (address, mail): (Address<P>, Mailbox<Child<P>>),
        timers: Timers,
        plan: Plan<Maker<P>>,
        above: Option<Pid>,
        begun: Begun<P>,
    ) -> Self {
        let _guard = EndsProcess(inbox.handle().clone(), inbox.pid());
        Self {
            _guard,
            inbox,
            mail,
            address,
            timers,
            sleep: None,
            plan,
            lives: BTreeMap::new(),
            starting: None,
            above,
            begun: Some(begun),
            requests: 0,
            replies: BTreeMap::new(),
        }
    }

    /// Hears of the first event that it waits for.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Poll::Ready(event) = self.inbox.poll_next(context) {
            self.hear(event);
            return Poll::Ready(());
        }
        if let Poll::Ready(mail) = self.mail.poll_next(context) {
            self.read(mail);
            return Poll::Ready(());
        }
        let Some(deadline) = self.plan.deadline() else {
            self.sleep = None;
            return Poll::Pending;
        };
        let kept = self.sleep.take();
        let kept = kept.filter(|sleep| sleep.deadline() == deadline);
        let mut sleep = kept.unwrap_or_else(|| self.timers.sleep_until(deadline));
        match Pin::new(&mut sleep).poll(context) {
            Poll::Ready(Ok(())) => self.tell(Event::Time),
            // The timers are closed: the deadline never comes.
            Poll::Ready(Err(_)) => {
                self.tell(Event::Stop);
                self.plan.handle(Event::Time, deadline);
            }
            Poll::Pending => {
                self.sleep = Some(sleep);
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    fn hear(&mut self, event: Told<P>) {
        match event {
            Told::Exited(exited) => self.has_ended(exited.pid, exited.reason),
            Told::Cancel(_) => self.tell(Event::Stop),
            // It watches nobody, yields no command, and is sent no message.
            _ => {}
        }
    }

    /// Handles the end of a linked process.
    fn has_ended(&mut self, pid: Pid, reason: ExitReason) {
        if !self.lives.contains_key(&pid) && self.above != Some(pid) {
            // The news of its birth was sent before.
            while let Some(mail) = self.mail.try_next() {
                self.read(mail);
            }
        }
        if let Some((child, life)) = self.lives.remove(&pid) {
            if let Some(known) = self.plan.child_mut(child) {
                known.spec.make.pid = None;
                known.spec.make.below = None;
                if !known.spec.make.is_supervisor {
                    // It was linked, so it had been started.
                    self.tell(Event::Started { child, life });
                }
            }
            self.tell(Event::Ended {
                child,
                life,
                reason,
            });
        } else if self.above == Some(pid) {
            self.tell(Event::Stop);
        }
    }

    fn read(&mut self, mail: Mail<Child<P>>) {
        match mail {
            Mail::Start(Child(spec), reply) => {
                self.request(Requested::Start(reply), Request::Start(spec));
            }
            Mail::Change(change, child, reply) => {
                let request = match change {
                    Change::End => Request::End(child),
                    Change::Restart => Request::Restart(child),
                    Change::Delete => Request::Delete(child),
                };
                self.request(Requested::Change(reply), request);
            }
            Mail::List(reply) => {
                let children = self.plan.children().map(|(id, child)| ChildInfo {
                    id,
                    name: child.spec.name.clone(),
                    state: ChildState::from(&child.state),
                    pid: child.spec.make.pid,
                });
                reply.tell(Ok(children.collect()));
            }
            Mail::Below(child, found) => found(self.below(&child)),
            Mail::Stop(reply) => {
                self.mail.tell_at_end(reply);
                self.tell(Event::Stop);
            }
            Mail::AwaitEnd(reply) => self.mail.tell_at_end(reply),
            Mail::Born(child, life, pid) => self.was_born(child, life, pid),
            Mail::Made(child, life, made) => self.was_made(child, life, made.map(|()| None)),
            Mail::Begun(child, life) => self.tell(Event::Started { child, life }),
        }
    }

    fn below(&mut self, child: &ChildRef) -> Result<Address<P>, ChildError> {
        let id = self.plan.find(child).ok_or(ChildError::Unknown)?;
        let known = self.plan.child_mut(id).ok_or(ChildError::Unknown)?;
        known.spec.make.below.clone().ok_or(ChildError::Unknown)
    }

    fn request(&mut self, requested: Requested<P>, request: Request<Maker<P>>) {
        let id = RequestId(self.requests);
        self.requests += 1;
        self.replies.insert(id, requested);
        self.tell(Event::Request(id, request));
    }

    fn tell(&mut self, event: Event<Maker<P>>) {
        self.plan.handle(event, self.timers.now());
    }

    /// Does what the plan says, until it must wait; returns the outcome if the plan is over.
    fn carry_out(&mut self) -> Option<Result<(), Failure>> {
        while let Some(action) = self.plan.next_action() {
            match action {
                Action::Start { child, life } => self.start(child, life),
                Action::AskToEnd(child) => {
                    if let Some(pid) = self.pid(child) {
                        // Refused if it has ended, which will be reported.
                        let _ = self.inbox.handle().cancel(pid, REASON);
                    }
                }
                Action::Terminate(child) => {
                    if let Some(pid) = self.pid(child) {
                        // As above.
                        let _ = self.inbox.handle().terminate(pid);
                    }
                }
                Action::GiveUp { child, .. } => {
                    if let Some(pid) = self.forget_start(child) {
                        // As above.
                        let _ = self.inbox.handle().terminate(pid);
                    }
                }
                Action::Begun => {
                    if let Some(begun) = self.begun.take() {
                        begun.tell(&self.address);
                    }
                }
                Action::Answer(id, answer) => {
                    if let Some(requested) = self.replies.remove(&id) {
                        requested.tell(answer);
                    }
                }
                Action::End(outcome) => return Some(outcome),
            }
        }
        None
    }

    fn pid(&mut self, child: ChildId) -> Option<Pid> {
        self.plan.child_mut(child)?.spec.make.pid
    }

    fn start(&mut self, child: ChildId, life: Life) {
        let Some(known) = self.plan.child_mut(child) else {
            return;
        };
        let make = Arc::clone(&known.spec.make.make);
        self.starting = None;
        let birth = Birth {
            scheduler: self.inbox.handle().clone(),
            timers: self.timers.clone(),
            name: known.spec.name.clone(),
            child,
            life,
            supervisor: self.inbox.pid(),
            above: self.address.clone(),
            has_limit: known.spec.start.is_some(),
        };
        if birth.has_limit {
            let made = async move {
                let made = birth.make(&make).map(drop);
                birth.above.send(Mail::Made(child, life, made));
            };
            if let Err(error) = self.inbox.handle().spawn(made) {
                self.was_made(child, life, Err(error.into()));
            }
            return;
        }
        let made = birth.make(&make).map(|Newborn { pid, below }| {
            self.was_born(child, life, pid);
            below
        });
        self.was_made(child, life, made);
    }

    /// Notes the process of a child; one whose start was given up meanwhile ends.
    fn was_born(&mut self, child: ChildId, life: Life, pid: Pid) {
        let known = self.plan.child_mut(child);
        match known.filter(|known| known.state.life() == Some(life)) {
            Some(known) => {
                known.spec.make.pid = Some(pid);
                self.lives.insert(pid, (child, life));
                self.starting = Some(pid);
            }
            None => {
                // Refused if it has ended.
                let _ = self.inbox.handle().terminate(pid);
            }
        }
    }

    /// Reports the outcome of a start.
    fn was_made(&mut self, child: ChildId, life: Life, made: Made<P>) {
        let reason = match made {
            Ok(None) => return self.tell(Event::Started { child, life }),
            // A supervisor reports when it has begun.
            Ok(below) => {
                if let Some(known) = self.plan.child_mut(child) {
                    known.spec.make.below = below;
                }
                return;
            }
            Err(NotMade::ShutDown) => {
                self.tell(Event::Stop);
                ExitReason::ShutDown
            }
            Err(NotMade::Because(reason)) => reason,
        };
        if (self.starting).is_some_and(|pid| self.lives.get(&pid) == Some(&(child, life))) {
            self.forget_start(child);
        }
        self.tell(Event::Ended {
            child,
            life,
            reason,
        });
    }

    /// Forgets the process of the child that is being started, and returns it.
    fn forget_start(&mut self, child: ChildId) -> Option<Pid> {
        if let Some(known) = self.plan.child_mut(child) {
            known.spec.make.pid = None;
        }
        let pid = self.starting.take()?;
        self.lives.remove(&pid).map(|_| pid)
    }

    /// Ends the supervisor, and answers everyone who has asked, is asking, or will.
    fn end(self, outcome: Result<(), Failure>) {
        let told = outcome.clone().map_err(SupervisorError::from);
        let (scheduler, pid) = (self.inbox.handle(), self.inbox.pid());
        let (begun, mail) = (self.begun, self.mail);
        // Once the process has ended, and its name is free.
        let _ = scheduler.at_end(pid, move |_| {
            if let Some(Begun::Answer(reply)) = begun {
                let error = told.clone().err().unwrap_or(SupervisorError::Stopped);
                reply.tell(Err(error));
            }
            mail.close(told);
        });
        if let Err(failure) = outcome {
            self.inbox.fail(failure);
        }
    }
}

impl<P: Protocol> Requested<P> {
    fn tell(self, answer: Answer<Maker<P>>) {
        match self {
            Self::Start(reply) => reply.tell(answer.map_err(|refused| NotAdded {
                error: refused.error,
                child: refused.spec.map(Child).map(HandedBack::new),
            })),
            Self::Change(reply) => reply.tell(answer.map_err(|refused| refused.error)),
        }
    }
}
