//! Sets of three data cells that nobody else wants.

use std::hint::black_box;
use std::sync::Arc;

use filch_data_cell::{Access, DataCell, LockSet};

use crate::Operation;

const TIMES: u64 = 1024;

/// A set of three.
fn three(access: Access) -> LockSet {
    let cells = [0_u64; 3].map(|value| (Arc::new(DataCell::new(value)) as _, access));
    LockSet::new(cells).expect("three cells")
}

fn lock_and_unlock(set: &LockSet) {
    for _ in 0..TIMES {
        drop(black_box(set.try_lock()).expect("free"));
    }
}

/// Three are locked for writing, and unlocked.
#[derive(Debug)]
pub struct Write(LockSet);

impl Operation for Write {
    const NAME: &'static str = "data cell: lock three for writing";
    const TIMES: u64 = TIMES;

    fn new() -> Self {
        Self(three(Access::Write))
    }

    fn run(&mut self) {
        lock_and_unlock(&self.0);
    }
}

/// Three are locked for reading, and unlocked.
#[derive(Debug)]
pub struct Read(LockSet);

impl Operation for Read {
    const NAME: &'static str = "data cell: lock three for reading";
    const TIMES: u64 = TIMES;

    fn new() -> Self {
        Self(three(Access::Read))
    }

    fn run(&mut self) {
        lock_and_unlock(&self.0);
    }
}
