//! A slab whose owner leaves it while others have slots of it.

use filch_models::Bound;
use filch_slab::Slab;
use filch_sync::{Arc, thread};

use crate::owned::{bump, owned, told};

/// Threads: main, two others. Main retires a slab of which the others have a slot each, and which
/// they release. One of the three is told that it has the slab, when all others have left it. A
/// failure: two are told, or nobody; or one is told while another still writes.
#[test]
fn the_last_one_has_a_retired_slab() {
    Bound::exhaustive(20_000)
        .outcomes("one is told that it has the slab", || {
            let slab = Arc::new(Slab::new(owned));
            let others = [(); 2].map(|()| slab.allocate().unwrap()).map(|index| {
                let slab = slab.clone();
                thread::spawn(move || {
                    bump(&slab, index);
                    told(&slab, slab.release(index))
                })
            });
            let is_last = told(&slab, slab.retire());
            let others = others.map(|other| other.join().unwrap());
            let told = [is_last, others[0], others[1]];
            assert_eq!(told.iter().filter(|&&told| told).count(), 1, "{told:?}");
            told.iter().position(|&told| told)
        })
        .assert_exactly([Some(0), Some(1), Some(2)]);
}
