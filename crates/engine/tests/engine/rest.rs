//! Row D4: the time at which a scheduler blocks, and its rounds before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::common::{EndsInTime, alone, drive, engine, here, report, sleepy_engine, until, within};
use filch_engine::{Context, Engine, Exit, WaitsFor, Worker};

#[derive(Clone)]
struct Ping;

#[derive(Clone)]
struct Pong;

/// Each round in which a worker runs a task counts, though no message came in it.
#[test]
fn d4_a_scheduler_does_not_rest_while_a_worker_has_tasks() {
    const TASKS: u64 = 500;
    let engine = sleepy_engine();
    here(&engine, |local| {
        let worker = Worker::new("worker").on(|_: &Ping| {});
        local.handle().add(worker).unwrap();
        drive(local, || report(&engine).rests > 0);
        let before = report(&engine).rests;
        (0..TASKS).for_each(|_| {
            engine.broadcast(Ping);
        });
        drive(local, || report(&engine).workers[0].ran == TASKS);
        assert_eq!(report(&engine).rests, before);
    });
}

/// After each task the scheduler looks as often as after the first one.
#[test]
fn d4_a_scheduler_looks_as_often_after_each_task() {
    alone(|engine, local| {
        let worker = Worker::new("worker").on(|_: &Ping| {});
        local.handle().add(worker).unwrap();
        for _ in 0..3 {
            engine.broadcast(Ping);
            let (rests, rounds) = (report(engine).rests, report(engine).rounds);
            drive(local, || report(engine).rests > rests);
            // The round with the task, the idle ones, and the one before it blocks. Busy cores cut
            // the idle ones short in which it yields: all but four.
            let looked = report(engine).rounds - rounds;
            let idle = 4..=u64::from(Engine::ROUNDS_BEFORE_REST);
            assert!(idle.contains(&(looked - 2)), "{looked}");
        }
    });
}

/// One scheduler has nothing to do; a worker of the other one polls, and so counts milliseconds.
#[test]
fn d4_a_scheduler_whose_workers_wait_for_tasks_alone_is_not_polled() {
    let engine = engine();
    let (idle, polls) = (engine.start("idle"), engine.start("polls"));
    // It has polled, too, but its waits are over.
    let worker = Worker::new("worker").on(|_: &Ping, context: Context<'_>| {
        (0..3).for_each(|_| context.give_way().unwrap());
    });
    idle.add(worker).unwrap();
    engine.complete(Ping);
    let waits = Worker::new("waits")
        .in_fiber()
        .run(|context| assert!(context.wait_until(|| false).is_err()));
    polls.add(waits).unwrap();
    sleeps_beside_one_that_polls(&engine);
}

/// Waits until the first scheduler sleeps while the other one polls 20 times: a wake-up for what
/// came before may be late. A failure: it polls, too, and never does.
#[track_caller]
fn sleeps_beside_one_that_polls(engine: &Engine) {
    let rests = |scheduler: usize| engine.report().schedulers[scheduler].rests;
    until(|| {
        let (before, polled) = (rests(0), rests(1));
        until(|| rests(1) >= polled + 20);
        rests(0) == before
    });
}

/// Two workers get unequal numbers of tasks: the larger number limits the round.
#[test]
fn d4_a_scheduler_hands_no_worker_more_than_it_runs_in_a_turn() {
    alone(|engine, local| {
        let both = Worker::new("both").on(|_: &Ping| {}).on(|_: &Pong| {});
        local.handle().add(both).unwrap();
        let one = Worker::new("one").on(|_: &Ping| {});
        local.handle().add(one).unwrap();
        for _ in 0..1_000 {
            engine.broadcast(Pong);
            engine.broadcast(Ping);
        }
        local.poll();
        let after_one = report(engine);
        let [both, one] = &after_one.workers[..] else {
            panic!("{after_one:?}");
        };
        assert_eq!((both.queued, one.queued), (0, 0), "{after_one:?}");
        assert_eq!(both.ran, 2 * one.ran, "{after_one:?}");
    });
}

/// A worker waits for a task, and then for the end of one; meanwhile another scheduler polls.
#[test]
fn d4_a_worker_that_waits_for_a_task_is_not_polled() {
    for in_fiber in [false, true] {
        waits_without_a_poll(in_fiber);
    }
}

fn waits_without_a_poll(in_fiber: bool) {
    let engine = engine();
    let (idle, polls) = (engine.start("idle"), engine.start("polls"));
    let gate = Arc::new(AtomicBool::new(false));
    let asks = Worker::new("asks").receives::<Ping>().run(|context| {
        drop(context.receive::<Ping>().unwrap());
        assert_eq!(context.complete(Pong).unwrap().ran, 1);
    });
    let asks = match in_fiber {
        true => asks.in_fiber(),
        false => asks,
    };
    let asks = idle.add(asks).unwrap();
    let opens = Arc::clone(&gate);
    let waits = move |_: &Pong, context: Context<'_>| {
        let is_open = || gate.load(Ordering::Relaxed);
        context.wait_until(is_open).unwrap();
    };
    polls
        .add(Worker::new("waits").in_fiber().on(waits))
        .unwrap();
    let spins = Worker::new("spins").in_fiber();
    let spins = spins.run(|context| assert!(context.wait_until(|| false).is_err()));
    polls.add(spins).unwrap();
    let waits_for = || engine.report().schedulers[0].workers[0].waits_for;
    until(|| matches!(waits_for(), Some(WaitsFor::Receive(_))));
    sleeps_beside_one_that_polls(&engine);
    engine.broadcast(Ping);
    until(|| matches!(waits_for(), Some(WaitsFor::Task(_))));
    sleeps_beside_one_that_polls(&engine);
    opens.store(true, Ordering::Relaxed);
    assert_eq!(asks.ends(), Exit::Finished);
}

#[test]
fn d4_a_scheduler_rests_while_a_worker_on_its_stack_waits() {
    alone(|engine, local| {
        let ran = Arc::new(AtomicUsize::new(0));
        let (told, seen) = (Arc::clone(&ran), engine.clone());
        let waits = Worker::new("waits").on(move |_: &Ping, context: Context<'_>| {
            let before = report(&seen).rests;
            (0..100).for_each(|_| context.give_way().unwrap());
            assert!(report(&seen).rests > before, "it goes round and round");
            told.fetch_add(1, Ordering::Relaxed);
        });
        let waits = local.handle().add(waits).unwrap();
        engine.broadcast(Ping);
        local.update();
        assert_eq!((ran.load(Ordering::Relaxed), waits.exit()), (1, None));
    });
}

/// A scheduler that blocks at once must not block once its last worker has gone.
#[test]
fn d4_a_scheduler_that_never_looks_twice_ends() {
    let engine = sleepy_engine();
    let scheduler = engine.start("only");
    let worker = scheduler
        .add(Worker::new("worker").on(|_: &Ping| {}))
        .unwrap();
    engine.complete(Ping);
    scheduler.terminate();
    assert_eq!(worker.ends(), Exit::Terminated);
    until(|| scheduler.is_terminated());
}

/// A flood of messages keeps no worker from its turn.
#[test]
fn d4_a_scheduler_gives_turns_before_it_has_handed_out_everything() {
    const TASKS: u64 = 5_000;
    alone(|engine, local| {
        let worker = Worker::new("worker").on(|_: &Ping| {});
        local.handle().add(worker).unwrap();
        (0..TASKS).for_each(|_| {
            engine.broadcast(Ping);
        });
        local.poll();
        let after_one = report(engine);
        let left = TASKS - after_one.tasks;
        assert!(0 < after_one.messages.events && after_one.messages.events as u64 <= left);
        let worker = &after_one.workers[0];
        assert!(0 < worker.ran && worker.ran < TASKS, "{worker}");
        assert_eq!(worker.queued, 0, "handed out before their turn");
        local.poll();
        assert_eq!(report(engine).workers[0].ran, 2 * worker.ran);
        drive(local, || report(engine).workers[0].ran == TASKS);
        assert_eq!(report(engine).messages.events, 0);
    });
}

/// Each round in which a wait ends counts: others may wait for its result.
#[test]
fn d4_a_scheduler_does_not_rest_while_conditions_come_true() {
    const TURNS: usize = 100;
    let engine = sleepy_engine();
    here(&engine, |local| {
        let turns = Arc::new(AtomicUsize::new(0));
        for own in 0..2 {
            let turns = Arc::clone(&turns);
            let worker = Worker::new("worker").in_fiber().run(move |context| {
                for turn in (own..TURNS).step_by(2) {
                    let waited = context.wait_until(|| turns.load(Ordering::Relaxed) == turn);
                    assert_eq!(waited, Ok(()));
                    turns.fetch_add(1, Ordering::Relaxed);
                }
            });
            local.handle().add(worker).unwrap();
        }
        drive(local, || turns.load(Ordering::Relaxed) == TURNS);
        assert_eq!(report(&engine).rests, 0);
    });
}

#[test]
fn d4_a_scheduler_looks_again_after_tasks_that_a_run_has_run() {
    let engine = sleepy_engine();
    let seen = (*engine).clone();
    let alone = Worker::new("alone").on(|_: &Ping| {}).run(move |context| {
        loop {
            context.give_way().unwrap();
            if context.run_queued() > 0 {
                break;
            }
        }
        let before = report(&seen).rests;
        context.give_way().unwrap();
        assert_eq!(report(&seen).rests, before);
    });
    let alone = engine.start("only").add(alone).unwrap();
    engine.broadcast(Ping);
    assert_eq!(alone.ends(), Exit::Finished);
}

/// The first of several in a row returns at once, though nothing else is to do; the next one rests.
#[test]
fn d4_only_the_second_give_way_in_a_row_rests() {
    let engine = sleepy_engine();
    let (tells, hears) = channel();
    let looks = Engine::clone(&engine);
    let gives = Worker::new("gives").owns(|| 0_u32).in_fiber();
    let gives = gives.run(move |context| {
        let rests = || report(&looks).rests;
        let before = rests();
        for _ in 0..50 {
            context.lock(|number: &mut u32| *number += 1).unwrap();
            context.give_way().unwrap();
        }
        let after_work = rests() - before;
        context.give_way().unwrap();
        tells.send((after_work, rests() - before)).unwrap();
    });
    engine.start("only").add(gives).unwrap();
    let rested = within("its end", move || hears.recv().unwrap());
    assert_eq!(rested, (0, 1));
}
