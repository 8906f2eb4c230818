//! A burst: threads outside that carry out their scripts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use filch_scheduler::Handle;

use crate::account::{complain, progress};
use crate::cast::{Doer, Soak, World};
use crate::plan::{Burst, Deed};

/// Carries out the scripts, and `meanwhile` on this thread. Returns when all are done.
pub(crate) fn carry_out<R>(
    world: &Arc<World>,
    handle: &Handle<Soak>,
    burst: &Burst,
    meanwhile: impl FnOnce() -> R,
) -> R {
    thread::scope(|scope| {
        for script in &burst.scripts {
            scope.spawn(|| follow(world, handle, script));
        }
        meanwhile()
    })
}

fn follow(world: &Arc<World>, handle: &Handle<Soak>, script: &[Deed]) {
    let mut pen = world.pen();
    for deed in script {
        let mut doer = Doer {
            world,
            handle,
            pen: &mut pen,
        };
        // The scheduler must contain planned panics.
        if catch_unwind(AssertUnwindSafe(|| doer.perform(*deed))).is_err() {
            complain(format!("a panic came out of the scheduler, of {deed:?}"));
        }
        progress();
    }
}
