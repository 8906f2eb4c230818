//! The sieve of Eratosthenes, by chunks that fit a cache.

use rayon::prelude::*;

use crate::program::{Effort, Prepared, Program};

pub(crate) const SIEVE: Program = Program {
    name: "sieve",
    prepare,
};

/// Odd numbers to a chunk, a byte each.
const CHUNK: usize = 1 << 17;

fn prepare(effort: Effort) -> Prepared {
    let odd = effort.pick(50_000_000, 400_000);
    // Up to the root of the largest; the square of the largest of them is beyond it.
    let root = (2.0 * odd as f64).sqrt() as usize + 1;
    let small: Vec<_> = (3..=root).step_by(2).filter(|&n| is_prime(n)).collect();
    let again = small.clone();
    Prepared::new(
        move || vec![true; odd],
        move |flags| {
            let chunks = flags.chunks_mut(CHUNK).enumerate();
            1 + chunks
                .map(|(index, chunk)| primes(index, chunk, &small))
                .sum::<usize>()
        },
        move |flags| {
            let chunks = flags.par_chunks_mut(CHUNK).enumerate();
            1 + chunks
                .map(|(index, chunk)| primes(index, chunk, &again))
                .sum::<usize>()
        },
    )
}

fn is_prime(number: usize) -> bool {
    let mut divisors = (3..).step_by(2).take_while(|d| d * d <= number);
    !divisors.any(|divisor| number.is_multiple_of(divisor))
}

/// Counts the odd primes of a chunk. Its first flag is that of `2 * index * CHUNK + 1`.
fn primes(index: usize, chunk: &mut [bool], small: &[usize]) -> usize {
    let first = index * CHUNK;
    if index == 0 {
        // One is no prime.
        chunk[0] = false;
    }
    for &prime in small {
        // The flag of `n` is number `n / 2`; the odd multiples of a prime are `prime` flags apart.
        let square = prime * prime / 2;
        let next = match first.checked_sub(square) {
            None => square - first,
            Some(passed) => (prime - passed % prime) % prime,
        };
        let Some(multiples) = chunk.get_mut(next..) else {
            continue;
        };
        for flag in multiples.iter_mut().step_by(prime) {
            *flag = false;
        }
    }
    chunk.iter().filter(|flag| **flag).count()
}
