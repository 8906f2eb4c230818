//! Data that its owner destroys, on another thread.

use filch_engine::{Engine, Exit, LocalScheduler, Stage, Worker};
use filch_models::Bound;
use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};

use super::{Other, drive_until};

/// Two threads, each with a scheduler: in one a worker owns data, and is removed; in the other a
/// worker uses the data, and has nothing else to do. The end of the data ends it, though no task
/// tells it. Failure: it stays for ever, and its thread spins.
#[test]
fn an_idle_user_ends_with_its_owner() {
    Bound::exhaustive(1_300).check("an owner's end races its user", || {
        let engine = Engine::new();
        let drive_own = |own: &LocalScheduler| {
            let owner = own.handle().add(Worker::new("owner").owns(|| 7_u32));
            let owner = owner.expect("it fits");
            drive_until(own, || owner.stage() == Stage::Runs);
            // Before that, it would wait for another owner.
            let is_bound = Arc::new(AtomicBool::new(false));
            let user = Other::spawn({
                let (engine, tells) = (engine.clone(), Arc::clone(&is_bound));
                let drive = move |other: &LocalScheduler| {
                    let user = Worker::new("user").shared::<u32>();
                    let user = other.handle().add(user).expect("it fits");
                    drive_until(other, || user.stage() == Stage::Runs);
                    tells.store(true, Ordering::Relaxed);
                    drive_until(other, || user.exit().is_some());
                    user.exit().expect("it has ended")
                };
                move || engine.local_scheduler("other", drive).expect("the second")
            });
            drive_until(own, || is_bound.load(Ordering::Relaxed));
            owner.remove().expect("the first time");
            drive_until(own, || owner.exit().is_some() && user.is_over());
            assert_eq!(user.join(), Exit::OwnerGone("u32"));
        };
        engine.local_scheduler("own", drive_own).expect("the first");
    });
}
