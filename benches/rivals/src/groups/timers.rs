//! Timers: one is set and cancelled beside many that are pending, as a limit is that is not
//! reached; and many are due at once.
//!
//! tokio's timers count milliseconds, and those of the others nanoseconds.

use std::cell::LazyCell;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use filch_actors::timers::Timers;

use super::fairness::pools;
use crate::clock::{per_operation, time, uncontended_rmws};
use crate::harness::{Scenario, keeping};
use crate::pools::{Pool, TOTAL, Tokio};
use crate::work::workers;

/// Timers that are set, and then cancelled, at a time.
const BATCH: u64 = 1_000;

/// The part of a turn that is its figure.
const PARTS: [&str; 2] = ["set", "cancel"];

pub(crate) fn scenarios() -> Vec<Scenario> {
    let batches = 10;
    let pending = [1_000, 10_000, 100_000, 1_000_000];
    let beside = |pending| [0, 1].map(|part| beside(pending, part, batches));
    let beside = pending.into_iter().flat_map(beside);
    let due = 12_500;
    let kind = "many timers due at once";
    let firing = Scenario::of_workers(kind, workers(), "ns per timer");
    let firing = pools!(firing, contender, |P| fire::<P>(due));
    beside.chain([firing]).collect()
}

/// The cost of a part beside so many timers.
fn beside(pending: u64, part: usize, batches: u64) -> Scenario {
    let name = format!("{} one beside {pending}", PARTS[part]);
    let size = [pending, batches];
    let timers = || Timers::new().expect("the system gives threads");
    let calls = turn(
        size,
        part,
        timers,
        || None,
        |timers, key, delay| {
            let call = move || assert!(delay.is_zero(), "it does not fire here");
            *key = timers.call_after(delay, call).ok();
        },
        |timers, key| assert!(key.take().is_some_and(|key| timers.cancel(key))),
    );
    let ours = sleeps(size, part, timers, Timers::sleep);
    // Its futures are made in reach of it.
    let runtime = LazyCell::new(|| Tokio::with_clock(workers()));
    let mut tokio = sleeps(size, part, || (), |(), delay| tokio::time::sleep(delay));
    let async_io = sleeps(size, part, || (), |(), delay| async_io::Timer::after(delay));
    Scenario::new(name, "ns per timer")
        .contender("filch-timers, a call", calls)
        .contender("filch-timers, a sleep", ours)
        .contender("tokio, a sleep", move || {
            let _reach = runtime.enter();
            tokio()
        })
        .contender("async-io, a timer", async_io)
        .floor("two uncontended RMWs", uncontended_rmws(2, BATCH * batches))
}

/// A slot has room for one timer, and keeps its memory.
fn turn<T: 'static, S>(
    [pending, batches]: [u64; 2],
    part: usize,
    timers: impl FnOnce() -> T,
    slot: fn() -> S,
    set: impl Fn(&T, &mut S, Duration) + Copy,
    cancel: impl Fn(&T, &mut S) + Copy,
) -> impl FnMut() -> f64 {
    let mut random = fastrand::Rng::with_seed(pending);
    let mut delays = move |count| -> Vec<Duration> {
        let delay = |_| Duration::from_nanos(random.u64(60_000_000_000..3_600_000_000_000));
        (0..count).map(delay).collect()
    };
    let mut kept = None;
    let mut timers = Some(timers);
    move || {
        let (timers, _pending, slots) = kept.get_or_insert_with(|| {
            let timers = timers.take().expect("made once")();
            let set = |delay| {
                let mut slot = slot();
                set(&timers, &mut slot, delay);
                slot
            };
            let pending: Vec<S> = delays(pending).into_iter().map(set).collect();
            let slots: Vec<S> = (0..BATCH).map(|_| slot()).collect();
            (timers, pending, slots)
        });
        let mut elapsed = [Duration::ZERO; 2];
        for _ in 0..batches {
            let delays = delays(BATCH);
            let both = slots.iter_mut().zip(delays);
            elapsed[0] += time(|| both.for_each(|(slot, delay)| set(timers, slot, delay)));
            elapsed[1] += time(|| slots.iter_mut().for_each(|slot| cancel(timers, slot)));
        }
        per_operation(elapsed[part], batches * BATCH)
    }
}

/// Futures, each polled once and dropped.
fn sleeps<T: 'static, F: Future>(
    size: [u64; 2],
    part: usize,
    timers: impl FnOnce() -> T,
    sleep: impl Fn(&T, Duration) -> F + Copy,
) -> impl FnMut() -> f64 {
    turn(
        size,
        part,
        timers,
        || Box::pin(None),
        move |timers, slot: &mut Pin<Box<Option<F>>>, delay| {
            slot.set(Some(sleep(timers, delay)));
            let future = slot.as_mut().as_pin_mut().expect("it was just made");
            assert!(
                future
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
        },
        |_, slot| slot.set(None),
    )
}

/// Futures that all sleep until the same time, in a pool: from then until the last one has run.
fn fire<P: Pool>(count: u64) -> impl FnMut() -> f64 {
    /// Longer than it takes to spawn them.
    const AHEAD: Duration = Duration::from_millis(300);
    keeping(
        || P::with_clock(workers()),
        move |pool| {
            TOTAL.expect(count);
            let due = Instant::now() + AHEAD;
            for _ in 0..count {
                pool.run(async move {
                    P::sleep(due.saturating_duration_since(Instant::now())).await;
                    TOTAL.add(1);
                });
            }
            thread::sleep(due.saturating_duration_since(Instant::now()));
            per_operation(time(|| TOTAL.wait()), count)
        },
    )
}
