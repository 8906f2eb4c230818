//! The artifacts, by their ids, and the records of an artifact, a job and a worker.

use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::{Index, IndexMut};

use super::arena::Arena;
use super::ids::{IdHash, Ids};
use super::lists::{Chain, List};
use super::numbers::{NumberSet, Numbers};

pub(super) struct Artifacts<I> {
    hasher: RandomState,
    ids: Ids,
    all: Arena<Artifact<I>>,
}

impl<I: Clone + Eq + Hash> Artifacts<I> {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            ids: Ids::new(),
            all: Arena::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the place of that id's artifact, which it adds if it is new.
    pub(super) fn note(&mut self, id: I) -> u32 {
        let hash = self.hash(&id);
        match self.find_by(hash, &id) {
            Some(artifact) => artifact,
            None => self.add(hash, id),
        }
    }

    /// As `note`, but clones the id if it is new.
    pub(super) fn note_clone(&mut self, id: &I) -> u32 {
        let hash = self.hash(id);
        match self.find_by(hash, id) {
            Some(artifact) => artifact,
            None => self.add(hash, id.clone()),
        }
    }

    pub(super) fn find(&self, id: &I) -> Option<u32> {
        self.find_by(self.hash(id), id)
    }

    fn hash(&self, id: &I) -> IdHash {
        IdHash::new(self.hasher.hash_one(id))
    }

    fn find_by(&self, hash: IdHash, id: &I) -> Option<u32> {
        self.ids.find(hash, |place| self.all[place].id == *id)
    }

    fn add(&mut self, hash: IdHash, id: I) -> u32 {
        let artifact = self.all.insert(Artifact {
            id,
            holders: Numbers::NONE,
            job: None,
            dependents: None,
            references: 0,
            hash,
        });
        self.ids.insert(hash, artifact);
        artifact
    }

    /// Forgets an artifact, and returns it.
    pub(super) fn remove(&mut self, artifact: u32) -> Artifact<I> {
        let found = self.all.remove(artifact);
        self.ids.remove(found.hash, artifact);
        found
    }
}

impl<I> Index<u32> for Artifacts<I> {
    type Output = Artifact<I>;

    fn index(&self, artifact: u32) -> &Artifact<I> {
        &self.all[artifact]
    }
}

impl<I> IndexMut<u32> for Artifacts<I> {
    fn index_mut(&mut self, artifact: u32) -> &mut Artifact<I> {
        &mut self.all[artifact]
    }
}

/// An id that a worker has, or a job, or on which a job depends.
pub(super) struct Artifact<I> {
    pub(super) id: I,
    pub(super) holders: Numbers,
    pub(super) job: Option<u32>,
    /// The jobs that depend on it and do not run; `None` before the first one.
    pub(super) dependents: Option<List>,
    /// The number of jobs that depend on it.
    pub(super) references: u32,
    pub(super) hash: IdHash,
}

pub(super) struct Job<J> {
    /// The end of the stage, if it is `Cached` or `Local`.
    pub(super) deadline: u64,
    pub(super) stage: Stage,
    pub(super) artifact: u32,
    /// Its place in `cached`, `local`, `global` or `running`.
    pub(super) home: Chain,
    /// Its places in queues of workers, and among the dependents of artifacts.
    pub(super) near: Chain,
    pub(super) dependencies: Numbers,
    pub(super) content: J,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for a worker that has its result.
    Cached,
    /// Waits for a worker that has a dependency.
    Local,
    /// Waits for any worker.
    Global,
    /// Runs on that worker.
    Running(u32),
}

impl Stage {
    /// Returns true if the stage may end by itself.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Cached | Self::Local)
    }
}

pub(super) struct Worker {
    /// The number of workers registered before it.
    pub(super) serial: u64,
    /// The first queue: jobs whose result it has.
    pub(super) own: List,
    /// The second queue: jobs with a dependency that it has.
    pub(super) near: List,
    /// The jobs that it runs.
    pub(super) running: List,
    /// Its waiting picks.
    pub(super) picks: List,
    pub(super) held: NumberSet,
}
