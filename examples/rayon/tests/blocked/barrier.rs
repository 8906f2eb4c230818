//! As many items as threads, which wait for each other.

use std::sync::Barrier;

use rayon::current_thread_index;
use rayon::prelude::*;

use crate::{ROUNDS, assert_nothing_waits, join_alone, on_3_8_and_12_threads, pool_of};

on_3_8_and_12_threads! {
    items_wait_for_each_other: wait_for_each_other;
}

/// Each thread has one of the items, and when all have met, none has a job that has not begun.
fn wait_for_each_other(threads: usize) {
    let (pool, barrier) = (pool_of(threads), Barrier::new(threads));
    let wait = |_| {
        barrier.wait();
        assert_nothing_waits(&pool);
        current_thread_index().unwrap()
    };
    for _ in 0..ROUNDS {
        let items = (0..threads).into_par_iter().with_max_len(1);
        let mut on: Vec<_> = pool.install(|| {
            join_alone();
            items.map(wait).collect()
        });
        on.sort_unstable();
        assert!(on.into_iter().eq(0..threads));
    }
}
