//! The artifacts, by their ids.

use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::{Index, IndexMut};

use super::arena::Arena;
use super::ids::{IdHash, Ids};
use super::numbers::Numbers;
use super::records::Artifact;

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
