//! The planner: the events of a scheduler, and its decisions.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use super::artifacts::Stage;
use super::board::Board;
use super::grant::{AlreadyPending, Counts, Grant, PickId, Queues, Removed, Sink, WorkerId};
use super::picks::Picks;
use super::random::Random;
use crate::config::{Config, nanoseconds};
use crate::error::{ReportError, UnknownWorker};

/// The scheduler as a sequential machine: no thread, no clock, no I/O. The same calls make the same
/// decisions. A [`Scheduler`](crate::Scheduler) is one that many threads share; a simulation drives
/// one by itself, on a clock of its own.
///
/// `I` are ids: a job has the id of its result. `J` is the caller's content of a job, `P` that of a
/// pick.
///
/// A decision goes into the sink of the call that made it possible. [The essay](crate::algorithm)
/// has the rules. A panic of the sink loses the decision; one of the id's `Eq`, `Hash` or `Clone`
/// may leave the planner in disorder.
///
/// ```
/// use filch_build_scheduler::{Config, Planner};
/// use std::time::Duration;
///
/// let mut planner = Planner::new(Config::default());
/// let mut decisions = Vec::new();
/// let mut sink = |grant: filch_build_scheduler::Grant<'_, _, _, _>| {
///     decisions.push((*grant.id, *grant.content, grant.pick));
/// };
/// let worker = planner.register_worker();
/// planner.add_artifact(worker, "a.o", &mut sink)?;
/// planner.pick(worker, "first pick", &mut sink)?;
/// let now = Duration::ZERO;
/// let waits = planner.schedule(now, "b.o", &[], "cc b.c", &mut sink).is_ok();
/// let goes_there = planner.schedule(now, "program", &["a.o"], "ld a.o", &mut sink).is_ok();
/// assert!(waits && goes_there);
/// planner.pick(worker, "second pick", &mut sink)?;
/// assert_eq!(planner.next_deadline(), Some(Duration::from_secs(60)));
/// planner.advance(Duration::from_secs(60), &mut sink);
/// assert_eq!(decisions, [
///     ("program", "ld a.o", "first pick"),
///     ("b.o", "cc b.c", "second pick"),
/// ]);
/// # Ok::<(), filch_build_scheduler::UnknownWorker>(())
/// ```
pub struct Planner<I, J, P> {
    cache_timeout: u64,
    deps_timeout: u64,
    random: Random,
    now: u64,
    board: Board<I, J>,
    picks: Picks<P>,
}

impl<I: Clone + Eq + Hash, J, P> Planner<I, J, P> {
    /// Makes a planner without jobs and workers.
    pub fn new(config: Config) -> Self {
        let mut board = Board::new(config.near_first);
        Self {
            cache_timeout: nanoseconds(config.cache_timeout),
            deps_timeout: nanoseconds(config.deps_timeout),
            random: Random::new(config.seed),
            now: 0,
            picks: Picks::new(&mut board.lists),
            board,
        }
    }

    /// Adds a job. `now` is the time since some origin; one before an earlier `now` counts as that.
    ///
    /// O(the dependencies, and the workers that have the result or one of them).
    ///
    /// # Errors
    /// If a job of that id waits or runs already.
    pub fn schedule(
        &mut self,
        now: Duration,
        id: I,
        dependencies: &[I],
        content: J,
        sink: Sink<'_, I, J, P>,
    ) -> Result<(), AlreadyPending<'_, J>> {
        self.advance(now, sink);
        let artifact = self.board.artifacts.note(id);
        if let Some(job) = self.board.artifacts[artifact].job {
            let (_, there) = self.board.content_mut(job);
            return Err(AlreadyPending { there, content });
        }
        let (now, cache, deps) = (self.now, self.cache_timeout, self.deps_timeout);
        self.board
            .add_job(artifact, dependencies, content, |stage| match stage {
                Stage::Cached => now.saturating_add(cache),
                _ => now.saturating_add(deps),
            });
        self.settle(sink);
        // A timeout may be zero.
        self.end_waits(sink);
        Ok(())
    }

    /// Moves the time to `now`: waits that are over end, in the order of their deadlines.
    pub fn advance(&mut self, now: Duration, sink: Sink<'_, I, J, P>) {
        self.now = self.now.max(nanoseconds(now));
        self.end_waits(sink);
    }

    fn end_waits(&mut self, sink: Sink<'_, I, J, P>) {
        while let Some((deadline, job)) = self.board.next_ended(self.now) {
            match self.board.jobs[job].stage {
                Stage::Cached => {
                    let deadline = deadline.saturating_add(self.deps_timeout);
                    self.board.make_local(job, deadline);
                }
                _ => self.board.make_global(job),
            }
            self.settle(sink);
        }
    }

    /// Returns the end of the next wait, if there is one: then [`advance`](Self::advance) is due.
    pub fn next_deadline(&self) -> Option<Duration> {
        let (deadline, _) = self.board.next_end()?;
        Some(Duration::from_nanos(deadline))
    }

    /// Returns a time before which no wait ends, if a wait may end. It looks at no job, and is
    /// mostly earlier than [`next_deadline`](Self::next_deadline). An [`advance`](Self::advance) at
    /// that time finds a later one.
    pub fn no_deadline_before(&self) -> Option<Duration> {
        let soonest = self.board.soonest;
        (soonest < u64::MAX).then(|| Duration::from_nanos(soonest))
    }

    /// Registers a worker without artifacts.
    pub fn register_worker(&mut self) -> WorkerId {
        let place = self.board.add_worker();
        WorkerId(self.board.worker_key(place))
    }

    /// Removes a lost worker: gives back its jobs, forgets its artifacts, ends its picks.
    ///
    /// O(its artifacts, and its places in queues).
    ///
    /// # Errors
    /// If there is no such worker.
    pub fn remove_worker(
        &mut self,
        worker: WorkerId,
        sink: Sink<'_, I, J, P>,
    ) -> Result<Removed<I, P>, UnknownWorker> {
        let place = self.find(worker)?;
        let mut picks = Vec::new();
        while let Some(pick) = self.board.lists.first(self.board.workers[place].picks) {
            picks.push(self.picks.remove(&mut self.board.lists, pick).1);
        }
        let jobs = self.board.remove_worker(place);
        let id = |job: u32| self.board.content(job).0.clone();
        let given_back = jobs.into_iter().map(id).collect();
        self.settle(sink);
        Ok(Removed { given_back, picks })
    }

    /// Reports that the worker has the artifact in its cache.
    ///
    /// O(the waiting jobs that depend on it, times their dependencies).
    ///
    /// # Errors
    /// If there is no such worker.
    pub fn add_artifact(
        &mut self,
        worker: WorkerId,
        id: I,
        sink: Sink<'_, I, J, P>,
    ) -> Result<(), UnknownWorker> {
        let place = self.find(worker)?;
        let artifact = self.board.artifacts.note(id);
        self.board.hold(place, artifact);
        self.settle(sink);
        Ok(())
    }

    /// Reports that the worker no longer has the artifact in its cache. Returns whether it had it.
    ///
    /// O(the waiting jobs that depend on it, times the queues of each).
    ///
    /// # Errors
    /// If there is no such worker.
    pub fn remove_artifact(
        &mut self,
        worker: WorkerId,
        id: &I,
        sink: Sink<'_, I, J, P>,
    ) -> Result<bool, UnknownWorker> {
        let place = self.find(worker)?;
        let artifact = self.board.artifacts.find(id);
        let had = artifact.is_some_and(|artifact| self.board.drop_artifact(place, artifact));
        self.settle(sink);
        Ok(had)
    }

    /// Returns a random worker that has the artifact. O(1).
    pub fn locate_artifact(&mut self, id: &I) -> Option<WorkerId> {
        let artifact = self.board.artifacts.find(id)?;
        let holders = &*self.board.artifacts[artifact].holders;
        let one_of = |random: &mut Random| holders[random.below(holders.len())];
        let place = (!holders.is_empty()).then(|| one_of(&mut self.random))?;
        Some(WorkerId(self.board.worker_key(place)))
    }

    /// Asks for a job. If the worker's queues have one, it gets the first of a random queue at
    /// once, or [of the nearest](Config::near_first). Else the pick waits; its name is returned.
    ///
    /// O(the queues that have the job).
    ///
    /// # Errors
    /// If there is no such worker.
    pub fn pick(
        &mut self,
        worker: WorkerId,
        pick: P,
        sink: Sink<'_, I, J, P>,
    ) -> Result<Option<PickId>, UnknownWorker> {
        let place = self.find(worker)?;
        if let Some(job) = self.board.first_for(place, &mut self.random) {
            self.grant(job, place, pick, sink);
            return Ok(None);
        }
        let own = self.board.workers[place].picks;
        let pick = self.picks.add(&mut self.board.lists, own, place, pick);
        Ok(Some(PickId(pick)))
    }

    /// As [`pick`](Self::pick), but without a wait: it returns the decision, if there is one, and
    /// uses no sink.
    ///
    /// # Errors
    /// If there is no such worker.
    pub fn try_pick(&mut self, worker: WorkerId) -> Result<Option<(&I, &mut J)>, UnknownWorker> {
        let place = self.find(worker)?;
        let Some(job) = self.board.first_for(place, &mut self.random) else {
            return Ok(None);
        };
        self.board.start(job, place);
        Ok(Some(self.board.content_mut(job)))
    }

    /// Ends a waiting pick, and returns its content; `None` if it no longer waits. O(1).
    pub fn cancel(&mut self, pick: PickId) -> Option<P> {
        let place = self.picks.find(pick.0)?;
        Some(self.picks.remove(&mut self.board.lists, place).1)
    }

    /// Reports that the worker has the result of that job, and the artifact from now on. If the job
    /// waited or ran, on any worker, it is over, and its content is returned.
    ///
    /// # Errors
    /// If there is no such worker: then the report is ignored.
    pub fn complete(
        &mut self,
        worker: WorkerId,
        id: I,
        sink: Sink<'_, I, J, P>,
    ) -> Result<Option<J>, UnknownWorker> {
        let place = self.find(worker)?;
        let artifact = self.board.artifacts.note(id);
        // Before the artifact is announced, which is not for this job any more.
        let job = self.board.artifacts[artifact].job;
        let content = job.map(|job| self.board.remove_job(job));
        self.board.hold(place, artifact);
        self.settle(sink);
        Ok(content)
    }

    /// Ends a job, which this worker runs, without a result. It may be scheduled again.
    ///
    /// # Errors
    /// If there is no such worker, or it does not run that job.
    pub fn fail(&mut self, worker: WorkerId, id: &I) -> Result<J, ReportError> {
        Ok(self.board.withdraw(self.running(worker, id)?))
    }

    /// Ends the job of that id without a result, whether it waits or runs, and returns its content.
    /// It may be scheduled again.
    ///
    /// A worker that runs it is not told, and may [`complete`](Self::complete) it: that is then the
    /// result of a job that nobody scheduled, or of one that was scheduled since.
    pub fn withdraw(&mut self, id: &I) -> Option<J> {
        Some(self.board.withdraw(self.board.job(id)?))
    }

    /// Gives back a job that the worker does not finish. Any worker may have it, at once.
    ///
    /// # Errors
    /// If there is no such worker, or it does not run that job.
    pub fn give_back(
        &mut self,
        worker: WorkerId,
        id: &I,
        sink: Sink<'_, I, J, P>,
    ) -> Result<(), ReportError> {
        self.board.give_back(self.running(worker, id)?);
        self.settle(sink);
        Ok(())
    }

    /// Returns the job of that id, which the worker runs.
    fn running(&self, worker: WorkerId, id: &I) -> Result<u32, ReportError> {
        let place = self.find(worker)?;
        let job = self.board.job(id);
        let runs = |job: &u32| self.board.jobs[*job].stage == Stage::Running(place);
        job.filter(runs).ok_or(ReportError::NotRunning)
    }

    /// Returns the content of the job of that id, if it waits or runs, and the worker that runs it.
    pub fn job(&self, id: &I) -> Option<(&J, Option<WorkerId>)> {
        let job = self.board.job(id)?;
        let worker = match self.board.jobs[job].stage {
            Stage::Running(place) => Some(WorkerId(self.board.worker_key(place))),
            _ => None,
        };
        Some((self.board.content(job).1, worker))
    }

    /// Returns the jobs from which that worker may pick, for display. O(their number).
    ///
    /// # Errors
    /// If there is no such worker.
    pub fn queues(&self, worker: WorkerId) -> Result<Queues<'_, I>, UnknownWorker> {
        let found = &self.board.workers[self.find(worker)?];
        Ok(Queues {
            global: self.board.ids(self.board.global),
            own: self.board.ids(found.own),
            near: self.board.ids(found.near),
        })
    }

    /// Returns the numbers of jobs, picks, workers and artifacts. O(1).
    pub fn counts(&self) -> Counts {
        Counts {
            jobs: self.board.jobs.len(),
            waits: self.board.waits,
            picks: self.picks.len(),
            workers: self.board.workers.len(),
            artifacts: self.board.artifacts.len(),
        }
    }

    fn find(&self, worker: WorkerId) -> Result<u32, UnknownWorker> {
        self.board.find_worker(worker.0).ok_or(UnknownWorker)
    }

    /// Offers the jobs that have entered queues to the waiting picks: before, none of these had a
    /// job in its queues.
    fn settle(&mut self, sink: Sink<'_, I, J, P>) {
        if self.picks.len() == 0 {
            self.board.grown.clear();
            return;
        }
        for at in 0..self.board.grown.len() {
            let job = self.board.grown[at];
            if let Some(place) = self.picks.earliest_for(&self.board, job) {
                let (worker, pick) = self.picks.remove(&mut self.board.lists, place);
                self.grant(job, worker, pick, sink);
            }
        }
        self.board.grown.clear();
    }

    fn grant(&mut self, job: u32, worker: u32, pick: P, sink: Sink<'_, I, J, P>) {
        self.board.start(job, worker);
        let worker = WorkerId(self.board.worker_key(worker));
        let (id, content) = self.board.content_mut(job);
        sink(Grant {
            worker,
            id,
            content,
            pick,
        });
    }
}

impl<I, J, P> fmt::Debug for Planner<I, J, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner")
            .field("now", &Duration::from_nanos(self.now))
            .finish_non_exhaustive()
    }
}
