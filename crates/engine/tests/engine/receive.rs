//! Row D5: a worker's own `run` receives its tasks.

use crate::common::{EndsInTime, Logged, engine, only, report, until};
use filch_engine::{Completed, Context, Engine, Exit, ReceiveError, Unfit, WaitsFor, Worker};

#[derive(Clone, Debug, PartialEq)]
struct Ping(u32);

#[derive(Clone, Debug, PartialEq)]
struct Pong(u32);

#[test]
fn d5_a_run_receives_each_type_in_its_order() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let run = {
        let log = log.clone();
        move |context: Context<'_>| {
            for _ in 0..2 {
                log.add(format!("{:?}", *context.receive::<Pong>().unwrap()));
                log.add(format!("{:?}", *context.receive::<Ping>().unwrap()));
            }
            assert!(context.try_receive::<Pong>().unwrap().is_none());
        }
    };
    let receives = Worker::new("receives")
        .receives::<Ping>()
        .receives::<Pong>();
    let worker = scheduler.add(receives.in_fiber().run(run)).unwrap();
    for number in 1..=2 {
        engine.broadcast(Ping(number));
    }
    for number in 1..=2 {
        engine.broadcast(Pong(number));
    }
    assert_eq!(worker.ends(), Exit::Finished);
    assert_eq!(log.take(), ["Pong(1)", "Ping(1)", "Pong(2)", "Ping(2)"]);
}

#[test]
fn d10_a_received_task_is_complete_when_it_is_dropped() {
    let engine = engine();
    let log = Logged::new();
    let run = {
        let log = log.clone();
        move |context: Context<'_>| {
            let ping = context.receive::<Ping>().unwrap();
            // Sent by the worker that waits for the ping.
            assert_eq!(*context.receive::<Pong>().unwrap(), Pong(7));
            log.add("received");
            drop(ping);
        }
    };
    let receives = Worker::new("receives")
        .receives::<Ping>()
        .receives::<Pong>();
    // Alone in its scheduler, without a fiber.
    let worker = engine.start("one").add(receives.run(run)).unwrap();
    let asks = Worker::new("asks").in_fiber().run({
        let log = log.clone();
        move |context: Context<'_>| {
            let completed = context.complete(Ping(1)).unwrap();
            log.add(format!("{completed:?}"));
        }
    });
    let helps = Worker::new("helps").in_fiber().run(|context: Context<'_>| {
        context.broadcast(Pong(7));
    });
    let other = engine.start("other");
    let asks = other.add(asks).unwrap();
    other.add(helps).unwrap();
    assert_eq!(asks.ends(), Exit::Finished);
    assert_eq!(worker.ends(), Exit::Finished);
    let completed = Completed { ran: 1, dropped: 0 };
    assert_eq!(
        log.take(),
        ["received".to_owned(), format!("{completed:?}")]
    );
}

#[test]
fn d10_a_task_that_its_run_panics_with_has_not_run() {
    let engine = engine();
    let run = |context: Context<'_>| {
        let _ping = context.receive::<Ping>();
        panic!("with a task in its hands");
    };
    let receives = Worker::new("receives").receives::<Ping>().run(run);
    let worker = engine.start("one").add(receives).unwrap();
    let completed = engine.complete(Ping(1));
    assert_eq!(completed, Completed { ran: 0, dropped: 1 });
    assert!(matches!(
        worker.ends(),
        Exit::Panicked { during: "run", .. }
    ));
}

#[test]
fn d7_a_run_that_waits_for_a_task_ends_when_it_is_told_to() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    for in_fiber in [false, true] {
        let run = {
            let log = log.clone();
            move |context: Context<'_>| {
                log.add(format!("{:?}", context.receive::<Ping>().map(drop)));
                log.add(format!("{:?}", context.try_receive::<Ping>().map(drop)));
            }
        };
        let receives = Worker::new("receives").receives::<Ping>().run(run);
        let receives = match in_fiber {
            true => receives.in_fiber(),
            false => receives,
        };
        let worker = scheduler.add(receives).unwrap();
        let name = std::any::type_name::<Ping>();
        let waits = Some(WaitsFor::Receive(name));
        until(|| report(&engine).workers[0].waits_for == waits);
        worker.remove().unwrap();
        assert_eq!(worker.ends(), Exit::Removed);
        assert_eq!(log.take(), ["Err(Ending)"; 2]);
    }
}

#[test]
fn a_task_counts_as_run_once_it_is_dropped() {
    let engine = engine();
    let seen = engine.clone();
    let run = move |context: Context<'_>| {
        let ping = context.receive::<Ping>().unwrap();
        let of = |engine: &Engine| {
            let worker = &report(engine).workers[0];
            (worker.queued, worker.ran)
        };
        assert_eq!(of(&seen), (0, 0));
        drop(ping);
        assert_eq!(of(&seen), (0, 1));
    };
    let receives = Worker::new("receives").receives::<Ping>().run(run);
    let worker = engine.start("one").add(receives).unwrap();
    engine.broadcast(Ping(1));
    assert_eq!(worker.ends(), Exit::Finished);
}

#[test]
fn what_it_does_not_list_it_does_not_receive() {
    let engine = engine();
    let run = |context: Context<'_>| {
        assert_eq!(
            context.receive::<Ping>().unwrap_err(),
            ReceiveError::Unlisted
        );
        // A function runs these.
        assert_eq!(
            context.receive::<Pong>().unwrap_err(),
            ReceiveError::Unlisted
        );
    };
    let worker = Worker::new("deaf").on(|_: &Pong| {}).run(run);
    let worker = engine.start("one").add(worker).unwrap();
    assert_eq!(worker.ends(), Exit::Finished);
}

#[test]
fn what_nobody_could_receive_is_refused() {
    let (_engine, scheduler) = only();
    let name = std::any::type_name::<Ping>();
    let never = scheduler.add(Worker::new("never").receives::<Ping>());
    assert_eq!(never.unwrap_err().reason, Unfit::NeverReceived(name));
    let twice = Worker::new("twice").on(|_: &Ping| {}).receives::<Ping>();
    let twice = scheduler.add(twice.run(|_| {}));
    assert_eq!(twice.unwrap_err().reason, Unfit::ListedTwice(name));
}

#[test]
fn d5_after_one_that_receives_comes_after_it_has_received() {
    let (engine, scheduler) = only();
    let log = Logged::new();
    let run = {
        let log = log.clone();
        move |context: Context<'_>| {
            // The other one could run its task meanwhile.
            for _ in 0..10 {
                context.give_way().unwrap();
            }
            let ping = context.receive::<Ping>().unwrap();
            log.add(format!("first {}", ping.0));
        }
    };
    let first = Worker::new("first").receives::<Ping>().in_fiber().run(run);
    scheduler.add(first).unwrap();
    let second = {
        let log = log.clone();
        Worker::new("second").on(move |ping: &Ping| log.add(format!("second {}", ping.0)))
    };
    scheduler.add(second.after("first")).unwrap();
    assert_eq!(engine.complete(Ping(1)), Completed { ran: 2, dropped: 0 });
    assert_eq!(log.take(), ["first 1", "second 1"]);
}
