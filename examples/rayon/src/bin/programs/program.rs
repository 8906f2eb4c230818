//! The common part of the programs: two forms, which must agree, and a clock.

use std::fmt;
use std::time::{Duration, Instant};

/// The amount of work of a program.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// Enough to measure.
    Full,
    /// Enough to see that the two forms agree.
    Small,
}

impl Effort {
    /// Returns one of the two.
    pub(crate) fn pick<T>(self, full: T, small: T) -> T {
        match self {
            Self::Full => full,
            Self::Small => small,
        }
    }
}

/// A program by its name.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Makes its data, and runs the sequential form.
    pub(crate) prepare: fn(Effort) -> Prepared,
}

/// A program with its data.
pub(crate) struct Prepared {
    /// The time of the sequential form.
    pub(crate) sequential: Duration,
    /// Runs the parallel form, checks its result, and returns its time.
    pub(crate) round: Box<dyn FnMut() -> Duration>,
}

impl Prepared {
    /// Makes a program with its data. Each round has an `input` of its own; making and dropping it
    /// is not timed, nor is dropping the result.
    pub(crate) fn new<I, O: PartialEq + fmt::Debug + 'static>(
        input: impl Fn() -> I + 'static,
        sequential: impl FnOnce(&mut I) -> O,
        parallel: impl Fn(&mut I) -> O + 'static,
    ) -> Self {
        let (expected, elapsed) = timed(&mut input(), sequential);
        let round = move || {
            let (output, elapsed) = timed(&mut input(), &parallel);
            assert!(output == expected, "the parallel form says something else");
            elapsed
        };
        Self {
            sequential: elapsed,
            round: Box::new(round),
        }
    }
}

fn timed<I, O>(input: &mut I, work: impl FnOnce(&mut I) -> O) -> (O, Duration) {
    let began = Instant::now();
    let output = work(input);
    (output, began.elapsed())
}

/// Returns the next number of a stream that looks random: `SplitMix64`, of Steele, Lea and Flood
/// (OOPSLA 2014).
pub(crate) fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
