//! Events that are made to happen, and the time that each takes.

use std::sync::LazyLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::unbounded_channel;

use crate::clock::used;
use crate::groups::fairness::{Over, WARM_UP};
use crate::pools::Pool;

/// Something that happens on a pool when a thread outside asks for it.
pub(crate) trait Event: 'static {
    /// The event's name, in quiet.
    const NAME: &'static str;

    /// The name of what is measured of it in quiet.
    const QUIET: &'static str = Self::NAME;

    /// The event's name before "beside".
    const BRIEF: &'static str = Self::NAME;

    fn pool<P: Pool>(workers: usize) -> P {
        P::with_workers(workers)
    }

    /// Returns the function that asks for it. `took` gets the nanoseconds when it has happened.
    fn prepare<P: Pool>(pool: &P, took: Sender<u64>) -> impl FnMut(&P);
}

/// A round of an event.
pub(crate) struct Round {
    /// The latencies in microseconds.
    pub(crate) latencies: Vec<f64>,
    /// The process's time, from the first event to the last.
    pub(super) processor_time: Duration,
}

/// `count` events, one every `period`, in a pool that another thread keeps busy.
pub(crate) fn round<P: Pool, E: Event>(
    pool: &P,
    keep_busy: impl Fn(&P, &Over) + Sync,
    count: u64,
    period: Duration,
) -> Round {
    let over = Over::default();
    let (took, taken) = mpsc::channel();
    let mut event = E::prepare(pool, took);
    thread::scope(|scope| {
        scope.spawn(|| keep_busy(pool, &over));
        thread::sleep(WARM_UP);
        // Its receiver has perhaps not begun: the first one is not counted.
        event(pool);
        thread::sleep(period);
        let processor_time = used(|| {
            for _ in 0..count {
                event(pool);
                thread::sleep(period);
            }
        });
        let latencies = over.after(&taken, count as usize + 1, PATIENCE);
        let latencies = latencies.into_iter().skip(1);
        Round {
            latencies: latencies.map(|nanos| nanos as f64 / 1e3).collect(),
            processor_time,
        }
    })
}

/// After the last event. Beside some, what waits does so until they are over.
const PATIENCE: Duration = Duration::from_millis(500);

/// Nanoseconds since the first call.
fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// The caller goes away before the pool does: what comes later is nobody's.
fn tell(took: &Sender<u64>, since: u64) {
    let _ = took.send(now().saturating_sub(since));
}

/// A message to a process that waits for it.
pub(crate) struct Message;

impl Event for Message {
    const NAME: &'static str = "message to an idle process";
    const BRIEF: &'static str = "message";

    fn prepare<P: Pool>(pool: &P, took: Sender<u64>) -> impl FnMut(&P) {
        let receiver = pool.actor(move |sent| tell(&took, sent));
        move |_| assert!(P::send(&receiver, now()))
    }
}

/// A future that is woken, by a channel that depends on no pool.
pub(super) struct WakeUp;

impl Event for WakeUp {
    const NAME: &'static str = "wake-up of a future";
    const BRIEF: &'static str = "wake-up";

    fn prepare<P: Pool>(pool: &P, took: Sender<u64>) -> impl FnMut(&P) {
        let (bell, mut rung) = unbounded_channel();
        pool.run(async move {
            while let Some(rung) = rung.recv().await {
                tell(&took, rung);
            }
        });
        move |_| bell.send(now()).expect("it is heard")
    }
}

/// A new task.
pub(super) struct Spawn;

impl Event for Spawn {
    const NAME: &'static str = "from spawn to run";

    fn prepare<P: Pool>(_: &P, took: Sender<u64>) -> impl FnMut(&P) {
        move |pool| {
            let (took, made) = (took.clone(), now());
            pool.spawn(move || tell(&took, made));
        }
    }
}

/// A future that sleeps: how late it wakes up.
pub(super) struct Timer;

impl Timer {
    const DELAY: Duration = Duration::from_millis(1);
}

impl Event for Timer {
    const NAME: &'static str = "a timer of 1 ms";
    const QUIET: &'static str = "a timer of 1 ms, how late";

    fn pool<P: Pool>(workers: usize) -> P {
        P::with_clock(workers)
    }

    fn prepare<P: Pool>(_: &P, took: Sender<u64>) -> impl FnMut(&P) {
        move |pool| {
            let (took, due) = (took.clone(), now() + Self::DELAY.as_nanos() as u64);
            pool.run(async move {
                P::sleep(Self::DELAY).await;
                tell(&took, due);
            });
        }
    }
}
