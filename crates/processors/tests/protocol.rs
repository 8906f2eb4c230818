//! What one thread can tell about how processors change hands: who gets which, and who does not.

use std::cell::Cell;

use filch_processors::protocol::{Coordinator, Grant, Permit, Work};

/// The global queue alone.
struct Queue {
    has_task: Cell<bool>,
}

impl Queue {
    fn empty() -> Self {
        Self {
            has_task: Cell::new(false),
        }
    }
}

impl Work for Queue {
    fn exists_beside(&self, _watched: impl Fn(usize) -> bool) -> bool {
        self.has_task.get()
    }

    fn evacuate(&self, _permit: &Permit) -> bool {
        false
    }
}

/// One processor, on which machine 0 runs.
fn one_processor() -> (Coordinator, Permit) {
    let coordinator = Coordinator::new(1, 1, 4, 4);
    assert!(coordinator.start_all(1, |_| true));
    let permit = told_to_run(&coordinator, 0);
    (coordinator, permit)
}

fn told_to_run(coordinator: &Coordinator, machine: usize) -> Permit {
    match coordinator.take_grant(machine) {
        Some(Grant::Run(permit)) => permit,
        grant => panic!("machine {machine} is told {grant:?}"),
    }
}

fn told_to_search(coordinator: &Coordinator, machine: usize, work: &Queue) -> Permit {
    match coordinator.take_grant(machine) {
        Some(Grant::Search(permit)) => {
            work.has_task.set(false);
            coordinator.stop_searching(work);
            permit
        }
        grant => panic!("machine {machine} is told {grant:?}"),
    }
}

/// Machine 0 makes that many calls, and is back from each before anything else happens.
fn calls(coordinator: &Coordinator, mut permit: Permit, work: &Queue, count: usize) -> Permit {
    for _ in 0..count {
        coordinator.hand_off(permit, 0, |_| true, work).unwrap();
        permit = coordinator.try_regain(0).expect("no other machine came");
    }
    permit
}

#[test]
fn the_sixteenth_return_makes_a_queued_task_due() {
    for (returns, is_due) in [(0, false), (15, false), (16, true)] {
        let work = Queue::empty();
        let (coordinator, permit) = one_processor();
        let permit = calls(&coordinator, permit, &work, returns);
        work.has_task.set(true);
        coordinator.hand_off(permit, 0, |_| true, &work).unwrap();
        if is_due {
            let _ = told_to_run(&coordinator, 1);
        } else {
            let _ = told_to_search(&coordinator, 1, &work);
        }
    }
}

#[test]
fn no_task_is_due_if_none_is_queued() {
    let work = Queue::empty();
    let (coordinator, permit) = one_processor();
    let permit = calls(&coordinator, permit, &work, 16);
    coordinator.hand_off(permit, 0, |_| true, &work).unwrap();
    assert_eq!(coordinator.take_grant(1), None, "there is nothing to run");
    let permit = coordinator.try_regain(0).expect("it is idle");
    work.has_task.set(true);
    coordinator.hand_off(permit, 0, |_| true, &work).unwrap();
    let _ = told_to_search(&coordinator, 1, &work);
}

#[test]
fn one_that_waits_gets_the_processor_of_one_that_blocks() {
    let work = Queue::empty();
    let (coordinator, permit) = one_processor();
    coordinator.hand_off(permit, 0, |_| true, &work).unwrap();
    work.has_task.set(true);
    assert!(coordinator.wake_one());
    let permit = told_to_search(&coordinator, 1, &work);
    assert!(coordinator.try_regain(0).is_none(), "the other one runs");
    let start = |_| unreachable!("no thread is needed");
    coordinator.hand_off(permit, 1, start, &work).unwrap();
    let _ = told_to_run(&coordinator, 0);
}

#[test]
fn threads_that_could_not_be_had_take_no_places() {
    let (coordinator, _) = one_processor();
    for _ in 0..1_000 {
        assert!(coordinator.bind(|_| false).is_none());
    }
    assert!(coordinator.bind(|_| true).is_some());
}
