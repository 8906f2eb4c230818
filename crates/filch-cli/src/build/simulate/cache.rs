//! The cache of one worker: the artifacts that it used last, up to a limit of bytes.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::graph::Job;

/// A cache from which the least recently used artifact goes first.
#[derive(Debug, Clone, Default)]
pub(super) struct Cache {
    /// `None`: no limit.
    limit: Option<u64>,
    bytes: u64,
    uses: u64,
    /// Each artifact's size and last use.
    held: HashMap<Job, (u64, u64), BuildHasherDefault<JobHasher>>,
    /// Artifacts and uses in the order of the uses, if there is a limit. Older uses of an artifact
    /// are skipped.
    order: VecDeque<(Job, u64)>,
}

/// Hashes by a multiplication, whose high bits come down: artifacts are numbers that nobody chose
/// in order to make them collide.
#[derive(Debug, Clone, Copy, Default)]
struct JobHasher(u64);

impl Hasher for JobHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        let product = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

impl Cache {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub(super) fn has(&self, artifact: Job) -> bool {
        self.held.contains_key(&artifact)
    }

    /// Uses the artifact again, if it is there.
    pub(super) fn touch(&mut self, artifact: Job) {
        if self.limit.is_none() {
            return;
        }
        if let Some((_, last)) = self.held.get_mut(&artifact) {
            self.uses += 1;
            *last = self.uses;
            self.order.push_back((artifact, self.uses));
            self.forget_old_uses();
        }
    }

    /// Adds the artifact, or uses it again. `gone` gets the evicted artifacts: this one, if it is
    /// larger than the limit. Returns whether it was added.
    pub(super) fn insert(&mut self, artifact: Job, size: u64, gone: &mut Vec<Job>) -> bool {
        if self.has(artifact) {
            self.touch(artifact);
            return false;
        }
        if self.limit.is_some_and(|limit| size > limit) {
            gone.push(artifact);
            return false;
        }
        self.held.insert(artifact, (size, 0));
        self.bytes += size;
        self.touch(artifact);
        while self.limit.is_some_and(|limit| self.bytes > limit) {
            let Some((oldest, used)) = self.order.pop_front() else {
                unreachable!("bytes without an artifact");
            };
            if let Some(&(size, last)) = self.held.get(&oldest)
                && last == used
            {
                self.held.remove(&oldest);
                self.bytes -= size;
                gone.push(oldest);
            }
        }
        true
    }

    /// Keeps the order at most about twice as long as the cache.
    fn forget_old_uses(&mut self) {
        if self.order.len() > 2 * self.held.len() + 16 {
            let held = &self.held;
            let is_last = |(artifact, used): &(Job, u64)| {
                held.get(artifact).is_some_and(|&(_, last)| last == *used)
            };
            self.order.retain(is_last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Cache::new(Some(100));
        let mut gone = Vec::new();
        for artifact in 0..4 {
            assert!(cache.insert(artifact, 25, &mut gone));
        }
        assert!(gone.is_empty());
        cache.touch(0);
        assert!(!cache.insert(1, 25, &mut gone));
        assert!(cache.insert(4, 30, &mut gone));
        assert_eq!(gone, [2, 3]);
        assert!([0, 1, 4].iter().all(|&artifact| cache.has(artifact)));
        assert!(!cache.has(2) && !cache.has(3));
    }

    #[test]
    fn what_is_larger_than_the_limit_does_not_come_in() {
        let mut cache = Cache::new(Some(100));
        let mut gone = Vec::new();
        assert!(cache.insert(0, 100, &mut gone));
        assert!(!cache.insert(1, 101, &mut gone));
        assert_eq!(gone, [1]);
        assert!(cache.has(0) && !cache.has(1));
    }

    #[test]
    fn many_uses_take_no_memory() {
        let mut cache = Cache::new(Some(100));
        cache.insert(0, 1, &mut Vec::new());
        (0..1_000).for_each(|_| cache.touch(0));
        assert!(cache.order.len() < 20, "{}", cache.order.len());
    }
}
