//! Against a model, on one thread: two deques and two `VecDeque`s do the same things. Each property
//! holds for deques that are always shared, for those that may be biased, and from one kind to the
//! other. From a biased one a thief takes after the owner has shared it, or by a heavy fence.
//!
//! Invariants, after every step, or (3 and 5) after some steps:
//! 1. `push`, `pop` and `steal` give what the back and the front of a `VecDeque` give;
//! 2. `steal_half_into` moves the older half (rounded up, at most `limit`), the oldest to the
//!    caller and the others, in order, to the back of the destination;
//! 3. `len`, `is_empty` and the stealer's `is_empty` agree with the model: without rivals they are
//!    exact;
//! 4. `shrink_to(0)` leaves the smallest power of two that has a slot more than items;
//! 5. the capacity is a power of two, at least `len`, and at most four times the most items ever
//!    held, or as made.
//!
//! Indices begin near their wrap, and capacities small, so that wrapping and growth are common.

use std::collections::VecDeque;

use filch_deque::{Request, Steal, Worker};
use filch_sync::asymmetric::register;
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
    prop::collection::vec(step, 0..if cfg!(miri) { 30 } else { 300 })
}

struct Pair {
    real: Worker<u32>,
    model: VecDeque<u32>,
    made: usize,
    most: usize,
}

impl Pair {
    fn of(real: Worker<u32>) -> Self {
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
                let least = (self.model.len() + 1).next_power_of_two();
                prop_assert_eq!(self.real.capacity(), least);
            }
            Step::Steal(_) => {
                self.open();
                let front = self.model.pop_front();
                prop_assert_eq!(self.real.stealer().steal(), expected(front));
            }
            Step::StealHalf { limit, .. } => {
                // From itself: one item.
                self.open();
                let stolen = self.real.stealer().steal_half_into(&self.real, limit);
                prop_assert_eq!(stolen, expected(self.model.pop_front()));
            }
        }
        Ok(())
    }

    /// Has a thief find what there is.
    fn open(&self) {
        if let Some(request) = self.real.stealer().ask() {
            match self.model.len() % 2 {
                0 => self.real.share(),
                // Refused if there were too many of them.
                _ => Request::revoke_all(&[request]).unwrap_or_else(|_| self.real.share()),
            }
        }
    }

    fn robbed_by(&mut self, thief: &mut Self, limit: usize) -> Result<(), TestCaseError> {
        self.open();
        let stolen = self.real.stealer().steal_half_into(&thief.real, limit);
        let count = self.model.len().div_ceil(2).min(limit);
        let mut half: VecDeque<_> = self.model.drain(..count).collect();
        prop_assert_eq!(stolen, expected(half.pop_front()));
        thief.model.append(&mut half);
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
        prop_assert_eq!(self.real.stealer().is_empty(), len == 0);
        prop_assert_eq!(self.real.stealer().len(), len);
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

fn like_vec_deques(
    left: Worker<u32>,
    right: Worker<u32>,
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
        left.check()?;
        right.check()?;
    }
    left.finish()?;
    right.finish()
}

proptest! {
    #[test]
    fn shared_deques(steps in steps(), capacity in 0..6_usize, before_wrap in 0..40_u32) {
        let start = 0_u32.wrapping_sub(before_wrap);
        let left = Worker::starting_at(capacity, start, false);
        like_vec_deques(left, Worker::with_capacity(capacity), steps)?;
    }

    #[test]
    fn biased_deques(steps in steps(), capacity in 0..6_usize, before_wrap in 0..40_u32) {
        register();
        let start = 0_u32.wrapping_sub(before_wrap);
        let left = Worker::starting_at(capacity, start, true);
        like_vec_deques(left, Worker::biased(capacity), steps)?;
    }

    #[test]
    fn a_biased_and_a_shared_deque(steps in steps(), capacity in 0..6_usize) {
        register();
        like_vec_deques(Worker::biased(capacity), Worker::with_capacity(capacity), steps)?;
    }
}
