//! The state that all handles of a scheduler share: it applies their events to the planner.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use filch_sync::panic::{catch_panic, drop_contained};

use crate::alarm::Alarm;
use crate::answer::Answer;
use crate::combiner::Apply;
use crate::config::Config;
use crate::error::{JobError, PickError, ReportError};
use crate::event::{Event, JobReply, PickReply, Ticket};
use crate::job::Job;
use crate::planner::{AlreadyPending, Grant, PickId, Planner, WorkerId};

/// When it is dropped, or its planner, all replies in there tell that the scheduler was stopped.
pub(crate) struct Machine<I, S, R> {
    /// `None` once it was stopped.
    planner: Option<Plan<I, S, R>>,
    /// The picks that wait.
    waiting: HashMap<Ticket, PickId>,
    alarm: Alarm,
}

type Plan<I, S, R> = Planner<I, Pending<I, S, R>, Pick<I, S>>;

/// What is kept with a job.
struct Pending<I, S, R> {
    job: Arc<Job<I, S>>,
    /// Where the result goes: one for each call that scheduled it.
    replies: Vec<JobReply<R>>,
    /// The pick that got it last.
    ticket: Ticket,
}

/// What is kept with a pick.
struct Pick<I, S> {
    ticket: Ticket,
    reply: PickReply<I, S>,
}

impl<I, S, R> Machine<I, S, R>
where
    I: Clone + Eq + Hash,
    S: PartialEq,
{
    pub(crate) fn new(config: Config, alarm: Alarm) -> Self {
        Self {
            planner: Some(Planner::new(config)),
            waiting: HashMap::new(),
            alarm,
        }
    }

    /// Applies the event, unless the scheduler was stopped: then dropping the event tells so.
    fn take(&mut self, event: Event<I, S, R>) {
        let Some(planner) = &mut self.planner else {
            return;
        };
        let waiting = &mut self.waiting;
        let sink = &mut |grant: Grant<'_, I, Pending<I, S, R>, Pick<I, S>>| {
            waiting.remove(&grant.pick.ticket);
            grant.content.ticket = grant.pick.ticket;
            grant.pick.reply.tell(Ok(Arc::clone(&grant.content.job)));
        };
        match event {
            Event::Tick => planner.advance(self.alarm.now(), sink),
            Event::Schedule(job, reply) => {
                let (id, now) = (job.id.clone(), self.alarm.now());
                let pending = Pending {
                    job: Arc::clone(&job),
                    replies: vec![reply],
                    ticket: Ticket::MAX,
                };
                let scheduled = planner.schedule(now, id, &job.dependencies, pending, sink);
                if let Err(already) = scheduled {
                    join(already);
                }
            }
            Event::Pick(worker, ticket, reply) => {
                // Refused picks are dropped with their reply, so the answer has to be known first.
                if !planner.knows(worker) {
                    return reply.tell(Err(PickError::UnknownWorker));
                }
                let pick = Pick { ticket, reply };
                if let Ok(Some(id)) = planner.pick(worker, pick, sink) {
                    self.waiting.insert(ticket, id);
                }
            }
            Event::Cancel(ticket) => self.cancel(ticket),
            Event::Abandon(worker, ticket, answer) => {
                self.cancel(ticket);
                self.abandon(worker, ticket, answer);
            }
            Event::Complete(worker, id, result, reply) => {
                let completed = planner.complete(worker, id, sink);
                let told = completed.map(|pending| pending.map(|pending| tell(pending, &result)));
                reply.tell(told.map(|told| told.is_some()).map_err(ReportError::from));
            }
            Event::Fail(worker, id, result, reply) => {
                let failed = planner.fail(worker, &id);
                reply.tell(failed.map(|pending| tell(pending, &result)));
            }
            Event::GiveBack(worker, id, reply) => {
                reply.tell(planner.give_back(worker, &id, sink));
            }
            Event::AddArtifact(worker, id, reply) => {
                let added = planner.add_artifact(worker, id, sink);
                reply.tell(added.map_err(ReportError::from));
            }
            Event::RemoveArtifact(worker, id, reply) => {
                let removed = planner.remove_artifact(worker, &id);
                reply.tell(removed.map_err(ReportError::from));
            }
            Event::Locate(id, reply) => reply.tell(Ok(planner.locate_artifact(&id))),
            Event::Register(reply) => reply.tell(Ok(planner.register_worker())),
            Event::RemoveWorker(worker, reply) => {
                let removed = planner.remove_worker(worker, sink);
                let given_back = removed.map(|removed| {
                    for pick in removed.picks {
                        self.waiting.remove(&pick.ticket);
                        pick.reply.tell(Err(PickError::UnknownWorker));
                    }
                    removed.given_back
                });
                reply.tell(given_back.map_err(ReportError::from));
            }
            Event::Count(reply) => reply.tell(Ok(planner.counts())),
            Event::Stop(reply) => {
                self.stop();
                reply.tell(Ok(()));
            }
        }
    }

    fn cancel(&mut self, ticket: Ticket) {
        let waiting = self.waiting.remove(&ticket);
        let planner = self.planner.as_mut();
        let pick = waiting.and_then(|pick| planner?.cancel(pick));
        if let Some(pick) = pick {
            pick.reply.tell(Err(PickError::Cancelled));
        }
    }

    /// If the pick got a job, that goes back.
    fn abandon(
        &mut self,
        worker: WorkerId,
        ticket: Ticket,
        mut answer: Answer<Arc<Job<I, S>>, PickError>,
    ) {
        // The pick was applied before. If it waited, it has been cancelled: there is an answer.
        let polled = Pin::new(&mut answer).poll(&mut Context::from_waker(Waker::noop()));
        let (Some(planner), Poll::Ready(Ok(job))) = (&mut self.planner, polled) else {
            return;
        };
        let is_its = |pending: &Pending<I, S, R>| pending.ticket == ticket;
        if planner
            .job(&job.id)
            .is_some_and(|(pending, _)| is_its(pending))
        {
            self.take(Event::GiveBack(worker, job.id.clone(), Answer::new().0));
        }
    }

    /// Whatever waits is told.
    fn stop(&mut self) {
        drop_contained(self.planner.take());
        self.waiting = HashMap::new();
        self.alarm.cancel();
    }
}

/// Adds the call to those that wait for the same job.
fn join<I: PartialEq, S: PartialEq, R>(already: AlreadyPending<'_, Pending<I, S, R>>) {
    let AlreadyPending { there, content } = already;
    if there.job == content.job {
        there.replies.extend(content.replies);
    } else {
        for reply in content.replies {
            reply.tell(Err(JobError::Conflict));
        }
    }
}

/// The job is over.
fn tell<I, S, R>(pending: Pending<I, S, R>, result: &Arc<R>) {
    for reply in pending.replies {
        reply.tell(Ok(Arc::clone(result)));
    }
}

impl<I, S, R> Apply<Event<I, S, R>> for Machine<I, S, R>
where
    I: Clone + Eq + Hash,
    S: PartialEq,
{
    /// A panic of the ids' or the contents' own code leaves the planner in disorder: that ends it.
    /// The event is dropped with its reply, and so is everything that waits.
    fn apply(&mut self, event: Event<I, S, R>) {
        if catch_panic(|| self.take(event)).is_err() {
            self.stop();
        }
    }

    fn applied(&mut self) {
        let planner = self.planner.as_ref();
        self.alarm.set(planner.and_then(Planner::next_deadline));
    }
}
