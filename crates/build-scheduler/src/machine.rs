//! The state that all handles of a scheduler share: their calls change it one after another.

use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use filch_sync::panic::{catch_panic, drop_contained};

use crate::alarm::Alarm;
use crate::combiner::Apply;
use crate::config::Config;
use crate::error::{JobError, PickError, Reply, ReportError, Stopped};
use crate::job::Job;
use crate::planner::{AlreadyPending, Counts, Grant, PickId, Planner, WorkerId};

/// A call that waits for the thread that is at the machine.
pub(crate) type Call<I, S, R> = Box<dyn FnOnce(&mut Machine<I, S, R>) + Send>;

/// The state of a scheduler. If it or its planner is dropped, all replies in there report the stop.
pub(crate) struct Machine<I, S, R> {
    /// `None` after the stop.
    planner: Option<Plan<I, S, R>>,
    alarm: Alarm,
}

type Plan<I, S, R> = Planner<I, Pending<I, S, R>, PickReply<I, S>>;

/// The planner's content of a job.
struct Pending<I, S, R> {
    job: Arc<Job<I, S>>,
    /// The receiver of the result.
    reply: JobReply<R>,
    /// The other calls that scheduled it.
    others: Option<Box<Others<R>>>,
    /// The number of picks that got it.
    turn: u32,
}

struct Others<R>(Vec<JobReply<R>>);

pub(crate) type JobReply<R> = Reply<Arc<R>, JobError>;

/// The planner's content of a pick that waits.
pub(crate) type PickReply<I, S> = Reply<Granted<I, S>, PickError>;

/// The job that a pick got.
pub(crate) struct Granted<I, S> {
    pub(crate) job: Arc<Job<I, S>>,
    /// The number of picks that had got this job, with this one. A later one has another number.
    turn: u32,
}

/// The planner's name of a pick, set once it waits. Calls of the machine set it and read it.
pub(crate) type PickName = Arc<OnceLock<PickId>>;

impl<I, S, R> Pending<I, S, R> {
    /// Notes that a pick gets it.
    fn grant(&mut self) -> Granted<I, S> {
        self.turn = self.turn.wrapping_add(1);
        Granted {
            job: Arc::clone(&self.job),
            turn: self.turn,
        }
    }

    /// Sends the result of the job. Contains a panic of a destructor: the planner is in order.
    fn tell(self, result: Result<Arc<R>, JobError>) {
        for reply in self.others.into_iter().flat_map(|others| others.0) {
            reply.tell(result.clone());
        }
        self.reply.tell(result);
        drop_contained(self.job);
    }
}

/// Tells a waiting pick its job.
fn tell_pick<I, S, R>(grant: Grant<'_, I, Pending<I, S, R>, PickReply<I, S>>) {
    grant.pick.tell(Ok(grant.content.grant()));
}

impl<I, S, R> Machine<I, S, R>
where
    I: Clone + Eq + Hash,
    S: PartialEq,
{
    pub(crate) fn new(config: Config, alarm: Alarm) -> Self {
        Self {
            planner: Some(Planner::new(config)),
            alarm,
        }
    }

    /// Makes the call, unless the scheduler was stopped. A panic of the ids' or the contents' code
    /// leaves the planner in disorder: that stops the scheduler.
    pub(crate) fn enter<T, E: From<Stopped>>(
        &mut self,
        call: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.planner.is_none() {
            drop_contained(call);
            return Err(Stopped.into());
        }
        catch_panic(|| call(self)).unwrap_or_else(|_| {
            self.end();
            Err(Stopped.into())
        })
    }

    fn planner(&mut self) -> Result<&mut Plan<I, S, R>, Stopped> {
        self.planner.as_mut().ok_or(Stopped)
    }

    /// Ends the waits whose deadline has come.
    pub(crate) fn tick(&mut self) -> Result<(), Stopped> {
        let now = self.alarm.now();
        self.planner()?.advance(now, &mut tell_pick);
        Ok(())
    }

    pub(crate) fn schedule(
        &mut self,
        job: Arc<Job<I, S>>,
        reply: JobReply<R>,
    ) -> Result<(), Stopped> {
        let (id, now) = (job.id.clone(), self.alarm.now());
        let pending = Pending {
            job: Arc::clone(&job),
            reply,
            others: None,
            turn: 0,
        };
        let planner = self.planner()?;
        let scheduled = planner.schedule(now, id, &job.dependencies, pending, &mut tell_pick);
        if let Err(already) = scheduled {
            join(already);
        }
        drop_contained(job);
        Ok(())
    }

    /// Returns a job for the worker, if there is one now.
    pub(crate) fn try_pick(
        &mut self,
        worker: WorkerId,
    ) -> Result<Option<Granted<I, S>>, PickError> {
        let picked = self.planner()?.try_pick(worker)?;
        Ok(picked.map(|(_, pending)| pending.grant()))
    }

    /// Adds a waiting pick, as there is no job for the worker. The name is new.
    pub(crate) fn wait(
        &mut self,
        worker: WorkerId,
        reply: PickReply<I, S>,
        name: &OnceLock<PickId>,
    ) -> Result<(), PickError> {
        if let Some(pick) = self.planner()?.pick(worker, reply, &mut tell_pick)? {
            let is_new = name.set(pick).is_ok();
            debug_assert!(is_new, "a pick has one name");
        }
        Ok(())
    }

    /// Ends the pick, if it waits.
    pub(crate) fn cancel(&mut self, name: &OnceLock<PickId>) -> Result<(), Stopped> {
        let planner = self.planner()?;
        let waiting = name.get().and_then(|&pick| planner.cancel(pick));
        if let Some(reply) = waiting {
            reply.tell(Err(PickError::Cancelled));
        }
        Ok(())
    }

    /// Gives the job back, unless another pick has got it since.
    pub(crate) fn abandon(
        &mut self,
        worker: WorkerId,
        granted: Granted<I, S>,
    ) -> Result<(), ReportError> {
        let id = &granted.job.id;
        let is_last = |(pending, _): (&Pending<I, S, R>, _)| {
            Arc::ptr_eq(&pending.job, &granted.job) && pending.turn == granted.turn
        };
        let planner = self.planner()?;
        if planner.job(id).is_some_and(is_last) {
            planner.give_back(worker, id, &mut tell_pick)?;
        }
        Ok(())
    }

    pub(crate) fn complete(
        &mut self,
        worker: WorkerId,
        id: I,
        result: Arc<R>,
    ) -> Result<bool, ReportError> {
        let pending = self.planner()?.complete(worker, id, &mut tell_pick)?;
        let was_pending = pending.is_some();
        match pending {
            Some(pending) => pending.tell(Ok(result)),
            None => drop_contained(result),
        }
        Ok(was_pending)
    }

    pub(crate) fn fail(
        &mut self,
        worker: WorkerId,
        id: &I,
        result: Arc<R>,
    ) -> Result<(), ReportError> {
        self.planner()?.fail(worker, id)?.tell(Ok(result));
        Ok(())
    }

    /// Withdraws a job; returns whether it was pending.
    pub(crate) fn withdraw(&mut self, id: &I) -> Result<bool, Stopped> {
        let pending = self.planner()?.withdraw(id);
        let was_pending = pending.is_some();
        if let Some(pending) = pending {
            pending.tell(Err(JobError::Withdrawn));
        }
        Ok(was_pending)
    }

    pub(crate) fn give_back(&mut self, worker: WorkerId, id: &I) -> Result<(), ReportError> {
        self.planner()?.give_back(worker, id, &mut tell_pick)
    }

    pub(crate) fn add_artifact(&mut self, worker: WorkerId, id: I) -> Result<(), ReportError> {
        Ok(self.planner()?.add_artifact(worker, id, &mut tell_pick)?)
    }

    pub(crate) fn remove_artifact(
        &mut self,
        worker: WorkerId,
        id: &I,
    ) -> Result<bool, ReportError> {
        let planner = self.planner()?;
        Ok(planner.remove_artifact(worker, id, &mut tell_pick)?)
    }

    pub(crate) fn locate(&mut self, id: &I) -> Result<Option<WorkerId>, Stopped> {
        Ok(self.planner()?.locate_artifact(id))
    }

    pub(crate) fn register(&mut self) -> Result<WorkerId, Stopped> {
        Ok(self.planner()?.register_worker())
    }

    pub(crate) fn remove_worker(&mut self, worker: WorkerId) -> Result<Vec<I>, ReportError> {
        let removed = self.planner()?.remove_worker(worker, &mut tell_pick)?;
        for reply in removed.picks {
            reply.tell(Err(PickError::UnknownWorker));
        }
        Ok(removed.given_back)
    }

    pub(crate) fn counts(&mut self) -> Result<Counts, Stopped> {
        Ok(self.planner()?.counts())
    }

    /// Stops the scheduler, which tells all waiters.
    pub(crate) fn stop(&mut self) -> Result<(), Stopped> {
        self.planner()?;
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        drop_contained(self.planner.take());
        self.alarm.cancel();
    }
}

/// Adds the call to those that wait for the same job.
fn join<I: PartialEq, S: PartialEq, R>(already: AlreadyPending<'_, Pending<I, S, R>>) {
    let AlreadyPending { there, content } = already;
    if there.job == content.job {
        let others = there
            .others
            .get_or_insert_with(|| Box::new(Others(Vec::new())));
        others.0.push(content.reply);
    } else {
        content.reply.tell(Err(JobError::Conflict));
    }
}

impl<I, S, R> Apply<Call<I, S, R>> for Machine<I, S, R>
where
    I: Clone + Eq + Hash,
    S: PartialEq,
{
    fn apply(&mut self, call: Call<I, S, R>) {
        call(self);
    }

    fn applied(&mut self) {
        let planner = self.planner.as_ref();
        self.alarm
            .set(planner.and_then(Planner::no_deadline_before));
        let waits = planner.map_or(0, |planner| planner.counts().waits);
        self.alarm.sharing.set(waits.saturating_sub(1));
    }
}
