//! Whole engines of two schedulers, each driven by a thread of the test.

use filch_engine::{Completed, Context, Engine, Exit, LocalScheduler, Scheduler, Worker};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, mpsc};
use shuttle::thread::{self, JoinHandle};
use shuttle_tests::explore;

#[derive(Clone)]
struct Ping;

#[derive(Clone)]
struct Pong;

/// Starts a thread with a scheduler, which it drives to its end.
fn start(engine: &Engine, name: &'static str) -> (Scheduler, JoinHandle<()>) {
    let (tells, hears) = mpsc::channel();
    let engine = engine.clone();
    let thread = thread::spawn(move || {
        let drive = |local: &LocalScheduler| {
            tells.send(local.handle().clone()).unwrap();
            local.run();
        };
        engine.local_scheduler(name, drive).unwrap();
    });
    (hears.recv().unwrap(), thread)
}

/// Counts the tasks that it runs.
fn counting(ran: &Arc<AtomicUsize>) -> Worker {
    let ran = Arc::clone(ran);
    Worker::new("counts").on(move |_: &Ping| {
        ran.fetch_add(1, Ordering::Relaxed);
    })
}

/// A worker of each scheduler, a sender that waits for each task, and an end that comes meanwhile.
/// Each copy is run or dropped, and the sender is told. Failure: a deadlock, when a copy lies where
/// nobody looks any more; a wrong count.
#[test]
fn an_end_in_the_middle_loses_no_task() {
    explore("each copy is run or dropped", 1_500, || {
        let engine = Engine::new();
        let ran = Arc::new(AtomicUsize::new(0));
        let started = ["a", "b"].map(|name| start(&engine, name));
        for (scheduler, _) in &started {
            scheduler.add(counting(&ran)).unwrap();
        }
        let sends = thread::spawn({
            let engine = engine.clone();
            move || {
                let told = [
                    engine.complete(Ping).unwrap(),
                    engine.complete(Ping).unwrap(),
                ];
                told.map(|Completed { ran, .. }| ran).iter().sum::<usize>()
            }
        });
        engine.terminate();
        let told = sends.join().unwrap();
        for (_, thread) in started {
            thread.join().unwrap();
        }
        assert_eq!(told, ran.load(Ordering::Relaxed));
    });
}

/// In one scheduler, a worker sends tasks to workers of both, from a task that waits: in a fiber,
/// or on the stack of the loop. Failure: a deadlock; or an answer that nobody gave.
fn a_task_waits_for_others(claim: &str, in_fiber: bool) {
    explore(claim, 1_500, move || {
        let engine = Engine::new();
        let ran = Arc::new(AtomicUsize::new(0));
        let started = ["a", "b"].map(|name| start(&engine, name));
        for (scheduler, _) in &started {
            scheduler.add(counting(&ran)).unwrap();
        }
        let seen = Arc::clone(&ran);
        let asks = Worker::new("asks").on(move |_: &Pong, context: Context<'_>| {
            let told = context.complete(Ping).map(|completed| completed.ran);
            assert_eq!(told.ok(), Some(2));
            assert_eq!(seen.load(Ordering::Relaxed), 2);
        });
        let asks = match in_fiber {
            true => asks.in_fiber(),
            false => asks,
        };
        let asks = started[0].0.add(asks).unwrap();
        assert_eq!(
            engine.complete(Pong).unwrap(),
            Completed { ran: 1, dropped: 0 }
        );
        assert_eq!(asks.exit(), None);
        engine.terminate();
        for (_, thread) in started {
            thread.join().unwrap();
        }
        assert_eq!(asks.exit(), Some(Exit::Terminated));
    });
}

#[test]
fn a_task_on_the_loops_stack_waits_for_others() {
    a_task_waits_for_others("a task waits on the loop's stack", false);
}

#[test]
fn a_task_in_a_fiber_waits_for_others() {
    a_task_waits_for_others("a task waits in a fiber", true);
}

/// A worker owns data, and one of another scheduler reads it; the owner ends, and so must the
/// reader, whatever it is doing. Failure: it stays, or reads destroyed data.
#[test]
fn an_owner_takes_its_users_along() {
    explore("users end with their owner", 1_500, || {
        let engine = Engine::new();
        let started = ["a", "b"].map(|name| start(&engine, name));
        let owner = started[0]
            .0
            .add(Worker::new("owner").owns(|| vec![1, 2, 3]))
            .unwrap();
        let reads = Worker::new("reads")
            .shared::<Vec<i32>>()
            .on(|_: &Ping, data: &Vec<i32>| {
                thread::yield_now();
                assert_eq!(data.len(), 3);
            });
        let reads = started[1].0.add(reads).unwrap();
        let bound = engine.complete(Ping).unwrap();
        assert_eq!(bound, Completed { ran: 1, dropped: 0 });
        engine.broadcast(Ping);
        owner.remove().unwrap();
        assert_eq!(
            reads.join().unwrap(),
            Exit::OwnerGone(std::any::type_name::<Vec<i32>>())
        );
        assert_eq!(owner.join().unwrap(), Exit::Removed);
        engine.terminate();
        for (_, thread) in started {
            thread.join().unwrap();
        }
    });
}
