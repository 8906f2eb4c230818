//! Workers come and go under load, on several schedulers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{EndsInTime, engine};
use filch_engine::{Completed, Context, Exit, Worker};

#[derive(Clone)]
struct Add(usize);

#[derive(Clone)]
struct Check;

/// Two sums that are always equal, unless a reader sees a task half done.
struct Sums {
    left: usize,
    right: usize,
}

/// Many more rounds than a test needs to see the code work, few enough for a sanitizer.
const ROUNDS: usize = 300;

#[test]
fn workers_come_and_go_and_no_task_is_lost_or_seen_half_way() {
    let engine = engine();
    let logic = engine.start("logic");
    let others = ["a", "b"].map(|name| engine.start(name));
    let owner = Worker::new("owner").owns(|| Sums { left: 0, right: 0 }).on(
        |add: &Add, sums: &mut Sums| {
            sums.left += add.0;
            std::hint::black_box(&sums.left);
            sums.right += add.0;
        },
    );
    logic.add(owner).unwrap();
    let checked = Arc::new(AtomicUsize::new(0));
    let guest = |checked: &Arc<AtomicUsize>, in_fiber: bool| {
        let checked = Arc::clone(checked);
        let guest = Worker::new("guest").shared::<Sums>().on(
            move |_: &Check, context: Context<'_>, sums: &Sums| {
                assert_eq!(sums.left, sums.right);
                let _ = context.give_way();
                assert_eq!(sums.left, sums.right);
                checked.fetch_add(1, Ordering::Relaxed);
            },
        );
        match in_fiber {
            true => guest.in_fiber(),
            false => guest,
        }
    };
    thread::scope(|scope| {
        // One thread adds to the sums; in two others guests come and go.
        let adds = scope.spawn(|| {
            let sender = engine.sender::<Add>();
            (0..20 * ROUNDS).for_each(|_| assert_eq!(sender.send(Add(1)), 1));
        });
        for (number, scheduler) in others.iter().enumerate() {
            let (engine, checked) = (&engine, &checked);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let in_fiber = (round + number) % 2 == 0;
                    let guest = scheduler.add(guest(checked, in_fiber)).unwrap();
                    let Completed { ran, dropped } = engine.complete(Check);
                    assert!(ran + dropped >= 1, "the guest was there");
                    guest.remove().unwrap();
                    assert_eq!(guest.ends(), Exit::Removed);
                }
            });
        }
        adds.join().unwrap();
    });
    assert!(checked.load(Ordering::Relaxed) >= 2 * ROUNDS);
    assert_eq!(engine.complete(Add(0)), Completed { ran: 1, dropped: 0 });
    let total = Arc::new(AtomicUsize::new(0));
    let tells = Arc::clone(&total);
    let asks = Worker::new("asks")
        .group::<Sums>()
        .on(move |_: &Check, sums: &Sums| {
            tells.store(sums.left, Ordering::Relaxed);
        });
    logic.add(asks).unwrap();
    engine.complete(Check);
    assert_eq!(total.load(Ordering::Relaxed), 20 * ROUNDS);
}

/// The engine is terminated while everything is under way: every waiter is told.
#[test]
fn an_end_in_the_middle_releases_everybody() {
    for round in 0..50 {
        let engine = engine();
        let schedulers = ["a", "b"].map(|name| engine.start(name));
        for scheduler in &schedulers {
            let worker = Worker::new("worker").on(|_: &Add| {});
            scheduler.add(worker).unwrap();
            let waits = Worker::new("waits")
                .in_fiber()
                .on(|_: &Check, context: Context<'_>| {
                    let _ = context.complete(Add(1));
                });
            scheduler.add(waits).unwrap();
        }
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let Completed { ran, dropped } = engine.complete(Check);
                        assert!(ran + dropped <= 3);
                    }
                });
            }
            (0..round).for_each(|_| thread::yield_now());
            engine.terminate();
        });
    }
}
