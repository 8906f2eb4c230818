//! A scheduler whose workers only wait for tasks sleeps until it is woken.

use filch_engine::{Completed, Engine, Exit, LocalScheduler, Stage, Worker};
use filch_models::Bound;
use filch_parker::{Parker, Unparker};

use super::{Other, Ping, drive_until};

/// Makes an engine whose schedulers sleep at once: rounds before the sleep would hide the race.
fn sleepy() -> Engine {
    Engine::with_rounds_before_rest(0)
}

/// Two threads: one drives a scheduler until it is terminated, and sleeps in between; the other
/// adds a worker, sends it a task, waits for that, removes the worker, waits for its end, and
/// terminates the scheduler. Each of the four may come before the scheduler looks, between its look
/// and its sleep, or in its sleep. Failure: a deadlock, when one of them wakes nobody.
#[test]
fn whatever_comes_wakes_the_scheduler() {
    Bound::preemptions(3, 15_000).check("messages race a scheduler's sleep", || {
        let engine = sleepy();
        let drive = |scheduler: &LocalScheduler| {
            let engine = engine.clone();
            let handle = scheduler.handle().clone();
            let sends = Other::spawn(move || {
                let worker = Worker::new("worker").on(|_: &Ping| {});
                let worker = handle.add(worker).expect("it fits");
                assert_eq!(
                    engine.complete(Ping).unwrap(),
                    Completed { ran: 1, dropped: 0 }
                );
                worker.remove().expect("the first time");
                assert_eq!(worker.join().unwrap(), Exit::Removed);
                engine.terminate();
            });
            scheduler.run();
            sends.join();
        };
        engine.local_scheduler("only", drive).expect("the first");
    });
}

/// Wakes a thread when it is dropped.
struct Tells(Unparker);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// Two threads, each with a scheduler. A worker of the second uses what a worker of the first owns,
/// and its scheduler sleeps. The owner ends, and nobody sends a task. Failure: a deadlock, when the
/// user and its scheduler sleep on.
#[test]
fn the_end_of_an_owner_wakes_the_scheduler_of_its_user() {
    Bound::preemptions(3, 880).check("an owner's end races its user's sleep", || {
        let engine = sleepy();
        let drive_own = |own: &LocalScheduler| {
            let owner = own.handle().add(Worker::new("owner").owns(|| 7_u32));
            let owner = owner.expect("it fits");
            drive_until(own, || owner.stage() == Stage::Runs);
            let (is_bound, has_ended) = (Parker::new(), Parker::new());
            let user = Other::spawn({
                let (bound, ended) = (is_bound.unparker(), has_ended.unparker());
                let engine = engine.clone();
                let drive = move |other: &LocalScheduler| {
                    let user = Worker::new("user")
                        .shared::<u32>()
                        .local(move || Tells(ended));
                    let user = other.handle().add(user).expect("it fits");
                    drive_until(other, || user.stage() == Stage::Runs);
                    bound.unpark();
                    other.run();
                };
                move || engine.local_scheduler("other", drive).expect("the second")
            });
            is_bound.park();
            owner.remove().expect("the first time");
            drive_until(own, || owner.exit().is_some());
            has_ended.park();
            engine.terminate();
            user.join();
        };
        engine.local_scheduler("own", drive_own).expect("the first");
    });
}

/// Two threads, each with a scheduler. A worker of the first changes what one of the second reads;
/// one task comes for both. The reader may be refused, and its scheduler sleeps until the writer
/// unlocks. Failure: a deadlock, when the unlock does not find it.
#[test]
fn an_unlock_wakes_the_scheduler_of_a_refused_worker() {
    Bound::preemptions(3, 1_000).check("an unlock races a sleep", || {
        let engine = sleepy();
        let drive_own = |own: &LocalScheduler| {
            let owner = Worker::new("owner").owns(|| 7_u32);
            let owner = owner.on(|_: &Ping, number: &mut u32| *number += 1);
            let owner = own.handle().add(owner).expect("it fits");
            drive_until(own, || owner.stage() == Stage::Runs);
            let (is_bound, has_read) = (Parker::new(), Parker::new());
            let user = Other::spawn({
                let (bound, read) = (is_bound.unparker(), has_read.unparker());
                let engine = engine.clone();
                let drive = move |other: &LocalScheduler| {
                    let user = Worker::new("user").shared::<u32>();
                    let user = user.on(move |_: &Ping, number: &u32| {
                        assert!((7..=8).contains(number));
                        read.unpark();
                    });
                    let user = other.handle().add(user).expect("it fits");
                    drive_until(other, || user.stage() == Stage::Runs);
                    bound.unpark();
                    other.run();
                };
                move || engine.local_scheduler("other", drive).expect("the second")
            });
            is_bound.park();
            assert_eq!(engine.broadcast(Ping), 2);
            own.poll();
            has_read.park();
            engine.terminate();
            user.join();
        };
        engine.local_scheduler("own", drive_own).expect("the first");
    });
}
