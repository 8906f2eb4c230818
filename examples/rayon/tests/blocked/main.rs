//! Programs whose items block until others have begun.
//!
//! A program of rayon may block in a job, as long as a thread is left for the job that it waits
//! for. So each of these ends if, and only if, an idle thread finds every job that has not begun,
//! even if the thread that forked it is blocked in another job, or asleep. A failure: it hangs; or
//! the pool counts a job that has not begun where none can be. Nothing is timed.

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

/// Makes joins for which no other thread comes: after them a pool may assume that no thread is
/// idle, and keep forked jobs for itself.
fn join_alone() {
    (0..100).for_each(|_| _ = rayon::join(|| (), || ()));
}

/// Checks that no job waits in the calling thread's deque: the last that lay there has begun.
fn assert_nothing_waits(pool: &ThreadPool) {
    assert_eq!(pool.current_thread_has_pending_tasks(), Some(false));
}

/// Makes tests of a function for three numbers of threads, its argument: the name of a test that
/// hangs must say how many.
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
