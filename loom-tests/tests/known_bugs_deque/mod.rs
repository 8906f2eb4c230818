//! Bugs of deques like ours, in small copies, and that the checker sees them.
//!
//! First the textbook deque with a thief that claims half by one compare-and-swap; then our
//! protocol with one step left out or out of place: claims against pops and rings, and the handing
//! to and fro between a deque's owner and all; and what threads that sleep are told. Each of the
//! eight steps is broken at least once. Each scenario also passes without the bug, so it is not the
//! model that is at fault.

mod biased_miniature;
mod robbing;
mod sleeping;
mod telling;

/// Added to the word that thieves compare, it starts the next epoch; below it is the index.
const TAG: u64 = 1 << 32;

/// Panics unless the items `0..count` are in `takes`, each once.
fn assert_each_once(count: u32, takes: impl IntoIterator<Item = u32>) {
    let mut takers = vec![0; count as usize];
    for item in takes {
        takers[item as usize] += 1;
    }
    assert!(takers.iter().all(|&n| n <= 1), "an item handed out twice");
    assert!(takers.iter().all(|&n| n == 1), "an item lost");
}
