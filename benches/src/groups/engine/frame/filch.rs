//! Workers that list the systems as functions of one task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use filch_engine::{Context, LocalScheduler, Worker};
use filch_frames::filch::list;
use filch_frames::{Frame, SYSTEMS, Settings};

use super::timed;
use crate::groups::engine::filch::{Ends, add};

/// One worker, in a scheduler that the calling thread drives.
pub(super) fn driven(frames: u64) -> f64 {
    let engine = Ends::new();
    let drive = |local: &LocalScheduler| {
        let done = Arc::new(AtomicU64::new(0));
        let [worker] = workers(&done);
        local.handle().add(worker).expect("it fits");
        let sender = engine.sender::<Frame>();
        let mut sent = 0;
        timed(frames, || {
            sender.send(Frame);
            sent += 1;
            while done.load(Ordering::Relaxed) < sent {
                local.update();
            }
        })
    };
    engine
        .local_scheduler("local", drive)
        .expect("the first one")
}

/// A worker is through with a frame.
#[derive(Clone)]
struct Done;

/// Two workers: one in a scheduler that the calling thread drives, one in a thread's. That one's
/// [`Done`] wakes the caller.
pub(super) fn shared(frames: u64) -> f64 {
    let engine = Ends::new();
    let drive = |local: &LocalScheduler| {
        let done = Arc::new(AtomicU64::new(0));
        let [first, second] = workers(&done);
        local.handle().add(first).expect("it fits");
        let hears = Worker::new("hears").on(|_: &Done| {});
        local.handle().add(hears).expect("it fits");
        // The second reads what the first owns.
        local.update();
        add(&engine.start("other"), second);
        let sender = engine.sender::<Frame>();
        let mut sent = 0;
        timed(frames, || {
            sender.send(Frame);
            sent += 2;
            while done.load(Ordering::Acquire) < sent {
                local.update();
            }
        })
    };
    engine
        .local_scheduler("local", drive)
        .expect("the first one")
}

/// Workers in schedulers with threads of their own; the caller blocks until a frame is over.
pub(super) fn asked(frames: u64, schedulers: usize) -> f64 {
    let engine = Ends::new();
    let done = Arc::new(AtomicU64::new(0));
    let all = match schedulers {
        1 => Vec::from(workers::<1>(&done)),
        _ => Vec::from(workers::<2>(&done)),
    };
    for worker in all {
        add(&engine.start("thread"), worker);
    }
    timed(frames, || {
        assert_eq!(engine.complete(Frame).ran, schedulers);
    })
}

/// `COUNT` workers with equal shares of the systems. Each adds one to `done` when it is through
/// with a frame. The settings are the first one's.
fn workers<const COUNT: usize>(done: &Arc<AtomicU64>) -> [Worker; COUNT] {
    std::array::from_fn(|number| {
        let worker = Worker::new(number.to_string());
        let worker = match number {
            0 => worker.owns(Settings::default),
            _ => worker.shared::<Settings>(),
        };
        let share = number * SYSTEMS / COUNT..(number + 1) * SYSTEMS / COUNT;
        let worker = list(worker, share);
        let done = Arc::clone(done);
        worker.on(move |_: &Frame, context: Context<'_>| {
            done.fetch_add(1, Ordering::Release);
            context.broadcast(Done);
        })
    })
}
