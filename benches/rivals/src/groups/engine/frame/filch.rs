//! Workers that list the systems as functions of one task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use filch_engine::{Context, LocalScheduler, Worker};
use filch_frames::{Frame, SYSTEMS, Settings, share};

use super::timed;
use crate::groups::engine::{Ends, add};

/// A worker is through with a frame.
#[derive(Clone)]
struct Done;

/// A worker in a scheduler that the calling thread drives, and one in each of those that have
/// threads. Their [`Done`] wakes the caller.
pub(super) fn shared(frames: u64, schedulers: usize) -> f64 {
    let engine = Ends::new();
    let drive = |local: &LocalScheduler| {
        let done = Arc::new(AtomicU64::new(0));
        let mut workers = workers(schedulers, &done);
        local
            .handle()
            .add(workers.next().expect("the first"))
            .expect("it fits");
        if schedulers > 1 {
            let hears = Worker::new("hears").on(|_: &Done| {});
            local.handle().add(hears).expect("it fits");
        }
        // The others read what the first owns.
        local.update();
        for worker in workers {
            add(&engine.start("other"), worker);
        }
        let sender = engine.0.sender::<Frame>();
        let mut sent = 0;
        timed(frames, || {
            sender.send(Frame);
            sent += schedulers as u64;
            while done.load(Ordering::Acquire) < sent {
                local.update();
            }
        })
    };
    engine
        .0
        .local_scheduler("local", drive)
        .expect("the first one")
}

/// Makes `count` workers with equal shares of the systems. Each adds one to `done` when it is
/// through with a frame. The settings are the first one's.
fn workers(count: usize, done: &Arc<AtomicU64>) -> impl Iterator<Item = Worker> {
    (0..count).map(move |number| {
        let worker = Worker::new(number.to_string());
        let worker = match number {
            0 => worker.owns(Settings::default),
            _ => worker.shared::<Settings>(),
        };
        let part = number * SYSTEMS / count..(number + 1) * SYSTEMS / count;
        let worker = share(worker, part);
        let done = Arc::clone(done);
        worker.on(move |_: &Frame, context: Context<'_>| {
            done.fetch_add(1, Ordering::Release);
            context.broadcast(Done);
        })
    })
}
