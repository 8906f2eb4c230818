//! The thread, the shutdown, and shutdowns that would wait for each other.

use std::cell::RefCell;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use filch_timers::{NotSet, Timers, is_timer_thread};

use crate::{SECOND, fake};

/// Sends the id of the thread that dropped it.
struct Farewell(mpsc::Sender<std::thread::ThreadId>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.send(std::thread::current().id());
    }
}

thread_local! {
    static AT_THE_END: RefCell<Option<Farewell>> = const { RefCell::new(None) };
}

#[test]
fn on_the_systems_clock_timers_fire_on_one_thread_which_is_joined() {
    let timers = Timers::new().unwrap();
    let (give, fired) = mpsc::channel();
    let (leave, left) = mpsc::channel();
    // Due last, and registered first: the thread must look again, or it sleeps for the hour.
    timers
        .call_after(3600 * SECOND, || panic!("it is early"))
        .unwrap();
    timers
        .call_after(Duration::from_millis(20), {
            let give = give.clone();
            move || give.send((2, std::thread::current().id())).unwrap()
        })
        .unwrap();
    timers
        .call_after(Duration::from_millis(1), move || {
            AT_THE_END.with(|slot| *slot.borrow_mut() = Some(Farewell(leave)));
            give.send((1, std::thread::current().id())).unwrap();
        })
        .unwrap();
    let (first, second) = (fired.recv().unwrap(), fired.recv().unwrap());
    assert_eq!((first.0, second.0), (1, 2));
    assert_eq!(first.1, second.1);
    assert_ne!(first.1, std::thread::current().id());
    timers.shutdown();
    let left = left.try_recv();
    assert_eq!(left, Ok(first.1), "its locals are gone, and so is it");
}

#[test]
fn timers_may_be_shut_down_and_dropped_by_what_they_fire() {
    let timers = Timers::new().unwrap();
    let (give, take) = mpsc::channel();
    timers
        .call_after(Duration::ZERO, {
            let (timers, give) = (timers.clone(), give.clone());
            move || {
                timers.shutdown();
                give.send(timers.pending()).unwrap();
            }
        })
        .unwrap();
    assert_eq!(take.recv().unwrap(), 0);

    let timers = Timers::new().unwrap();
    let (pass, passed) = mpsc::channel::<Timers>();
    timers
        .call_after(Duration::ZERO, move || {
            drop(passed.recv().unwrap()); // the last one
            give.send(7).unwrap();
        })
        .unwrap();
    pass.send(timers).unwrap();
    assert_eq!(take.recv().unwrap(), 7);
}

/// Each drops the other's last handle on its own thread, after both have begun. A failure: the test
/// hangs, as each waits for the other's thread.
#[test]
fn two_timers_drop_each_other() {
    let (say, said) = mpsc::channel();
    let (first, second) = (Timers::new().unwrap(), Timers::new().unwrap());
    let passes = [&first, &second].map(|timers| {
        let (pass, passed) = mpsc::channel::<Timers>();
        let say = say.clone();
        timers
            .call_after(Duration::ZERO, move || {
                say.send("begun").unwrap();
                drop(passed.recv().unwrap());
                say.send("ended").unwrap();
            })
            .unwrap();
        pass
    });
    let twice = |what| (0..2).for_each(|_| assert_eq!(said.recv(), Ok(what)));
    twice("begun");
    let [to_first, to_second] = passes;
    to_first.send(second).unwrap();
    to_second.send(first).unwrap();
    twice("ended");
}

/// Sets a timer, and waits until its call has begun. That returns when it is released, and says so.
fn set_stuck(timers: &Timers) -> (mpsc::Sender<()>, mpsc::Receiver<u32>) {
    let (begin, begun) = mpsc::channel();
    let (release, gate) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    timers
        .call_after(Duration::ZERO, move || {
            begin.send(()).unwrap();
            gate.recv().unwrap();
            end.send(7).unwrap();
        })
        .unwrap();
    begun.recv().unwrap();
    (release, ended)
}

/// A call that never returns, as far as the timers know. A failure: it hangs.
#[test]
fn a_call_that_does_not_return_keeps_nobody() {
    let timers = Timers::new().unwrap();
    let first = set_stuck(&timers);
    let running = timers.shutdown_timeout(Duration::ZERO).unwrap_err();
    assert_eq!(running.thread, "filch-timers");
    let line = running.to_string();
    assert!(
        line.starts_with("filch-timers: a timer's call, for "),
        "{line}"
    );
    drop(timers);

    let dropped = Timers::new().unwrap();
    let second = set_stuck(&dropped);
    drop(dropped);
    // They return late, and without harm.
    for (release, ended) in [first, second] {
        release.send(()).unwrap();
        assert_eq!(ended.recv(), Ok(7));
    }
}

#[test]
fn a_shutdown_with_patience_waits_for_what_returns() {
    let timers = Timers::new().unwrap();
    let (release, ended) = set_stuck(&timers);
    let releasing = std::thread::spawn(move || release.send(()).unwrap());
    assert_eq!(timers.shutdown_timeout(Duration::MAX), Ok(()));
    assert_eq!(ended.try_recv(), Ok(7));
    releasing.join().unwrap();
    assert_eq!(
        fake().1.shutdown_timeout(Duration::ZERO),
        Ok(()),
        "no thread"
    );
}

#[test]
fn a_thread_that_moves_a_clock_is_no_timer_thread() {
    let (clock, timers) = fake();
    let (give, take) = mpsc::channel();
    timers
        .call_after(SECOND, move || give.send(is_timer_thread()).unwrap())
        .unwrap();
    clock.advance(SECOND);
    assert_eq!(take.recv(), Ok(false));
    assert!(!is_timer_thread());
}

#[test]
fn a_shutdown_drops_what_is_pending() {
    for timers in [Timers::new().unwrap(), fake().1] {
        let payload = Arc::new(());
        let keep = || {
            let payload = Arc::clone(&payload);
            move || drop(payload)
        };
        let before = timers.call_after(3600 * SECOND, keep()).unwrap();
        timers.block_until(1);
        timers.shutdown();
        assert_eq!(Arc::strong_count(&payload), 1);
        assert!(!timers.cancel(before));

        assert_eq!(timers.pending(), 0);
        timers.block_until(1); // says at once that it never will be
        timers.shutdown();
    }
}

/// A failure: it is told that a timer was set, which never fires, and what was given is gone.
#[test]
fn what_comes_after_a_shutdown_comes_back() {
    let (_, timers) = fake();
    timers.shutdown();
    let due = timers.now();
    let (give, given) = mpsc::channel();
    let call = |number| {
        let give = give.clone();
        move || give.send(number).unwrap()
    };
    let NotSet::Closed(at) = timers.call_at(due, call(1)).unwrap_err() else {
        panic!("its deadline is no period");
    };
    at();
    let after = timers.call_after(SECOND, call(2)).unwrap_err();
    after.into_inner()();
    let every = timers.call_every(SECOND, || true).unwrap_err();
    assert!(every.into_inner()());
    let wanted = timers.call_at_while(due, 4, |_| true, drop).unwrap_err();
    let bound = timers.bound(due, 5, |value| assert_eq!(value, 5));
    let (value, call) = bound.unwrap_err().into_inner();
    call(value);
    assert_eq!((given.try_iter().sum::<i32>(), wanted.into_inner()), (3, 4));
    assert_eq!(timers.pending(), 0);
}

#[test]
fn a_destructor_that_panics_costs_its_own_timer() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let (_, timers) = fake();
    let payload = Arc::new(());
    for _ in 0..3 {
        let (bomb, payload) = (Bomb, Arc::clone(&payload));
        timers
            .call_after(SECOND, move || drop((bomb, payload)))
            .unwrap();
    }
    let (bomb, first) = (Bomb, Arc::clone(&payload));
    assert!(
        timers.cancel(
            timers
                .call_after(SECOND, move || drop((bomb, first)))
                .unwrap()
        )
    );
    timers.shutdown();
    assert_eq!(Arc::strong_count(&payload), 1);
}
