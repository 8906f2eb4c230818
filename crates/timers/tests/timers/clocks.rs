//! Clocks that the test moves, and threads that wait for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use filch_timers::{FakeClock, Timers};

use crate::{SECOND, fake};

/// One thread moves the clock, the other cancels: every timer either fires or is cancelled.
#[test]
fn cancelling_races_with_firing() {
    const TIMERS: usize = 20_000;
    let (clock, timers) = fake();
    let fired: Arc<Vec<AtomicUsize>> = Arc::new((0..TIMERS).map(|_| AtomicUsize::new(0)).collect());
    let keys: Vec<_> = (0..TIMERS)
        .map(|number| {
            let fired = Arc::clone(&fired);
            timers
                .call_after(number as u32 * SECOND, move || {
                    fired[number].fetch_add(1, Ordering::Relaxed);
                })
                .unwrap()
        })
        .collect();
    let cancelled: Vec<bool> = thread::scope(|scope| {
        let moving = scope.spawn(|| (0..TIMERS).for_each(|_| clock.advance(SECOND)));
        let cancelled = keys.iter().map(|&key| timers.cancel(key)).collect();
        moving.join().unwrap();
        cancelled
    });
    for (number, cancelled) in cancelled.into_iter().enumerate() {
        let fired = fired[number].load(Ordering::Relaxed);
        assert_eq!(fired, usize::from(!cancelled), "timer {number}");
    }
    assert_eq!(timers.pending(), 0);
}

/// Threads with timers each, on one clock that the test alone knows. A failure: the test hangs, or
/// a turn ends before all have waited for it.
#[test]
fn a_test_moves_the_clock_when_all_wait_for_it() {
    const THREADS: usize = 3;
    const TURNS: u32 = 50;
    let clock = FakeClock::new();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let clock = clock.clone();
            thread::spawn(move || {
                let timers = Timers::with_clock(clock.clone()).unwrap();
                for turn in 1..=TURNS {
                    let (clock, (wake, woken)) = (clock.clone(), mpsc::channel());
                    timers
                        .call_after(SECOND, move || wake.send(clock.elapsed()).unwrap())
                        .unwrap();
                    assert_eq!(woken.recv(), Ok(turn * SECOND));
                }
            })
        })
        .collect();
    for _ in 0..TURNS {
        clock.block_until(THREADS);
        clock.advance(SECOND);
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(clock.elapsed(), TURNS * SECOND);
}

#[test]
fn a_clock_counts_the_timers_of_all_that_live() {
    let (clock, timers) = fake();
    let others = Timers::with_clock(clock.clone()).unwrap();
    clock.block_until(0);
    timers.call_after(SECOND, || {}).unwrap();
    others.call_after(SECOND, || {}).unwrap();
    clock.block_until(2);
    drop(others);
    clock.block_until(1);
    clock.advance(SECOND);
    clock.block_until(0);
}

#[test]
fn a_clock_that_is_moved_too_far_panics_and_goes_on() {
    let (clock, timers) = fake();
    let (give, take) = mpsc::channel();
    timers
        .call_after(SECOND, move || give.send(7).unwrap())
        .unwrap();
    let too_far = thread::spawn({
        let clock = clock.clone();
        move || clock.advance(Duration::MAX)
    });
    assert!(too_far.join().is_err());
    assert_eq!(clock.elapsed(), Duration::ZERO);
    clock.advance(SECOND);
    assert_eq!(take.recv(), Ok(7));
}

/// The system may let a thread sleep for longer, unless the thread refuses. A failure: each timer
/// is 50 µs late, and nobody notices.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_of_the_systems_clock_is_woken_at_its_time() {
    /// The file with the calling thread's slack, in nanoseconds.
    fn slack() -> std::path::PathBuf {
        let thread = std::fs::read_link("/proc/thread-self").unwrap();
        let number = thread.file_name().unwrap();
        std::path::Path::new("/proc")
            .join(number)
            .join("timerslack_ns")
    }
    if std::fs::write(slack(), "50000").is_err() {
        println!("no thread may change its slack here");
        return;
    }
    let (tell, told) = mpsc::channel();
    let timers = Timers::new().unwrap();
    timers
        .call_after(Duration::ZERO, move || {
            tell.send(std::fs::read_to_string(slack())).unwrap();
        })
        .unwrap();
    assert_eq!(told.recv().unwrap().unwrap().trim(), "1");
}
