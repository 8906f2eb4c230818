//! Rows D1, D2, D4 and D7: schedulers' loops, and the lives of workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{EndsInTime, Logged, alone, drive, engine, only, report, until, within};
use filch_engine::{Completed, Context, Engine, Exit, RemoveError, Stage, Worker};

#[derive(Clone)]
struct Ping(u32);

#[derive(Clone)]
struct Pong;

/// Logs when it is made and when it is dropped.
struct Tells(&'static str, Logged);

impl Tells {
    fn new(name: &'static str, log: &Logged) -> Self {
        log.add(format!("{name} is made"));
        Self(name, log.clone())
    }
}

impl Drop for Tells {
    fn drop(&mut self) {
        self.1.add(format!("{} goes", self.0));
    }
}

struct Own(#[expect(dead_code, reason = "dropped")] Tells);
struct Alone(#[expect(dead_code, reason = "dropped")] Tells);

#[test]
fn d1_a_scheduler_lives_on_without_workers() {
    let (engine, scheduler) = only();
    for round in 0..3 {
        let worker = scheduler
            .add(Worker::new("guest").on(|_: &Ping| {}))
            .unwrap();
        assert_eq!(
            engine.complete(Ping(round)),
            Completed { ran: 1, dropped: 0 }
        );
        worker.remove().unwrap();
        assert_eq!(worker.ends(), Exit::Removed);
        assert_eq!(engine.broadcast(Ping(round)), 0, "nobody lists it any more");
    }
    assert!(!scheduler.is_terminated());
}

#[test]
fn d1_every_scheduler_has_a_thread_of_its_own() {
    let engine = engine();
    let log = Logged::new();
    for name in ["first", "second"] {
        let log = log.clone();
        let worker = Worker::new(name).on(move |_: &Ping| {
            log.add(std::thread::current().name().unwrap_or("?").to_owned());
        });
        engine.start(name).add(worker).unwrap();
    }
    engine.complete(Ping(0));
    let mut threads = log.take();
    threads.sort();
    assert_eq!(threads, ["first", "second"]);
}

#[test]
fn d2_a_worker_leaves_by_itself_and_only_once() {
    let (_engine, scheduler) = only();
    let may_end = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&may_end);
    let worker = Worker::new("stays").in_fiber().run(move |context| {
        // It is told to end, and ends when it likes.
        while !(context.is_ending() && seen.load(Ordering::Acquire)) {
            let _ = context.give_way();
        }
    });
    let worker = scheduler.add(worker).unwrap();
    // Told earlier, its `run` would not begin.
    until(|| worker.stage() == Stage::Runs);
    worker.remove().unwrap();
    assert_eq!(worker.remove(), Err(RemoveError::Ending));
    assert_eq!(worker.exit(), None);
    let asked = worker.clone();
    let exit = within("the timeout", move || asked.join_timeout(Duration::ZERO));
    assert_eq!(exit, Ok(None));
    may_end.store(true, Ordering::Release);
    let joined = worker.clone();
    assert_eq!(
        within("its end", move || joined.join().unwrap()),
        Exit::Removed
    );
    assert_eq!(worker.remove(), Err(RemoveError::Ended));
    assert_eq!(worker.stage(), Stage::Gone);
}

#[test]
fn d4_a_scheduler_with_nothing_to_do_blocks_and_a_task_wakes_it() {
    alone(|engine, local| {
        let (log, told) = Logged::pair();
        let worker = Worker::new("worker").on(move |ping: &Ping| told.add(ping.0.to_string()));
        local.handle().add(worker).unwrap();
        let rests = || engine.report().schedulers[0].rests;
        drive(local, || rests() > 0);
        // Busy cores cut the rounds short in which it yields.
        assert!(
            engine.report().schedulers[0].rounds > 4,
            "after several empty looks"
        );
        let before = rests();
        engine.broadcast(Ping(1));
        local.update();
        assert_eq!(
            (log.take(), rests()),
            (vec!["1".to_owned()], before),
            "no rest before it"
        );
    });
}

/// Covers both kinds that run their tasks as they come.
#[test]
fn d7_a_life_goes_through_its_stages_in_order() {
    for in_fiber in [false, true] {
        let log = Logged::new();
        let engine = Engine::new();
        let scheduler = engine.scheduler("only").unwrap();
        let owner = Worker::new("owner").owns(|| 5_u8);
        let owner = scheduler.add(owner).unwrap();
        let [own, alone, set_up_own, set_up, runs] = std::array::from_fn(|_| log.clone());
        let mut worker = Worker::new("worker")
            .local(move || Alone(Tells::new("local", &alone)))
            .owns(move || Own(Tells::new("own", &own)))
            .group::<u8>()
            .setup(move |_: &mut Own, _: &Alone, group: &u8| set_up.add(format!("setup {group}")))
            .setup_owner(move |_: &mut Own| set_up_own.add("setup_owner"))
            .on(move |ping: &Ping, _: &Own| runs.add(format!("runs {}", ping.0)));
        if in_fiber {
            worker = worker.in_fiber();
        }
        let worker = scheduler.add(worker).unwrap();
        engine.complete(Ping(1)).unwrap();
        worker.remove().unwrap();
        assert_eq!(worker.ends(), Exit::Removed);
        let expected = [
            "own is made",
            "setup_owner",
            "local is made",
            "setup 5",
            "runs 1",
            "local goes",
            "own goes",
        ];
        assert_eq!(log.take(), expected, "in a fiber: {in_fiber}");
        assert_eq!(owner.exit(), None);
        engine.terminate();
        engine.join().unwrap();
        assert_eq!(owner.exit(), Some(Exit::Terminated));
    }
}

/// A thread that waits for a task in the queue is released, and the task is not run.
#[test]
fn d7_an_ending_worker_empties_its_queue_without_running_it() {
    alone(|engine, local| {
        let (log, told) = Logged::pair();
        let worker = Worker::new("worker").on(move |_: &Ping| told.add("runs"));
        let worker = local.handle().add(worker).unwrap();
        local.update();
        worker.remove().unwrap();
        let waits = std::thread::spawn({
            let engine = engine.clone();
            move || engine.complete(Ping(1)).unwrap()
        });
        // The task is there before the worker looks, and its waiter may learn of its end before
        // the scheduler has dropped the worker.
        until(|| report(engine).messages.events == 1);
        drive(local, || waits.is_finished() && worker.exit().is_some());
        assert_eq!(waits.join().unwrap(), Completed { ran: 0, dropped: 1 });
        assert!(log.take().is_empty());
        assert_eq!(worker.exit(), Some(Exit::Removed));
    });
}

#[test]
fn d7_a_run_that_is_to_end_runs_no_task_of_its_queue() {
    alone(|engine, local| {
        let (log, told) = Logged::pair();
        let worker = Worker::new("worker")
            .in_fiber()
            .on(|_: &Ping| {})
            .run(move |context| {
                while context.give_way().is_ok() {}
                told.add(context.run_queued().to_string());
            });
        let worker = local.handle().add(worker).unwrap();
        local.update();
        worker.remove().unwrap();
        engine.broadcast(Ping(1));
        drive(local, || worker.exit().is_some());
        assert_eq!(log.take(), ["0"]);
    });
}

/// A worker waits on the stack below, so that the round in which the other one ended is not over.
#[test]
fn d7_a_task_of_a_worker_that_ends_is_told_of_at_once() {
    is_told_of_at_once(Worker::new("ends").on(|_: &Pong| {}));
    let receives = Worker::new("ends").receives::<Pong>().in_fiber();
    is_told_of_at_once(receives.run(|context| while context.give_way().is_ok() {}));
}

/// Checks a task that comes for `ends` while that ends.
fn is_told_of_at_once(ends: Worker) {
    alone(|engine, local| {
        let log = Logged::new();
        let (asks, seen) = (log.clone(), log.clone());
        let below = Worker::new("below").on(move |_: &Ping, context: Context<'_>| {
            (0..100).for_each(|_| context.give_way().unwrap());
            seen.add("below goes on");
        });
        local.handle().add(below).unwrap();
        let ends = local.handle().add(ends).unwrap();
        let asks = Worker::new("asks")
            .in_fiber()
            .on(move |_: &Ping, context: Context<'_>| {
                ends.remove().unwrap();
                asks.add(format!("{:?}", context.complete(Pong)));
            });
        local.handle().add(asks).unwrap();
        engine.broadcast(Ping(0));
        local.update();
        let told = "Ok(Completed { ran: 0, dropped: 1 })";
        assert_eq!(log.take(), [told, "below goes on"]);
    });
}

#[test]
fn d7_what_was_made_last_goes_first() {
    struct Kept<const NUMBER: usize>(#[expect(dead_code, reason = "dropped")] Tells);

    let engine = engine();
    let log = Logged::new();
    let [a, b, c, d] = std::array::from_fn(|_| log.clone());
    let worker = Worker::new("worker")
        .owns(move || Kept::<0>(Tells::new("first own", &a)))
        .owns(move || Kept::<1>(Tells::new("second own", &b)))
        .local(move || Kept::<2>(Tells::new("first local", &c)))
        .local(move || Kept::<3>(Tells::new("second local", &d)))
        .in_fiber()
        .run(|_| {});
    let worker = engine.start("only").add(worker).unwrap();
    assert_eq!(worker.ends(), Exit::Finished);
    let names = ["first own", "second own", "first local", "second local"];
    let made = names.map(|name| format!("{name} is made"));
    let gone = names.map(|name| format!("{name} goes"));
    let expected: Vec<_> = made.into_iter().chain(gone.into_iter().rev()).collect();
    assert_eq!(log.take(), expected);
}

#[test]
fn d7_nobody_sees_data_before_its_setup_owner_is_over() {
    alone(|_, local| {
        // Others have their turns between its two parts.
        let owner = Worker::new("owner")
            .in_fiber()
            .owns(|| 0_u32)
            .setup_owner(|context: Context<'_>| (0..3).for_each(|_| context.give_way().unwrap()))
            .setup_owner(|number: &mut u32| *number = 2);
        local.handle().add(owner).unwrap();
        let (log, told) = Logged::pair();
        let user = Worker::new("user")
            .group::<u32>()
            .setup(move |number: &u32| told.add(number.to_string()));
        local.handle().add(user).unwrap();
        drive(local, || log.len() > 0);
        assert_eq!(log.take(), ["2"]);
    });
}

#[test]
fn a_worker_sleeps_until_its_moment_and_not_for_ever() {
    let (_engine, scheduler) = only();
    let moment = Instant::now() + Duration::from_millis(3);
    let sleeps = Worker::new("sleeps").in_fiber().run(move |context| {
        assert_eq!(context.sleep_until(moment), Ok(()));
        assert!(Instant::now() >= moment, "too early");
    });
    assert_eq!(scheduler.add(sleeps).unwrap().ends(), Exit::Finished);
}
