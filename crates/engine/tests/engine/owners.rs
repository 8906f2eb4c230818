//! Row D8: owners come and go, and the fate of the users of their data.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{EndsInTime, Logged, drive, engine, here, only, report, until};
use filch_engine::{Completed, Context, Exit, Stage, WaitsFor, Worker};

#[derive(Clone)]
struct Ping;

struct World(u32);

#[test]
fn d8_a_worker_waits_for_an_owner_and_ends_when_that_has_gone() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    let uses = |name: &str| Worker::new(name).on(|_: &Ping, _: &World| {});
    let group = here.add(uses("group").group::<World>()).unwrap();
    let shared = there.add(uses("shared").shared::<World>()).unwrap();
    engine.broadcast(Ping);
    until(|| group.stage() == Stage::BindsGroup && shared.stage() == Stage::BindsShared);
    let owner = here.add(Worker::new("owner").owns(|| World(0))).unwrap();
    // The task that came before the owner is run now.
    let rests = || engine.report().schedulers[1].rests;
    let before = rests();
    assert_eq!(engine.complete(Ping), Completed { ran: 2, dropped: 0 });
    // Nothing but the owner's end wakes the other scheduler.
    until(|| rests() > before);
    owner.remove().unwrap();
    assert_eq!(owner.ends(), Exit::Removed);
    for worker in [group, shared] {
        assert_eq!(
            worker.ends(),
            Exit::OwnerGone(std::any::type_name::<World>())
        );
    }
    // The type has no owner now, and may have a new one.
    here.add(Worker::new("owner").owns(|| World(0))).unwrap();
}

#[test]
fn d8_an_owner_waits_for_its_users_before_it_destroys_data() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    engine.start("beside");
    let owner = here.add(Worker::new("owner").owns(|| World(7))).unwrap();
    let gate = Arc::new(AtomicUsize::new(0));
    let open = Arc::clone(&gate);
    let (log, told) = Logged::pair();
    let user = Worker::new("user").shared::<World>().in_fiber().on(
        move |_: &Ping, context: Context<'_>, world: &World| {
            told.add("has it");
            // It is told to end, and takes its time.
            while open.load(Ordering::Acquire) == 0 {
                let _ = context.give_way();
            }
            told.add(format!("still {}", world.0));
        },
    );
    let user = there.add(user).unwrap();
    engine.broadcast(Ping);
    until(|| log.len() >= 1);
    owner.remove().unwrap();
    until(|| owner.stage() == Stage::DropsOwn);
    let waits = || report(&engine).workers[0].waits_for;
    until(|| waits() == Some(WaitsFor::Users(std::any::type_name::<World>())));
    assert_eq!(owner.exit(), None);
    // The user's unlock will wake its scheduler, which sleeps meanwhile; and so do the others,
    // which it has told only once. The user's own polls, and is the clock.
    let rests = |scheduler: usize| engine.report().schedulers[scheduler].rests;
    let (own, used, beside) = (rests(0), rests(1), rests(2));
    until(|| rests(1) > used + 20);
    let woken = (rests(0) - own, rests(2) - beside);
    assert!(woken.0 <= 2 && woken.1 <= 2, "{woken:?}");
    gate.store(1, Ordering::Release);
    assert_eq!(owner.ends(), Exit::Removed);
    assert_eq!(user.ends(), Exit::OwnerGone(std::any::type_name::<World>()));
    assert_eq!(log.take(), ["has it", "still 7"]);
}

/// Each of two readers lets go only while the other one has the data, so that one always has it.
#[test]
fn d8_an_owner_that_is_to_end_ends_beside_readers_that_always_overlap() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    let owner = here.add(Worker::new("owner").owns(|| World(0))).unwrap();
    let inside = Arc::new(AtomicUsize::new(0));
    let readers = [(), ()].map(|()| {
        let inside = Arc::clone(&inside);
        let reads = Worker::new("reads")
            .shared::<World>()
            .in_fiber()
            .run(move |context| {
                let overlaps = |context: Context<'_>, _: &World| {
                    let own = inside.fetch_add(1, Ordering::Relaxed) + 1;
                    context.wait_until(|| inside.load(Ordering::Relaxed) > own)
                };
                while let Ok(Ok(())) = context.lock(overlaps) {}
            });
        there.add(reads).unwrap()
    });
    until(|| inside.load(Ordering::Relaxed) >= 100);
    owner.remove().unwrap();
    assert_eq!(owner.ends(), Exit::Removed);
    for reader in readers {
        assert_eq!(
            reader.ends(),
            Exit::OwnerGone(std::any::type_name::<World>())
        );
    }
}

#[test]
fn d8_an_owner_gives_way_to_users_of_its_own_scheduler() {
    let (engine, scheduler) = only();
    let owner = Worker::new("owner").owns(|| World(7));
    let owner = scheduler.add(owner).unwrap();
    let (log, told) = Logged::pair();
    let user = Worker::new("user").group::<World>().in_fiber().on(
        move |_: &Ping, context: Context<'_>, world: &mut World| {
            told.add("has it");
            while !context.is_ending() {
                let _ = context.give_way();
            }
            (0..3).for_each(|_| assert!(context.give_way().is_err()));
            told.add(format!("still {}", world.0));
        },
    );
    let user = scheduler.add(user).unwrap();
    engine.broadcast(Ping);
    until(|| log.len() > 0);
    owner.remove().unwrap();
    assert_eq!(owner.ends(), Exit::Removed);
    assert_eq!(user.ends(), Exit::OwnerGone(std::any::type_name::<World>()));
    assert_eq!(log.take(), ["has it", "still 7"]);
}

/// A worker that comes while data waits for its destruction waits for the next owner.
#[test]
fn d8_nobody_is_bound_to_data_that_is_to_be_destroyed() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    let owner = here.add(Worker::new("owner").owns(|| World(1))).unwrap();
    let gate = Arc::new(AtomicUsize::new(0));
    let open = Arc::clone(&gate);
    let holds = Worker::new("holds")
        .shared::<World>()
        .in_fiber()
        .run(move |context| {
            let held = context.lock(|context: Context<'_>, _: &World| {
                open.store(1, Ordering::Relaxed);
                while open.load(Ordering::Relaxed) != 2 {
                    let _ = context.give_way();
                }
            });
            assert_eq!(held, Ok(()));
        });
    there.add(holds).unwrap();
    until(|| gate.load(Ordering::Relaxed) == 1);
    owner.remove().unwrap();
    let waits_for = |scheduler: usize, worker: usize| {
        engine.report().schedulers[scheduler].workers[worker].waits_for
    };
    let name = std::any::type_name::<World>();
    until(|| waits_for(0, 0) == Some(WaitsFor::Users(name)));
    let (log, told) = Logged::pair();
    let late = Worker::new("late")
        .shared::<World>()
        .on(move |_: &Ping, world: &World| told.add(world.0.to_string()));
    let late = there.add(late).unwrap();
    until(|| waits_for(1, 1) == Some(WaitsFor::Owner(name)));
    assert_eq!(late.stage(), Stage::BindsShared);
    gate.store(2, Ordering::Relaxed);
    assert_eq!(owner.ends(), Exit::Removed);
    here.add(Worker::new("next").owns(|| World(2))).unwrap();
    assert_eq!(engine.complete(Ping), Completed { ran: 1, dropped: 0 });
    assert_eq!(log.take(), ["2"]);
}

/// The worker has looked for ended data, and the owner ends before the worker's task runs.
#[test]
fn d8_a_task_that_finds_its_data_destroyed_ends_its_worker() {
    let engine = engine();
    here(&engine, |local| {
        let owner = Worker::new("owner").owns(|| World(1));
        let owner = engine.start("there").add(owner).unwrap();
        let removes = Worker::new("removes").on(move |_: &Ping| {
            owner.remove().unwrap();
            until(|| owner.exit() == Some(Exit::Removed));
        });
        local.handle().add(removes).unwrap();
        let user = Worker::new("user")
            .shared::<World>()
            .on(|_: &Ping, _: &World| unreachable!("it is gone"));
        let user = local.handle().add(user).unwrap();
        drive(local, || user.stage() == Stage::Runs);
        engine.broadcast(Ping);
        local.update();
        assert_eq!(user.stage(), Stage::Gone, "in the same round");
        local.update();
        let gone = Exit::OwnerGone(std::any::type_name::<World>());
        assert_eq!(user.exit(), Some(gone));
    });
}
