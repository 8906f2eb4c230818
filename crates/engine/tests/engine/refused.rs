//! Refusals, and the consequences of panics.

use std::any::type_name;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{EndsInTime, Logged, drive, engine, here, only, within};
use filch_engine::{Completed, Context, Engine, Exit, NestedError, StartError, Unfit, Worker};

#[derive(Clone)]
struct Ping;

#[derive(Clone)]
struct Pong;

#[derive(Clone)]
struct Look;

struct World(u32);
struct Input(u32);
struct Sound(u32);

fn refused(worker: Worker) -> String {
    let engine = engine();
    let error = engine.start("only").add(worker).unwrap_err();
    error.to_string().replace("engine::refused::", "")
}

#[test]
fn what_a_worker_lists_must_fit_what_its_functions_take() {
    let worker = || Worker::new("worker");
    let owner = || worker().owns(|| World(0));
    let cases = [
        (owner().group::<World>(), "it lists World twice"),
        (
            worker().on(|_: &Ping, _: &World| {}),
            "Ping takes &World, which the worker does not list",
        ),
        (
            owner().on(|_: &Ping, _: &World, _: &mut World| {}),
            "Ping takes &World and &mut World at once",
        ),
        (
            worker().shared::<World>().on(|_: &Ping, _: &mut World| {}),
            "Ping takes &mut World, which is shared: it may only be read",
        ),
        (
            worker().group::<World>().setup_owner(|_: &World| {}),
            "`setup_owner` takes &World, which the worker does not own",
        ),
        (
            worker().setup(|_: &World| {}),
            "setup takes &World, which the worker does not list",
        ),
    ];
    for (worker, reason) in cases {
        assert_eq!(refused(worker), format!("worker: {reason}"));
    }
}

#[test]
fn a_refused_worker_can_be_added_elsewhere() {
    let engine = engine();
    let (first, second) = (engine.start("first"), engine.start("second"));
    let owner = || Worker::new("owner").owns(|| World(0));
    let one = first.add(owner()).unwrap();
    let error = second.add(owner()).unwrap_err();
    assert_eq!(error.reason, Unfit::Owned(type_name::<World>()));
    one.remove().unwrap();
    one.ends();
    second.add(error.worker).unwrap();
}

/// A failure: each of them waits for the others for ever.
#[test]
fn workers_that_would_follow_each_other_are_refused() {
    let (_engine, scheduler) = only();
    let circle = |of: &str, after: &str| {
        let error = scheduler.add(Worker::new(of).after(after)).unwrap_err();
        assert_eq!(error.reason, Unfit::Circle(after.into()));
    };
    circle("a", "a");
    scheduler.add(Worker::new("b").after("a")).unwrap();
    let last = scheduler.add(Worker::new("c").after("b")).unwrap();
    circle("a", "b");
    circle("a", "c");
    last.remove().unwrap();
    last.ends();
    scheduler.add(Worker::new("a").after("c")).unwrap();
}

#[test]
fn an_engine_has_so_many_schedulers_and_no_more() {
    let engine = engine();
    let schedulers: Vec<_> = (0..Engine::MAX_SCHEDULERS)
        .map(|number| engine.start(&number.to_string()))
        .collect();
    assert!(matches!(
        engine.scheduler("one more"),
        Err(StartError::TooMany)
    ));
    // The last one is reached like the first.
    let counts = Arc::new(AtomicUsize::new(0));
    for scheduler in &schedulers {
        let counts = Arc::clone(&counts);
        let worker = Worker::new("counts").on(move |_: &Ping| {
            counts.fetch_add(1, Ordering::Relaxed);
        });
        scheduler.add(worker).unwrap();
    }
    let ran = engine.complete(Ping).ran;
    assert_eq!(ran, Engine::MAX_SCHEDULERS);
    assert_eq!(counts.load(Ordering::Relaxed), Engine::MAX_SCHEDULERS);
}

#[test]
fn a_task_that_panics_with_three_data_ends_its_worker_and_poisons_what_it_changed() {
    let (engine, scheduler) = only();
    let owner = Worker::new("owner")
        .owns(|| World(0))
        .owns(|| Input(0))
        .owns(|| Sound(0))
        .on(|_: &Pong, _: &World| {});
    let owner = scheduler.add(owner).unwrap();
    let panics = Worker::new("panics")
        .group::<World>()
        .group::<Input>()
        .group::<Sound>()
        .on(
            |_: &Ping, world: &mut World, _: &Input, sound: &mut Sound| {
                (world.0, sound.0) = (1, 1);
                panic!("half way");
            },
        );
    let panics = scheduler.add(panics).unwrap();
    // It only read the input: another worker goes on with it.
    let (log, told) = Logged::pair();
    let reads = Worker::new("reads")
        .group::<Input>()
        .on(move |_: &Look, input: &Input| told.add(format!("input {}", input.0)));
    scheduler.add(reads).unwrap();
    assert_eq!(engine.complete(Ping), Completed { ran: 0, dropped: 1 });
    let exit = Exit::Panicked {
        during: type_name::<Ping>(),
        message: "half way".into(),
    };
    assert_eq!(panics.ends(), exit);
    assert_eq!(engine.complete(Look), Completed { ran: 1, dropped: 0 });
    assert_eq!(log.take(), ["input 0"]);
    assert_eq!(engine.complete(Pong), Completed { ran: 0, dropped: 1 });
    assert_eq!(owner.ends(), Exit::Poisoned(type_name::<World>()));
}

#[test]
fn code_that_panics_elsewhere_ends_its_worker_alone() {
    let (engine, scheduler) = only();
    let cases = [
        Worker::new("own").owns(|| -> World { panic!("own") }),
        Worker::new("local").local(|| -> World { panic!("local") }),
        Worker::new("setup_owner").setup_owner(|| panic!("setup_owner")),
        Worker::new("setup").setup(|| panic!("setup")),
        Worker::new("run").in_fiber().run(|_| panic!("run")),
        Worker::new("lock")
            .owns(|| World(0))
            .in_fiber()
            .run(|context| context.lock(|_: &mut World| panic!("lock")).unwrap()),
        Worker::new("fiber")
            .in_fiber()
            .on(|_: &Ping| panic!("fiber")),
    ];
    for worker in cases {
        let worker = scheduler.add(worker).unwrap();
        engine.broadcast(Ping);
        match worker.ends() {
            Exit::Panicked { message, .. } => assert_eq!(message, worker.name()),
            exit => panic!("{exit:?}"),
        }
    }
    scheduler
        .add(Worker::new("next").on(|_: &Pong| {}))
        .unwrap();
    assert_eq!(engine.complete(Pong), Completed { ran: 1, dropped: 0 });
}

#[test]
fn a_nested_task_that_panics_ends_the_worker_behind_the_one_around_it() {
    let (engine, scheduler) = only();
    let (log, told) = Logged::pair();
    let worker = Worker::new("both")
        .on(move |_: &Ping, context: Context<'_>| {
            let error = context.run_task(Pong).unwrap_err();
            assert!(matches!(error, NestedError::Panicked));
            told.add(error.to_string());
        })
        .on(|_: &Pong| panic!("inside"));
    let worker = scheduler.add(worker).unwrap();
    assert_eq!(engine.complete(Ping), Completed { ran: 1, dropped: 0 });
    let exit = Exit::Panicked {
        during: type_name::<Pong>(),
        message: "inside".into(),
    };
    assert_eq!(worker.ends(), exit);
    assert_eq!(log.take(), ["the task panicked"]);
}

#[test]
fn a_stack_that_nobody_can_have_ends_its_worker() {
    let (_engine, scheduler) = only();
    for bytes in [usize::MAX / 2, usize::MAX] {
        let greedy = Worker::new("greedy").in_fiber_of(bytes);
        assert_eq!(scheduler.add(greedy).unwrap().ends(), Exit::NoStack);
    }
}

#[test]
fn a_name_that_no_thread_can_have_is_refused() {
    let engine = engine();
    assert!(matches!(
        engine.scheduler("a\0b"),
        Err(StartError::Thread(_))
    ));
    engine.start("only");
}

/// Waits in its destructor, while a panic goes up; counts what others have run by then.
struct GivesWay<'a>(Context<'a>, &'a AtomicUsize, &'a Logged);

impl Drop for GivesWay<'_> {
    fn drop(&mut self) {
        assert!(self.0.give_way().is_err());
        assert!(self.0.wait_until(|| false).is_err());
        self.1.fetch_add(1 + self.2.len(), Ordering::Relaxed);
    }
}

#[test]
fn code_that_unwinds_does_not_wait() {
    for in_fiber in [false, true] {
        let (engine, scheduler) = only();
        let (dropped, log) = (Arc::new(AtomicUsize::new(0)), Logged::new());
        let count = Arc::clone(&dropped);
        let (told, seen) = (log.clone(), log.clone());
        let beside = Worker::new("beside").on(move |_: &Pong| told.add("runs"));
        scheduler.add(beside).unwrap();
        let worker = Worker::new("worker").on(move |_: &Ping, context: Context<'_>| {
            let _waits = GivesWay(context, &count, &seen);
            context.broadcast(Pong);
            panic!("half way");
        });
        let worker = match in_fiber {
            true => worker.in_fiber(),
            false => worker,
        };
        let worker = scheduler.add(worker).unwrap();
        assert_eq!(engine.complete(Ping), Completed { ran: 0, dropped: 1 });
        assert!(matches!(worker.ends(), Exit::Panicked { .. }));
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "others have run");
    }
}

#[test]
fn what_a_worker_has_captured_goes_with_it() {
    let (_engine, scheduler) = only();
    let (sends, hears) = std::sync::mpsc::channel::<()>();
    let leads = Worker::new("leads").on(move |_: &Ping| sends.send(()).unwrap());
    let leads = scheduler.add(leads).unwrap();
    // It knows the one that it follows, and does not keep it.
    scheduler
        .add(Worker::new("follows").after("leads").on(|_: &Pong| {}))
        .unwrap();
    leads.remove().unwrap();
    let heard = within("the end of what it had", move || hears.recv());
    assert!(heard.is_err());
}

#[test]
fn a_worker_that_has_panicked_runs_no_further_task() {
    for is_nested in [false, true] {
        let engine = Engine::new();
        here(&engine, |local| {
            let (log, told) = Logged::pair();
            let worker = Worker::new("worker")
                .on(move |_: &Ping, context: Context<'_>| {
                    told.add("runs");
                    if is_nested {
                        assert!(context.run_task(Pong).is_err());
                    } else {
                        panic!("the first time");
                    }
                })
                .on(|_: &Pong| panic!("inside"));
            let worker = local.handle().add(worker).unwrap();
            local.update();
            (0..3).for_each(|_| {
                engine.broadcast(Ping);
            });
            drive(local, || worker.exit().is_some());
            assert_eq!(log.take(), ["runs"]);
        });
    }
}
