//! Recursions by `join` down to the last element: most leaves take less than a microsecond.

use std::mem;

use crate::program::{Prepared, Program, mixed};

pub(crate) const QUICKSORT: Program = Program {
    name: "quicksort",
    prepare: |effort| {
        let numbers: Vec<u64> = (0..effort.pick(2_000_000, 10_000)).map(mixed).collect();
        Prepared::new(
            move || numbers.clone(),
            |numbers| {
                quicksort::<Calls>(numbers);
                mem::take(numbers)
            },
            |numbers| {
                rayon::scope(|_| quicksort::<Forks>(numbers));
                mem::take(numbers)
            },
        )
    },
};

pub(crate) const QUEENS: Program = Program {
    name: "queens",
    prepare: |effort| {
        Prepared::new(
            move || effort.pick(12, 7),
            |size| row::<Calls>((1 << *size) - 1, [0; 3]),
            |size| rayon::scope(|_| row::<Forks>((1 << *size) - 1, [0; 3])),
        )
    },
};

pub(crate) const FIB: Program = Program {
    name: "fib",
    prepare: |effort| {
        Prepared::new(
            move || effort.pick(34, 15),
            |n| fib::<Calls>(*n),
            |n| rayon::scope(|_| fib::<Forks>(*n)),
        )
    },
};

/// The way in which two branches of a recursion run.
trait Branches {
    fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send)
    -> (A, B);
}

/// One after the other.
struct Calls;

impl Branches for Calls {
    #[inline]
    fn both<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
        (a(), b())
    }
}

/// Perhaps at the same time.
struct Forks;

impl Branches for Forks {
    #[inline]
    fn both<A: Send, B: Send>(
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        rayon::join(a, b)
    }
}

fn quicksort<Way: Branches>(numbers: &mut [u64]) {
    if numbers.len() > 1 {
        let middle = partition(numbers);
        let (low, high) = numbers.split_at_mut(middle);
        Way::both(
            || quicksort::<Way>(low),
            || quicksort::<Way>(&mut high[1..]),
        );
    }
}

/// Moves the numbers below the last one to the front, and returns its place behind them.
fn partition(numbers: &mut [u64]) -> usize {
    let last = numbers.len() - 1;
    let pivot = numbers[last];
    let mut less = 0;
    for index in 0..last {
        let is_less = numbers[index] < pivot;
        numbers.swap(less, index);
        less += usize::from(is_less);
    }
    numbers.swap(less, last);
    less
}

/// Counts the ways to place queens on the rows below; `taken` are columns and the two diagonals.
fn row<Way: Branches>(all: u32, taken: [u32; 3]) -> u64 {
    let [columns, left, right] = taken;
    match columns == all {
        true => 1,
        false => places::<Way>(all, taken, all & !(columns | left | right)),
    }
}

/// Counts them with a queen on one of the free places in this row.
fn places<Way: Branches>(all: u32, taken: [u32; 3], free: u32) -> u64 {
    if free == 0 {
        return 0;
    }
    let place = free & free.wrapping_neg();
    let [columns, left, right] = taken.map(|taken| taken | place);
    let below = move || row::<Way>(all, [columns, left << 1 & all, right >> 1]);
    match free ^ place {
        0 => below(),
        rest => {
            let (a, b) = Way::both(below, move || places::<Way>(all, taken, rest));
            a + b
        }
    }
}

fn fib<Way: Branches>(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = Way::both(|| fib::<Way>(n - 1), || fib::<Way>(n - 2));
    a + b
}
