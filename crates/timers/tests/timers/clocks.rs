//! Clocks that the test moves, and threads that wait for them.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use filch_timers::Timers;

use crate::{SECOND, fake};

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
