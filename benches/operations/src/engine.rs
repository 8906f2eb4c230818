//! Tasks of an engine whose one scheduler this thread drives.

use filch_engine::{Engine, LocalScheduler, Worker};

/// Tasks that are sent before the worker has its turn: as many as it runs in one.
const A_TURN: u64 = 64;

/// The worker's data.
#[derive(Default)]
struct Sum(u64);

#[derive(Clone)]
struct Add(u64);

/// Each task is sent from outside, and its function locks one piece of data.
pub(crate) fn task(times: u64) {
    let engine = Engine::new();
    let sender = engine.sender::<Add>();
    let drive = |local: &LocalScheduler| {
        let worker = Worker::new("adds").owns(Sum::default);
        let worker = worker.on(|add: &Add, sum: &mut Sum| sum.0 += add.0);
        let worker = local.handle().add(worker).expect("it fits");
        let mut left = times;
        while left > 0 {
            let sent = left.min(A_TURN);
            (1..=sent).for_each(|number| {
                assert_eq!(sender.send(Add(number)), 1);
            });
            local.poll();
            left -= sent;
        }
        worker.remove().expect("the first time");
    };
    engine.local_scheduler("local", drive).expect("the first");
}
