//! Races of a thread that pins with the end of a process, and the beginning of another.

use filch_models::{Bound, beside};
use filch_scheduler::table::{CLOSED, LIMITED, Placement, Table};
use filch_scheduler::{Node, Pid};
use filch_sync::Arc;

type Processes = Table<super::processes::Model>;

/// A process that has begun and ended, but for the pin of its handle, in the first slot.
pub(crate) fn ended(table: &Processes) -> Pid {
    let slot = table.occupy(Placement::default()).unwrap();
    let pid = table.pid_of(slot);
    slot.state.submit().unwrap();
    slot.state.start().unwrap();
    slot.events.close();
    // SAFETY: this thread has made it Running, and ends it once.
    unsafe {
        table.complete(slot, drop);
        let _ = table.unpin(slot);
    }
    pid
}

/// Gives the handle's pin back.
fn drop_handle(table: &Processes, pid: Pid) {
    // SAFETY: each model does this once.
    let _ = unsafe { table.unpin(table.slot(pid.slot())) };
}

/// A thread looks for a process, by its PID or in a walk, while the process leaves, and a second
/// one comes and goes. The thread may count its pin between the two, or under the second one, and
/// be the last one to leave that. Failure: nobody clears the slot away, and it is lost.
fn meets_the_last_pin(claim: &'static str, look: fn(&Processes, Pid) -> usize) {
    Bound::preemptions(3, 100)
        .outcomes(claim, move || {
            let table = Arc::new(Processes::new(Node::default()));
            let first = ended(&table);
            let looker = beside(&table, move |table| look(table, first));
            drop_handle(&table, first);
            let second = ended(&table);
            drop_handle(&table, second);
            let outcome = looker.join().unwrap();
            let slots = 0..=second.slot();
            let occupy = |_| table.occupy(Placement::default()).unwrap().index;
            let mut found: Vec<_> = slots.clone().map(occupy).collect();
            found.sort_unstable();
            assert!(found.into_iter().eq(slots), "a slot is lost");
            outcome
        })
        .assert_exactly([0, 1]);
}

#[test]
fn a_pin_that_comes_too_late_clears_away() {
    meets_the_last_pin("a slot is cleared by the last who looked", |table, pid| {
        // SAFETY: the pin goes at once.
        usize::from(unsafe { table.pin(pid) }.is_some())
    });
}

#[test]
fn a_walk_that_comes_too_late_clears_away() {
    meets_the_last_pin(
        "a slot is cleared by the last who walked past",
        // SAFETY: the pins go at once.
        |table, _| unsafe { table.iter() }.count(),
    );
}

/// A PID can be made from any number. A thread that guesses the next one pins that process at the
/// earliest when its submitter has written what it is like. Failure: it finds the last occupant's
/// mailbox.
#[test]
fn a_guessed_pid_finds_a_furnished_slot() {
    Bound::exhaustive(6)
        .outcomes("a pinned process is as its submitter wants it", || {
            let table = Arc::new(Processes::new(Node::default()));
            let first = ended(&table);
            drop_handle(&table, first);
            let guess = Pid::from_bits(first.to_bits() + 1);
            let guesser = beside(&table, move |table| {
                // SAFETY: the table is in an `Arc`, which this thread has.
                let process = unsafe { table.pin(guess) }?;
                Some(process.slot().has(LIMITED))
            });
            let placement = Placement {
                kind: CLOSED,
                ..Placement::default()
            };
            let second = table.pid_of(table.occupy(placement).unwrap());
            assert_eq!(second, guess);
            guesser.join().unwrap()
        })
        .assert_exactly([None, Some(true)]);
}
