//! What is on the disk, in the order of its last use.

use lru::LruCache;
use tokio::sync::mpsc;

use super::name::{Kind, Name};
use crate::digest::Digest;

/// What a file takes of the disk is a multiple of that.
pub(super) const BLOCK: u64 = 4096;

/// What is on the disk, in the order of its last use, and how much of the disk it takes.
#[derive(Debug)]
pub(super) struct Index {
    sizes: LruCache<Name, u64>,
    used: u64,
    limit: u64,
    /// The end at which what comes and goes is told.
    listener: Option<mpsc::UnboundedSender<Change>>,
}

/// A blob has come or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) blob: Digest,
    /// Whether it is there now.
    pub(crate) there: bool,
}

impl Index {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            sizes: LruCache::unbounded(),
            used: 0,
            limit,
            listener: None,
        }
    }

    /// What comes and goes from now on. There is one listener, the last one.
    pub(super) fn listen(&mut self) -> mpsc::UnboundedReceiver<Change> {
        let (listener, changes) = mpsc::unbounded_channel();
        self.listener = Some(listener);
        changes
    }

    fn tell(&self, name: &Name, size: u64, there: bool) {
        if let Some(listener) = &self.listener
            && name.kind == Kind::Blob
        {
            let blob = Digest::from_hash(name.hash, size);
            // A listener that has gone need not know.
            let _ = listener.send(Change { blob, there });
        }
    }

    /// Its size. It is now the last one that was used.
    pub(super) fn touch(&mut self, name: &Name) -> Option<u64> {
        self.sizes.get(name).copied()
    }

    /// It is there now, the last one that was used. What it replaces is not there any more.
    pub(super) fn insert(&mut self, name: Name, size: u64) {
        if let Some((name, old)) = self.sizes.push(name, size) {
            self.used -= space(old);
            self.tell(&name, old, false);
        }
        self.used += space(size);
        self.tell(&name, size, true);
    }

    pub(super) fn remove(&mut self, name: &Name) {
        if let Some(size) = self.sizes.pop(name) {
            self.used -= space(size);
            self.tell(name, size, false);
        }
    }

    /// Takes out what was not used for the longest time, while there is too much.
    pub(super) fn pop_excess(&mut self) -> Option<(Name, u64)> {
        if self.used <= self.limit {
            return None;
        }
        let (name, size) = self.sizes.pop_lru()?;
        self.used -= space(size);
        self.tell(&name, size, false);
        Some((name, size))
    }

    pub(super) fn entries(&self) -> usize {
        self.sizes.len()
    }

    pub(super) const fn used(&self) -> u64 {
        self.used
    }

    /// All names, the last one that was used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Name, u64)> {
        self.sizes.iter().map(|(name, size)| (name, *size))
    }
}

const fn space(size: u64) -> u64 {
    size.div_ceil(BLOCK) * BLOCK
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{BLOCK, Change, Index, Name, space};

    #[derive(Debug, Clone)]
    enum Step {
        Touch(u8),
        Insert(u8, u64),
        Remove(u8),
    }

    fn name(number: u8) -> Name {
        Name::blob(&[number; 32])
    }

    fn step() -> impl Strategy<Value = Step> {
        let number = 0_u8..12;
        prop_oneof![
            number.clone().prop_map(Step::Touch),
            (number.clone(), 0..4 * BLOCK).prop_map(|(number, size)| Step::Insert(number, size)),
            number.prop_map(Step::Remove),
        ]
    }

    proptest! {
        /// The model is a list, the last one that was used first. Invariants: the same names of the
        /// same sizes in the same order; never more space than allowed; who listens knows them.
        #[test]
        fn it_does_what_a_list_does(steps in proptest::collection::vec(step(), 0..200)) {
            let limit = 10 * BLOCK;
            let mut index = Index::new(limit);
            let mut list: Vec<(Name, u64)> = Vec::new();
            let mut changes = index.listen();
            let mut heard = BTreeSet::new();
            for step in steps {
                match step {
                    Step::Touch(number) => {
                        let at = list.iter().position(|entry| entry.0 == name(number));
                        let found = at.map(|at| list.remove(at));
                        prop_assert_eq!(index.touch(&name(number)), found.map(|entry| entry.1));
                        if let Some(entry) = found {
                            list.insert(0, entry);
                        }
                    }
                    Step::Insert(number, size) => {
                        list.retain(|entry| entry.0 != name(number));
                        list.insert(0, (name(number), size));
                        index.insert(name(number), size);
                        while list.iter().map(|entry| space(entry.1)).sum::<u64>() > limit {
                            prop_assert_eq!(index.pop_excess(), list.pop());
                        }
                        prop_assert_eq!(index.pop_excess(), None);
                    }
                    Step::Remove(number) => {
                        list.retain(|entry| entry.0 != name(number));
                        index.remove(&name(number));
                    }
                }
                let entries: Vec<_> = index.iter().map(|(name, size)| (*name, size)).collect();
                prop_assert_eq!(&entries, &list);
                prop_assert_eq!(index.used(), list.iter().map(|entry| space(entry.1)).sum::<u64>());
                while let Ok(Change { blob, there }) = changes.try_recv() {
                    let entry = (*blob.hash(), blob.size());
                    let told = if there { heard.insert(entry) } else { heard.remove(&entry) };
                    prop_assert!(told);
                }
                let there: BTreeSet<_> =
                    list.iter().map(|(name, size)| (name.hash, *size)).collect();
                prop_assert_eq!(&heard, &there);
            }
        }
    }
}
