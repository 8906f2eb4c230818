//! Rows D7 to D10: waits of a worker. Its scheduler blocks meanwhile. An unlock and an owner wake
//! it; for a condition it looks again by itself.

use std::any::type_name;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Ends, EndsInTime, Logged, report, sleepy_engine, until};
use filch_engine::{Completed, Context, Exit, Scheduler, Stage, WaitsFor, Worker, WorkerHandle};

#[derive(Clone)]
struct Ping;

#[derive(Clone)]
struct Pong;

struct World(u32);

/// Checks that the only worker of the first scheduler waits for that, and is asked again and again.
#[track_caller]
fn is_asked_again(engine: &Ends, what: &str) {
    until(|| report(engine).workers[0].to_string().ends_with(what));
    let before = report(engine).rests;
    until(|| report(engine).rests > before + 1);
}

/// Checks that the only worker of the first scheduler waits for that, and that its scheduler sleeps
/// until it is woken. Another one polls meanwhile, and so counts milliseconds.
#[track_caller]
fn sleeps(engine: &Ends, what: &str) {
    until(|| report(engine).workers[0].to_string().ends_with(what));
    let polls = Worker::new("polls").in_fiber();
    let polls = polls.run(|context| while context.give_way().is_ok() {});
    engine.start("clock").add(polls).unwrap();
    let rests = |scheduler: usize| engine.report().schedulers[scheduler].rests;
    let clock = engine.report().schedulers.len() - 1;
    until(|| rests(clock) > 2);
    let (slept, ticks) = (rests(0), rests(clock));
    until(|| rests(clock) > ticks + 20);
    let woken = rests(0) - slept;
    assert!(woken <= 1, "woken {woken} times");
}

/// Adds a worker of another scheduler that keeps the world locked until the gate opens.
fn add_owner(scheduler: &Scheduler) -> Arc<AtomicUsize> {
    let gate = Arc::new(AtomicUsize::new(0));
    let open = Arc::clone(&gate);
    let owner = Worker::new("owner")
        .owns(|| World(1))
        .in_fiber()
        .run(move |context| {
            let held = context.lock(|context: Context<'_>, world: &mut World| {
                open.store(1, Ordering::Relaxed);
                context
                    .wait_until(|| open.load(Ordering::Relaxed) == 2)
                    .unwrap();
                world.0 = 2;
            });
            assert_eq!(held, Ok(()));
            let _ = context.wait_until(|| false);
        });
    scheduler.add(owner).unwrap();
    until(|| gate.load(Ordering::Relaxed) == 1);
    gate
}

/// Adds the worker to a scheduler, beside another one whose owner keeps the world locked until the
/// gate opens.
fn beside_a_locked_world(reads: Worker) -> (Ends, WorkerHandle, Arc<AtomicUsize>) {
    let engine = sleepy_engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    let gate = add_owner(&there);
    let reads = here.add(reads).unwrap();
    (engine, reads, gate)
}

fn waits_to_lock() -> String {
    format!("waits to lock &{}", type_name::<World>())
}

#[test]
fn d10_a_condition_is_asked_again() {
    let engine = sleepy_engine();
    let gate = Arc::new(AtomicUsize::new(0));
    let open = Arc::clone(&gate);
    let waits = Worker::new("waits").in_fiber().run(move |context| {
        let waited = context.wait_until(|| open.load(Ordering::Relaxed) == 1);
        assert_eq!(waited, Ok(()));
    });
    let waits = engine.start("waits").add(waits).unwrap();
    is_asked_again(&engine, "waits for a condition");
    gate.store(1, Ordering::Relaxed);
    assert_eq!(waits.ends(), Exit::Finished);
}

#[test]
fn d9_a_task_that_waits_for_a_lock_is_woken() {
    let reads = Worker::new("reads")
        .shared::<World>()
        .on(|_: &Ping, world: &World| assert_eq!(world.0, 2));
    let (engine, _, gate) = beside_a_locked_world(reads);
    engine.broadcast(Ping);
    sleeps(&engine, &waits_to_lock());
    let worker = &report(&engine).workers[0];
    assert!(worker.gave_way > 1 && worker.queued == 1, "{worker}");
    gate.store(2, Ordering::Relaxed);
    assert_eq!(engine.complete(Ping), Completed { ran: 1, dropped: 0 });
    let worker = &report(&engine).workers[0];
    assert_eq!((worker.ran, worker.queued, worker.waits_for), (2, 0, None));
}

#[test]
fn d7_a_setup_that_waits_for_a_lock_is_woken() {
    let reads = Worker::new("reads")
        .shared::<World>()
        .setup(|world: &World| assert_eq!(world.0, 2))
        .on(|_: &Ping| {});
    let (engine, _, gate) = beside_a_locked_world(reads);
    sleeps(&engine, &waits_to_lock());
    gate.store(2, Ordering::Relaxed);
    assert_eq!(engine.complete(Ping), Completed { ran: 1, dropped: 0 });
}

#[test]
fn d9_a_run_that_waits_for_a_lock_is_woken() {
    let reads = Worker::new("reads")
        .shared::<World>()
        .in_fiber()
        .run(|context| assert_eq!(context.lock(|world: &World| world.0), Ok(2)));
    let (engine, reads, gate) = beside_a_locked_world(reads);
    sleeps(&engine, &waits_to_lock());
    gate.store(2, Ordering::Relaxed);
    assert_eq!(reads.ends(), Exit::Finished);
}

#[test]
fn d8_a_worker_that_waits_for_an_owner_is_woken() {
    let engine = sleepy_engine();
    let (here, there) = (engine.start("here"), engine.start("there"));
    let reads = Worker::new("reads")
        .shared::<World>()
        .on(|_: &Ping, world: &World| assert_eq!(world.0, 2));
    here.add(reads).unwrap();
    let owner = WaitsFor::Owner(type_name::<World>());
    sleeps(&engine, "waits for an owner of engine::waits::World");
    assert_eq!(report(&engine).workers[0].waits_for, Some(owner));
    add_owner(&there).store(2, Ordering::Relaxed);
    until(|| report(&engine).workers[0].stage == Stage::Runs);
    assert_eq!(report(&engine).workers[0].waits_for, None);
    assert_eq!(engine.complete(Ping), Completed { ran: 1, dropped: 0 });
}

/// The panic comes in a round without other work, and nothing wakes the scheduler for the worker's
/// end.
#[test]
fn d7_a_worker_that_panics_in_a_task_that_has_waited_ends() {
    let reads = Worker::new("reads")
        .shared::<World>()
        .on(|_: &Ping, world: &World| assert_eq!(world.0, 1));
    let (engine, reads, gate) = beside_a_locked_world(reads);
    engine.broadcast(Ping);
    sleeps(&engine, &waits_to_lock());
    gate.store(2, Ordering::Relaxed);
    assert!(matches!(reads.ends(), Exit::Panicked { .. }));
}

#[test]
fn d9_a_task_does_not_overtake_one_that_waits_for_a_lock() {
    let log = Logged::new();
    let (first, second) = (log.clone(), log.clone());
    let reads = Worker::new("reads")
        .shared::<World>()
        .on(move |_: &Ping, _: &World| first.add("waits"))
        .on(move |_: &Pong| second.add("takes nothing"));
    let (engine, _, gate) = beside_a_locked_world(reads);
    engine.broadcast(Ping);
    engine.broadcast(Pong);
    sleeps(&engine, &waits_to_lock());
    assert_eq!(log.len(), 0);
    gate.store(2, Ordering::Relaxed);
    assert_eq!(engine.complete(Pong), Completed { ran: 1, dropped: 0 });
    assert_eq!(log.take(), ["waits", "takes nothing", "takes nothing"]);
}
