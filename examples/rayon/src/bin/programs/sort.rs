//! Ten million random numbers, sorted in place.

use std::mem;

use rayon::prelude::*;

use crate::program::{Effort, Prepared, Program, mixed};

pub(crate) const SORT: Program = Program {
    name: "sort",
    prepare,
};

fn prepare(effort: Effort) -> Prepared {
    let numbers: Vec<u64> = (0..effort.pick(10_000_000, 50_000)).map(mixed).collect();
    Prepared::new(
        move || numbers.clone(),
        |numbers| {
            numbers.sort_unstable();
            mem::take(numbers)
        },
        |numbers| {
            numbers.par_sort_unstable();
            mem::take(numbers)
        },
    )
}
