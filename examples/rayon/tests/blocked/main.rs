//! Programs whose items block until others have begun.
//!
//! A program of rayon may block in a job, as long as a thread is left for the job that it waits
//! for. So each of these ends if, and only if, an idle thread finds every job that has not begun,
//! whatever the thread that forked it does meanwhile: it is blocked in another job, or asleep. A
//! failure: it hangs. Nothing is timed.

mod barrier;
mod gate;
mod pipe;
mod tail;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Rounds of a test. Its threads fall asleep between some of them and not between others.
const ROUNDS: usize = 200;

fn pool_of(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

/// Joins that no other thread comes for: a pool may take it that none is about, and leave what is
/// forked next to its thread alone.
fn join_alone() {
    (0..100).for_each(|_| drop(rayon::join(|| (), || ())));
}

/// Makes a test of a function for each of three numbers of threads, which it is given: a test that
/// hangs is to say on how many.
macro_rules! on_3_8_and_12_threads {
    ($($name:ident: $test:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn on_3_threads() {
                $test(3);
            }

            #[test]
            fn on_8_threads() {
                $test(8);
            }

            #[test]
            fn on_12_threads() {
                $test(12);
            }
        }
    )*};
}

use on_3_8_and_12_threads;
