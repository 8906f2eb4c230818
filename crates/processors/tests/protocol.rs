//! The protocol as one thread can tell: who gets which processor, and who does not.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use filch_parker::Parker;
use filch_processors::protocol::{AfterBound, Coordinator, Grant, LongTurns, Permit, Work};
use filch_processors::{BoundId, NeverQuiescent};

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

/// That many processors, on each of which the machine of its number runs.
fn running<const N: usize>() -> (Coordinator, [Permit; N]) {
    let coordinator = Coordinator::new(N, N, 4, 4);
    coordinator.start(N, N, &Queue::empty()).unwrap();
    let permits = [(); N].map(|()| coordinator.take_idle().unwrap().0);
    (coordinator, permits)
}

/// One processor, on which machine 0 runs.
fn one_processor() -> (Coordinator, Permit) {
    let (coordinator, [permit]) = running();
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
        coordinator.hand_off(permit, 0, work).unwrap();
        permit = coordinator.try_regain(0).expect("no other machine came");
    }
    permit
}

#[test]
fn the_sixteenth_return_makes_a_queued_task_due() {
    for (returns, is_due) in [(0, false), (8, false), (15, false), (16, true)] {
        let work = Queue::empty();
        let (coordinator, permit) = one_processor();
        let permit = calls(&coordinator, permit, &work, returns);
        work.has_task.set(true);
        coordinator.hand_off(permit, 0, &work).unwrap();
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
    coordinator.hand_off(permit, 0, &work).unwrap();
    assert_eq!(coordinator.take_grant(1), None, "there is nothing to run");
    let permit = coordinator.try_regain(0).expect("it is idle");
    // They count from there: that was the first.
    let permit = calls(&coordinator, permit, &work, 14);
    work.has_task.set(true);
    coordinator.hand_off(permit, 0, &work).unwrap();
    let _ = told_to_search(&coordinator, 1, &work);
}

/// The processor is the second machine's, and the first one, which is back from a blocking call,
/// waits for one.
fn one_that_waits() -> (Coordinator, Permit, Queue) {
    let work = Queue::empty();
    let (coordinator, permit) = one_processor();
    coordinator.hand_off(permit, 0, &work).unwrap();
    work.has_task.set(true);
    assert!(coordinator.wake_one());
    let permit = told_to_search(&coordinator, 1, &work);
    assert!(coordinator.try_regain(0).is_none(), "the other one runs");
    (coordinator, permit, work)
}

#[test]
fn one_that_waits_gets_the_processor_of_one_that_blocks() {
    let (coordinator, permit, work) = one_that_waits();
    coordinator.hand_off(permit, 1, &work).unwrap();
    let _ = told_to_run(&coordinator, 0);
}

#[test]
fn a_queued_task_that_is_demanded_comes_before_one_that_waits() {
    let (coordinator, permit, work) = one_that_waits();
    work.has_task.set(true);
    coordinator.demand_queued_task(&permit);
    coordinator.hand_off(permit, 1, &work).unwrap();
    let _ = told_to_run(&coordinator, 2);
    assert_eq!(coordinator.take_grant(0), None);
}

#[test]
fn a_processor_is_to_make_way_once_each_time() {
    let long_turns = LongTurns::new(2);
    long_turns.mark(0, true);
    long_turns.want(2);
    assert!(long_turns.is_due(0) && !long_turns.is_due(0) && !long_turns.is_due(1));
    long_turns.mark(1, true);
    assert!(long_turns.is_due(1));
}

#[test]
fn the_thread_that_looks_after_long_turns_is_woken() {
    let long_turns = LongTurns::new(1);
    let parker = Parker::new();
    assert!(long_turns.unparker.set(parker.unparker()).is_ok());
    assert!(!long_turns.try_sleep(|| false));
    let has_token = |parker: &Parker| parker.park_deadline(Instant::now());
    long_turns.put();
    assert!(!has_token(&parker), "it does not sleep");
    assert!(long_turns.try_sleep(|| true));
    long_turns.put();
    assert!(has_token(&parker));
    long_turns.put();
    assert!(!has_token(&parker), "it has been told");
    long_turns.wake();
    assert!(has_token(&parker));
}

#[test]
fn threads_that_could_not_be_had_take_no_places() {
    let (coordinator, _) = one_processor();
    let refuses = Arc::new(AtomicBool::new(true));
    coordinator.set_launcher({
        let refuses = Arc::clone(&refuses);
        move |_| match refuses.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(()),
        }
    });
    for _ in 0..1_000 {
        assert!(coordinator.bind(|_| {}).is_err());
    }
    refuses.store(false, Ordering::Relaxed);
    assert!(coordinator.bind(|_| {}).unwrap().is_some());
}

#[test]
fn a_number_is_raised_as_far_as_it_must() {
    let work = Queue::empty();
    let coordinator = Coordinator::new(3, 2, 4, 4);
    assert!(coordinator.grow(0, &work));
    assert_eq!(
        coordinator.control_word().active(),
        2,
        "no fewer than it was"
    );
    assert!(coordinator.grow(1, &work));
    let (permit, _) = coordinator.take_idle().expect("it is idle");
    assert_eq!(permit.processor(), 1);
    coordinator.shrink(1, &work);
    assert!(coordinator.grow(1, &work), "its machine has not noticed");
    assert_eq!(coordinator.control_word().active(), 2);
}

#[test]
fn an_idle_processor_too_many_is_given_up_at_once() {
    let work = Queue::empty();
    let coordinator = Coordinator::new(2, 2, 4, 4);
    coordinator.start(2, 1, &work).unwrap();
    coordinator.shrink(1, &work);
    let (permit, machine) = coordinator.take_idle().expect("one is left");
    assert_eq!((permit.processor(), machine), (0, 0));
    assert!(coordinator.take_idle().is_none());
}

#[test]
fn a_pool_that_is_over_is_quiescent() {
    let work = Queue::empty();
    let (coordinator, permit) = one_processor();
    coordinator.go_idle(permit, 0, false, &work);
    assert!(coordinator.is_quiescent(&work));
    coordinator.stop(&work);
    assert!(coordinator.is_over() && coordinator.is_quiescent(&work));
    assert_eq!(coordinator.take_grant(0), Some(Grant::Exit));
    assert!(!coordinator.is_deserted(), "a thread has yet to exit");
}

#[test]
fn the_end_is_told_when_no_thread_is_left() {
    let work = Queue::empty();
    work.has_task.set(true);
    let waits =
        |coordinator: &Coordinator| coordinator.await_quiescence_until(&work, Some(Instant::now()));
    let unstarted = Coordinator::new(1, 1, 4, 4);
    assert!(!unstarted.is_deserted() && !unstarted.is_over());
    assert_eq!(waits(&unstarted), Ok(false));
    unstarted.stop(&work);
    assert_eq!(waits(&unstarted), Err(NeverQuiescent));

    let with_a_thread = Coordinator::new(1, 1, 4, 4);
    assert!(with_a_thread.bind(|_| {}).unwrap().is_some());
    with_a_thread.stop(&work);
    assert!(with_a_thread.is_over() && !with_a_thread.is_deserted());
    assert_eq!(
        waits(&with_a_thread),
        Ok(false),
        "it may still run what waits"
    );
}

#[test]
fn one_that_has_exited_makes_no_more_room() {
    let work = Queue::empty();
    let (limit, spares) = (2, 0);
    let coordinator = Coordinator::new(1, 1, limit, spares);
    coordinator.start(1, 1, &work).unwrap();
    let (permit, _) = coordinator.take_idle().unwrap();
    coordinator.hand_off(permit, 0, &work).unwrap();
    work.has_task.set(true);
    assert!(coordinator.wake_one());
    let permit = told_to_search(&coordinator, 1, &work);
    assert!(coordinator.try_regain(0).is_none());
    coordinator.hand_to_waiter(permit, 1).unwrap();
    let parker = coordinator.enter(1);
    assert_eq!(
        coordinator.take_grant(1),
        Some(Grant::Exit),
        "no spares are kept"
    );
    coordinator.exit(1, parker);
    let permit = told_to_run(&coordinator, 0);
    coordinator.hand_off(permit, 0, &work).unwrap();
    work.has_task.set(true);
    assert!(coordinator.wake_one());
    let permit = told_to_search(&coordinator, 1, &work);
    let kept = coordinator.hand_off(permit, 1, &work);
    assert_eq!(kept.unwrap_err().processor(), 0);
}

#[test]
fn the_number_of_a_bound_thread_is_known_again() {
    let (coordinator, _) = one_processor();
    let id = coordinator.bind(|_| {}).unwrap().unwrap();
    assert_eq!(BoundId::from_bits(id.to_bits()), Some(id));
    assert_eq!(BoundId::from_bits(0), None);
}

#[test]
fn what_is_over_is_not_started() {
    let work = Queue::empty();
    let coordinator = Coordinator::new(1, 1, 4, 4);
    assert!(coordinator.bind(|_| {}).unwrap().is_some());
    let parker = coordinator.enter(0);
    coordinator.stop(&work);
    assert_eq!(coordinator.take_grant(0), Some(Grant::Exit));
    coordinator.exit(0, parker);
    assert!(coordinator.is_deserted());
    coordinator.start(1, 1, &work).unwrap();
    assert!(coordinator.take_idle().is_none());
    assert!(!coordinator.grow(0, &work));
}

/// A bound thread finds that it cannot begin: when nothing has been found for it, and when it is in
/// line for a processor already. A failure: it stays there, and is started under a lock (a
/// deadlock), or holds a number of bound threads.
#[test]
fn a_bound_thread_that_cannot_begin_is_not_in_line() {
    let (coordinator, permit) = one_processor();
    for is_called in [false, true] {
        let id = coordinator.bind(|_| {}).unwrap().unwrap();
        assert!(!is_called || coordinator.call_bound(id));
        assert_eq!(coordinator.control_word().waiting(), usize::from(is_called));
        coordinator.refuse(1);
        assert_eq!(coordinator.control_word().waiting(), 0);
        assert!(!coordinator.call_bound(id), "it is released");
    }
    assert!(coordinator.hand_to_waiter(permit, 0).is_err());
}

/// A guest that has blocked leaves a place without a thread: whoever grants that something next has
/// to start one.
#[test]
fn the_place_of_a_guest_that_left_has_no_thread() {
    let work = Queue::empty();
    let coordinator = Coordinator::new(2, 2, 4, 4);
    let started = Arc::new(Mutex::new(Vec::new()));
    coordinator.set_launcher({
        let started = Arc::clone(&started);
        move |machine| {
            started.lock().unwrap().push(machine);
            Ok(())
        }
    });
    coordinator.start(2, 1, &work).unwrap();
    let (_running, _) = coordinator.take_idle().unwrap();
    let (permit, lender) = coordinator.borrow_idle().unwrap();
    let (place, parker) = coordinator.register(lender).unwrap();
    assert_eq!(coordinator.unregister(place, parker), place, "no spare");
    coordinator.go_idle(permit, place, false, &work);
    let (permit, lender) = coordinator.borrow_idle().unwrap();
    let (other, parker) = coordinator.register(lender).unwrap();
    assert!(lender == place && other != place, "a place of nobody else");
    assert_eq!(coordinator.unregister(other, parker), other);
    coordinator.go_idle(permit, other, false, &work);
    started.lock().unwrap().clear();
    work.has_task.set(true);
    assert!(coordinator.wake_one());
    assert_eq!(*started.lock().unwrap(), [other]);
}

/// No spares are kept. A thread gives its processor away and is told to exit, since another one is
/// being started; and that one cannot begin. The bound thread that runs meanwhile ends the pool. A
/// failure: nobody comes for the tasks any more, and the pool is never over.
#[test]
fn a_pool_whose_last_thread_leaves_as_another_cannot_begin_is_over() {
    let work = Queue::empty();
    let coordinator = Coordinator::new(2, 2, 4, 0);
    let gives = Arc::new(AtomicBool::new(true));
    coordinator.set_launcher({
        let gives = Arc::clone(&gives);
        move |_| match gives.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    });
    coordinator.start(2, 1, &work).unwrap();
    let (permit, _) = coordinator.take_idle().unwrap();
    let id = coordinator.bind(|_| {}).unwrap().unwrap();
    work.has_task.set(true);
    assert!(coordinator.wake_one(), "machine 1 is being started");
    let bound = 2;
    assert!(coordinator.call_bound(id));
    coordinator.hand_to_waiter(permit, 0).unwrap();
    let permit = told_to_run(&coordinator, bound);
    assert_eq!(coordinator.take_grant(0), Some(Grant::Exit));
    coordinator.refuse(1);
    assert!(!coordinator.is_over(), "the bound thread runs");
    gives.store(false, Ordering::Relaxed);
    let after = coordinator.wait_for_bound(permit, bound, |_| true, &work);
    assert_eq!(after, AfterBound::Waits);
    assert!(coordinator.is_over());
    assert_eq!(coordinator.take_grant(bound), Some(Grant::Exit));
}

/// A guest is in a blocking call when the only thread finds that it cannot begin. A failure: the
/// pool is over, and the guest waits for a processor for ever.
#[test]
fn a_guest_that_blocks_comes_back_to_a_pool_without_a_thread() {
    let work = Queue::empty();
    let coordinator = Coordinator::new(2, 2, 4, 4);
    coordinator.start(2, 1, &work).unwrap();
    let (_begins, _) = coordinator.take_idle().unwrap();
    let (permit, lender) = coordinator.borrow_idle().unwrap();
    let (place, _parker) = coordinator.register(lender).unwrap();
    coordinator.hand_off(permit, place, &work).unwrap();
    coordinator.refuse(0);
    assert!(!coordinator.is_over());
    assert!(coordinator.try_regain(place).is_some());
}
