//! A worker that runs tasks after another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Logged, alone, drive, holds, only, report};
use filch_engine::{Completed, Context, Exit, WaitsFor, Worker};

#[derive(Clone)]
struct Ping(u32);

#[derive(Clone)]
struct Pong;

#[test]
fn a_worker_runs_a_task_after_the_one_that_it_follows() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let rounds = 50;
    // The first one gives way in the middle of each task; the second one must not overtake it.
    let first = log.clone();
    let leads = Worker::new("leads")
        .in_fiber()
        .on(move |ping: &Ping, context: Context<'_>| {
            for _ in 0..3 {
                context.give_way().unwrap();
            }
            first.add(format!("leads {}", ping.0));
        });
    scheduler.add(leads).unwrap();
    let second = log.clone();
    let follows = Worker::new("follows")
        .after("leads")
        .on(move |ping: &Ping| second.add(format!("follows {}", ping.0)));
    scheduler.add(follows).unwrap();
    (0..rounds).for_each(|number| {
        engine.broadcast(Ping(number));
    });
    engine.complete(Ping(rounds));
    let entries = log.take();
    for number in 0..=rounds {
        let at = |who: &str| {
            entries
                .iter()
                .position(|entry| *entry == format!("{who} {number}"))
        };
        assert!(at("leads").unwrap() < at("follows").unwrap(), "{number}");
    }
}

#[test]
fn a_follower_runs_a_task_that_its_leader_does_not_list() {
    let (engine, scheduler) = only();
    let leads = Worker::new("leads")
        .in_fiber()
        .on(|_: &Ping, context: Context<'_>| {
            context.complete(Pong).unwrap();
        });
    scheduler.add(leads).unwrap();
    // They have no task in common, so there is no order.
    scheduler
        .add(Worker::new("follows").after("leads").on(|_: &Pong| {}))
        .unwrap();
    assert_eq!(engine.complete(Ping(1)), Completed { ran: 1, dropped: 0 });
}

/// The leader is in the middle of the second task, which does not delay the follower's first one.
#[test]
fn a_follower_runs_what_its_leader_has_run_and_shows_that_it_waits_for_the_rest() {
    alone(|engine, local| {
        let gate = Arc::new(AtomicUsize::new(1));
        let open = Arc::clone(&gate);
        let leads = Worker::new("leads")
            .in_fiber()
            .on(move |ping: &Ping, context: Context<'_>| {
                let may_end = || open.load(Ordering::Relaxed) >= ping.0 as usize;
                context.wait_until(may_end).unwrap();
            });
        local.handle().add(leads).unwrap();
        let (log, told) = Logged::pair();
        let follows = Worker::new("follows")
            .after("leads")
            .on(move |ping: &Ping| told.add(ping.0.to_string()));
        local.handle().add(follows).unwrap();
        (1..=2).for_each(|number| {
            engine.broadcast(Ping(number));
        });
        drive(local, || log.len() == 1);
        let waits_for = || report(engine).workers[1].waits_for;
        assert_eq!(waits_for(), Some(WaitsFor::After));
        assert_eq!(log.take(), ["1"]);
        gate.store(2, Ordering::Relaxed);
        drive(local, || log.len() == 1);
        assert_eq!(waits_for(), None);
        assert_eq!(log.take(), ["2"]);
    });
}

/// The leader is still in the outer task when the inner one is over.
#[test]
fn a_leader_that_runs_a_task_inside_another_one_is_not_overtaken() {
    alone(|engine, local| {
        let log = Logged::new();
        let (first, second) = (log.clone(), log.clone());
        let leads = Worker::new("leads")
            .in_fiber()
            .on(move |ping: &Ping, context: Context<'_>| {
                if ping.0 == 1 {
                    assert_eq!(context.run_queued(), 2);
                    (0..3).for_each(|_| context.give_way().unwrap());
                }
                first.add(format!("leads {}", ping.0));
            });
        local.handle().add(leads).unwrap();
        let follows = Worker::new("follows")
            .after("leads")
            .on(move |ping: &Ping| second.add(format!("follows {}", ping.0)));
        local.handle().add(follows).unwrap();
        (1..=3).for_each(|number| {
            engine.broadcast(Ping(number));
        });
        drive(local, || log.len() == 6);
        let led = ["leads 2", "leads 3", "leads 1"];
        let followed = ["follows 1", "follows 2", "follows 3"];
        assert_eq!(log.take(), [led, followed].concat());
    });
}

/// The leader waits, as it ends, for a user of its data, which waits for the follower.
#[test]
fn a_follower_runs_a_task_that_its_leader_panicked_in_while_that_ends() {
    alone(|engine, local| {
        let log = Logged::new();
        let (seen, told) = (log.clone(), log.clone());
        let uses = Worker::new("uses")
            .group::<u32>()
            .in_fiber()
            .run(move |context| {
                let held = context.lock(|context: Context<'_>, _: &u32| {
                    for _ in (0..1_000).take_while(|_| seen.len() == 0) {
                        let _ = context.give_way();
                    }
                    seen.add("lets go");
                });
                assert_eq!(held, Ok(()));
            });
        let leads = Worker::new("leads")
            .owns(|| 5_u32)
            .on(|_: &Ping| panic!("half way"));
        let leads = local.handle().add(leads).unwrap();
        local.handle().add(uses).unwrap();
        let follows = Worker::new("follows")
            .after("leads")
            .on(move |ping: &Ping| told.add(ping.0.to_string()));
        local.handle().add(follows).unwrap();
        (0..3).for_each(|_| assert!(local.update()));
        engine.broadcast(Ping(1));
        drive(local, || leads.exit().is_some());
        assert!(matches!(leads.exit(), Some(Exit::Panicked { .. })));
        assert_eq!(log.take(), ["1", "lets go"]);
    });
}

/// The leader's task is in its queue, as its data is locked.
#[test]
fn a_follower_does_not_overtake_a_leader_that_waits_for_data() {
    alone(|engine, local| {
        let gate = Arc::new(AtomicUsize::new(0));
        local.handle().add(holds(5_u32, &gate)).unwrap();
        let log = Logged::new();
        let (first, second) = (log.clone(), log.clone());
        let leads = Worker::new("leads")
            .group::<u32>()
            .on(move |_: &Ping, _: &u32| first.add("leads"));
        local.handle().add(leads).unwrap();
        let follows = Worker::new("follows")
            .after("leads")
            .on(move |_: &Ping| second.add("follows"));
        local.handle().add(follows).unwrap();
        engine.broadcast(Ping(1));
        (0..5).for_each(|_| assert!(local.update()));
        assert_eq!(log.len(), 0);
        gate.store(1, Ordering::Relaxed);
        drive(local, || log.len() == 2);
        assert_eq!(log.take(), ["leads", "follows"]);
    });
}

/// A failure: it follows nobody any more, and overtakes the new one.
#[test]
fn a_follower_follows_the_next_worker_of_that_name() {
    alone(|engine, local| {
        let log = Logged::new();
        let leads = || {
            let log = log.clone();
            Worker::new("leads")
                .in_fiber()
                .on(move |_: &Ping, context: Context<'_>| {
                    (0..3).for_each(|_| context.give_way().unwrap());
                    log.add("leads");
                })
        };
        let first = local.handle().add(leads()).unwrap();
        let told = log.clone();
        let follows = Worker::new("follows")
            .after("leads")
            .on(move |_: &Ping| told.add("follows"));
        local.handle().add(follows).unwrap();
        first.remove().unwrap();
        drive(local, || first.exit().is_some());
        local.handle().add(leads()).unwrap();
        engine.broadcast(Ping(1));
        drive(local, || log.len() == 2);
        assert_eq!(log.take(), ["leads", "follows"]);
    });
}

#[test]
fn a_follower_does_not_wait_for_a_worker_of_another_scheduler() {
    alone(|engine, local| {
        let there = engine.scheduler("there").unwrap();
        let leads = Worker::new("leads").in_fiber();
        let leads = leads.on(|_: &Ping, context: Context<'_>| {
            let _ = context.wait_until(|| false);
        });
        there.add(leads).unwrap();
        let (log, told) = Logged::pair();
        let follows = Worker::new("follows").after("leads");
        let follows = follows.on(move |_: &Ping| told.add("follows"));
        local.handle().add(follows).unwrap();
        assert_eq!(engine.broadcast(Ping(1)), 2);
        drive(local, || log.len() == 1);
        engine.terminate();
    });
}
