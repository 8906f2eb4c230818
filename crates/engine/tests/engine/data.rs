//! Rows D8 and D9: the owners of data, and its locks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{EndsInTime, Logged, alone, drive, engine, holds, only};
use filch_engine::{Completed, Context, Exit, LockDataError, Worker};

#[derive(Clone)]
struct Ping(u32);

#[derive(Clone)]
struct Pong;

struct World(u32);
struct Input(u32);
struct Sound(u32);

#[test]
fn d8_group_data_is_changed_by_workers_of_its_scheduler_and_read_by_others() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    here.add(Worker::new("owner").owns(|| World(0))).unwrap();
    let adds = Worker::new("adds")
        .group::<World>()
        .on(|ping: &Ping, world: &mut World| world.0 += ping.0);
    here.add(adds).unwrap();
    let (log, told) = Logged::pair();
    let reads = Worker::new("reads")
        .shared::<World>()
        .on(move |_: &Pong, world: &World| told.add(world.0.to_string()));
    there.add(reads).unwrap();
    (1..=3).for_each(|number| {
        engine.complete(Ping(number));
    });
    engine.complete(Pong);
    assert_eq!(log.take(), ["6"]);
}

#[test]
fn d8_local_data_need_not_be_send_and_is_each_workers_own() {
    use std::cell::Cell;
    use std::rc::Rc;

    let (engine, scheduler) = only();
    let log = Logged::new();
    for first in [10_u32, 20] {
        let log = log.clone();
        let worker = Worker::new("counts")
            .local(move || Rc::new(Cell::new(first)))
            .on(move |ping: &Ping, count: &Rc<Cell<u32>>| {
                count.set(count.get() + ping.0);
                log.add(count.get().to_string());
            });
        scheduler.add(worker).unwrap();
    }
    engine.complete(Ping(1));
    engine.complete(Ping(1));
    assert_eq!(log.take(), ["11", "21", "12", "22"]);
}

#[test]
fn d8_group_data_of_another_scheduler_is_an_error() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    here.add(Worker::new("owner").owns(|| World(0))).unwrap();
    let lost = there.add(Worker::new("lost").group::<World>()).unwrap();
    assert_eq!(
        lost.ends(),
        Exit::NotInGroup(std::any::type_name::<World>())
    );
}

/// A task takes three pieces of data, one of which somebody else holds: it locks none of them
/// meanwhile, and others get the two.
#[test]
fn d9_a_task_locks_all_of_its_data_or_none() {
    alone(|engine, local| {
        let here = local.handle();
        let log = Logged::new();
        let gate = Arc::new(AtomicUsize::new(0));
        let owner = Worker::new("owner")
            .owns(|| World(0))
            .owns(|| Input(0))
            .owns(|| Sound(0));
        here.add(owner).unwrap();
        let open = Arc::clone(&gate);
        let holds = Worker::new("holds")
            .group::<Input>()
            .in_fiber()
            .run(move |context| {
                let held = context.lock(|context: Context<'_>, _: &mut Input| {
                    context.wait_until(|| open.load(Ordering::Relaxed) == 1)
                });
                assert_eq!(held, Ok(Ok(())));
            });
        here.add(holds).unwrap();
        let told = log.clone();
        let wants = Worker::new("wants")
            .group::<World>()
            .group::<Input>()
            .group::<Sound>()
            .on(
                move |_: &Ping, world: &mut World, input: &Input, sound: &mut Sound| {
                    told.add(format!("all {} {} {}", world.0, input.0, sound.0));
                },
            );
        let wants = here.add(wants).unwrap();
        let told = log.clone();
        let others = Worker::new("others").group::<World>().group::<Sound>().on(
            move |_: &Pong, world: &mut World, sound: &mut Sound| {
                (world.0, sound.0) = (world.0 + 1, sound.0 + 1);
                told.add("two");
            },
        );
        here.add(others).unwrap();
        engine.broadcast(Ping(0));
        for _ in 0..3 {
            local.update();
        }
        let report = engine.report();
        let lines = report.to_string();
        let input = std::any::type_name::<Input>();
        assert!(
            lines.contains(&format!("waits to lock &{input}")),
            "{lines}"
        );
        engine.broadcast(Pong);
        local.update();
        assert_eq!(log.take(), ["two"], "neither lock of the first was left");
        gate.store(1, Ordering::Relaxed);
        drive(local, || log.len() >= 1);
        assert_eq!(log.take(), ["all 1 0 1"]);
        let lines = engine.report().to_string();
        assert!(!lines.contains("waits to lock"), "{lines}");
        assert_eq!(wants.exit(), None);
    });
}

#[test]
fn d9_readers_share_and_a_writer_excludes() {
    let engine = engine();
    let schedulers = ["a", "b", "c"].map(|name| engine.start(name));
    schedulers[0]
        .add(Worker::new("owner").owns(|| World(0)))
        .unwrap();
    let inside = Arc::new(AtomicUsize::new(0));
    let both = Arc::new(AtomicUsize::new(0));
    // Two readers, of different schedulers, wait for each other with the data locked.
    for scheduler in &schedulers[1..] {
        let (inside, both) = (Arc::clone(&inside), Arc::clone(&both));
        let reads = Worker::new("reads").shared::<World>().on(
            move |_: &Ping, context: Context<'_>, _: &World| {
                inside.fetch_add(1, Ordering::Relaxed);
                context
                    .wait_until(|| inside.load(Ordering::Relaxed) == 2)
                    .unwrap();
                both.fetch_add(1, Ordering::Relaxed);
            },
        );
        scheduler.add(reads).unwrap();
    }
    assert_eq!(engine.complete(Ping(0)), Completed { ran: 2, dropped: 0 });
    assert_eq!(both.load(Ordering::Relaxed), 2);
}

#[test]
fn d9_two_workers_that_take_the_same_data_the_other_way_round_never_wait_for_ever() {
    const ROUNDS: u32 = 2_000;
    let (engine, scheduler) = only();
    let owner = Worker::new("owner").owns(|| World(0)).owns(|| Input(0));
    scheduler.add(owner).unwrap();
    // Of one scheduler and in fibers, as only they may change group data; they give way inside.
    let first = Worker::new("first")
        .in_fiber()
        .group::<World>()
        .group::<Input>()
        .on(
            |ping: &Ping, context: Context<'_>, world: &mut World, input: &mut Input| {
                let _ = context.give_way();
                (world.0, input.0) = (world.0 + ping.0, input.0 + ping.0);
            },
        );
    let second = Worker::new("second")
        .in_fiber()
        .group::<Input>()
        .group::<World>()
        .on(
            |ping: &Ping, context: Context<'_>, input: &mut Input, world: &mut World| {
                assert_eq!(world.0, input.0);
                let _ = context.give_way();
                (world.0, input.0) = (world.0 + ping.0, input.0 + ping.0);
            },
        );
    let (log, told) = Logged::pair();
    let reads = Worker::new("reads").shared::<Input>().shared::<World>().on(
        move |_: &Pong, input: &Input, world: &World| {
            assert_eq!(world.0, input.0);
            told.add(world.0.to_string());
        },
    );
    scheduler.add(first).unwrap();
    scheduler.add(second).unwrap();
    engine.start("other").add(reads).unwrap();
    for _ in 1..ROUNDS {
        engine.broadcast(Ping(1));
        engine.broadcast(Pong);
    }
    assert_eq!(engine.complete(Ping(1)), Completed { ran: 2, dropped: 0 });
    engine.complete(Pong);
    assert_eq!(log.take().last(), Some(&(2 * ROUNDS).to_string()));
}

#[test]
fn d11_a_run_locks_data_for_a_closure() {
    let (_engine, scheduler) = only();
    let (log, told) = Logged::pair();
    let worker = Worker::new("runs")
        .owns(|| World(1))
        .local(|| Input(2))
        .in_fiber()
        .run(move |context| {
            for _ in 0..2 {
                let sum = context.lock(|world: &mut World, input: &Input| {
                    world.0 += input.0;
                    world.0
                });
                told.add(format!("{sum:?}"));
            }
            let unlisted = context.lock(|_: &Sound| ()).unwrap_err();
            assert!(matches!(unlisted, LockDataError::Unlisted(_)), "{unlisted}");
            let twice = context.lock(|_: &mut World, _: &World| ()).unwrap_err();
            assert!(matches!(twice, LockDataError::Conflict(_)), "{twice}");
        });
    assert_eq!(scheduler.add(worker).unwrap().ends(), Exit::Finished);
    assert_eq!(log.take(), ["Ok(3)", "Ok(5)"]);
}

#[test]
fn d8_shared_data_cannot_be_locked_to_be_changed() {
    let engine = engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    here.add(Worker::new("owner").owns(|| World(0))).unwrap();
    let (log, told) = Logged::pair();
    let user = Worker::new("user")
        .shared::<World>()
        .in_fiber()
        .run(move |context| {
            let refused = context.lock(|world: &mut World| world.0 += 1).unwrap_err();
            told.add(refused.to_string().replace("engine::data::", ""));
        });
    assert_eq!(there.add(user).unwrap().ends(), Exit::Finished);
    assert_eq!(log.take(), ["&mut World is shared: it may only be read"]);
}

/// A task that waits for data keeps its place among its functions.
#[test]
fn d9_a_function_that_has_run_is_not_run_again_when_the_next_one_waits() {
    alone(|engine, local| {
        let gate = Arc::new(AtomicUsize::new(0));
        local.handle().add(holds(World(0), &gate)).unwrap();
        let log = Logged::new();
        let (first, second) = (log.clone(), log.clone());
        let both = Worker::new("both")
            .group::<World>()
            .on(move |_: &Ping| first.add("first"))
            .on(move |_: &Ping, _: &World| second.add("second"));
        local.handle().add(both).unwrap();
        engine.broadcast(Ping(0));
        (0..5).for_each(|_| assert!(local.update()));
        gate.store(1, Ordering::Relaxed);
        (0..5).for_each(|_| assert!(local.update()));
        assert_eq!(log.take(), ["first", "second"]);
    });
}
