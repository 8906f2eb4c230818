//! The global queue: tasks that threads from outside make runnable, in two lanes, so that one that
//! is woken does not wait until all have begun that came before.

use std::cell::Cell;

use filch_injector::{AllocateError, Injector, Mark};

/// Two lanes, each first in, first out. Tasks leave them by turns while there are some in both.
pub(crate) struct GlobalQueue<T> {
    /// Tasks that are new, as far as is known.
    new: Injector<T>,
    /// Tasks that have run before, or for which a thread waits.
    woken: Injector<T>,
}

/// The order of turns of the two lanes, where one processor takes tasks.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    took_woken: Cell<bool>,
}

/// The end of the queue at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalMark {
    new: Mark,
    woken: Mark,
}

impl<T: Send> GlobalQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            new: Injector::new(),
            woken: Injector::new(),
        }
    }

    pub(crate) fn push(&self, task: T) {
        self.new.push(task);
    }

    pub(crate) fn push_woken(&self, task: T) {
        self.woken.push(task);
    }

    /// Sees to it that there is memory for a task that is new.
    pub(crate) fn reserve_block(&self) -> Result<(), AllocateError> {
        self.new.reserve_block()
    }

    /// The oldest task of the lane whose turn it is, or of the other one; and up to `more` of that
    /// lane's next ones into `sink`.
    pub(crate) fn pop_batch(
        &self,
        lanes: &Lanes,
        more: usize,
        mut sink: impl FnMut(T),
    ) -> Option<T> {
        let wants_woken = !lanes.took_woken.get();
        let [first, second] = match wants_woken {
            true => [&self.woken, &self.new],
            false => [&self.new, &self.woken],
        };
        if let Some(task) = first.pop_batch(more, &mut sink) {
            lanes.took_woken.set(wants_woken);
            return Some(task);
        }
        second.pop_batch(more, sink)
    }

    /// The oldest task that is new, or else that was woken.
    pub(crate) fn pop_new_first(&self) -> Option<T> {
        self.new.pop().or_else(|| self.woken.pop())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.woken.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        let (new, woken) = self.lengths();
        new + woken
    }

    /// Returns the numbers of new and of woken tasks.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.new.len(), self.woken.len())
    }

    /// Returns the mark behind all that is in there now.
    pub(crate) fn end(&self) -> GlobalMark {
        GlobalMark {
            new: self.new.end(),
            woken: self.woken.end(),
        }
    }

    /// Returns whether all is gone that was before the mark.
    pub(crate) fn is_past(&self, mark: GlobalMark) -> bool {
        self.new.is_past(mark.new) && self.woken.is_past(mark.woken)
    }
}

#[cfg(test)]
mod tests {
    use super::{GlobalQueue, Lanes};

    fn filled(new: u32, woken: u32) -> GlobalQueue<u32> {
        let queue = GlobalQueue::new();
        (0..new).for_each(|number| queue.push(number));
        (0..woken).for_each(|number| queue.push_woken(100 + number));
        queue
    }

    fn taken(queue: &GlobalQueue<u32>, more: usize) -> Vec<u32> {
        let lanes = Lanes::default();
        let mut taken = Vec::new();
        loop {
            let mut rest = Vec::new();
            let Some(first) = queue.pop_batch(&lanes, more, |task| rest.push(task)) else {
                return taken;
            };
            taken.push(first);
            taken.append(&mut rest);
        }
    }

    #[test]
    fn each_lane_keeps_its_order_and_neither_waits_for_the_other() {
        assert_eq!(taken(&filled(4, 3), 0), [100, 0, 101, 1, 102, 2, 3]);
        assert_eq!(taken(&filled(2, 4), 0), [100, 0, 101, 1, 102, 103]);
        assert_eq!(taken(&filled(5, 3), 1), [100, 101, 0, 1, 102, 2, 3, 4]);
    }

    /// A failure: a lane that was empty for long has so many turns in a row as the other one had.
    #[test]
    fn turns_are_not_saved_up() {
        let (queue, lanes) = (filled(3, 0), Lanes::default());
        let next = || queue.pop_batch(&lanes, 0, |_| unreachable!("none comes along"));
        assert_eq!((next(), next()), (Some(0), Some(1)));
        queue.push_woken(100);
        queue.push_woken(101);
        let taken = [next(), next(), next(), next()];
        assert_eq!(taken, [Some(100), Some(2), Some(101), None]);
    }

    #[test]
    fn a_mark_is_past_when_both_lanes_are() {
        for (new, woken) in [(1, 0), (0, 1), (1, 1)] {
            let (queue, lanes) = (filled(new, woken), Lanes::default());
            let next = || queue.pop_batch(&lanes, 0, |_| unreachable!("none comes along"));
            let mark = queue.end();
            for _ in 0..new + woken {
                assert!(!queue.is_past(mark) && next().is_some());
            }
            queue.push(7);
            queue.push_woken(8);
            assert!(queue.is_past(mark) && !queue.is_empty());
            assert_eq!((queue.len(), queue.lengths()), (2, (1, 1)));
        }
    }
}
