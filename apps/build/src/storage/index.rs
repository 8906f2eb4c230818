//! The names of entries, and the index of the disk, in the order of last use.

use lru::LruCache;
use tokio::sync::mpsc;

use crate::digest::Digest;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A blob, under its own hash.
    Blob,
    /// The result of an action, under the action's hash.
    Result,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Blob, Self::Result];

    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Blob => "blobs",
            Self::Result => "results",
        }
    }
}

/// The name of an entry. The size is not part of it, as clients that speak HTTP do not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) kind: Kind,
    pub(super) hash: [u8; 32],
}

impl Name {
    pub(super) const fn blob(hash: &[u8; 32]) -> Self {
        Self {
            kind: Kind::Blob,
            hash: *hash,
        }
    }

    pub(super) const fn result(hash: &[u8; 32]) -> Self {
        Self {
            kind: Kind::Result,
            hash: *hash,
        }
    }

    /// Returns the path. Folders named by two digits keep each folder small.
    pub(super) fn path(&self) -> String {
        let hex = crate::digest::hex(&self.hash);
        format!("{}/{}/{hex}", self.kind.folder(), &hex[..2])
    }
}

/// The unit in which a file takes space of the disk.
pub(super) const BLOCK: u64 = 4096;

/// The entries on the disk in the order of last use, and the space that they take.
#[derive(Debug)]
pub(super) struct Index {
    sizes: LruCache<Name, u64>,
    used: u64,
    limit: u64,
    /// The listener that is told of blobs that come and go.
    listener: Option<mpsc::UnboundedSender<Change>>,
}

/// A blob that has come or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) blob: Digest,
    /// True if it is there now.
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

    /// Listens for blobs that come and go from now on. A new listener replaces the last one.
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
            // A listener that has gone needs no news.
            let _ = listener.send(Change { blob, there });
        }
    }

    /// Returns the size of the entry, which counts as used now.
    pub(super) fn touch(&mut self, name: &Name) -> Option<u64> {
        self.sizes.get(name).copied()
    }

    /// Adds an entry as the last used one. It replaces the one that had the name.
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

    /// Takes out the least recently used entry if the limit is exceeded.
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

    /// Lists all names, the last used first.
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
        /// The model is a list, the last used entry first. Invariants: the same names with the same
        /// sizes in the same order; never more space than allowed; the listener knows them all.
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
