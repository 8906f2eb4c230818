//! The index of the disk: its entries in the order of last use.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

use tokio::sync::mpsc;

use super::name::{Kind, Name};
use crate::digest::Digest;

/// The unit in which a file takes space of the disk.
pub(super) const BLOCK: u64 = 4096;

/// The entries on the disk in the order of last use, and the space that they take.
///
/// At first the index *learns* what an earlier process has left. Until it has seen all of that, it
/// counts with the most that the rest may take, and takes out no entry that was used meanwhile.
#[derive(Debug)]
pub(super) struct Index {
    entries: HashMap<Name, Known>,
    /// The entries by their last use.
    order: BTreeSet<(u64, Name)>,
    /// The time of the next use: nanoseconds since 1970 at the start, and one more with each use.
    now: u64,
    /// The time of the start: entries that were used later are not from before.
    start: u64,
    used: u64,
    limit: u64,
    /// The most that unseen entries take; none if it has learnt all.
    unseen: Option<u64>,
    /// The most that all entries took at the start.
    before: u64,
    /// The most that is noted of what they take.
    pub(super) noted: u64,
    /// The listener that is told of blobs that come and go.
    listener: Option<mpsc::UnboundedSender<Change>>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    size: u64,
    used: u64,
}

/// The answer of an index that may still learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The entry is there, with this size.
    There(u64),
    /// There is no such entry.
    Missing,
    /// The disk has to be asked.
    Unseen,
}

/// A blob that has come or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) blob: Digest,
    /// True if it is there now.
    pub(crate) there: bool,
}

impl Index {
    /// Makes an index that has to learn entries of at most `before` bytes.
    pub(super) fn new(limit: u64, before: u64) -> Self {
        let now = nanoseconds(SystemTime::now());
        Self {
            entries: HashMap::new(),
            order: BTreeSet::new(),
            now,
            start: now,
            used: 0,
            limit,
            unseen: Some(before),
            before,
            noted: before,
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

    /// Looks the entry up, which counts as used now.
    pub(super) fn touch(&mut self, name: &Name) -> Lookup {
        let Some(known) = self.entries.get_mut(name) else {
            return match self.unseen {
                Some(_) => Lookup::Unseen,
                None => Lookup::Missing,
            };
        };
        self.order.remove(&(known.used, *name));
        known.used = self.now;
        self.order.insert((self.now, *name));
        self.now += 1;
        Lookup::There(known.size)
    }

    /// Adds an entry as the last used one. It replaces the one that had the name.
    pub(super) fn insert(&mut self, name: Name, size: u64) {
        self.remove(&name);
        self.add(name, size, self.now);
        self.now += 1;
    }

    /// Adds an entry that was there at the start, unless it is known. It was last used then, as far
    /// as the disk knows.
    pub(super) fn learn(&mut self, name: Name, size: u64, used: SystemTime) {
        let Some(unseen) = &mut self.unseen else {
            return;
        };
        if let Entry::Vacant(_) = self.entries.entry(name) {
            *unseen = unseen.saturating_sub(space(size));
            // A clock that was set back makes no entry newer than those that are used now.
            self.add(
                name,
                size,
                nanoseconds(used).min(self.start.saturating_sub(1)),
            );
        }
    }

    /// Ends the learning: what is not known now is not there.
    pub(super) fn learn_no_more(&mut self) {
        self.unseen = None;
    }

    fn add(&mut self, name: Name, size: u64, used: u64) {
        self.entries.insert(name, Known { size, used });
        self.order.insert((used, name));
        self.used += space(size);
        self.tell(&name, size, true);
    }

    pub(super) fn remove(&mut self, name: &Name) {
        if let Some(Known { size, used }) = self.entries.remove(name) {
            self.order.remove(&(used, *name));
            self.used -= space(size);
            self.tell(name, size, false);
        }
    }

    /// Returns the bytes above the limit with so many bytes more. While it learns, entries may take
    /// as much as they did before, should the limit have been lowered: which are to go is known at
    /// the end alone.
    pub(super) fn excess(&self, more: u64) -> u64 {
        let limit = match self.unseen {
            Some(_) => self.limit.max(self.before),
            None => self.limit,
        };
        self.most_used().saturating_add(more).saturating_sub(limit)
    }

    /// Takes out the least recently used entry, if one may go.
    pub(super) fn pop(&mut self) -> Option<(Name, u64)> {
        let &(used, name) = self.order.first()?;
        if self.unseen.is_some() && used >= self.start {
            return None;
        }
        let size = self.entries.get(&name)?.size;
        self.remove(&name);
        Some((name, size))
    }

    /// Returns true if there may be entries that it does not know.
    pub(super) const fn learns(&self) -> bool {
        self.unseen.is_some()
    }

    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns the bytes that known entries take.
    pub(super) const fn used(&self) -> u64 {
        self.used
    }

    /// Returns the most that all entries take.
    pub(super) fn most_used(&self) -> u64 {
        self.used.saturating_add(self.unseen.unwrap_or(0))
    }

    /// Lists all names, the last used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Name, u64)> {
        let last_first = self.order.iter().rev();
        last_first.map(|(_, name)| (name, self.entries[name].size))
    }
}

/// Returns the space that a file of that size takes.
pub(super) const fn space(size: u64) -> u64 {
    size.div_ceil(BLOCK) * BLOCK
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::{Duration, SystemTime};

    use proptest::prelude::*;

    use super::{BLOCK, Change, Index, Lookup, Name, space};

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
            let mut index = Index::new(limit, 0);
            index.learn_no_more();
            let mut list: Vec<(Name, u64)> = Vec::new();
            let mut changes = index.listen();
            let mut heard = BTreeSet::new();
            for step in steps {
                match step {
                    Step::Touch(number) => {
                        let at = list.iter().position(|entry| entry.0 == name(number));
                        let found = at.map(|at| list.remove(at));
                        let there = |entry: (_, u64)| Lookup::There(entry.1);
                        let expected = found.map_or(Lookup::Missing, there);
                        prop_assert_eq!(index.touch(&name(number)), expected);
                        if let Some(entry) = found {
                            list.insert(0, entry);
                        }
                    }
                    Step::Insert(number, size) => {
                        list.retain(|entry| entry.0 != name(number));
                        list.insert(0, (name(number), size));
                        index.insert(name(number), size);
                        while list.iter().map(|entry| space(entry.1)).sum::<u64>() > limit {
                            prop_assert!(index.excess(0) > 0);
                            prop_assert_eq!(index.pop(), list.pop());
                        }
                        prop_assert_eq!(index.excess(0), 0);
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

        /// The disk has entries from before, which the index sees one after another, while others
        /// come and are used. Invariants: all never take more than the limit; none goes that was
        /// used meanwhile; in the end the index knows what is there, and the last uses from before
        /// decide what goes next.
        #[test]
        fn it_learns_what_was_there(
            before in proptest::collection::btree_map(0_u8..40, (0..4 * BLOCK, 0_u64..9), 0..30),
            room in 0..20 * BLOCK,
            steps in proptest::collection::vec((any::<bool>(), 0_u8..60, 0..4 * BLOCK), 0..60),
            more_noted in 0..4 * BLOCK,
        ) {
            let old = |age| SystemTime::UNIX_EPOCH + Duration::from_secs(age);
            let mut disk: BTreeMap<_, _> =
                before.iter().map(|(&number, &(size, _))| (name(number), size)).collect();
            let all = |disk: &BTreeMap<Name, u64>| disk.values().map(|size| space(*size)).sum();
            let taken: u64 = all(&disk);
            let limit = taken + room + 4 * BLOCK;
            let mut index = Index::new(limit, taken + more_noted.min(room));
            let mut unseen = before.iter();
            let (mut used, mut learns) = (BTreeSet::new(), true);
            for (comes, number, size) in steps {
                let name = name(number);
                if comes {
                    while index.excess(space(size)) > 0 {
                        match index.pop() {
                            Some((gone, size)) => {
                                prop_assert!(!learns || !used.contains(&gone));
                                prop_assert_eq!(disk.remove(&gone), Some(size));
                            }
                            None => match unseen.next() {
                                Some((&number, &(size, age))) => {
                                    index.learn(super::tests::name(number), size, old(age));
                                }
                                None => {
                                    index.learn_no_more();
                                    learns = false;
                                }
                            },
                        }
                    }
                    index.insert(name, size);
                    disk.insert(name, size);
                    used.insert(name);
                } else {
                    if index.touch(&name) == Lookup::Unseen && let Some(&size) = disk.get(&name) {
                        index.learn(name, size, SystemTime::UNIX_EPOCH);
                    }
                    let expected = disk.get(&name).map(|&size| Lookup::There(size));
                    let found = index.touch(&name);
                    prop_assert_eq!(expected.is_some(), matches!(found, Lookup::There(_)));
                    used.insert(name);
                }
                prop_assert!(all(&disk) <= limit);
            }
            for (&number, &(size, age)) in unseen {
                index.learn(name(number), size, old(age));
            }
            index.learn_no_more();
            prop_assert_eq!(index.used(), all(&disk));
            let known: BTreeMap<_, _> = index.iter().map(|(name, size)| (*name, size)).collect();
            prop_assert_eq!(&known, &disk);
            let mut last = 0;
            while let Some((gone, _)) = index.pop() {
                let age = before.iter().find(|(number, _)| name(**number) == gone);
                if let Some((_, &(_, age))) = age && !used.contains(&gone) {
                    prop_assert!(age >= last);
                    last = age;
                }
            }
        }
    }
}
