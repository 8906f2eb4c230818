//! Items that are pipelines: two halves, with a bounded channel between them.

use std::sync::mpsc::sync_channel;

use rayon::join;
use rayon::prelude::*;

use crate::{ROUNDS, join_alone, on_3_8_and_12_threads, pool_of};

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
        let sums: Vec<_> = pool.install(|| items.map(|_| pipeline()).collect());
        assert!(sums.iter().all(|&sum| sum == MESSAGES * (MESSAGES - 1) / 2));
    }
}

fn pipeline() -> u64 {
    let (sender, receiver) = sync_channel(BOUND);
    join_alone();
    let ((), sum) = join(
        move || (0..MESSAGES).for_each(|message| sender.send(message).unwrap()),
        move || receiver.into_iter().sum(),
    );
    sum
}
