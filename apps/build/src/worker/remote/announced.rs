//! The blobs that a worker has announced to the coordinator.

use std::collections::HashSet;

use lru::LruCache;

use crate::digest::Digest;
use crate::storage::Change;

/// The blobs that a worker has announced to the coordinator: all, or as many as the coordinator
/// takes. The others wait until there is room.
#[derive(Debug)]
pub(super) struct Announced {
    told: HashSet<Digest>,
    /// The waiting blobs, in the order in which they came.
    waiting: LruCache<Digest, ()>,
    /// The most blobs to announce.
    most: usize,
}

/// The news to send: first the blobs that are gone, so that there is room.
#[derive(Debug)]
pub(super) struct News {
    pub(super) dropped: Vec<Digest>,
    pub(super) gained: Vec<Digest>,
}

impl Announced {
    /// Takes these as announced, and announces no others before [`Self::set_most`].
    pub(super) fn new(told: &[Digest]) -> Self {
        Self {
            told: told.iter().copied().collect(),
            waiting: LruCache::unbounded(),
            most: 0,
        }
    }

    /// Sets the most blobs that the coordinator takes.
    pub(super) fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Takes blobs that have come and gone. Of those that wait, the newest is announced first: the
    /// oldest are the next to leave the cache.
    #[must_use]
    pub(super) fn take(&mut self, changes: impl Iterator<Item = Change>) -> News {
        let mut dropped = HashSet::new();
        for Change { blob, there } in changes {
            if !there {
                if self.told.remove(&blob) {
                    dropped.insert(blob);
                }
                self.waiting.pop(&blob);
            } else if dropped.remove(&blob) {
                // It came back before the coordinator heard that it was gone.
                self.told.insert(blob);
            } else if !self.told.contains(&blob) {
                self.waiting.put(blob, ());
            }
        }
        let mut gained = Vec::new();
        while self.told.len() < self.most
            && let Some((blob, ())) = self.waiting.pop_mru()
        {
            self.told.insert(blob);
            gained.push(blob);
        }
        News {
            dropped: dropped.into_iter().collect(),
            gained,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Announced, News};
    use crate::digest::Digest;
    use crate::storage::Change;

    fn blob(number: u8) -> Digest {
        Digest::of(&[number])
    }

    fn change(number: u8, there: bool) -> Change {
        Change {
            blob: blob(number),
            there,
        }
    }

    #[test]
    fn what_had_no_room_is_told_when_there_is_some() {
        let mut announced = Announced::new(&[blob(0)]);
        announced.set_most(2);
        let mut take = |changes: &[(u8, bool)]| {
            let changes = changes.iter().map(|&(number, there)| change(number, there));
            let News { dropped, gained } = announced.take(changes);
            (dropped, gained)
        };
        assert_eq!(take(&[(1, true)]), (vec![], vec![blob(1)]));
        assert_eq!(take(&[(2, true), (3, true), (4, true)]), (vec![], vec![]));
        assert_eq!(take(&[(4, false)]), (vec![], vec![]));
        assert_eq!(take(&[(0, false)]), (vec![blob(0)], vec![blob(3)]));
        assert_eq!(take(&[(1, false)]), (vec![blob(1)], vec![blob(2)]));
    }

    proptest! {
        /// The coordinator hears only of blobs that are there, never of more than it takes, of as
        /// many as it takes, and of none twice, even if a blob that is there comes again.
        #[test]
        fn the_coordinator_knows_as_much_as_it_takes(
            steps in proptest::collection::vec(
                proptest::collection::vec((0_u8..9, any::<bool>()), 0..6),
                0..40,
            ),
            most in 0_usize..10,
        ) {
            let mut announced = Announced::new(&[]);
            announced.set_most(most);
            let (mut there, mut heard) = (BTreeSet::new(), BTreeSet::new());
            for step in steps {
                for &(number, comes) in &step {
                    if comes { there.insert(blob(number)) } else { there.remove(&blob(number)) };
                }
                let changes = step.into_iter().map(|(number, comes)| change(number, comes));
                let News { dropped, gained } = announced.take(changes);
                for blob in dropped {
                    prop_assert!(heard.remove(&blob));
                }
                for blob in gained {
                    prop_assert!(heard.insert(blob));
                    prop_assert!(heard.len() <= most);
                }
                prop_assert!(heard.is_subset(&there));
                prop_assert_eq!(heard.len(), most.min(there.len()));
            }
        }
    }
}
