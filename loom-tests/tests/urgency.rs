//! An urgent signal that stands behind events: the shipped slot, with its flags, its queue and its
//! state. Beside it the way to lose the signal, caught.
//!
//! The race: a process has two events, and its turns take one each. A thread pushes a third one and
//! a signal, sets the bit, and wakes the process; a worker has it at that moment, or has it next.
//! The claim: the first turn that begins after that call finds the signal at the latest, whichever
//! turn cleared the bit. A failure would be a process that ends, or is upgraded, some steps too
//! late.

use filch_models::{Bound, beside};
use filch_process_state::{LetGo, Reason, Wake};
use filch_scheduler::table::{ENDS, Item, Placement, Slot, Table, URGENT};
use filch_scheduler::{Event, Node, Protocol};
use filch_sync::Arc;

const TOO_LATE: &str = "a turn after the call has not found the signal";

enum Numbers {}

impl Protocol for Numbers {
    type Input = ();
    type Message = u8;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// A table with one process.
struct Process(Table<Numbers>);

const SIGNAL: u8 = 9;

impl Process {
    fn with_two_events() -> Arc<Self> {
        let process = Self(Table::new(Node::default()));
        let slot = process.0.occupy(Placement::default()).unwrap();
        assert_eq!(slot.index, 0);
        slot.state.submit().unwrap();
        process.push(1);
        process.push(2);
        Arc::new(process)
    }

    fn slot(&self) -> &Slot<Numbers> {
        self.0.slot(0)
    }

    fn push(&self, number: u8) {
        let item = Item::Event(Event::Message(number));
        assert!(self.slot().events.push(item).is_ok());
    }

    /// Wakes the process. Returns whether the caller has to enqueue it.
    fn wake(&self) -> bool {
        self.slot().state.wake(Reason::Cancel) == Wake::Enqueue
    }

    /// Signals as `Handle::signal` does, behind one more event. Returns whether the caller has to
    /// enqueue the process.
    fn signal(&self) -> bool {
        self.push(3);
        self.push(SIGNAL);
        self.slot().raise(URGENT);
        self.wake()
    }

    /// Does the same in another order: the bit, and then what it is about.
    fn signal_before_the_push(&self) -> bool {
        self.slot().raise(URGENT);
        self.push(3);
        self.push(SIGNAL);
        self.wake()
    }

    /// Terminates as `Handle::terminate` does. Returns whether the caller has to enqueue it.
    fn terminate(&self) -> bool {
        self.slot().raise(ENDS);
        self.wake()
    }

    /// Begins as `Driver::step` does. Returns whether it ends the process.
    fn ends(&self) -> bool {
        self.slot().state.start().unwrap();
        let ends = self.slot().has(ENDS);
        if !ends {
            self.takes_urgent();
        }
        ends
    }

    fn takes_urgent(&self) -> bool {
        let is_urgent = self.slot().has(URGENT);
        if is_urgent {
            self.slot().clear_urgent();
        }
        is_urgent
    }

    /// Takes a turn as `Driver::step` does. Returns the number of signals that it has found.
    fn turn(&self) -> usize {
        self.slot().state.start().unwrap();
        let most = if self.takes_urgent() { usize::MAX } else { 1 };
        let mut found = 0;
        let is_signal = |item: &_| matches!(item, Item::Event(Event::Message(SIGNAL)));
        // SAFETY: the thread that has started the process is its queue's one consumer.
        unsafe {
            let events = &self.slot().events;
            events.drain_up_to(most, |item| found += usize::from(is_signal(&item)))
        };
        found
    }
}

/// Tells in which of two turns the signal was found: the first may have come too early.
fn meet(signal: fn(&Process) -> bool) -> usize {
    let process = Process::with_two_events();
    let other = beside(&process, signal);
    let early = process.turn();
    // There is more in the queue, perhaps.
    assert_eq!(process.slot().state.yield_now(), Ok(LetGo::Enqueue));
    let enqueues = other.join().unwrap();
    assert!(!enqueues, "it was Ready, or Running");
    let late = process.turn();
    assert_eq!(early + late, 1, "{TOO_LATE}");
    assert!(!process.takes_urgent(), "it was taken back");
    early + 2 * late
}

#[test]
fn a_signal_is_found_by_the_next_turn() {
    Bound::exhaustive(1_400)
        .outcomes(
            "the turn that clears the bit finds the signal, and no other need look",
            || meet(Process::signal),
        )
        .assert_exactly([1, 2]);
}

#[test]
fn a_bit_before_the_push_is_cleared_in_vain() {
    Bound::exhaustive(1).refute("the bit is set before the push", TOO_LATE, || {
        meet(Process::signal_before_the_push);
    });
}

/// Three threads: two signal at once, a worker takes turns. The claim: the turn that clears the
/// bit finds both signals, or the other is announced again. A failure would be a signal that is
/// announced by a plain store over another's: the worker clears the bit and does not see the push
/// of the first.
#[test]
fn two_signals_are_both_found() {
    Bound::preemptions(2, 100)
        .outcomes("a bit that two have set tells of both signals", || {
            let process = Process::with_two_events();
            let others = [(); 2].map(|()| beside(&process, Process::signal));
            let early = process.turn();
            assert_eq!(process.slot().state.yield_now(), Ok(LetGo::Enqueue));
            let enqueues = others.map(|other| other.join().unwrap());
            assert_eq!(enqueues, [false; 2], "it was Ready, or Running");
            let late = process.turn();
            assert_eq!(early + late, 2, "{TOO_LATE}");
            (early, late)
        })
        .assert_reached([(0, 2), (1, 1), (2, 0)]);
}

/// The bit of signals is set when a thread terminates the process; a worker clears that bit in the
/// same moment. The claim: the turn finds the end, or the next one does. A failure would be a
/// process that is never told to end.
#[test]
fn a_termination_outlives_an_urgent_signal() {
    Bound::exhaustive(170)
        .outcomes(
            "clearing the bit of signals does not clear that of the end",
            || {
                let process = Process::with_two_events();
                process.slot().raise(URGENT);
                let other = beside(&process, Process::terminate);
                let early = process.ends();
                if !early {
                    assert_eq!(process.slot().state.yield_now(), Ok(LetGo::Enqueue));
                }
                let enqueues = other.join().unwrap();
                assert!(!enqueues, "it was Ready, or Running");
                assert!(early || process.ends(), "the end is forgotten");
                early
            },
        )
        .assert_exactly([false, true]);
}
