//! `par_iter().map().sum()` over 100 million numbers: a few nanoseconds each.

use std::sync::Arc;

use rayon::prelude::*;

use crate::program::{Effort, Prepared, Program, mixed};

pub(crate) const SUM_INTEGERS: Program = Program {
    name: "sum-u64",
    prepare: integers,
};

pub(crate) const SUM_FLOATS: Program = Program {
    name: "sum-f64",
    prepare: floats,
};

fn integers(effort: Effort) -> Prepared {
    let numbers = numbers(effort);
    let term = |number: &u32| mixed(u64::from(*number)) >> 32;
    Prepared::new(
        move || Arc::clone(&numbers),
        move |numbers| numbers.iter().map(term).sum::<u64>(),
        move |numbers| numbers.par_iter().map(term).sum(),
    )
}

fn floats(effort: Effort) -> Prepared {
    let numbers = numbers(effort);
    let term = |number: &u32| {
        let number = f64::from(*number);
        (1.0 + number).sqrt() / (2.0 + number)
    };
    Prepared::new(
        move || Arc::clone(&numbers),
        move |numbers| Near(numbers.iter().map(term).sum()),
        move |numbers| Near(numbers.par_iter().map(term).sum()),
    )
}

fn numbers(effort: Effort) -> Arc<[u32]> {
    (0..effort.pick(100_000_000, 200_000)).collect()
}

/// A sum that depends a little on the order of its terms.
#[derive(Debug)]
struct Near(f64);

impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        (self.0 - other.0).abs() <= 1e-9 * self.0.abs()
    }
}
