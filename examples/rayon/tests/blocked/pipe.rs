//! Items that are pipelines: two halves, with a bounded channel between them.

use std::sync::mpsc::sync_channel;

use rayon::prelude::*;
use rayon::{ThreadPool, current_thread_index, join};

use crate::{ROUNDS, assert_nothing_waits, join_alone, on_3_8_and_12_threads, pool_of};

/// The number of messages of an item.
const MESSAGES: u64 = 100;

/// The capacity of the channel: the first half must wait for the second one to begin.
const BOUND: usize = 2;

on_3_8_and_12_threads! {
    halves_of_an_item_wait_for_each_other: pipelines;
}

/// Runs pipelines with a thread for each half, and one left.
fn pipelines(threads: usize) {
    let pool = pool_of(threads);
    for _ in 0..ROUNDS {
        let items = (0..(threads - 1) / 2).into_par_iter().with_max_len(1);
        let sums: Vec<_> = pool.install(|| items.map(|_| pipeline(&pool)).collect());
        assert!(sums.iter().all(|&sum| sum == MESSAGES * (MESSAGES - 1) / 2));
    }
}

/// Returns the sum of what came through. The second half was on another thread; and what the first
/// one's thread had forked before was taken before that.
fn pipeline(pool: &ThreadPool) -> u64 {
    let (sender, receiver) = sync_channel(BOUND);
    join_alone();
    let (first, (second, sum)) = join(
        move || {
            (0..MESSAGES).for_each(|message| sender.send(message).unwrap());
            assert_nothing_waits(pool);
            current_thread_index()
        },
        move || (current_thread_index(), receiver.into_iter().sum()),
    );
    assert_ne!(first, second);
    sum
}
