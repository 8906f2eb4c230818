//! The places of artifacts, by their ids.

use super::numbers::GOLDEN;

/// A table of places, each beside a part of the hash of its id; the ids are at the places. Linear
/// probing, so that a look-up takes one cache line in most cases (Knuth, "The Art of Computer
/// Programming", volume 3, 6.4, algorithms L and R).
pub(super) struct Ids {
    /// A power of two in number, or none.
    entries: Vec<Entry>,
    len: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: IdHash,
    /// `NONE` if the entry is free.
    place: u32,
}

/// The part of a hash that the table keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct IdHash(u32);

/// No place.
const NONE: u32 = u32::MAX;

const FREE: Entry = Entry {
    hash: IdHash(0),
    place: NONE,
};

impl IdHash {
    /// Mixes all bits of the hash, whichever of them the user's hasher sets well.
    pub(super) fn new(hash: u64) -> Self {
        Self((hash.wrapping_mul(GOLDEN) >> 32) as u32)
    }
}

impl Ids {
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            len: 0,
        }
    }

    /// Returns the entries from the hash's own one on, around the table.
    fn probe(&self, hash: IdHash) -> impl Iterator<Item = usize> + use<> {
        let mask = self.entries.len().wrapping_sub(1);
        (0..self.entries.len()).map(move |step| (hash.0 as usize).wrapping_add(step) & mask)
    }

    /// Returns the place of the id with this hash for which `is_it` returns true.
    pub(super) fn find(&self, hash: IdHash, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        for at in self.probe(hash) {
            let entry = self.entries[at];
            if entry.place == NONE {
                return None;
            }
            if entry.hash == hash && is_it(entry.place) {
                return Some(entry.place);
            }
        }
        None
    }

    /// Adds the place of an id that the table does not have.
    pub(super) fn insert(&mut self, hash: IdHash, place: u32) {
        self.len += 1;
        // At most three quarters full: beyond that, a look-up takes many steps.
        if self.len * 4 > self.entries.len() * 3 {
            self.grow();
        }
        self.put(Entry { hash, place });
    }

    fn grow(&mut self) {
        let larger = vec![FREE; (self.entries.len() * 2).max(8)];
        let entries = std::mem::replace(&mut self.entries, larger);
        for entry in entries.into_iter().filter(|entry| entry.place != NONE) {
            self.put(entry);
        }
    }

    fn put(&mut self, entry: Entry) {
        let mut probe = self.probe(entry.hash);
        let free = probe.find(|&at| self.entries[at].place == NONE);
        self.entries[free.expect("a quarter is free")] = entry;
    }

    /// Removes the place of an id that the table has.
    pub(super) fn remove(&mut self, hash: IdHash, place: u32) {
        let mut probe = self.probe(hash);
        let Some(mut hole) = probe.find(|&at| self.entries[at].place == place) else {
            return;
        };
        self.len -= 1;
        // Entries behind the hole that a look-up from there or before would miss move into it.
        let mask = self.entries.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let entry = self.entries[at];
            if entry.place == NONE {
                break;
            }
            let steps_to = |to: usize| to.wrapping_sub(entry.hash.0 as usize) & mask;
            if steps_to(hole) <= steps_to(at) {
                self.entries[hole] = entry;
                hole = at;
            }
        }
        self.entries[hole] = FREE;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{IdHash, Ids};
    use crate::planner::random::Random;

    /// Uses few hashes, so that many ids meet at one entry.
    #[test]
    fn what_was_noted_and_not_forgotten_is_found() {
        for hashes in [1, 7, 1 << 30] {
            let mut random = Random::new(hashes as u64);
            let (mut ids, mut model) = (Ids::new(), HashMap::new());
            for step in 0..3000_u32 {
                if random.below(100) < 60 - step as usize / 100 {
                    let hash = u32::MAX - random.below(hashes) as u32;
                    ids.insert(IdHash(hash), step);
                    model.insert(step, hash);
                } else if let Some(&place) = model.keys().next() {
                    let hash = model.remove(&place).unwrap();
                    ids.remove(IdHash(hash), place);
                    assert_eq!(ids.find(IdHash(hash), |found| found == place), None);
                }
                for (&place, &hash) in model.iter().filter(|_| step % 100 == 0) {
                    let found = ids.find(IdHash(hash), |found| found == place);
                    assert_eq!(found, Some(place));
                }
            }
            assert_eq!(ids.len, model.len());
        }
    }
}
