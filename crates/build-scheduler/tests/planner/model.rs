//! The rows of the requirements as written: sets, and a full scan for each question.

use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Id = u8;
/// The number of a worker or a pick, in the order of arrival.
pub(crate) type Number = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Queue {
    Global,
    /// E7: one worker's jobs whose own result it holds.
    First(Number),
    /// E8: one worker's jobs with a dependency that it holds.
    Second(Number),
}

#[derive(Debug)]
struct Job {
    scheduled_at: u64,
    dependencies: BTreeSet<Id>,
    was_cached: bool,
    /// Set if it was given back, or, with `near_first`, nobody was near to it: then its waits are
    /// over.
    is_open: bool,
    runs_on: Option<Number>,
}

/// The state that the scheduler should have.
#[derive(Debug, Default)]
pub(crate) struct Model {
    cache_timeout: u64,
    deps_timeout: u64,
    near_first: bool,
    pub(crate) now: u64,
    jobs: BTreeMap<Id, Job>,
    /// The registered workers, and the artifacts that each holds.
    workers: BTreeMap<Number, BTreeSet<Id>>,
    /// The worker of each waiting pick.
    waiting: BTreeMap<Number, Number>,
    /// The pick that has just come, if there is a job for it: it chooses.
    comes: Option<Number>,
    /// The picks that passed over a job that any worker may have.
    passes: u32,
    /// The step in which each job came into each of its queues.
    entries: BTreeMap<(Queue, Id), u64>,
    step: u64,
}

impl Model {
    pub(crate) fn new(cache_timeout: u64, deps_timeout: u64, near_first: bool) -> Self {
        Self {
            cache_timeout,
            deps_timeout,
            near_first,
            ..Self::default()
        }
    }

    /// Lists the worker's queues, nearest first.
    fn queues_of(&self, worker: Number) -> [Queue; 3] {
        [Queue::First(worker), Queue::Second(worker), Queue::Global]
    }

    /// Lists the queues of all workers.
    fn locals(&self) -> impl Iterator<Item = Queue> {
        let locals = |&worker: &Number| [Queue::First(worker), Queue::Second(worker)];
        self.workers.keys().flat_map(locals)
    }

    /// Returns the ends of the job's two waits: `CacheTimeout`, if it must, and then `DepsTimeout`.
    fn deadlines(&self, job: &Job) -> (u64, u64) {
        if job.is_open {
            return (0, 0);
        }
        let cache = if job.was_cached {
            self.cache_timeout
        } else {
            0
        };
        let near = job.scheduled_at + cache;
        (near, near + self.deps_timeout)
    }

    fn belongs(&self, queue: Queue, id: Id) -> bool {
        let job = &self.jobs[&id];
        let (near, far) = self.deadlines(job);
        job.runs_on.is_none()
            && match queue {
                Queue::Global => self.now >= far,
                Queue::First(worker) => self.workers[&worker].contains(&id),
                Queue::Second(worker) => {
                    self.now >= near && !self.workers[&worker].is_disjoint(&job.dependencies)
                }
            }
    }

    /// Updates the queues after a change.
    pub(crate) fn refresh(&mut self) {
        self.step += 1;
        if self.near_first {
            self.open_far();
        }
        let mut entries = BTreeMap::new();
        for queue in self.locals().chain([Queue::Global]) {
            for &id in self.jobs.keys().filter(|&&id| self.belongs(queue, id)) {
                let since = self.entries.get(&(queue, id)).copied();
                entries.insert((queue, id), since.unwrap_or(self.step));
            }
        }
        self.entries = entries;
    }

    /// Opens jobs that nobody is near to.
    fn open_far(&mut self) {
        let is_far = |id: &Id| !self.locals().any(|queue| self.belongs(queue, *id));
        let far: Vec<_> = self.jobs.keys().copied().filter(is_far).collect();
        for id in far {
            let job = self.jobs.get_mut(&id).unwrap();
            job.is_open |= job.runs_on.is_none();
        }
    }

    /// Returns the jobs in the worker's three queues, with the step of their entry.
    pub(crate) fn queues(&self, worker: Number) -> [BTreeMap<Id, u64>; 3] {
        self.queues_of(worker).map(|queue| {
            let entries = self
                .entries
                .iter()
                .filter(|((other, _), _)| *other == queue);
            entries.map(|(&(_, id), &since)| (id, since)).collect()
        })
    }

    /// Returns the jobs that may be the first of that queue.
    fn firsts(&self, queue: Queue) -> BTreeSet<Id> {
        let entries = self
            .entries
            .iter()
            .filter(|((other, _), _)| *other == queue);
        let first = entries.clone().map(|(_, &since)| since).min();
        let firsts = entries.filter(|&(_, &since)| Some(since) == first);
        firsts.map(|(&(_, id), _)| id).collect()
    }

    fn has_something_for(&self, worker: Number) -> bool {
        let mut queues = self.queues_of(worker).into_iter();
        queues.any(|queue| !self.firsts(queue).is_empty())
    }

    /// Returns whether a decision is due: a pick waits, and its worker has a job in a queue.
    pub(crate) fn owes_a_decision(&self) -> bool {
        let mut workers = self.waiting.values();
        workers.any(|&worker| self.has_something_for(worker))
    }

    /// Checks a decision, and takes note of it.
    pub(crate) fn grant(&mut self, pick: Number, worker: Number, id: Id) {
        assert_eq!(self.waiting.get(&pick), Some(&worker), "that pick waits");
        let queues = self.queues_of(worker);
        let mut firsts = queues.map(|queue| self.firsts(queue)).into_iter();
        let is_first = if self.near_first && self.comes.take() == Some(pick) {
            let [own, near, global] = queues.map(|queue| self.firsts(queue));
            let nearest = if own.is_empty() { &near } else { &own };
            let passes = !nearest.is_empty() && !global.is_empty() && self.passes < 31;
            self.passes = if passes { self.passes + 1 } else { 0 };
            match passes || global.is_empty() {
                true => nearest.contains(&id),
                false => global.contains(&id),
            }
        } else {
            firsts.any(|firsts| firsts.contains(&id))
        };
        assert!(
            is_first,
            "{id} is not the first of a queue of {worker}: {self:?}"
        );
        let stands_in = |queue: Queue| self.entries.contains_key(&(queue, id));
        let mut others = self.waiting.iter();
        let (earliest, _) = others
            .find(|&(_, &other)| self.queues_of(other).into_iter().any(stands_in))
            .unwrap();
        assert_eq!(*earliest, pick, "another pick waits for longer");
        self.waiting.remove(&pick);
        self.jobs.get_mut(&id).unwrap().runs_on = Some(worker);
        self.refresh();
    }

    pub(crate) fn schedule(&mut self, id: Id, dependencies: BTreeSet<Id>) -> bool {
        if self.jobs.contains_key(&id) {
            return false;
        }
        let job = Job {
            scheduled_at: self.now,
            dependencies,
            was_cached: !self.holders(id).is_empty(),
            is_open: false,
            runs_on: None,
        };
        self.jobs.insert(id, job);
        self.refresh();
        true
    }

    /// Returns the next time, not after `end`, at which a wait is over.
    pub(crate) fn next_moment(&self, end: u64) -> Option<u64> {
        let waiting = self.jobs.values().filter(|job| job.runs_on.is_none());
        let moments = waiting.flat_map(|job| <[u64; 2]>::from(self.deadlines(job)));
        moments.filter(|&at| self.now < at && at <= end).min()
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.next_moment(u64::MAX)
    }

    pub(crate) fn register(&mut self, worker: Number) {
        self.workers.insert(worker, BTreeSet::new());
    }

    /// Removes a worker. Returns the jobs given back, and the picks that end.
    pub(crate) fn remove(&mut self, worker: Number) -> (BTreeSet<Id>, BTreeSet<Number>) {
        self.workers.remove(&worker);
        let mut given_back = BTreeSet::new();
        for (&id, job) in &mut self.jobs {
            if job.runs_on == Some(worker) {
                (job.runs_on, job.is_open) = (None, true);
                given_back.insert(id);
            }
        }
        let all = std::mem::take(&mut self.waiting);
        let (ended, left) = all.into_iter().partition(|&(_, other)| other == worker);
        self.waiting = left;
        let ended: BTreeMap<_, _> = ended;
        self.refresh();
        (given_back, ended.into_keys().collect())
    }

    pub(crate) fn knows(&self, worker: Number) -> bool {
        self.workers.contains_key(&worker)
    }

    pub(crate) fn holders(&self, id: Id) -> BTreeSet<Number> {
        let workers = self.workers.iter().filter(|(_, held)| held.contains(&id));
        workers.map(|(&worker, _)| worker).collect()
    }

    pub(crate) fn add_artifact(&mut self, worker: Number, id: Id) {
        self.workers.get_mut(&worker).unwrap().insert(id);
        self.refresh();
    }

    pub(crate) fn remove_artifact(&mut self, worker: Number, id: Id) -> bool {
        let removed = self.workers.get_mut(&worker).unwrap().remove(&id);
        self.refresh();
        removed
    }

    pub(crate) fn pick(&mut self, pick: Number, worker: Number) {
        self.waiting.insert(pick, worker);
        self.comes = self.has_something_for(worker).then_some(pick);
    }

    pub(crate) fn cancel(&mut self, pick: Number) -> bool {
        self.waiting.remove(&pick).is_some()
    }

    pub(crate) fn runs(&self, worker: Number, id: Id) -> bool {
        let job = self.jobs.get(&id);
        job.is_some_and(|job| job.runs_on == Some(worker))
    }

    pub(crate) fn finish(&mut self, id: Id) -> bool {
        let was_there = self.jobs.remove(&id).is_some();
        self.refresh();
        was_there
    }

    pub(crate) fn give_back(&mut self, id: Id) {
        let job = self.jobs.get_mut(&id).unwrap();
        (job.runs_on, job.is_open) = (None, true);
        self.refresh();
    }

    /// Counts jobs, picks, workers, ids.
    pub(crate) fn counts(&self) -> [usize; 5] {
        let held = self.workers.values().flatten();
        let depended = self.jobs.values().flat_map(|job| &job.dependencies);
        let ids: BTreeSet<_> = held.chain(depended).chain(self.jobs.keys()).collect();
        let waits = |job: &&Job| {
            let ends = <[u64; 2]>::from(self.deadlines(job));
            job.runs_on.is_none() && ends.iter().any(|&end| self.now < end)
        };
        [
            self.jobs.len(),
            self.jobs.values().filter(waits).count(),
            self.waiting.len(),
            self.workers.len(),
            ids.len(),
        ]
    }

    pub(crate) fn waits(&self) -> usize {
        let jobs = self.jobs.values();
        jobs.filter(|job| job.runs_on.is_none()).count()
    }
}
