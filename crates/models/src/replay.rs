//! An order of steps in which each read is of the newest value, if there is one.

use std::collections::{BTreeMap, HashSet};

/// The value of each word.
pub(crate) type Memory = BTreeMap<usize, u64>;

/// The value that a step needs a word to have, and the one that it gives it.
#[derive(Clone, Copy)]
pub(crate) struct Effect {
    pub(crate) word: usize,
    pub(crate) values: [Option<u64>; 2],
}

impl Effect {
    /// Does the step; returns false if the word has something else than what was read.
    pub(crate) fn apply(self, memory: &mut Memory) -> bool {
        let value = memory.entry(self.word).or_default();
        let [read, written] = self.values;
        let is_newest = read.is_none_or(|read| read == *value);
        *value = written.unwrap_or(*value);
        is_newest
    }
}

/// A depth-first search, through the steps that each thread has left, the next one last.
#[derive(Default)]
pub(crate) struct Replay {
    pub(crate) left: BTreeMap<usize, Vec<(usize, Effect)>>,
    /// The steps in the order that was found.
    pub(crate) order: Vec<usize>,
    /// The states that lead nowhere: how many steps were left, and the memory.
    seen: HashSet<(Vec<usize>, Memory)>,
}

impl Replay {
    /// Returns whether all steps can be done, at first those of the thread that went `last`; `None`
    /// if the answer takes too long.
    pub(crate) fn is_possible(&mut self, last: usize, memory: &Memory) -> Option<bool> {
        let left: Vec<_> = self.left.values().map(Vec::len).collect();
        if left.iter().all(|left| *left == 0) {
            return Some(true);
        }
        if !self.seen.insert((left, memory.clone())) {
            return Some(false);
        }
        let next = self.left.iter();
        let next = next.filter_map(|(thread, left)| Some((*thread, *left.last()?)));
        let mut next: Vec<_> = next.collect();
        next.sort_by_key(|(thread, (step, _))| (*thread != last, *step));
        for (thread, (step, effect)) in next {
            let mut memory = memory.clone();
            if effect.apply(&mut memory) {
                self.order.push(step);
                self.left.get_mut(&thread)?.pop();
                let is_possible = self.is_possible(thread, &memory);
                if is_possible != Some(false) {
                    return is_possible;
                }
                self.left.get_mut(&thread)?.push((step, effect));
                self.order.pop();
            }
        }
        (self.seen.len() < 200_000).then_some(false)
    }
}
