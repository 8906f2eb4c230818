//! Marks: whether consumers have claimed everything that was in the queue at some moment.

use crate::injector::{Injector, Position};

/// The end of a queue at some moment: [`Injector::end`].
#[derive(Clone, Copy, Debug)]
pub struct Mark(Position);

impl<T, const BLOCK: usize> Injector<T, BLOCK> {
    /// Returns the end of the queue: behind each item whose push happened before this call, and
    /// before each item whose push begins after it. Wait-free.
    ///
    /// ```
    /// let queue = filch_injector::Injector::new();
    /// queue.push("old");
    /// let mark = queue.end();
    /// queue.push("new");
    /// assert!(!queue.is_past(mark));
    /// queue.pop();
    /// assert!(queue.is_past(mark) && !queue.is_empty());
    /// ```
    pub fn end(&self) -> Mark {
        let (_, tail) = self.ends();
        Mark(tail)
    }

    /// Returns whether consumers have claimed everything before a mark of this queue. Wait-free.
    ///
    /// `true` is exact, and stays true. A mark older than 2³² blocks may be mistaken for one among
    /// the items that wait now, until these are claimed.
    pub fn is_past(&self, mark: Mark) -> bool {
        let (head, tail) = self.ends();
        // Counted from the head's block; older positions wrap to beyond all that waits.
        let distance = |position: Position| {
            let blocks = position.sequence.wrapping_sub(head.sequence);
            u64::from(blocks) * BLOCK as u64 + u64::from(position.index)
        };
        let waits = distance(head) + 1..=distance(tail);
        !waits.contains(&distance(mark.0))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::Mark;
    use crate::injector::{Injector, Position};

    proptest! {
        /// Pushes, takes and marks in any order, beside plain numbers.
        #[test]
        fn a_mark_is_past_when_as_many_are_taken_as_were_pushed(
            steps in prop::collection::vec(0..3, 0..if cfg!(miri) { 30 } else { 300 }),
        ) {
            let queue = Injector::<u32, 3>::with_blocks();
            let (mut pushed, mut taken, mut marks) = (0, 0, Vec::new());
            for step in steps {
                match step {
                    0 => {
                        queue.push(pushed);
                        pushed += 1;
                    }
                    1 => taken += queue.pop().map_or(0, |_| 1),
                    _ => marks.push((queue.end(), pushed)),
                }
                for &(mark, before) in &marks {
                    prop_assert_eq!(queue.is_past(mark), taken >= before);
                }
            }
        }
    }

    #[test]
    fn a_mark_of_an_earlier_wrap_is_past() {
        let queue = Injector::<u32, 3>::with_blocks();
        (0..20).for_each(|number| queue.push(number));
        let behind = |blocks: u32| {
            Mark(Position {
                sequence: 0_u32.wrapping_sub(blocks),
                block: 0,
                index: 2,
            })
        };
        for blocks in [1, 1 << 20, 1 << 31, u32::MAX - 6] {
            assert!(queue.is_past(behind(blocks)), "{blocks}");
        }
        assert!(!queue.is_past(queue.end()));
    }
}
