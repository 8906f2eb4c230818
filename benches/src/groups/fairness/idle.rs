//! The cost of a scheduler that has nothing to do, or next to nothing: the processor time of the
//! whole process, in per cent of one core.

use std::thread;
use std::time::Duration;

use super::WARM_UP;
use super::contenders::{Pool, Sender};
use crate::processor_time::load;

/// Messages are sent so often, if at all.
const TICK: Duration = Duration::from_millis(1);

/// A new pool for each round: those of the other contenders do not exist meanwhile, not even
/// asleep.
fn ready<P: Pool>(workers: usize) -> (P, Sender) {
    let pool = P::new(workers);
    let send = pool.receiver(|_| {});
    send(0);
    thread::sleep(WARM_UP);
    (pool, send)
}

/// Without any message.
pub(super) fn asleep<P: Pool>(workers: usize, length: Duration) -> impl FnMut() -> f64 {
    move || {
        let _pool = ready::<P>(workers);
        load(|| thread::sleep(length))
    }
}

/// With a message every [`TICK`].
pub(super) fn ticking<P: Pool>(workers: usize, ticks: u64) -> impl FnMut() -> f64 {
    move || {
        let (_pool, send) = ready::<P>(workers);
        load(|| {
            for number in 0..ticks {
                thread::sleep(TICK);
                send(number);
            }
        })
    }
}
