//! Jobs, workers and artifacts, and the queues with each job.
//!
//! | a job that | stands in |
//! |---|---|
//! | waits for a worker that has its result | `cached`; `own` |
//! | waits for a worker that has a dependency | `local`; `own`, `near` |
//! | waits for any worker | `global`; `own`, `near` |
//! | runs | `running` of its worker |
//!
//! `own` belongs to each worker that has the result, `near` to each that has a dependency. A job in
//! the second or the third row is also in the list of the dependents of each dependency.
//!
//! With [`near_first`](crate::Config::near_first), a job in the first two rows is in the queue of
//! at least one worker: if no worker has it, or none any more, any worker may have it.

use std::hash::Hash;

use super::arena::Arena;
use super::artifacts::{Artifacts, Job, Stage, Worker};
use super::grant::Key;
use super::lists::{Chain, List, Lists};
use super::numbers::{NumberSet, Numbers};
use super::random::Random;

/// The owner of a list that belongs to no worker.
pub(super) const NOBODY: u32 = u32::MAX;

/// With `near_first`, of so many picks that pass the global queue over, the next one does not.
const MOST_PASSES: u32 = 31;

pub(super) struct Board<I, J> {
    pub(super) lists: Lists,
    /// Sorted by deadline, since the timeout is the same for all.
    pub(super) cached: List,
    /// Sorted in the same way.
    pub(super) local: List,
    pub(super) global: List,
    near_first: bool,
    /// The picks that passed the global queue over since the last one that did not.
    passes: u32,
    /// A time before which no wait ends.
    pub(super) soonest: u64,
    /// The number of jobs in `cached` and `local`.
    pub(super) waits: usize,
    pub(super) artifacts: Artifacts<I>,
    pub(super) jobs: Arena<Job<J>>,
    pub(super) workers: Arena<Worker>,
    /// The jobs that have entered queues since the planner looked last.
    pub(super) grown: Vec<u32>,
    /// The number of workers that were ever registered.
    registered: u64,
    /// The dependencies of the job that is being added.
    dependencies: Vec<u32>,
}

impl<I: Clone + Eq + Hash, J> Board<I, J> {
    pub(super) fn new(near_first: bool) -> Self {
        let mut lists = Lists::default();
        Self {
            cached: lists.add(NOBODY),
            local: lists.add(NOBODY),
            global: lists.add(NOBODY),
            lists,
            near_first,
            passes: 0,
            soonest: u64::MAX,
            waits: 0,
            artifacts: Artifacts::new(),
            jobs: Arena::new(),
            workers: Arena::new(),
            grown: Vec::new(),
            registered: 0,
            dependencies: Vec::new(),
        }
    }

    /// Returns the job of that id.
    pub(super) fn job(&self, id: &I) -> Option<u32> {
        self.artifacts[self.artifacts.find(id)?].job
    }

    /// Returns the first job of one of the worker's three queues that has one: of a random one, or
    /// of the nearest.
    pub(super) fn first_for(&mut self, worker: u32, random: &mut Random) -> Option<u32> {
        let worker = &self.workers[worker];
        let firsts = [self.global, worker.own, worker.near].map(|queue| self.lists.first(queue));
        if self.near_first {
            let [global, own, near] = firsts;
            let passes = global.is_some() && own.or(near).is_some() && self.passes < MOST_PASSES;
            self.passes = if passes { self.passes + 1 } else { 0 };
            return if passes {
                own.or(near)
            } else {
                global.or(own).or(near)
            };
        }
        match firsts.iter().flatten().count() {
            0 => None,
            count => firsts.into_iter().flatten().nth(random.below(count)),
        }
    }

    pub(super) fn content(&self, job: u32) -> (&I, &J) {
        let job = &self.jobs[job];
        (&self.artifacts[job.artifact].id, &job.content)
    }

    /// Returns the ids of the jobs in a queue.
    pub(super) fn ids(&self, queue: List) -> Vec<&I> {
        let first = self.lists.first_place(queue);
        let places = std::iter::successors(first, |&place| self.lists.next_place(place));
        places
            .map(|place| self.content(self.lists.item(place)).0)
            .collect()
    }

    pub(super) fn content_mut(&mut self, job: u32) -> (&I, &mut J) {
        let job = &mut self.jobs[job];
        (&self.artifacts[job.artifact].id, &mut job.content)
    }

    /// Adds a job for an artifact that has none. `stage_ends` returns the end of a stage that
    /// begins now.
    pub(super) fn add_job(
        &mut self,
        artifact: u32,
        dependencies: &[I],
        content: J,
        stage_ends: impl Fn(Stage) -> u64,
    ) {
        let dependencies = self.note_all(dependencies);
        let stage = match *self.artifacts[artifact].holders {
            [] => Stage::Local,
            _ => Stage::Cached,
        };
        let job = self.jobs.insert(Job {
            stage: Stage::Global,
            deadline: 0,
            artifact,
            dependencies,
            home: Chain::EMPTY,
            near: Chain::EMPTY,
            content,
        });
        self.artifacts[artifact].job = Some(job);
        self.wait(job, stage, stage_ends(stage));
        self.enter_own(job);
        if stage == Stage::Local {
            self.enter_near(job);
            self.open_if_far(job);
        }
        self.grown.push(job);
    }

    /// Returns the artifacts of these ids, each once, and counts a reference to each.
    fn note_all(&mut self, ids: &[I]) -> Numbers {
        let mut artifacts = std::mem::take(&mut self.dependencies);
        artifacts.clear();
        artifacts.extend(ids.iter().map(|id| self.artifacts.note_clone(id)));
        artifacts.sort_unstable();
        artifacts.dedup();
        for &artifact in &artifacts {
            self.artifacts[artifact].references += 1;
        }
        let numbers = Numbers::from(&*artifacts);
        self.dependencies = artifacts;
        numbers
    }

    /// Moves the job to that stage.
    fn wait(&mut self, job: u32, stage: Stage, deadline: u64) {
        let list = match stage {
            Stage::Cached => self.cached,
            Stage::Local => self.local,
            Stage::Global => self.global,
            Stage::Running(worker) => self.workers[worker].running,
        };
        let found = &mut self.jobs[job];
        self.waits -= usize::from(found.stage.waits());
        (found.stage, found.deadline) = (stage, deadline);
        self.lists.put(list, job, &mut found.home);
        if stage.waits() {
            self.waits += 1;
            self.soonest = self.soonest.min(deadline);
        }
    }

    /// Ends the wait in `Cached`. With `near_first`, a worker has the result: else the job would
    /// have been opened before.
    pub(super) fn make_local(&mut self, job: u32, deadline: u64) {
        self.wait(job, Stage::Local, deadline);
        self.enter_near(job);
        self.grown.push(job);
    }

    /// Ends the wait in `Local`.
    pub(super) fn make_global(&mut self, job: u32) {
        self.wait(job, Stage::Global, 0);
        self.grown.push(job);
    }

    /// With `near_first`, opens a job to any worker if it waits for workers and is in no worker's
    /// queue. Returns whether it did.
    #[inline]
    pub(super) fn open_if_far(&mut self, job: u32) -> bool {
        let found = &self.jobs[job];
        let is_near = || self.lists.owners(&found.near).any(|owner| owner != NOBODY);
        if !self.near_first || !found.stage.waits() || is_near() {
            return false;
        }
        if found.stage == Stage::Cached {
            self.enter_near(job);
        }
        self.wait(job, Stage::Global, 0);
        true
    }

    /// Starts the job on the worker; it leaves all queues.
    pub(super) fn start(&mut self, job: u32, worker: u32) {
        self.lists.take_all(&mut self.jobs[job].near);
        self.wait(job, Stage::Running(worker), 0);
    }

    /// Makes a job that ran wait again. Its waits ended before its pick: any worker may have it.
    pub(super) fn give_back(&mut self, job: u32) {
        self.make_global(job);
        self.enter_own(job);
        self.enter_near(job);
    }

    /// Removes a job that is over.
    pub(super) fn remove_job(&mut self, job: u32) -> J {
        let mut job = self.jobs.remove(job);
        self.waits -= usize::from(job.stage.waits());
        self.lists.take_all(&mut job.home);
        self.lists.take_all(&mut job.near);
        for &dependency in &*job.dependencies {
            self.artifacts[dependency].references -= 1;
            self.forget_unused(dependency);
        }
        self.artifacts[job.artifact].job = None;
        job.content
    }

    /// Removes a job that is over, and its artifact, if it is unused.
    pub(super) fn withdraw(&mut self, job: u32) -> J {
        let artifact = self.jobs[job].artifact;
        let content = self.remove_job(job);
        self.forget_unused(artifact);
        content
    }

    /// Adds the job to the first queue of each worker that has the result.
    fn enter_own(&mut self, job: u32) {
        let found = &mut self.jobs[job];
        for &worker in &*self.artifacts[found.artifact].holders {
            self.lists
                .push(self.workers[worker].own, job, &mut found.near);
        }
    }

    /// Adds it to the second queue of each worker with a dependency, and to the dependents.
    fn enter_near(&mut self, job: u32) {
        let found = &mut self.jobs[job];
        for (at, &dependency) in found.dependencies.iter().enumerate() {
            let artifact = &mut self.artifacts[dependency];
            let dependents = *artifact
                .dependents
                .get_or_insert_with(|| self.lists.add(NOBODY));
            self.lists.push(dependents, job, &mut found.near);
            for &holder in &*artifact.holders {
                let worker = &self.workers[holder];
                let mut earlier = found.dependencies[..at].iter();
                if !earlier.any(|other| worker.held.contains(other)) {
                    self.lists.push(worker.near, job, &mut found.near);
                }
            }
        }
    }

    /// Forgets an artifact that no worker has and no job uses.
    pub(super) fn forget_unused(&mut self, artifact: u32) {
        let found = &self.artifacts[artifact];
        if !found.holders.is_empty() || found.job.is_some() || found.references > 0 {
            return;
        }
        let found = self.artifacts.remove(artifact);
        if let Some(list) = found.dependents {
            self.lists.remove(list);
        }
    }

    /// Returns the first wait that has ended by `now`: its end, and its job.
    pub(super) fn next_ended(&mut self, now: u64) -> Option<(u64, u32)> {
        if now < self.soonest {
            return None;
        }
        let next = self.next_end();
        self.soonest = next.map_or(u64::MAX, |(deadline, _)| deadline);
        next.filter(|&(deadline, _)| deadline <= now)
    }

    /// Returns the wait that ends next: its end, and its job. Endless waits do not count.
    pub(super) fn next_end(&self) -> Option<(u64, u32)> {
        let first = |list| {
            let job = self.lists.first(list)?;
            Some((self.jobs[job].deadline, job))
        };
        let (cached, local) = (first(self.cached), first(self.local));
        // Of equal deadlines, the wait that begins another one goes first.
        let next = match (cached, local) {
            (Some(cached), Some(local)) if local.0 < cached.0 => local,
            (Some(cached), _) => cached,
            (None, local) => local?,
        };
        (next.0 < u64::MAX).then_some(next)
    }

    pub(super) fn add_worker(&mut self) -> u32 {
        // The lists must know the place, which is known once the worker is there.
        let place = self.workers.insert(Worker {
            own: self.cached,
            near: self.cached,
            running: self.cached,
            picks: self.cached,
            held: NumberSet::default(),
            serial: self.registered,
        });
        self.registered += 1;
        let worker = &mut self.workers[place];
        worker.own = self.lists.add(place);
        worker.near = self.lists.add(place);
        worker.running = self.lists.add(place);
        worker.picks = self.lists.add(place);
        place
    }

    /// Returns the name of the worker at that place.
    pub(super) fn worker_key(&self, place: u32) -> Key {
        let serial = self.workers[place].serial;
        Key { place, serial }
    }

    /// Returns the place of the worker of that name, if it is still there.
    pub(super) fn find_worker(&self, key: Key) -> Option<u32> {
        let worker = self.workers.get(key.place)?;
        (worker.serial == key.serial).then_some(key.place)
    }
}
