//! The ends of tasks, workers and schedulers, and their reports.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::common::{EndsInTime, engine, here, sleepy_engine, until};
use filch_engine::{Completed, Context, Engine, Exit, Stage, WaitsFor, Worker};

use super::{Ping, Pong, waits_for};

/// Sends more than a scheduler takes in a round, and then a task that a thread waits for.
struct SendsLate(Engine, Arc<Mutex<Option<thread::JoinHandle<Completed>>>>);

impl Drop for SendsLate {
    fn drop(&mut self) {
        for number in 0..3000 {
            self.0.broadcast(Ping(number));
        }
        let (tell, told) = channel();
        let engine = self.0.clone();
        let waiter = thread::spawn(move || {
            tell.send(()).unwrap();
            engine.complete(Ping(0)).unwrap()
        });
        told.recv().unwrap();
        *self.1.lock().unwrap() = Some(waiter);
    }
}

#[test]
fn a_local_scheduler_that_was_run_to_its_end_keeps_nobody_waiting() {
    let engine = engine();
    let waiter = Arc::default();
    let completed = here(&engine, |local| {
        let late = SendsLate(engine.clone(), Arc::clone(&waiter));
        let worker = Worker::new("late").on(|_: &Ping| {}).local(move || late);
        let worker = local.handle().add(worker).unwrap();
        while worker.stage() != Stage::Runs {
            local.poll();
        }
        local.handle().terminate();
        local.run();
        assert!(local.handle().is_terminated());
        let waiter = waiter.lock().unwrap().take().unwrap();
        waiter.join().unwrap()
    });
    assert_eq!(completed.ran, 0);
}

/// Its workers end in peace: a worker that sees the thread panic would take that for its own panic.
#[test]
fn a_panic_of_the_one_that_drives_is_not_one_of_its_workers() {
    let engine = engine();
    let waiter = Mutex::new(None);
    let has_it = Arc::new(AtomicBool::new(false));
    let drives = || {
        here(&engine, |local| {
            let tells = Arc::clone(&has_it);
            let worker = Worker::new("receives").receives::<Ping>().in_fiber();
            let worker = worker.run(move |context| {
                let _ping = context.receive::<Ping>().unwrap();
                tells.store(true, Ordering::Relaxed);
                while context.give_way().is_ok() {}
            });
            local.handle().add(worker).unwrap();
            let waits = engine.clone();
            *waiter.lock().unwrap() = Some(thread::spawn(move || waits.complete(Ping(1)).unwrap()));
            while !has_it.load(Ordering::Relaxed) {
                local.update();
            }
            panic!("wanted by the test");
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(drives)).is_err());
    let waiter = waiter.into_inner().unwrap_or_else(PoisonError::into_inner);
    let completed = waiter.unwrap().join().unwrap();
    assert_eq!(completed, Completed { ran: 1, dropped: 0 });
}

/// A scheduler sleeps while its worker waits for a task: every end of the task must wake it.
/// Failure: the test does not end.
#[test]
fn each_end_of_a_task_wakes_the_scheduler_that_waits_for_it() {
    #[derive(Clone, Copy)]
    enum Ending {
        Runs,
        Panics,
        IsRemoved,
        IsTerminated,
        Receives,
        PanicsWithIt,
        Returns,
    }
    use Ending::*;
    for ending in [
        Runs,
        Panics,
        IsRemoved,
        IsTerminated,
        Receives,
        PanicsWithIt,
        Returns,
    ] {
        for in_fiber in [false, true] {
            for _ in 0..50 {
                let engine = sleepy_engine();
                let there = engine.scheduler("there").unwrap();
                let got_it = Arc::new(AtomicBool::new(false));
                let gets = Arc::clone(&got_it);
                let other = Worker::new("other").in_fiber();
                let other = match ending {
                    Runs => other.on(|_: &Ping| {}),
                    Panics => other.on(|_: &Ping| panic!("wanted by the test")),
                    IsRemoved | IsTerminated => other.on(move |_: &Ping, context: Context<'_>| {
                        gets.store(true, Ordering::Relaxed);
                        let _ = context.wait_until(|| false);
                    }),
                    Receives => {
                        other.receives::<Ping>().run(
                            |context: Context<'_>| {
                                while context.receive::<Ping>().is_ok() {}
                            },
                        )
                    }
                    PanicsWithIt => other.receives::<Ping>().run(|context: Context<'_>| {
                        let _ping = context.receive::<Ping>();
                        panic!("wanted by the test");
                    }),
                    Returns => other
                        .receives::<Ping>()
                        .receives::<Pong>()
                        .run(|context: Context<'_>| drop(context.receive::<Pong>())),
                };
                let other = there.add(other).unwrap();
                let waits = Worker::new("waits").run(|context: Context<'_>| {
                    let completed = context.complete(Ping(1));
                    assert!(
                        completed.is_ok_and(|completed| completed.ran + completed.dropped == 1)
                    );
                });
                let waits = match in_fiber {
                    true => waits.in_fiber(),
                    false => waits,
                };
                let waits = engine.scheduler("here").unwrap().add(waits).unwrap();
                match ending {
                    Returns => drop(engine.broadcast(Pong(1))),
                    IsRemoved | IsTerminated => {
                        while !got_it.load(Ordering::Relaxed) {
                            thread::yield_now();
                        }
                        match ending {
                            IsRemoved => other.remove().unwrap(),
                            _ => there.terminate(),
                        }
                    }
                    _ => {}
                }
                assert_eq!(waits.join().unwrap(), Exit::Finished);
            }
        }
    }
}

/// Failure: the test does not end.
#[test]
fn whatever_a_worker_waits_for_it_hears_that_it_is_to_end() {
    type Waits = fn(Context<'_>);
    let ways: [Waits; 4] = [
        |context| drop(context.receive::<Pong>()),
        |context| drop(context.complete(Ping(1))),
        |context| assert!(context.wait_until(|| false).is_err()),
        |context| while context.give_way().is_ok() {},
    ];
    for waits in ways {
        for (in_fiber, is_removed) in [(false, false), (false, true), (true, false), (true, true)] {
            for number in 0..50 {
                let engine = sleepy_engine();
                let never = Worker::new("never").receives::<Ping>().in_fiber();
                let never = never.run(|context| drop(context.receive::<Pong>()));
                let never = never.receives::<Pong>();
                engine.scheduler("there").unwrap().add(never).unwrap();
                let worker = Worker::new("waits").receives::<Pong>().run(waits);
                let worker = match in_fiber {
                    true => worker.in_fiber(),
                    false => worker,
                };
                let here = engine.scheduler("here").unwrap();
                let worker = here.add(worker).unwrap();
                // Before it runs, or while it runs.
                while number % 2 == 0 && worker.stage() != Stage::Runs {
                    thread::yield_now();
                }
                match is_removed {
                    true => worker.remove().unwrap(),
                    false => here.terminate(),
                }
                worker.join().unwrap();
            }
        }
    }
}

/// The worker sleeps, and is told on top of its stack.
#[test]
fn one_without_a_fiber_that_waits_for_a_task_ends_with_its_data() {
    let engine = sleepy_engine();
    let owner = Worker::new("owner").owns(|| 7_u32);
    let owner = engine.start("there").add(owner).unwrap();
    let user = Worker::new("user").shared::<u32>().receives::<Ping>();
    let user = user.run(|context: Context<'_>| drop(context.receive::<Ping>()));
    let user = engine.start("here").add(user).unwrap();
    let waits = Some(WaitsFor::Receive(std::any::type_name::<Ping>()));
    until(|| waits_for(&engine, "user") == waits);
    owner.remove().unwrap();
    assert_eq!(user.ends(), Exit::OwnerGone("u32"));
}
