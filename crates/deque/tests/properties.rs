//! Against a model, on one thread: two deques and two `VecDeque`s do the same things. Each property
//! holds for strict deques, for lazy ones, and for loot that goes from one kind to the other; a
//! lazy one is flushed before a thief takes from it.
//!
//! Invariants, after every step, or (3 and 5) after some steps:
//! 1. `push`, `pop` and `steal` give what the back and the front of a `VecDeque` give;
//! 2. `steal_half_into` moves the older half (rounded up, at most `limit`), the oldest to the
//!    caller and the others, in order, to the back of the destination;
//! 3. `len`, `is_empty` and the stealer's `is_empty` agree with the model: without rivals they are
//!    exact;
//! 4. `shrink_to(0)` leaves the smallest power of two that holds the items;
//! 5. the capacity is a power of two, at least `len`, and at most four times the most items ever
//!    held, or as made.
//!
//! Indices begin near their wrap, and capacities small, so that wrapping and growth are common.

use std::collections::VecDeque;

use filch_deque::{Policy, Steal, Worker};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    Batch(usize, u32),
    Pop(usize),
    Shrink(usize),
    Steal(usize),
    StealHalf {
        from: usize,
        to: usize,
        limit: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = 0..2_usize;
    let step = prop_oneof![
        4 => which.clone().prop_map(Step::Push),
        1 => (which.clone(), 0..9_u32).prop_map(|(at, count)| Step::Batch(at, count)),
        3 => which.clone().prop_map(Step::Pop),
        1 => which.clone().prop_map(Step::Shrink),
        1 => which.clone().prop_map(Step::Steal),
        1 => (which.clone(), which, 1..20_usize)
            .prop_map(|(from, to, limit)| Step::StealHalf { from, to, limit }),
    ];
    prop::collection::vec(step, 0..300)
}

struct Pair<P: Policy> {
    real: Worker<u32, P>,
    model: VecDeque<u32>,
    made: usize,
    most: usize,
}

impl<P: Policy> Pair<P> {
    fn of(real: Worker<u32, P>) -> Self {
        let made = real.capacity();
        Self {
            real,
            model: VecDeque::new(),
            made,
            most: 0,
        }
    }

    /// A step that concerns one deque alone.
    fn apply(&mut self, step: Step, item: u32) -> Result<(), TestCaseError> {
        match step {
            Step::Push(_) => {
                self.real.push(item);
                self.model.push_back(item);
            }
            Step::Batch(_, count) => {
                self.real.push_batch(item..item + count);
                self.model.extend(item..item + count);
            }
            Step::Pop(_) => prop_assert_eq!(self.real.pop(), self.model.pop_back()),
            Step::Shrink(_) => {
                self.real.shrink_to(0);
                let least = self.model.len().next_power_of_two();
                prop_assert_eq!(self.real.capacity(), least);
            }
            Step::Steal(_) => {
                self.real.flush();
                let front = self.model.pop_front();
                prop_assert_eq!(self.real.stealer().steal(), expected(front));
            }
            Step::StealHalf { limit, .. } => {
                // From itself: one item.
                self.real.flush();
                let stolen = self.real.stealer().steal_half_into(&self.real, limit);
                prop_assert_eq!(stolen, expected(self.model.pop_front()));
            }
        }
        Ok(())
    }

    fn robbed_by<Q: Policy>(
        &mut self,
        thief: &mut Pair<Q>,
        limit: usize,
    ) -> Result<(), TestCaseError> {
        self.real.flush();
        let stolen = self.real.stealer().steal_half_into(&thief.real, limit);
        let count = self.model.len().div_ceil(2).min(limit);
        let mut loot: VecDeque<_> = self.model.drain(..count).collect();
        prop_assert_eq!(stolen, expected(loot.pop_front()));
        thief.model.append(&mut loot);
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let (len, capacity) = (self.model.len(), self.real.capacity());
        prop_assert_eq!(self.real.len(), len);
        prop_assert_eq!(self.real.is_empty(), len == 0);
        prop_assert!(capacity.is_power_of_two() && capacity >= len);
        prop_assert!(
            capacity <= self.made.max(4 * self.most),
            "{capacity} for {}",
            self.most
        );
        self.real.flush();
        prop_assert_eq!(self.real.stealer().is_empty(), len == 0);
        Ok(())
    }

    fn finish(self) -> Result<(), TestCaseError> {
        let rest: Vec<_> = std::iter::from_fn(|| self.real.pop()).collect();
        prop_assert!(rest.iter().eq(self.model.iter().rev()));
        Ok(())
    }
}

fn expected(front: Option<u32>) -> Steal<u32> {
    front.map_or(Steal::Empty, Steal::Success)
}

fn like_vec_deques<P: Policy, Q: Policy>(
    left: Worker<u32, P>,
    right: Worker<u32, Q>,
    steps: Vec<Step>,
) -> Result<(), TestCaseError> {
    let (mut left, mut right) = (Pair::of(left), Pair::of(right));
    for (item, step) in (0..).step_by(10).zip(steps) {
        match step {
            Step::StealHalf {
                from: 0,
                to: 1,
                limit,
            } => left.robbed_by(&mut right, limit)?,
            Step::StealHalf {
                from: 1,
                to: 0,
                limit,
            } => right.robbed_by(&mut left, limit)?,
            Step::Push(0)
            | Step::Batch(0, _)
            | Step::Pop(0)
            | Step::Shrink(0)
            | Step::Steal(0)
            | Step::StealHalf { from: 0, .. } => left.apply(step, item)?,
            _ => right.apply(step, item)?,
        }
        left.most = left.most.max(left.model.len());
        right.most = right.most.max(right.model.len());
        // Looking flushes: not after every step, or nothing would ever be private.
        if item % 7 == 0 {
            left.check()?;
            right.check()?;
        }
    }
    left.finish()?;
    right.finish()
}

proptest! {
    #[test]
    fn strict_deques(steps in steps(), capacity in 0..6_usize, before_wrap in 0..40_u32) {
        let start = 0_u32.wrapping_sub(before_wrap);
        let (left, right) = (Worker::starting_at(capacity, start), Worker::with_capacity(capacity));
        like_vec_deques(left, right, steps)?;
    }

    #[test]
    fn lazy_deques(steps in steps(), capacity in 0..6_usize, before_wrap in 0..40_u32) {
        let start = 0_u32.wrapping_sub(before_wrap);
        let (left, right) = (Worker::lazy_starting_at(capacity, start), Worker::lazy(capacity));
        like_vec_deques(left, right, steps)?;
    }

    #[test]
    fn a_lazy_and_a_strict_deque(steps in steps(), capacity in 0..6_usize) {
        like_vec_deques(Worker::lazy(capacity), Worker::with_capacity(capacity), steps)?;
    }
}
