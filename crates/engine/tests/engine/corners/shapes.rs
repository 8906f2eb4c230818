//! Tasks that fit their envelopes or not, with destructors and clones that panic. Each value that
//! was made is dropped once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::thread;

use crate::common::engine;

use super::Ping;
use filch_engine::{Context, NestedError, Worker};

static ALIVE: AtomicIsize = AtomicIsize::new(0);

/// Counts the living values. Its fourth clone panics.
struct Counted<S> {
    shape: S,
    clones: Arc<AtomicUsize>,
}

impl<S> Counted<S> {
    fn new(shape: S) -> Self {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        let clones = Arc::default();
        Self { shape, clones }
    }
}

impl<S: Clone> Clone for Counted<S> {
    fn clone(&self) -> Self {
        let clones = self.clones.fetch_add(1, Ordering::Relaxed);
        assert!(clones != 3, "wanted by the test");
        ALIVE.fetch_add(1, Ordering::Relaxed);
        let (shape, clones) = (self.shape.clone(), Arc::clone(&self.clones));
        Self { shape, clones }
    }
}

impl<S> Drop for Counted<S> {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone)]
#[repr(align(64))]
struct Aligned<S>(S);

/// No bytes, and a destructor.
struct Nothing;

static NOTHINGS: AtomicIsize = AtomicIsize::new(0);

impl Nothing {
    fn new() -> Self {
        NOTHINGS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Clone for Nothing {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        NOTHINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn goes<T: Send + Sync + Clone + 'static>(make: impl Fn() -> T) {
    let engine = engine();
    let schedulers = ["one", "two"].map(|name| engine.scheduler(name).unwrap());
    let mut workers = Vec::new();
    for scheduler in &schedulers {
        for in_fiber in [false, true] {
            let looks = Worker::new("looks").on(|task: &T, context: Context<'_>| {
                let address = std::ptr::from_ref(task).addr();
                assert!(address.is_multiple_of(align_of::<T>()), "misplaced");
                let _ = context.give_way();
                // Inside of itself, while it is borrowed.
                assert!(matches!(
                    context.run_task(Ping(1)),
                    Err(NestedError::Unlisted(_))
                ));
            });
            let looks = match in_fiber {
                true => looks.in_fiber(),
                false => looks,
            };
            workers.push(scheduler.add(looks).unwrap());
        }
    }
    let receives = Worker::new("receives").receives::<T>().in_fiber();
    let receives = receives.run(|context: Context<'_>| {
        let mut kept = Vec::new();
        while let Ok(received) = context.receive::<T>() {
            let address = std::ptr::from_ref(&*received).addr();
            assert!(address.is_multiple_of(align_of::<T>()), "misplaced");
            kept.push(received);
            if kept.len() == 2 {
                kept.remove(0);
            }
            let _ = context.give_way();
        }
        // The last one outlives the scheduler.
    });
    schedulers[0].add(receives).unwrap();
    for _ in 0..3 {
        let sends = AssertUnwindSafe(|| engine.broadcast(make()));
        let _ = catch_unwind(sends);
    }
    for worker in &workers {
        let _ = worker.send(make());
    }
    workers[0].remove().unwrap();
    workers[0].join().unwrap();
    assert!(workers[0].send(make()).is_err());
    let waits = engine.clone();
    let task = make();
    let waits = thread::spawn(move || catch_unwind(AssertUnwindSafe(|| waits.complete(task))));
    engine.terminate();
    engine.join().unwrap();
    let _ = waits.join().unwrap();
    assert!(workers[1].send(make()).is_err());
}

#[test]
fn each_shape_goes_and_is_dropped_once() {
    goes(Nothing::new);
    goes(|| Aligned(Nothing::new()));
    goes(|| Counted::new(()));
    goes(|| Counted::new(7_u64));
    goes(|| Counted::new([7_u64; 9]));
    goes(|| Aligned(Counted::new(7_u8)));
    goes(|| Bombed::new(()));
    goes(|| Bombed::new([7_u64; 9]));
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    assert_eq!(NOTHINGS.load(Ordering::Relaxed), 0);
}

/// Panics in its destructor on a scheduler's thread, but not on the test's.
#[derive(Clone)]
struct Bombed<S> {
    _shape: S,
    _bomb: Bomb,
}

impl<S> Bombed<S> {
    fn new(shape: S) -> Self {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        let _bomb = Bomb(thread::current().id());
        Self {
            _shape: shape,
            _bomb,
        }
    }
}

struct Bomb(thread::ThreadId);

impl Clone for Bomb {
    fn clone(&self) -> Self {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
        let is_outside = self.0 == thread::current().id() || thread::panicking();
        assert!(is_outside, "wanted by the test");
    }
}
