//! The recording, on real threads: a sound queue passes, and broken ones do not.

use std::collections::VecDeque;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use linearizability::{Clocks, Fifo, FifoOperation, History, Recording, Rounds, Specification};

/// A queue under a lock, with a fault.
struct Locked {
    items: Mutex<VecDeque<u32>>,
    /// The fault of `pop`, which should take the oldest.
    fault: Fault,
}

#[derive(Clone, Copy)]
enum Fault {
    None,
    /// Takes the youngest when there are two.
    Stack,
    /// Is empty when somebody else holds the lock.
    FalselyEmpty,
    /// Looks for the oldest and takes it off in two steps.
    Doubling,
}

impl Locked {
    fn new(fault: Fault) -> Self {
        Self {
            items: Mutex::default(),
            fault,
        }
    }

    fn push(&self, item: u32) {
        self.items.lock().unwrap().push_back(item);
    }

    fn pop(&self) -> Option<u32> {
        match self.fault {
            Fault::None => self.items.lock().unwrap().pop_front(),
            Fault::Stack => {
                let mut items = self.items.lock().unwrap();
                if items.len() == 2 {
                    items.pop_back()
                } else {
                    items.pop_front()
                }
            }
            Fault::FalselyEmpty => {
                let mut items = self.items.try_lock().ok()?;
                let oldest = items.pop_front();
                // Long enough for others to notice.
                std::thread::yield_now();
                oldest
            }
            Fault::Doubling => {
                let oldest = self.items.lock().unwrap().front().copied();
                std::thread::yield_now();
                self.items.lock().unwrap().pop_front();
                oldest
            }
        }
    }
}

/// Two producers, two consumers; then the rest is taken.
fn record(fault: Fault, clocks: Clocks) -> History<FifoOperation<u32>> {
    let queue = &Locked::new(fault);
    let mut recording = Recording::new(clocks);
    for first in [10, 20] {
        recording.thread(move |log| {
            for item in first..first + 4 {
                log.call(|| {
                    queue.push(item);
                    [FifoOperation::Push(item)]
                });
            }
        });
    }
    for _ in 0..2 {
        recording.thread(|log| {
            for _ in 0..4 {
                log.call(|| [FifoOperation::pop(queue.pop())]);
            }
        });
    }
    recording.closing(|log| {
        for _ in 0..9 {
            log.call(|| [FifoOperation::pop(queue.pop())]);
        }
    });
    recording.run()
}

/// Returns the message of the counterexample, if one is found.
fn counterexample(fault: Fault) -> Option<String> {
    let rounds = || {
        Rounds::check(2_000, &Fifo::new(), |clocks| record(fault, clocks));
    };
    let panic = catch_unwind(rounds).err()?;
    Some(*panic.downcast::<String>().expect("a message"))
}

#[test]
fn a_queue_under_a_lock_passes() {
    Rounds::check(300, &Fifo::new(), |clocks| record(Fault::None, clocks));
}

#[test]
fn a_queue_that_is_a_stack_at_times_is_caught() {
    let counterexample = counterexample(Fault::Stack).expect("not caught");
    assert!(
        counterexample.contains("not linearizable"),
        "{counterexample}"
    );
}

#[test]
fn a_queue_that_is_falsely_empty_is_caught() {
    let counterexample = counterexample(Fault::FalselyEmpty).expect("not caught");
    assert!(counterexample.contains("take(1) = []"), "{counterexample}");
}

#[test]
fn a_queue_that_hands_out_an_item_twice_is_caught() {
    let counterexample = counterexample(Fault::Doubling).expect("not caught");
    assert!(
        counterexample.contains("not linearizable"),
        "{counterexample}"
    );
}

/// A counter that shows what one thread's calls know of another's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Counter(u32);

impl Specification for Counter {
    /// The value before the increment.
    type Operation = u32;

    fn apply(&mut self, before: &u32) -> bool {
        self.0 += 1;
        self.0 == before + 1
    }
}

/// By a handshake, each call returns before the other thread's next one begins: nothing overlaps,
/// and the recording knows it.
#[test]
fn what_happens_before_is_recorded_as_before() {
    let (turn, value) = (AtomicU32::new(0), AtomicU32::new(0));
    let mut recording = Recording::new(Clocks::Each);
    for me in 0..2 {
        let (turn, value) = (&turn, &value);
        recording.thread(move |log| {
            for round in 0..50 {
                while turn.load(Ordering::Acquire) != 2 * round + me {
                    std::thread::yield_now();
                }
                log.call(|| [value.fetch_add(1, Ordering::Relaxed)]);
                turn.store(2 * round + me + 1, Ordering::Release);
            }
        });
    }
    let history = recording.run();
    assert_eq!((history.len(), history.overlaps()), (100, 0));
    assert!(linearizability::check(&Counter(0), &history).is_ok());
}
