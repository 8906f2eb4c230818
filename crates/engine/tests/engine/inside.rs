//! Calls that block, on the thread of a scheduler: it would wait for itself.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::common::{alone, only, within};
use filch_engine::{CalledFromInside, Completed, Engine, WaitError, Worker, WorkerHandle};

#[derive(Clone, Debug, PartialEq)]
struct Ping(u32);

#[derive(Clone)]
struct Pong;

/// A call that blocks, and says whether it was refused.
type Call = fn(&Engine, &WorkerHandle) -> bool;

/// The calls that block, by name. All refuse a scheduler's own thread, and none hangs there.
const CALLS: [(&str, Call); 5] = [
    ("complete", |engine, _| {
        engine.complete(Ping(7)) == Err(WaitError::CalledFromInside(Ping(7)))
    }),
    ("complete_timeout", |engine, _| {
        let refused = engine.complete_timeout(Ping(7), Duration::from_millis(1));
        refused == Err(WaitError::CalledFromInside(Ping(7)))
    }),
    ("join of an engine", |engine, _| {
        engine.join() == Err(CalledFromInside)
    }),
    ("join of a worker", |_, worker| {
        worker.join() == Err(CalledFromInside)
    }),
    ("join_timeout of a worker", |_, worker| {
        worker.join_timeout(Duration::ZERO) == Err(CalledFromInside)
    }),
];

/// A thread drives a scheduler as long as it is lent one, and until that is over.
#[test]
fn a_thread_that_drives_a_scheduler_is_refused_until_that_is_over() {
    for (name, call) in CALLS {
        within(name, move || {
            alone(|engine, local| {
                let worker = local.handle().add(Worker::new("listens").on(|_: &Ping| {}));
                let worker = worker.unwrap();
                assert!(call(engine, &worker), "{name}");
                engine.terminate();
                local.run();
                assert!(!call(engine, &worker), "{name}, when it is over");
                assert!(worker.join().is_ok() && engine.join().is_ok());
            });
        });
    }
}

/// The one engine's thread is outside of the other one.
#[test]
fn an_engine_may_wait_for_another_one() {
    let (engine, scheduler) = only();
    let (other, elsewhere) = only();
    elsewhere
        .add(Worker::new("listens").on(|_: &Ping| {}))
        .unwrap();
    let (tells, hears) = channel();
    let asks = Arc::new(Engine::clone(&other));
    let asks = Worker::new("asks").on(move |_: &Pong| tells.send(asks.complete(Ping(1))).unwrap());
    scheduler.add(asks).unwrap();
    engine.broadcast(Pong);
    let answer = within("the answer", move || hears.recv().unwrap());
    assert_eq!(answer, Ok(Completed { ran: 1, dropped: 0 }));
}

#[test]
fn a_wait_for_a_task_ends_with_its_time() {
    let (engine, scheduler) = only();
    let stays = Worker::new("stays").receives::<Ping>().in_fiber();
    let stays = stays.run(|context| while context.give_way().is_ok() {});
    scheduler.add(stays).unwrap();
    let asks = Engine::clone(&engine);
    let timed = within("its time", move || {
        asks.complete_timeout(Ping(1), Duration::from_millis(1))
    });
    assert_eq!(timed, Err(WaitError::TimedOut));
    let asks = Engine::clone(&engine);
    let waits = std::thread::spawn(move || asks.complete_timeout(Ping(1), Duration::MAX));
    engine.terminate();
    let told = within("its end", move || waits.join().unwrap());
    assert_eq!(told, Ok(Completed { ran: 0, dropped: 1 }));
}
