//! Floors: what the least that such work needs costs on this machine.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::cost;

/// `rmws` read-modify-writes an operation, on a word that no other thread touches.
pub(crate) fn uncontended_rmws(rmws: u32, operations: u64) -> impl FnMut() -> f64 {
    let word = AtomicU64::new(0);
    move || {
        cost(operations, || {
            for _ in 0..operations {
                for _ in 0..rmws {
                    black_box(word.fetch_add(1, Ordering::AcqRel));
                }
            }
        })
    }
}
