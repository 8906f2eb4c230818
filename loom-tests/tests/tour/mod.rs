//! The deque in eight stages, as `docs/tour/deque.md` walks through them. Each stage is a model
//! that holds, or one that the checker must refute, and so is the answer to each exercise.

mod chase_lev;
mod epochs;
mod locked;
mod private;

/// Panics unless the items `0..count` are in `takes`, each once.
fn assert_each_once(count: u32, takes: impl IntoIterator<Item = u32>) {
    let mut takers = vec![0; count as usize];
    for item in takes {
        takers[item as usize] += 1;
    }
    assert!(takers.iter().all(|&n| n <= 1), "an item handed out twice");
    assert!(takers.iter().all(|&n| n == 1), "an item lost");
}
