//! Row D11: the ends of engines and of schedulers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::{alone, drive, here, until, within};
use filch_engine::{Completed, Engine, Exit, Stage, Unfit, Worker};

#[derive(Clone)]
struct Ping;

#[test]
fn d11_a_terminated_engine_ends_everything_once_and_refuses_more() {
    let engine = Engine::new();
    let schedulers = ["a", "b"].map(|name| engine.scheduler(name).unwrap());
    let workers: Vec<_> = schedulers
        .iter()
        .map(|scheduler| {
            scheduler
                .add(Worker::new("worker").on(|_: &Ping| {}))
                .unwrap()
        })
        .collect();
    engine.terminate();
    engine.terminate();
    engine.join().unwrap();
    for (worker, scheduler) in workers.iter().zip(&schedulers) {
        assert_eq!(worker.exit(), Some(Exit::Terminated));
        assert!(scheduler.is_terminated());
        let refused = scheduler.add(Worker::new("late")).unwrap_err();
        assert_eq!(refused.reason, Unfit::Terminated);
        assert_eq!(
            format!("{refused}"),
            "late: the scheduler has been terminated"
        );
    }
    assert_eq!(
        engine.complete(Ping).unwrap(),
        Completed { ran: 0, dropped: 1 }
    );
    assert!(engine.scheduler("late").is_err());
}

#[test]
fn a_local_scheduler_ends_its_workers_when_its_call_returns() {
    let engine = Engine::new();
    let worker = here(&engine, |local| {
        // It has no thread that could be joined.
        let joined = engine.clone();
        within("the end of no thread", move || joined.join().unwrap());
        let worker = Worker::new("worker").in_fiber();
        local.handle().add(worker).unwrap()
    });
    assert_eq!(worker.exit(), Some(Exit::Terminated));
}

#[test]
fn an_engine_may_be_terminated_while_a_scheduler_is_started() {
    for _ in 0..200 {
        let engine = Engine::new();
        let starts = std::thread::spawn({
            let engine = engine.clone();
            move || drop(engine.scheduler("only"))
        });
        engine.terminate();
        starts.join().unwrap();
        within("the engine's end", move || engine.join().unwrap());
    }
}

#[test]
fn each_of_two_that_join_waits_for_all_schedulers() {
    let engine = Engine::new();
    let scheduler = engine.scheduler("only").unwrap();
    let may_end = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&may_end);
    let slow = Worker::new("slow").in_fiber().run(move |context| {
        while !seen.load(Ordering::Acquire) {
            let _ = context.give_way();
        }
    });
    let slow = scheduler.add(slow).unwrap();
    until(|| slow.stage() == Stage::Runs);
    engine.terminate();
    let joining = Arc::new(AtomicUsize::new(0));
    let joins = [(), ()].map(|()| {
        let (engine, scheduler) = (engine.clone(), scheduler.clone());
        let tells = Arc::clone(&joining);
        std::thread::spawn(move || {
            let join = move || {
                tells.fetch_add(1, Ordering::Relaxed);
                engine.join().unwrap();
            };
            within("the engine's end", join);
            scheduler.is_terminated()
        })
    });
    until(|| joining.load(Ordering::Relaxed) == 2);
    (0..1_000).for_each(|_| std::thread::yield_now());
    may_end.store(true, Ordering::Release);
    assert!(joins.into_iter().all(|join| join.join().unwrap()));
}

#[test]
fn a_local_scheduler_that_is_over_is_terminated_and_keeps_nobody_waiting() {
    alone(|engine, local| {
        let sender = engine.sender::<Ping>();
        let worker = Worker::new("worker").on(|_: &Ping| {});
        local.handle().add(worker).unwrap();
        engine.terminate();
        drive(local, || local.handle().is_terminated());
        assert!(local.handle().is_terminated());
        assert!(!local.poll(), "and stays so");
        assert_eq!(sender.send(Ping), 0);
        assert_eq!(
            engine.complete(Ping).unwrap(),
            Completed { ran: 0, dropped: 1 }
        );
    });
}
