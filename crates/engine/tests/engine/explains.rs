//! An engine explains itself: who has ended and why, who holds what another one waits for, what was
//! refused. And what is in it comes out again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::common::{EndsInTime, alone, drive, engine, holds, only, report, until, within};
use filch_engine::{
    Completed, Context, Engine, Exit, LockDataError, SendError, Stage, WaitsFor, Worker,
};

#[derive(Clone, Debug, PartialEq)]
struct Ping(u32);

#[derive(Clone)]
struct Pong;

#[derive(Debug, PartialEq)]
struct World(u32);

#[test]
fn a_worker_that_ends_by_itself_stays_in_the_report() {
    let (engine, scheduler) = only();
    for number in 0..20 {
        let worker = Worker::new(format!("worker {number}")).in_fiber();
        let worker = worker.run(move |_| assert_ne!(number, 18, "wanted by the test"));
        scheduler.add(worker).unwrap().ends();
    }
    let shown = report(&engine);
    assert_eq!((shown.ended, shown.workers.len()), (20, 0));
    let ended = shown.last_ended.iter();
    let ended: Vec<_> = ended.map(|worker| (&*worker.name, worker.stage)).collect();
    let expected: Vec<_> = (4..20).map(|number| format!("worker {number}")).collect();
    let expected: Vec<_> = expected.iter().map(|name| (&**name, Stage::Gone)).collect();
    assert_eq!(ended, expected, "the last of them");
    assert_eq!(shown.last_ended[15].exit, Some(Exit::Finished));
    let said = engine.report().to_string();
    assert!(said.contains("worker 19: Gone"), "{said}");
    assert!(said.contains("it panicked in run"), "{said}");
    assert!(said.contains("20 workers have ended"), "{said}");
}

#[test]
fn a_report_says_who_holds_what_another_one_waits_for() {
    let engine = engine();
    let gate = Arc::new(AtomicUsize::new(0));
    engine.start("there").add(holds(World(1), &gate)).unwrap();
    until(|| !report(&engine).workers[0].holds.is_empty());
    let reads = Worker::new("reads").shared::<World>();
    let reads = reads.on(|_: &Ping, _: &World| {});
    engine.start("here").add(reads).unwrap();
    engine.broadcast(Ping(1));
    until(|| {
        let said = engine.report().to_string();
        said.contains("World, held by holds\n") && said.contains("holds &mut ")
    });
    let shown = engine.report();
    let reads = &shown.schedulers[1].workers[0];
    let Some(WaitsFor::Lock(wanted)) = reads.waits_for else {
        panic!("{reads:?}");
    };
    let holders: Vec<_> = shown.holders(&wanted).map(|worker| &*worker.name).collect();
    assert_eq!(holders, ["holds"]);
    gate.store(1, Ordering::Relaxed);
    assert_eq!(engine.complete(Ping(2)), Completed { ran: 1, dropped: 0 });
    assert!(!engine.report().to_string().contains("held by"));
    assert!(engine.report().schedulers[0].workers[0].holds.is_empty());
}

#[test]
fn a_report_shows_what_each_function_on_a_stack_holds() {
    let (engine, scheduler) = only();
    let looks = Engine::clone(&engine);
    let (tells, hears) = channel();
    let worker = Worker::new("nests").owns(|| World(1)).owns(|| 7_u8);
    let worker = worker
        .on(|_: &Ping, _: &World, context: Context<'_>| context.run_task(Pong).unwrap())
        .on(move |_: &Pong, _: &mut u8, _: &World| {
            let held = &report(&looks).workers[0].holds;
            let held: Vec<_> = held.iter().map(ToString::to_string).collect();
            tells.send(held).unwrap();
        });
    scheduler.add(worker).unwrap();
    engine.broadcast(Ping(1));
    let held = within("the task", move || hears.recv().unwrap());
    let world = std::any::type_name::<World>();
    assert_eq!(
        held,
        [
            format!("&{world}"),
            "&mut u8".to_owned(),
            format!("&{world}")
        ]
    );
    until(|| report(&engine).workers[0].holds.is_empty());
}

/// The worker is in a fiber, and runs its first task meanwhile, which does not count.
#[test]
fn a_worker_with_room_for_two_refuses_the_third() {
    alone(|engine, local| {
        let gate = Arc::new(AtomicUsize::new(0));
        let open = Arc::clone(&gate);
        let waits = Worker::new("waits").room(2).in_fiber();
        let waits = waits.on(move |_: &Ping, context: Context<'_>| {
            let is_open = || open.load(Ordering::Relaxed) == 1;
            context.wait_until(is_open).unwrap();
        });
        let waits = local.handle().add(waits).unwrap();
        engine.broadcast(Ping(0));
        drive(local, || waits.stage() == Stage::Runs);
        local.poll();
        let worker = || report(engine).workers.remove(0);
        assert_eq!((worker().queued, worker().refused), (0, 0));
        waits.send(Ping(1)).unwrap();
        engine.broadcast(Ping(2));
        engine.broadcast(Ping(3));
        local.poll();
        assert_eq!((worker().queued, worker().refused), (2, 1));
        assert_eq!(waits.send(Ping(4)), Err(SendError::Full(Ping(4))));
        let completes = std::thread::spawn({
            let engine = engine.clone();
            move || engine.complete(Ping(5)).unwrap()
        });
        drive(local, || completes.is_finished());
        let told = completes.join().unwrap();
        assert_eq!(told, Completed { ran: 0, dropped: 1 });
        gate.store(1, Ordering::Relaxed);
        drive(local, || worker().ran == 3);
        assert_eq!((worker().queued, worker().refused), (0, 2));
        waits.send(Ping(6)).unwrap();
    });
}

/// The second worker's task panics, so its data comes out as that has left it.
#[test]
fn data_comes_out_of_an_engine_that_has_ended() {
    let (engine, scheduler) = only();
    let (tells, hears) = channel();
    let other = tells.clone();
    let keeps = Worker::new("keeps")
        .owns_until(|| World(1), move |world| tells.send(world.0).unwrap())
        .on(|_: &Ping, world: &mut World| world.0 += 1);
    scheduler.add(keeps).unwrap();
    let panics = Worker::new("panics")
        .owns_until(|| 7_u8, move |byte| other.send(byte.into()).unwrap())
        .on(|_: &Pong, byte: &mut u8| {
            *byte = 9;
            panic!("wanted by the test");
        });
    let panics = scheduler.add(panics).unwrap();
    engine.complete(Ping(0));
    engine.broadcast(Pong);
    assert!(matches!(panics.ends(), Exit::Panicked { .. }));
    assert_eq!(hears.try_recv(), Ok(9));
    assert!(hears.try_recv().is_err(), "the other one lives");
    engine.terminate();
    let ended = Engine::clone(&engine);
    within("its end", move || ended.join().unwrap());
    assert_eq!(hears.try_recv(), Ok(2));
}

/// A member of the group leaves the data half changed; the owner looks at it, and goes on.
#[test]
fn an_owner_clears_poison_and_goes_on() {
    let (engine, scheduler) = only();
    let owner = Worker::new("owner").owns(|| World(1)).local(|| 1_u8);
    let owner = owner.on(|_: &Pong, context: Context<'_>| {
        assert_eq!(context.clear_poison::<World>(), Ok(true));
        assert_eq!(context.clear_poison::<World>(), Ok(false));
        assert_eq!(context.clear_poison::<u8>(), Ok(false), "never poisoned");
        let unlisted = context.clear_poison::<u16>();
        assert!(matches!(unlisted, Err(LockDataError::Unlisted(_))));
        context.lock(|world: &mut World| world.0 = 2).unwrap();
    });
    scheduler.add(owner).unwrap();
    let panics = Worker::new("panics").group::<World>();
    let panics = panics.on(|_: &Ping, world: &mut World| {
        world.0 = 9;
        panic!("wanted by the test");
    });
    let panics = scheduler.add(panics).unwrap();
    engine.broadcast(Ping(1));
    assert!(matches!(panics.ends(), Exit::Panicked { .. }));
    assert_eq!(engine.complete(Pong), Completed { ran: 1, dropped: 0 });
    let reads = Worker::new("reads").shared::<World>();
    let reads = reads.on(|_: &Ping, world: &World, context: Context<'_>| {
        assert_eq!(world, &World(2));
        let refused = context.clear_poison::<World>();
        assert!(matches!(refused, Err(LockDataError::ReadOnly(_))));
    });
    engine.start("elsewhere").add(reads).unwrap();
    assert_eq!(engine.complete(Ping(2)), Completed { ran: 1, dropped: 0 });
}
