//! Against a model, on one thread: two deques and two `VecDeque`s do the same things.
//!
//! Invariants, after every step:
//! 1. `push`, `pop` and `steal` give what the back and the front of a `VecDeque` give;
//! 2. `steal_half_into` moves the older half (rounded up, at most `limit`), the oldest to the caller and the others,
//!    in order, to the back of the destination;
//! 3. `len`, `is_empty` and the stealer's `is_empty` agree with the model: without rivals they are exact;
//! 4. the capacity is a power of two, at least `len`, and at most four times the most items ever held, or as made.
//!
//! Indices begin near their wrap, and capacities small, so that wrapping and growth are common.

use std::collections::VecDeque;

use filch_deque::{Steal, Worker};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    Pop(usize),
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
        2 => which.clone().prop_map(Step::Pop),
        1 => which.clone().prop_map(Step::Steal),
        1 => (which.clone(), which, 1..20_usize)
            .prop_map(|(from, to, limit)| Step::StealHalf { from, to, limit }),
    ];
    prop::collection::vec(step, 0..300)
}

struct Pair {
    real: Worker<u32>,
    model: VecDeque<u32>,
    made: usize,
    most: usize,
}

impl Pair {
    fn check(&mut self) -> Result<(), TestCaseError> {
        let (len, capacity) = (self.model.len(), self.real.capacity());
        self.most = self.most.max(len);
        prop_assert_eq!(self.real.len(), len);
        prop_assert_eq!(self.real.is_empty(), len == 0);
        prop_assert_eq!(self.real.stealer().is_empty(), len == 0);
        prop_assert!(capacity.is_power_of_two() && capacity >= len);
        prop_assert!(
            capacity <= self.made.max(4 * self.most),
            "{capacity} for {}",
            self.most
        );
        Ok(())
    }
}

fn expected(front: Option<u32>) -> Steal<u32> {
    front.map_or(Steal::Empty, Steal::Success)
}

proptest! {
    #[test]
    fn like_a_vec_deque(
        steps in steps(),
        capacity in 0..6_usize,
        before_wrap in 0..40_u32,
    ) {
        let mut pairs = [before_wrap, 0].map(|before| Pair {
            real: Worker::starting_at(capacity, 0_u32.wrapping_sub(before)),
            model: VecDeque::new(),
            made: capacity.next_power_of_two(),
            most: 0,
        });
        for (item, step) in (0..).zip(steps) {
            match step {
                Step::Push(at) => {
                    pairs[at].real.push(item);
                    pairs[at].model.push_back(item);
                }
                Step::Pop(at) => {
                    prop_assert_eq!(pairs[at].real.pop(), pairs[at].model.pop_back());
                }
                Step::Steal(at) => {
                    let front = pairs[at].model.pop_front();
                    prop_assert_eq!(pairs[at].real.stealer().steal(), expected(front));
                }
                Step::StealHalf { from, to, limit } => {
                    let stolen = pairs[from].real.stealer().steal_half_into(&pairs[to].real, limit);
                    let half = pairs[from].model.len().div_ceil(2);
                    let count = if from == to { half.min(1) } else { half.min(limit) };
                    let mut loot: VecDeque<_> = pairs[from].model.drain(..count).collect();
                    prop_assert_eq!(stolen, expected(loot.pop_front()));
                    pairs[to].model.append(&mut loot);
                }
            }
            for pair in &mut pairs {
                pair.check()?;
            }
        }
        for pair in &mut pairs {
            let rest: Vec<_> = std::iter::from_fn(|| pair.real.pop()).collect();
            prop_assert!(rest.iter().eq(pair.model.iter().rev()));
        }
    }
}
