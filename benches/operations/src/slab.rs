//! The slab: a slot taken and given back, and a pin on its occupant.

use std::hint::black_box;

use filch_slab::{Occupancy, Slab, Unpinned};

use crate::Operation;

/// `allocate` and `release` of a slot that was used before.
#[derive(Debug)]
pub struct AllocateRelease(Slab<u64>);

impl Operation for AllocateRelease {
    const NAME: &'static str = "slab: allocate and release";
    const TIMES: u64 = 1024;

    fn new() -> Self {
        Self(Slab::new(u64::from))
    }

    fn run(&mut self) {
        for _ in 0..Self::TIMES {
            let slot = self.0.allocate().expect("slots are left");
            self.0.release(black_box(slot));
        }
    }
}

/// `pin` and `unpin` of the current occupant.
#[derive(Debug)]
pub struct PinUnpin {
    occupancy: Occupancy,
    generation: u32,
}

impl Operation for PinUnpin {
    const NAME: &'static str = "slab: pin and unpin";
    const TIMES: u64 = 1024;

    fn new() -> Self {
        let occupancy = Occupancy::new();
        Self {
            generation: occupancy.occupy(1),
            occupancy,
        }
    }

    fn run(&mut self) {
        for _ in 0..Self::TIMES {
            assert!(self.occupancy.pin(black_box(self.generation)).is_ok());
            assert_ne!(black_box(self.occupancy.unpin()), Unpinned::Last);
        }
    }
}
