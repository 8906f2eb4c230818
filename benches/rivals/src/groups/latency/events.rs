//! Events that are made to happen, and the time that each takes.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::groups::fairness::{Over, WARM_UP};
use crate::pools::Pool;
use crate::processor_time::used;

/// Something that happens on a pool when a thread outside asks for it.
pub(super) trait Event: 'static {
    /// The event's name, in quiet.
    const NAME: &'static str;

    /// The name of what is measured of it in quiet.
    const QUIET: &'static str = Self::NAME;

    /// The event's name before "beside".
    const BRIEF: &'static str = Self::NAME;

    fn pool<P: Pool>(workers: usize) -> P {
        P::new(workers)
    }

    /// Returns the function that asks for it. `took` gets the nanoseconds when it has happened.
    fn prepare<P: Pool>(pool: &P, took: Sender<u64>) -> impl FnMut(&P);
}

/// A round of an event.
pub(super) struct Round {
    /// The latencies in microseconds.
    pub(super) latencies: Vec<f64>,
    /// The process's time, from the first event to the last.
    pub(super) processor_time: Duration,
}

/// `count` events, one every `period`, in a pool of their own, which another thread keeps busy.
pub(super) fn round<P: Pool, E: Event>(
    workers: usize,
    keep_busy: impl Fn(&P, &Over) + Sync,
    count: u64,
    period: Duration,
) -> Round {
    let pool: P = E::pool(workers);
    let over = Over::default();
    let (took, taken) = mpsc::channel();
    let mut event = E::prepare(&pool, took);
    thread::scope(|scope| {
        scope.spawn(|| keep_busy(&pool, &over));
        thread::sleep(WARM_UP);
        // Its receiver has perhaps not begun: the first one is not counted.
        event(&pool);
        thread::sleep(period);
        let processor_time = used(|| {
            for _ in 0..count {
                event(&pool);
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
pub(super) struct Message;

impl Event for Message {
    const NAME: &'static str = "message to an idle process";
    const BRIEF: &'static str = "message";

    fn prepare<P: Pool>(pool: &P, took: Sender<u64>) -> impl FnMut(&P) {
        let receiver = pool.actor(move |sent| tell(&took, sent));
        move |_| assert!(P::send(&receiver, now()))
    }
}

/// A future that is woken.
pub(super) struct WakeUp;

#[derive(Default)]
struct Bell(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    /// The times of rings that nobody has heard yet: a late future is woken once for several.
    rung: VecDeque<u64>,
    waiting: Option<Waker>,
}

impl Bell {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        let mut inside = self.inside();
        inside.rung.push_back(now());
        let waiting = inside.waiting.take();
        drop(inside);
        waiting.into_iter().for_each(Waker::wake);
    }

    async fn rung(&self) -> u64 {
        poll_fn(|context| {
            let mut inside = self.inside();
            match inside.rung.pop_front() {
                Some(rung) => Poll::Ready(rung),
                None => {
                    inside.waiting = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Event for WakeUp {
    const NAME: &'static str = "wake-up of a future";
    const BRIEF: &'static str = "wake-up";

    fn prepare<P: Pool>(pool: &P, took: Sender<u64>) -> impl FnMut(&P) {
        let bell = Arc::new(Bell::default());
        let heard = Arc::clone(&bell);
        pool.run(async move {
            loop {
                tell(&took, heard.rung().await);
            }
        });
        move |_| bell.ring()
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
