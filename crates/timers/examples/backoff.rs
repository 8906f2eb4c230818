//! Tries again at growing intervals until an attempt succeeds, on a clock that the example moves:
//! it takes no time, and prints the same each time.
//!
//! The client knows the timers alone. In production they are `Timers::new()`, and nothing else
//! changes.

use std::sync::mpsc;
use std::time::Duration;

use filch_timers::{FakeClock, Timers};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Calls `attempt` until it succeeds, and pauses twice as long after each failure. Returns the
/// number of calls.
fn with_backoff(timers: &Timers, mut attempt: impl FnMut() -> bool) -> u32 {
    let mut pause = FIRST_PAUSE;
    let mut attempts = 1;
    while !attempt() {
        let (wake, woken) = mpsc::channel();
        let set = timers.call_after(pause, move || {
            // Fails if nobody waits any more.
            let _ = wake.send(());
        });
        if set.is_err() || woken.recv().is_err() {
            // The timers are shut down, and have handed the call back, or dropped it.
            break;
        }
        pause = LONGEST_PAUSE.min(2 * pause);
        attempts += 1;
    }
    attempts
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone())?;
    // The server is up again after three seconds.
    let client = std::thread::spawn({
        let clock = clock.clone();
        move || {
            with_backoff(&timers, || {
                let up = clock.elapsed() >= Duration::from_secs(3);
                println!(
                    "{:>4} ms: {}",
                    clock.elapsed().as_millis(),
                    if up { "up" } else { "down" }
                );
                up
            })
        }
    });
    for pause in [100, 200, 400, 800, 1000, 1000].map(Duration::from_millis) {
        clock.block_until(1); // the attempt has failed, and the client waits
        clock.advance(pause);
    }
    let attempts = client.join().map_err(|_| "the client panicked")?;
    assert_eq!(attempts, 7);
    println!("connected at the {attempts}th attempt");
    Ok(())
}
