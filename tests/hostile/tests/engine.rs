//! The engine with panicking destructors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_engine::{Completed, Engine, Exit, Worker};
use hostile_tests::{Bomb, Squad};

/// A task with a bomb; each copy has its own.
struct Armed(Arc<Squad>, Bomb);

impl Armed {
    fn new(squad: &Arc<Squad>, number: u32) -> Self {
        Self(Arc::clone(squad), squad.bomb(number))
    }
}

impl Clone for Armed {
    fn clone(&self) -> Self {
        Self::new(&self.0, self.1.number())
    }
}

#[derive(Clone)]
struct Ping;

/// Returns the numbers of dropped bombs: each copy has its task's number.
fn dropped(squad: &Squad) -> Vec<u32> {
    let mut numbers = squad.dropped();
    numbers.sort_unstable();
    numbers
}

/// A task may end in a function, in an inbox, in a queue or with its sender.
#[test]
fn a_task_that_panics_when_it_is_dropped_harms_nobody() {
    let squad = Arc::new(Squad::new(0..10));
    let engine = Engine::new();
    assert_eq!(
        engine.broadcast(Armed::new(&squad, 0)),
        0,
        "nobody lists it"
    );
    assert_eq!(dropped(&squad), [0]);
    let scheduler = engine.scheduler("only").unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let worker = || {
        let runs = Arc::clone(&runs);
        Worker::new("worker").on(move |_: &Armed| {
            runs.fetch_add(1, Ordering::Relaxed);
        })
    };
    let workers = [worker(), worker()].map(|worker| scheduler.add(worker).unwrap());
    let done = Completed { ran: 2, dropped: 0 };
    assert_eq!(engine.complete(Armed::new(&squad, 1)).unwrap(), done);
    assert_eq!(dropped(&squad), [0, 1, 1]);
    workers[0].send(Armed::new(&squad, 2)).unwrap();
    // Both workers are alive, and end as they should.
    assert_eq!(engine.complete(Armed::new(&squad, 3)).unwrap(), done);
    assert_eq!(dropped(&squad), [0, 1, 1, 2, 3, 3]);
    for worker in &workers {
        worker.remove().unwrap();
        assert_eq!(worker.join().unwrap(), Exit::Removed);
    }
    engine.terminate();
    engine.join().unwrap();
    assert_eq!(engine.broadcast(Armed::new(&squad, 4)), 0);
    assert_eq!(dropped(&squad), [0, 1, 1, 2, 3, 3, 4]);
    assert_eq!(runs.load(Ordering::Relaxed), 5);
}

/// Data that a worker owns, that it alone has, and that its functions have captured.
#[test]
fn data_that_panics_when_it_is_dropped_harms_nobody() {
    struct Own(#[expect(dead_code, reason = "dropped")] Bomb);

    struct Local(#[expect(dead_code, reason = "dropped")] Bomb);

    let squad = Squad::new(0..10);
    let engine = Engine::new();
    let scheduler = engine.scheduler("only").unwrap();
    let [own, local, captured] = [0, 1, 2].map(|number| squad.bomb(number));
    let worker = Worker::new("worker")
        .owns(move || Own(own))
        .local(move || Local(local))
        .on(move |_: &Ping| assert_eq!(captured.number(), 2));
    let worker = scheduler.add(worker).unwrap();
    assert_eq!(
        engine.complete(Ping).unwrap(),
        Completed { ran: 1, dropped: 0 }
    );
    worker.remove().unwrap();
    assert_eq!(worker.join().unwrap(), Exit::Removed);
    // The scheduler goes on.
    scheduler
        .add(Worker::new("next").on(|_: &Ping| {}))
        .unwrap();
    assert_eq!(
        engine.complete(Ping).unwrap(),
        Completed { ran: 1, dropped: 0 }
    );
    engine.terminate();
    engine.join().unwrap();
    squad.assert_dropped(3);
}

/// A copy that cannot be made counts as dropped.
#[test]
fn a_clone_that_panics_costs_one_copy() {
    struct Uncopied;

    impl Clone for Uncopied {
        fn clone(&self) -> Self {
            panic!("no copy");
        }
    }

    let engine = Engine::new();
    let scheduler = engine.scheduler("only").unwrap();
    let workers = ["first", "last"].map(|name| {
        let worker = Worker::new(name).on(|_: &Uncopied| {});
        scheduler.add(worker).unwrap()
    });
    // The last one gets the task itself.
    let completed = Completed { ran: 1, dropped: 1 };
    assert_eq!(engine.complete(Uncopied).unwrap(), completed);
    assert_eq!(engine.report().schedulers[0].workers[0].missed, 1);
    assert!(workers.iter().all(|worker| worker.exit().is_none()));
    engine.terminate();
    engine.join().unwrap();
}
